"""Histories with log directories that fail, records that are deleted, and mirrors that are throttled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.replication.appends import LeaderAppends
from kmirror.cluster.replication.log_flushes import LogFlushes
from kmirror.errors import UsageError
from kmirror.histories.draw import draw
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.run import play, run_history
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog

CONFIGS = {**draw(0, "smoke").clusters[0].configs, "min.insync.replicas": "1"}
AB: dict[str, Value] = {"mirror": "m", "source": "a", "destination": "b"}
T: dict[str, Value] = {"topic": "t", "partition": 0}
TP = TopicPartition("t", 0)
BEGIN = ((300, "create_mirror", AB), (500, "add", {**AB, "topics": "t"}))


def plan(*steps: tuple[int, str, dict[str, Value]], log_dirs: int = 1) -> Plan:
    """Return a plan of clusters a and b, two brokers each, with topic t of a; it ends five seconds after its steps."""
    clusters = tuple(ClusterPlan(name, 2, 2, CONFIGS, log_dirs=log_dirs) for name in "ab")
    clients = (ClientPlan("p", "idempotent", "a", ("t",), 200),)
    done = tuple(Step(at_ms, action, args) for at_ms, action, args in (*BEGIN, *steps))
    return Plan(7, "test", clusters, {}, clients, done, done[-1].at_ms + 5_000, 30_000, {"t": "3@a"})


def test_a_log_directory_fails_and_is_back_after_a_restart() -> None:
    fails: dict[str, Value] = {"cluster": "a", "broker": 2, "number": 1, "for_ms": 4_000}
    outcome = run_history(plan((3_000, "fail_log_dir", fails), log_dirs=2))
    told = [text for _, text in outcome.story]
    assert outcome.account.crash == "" and outcome.anomalies == []
    (failed,) = (n for n, text in enumerate(told) if text == "/memory-1 of broker a-2 fails")
    (back,) = (n for n, text in enumerate(told) if text == "broker a-2 is restarted")
    assert any("ISR [1]" in text for text in told[failed:back]), "what lay there is led by the other broker"
    assert [(span.kind, span.subject) for span in outcome.account.spans] == [("disk", "a-2"), ("broker", "a-2")]


def test_the_directory_of_the_metadata_does_not_fail() -> None:
    outcome = play(plan((1_000, "fail_log_dir", {"cluster": "a", "broker": 1, "number": 0}), log_dirs=2))
    assert any(text.endswith("has no log directory 0, or it contains the metadata log") for _, text in outcome.story)
    with pytest.raises(UsageError, match="at least one log directory"):
        play(plan(log_dirs=0))


DELETION: dict[str, Value] = {"cluster": "a", **T, "offset": 4}


def test_records_deleted_by_an_operator_go_at_source_and_mirror() -> None:
    refused: dict[str, Value] = {"cluster": "b", **T, "offset": -1}
    outcome = run_history(plan((4_000, "delete_records", refused), (5_000, "delete_records", DELETION)))
    assert outcome.anomalies == []
    assert [order.error for order in outcome.account.orders[2:]] == ["READ_ONLY_TOPIC", "NONE"]
    assert {outcome.account.final_logs[name, TP].log_start_offset for name in "ab"} == {4}
    assert {row.decision: row.records for row in outcome.accepted if row.tp == TP} == {"DeleteRecords": 4}


def test_a_deletion_request_permits_no_further_deletions(monkeypatch: pytest.MonkeyPatch) -> None:
    before = LeaderAppends.raise_log_start

    def too_far(self: Any, partition: Any, offset: int) -> Any:
        return before(self, partition, offset + 1)

    monkeypatch.setattr(LeaderAppends, "raise_log_start", too_far)
    outcome = run_history(plan((5_000, "delete_records", DELETION)))
    assert {row.checker for row in outcome.anomalies} >= {"acked-lost"}


def test_a_mirror_is_throttled_and_catches_up() -> None:
    where: dict[str, Value] = {"cluster": "b", "topic": "t", "name": "mirror.replication.throttled.replicas"}
    rate: dict[str, Value] = {"cluster": "b", "name": "mirror.replication.throttled.rate", "value": "100"}
    outcome = run_history(
        plan(
            (2_000, "alter_topic", {**where, "value": "*"}),
            (2_100, "alter_cluster", rate),
            (7_000, "pause", {**AB, "topics": "t"}),
            (8_000, "resume", {**AB, "topics": "t"}),
            (9_000, "reset_topic", where),
        )
    )
    assert outcome.anomalies == [] and {order.error for order in outcome.account.orders} == {"NONE"}
    looks = [(seen.cluster, seen.log_end_offset) for seen in outcome.account.logs if seen.tp == TP and seen.at > 6e6]
    behind = max(end for name, end in looks if name == "a") - min(end for name, end in looks if name == "b")
    assert behind > 5


def plan_with_retention(ahead_ms: int) -> Plan:
    """Return a plan in which records are kept for an hour, and the leader's clock is set forward by `ahead_ms`."""
    where: dict[str, Value] = {"cluster": "a", "topic": "t"}
    leaps = [(5_000, "set_clock", {"cluster": "a", "broker": n, "ahead_ms": ahead_ms}) for n in (1, 2)]
    found = plan(
        (1_000, "alter_topic", {**where, "name": "retention.ms", "value": "3600000"}),
        (1_100, "alter_topic", {**where, "name": "segment.ms", "value": "1000"}),
        *leaps,
    )
    checks = {"log.initial.task.delay.ms": "1000", "log.retention.check.interval.ms": "2000"}
    clusters = tuple(replace(cluster, configs={**cluster.configs, **checks}) for cluster in found.clusters)
    return replace(found, clusters=clusters)


def test_a_clock_two_hours_ahead_deletes_records_kept_for_one() -> None:
    outcome = run_history(plan_with_retention(7_200_000))
    assert outcome.anomalies == []
    assert outcome.account.final_logs["a", TP].log_start_offset > 5
    assert "retention" in {row.decision for row in outcome.accepted}


def test_a_nearly_right_clock_permits_no_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmirror.cluster.replication.log_retention.to_ms", lambda now: now // 1_000 + 7_200_000)
    outcome = run_history(plan_with_retention(60_000))
    assert {row.checker for row in outcome.anomalies} >= {"acked-lost"}


def plan_with_open_transactions(ahead_ms: int) -> Plan:
    """Return a plan in which transactions are left open, while the clocks of all coordinators are ahead."""
    nodes = [{"cluster": "a", "broker": number} for number in (1, 2)]
    steps: list[tuple[int, str, dict[str, Value]]] = []
    for at_ms, ahead in ((100, ahead_ms), (6_000, 0)):
        steps += [(at_ms, "set_clock", {**node, "ahead_ms": ahead}) for node in nodes]
    steps += [(6_100, "kill_broker", {**node, "for_ms": 300}) for node in nodes]
    clients = (ClientPlan("p", "abandoned", "a", ("t",), 200, {"timeout_ms": 3_000}),)
    return replace(plan(*steps), clients=clients, converge_ms=8_000)


def test_a_transaction_that_a_fast_clock_dated_may_stay_open() -> None:
    outcome = run_history(plan_with_open_transactions(3_600_000))
    assert outcome.anomalies == []
    assert "wrong clock" in {row.decision for row in outcome.accepted}


def test_a_slow_clock_is_no_excuse_for_an_open_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TransactionCoordinator, "abort_and_fence", lambda *_: None)
    outcome = run_history(plan_with_open_transactions(-1))
    assert {row.checker for row in outcome.anomalies} >= {"hanging-transaction"}


def site_without_power(flush_every: str) -> Plan:
    """Return a plan in which all brokers of cluster a lose power three times, for a moment each."""
    found = plan(*((at_ms, "lose_site_power", {"cluster": "a", "for_ms": 300}) for at_ms in (3_000, 7_000, 11_000)))
    flushed = {"log.flush.interval.messages": flush_every}
    return replace(
        found, clusters=tuple(replace(cluster, configs={**cluster.configs, **flushed}) for cluster in found.clusters)
    )


def test_a_site_that_flushes_acknowledged_records_survives_a_power_loss() -> None:
    outcome = run_history(site_without_power("1"))
    assert outcome.account.crash == "" and outcome.anomalies == []
    assert sum(text.endswith("loses power") for _, text in outcome.story) == 9
    skipped = run_history(site_without_power("2"))
    assert not any(text.endswith("loses power") for _, text in skipped.story)


def test_a_broker_that_acknowledges_before_it_has_flushed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PartitionLog, "is_flush_due", property(lambda self: False))
    monkeypatch.setattr(LogFlushes, "flush_if_due", lambda *_: None)
    outcome = run_history(site_without_power("1"))
    assert {row.checker for row in outcome.anomalies} >= {"acked-lost"}
