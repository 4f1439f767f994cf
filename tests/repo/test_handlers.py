"""Callbacks of a handler are guarded by its request, so that a failure in them is answered too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HANDLERS = sorted(
    path
    for path in (ROOT / "kmirror").rglob("*.py")
    if path.parent.name in ("apis", "broker_apis", "controller_apis") or path.name == "forwarding.py"
)


def unguarded_callbacks(source: str) -> Iterator[str]:
    """Return unguarded callbacks in functions that hold an `inbound`: nested functions, and lambdas."""
    for outer in ast.walk(ast.parse(source)):
        if isinstance(outer, ast.FunctionDef) and "inbound" in (arg.arg for arg in outer.args.args):
            yield from _unguarded_in(outer)


def _unguarded_in(outer: ast.FunctionDef) -> Iterator[str]:
    nested = {node.name: node for node in ast.walk(outer) if isinstance(node, ast.FunctionDef) and node is not outer}
    called = {id(node.func) for node in ast.walk(outer) if isinstance(node, ast.Call)}
    for node in ast.walk(outer):
        if isinstance(node, ast.Lambda):
            target = node.body.func if isinstance(node.body, ast.Call) else None
            if not (isinstance(target, ast.Name) and target.id in nested and _is_guarded(nested[target.id])):
                yield f"a lambda in line {node.lineno}"
        elif isinstance(node, ast.Name) and node.id in nested and id(node) not in called:
            handed_on = nested[node.id]
            if not _is_guarded(handed_on):
                yield f"{node.id} in line {node.lineno}"


def _is_guarded(function: ast.FunctionDef) -> bool:
    marked = any(ast.unparse(decorator) in ("inbound.guard", "pending.row") for decorator in function.decorator_list)
    return marked or isinstance(function.body[-1], ast.Try)


def test_handlers_are_found() -> None:
    assert len(HANDLERS) > 25


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_callbacks_of_handlers_are_guarded(path: Path) -> None:
    assert list(unguarded_callbacks(path.read_text())) == []


@pytest.mark.parametrize("line", ["send(now, on_done)", "send(now, lambda _: reply())", "send(now, on_done=on_done)"])
def test_an_unguarded_callback_is_seen(line: str) -> None:
    text = f"def handle(inbound):\n    def on_done(now):\n        inbound.reply(1)\n    {line}\n"
    assert len(list(unguarded_callbacks(text))) == 1
    assert not list(
        unguarded_callbacks(
            text.replace("    def on", "    @inbound.guard\n    def on").replace(": reply", ": on_done")
        )
    )
