"""Offsets committed in transactions: pending until the marker, despite other events."""

from __future__ import annotations

import pytest

from kmirror.cluster.broker.verification import Verification
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.gen.write_txn_markers_response import WriteTxnMarkersResponse
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC
from tests.sim.coordinators.offset_requests import NOTHING, OTHER, SECOND, Found, OffsetRequests, running
from tests.sim.stage import SMALL, TOPIC, TP, StagedCluster

UNSTABLE = Found(-1, error=ErrorCode.UNSTABLE_OFFSET_COMMIT)


@pytest.mark.parametrize("version", range(6))
def test_every_version_commits_and_the_marker_makes_it_count(version: int) -> None:
    requests = running(1)
    producer = Producer(requests.cluster, transactional_id="t")
    if version < 5:  # From that version on the group's coordinator adds the partition.
        assert requests.add_to(producer, version=min(version, 4)) is ErrorCode.NONE
    assert requests.commit_in(producer, 7, version=version, metadata="note") is ErrorCode.NONE
    assert (requests.get(), requests.get(stable=True)) == (NOTHING, UNSTABLE)
    requests.end(producer, commit=True)
    requests.settled()
    assert (requests.get(), requests.get(stable=True)) == (Found(7, metadata="note"),) * 2


def test_an_abort_keeps_earlier_commits() -> None:
    requests = running()
    requests.commit(3)
    producer = Producer(requests.cluster, transactional_id="t")
    requests.add_to(producer)
    requests.commit_in(producer, 7, tps=[TP, SECOND])
    assert requests.get() == Found(3)
    requests.end(producer, commit=False)
    requests.settled()
    assert requests.fetch(stable=True) == {TP: Found(3)}


@pytest.mark.parametrize("commit", [True, False])
def test_a_coordinator_that_moves_before_the_marker(commit: bool) -> None:
    requests = running()
    cluster = requests.cluster
    requests.commit(3)
    producer = Producer(cluster, transactional_id="t")
    requests.add_to(producer)
    assert requests.commit_in(producer, 7) is ErrorCode.NONE
    cluster.elect(requests.shard)
    cluster.simulation.run_until(lambda: requests.get() == Found(3), what="a loaded shard")
    assert requests.get(stable=True) == UNSTABLE
    requests.end(producer, commit=commit)
    requests.settled()
    assert requests.get(stable=True) == Found(7 if commit else 3)


@pytest.mark.parametrize("commit", [True, False])
def test_a_coordinator_that_restarts_after_the_marker(commit: bool) -> None:
    requests = running(1)
    cluster = requests.cluster
    requests.commit(3)
    producer = Producer(cluster, transactional_id="t")
    requests.add_to(producer)
    requests.commit_in(producer, 7)
    requests.end(producer, commit=commit)
    requests.settled()
    cluster.kill(1)
    cluster.simulation.run_for(span_s=1)
    cluster.restart(1)
    cluster.await_leader(requests.shard)
    cluster.simulation.run_until(lambda: requests.get().error is ErrorCode.NONE, what="a loaded shard")
    assert requests.get(stable=True) == Found(7 if commit else 3)


def test_two_transactions_on_one_group_overlap() -> None:
    requests = running()
    one, two = Producer(requests.cluster, transactional_id="t"), Producer(requests.cluster, transactional_id="u")
    requests.add_to(one)
    requests.add_to(two, "u")
    requests.commit_in(one, 7)
    requests.commit_in(two, 5, "u")
    requests.end(two, "u", commit=True)
    requests.cluster.simulation.run_until(lambda: requests.get() == Found(5), what="the first marker")
    assert requests.get(stable=True) == UNSTABLE
    requests.end(one, commit=True)
    requests.settled()
    assert requests.get(stable=True) == Found(5), "its record stands further back in the log"


def test_a_plain_commit_while_a_transaction_is_open_stays() -> None:
    requests = running()
    producer = Producer(requests.cluster, transactional_id="t")
    requests.add_to(producer)
    requests.commit_in(producer, 7)
    requests.commit(4)
    requests.end(producer, commit=True)
    requests.settled()
    assert requests.get(stable=True) == Found(4)
    requests.move()
    assert requests.get(stable=True) == Found(4)


def test_a_commit_outside_of_the_transaction_is_refused() -> None:
    """Nothing would ever end it: the group's partition must be added first (KIP-890)."""
    requests = running()
    producer = Producer(requests.cluster, transactional_id="t")
    for version, error in ((3, ErrorCode.INVALID_TXN_STATE), (4, ErrorCode.TRANSACTION_ABORTABLE)):
        assert requests.commit_in(producer, 7, version=version) is error
    requests.add_to(producer)
    requests.end(producer, commit=True)
    requests.cluster.simulation.run_for(span_s=1)
    assert requests.commit_in(producer, 7) is ErrorCode.INVALID_TXN_STATE
    assert not requests.offsets.has_pending("g")


def test_a_marker_between_verification_and_append_refuses_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both may come in one event; records appended after the marker would stay pending for ever."""
    requests = running(1)
    cluster = requests.cluster
    producer = Producer(cluster, transactional_id="t")
    requests.add_to(producer)
    verdicts = Verification._verdicts

    def then_a_marker(self: Verification, reply: object) -> object:
        found = verdicts(self, reply)  # type: ignore[arg-type]
        cluster.await_leader(requests.shard).end_verification(producer.producer_id, producer.producer_epoch)
        return found

    monkeypatch.setattr(Verification, "_verdicts", then_a_marker)
    assert requests.commit_in(producer, 7) is ErrorCode.INVALID_TXN_STATE
    assert not requests.offsets.has_pending("g") and requests.cluster.log(requests.shard).log_end_offset == 0


@pytest.mark.parametrize("commit", [True, False])
def test_markers_that_are_sent_again_change_nothing(commit: bool) -> None:
    """A coordinator of transactions that moves before COMPLETE_* sends its markers once more."""
    requests = running()
    cluster = requests.cluster
    producer = Producer(cluster, transactional_id="t")
    requests.add_to(producer)
    requests.commit_in(producer, 7)
    requests.end(producer, commit=commit)
    requests.settled()
    requests.commit(3)
    row = WritableTxnMarkerTopic(GROUP_TOPIC, [requests.shard.partition])
    marker = WritableTxnMarker(producer.producer_id, producer.producer_epoch, commit, [row], 0)
    reply = requests.call(WriteTxnMarkersRequest([marker]), 1)
    assert isinstance(reply, WriteTxnMarkersResponse)
    assert requests.get(stable=True) == Found(3)
    requests.move()
    assert requests.get(stable=True) == Found(3)


def test_a_fenced_producer_commits_nothing() -> None:
    requests = running()
    old = Producer(requests.cluster, transactional_id="t")
    requests.add_to(old)
    Producer(requests.cluster, transactional_id="t")
    assert requests.add_to(old, version=1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert requests.add_to(old, version=2) is ErrorCode.PRODUCER_FENCED
    assert requests.commit_in(old, 7) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert not requests.offsets.has_pending("g")


def test_a_timeout_aborts_and_fences() -> None:
    requests = running(**{"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"})
    producer = Producer(requests.cluster, transactional_id="t")
    requests.add_to(producer)
    requests.commit_in(producer, 7)
    requests.cluster.simulation.run_for(span_s=65)
    assert requests.get(stable=True) == NOTHING
    assert requests.commit_in(producer, 8) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_members_generations_and_topics_are_checked() -> None:
    requests = running(1, **{"offset.metadata.max.bytes": "4"})
    producer = Producer(requests.cluster, transactional_id="t")
    requests.add_to(producer)
    assert requests.commit_in(producer, 7, member="m", generation=2) is ErrorCode.ILLEGAL_GENERATION
    unknown = [TopicPartition("unknown", 0), TopicPartition(TOPIC, 9)]
    assert requests.commit_in(producer, 7, tps=unknown) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert requests.commit_in(producer, 7, metadata="abcde") is ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert OffsetRequests(requests.cluster, "").commit_in(producer, 7) is ErrorCode.INVALID_GROUP_ID
    assert requests.get(stable=True) == NOTHING


def test_pending_offsets_are_deleted_with_the_committed_ones() -> None:
    requests = running(1)
    producer = Producer(requests.cluster, transactional_id="t")
    requests.add_to(producer)
    requests.commit_in(producer, 7)
    assert requests.delete(TP) == {TP: ErrorCode.NONE}
    assert requests.get(stable=True) == NOTHING
    requests.end(producer, commit=True)
    requests.settled()
    requests.cluster.simulation.run_for(span_s=1)
    assert requests.get(stable=True) == NOTHING


def test_the_group_can_be_added_before_its_topic_is_there() -> None:
    cluster = StagedCluster(Simulation(5), "a", configs={**SMALL})
    cluster.start()
    cluster.place_topic()
    producer = Producer(cluster, transactional_id="t")
    requests = OffsetRequests(cluster)
    assert requests.add_to(producer) is ErrorCode.NONE
    requests.create()
    assert requests.commit_in(producer, 7) is ErrorCode.NONE
    requests.end(producer, commit=True)
    requests.settled()
    assert requests.get(stable=True) == Found(7)


COMPACTED = {"internal.segment.bytes": "400", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "1000"}


@pytest.mark.parametrize("is_open", [True, False])
def test_a_compacted_log_has_the_same_offsets(is_open: bool) -> None:
    """Records below the first open transaction are compacted; the rest replays to the same offsets."""
    requests = running(**{"log.cleaner.backoff.ms": "1000"})
    cluster = requests.cluster
    cluster.alter(GROUP_TOPIC, COMPACTED)
    one, two = Producer(cluster, transactional_id="t"), Producer(cluster, transactional_id="u")
    for number in range(12):
        requests.commit(number, metadata="before" * 9)
        for producer, name in ((one, "t"), (two, "u")):
            cluster.simulation.run_until(
                lambda p=producer, n=name: not requests.add_to(p, n), what="the last one's end"
            )
        assert not requests.commit_in(one, 100 + number, tps=[TP, SECOND])
        assert not requests.commit_in(two, 200 + number, "u", tps=[TP, OTHER])
        requests.commit(300 + number, tp=SECOND)
        requests.end(one, commit=number % 2 == 0)
        requests.end(two, "u", commit=number % 3 == 0)
        requests.settled()
    requests.delete(OTHER)
    if is_open:
        cluster.simulation.run_for(span_s=1)
        assert not requests.add_to(one) and not requests.commit_in(one, 400)
    before, stable = requests.fetch(), requests.fetch(stable=True)
    cluster.simulation.run_for(span_s=8)
    log = cluster.log(requests.shard)
    assert sum(batch.record_count for batch in log.batches()) < log.log_end_offset / 3
    requests.move()
    assert (requests.fetch(), requests.fetch(stable=True)) == (before, stable)
    assert (UNSTABLE in stable.values()) == is_open
