"""Faults planted in kmirror's code: each is found within a bounded number of sessions of a fixed seed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.findings import keep, load
from kmirror.fuzz.replay import replay
from kmirror.fuzz.sessions.rows import MACHINES
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from tests.sim.fuzz.planted_sessions import PLANTED as IN_COORDINATORS
from tests.sim.fuzz.planted_sessions import Planted, generation_of_heartbeat_unchecked
from tests.sim.fuzz.planted_workflow import WORKFLOW

PLANTED = (*IN_COORDINATORS, *WORKFLOW)
SEED = 1
SESSIONS_MAX = 128


def test_there_are_faults_for_each_machine() -> None:
    assert len({row.name for row in PLANTED}) == len(PLANTED) >= 36
    assert {row.machine for row in PLANTED} == {row.name for row in MACHINES}


@pytest.mark.parametrize("row", PLANTED, ids=[row.name.replace(" ", "-") for row in PLANTED])
def test_a_planted_fault_is_found(row: Planted) -> None:
    target, source = open_target("sessions", TargetOptions(seed=SEED, machines=(row.machine,)))
    with closing(target), row.plant():
        campaign = Campaign(target, source, shrinks=False)
        for frame in (frame for block in range(SESSIONS_MAX // 32) for frame in source.block(block)):
            campaign.put(frame)
            if campaign.tally.findings:
                return
    pytest.fail(f"not found in {SESSIONS_MAX} sessions")


def test_a_finding_is_a_short_session_that_is_seen_again(tmp_path: Path) -> None:
    target, source = open_target("sessions", TargetOptions(seed=SEED, machines=("groups",)))
    with closing(target), generation_of_heartbeat_unchecked():
        campaign = Campaign(target, source)
        for frame in source.block(0):
            campaign.put(frame)
            if campaign.tally.findings:
                break
        (finding,) = campaign.tally.findings.values()
        stored = load(keep(finding, tmp_path))
        assert stored == finding and replay(stored) is not None
    assert len(finding.frame) < len(frame.data)
    steps = [line for line in finding.story if line[0].isdigit()]
    assert "Heartbeat" in steps[-1] and 3 <= len(steps) <= 12
    assert replay(finding) is None  # Without the fault.
