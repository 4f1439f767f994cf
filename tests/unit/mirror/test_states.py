"""The table of states: legal transitions, reachable states, and a legal path to every wish of the user (D4, D5, D6)."""

from __future__ import annotations

import itertools

import pytest

from kmirror.mirror.states import NEXT_STATE, PREDECESSORS, MirrorState, Wish, may_follow, next_state

S = MirrorState
LEGAL = {
    *((S.UNKNOWN, state) for state in S),
    (S.STOPPED, S.PREPARING),
    (S.PREPARING, S.MIRRORING),
    (S.PAUSED, S.MIRRORING),
    (S.MIRRORING, S.PAUSING),
    (S.PAUSING, S.PAUSED),
    (S.PREPARING, S.STOPPING),
    (S.MIRRORING, S.STOPPING),
    (S.PAUSING, S.STOPPING),
    (S.PAUSED, S.STOPPING),
    (S.FAILED, S.STOPPING),
    (S.STOPPING, S.STOPPED),
    *((state, S.FAILED) for state in S),
}
"""The table of D5, written independently of the engine's."""


@pytest.mark.decision("D4")
def test_state_bytes() -> None:
    assert {state.name: int(state) for state in S} == {
        "PREPARING": 0,
        "MIRRORING": 1,
        "PAUSING": 2,
        "PAUSED": 3,
        "STOPPING": 4,
        "STOPPED": 5,
        "FAILED": 6,
        "UNKNOWN": 16,
    }


@pytest.mark.decision("D5")
@pytest.mark.parametrize(("before", "after"), list(itertools.product(S, S)), ids=lambda s: s.name)
def test_every_transition_is_legal_or_not_as_decided(before: MirrorState, after: MirrorState) -> None:
    assert may_follow(before, after) is (before is after or (before, after) in LEGAL)


@pytest.mark.decision("D5")
def test_every_state_has_a_row_and_every_state_can_be_reached() -> None:
    assert set(PREDECESSORS) == set(S)
    reached = {S.UNKNOWN}
    while grown := {after for after in S for before in reached if may_follow(before, after)} - reached:
        reached |= grown
    assert reached == set(S)


@pytest.mark.decision("D5")
def test_failed_is_left_only_towards_stopping() -> None:
    assert [after for after in S if after is not S.FAILED and may_follow(S.FAILED, after)] == [S.STOPPING]


@pytest.mark.parametrize(("wish", "state"), list(itertools.product(Wish, S)), ids=lambda s: s.name)
def test_the_next_state_is_a_legal_transition(wish: Wish, state: MirrorState) -> None:
    assert may_follow(state, next_state(wish, state))


@pytest.mark.parametrize(
    ("wish", "goal"), [(Wish.MIRROR, S.MIRRORING), (Wish.PAUSE, S.PAUSED), (Wish.REMOVE, S.STOPPED)]
)
@pytest.mark.parametrize("state", list(S), ids=lambda s: s.name)
def test_every_wish_is_reachable_from_every_state(wish: Wish, goal: MirrorState, state: MirrorState) -> None:
    """PREPARING and STOPPING end by their own action: in MIRRORING, and in STOPPED."""
    by_action = {S.PREPARING: S.MIRRORING, S.STOPPING: S.STOPPED}
    seen = []
    while state is not goal and state not in seen:
        seen.append(state)
        after = next_state(wish, state)
        state = by_action.get(state, state) if after is state else after
    if S.FAILED in seen and wish is not Wish.REMOVE:
        assert state is S.FAILED, "left by remove and add alone"
    else:
        assert state is goal


@pytest.mark.decision("D6")
def test_removal_is_possible_in_every_state_and_rests_in_stopped() -> None:
    assert {state for (wish, state) in NEXT_STATE if wish is Wish.REMOVE} == set(S)
    assert next_state(Wish.REMOVE, S.STOPPED) is S.STOPPED
