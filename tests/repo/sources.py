"""Python files to be judged, from the repository or made up by a test."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

GENERATED = ("kmirror/protocol/gen/", "kmirror/spec/api_keys.py", "kmirror/spec/error_codes.py")


@dataclass(frozen=True)
class Source:
    """One file: `path` is relative to the repository and uses slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree, visited once for all rules."""
        return tuple(ast.walk(self.tree))

    @property
    def is_generated(self) -> bool:
        return self.path.startswith(GENERATED)

    @property
    def module(self) -> str:
        """The name by which the file is imported."""
        parts = self.path.removesuffix(".py").split("/")
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def package(self) -> str:
        """The package of kmirror that contains the file; empty for files at the top."""
        parts = self.path.removesuffix(".py").split("/")
        return "" if parts[1] in ("__init__", "__main__") else parts[1]


def sources(root: Path, *folders: str) -> list[Source]:
    """Return every Python file below these folders of `root`; files of the library are parsed once for all tests."""
    return [source for folder in folders for source in (_library if folder == "kmirror" else _read)(root, folder)]


def _read(root: Path, folder: str) -> tuple[Source, ...]:
    paths = sorted((root / folder).rglob("*.py"))
    return tuple(Source(path.relative_to(root).as_posix(), path.read_text("utf-8")) for path in paths)


_library = cache(_read)
