"""Import cycles among the files or folders of a package, which cannot be read or tested separately.

Every import counts, even within a function and for types alone, as these are the ways to hide a cycle.

Files may be free of cycles while their folders are not: a file of `a` imports one of `b`, and another file of `b` one
of `a`. So each folder is also checked separately. Its direct contents are the parts: a file, including its `__init__`,
is one part, and a subfolder with all its contents is one part. A folder may thus import the files beside it, as long as
none of these depends on that folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from tests.repo.layers import imports
from tests.repo.sources import Source

Graph = Mapping[str, Sequence[str]]
"""Module to the modules that it imports."""


def import_graph(files: Sequence[Source]) -> Graph:
    """Return the imports among `files`: importer to imported."""
    modules = {source.module for source in files}
    return {
        source.module: sorted({found for _, name in imports(source) for found in _modules(name, modules)})
        for source in files
    }


def _modules(name: str, modules: set[str]) -> Iterator[str]:
    """Yield the module that an imported name is, or that contains it."""
    if name in modules:
        yield name
    elif name.rpartition(".")[0] in modules:
        yield name.rpartition(".")[0]


def cycles(graph: Graph) -> list[list[str]]:
    """Return the strongly connected parts of more than one module, the largest first (Tarjan, without recursion)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: dict[str, bool] = {}
    found: list[list[str]] = []
    for root in graph:
        work = [] if root in order else [(root, iter(graph[root]))]
        while work:
            module, targets = work[-1]
            if module not in order:
                order[module] = lowest[module] = len(order)
                path.append(module)
                on_path[module] = True
            target = next(targets, None)
            if target is not None:
                if target not in order:
                    work.append((target, iter(graph[target])))
                elif on_path[target]:
                    lowest[module] = min(lowest[module], order[target])
                continue
            work.pop()
            if work:
                parent = work[-1][0]
                lowest[parent] = min(lowest[parent], lowest[module])
            if lowest[module] == order[module]:
                place = path.index(module)
                part, path[place:] = path[place:], []
                on_path.update(dict.fromkeys(part, False))
                if len(part) > 1:
                    found.append(sorted(part))
    return sorted(found, key=lambda part: (-len(part), part))


def folder_graph(folder: str, graph: Graph) -> Graph:
    """Return the imports among the parts of `folder`: importer to imported."""
    found: dict[str, dict[str, None]] = {}
    for module, targets in graph.items():
        part = _part(module, folder)
        if part:
            others = (_part(target, folder) for target in targets)
            found.setdefault(part, {}).update(dict.fromkeys(other for other in others if other and other != part))
    return {part: sorted(others) for part, others in sorted(found.items())}


def _part(module: str, folder: str) -> str:
    """Return the part of `folder` that contains a module; empty if it is elsewhere."""
    if module == folder:
        return f"{folder}.__init__"
    inside = module.removeprefix(f"{folder}.")
    return "" if inside == module else f"{folder}.{inside.partition('.')[0]}"


def folder_cycles_of(package: str, files: Sequence[Source]) -> list[list[str]]:
    """Return the cycles among the parts of each folder of one package of kmirror."""
    inside = [source for source in files if source.package == package]
    graph = import_graph(inside)
    folders = sorted({str(folder) for source in inside for folder in PurePosixPath(source.path).parents[:-2]})
    return [cycle for folder in folders for cycle in cycles(folder_graph(folder.replace("/", "."), graph))]


def cycles_of(package: str, files: Sequence[Source]) -> list[list[str]]:
    """Return the cycles within one package of kmirror."""
    return cycles(import_graph([source for source in files if source.package == package]))
