"""`mirror.name`: names, suffixes, and invalid mirror names (D7)."""

from __future__ import annotations

import pytest

from kmirror.mirror.naming import Assignment, parse, problem_with_mirror
from kmirror.mirror.states import Wish

CASES = [
    ("m", Assignment("m", Wish.MIRROR)),
    ("m.paused", Assignment("m", Wish.PAUSE)),
    ("m.removed", Assignment("m", Wish.REMOVE)),
    ("a.b-c_d", Assignment("a.b-c_d", Wish.MIRROR)),
    ("paused", Assignment("paused", Wish.MIRROR)),
    ("removed.paused", Assignment("removed", Wish.PAUSE)),
]


@pytest.mark.decision("D7")
@pytest.mark.parametrize(("text", "assignment"), CASES)
def test_value_and_meaning(text: str, assignment: Assignment) -> None:
    assert parse(text) == assignment
    assert assignment.text() == text


def test_the_empty_value_assigns_nothing() -> None:
    assert parse("") is None


@pytest.mark.decision("D7")
@pytest.mark.parametrize("name", ["", ".", "..", "a b", "m/x", "ü", "m.paused", "m.removed", ".paused", "x" * 250])
def test_illegal_mirror_names(name: str) -> None:
    assert problem_with_mirror(name) is not None


@pytest.mark.parametrize("name", ["m", "a.b", "x" * 249, "paused", "m.pause", "M-1_2.3"])
def test_legal_mirror_names(name: str) -> None:
    assert problem_with_mirror(name) is None
