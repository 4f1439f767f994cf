"""For any legal mirror name: its assignments survive the config value, and suffixes never chain (D7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.mirror.naming import PAUSED, REMOVED, Assignment, parse, problem_with_mirror
from kmirror.mirror.states import Wish

NAMES = st.text("abAB09._-", min_size=1, max_size=249) | st.sampled_from(["m.paused", "m.removed", "a.removed.b"])
LEGAL = NAMES.filter(lambda name: problem_with_mirror(name) is None)


@pytest.mark.decision("D7")
@given(LEGAL, st.sampled_from(Wish))
def test_round_trip(name: str, wish: Wish) -> None:
    assert parse(Assignment(name, wish).text()) == Assignment(name, wish)


@pytest.mark.decision("D7")
@given(LEGAL, st.lists(st.sampled_from(Wish), min_size=1, max_size=6))
def test_suffixes_never_chain(name: str, wishes: list[Wish]) -> None:
    """Pause, remove, add again: the value has one suffix at most, and the name is always recovered."""
    text = name
    for wish in wishes:
        assignment = parse(text)
        assert assignment is not None
        text = replace(assignment, wish=wish).text()
    assert text in (name, name + PAUSED, name + REMOVED)
