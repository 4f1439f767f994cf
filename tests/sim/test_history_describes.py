"""What DescribeMirrors says whenever logs are looked at is held against what is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kmirror.sim.history.account import Described
from kmirror.sim.history.checkers import judge
from kmirror.sim.history.plan import Plan
from kmirror.sim.history.run import run_history
from kmirror.sim.history.verdict import Outcome
from tests.sim.test_planted_faults import killed_in_the_end


def still_mirrored() -> Plan:
    """Cluster b mirrors what a writes to the end."""
    plan = killed_in_the_end()
    return replace(plan, steps=plan.steps[:-1], clients=plan.clients[:-1], restart={})


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run_history(still_mirrored())


def test_a_mirror_that_came_to_rest_has_no_lag_and_no_reason(outcome: Outcome) -> None:
    last: Described = outcome.account.described[-1]
    assert outcome.anomalies == [] and last.cluster == "b"
    assert (last.state, last.lag, last.reason) == ("MIRRORING", 0, "")
    assert last.source_offset == last.destination_offset > 10


CHANGES: dict[str, dict[str, Any]] = {
    "FAILED without a reason": {"state": "FAILED"},
    "PREPARING without a reason": {"state": "PREPARING"},
    "destination offset": {"destination_offset": 1},
    "lag 7 between": {"lag": 7},
    "lag -1, though all is mirrored": {"lag": -1, "source_offset": -1},
    "where the log ends at": {"source_offset": 999_999},
}


@pytest.mark.parametrize("told", CHANGES)
def test_what_is_described_wrong_is_found(outcome: Outcome, told: str) -> None:
    last = outcome.account.described[-1]
    changed = replace(last, **CHANGES[told])
    if changed.source_offset > last.source_offset:
        changed = replace(changed, lag=changed.source_offset - changed.destination_offset)
    account = replace(outcome.account, described=[*outcome.account.described[:-1], changed])
    anomalies, _ = judge(account, outcome.plan)
    assert [anomaly.checker for anomaly in anomalies] == ["described-wrong"]
    assert told in anomalies[0].text
