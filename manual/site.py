"""Build of the manual without warnings, and the check that its reference has every public name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = "build/manual"
REFERENCE_BYTES_MAX = 150_000
"""Size in bytes that no page of the reference exceeds; a larger one is slow to load, and is split."""

_VERBATIM = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.DOTALL)

# Public modules. Messages have their own page, as there are hundreds; so have error codes and configs.
PUBLIC: dict[str, tuple[str, ...]] = {
    "kmirror.sim": (
        "simulation",
        "cluster",
        "files",
        "mirror",
        "producer",
        "consumer",
        "lines",
        "facts",
        "watching",
        "pending",
        "network",
        "disk_work",
        "checkers",
    ),
    "kmirror.histories": (
        "run",
        "plan",
        "verdict",
        "story",
        "shrink",
    ),
    "kmirror.kernel": (
        "ids",
        "uuid",
    ),
    "kmirror.mirror": ("states", "facts"),
    "kmirror.cluster.controller": ("facts",),
    "kmirror.assembly": ("cluster_view", "mirror_scripts"),
    "kmirror.net": ("cluster", "node", "running"),
    "kmirror.admin": ("client", "mirror"),
    "kmirror.assembly.journal": ("recorder", "replay"),
    "kmirror.hooks": ("hooks", "hook", "received"),
    "kmirror.client": (
        "producer",
        "consumer",
        "positions",
        "admin",
        "transactions",
        "requester",
    ),
    "kmirror.log": (
        "config",
        "partition_log",
        "results",
        "errors",
        "store",
        "memory_store",
        "committed",
        "compare",
        "first_difference",
        "cleaner",
    ),
    "kmirror.logdir": (
        "load",
        "write",
        "store",
        "partition",
        "consume",
        "faults",
    ),
    "kmirror.logdir.verify": ("partition",),
    "kmirror.logdir.compare": ("pairs", "partitions", "results"),
    "kmirror.records": (
        "batch",
        "build",
        "codecs",
        "columns",
        "control",
        "record",
        "legacy",
        "layout",
    ),
    "kmirror.protocol": (
        "message",
        "structs",
        "registry",
        "frames",
        "headers",
        "json_form",
        "negotiate",
        "wire",
    ),
    "kmirror.experiments": (
        "sweep_file",
        "failover",
        "failover_options",
        "failover_figures",
        "results",
        "estimates",
        "demo",
    ),
    "kmirror.fuzz": (
        "campaign",
        "findings",
        "grammar",
        "parallel_jobs",
        "spots",
        "stream",
        "target",
        "vocabulary",
    ),
    "kmirror.fuzz.sessions": ("links", "machine", "rows", "session"),
    "kmirror.fuzz.differential": ("readers", "verdicts", "reasons"),
    "kmirror.fuzz.targets": ("rows",),
    "kmirror.spark": (
        "sessions",
        "source",
        "options",
        "verification",
        "sweep",
        "aggregates",
        "histories",
        "fuzzing",
    ),
    "kmirror.report": ("notebook", "timeline"),
    "kmirror.testing.strategies": ("arbitrary", "plausible", "batches", "logs"),
    "kmirror.testing": ("clusters", "histories", "machines", "pairs", "pytest_plugin"),
    "kmirror": ("errors",),
    "kmirror.spec": ("wire_values",),
}
PUBLIC_MODULES = tuple(f"{package}.{name}" for package, names in PUBLIC.items() for name in names)


def build(root: Path = ROOT, modules: Iterable[str] = PUBLIC_MODULES) -> int:
    """Build the site in build/manual; return an exit code: 1 after any warning, or if a public name is missing."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    environment = {**os.environ, "NO_COLOR": "1"}
    completed = subprocess.run(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if completed.returncode != 0:
        print(completed.stdout, file=sys.stderr)
        return 1
    missing = list(find_missing(inventory((root / SITE / "objects.inv").read_bytes()), modules))
    for name in missing:
        print(f"no page of docs/reference/ shows {name}", file=sys.stderr)
    strip_pages(root / SITE)
    large = list(find_large_pages(root / SITE))
    for name, size in large:
        print(f"reference/{name} has {size} bytes, more than {REFERENCE_BYTES_MAX}: split it", file=sys.stderr)
    return 1 if missing or large else 0


def strip_pages(site: Path) -> None:
    """Remove the indentation and the blank lines that templates leave in pages; they are a sixth of the bytes."""
    for page in site.rglob("*.html"):
        page.write_text(strip_whitespace(page.read_text("utf-8")), "utf-8")


def strip_whitespace(html: str) -> str:
    """Return a page without indentation and blank lines outside of blocks that are shown as they are."""
    parts = _VERBATIM.split(html)
    # The groups of each match are the block and the name of its tag.
    texts = (re.sub(r"\s*\n\s*", "\n", text) for text in parts[::3])
    return "".join(text + block for text, block in zip(texts, [*parts[1::3], ""], strict=True))


def find_large_pages(site: Path) -> Iterator[tuple[str, int]]:
    """Yield the pages of the reference that exceed the limit, with their sizes in bytes."""
    for page in sorted((site / "reference").glob("*.html")):
        if page.stat().st_size > REFERENCE_BYTES_MAX:
            yield page.name, page.stat().st_size


def inventory(data: bytes) -> set[str]:
    """Return the names that a Sphinx inventory (version 2) lists."""
    *_, packed = data.split(b"\n", 4)
    return {line.split(" ", 1)[0] for line in zlib.decompress(packed).decode().splitlines()}


def find_missing(documented: Collection[str], modules: Iterable[str] = PUBLIC_MODULES) -> Iterator[str]:
    """Yield the public names of the modules that are not in `documented`."""
    for module in modules:
        path = ROOT / (module.replace(".", "/") + ".py")
        for name in public_names(path.read_text("utf-8")):
            if f"{module}.{name}" not in documented:
                yield f"{module}.{name}"


def public_names(source: str) -> Iterator[str]:
    """Yield the classes and functions of a module and the methods of its classes, without names that begin with `_`."""
    return (name for name, _ in _definitions(source))


def undocumented(source: str) -> Iterator[str]:
    """Yield the public names without a docstring; a protocol's member, whose body is `...`, needs none."""
    for name, node in _definitions(source):
        if ast.get_docstring(node) is None and ast.unparse(node.body[0]) != "...":
            yield name


def _definitions(source: str) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, node
            for member in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    yield f"{node.name}.{member.name}", member
