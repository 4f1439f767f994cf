"""A leader verifies with the coordinator before it lets a transaction begin in its log (KIP-890)."""

from __future__ import annotations

import pytest

from kmirror.cluster.broker.verification import Verification
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import TRANSACTION_TOPIC
from tests.sim.stage import (
    SMALL,
    TOPIC,
    TP,
    StagedCluster,
    WrittenLogs,
    pair,
    plain,
    wait_until_mirrored,
    wait_until_stopped,
)

SHARD = TopicPartition(TRANSACTION_TOPIC, 0)


def running(partitions: int = 1, **configs: str) -> StagedCluster:
    """Return a cluster in which producers add their partitions themselves."""
    cluster = StagedCluster(Simulation(3), "a", configs={**SMALL, **configs}, transaction_version=1)
    cluster.start()
    cluster.place_topic(replicas=[(1, 2, 3)] * partitions)
    return cluster


def late(producer: Producer) -> bytes:
    """Return a transactional batch of the producer."""
    return build_batch(
        [RecordData(value=b"late")],
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=0,
        is_transactional=True,
        timestamp_ms=0,
    )


def sent(cluster: StagedCluster, producer: Producer, version: int) -> ErrorCode:
    """Send `late` in one version of Produce; return the error."""
    return answers(cluster, {TP: late(producer)}, version)[0]


def answers(
    cluster: StagedCluster, batches: dict[TopicPartition, bytes], version: int = 11, *, name: str | None = "t"
) -> list[ErrorCode]:
    """Send batches to one leader, under a transactional id; return the errors."""
    data = [PartitionProduceData(index=tp.partition, records=batch) for tp, batch in batches.items()]
    topic = TopicProduceData(name=TOPIC, partition_data=data)
    request = ProduceRequest(transactional_id=name, acks=-1, timeout_ms=5_000, topic_data=[topic])
    reply = cluster.client.call(cluster.endpoint(cluster.await_leader().broker_id), request, version)
    assert isinstance(reply, ProduceResponse)
    return [ErrorCode(row.error_code) for row in reply.responses[0].partition_responses]


@pytest.mark.parametrize(
    ("version", "error"), [(10, ErrorCode.INVALID_TXN_STATE), (11, ErrorCode.TRANSACTION_ABORTABLE)]
)
def test_a_batch_of_a_transaction_that_is_over_is_refused(version: int, error: ErrorCode) -> None:
    cluster = running()
    producer = Producer(cluster, transactional_id="t")
    producer.begin_transaction()
    producer.add_partitions([TP])
    producer.abort_transaction()
    cluster.simulation.run_for(span_s=2)
    assert sent(cluster, producer, version) is error
    assert not cluster.log().producers.ongoing


def test_without_verification_it_hangs() -> None:
    """Brokers before 3.6 do not verify; the config turns it off."""
    cluster = running(**{"transaction.partition.verification.enable": "false"})
    producer = Producer(cluster, transactional_id="t")
    producer.begin_transaction()
    producer.add_partitions([TP])
    producer.abort_transaction()
    cluster.simulation.run_for(span_s=2)
    assert sent(cluster, producer, 11) is ErrorCode.NONE
    cluster.simulation.run_for(span_s=120)
    assert cluster.log().producers.ongoing


def test_newer_clients_let_the_leader_add_the_partition() -> None:
    cluster = running()
    producer = Producer(cluster, transactional_id="t")
    assert sent(cluster, producer, 12) is ErrorCode.NONE
    request = EndTxnRequest(
        transactional_id="t", producer_id=producer.producer_id, producer_epoch=producer.producer_epoch, committed=True
    )
    cluster.client.call(cluster.endpoint(cluster.await_leader(SHARD).broker_id), request, 4)
    cluster.simulation.run_until(
        lambda: cluster.log().last_stable_offset == cluster.log().log_end_offset == 2, what="the marker"
    )


def test_a_fenced_producer_gets_an_error() -> None:
    cluster = running()
    old = Producer(cluster, transactional_id="t")
    old.begin_transaction()
    old.add_partitions([TP])
    Producer(cluster, transactional_id="t")
    assert sent(cluster, old, 11) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_two_producers_in_one_request_are_refused() -> None:
    """The coordinator verifies one producer for each request; the other's batch would be appended unverified."""
    cluster = running(partitions=2)
    producer, other = Producer(cluster, transactional_id="t"), Producer(cluster, transactional_id="u")
    second = TopicPartition(TOPIC, 1)
    producer.begin_transaction()
    producer.add_partitions({TP: None, second: None})
    found = answers(cluster, {TP: late(producer), second: late(other)})
    assert found == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2
    assert not cluster.log().producers.ongoing and not cluster.log(second).producers.ongoing
    assert answers(cluster, {TP: late(producer), second: late(producer)}) == [ErrorCode.NONE] * 2


def test_a_transaction_without_a_transactional_id_is_refused() -> None:
    cluster = running()
    producer = Producer(cluster, transactional_id="t")
    producer.begin_transaction()
    producer.add_partitions({TP: None})
    found = answers(cluster, {TP: late(producer)}, name=None)
    assert found == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED]
    assert not cluster.log().producers.ongoing


def test_an_unreachable_coordinator_gets_the_request_again() -> None:
    cluster = running()
    producer = Producer(cluster, transactional_id="t")
    owner = cluster.await_leader(SHARD).broker_id
    if cluster.await_leader().broker_id == owner:
        cluster.elect()
        owner = cluster.await_leader(SHARD).broker_id
    assert cluster.await_leader().broker_id != owner
    producer.begin_transaction()
    producer.add_partitions([TP])
    cluster.kill(owner)
    assert sent(cluster, producer, 11) is ErrorCode.NOT_ENOUGH_REPLICAS, "every client sends that again"
    assert producer.send({TP: [RecordData(value=b"x")]}) == {TP: 0}


def test_a_marker_that_arrives_first_invalidates_the_verification(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator verifies the transaction, then ends it; the marker arrives before the response."""
    cluster = running()
    producer = Producer(cluster, transactional_id="t")
    producer.begin_transaction()
    producer.add_partitions([TP])
    asked: list[Verification] = []
    verdicts = Verification._verdicts

    def after_a_marker(self: Verification, reply: object) -> object:
        asked.append(self)
        cluster.await_leader().end_verification(producer.producer_id, producer.producer_epoch)  # Like WriteTxnMarkers.
        return verdicts(self, reply)  # type: ignore[arg-type]

    monkeypatch.setattr(Verification, "_verdicts", after_a_marker)
    assert sent(cluster, producer, 11) is ErrorCode.INVALID_TXN_STATE
    assert asked
    assert not cluster.log().producers.ongoing


@pytest.mark.decision("D44")
def test_a_batch_that_outlives_a_session_does_not_hang() -> None:
    """The abort finds the topic read-only; the batch comes after the stop, which has reset the producer state."""
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}))
    p.begin()
    p.fail_over()
    producer = Producer(p.b, transactional_id="t")
    producer.begin_transaction()
    producer.add_partitions([TP])
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    producer.abort_transaction()
    p.simulation.run_for(span_s=5)
    p.there.remove_topics([TOPIC])
    wait_until_stopped(p.there)
    assert sent(p.b, producer, 11) is ErrorCode.TRANSACTION_ABORTABLE
    p.run_until(lambda: p.b.state() == "STOPPED", "B to stay stopped")
    assert not p.b.log().producers.ongoing
