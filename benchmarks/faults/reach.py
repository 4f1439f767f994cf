"""Histories that run the changed statement of a fault. In all others the fault has no effect.

A probe precedes the changed statement of each fault, in one copy of the project; each history runs there once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.faults.rows import Fault

REACHED = "_kmirror_faults_reached"
"""Name in `builtins` of the set to which probes add the names of their faults."""


def insert_probes(source: str, faults: Iterable[Fault]) -> tuple[str, list[str]]:
    """Return a file's text with probes, and the names of the faults that take effect when the file is imported."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    probes: dict[int, list[str]] = {}
    always_reached = []
    for fault in faults:
        line_number = _find_probe_line(tree, *_changed_lines(source, fault))
        if line_number is None:
            always_reached.append(fault.name)
        else:
            probes.setdefault(line_number, []).append(fault.name)
    for line_number in sorted(probes, reverse=True):
        indent = re.match(r"\s*", lines[line_number - 1])
        assert indent is not None
        names = ", ".join(map(repr, probes[line_number]))
        lines.insert(line_number - 1, f"{indent[0]}__import__('builtins').{REACHED}.update(({names},))\n")
    return "".join(lines), always_reached


def seeds_by_fault(reached: Mapping[int, Iterable[str]], always_reached: Iterable[str]) -> dict[str, list[int]]:
    """Return fault name to the sorted seeds that reach it, given seed to the names that it reached."""
    seeds: dict[str, list[int]] = {}
    for seed in sorted(reached):
        for name in {*reached[seed], *always_reached}:
            seeds.setdefault(name, []).append(seed)
    return seeds


def _changed_lines(source: str, fault: Fault) -> tuple[int, int]:
    """Return the first and the last line of the file, from 1, that the fault changes."""
    before, after = source.splitlines(), fault.apply_to(source).splitlines()
    head = next((i for i, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), len(after))
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head + 1, max(head + 1, len(before) - tail)


def _find_probe_line(tree: ast.Module, first: int, last: int) -> int | None:
    """Return the line before which a probe detects that `first` to `last` are run; None outside of functions."""
    found = None
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and _covers(function, first, last):
            body = function.body[1:] if ast.get_docstring(function) is not None else function.body
            if first >= function.body[0].lineno:  # No decorators or defaults: they are run with the definition.
                found = _find_in_block(body, first, last) or body[0].lineno
    return found


def _find_in_block(block: Sequence[ast.stmt], first: int, last: int) -> int | None:
    """Return the line of the innermost statement with these lines that a probe can precede."""
    for statement in block:
        if _covers(statement, first, last):
            return _find_in_statement(statement, first, last) or _first_line(statement)
    return None


def _find_in_statement(statement: ast.stmt, first: int, last: int) -> int | None:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return None
    found = None
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, [])
        if field == "orelse" and len(block) == 1 and isinstance(block[0], ast.If):  # `elif`: no probe fits before it.
            found = found or _find_in_statement(block[0], first, last)
        else:
            found = found or _find_in_block(block, first, last)
    for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
        found = found or _find_in_block(handler.body, first, last)
    return found


def _covers(node: ast.stmt, first: int, last: int) -> bool:
    assert node.end_lineno is not None
    return _first_line(node) <= first and last <= node.end_lineno


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(row.lineno for row in decorators)])
