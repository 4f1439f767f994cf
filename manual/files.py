"""Map of the source files: one table for each folder, from the docstrings of its modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("kmirror", "codegen", "manual", "benchmarks")
GENERATED = "kmirror/protocol/gen"
"""Folder with a module for each message; the map has one line for all of them."""


def file_map(root: Path = ROOT) -> str:
    """Return a section for each folder with Python modules, in order of their paths."""
    parts = []
    for folder in folders(root):
        name = folder.relative_to(root).as_posix()
        package = folder / "__init__.py"
        about = f"{summary(package.read_text('utf-8'))}\n" if package.exists() else ""
        files = [] if name == GENERATED else [file for file in sorted(folder.glob("*.py")) if file != package]
        rows = [f"| `{file.name}` | {_cell(summary(file.read_text('utf-8')))} |" for file in files]
        table = "\n".join(["| file | content |", "|---|---|", *rows, ""]) if rows else ""
        parts.append("\n".join(part for part in (f"## {name}\n", about, table) if part))
    return "\n".join(parts)


def folders(root: Path = ROOT) -> Iterator[Path]:
    """Yield the folders of the packages that contain Python modules."""
    for package in PACKAGES:
        yield from sorted({file.parent for file in (root / package).rglob("*.py")})


def summary(source: str) -> str:
    """Return the first line of a module's docstring, and the next ones until its sentence ends; "" without one."""
    lines: list[str] = []
    for line in (ast.get_docstring(ast.parse(source)) or "").split("\n"):
        if not line:
            break
        lines.append(line)
        if line.endswith((".", "?", ":")):
            break
    return " ".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
