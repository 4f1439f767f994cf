"""DescribeMirrors responses at each observation of the logs are compared with the logs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kmirror.histories.account import DescribedPartition
from kmirror.histories.checkers import judge
from kmirror.histories.plan import Plan, Step
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Outcome
from kmirror.kernel.clock import SECOND
from tests.sim.histories.test_planted_faults import by_hand, client, killed_in_the_end


def still_mirrored() -> Plan:
    """Cluster b mirrors a to the end."""
    plan = killed_in_the_end()
    return replace(plan, steps=plan.steps[:-1], clients=plan.clients[:-1], restart={})


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run_history(still_mirrored())


def test_a_mirror_at_rest_has_no_lag_and_no_reason(outcome: Outcome) -> None:
    last: DescribedPartition = outcome.account.described[-1]
    assert outcome.anomalies == [] and last.cluster == "b"
    assert (last.state, last.lag, last.reason) == ("MIRRORING", 0, "")
    assert last.source_offset == last.destination_offset > 10


@pytest.mark.decision("D38")
def test_a_new_leader_reports_a_failure_from_before_it_led() -> None:
    """Cluster b has its own topic of that name; its leader there dies after the mirror has given the topic up."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = (
        Step(100, "create_mirror", there),
        Step(200, "create_topic", {"cluster": "b", "topic": "t0", "partitions": 1}),
        Step(400, "add", {**there, "named": False}),
        Step(3_000, "kill_replica", {"cluster": "b", "topic": "t0", "victim": "leader", "for_ms": 2_500}),
    )
    plan = replace(by_hand(steps, [client("p0", "plain")], clusters="ab"), faults_end_ms=7_000)
    outcome = run_history(plan)
    last = outcome.account.described[-1]
    assert outcome.anomalies == [] and (last.cluster, last.state) == ("b", "FAILED")
    assert last.reason.startswith("failed under a former leader")
    assert "remove the topic" in last.reason


@pytest.mark.decision("D62")
def test_a_broker_describes_by_its_own_clock() -> None:
    """Its clock is ahead of the world's, by which no response of the source would ever be old."""
    steps = (
        Step(50, "set_clock", {"cluster": "b", "broker": 1, "ahead_ms": 60_000}),
        *still_mirrored().steps,
        Step(2_500, "line_down", {"one": "a", "other": "b", "for_ms": 7_000}),
        Step(8_000, "pause", {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}),
    )
    outcome = run_history(replace(still_mirrored(), steps=steps, faults_end_ms=9_600))
    told = [row.lag for row in outcome.account.described if 7.9 < row.at / SECOND < 8.1]
    assert outcome.anomalies == [] and told and set(told) == {-1}


CHANGES: dict[str, dict[str, Any]] = {
    "FAILED without a reason": {"state": "FAILED"},
    "PREPARING without a reason": {"state": "PREPARING", "persisted": "PREPARING", "broker": 9},
    "but the leader has entered MIRRORING": {"state": "PAUSED"},
    "but MIRRORING is persisted": {"state": "UNKNOWN"},
    "MIRRORING with reason 'why'": {"reason": "why"},
    "destination offset": {"destination_offset": 1},
    "lag 7 between": {"lag": 7},
    "lag -1, although everything": {"lag": -1, "source_offset": -1},
    "but the source's log ends at": {"source_offset": 999_999},
}


@pytest.mark.parametrize("told", CHANGES)
def test_wrong_descriptions_are_found(outcome: Outcome, told: str) -> None:
    last = outcome.account.described[-1]
    changed = replace(last, **CHANGES[told])
    if changed.source_offset > last.source_offset:
        changed = replace(changed, lag=changed.source_offset - changed.destination_offset)
    account = replace(outcome.account, described=[*outcome.account.described[:-1], changed])
    anomalies, _ = judge(account, outcome.plan)
    assert [anomaly.checker for anomaly in anomalies] == ["described-wrong"]
    assert told in anomalies[0].text
