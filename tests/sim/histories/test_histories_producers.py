"""Producers of histories with several batches in flight, with lost responses, and logs of small segments."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.histories.draw import draw
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Exit, Outcome
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.log.segment_list import SegmentList

TP = TopicPartition("t", 0)
CONFIGS = {**draw(0).clusters[0].configs, "min.insync.replicas": "1", "transaction.state.log.min.isr": "1"}


def busy(kind: str, *steps: Step, brokers: int = 3, **options: int) -> Outcome:
    """Run one producer for some seconds, together with the steps."""
    clients = (ClientPlan("p", kind, "a", ("t",), 200, options), ClientPlan("c", "read_committed", "a", ("t",), 150))
    nothing = Step(9_000, "turn", {"clients": "p", "cluster": "a"})
    clusters = (ClusterPlan("a", brokers, brokers, CONFIGS),)
    return run_history(Plan(3, "test", clusters, {}, clients, (*steps, nothing), 9_500, 20_000, {"t": "1@a"}))


@pytest.fixture
def duplicates(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives an offset for each batch that a leader recognised as a duplicate."""
    found: list[int] = []
    original = PartitionLog.append_as_leader

    def append(self: PartitionLog, *args: Any, **more: Any) -> Any:
        result = original(self, *args, **more)
        if result.duplicate:
            found.append(result.first_offset)
        return result

    monkeypatch.setattr(PartitionLog, "append_as_leader", append)
    return found


@pytest.mark.parametrize("kind", ["plain", "idempotent", "short", "long"])
def test_batches_in_flight_are_written_in_order(kind: str) -> None:
    outcome = busy(kind, in_flight=5, brokers=1)
    assert outcome.exit is Exit.CLEAN
    values = [row.value for row in outcome.account.final_logs["a", TP].rows if row.value.startswith("p.")]
    assert values == sorted(values, key=lambda value: int(value.split(".")[1])) and len(values) > 30
    sent: dict[int, int] = {}
    for write in outcome.account.writes.values():
        sent[write.sent_at] = sent.get(write.sent_at, 0) + 1
    assert max(sent.values()) > 3, "more than one batch holds were sent in one instant"


def test_a_leader_dies_while_batches_are_in_flight() -> None:
    kills = [
        Step(at, "kill_replica", {"cluster": "a", "topic": "t", "partition": 0, "victim": "leader", "for_ms": 600})
        for at in range(1_000, 9_000, 1_500)
    ]
    outcome = busy("idempotent", *kills, in_flight=5)
    assert outcome.exit is Exit.CLEAN
    acked = [ack.value for ack in outcome.account.acks]
    rows = [row.value for row in outcome.account.final_logs["a", TP].rows]
    assert len(acked) == len(set(acked)) > 30
    assert set(acked) <= set(rows) and len(rows) == len(set(rows))


@pytest.mark.parametrize("kind", ["idempotent", "short"])
def test_lost_responses_are_repeated_as_duplicates(kind: str, duplicates: list[int]) -> None:
    outcome = busy(kind, in_flight=3, answers_lost_ppm=200_000, transaction_version=2)
    assert outcome.exit is Exit.CLEAN
    assert len(duplicates) >= 3
    acked = {ack.value: ack.offset for ack in outcome.account.acks}
    assert set(duplicates) <= set(acked.values())
    assert all(row.offset == acked.get(row.value, row.offset) for row in outcome.account.final_logs["a", TP].rows)


def test_logs_are_truncated_across_segment_boundaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cluster b, which mirrors a, loses the connection while a is written to, and takes over; then a fails back."""
    crossed: list[int] = []
    original = SegmentList.truncate_to

    def truncate(self: SegmentList, offset: int, now_ms: int) -> None:
        crossed.append(sum(segment.base_offset > offset for segment in self))
        original(self, offset, now_ms)

    monkeypatch.setattr(SegmentList, "truncate_to", truncate)
    there, back = (
        {"mirror": "m", "source": source, "destination": destination, "topics": "t"}
        for source, destination in ("ab", "ba")
    )
    steps = (
        Step(100, "create_mirror", there),
        Step(200, "add", there),
        Step(2_000, "line_down", {"one": "a", "other": "b", "for_ms": 3_000}),
        Step(3_500, "remove", there),
        Step(5_500, "create_mirror", back),
        Step(5_600, "add", back),
    )
    clusters = tuple(ClusterPlan(name, 1, 1, {**CONFIGS, "log.roll.ms": "300"}) for name in "ab")
    clients = (ClientPlan("p", "idempotent", "a", ("t",), 100, {"in_flight": 3}),)
    outcome = run_history(Plan(3, "test", clusters, {}, clients, steps, 8_000, 20_000, {"t": "1@a"}))
    assert outcome.exit is Exit.CLEAN
    assert max(crossed) > 3


def test_half_of_all_clusters_have_small_segments_and_producers_differ() -> None:
    plans = [draw(seed) for seed in range(60)]
    clusters = [cluster for plan in plans for cluster in plan.clusters]
    small = sum("log.roll.ms" in cluster.configs for cluster in clusters)
    assert 0.35 < small / len(clusters) < 0.65
    writers = [client for plan in plans for client in plan.clients if not client.kind.startswith("read_")]
    assert {client.options.get("in_flight") for client in writers} == {None, 1, 2, 3, 4, 5}
    assert 0.2 < sum("answers_lost_ppm" in client.options for client in writers) / len(writers) < 0.5
