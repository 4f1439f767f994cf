"""Faults planted in our coordinators and logs: sessions find each, within a bounded number of a fixed seed."""

from __future__ import annotations

from contextlib import closing

import pytest

from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.targets.rows import Wanted, open_target
from tests.unit.fuzz.planted_sessions import PLANTED, Planted

SEED = 1
SESSIONS_MAX = 96


def test_there_are_faults_for_each_machine() -> None:
    assert len({row.name for row in PLANTED}) == len(PLANTED) >= 15
    assert {row.machine for row in PLANTED} == {"groups", "transactions"}


@pytest.mark.parametrize("row", PLANTED, ids=[row.name.replace(" ", "-") for row in PLANTED])
def test_a_planted_fault_is_found(row: Planted) -> None:
    target, source = open_target("sessions", Wanted(seed=SEED, machines=(row.machine,)))
    with closing(target), row.plant():
        campaign = Campaign(target, source, shrinks=False)
        for frame in (frame for block in range(SESSIONS_MAX // 32) for frame in source.block(block)):
            campaign.put(frame)
            if campaign.tally.findings:
                return
    pytest.fail(f"not found in {SESSIONS_MAX} sessions")
