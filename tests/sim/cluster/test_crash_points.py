"""A node dies just before or after a persisted step, at every change of state; the end is as without a crash.

Every 15th crash is tried. `KMIRROR_CRASH_POINTS=all` tries them all, about 2,700, in some minutes; any number from 0 on
does so with the clusters and elections of that seed.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice, pairwise

import pytest

from kmirror.kernel.clock import Instant
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_loader import StateLoader
from kmirror.mirror.state_records import PartitionState
from kmirror.mirror.states import PREDECESSORS, MirrorState
from tests.sim.cluster.crash_points import JOURNEYS, Journey, course, crashes, run_with_crash

ASKED = os.environ.get("KMIRROR_CRASH_POINTS", "")
SEED = int(ASKED) if ASKED.isdigit() else 0
EVERY = 1 if ASKED else 15
"""Fewer than the crashes of one step, so that at least one of each step is tried."""


@pytest.mark.decision("D5")
@pytest.mark.decision("D9")
@pytest.mark.decision("D15")
@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)
def test_a_change_of_state_ends_correctly_after_any_crash(journey: Journey) -> None:
    tried = set()
    for death in islice(crashes(journey, SEED), 0, None, EVERY):
        tried.add(death.step)
        try:
            run_with_crash(journey, SEED, death)
        except Exception as failure:
            failure.add_note(f"{journey.name}: {death}, seed {SEED}")
            raise
    assert tried == set(course(journey, SEED).steps)


@pytest.mark.decision("D5")
def test_the_journeys_cover_every_transition_of_the_table_of_states() -> None:
    """FAILED may follow any state in the same way: a single path from it is enough."""
    taken = {(before, after) for journey in JOURNEYS for before, after in pairwise(course(journey, SEED).end.states)}
    table = {(before, after) for after, befores in PREDECESSORS.items() for before in befores}
    failing = {(before, after) for before, after in table if after is MirrorState.FAILED}
    assert table - failing <= taken
    assert taken <= table and taken & failing


@pytest.mark.decision("D43")
def test_a_leader_that_forgets_the_commits_of_a_stop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: it shows only if a leader dies between the plan and the marker."""
    journey = next(journey for journey in JOURNEYS if journey.name == "removed in a transaction")
    read = StateLoader._after_state_read

    def forget(self: StateLoader, now: Instant, mp: MirrorPartition, own: PartitionState) -> None:
        is_new = not mp.cut_markers  # The leader that truncated knows these markers itself.
        stop = replace(own.stop, commits=()) if is_new and own.stop is not None else own.stop
        read(self, now, mp, replace(own, stop=stop))

    monkeypatch.setattr(StateLoader, "_after_state_read", forget)
    of_leaders = [death for death in crashes(journey, SEED) if death.victim == "leader" and not death.just_after]
    wrong = []
    for death in of_leaders[1::3]:
        try:
            run_with_crash(journey, SEED, death)
        except AssertionError as failure:
            wrong.append(str(failure))
    assert wrong and all("ABORT" in text for text in wrong)
    assert len(wrong) < len(of_leaders[1::3])
