"""The rules, one at a time."""

from __future__ import annotations

import pytest

from kmirror.explorer.rules import (
    DECIDED,
    DECISION_SWITCHES,
    KIP,
    RULES_BY_NAME,
    cut_epoch_for,
    find_rules,
    stop_epoch,
)
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState

STOPPED, UNKNOWN, MIRRORING = MirrorState.STOPPED, MirrorState.UNKNOWN, MirrorState.MIRRORING
SOURCE_FIRST = find_rules("decided", ("D39",))
OWN_SUFFICES = RULES_BY_NAME["own-suffices"][0]

QUESTIONS = [
    (DECIDED, MIRRORING, 5, 3, False, None),
    (DECIDED, STOPPED, 2, 3, False, 3),
    (DECIDED, STOPPED, 4, 3, False, 4),
    (SOURCE_FIRST, STOPPED, 2, 3, False, 2),
    (DECIDED, STOPPED, NEVER_MIRRORED, 3, False, None),
    (OWN_SUFFICES, STOPPED, NEVER_MIRRORED, 3, False, 3),
    (OWN_SUFFICES, STOPPED, NEVER_MIRRORED, NOT_SETTLED, False, None),
    (DECIDED, STOPPED, NEVER_MIRRORED, NOT_SETTLED, True, -1),
    (DECIDED, UNKNOWN, NOT_SETTLED, 3, False, 3),
    (DECIDED, UNKNOWN, NOT_SETTLED, NEVER_MIRRORED, False, -1),
    (KIP, UNKNOWN, NOT_SETTLED, 3, False, -1),
    (KIP, STOPPED, NEVER_MIRRORED, NOT_SETTLED, False, -1),
]


@pytest.mark.parametrize(("rules", "state", "theirs", "own", "loses_nothing", "expected"), QUESTIONS)
@pytest.mark.decision("D31")
def test_the_epoch_to_truncate_to(rules, state, theirs, own, loses_nothing, expected) -> None:  # type: ignore[no-untyped-def]
    assert cut_epoch_for(rules, state, theirs, own, loses_nothing=loses_nothing) == expected


@pytest.mark.decision("D36")
def test_a_stop_always_takes_a_new_epoch() -> None:
    assert stop_epoch(DECIDED, 5, 2, 2) == 6
    assert stop_epoch(DECIDED, 1, 2, 2) == 3
    assert stop_epoch(KIP, 5, 2, 2) == 5
    assert stop_epoch(KIP, 1, 2, 2) == 3


@pytest.mark.parametrize("decision", list(DECISION_SWITCHES))
def test_a_removed_rule_has_no_effect(decision: str) -> None:
    assert find_rules("decided", (decision,)) != DECIDED


def test_the_option_is_on_top_of_any_rules() -> None:
    assert find_rules("kip", option=True).all_replicas
    assert not find_rules("kip").all_replicas
