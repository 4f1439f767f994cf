"""What do the rules say, one question at a time?"""

from __future__ import annotations

import pytest

from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState
from kmirror.sim.explorer.logs import EMPTY, Logs, entry
from kmirror.sim.explorer.rules import DECIDED, KIP, NAMED, WITHOUT, cut_epoch_for, epoch_of_stop, order, rules_named

GREATEST = NAMED["greatest"][0]
STOPPED, UNKNOWN, MIRRORING = MirrorState.STOPPED, MirrorState.UNKNOWN, MirrorState.MIRRORING

QUESTIONS = [
    (DECIDED, MIRRORING, 5, 3, False, None),
    (DECIDED, STOPPED, 2, 3, False, 2),
    (GREATEST, STOPPED, 2, 3, False, 3),
    (GREATEST, STOPPED, 4, 3, False, 4),
    (GREATEST, STOPPED, NEVER_MIRRORED, 3, False, 3),
    (DECIDED, STOPPED, NEVER_MIRRORED, 3, False, None),
    (DECIDED, STOPPED, NEVER_MIRRORED, NOT_SETTLED, True, -1),
    (DECIDED, UNKNOWN, NOT_SETTLED, 3, False, 3),
    (DECIDED, UNKNOWN, NOT_SETTLED, NEVER_MIRRORED, False, -1),
    (KIP, UNKNOWN, NOT_SETTLED, 3, False, -1),
    (KIP, STOPPED, NEVER_MIRRORED, NOT_SETTLED, False, -1),
]


@pytest.mark.parametrize(("rules", "state", "theirs", "own", "is_empty", "expected"), QUESTIONS)
@pytest.mark.decision("D31")
def test_the_epoch_to_cut_to(rules, state, theirs, own, is_empty, expected) -> None:  # type: ignore[no-untyped-def]
    assert cut_epoch_for(rules, state, theirs, own, is_empty=is_empty) == expected


@pytest.mark.parametrize(
    ("epochs", "cut_epoch", "expected"),
    [((0, 1, 3), -1, (0, 0)), ((0, 1, 3), 2, (1, 2)), ((0, 1, 3), 1, (1, 2)), ((0, 1), 5, (1, 2)), ((), 2, (0, 0))],
)
@pytest.mark.decision("D30")
def test_a_listed_follower_is_told_where_the_leader_ends_its_cut_epoch(
    epochs: tuple[int, ...], cut_epoch: int, expected: tuple[int, int]
) -> None:
    logs = Logs()
    log = logs.append(EMPTY, [entry(epoch, 0, 0) for epoch in epochs])
    assert order(logs.logs[log], cut_epoch) == expected


@pytest.mark.decision("D36")
def test_a_stop_always_takes_a_new_epoch() -> None:
    assert epoch_of_stop(DECIDED, 5, 2, 2) == 6
    assert epoch_of_stop(DECIDED, 1, 2, 2) == 3
    assert epoch_of_stop(KIP, 5, 2, 2) == 5
    assert epoch_of_stop(KIP, 1, 2, 2) == 3


@pytest.mark.parametrize("decision", list(WITHOUT))
def test_what_is_taken_away_is_gone(decision: str) -> None:
    assert rules_named("decided", (decision,)) != DECIDED


def test_the_option_is_on_top_of_any_rules() -> None:
    assert rules_named("kip", option=True).all_replicas
    assert not rules_named("kip").all_replicas
