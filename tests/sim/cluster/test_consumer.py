"""A consumer gets the same records as Kafka's: by isolation level, from any position, after elections, truncations."""

from __future__ import annotations

import pytest

from kmirror.client.consumer import ConsumerRecord
from kmirror.errors import KafkaError, SimulationFailure, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.sim.consumer import Consumer
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec
from tests.builders import marker
from tests.sim.stage import ONE_BROKER, T0_MS, TOPIC, TP, StagedCluster, WrittenLogs, legacy, pair, plain, transactional

COMMITTED, UNCOMMITTED = IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED
# Producer 1 aborts, producer 2 commits, producer 1 begins again and stays open.
LOG = [
    plain(0, 0, "plain 0"),
    transactional(1, 0, 1, "aborted 1", "aborted 2"),
    transactional(3, 1, 2, "committed 3"),
    marker(offset=4, epoch=1, pid=1, commit=False),
    transactional(5, 1, 1, "committed 5", sequence=2),
    marker(offset=6, epoch=1, pid=1, commit=True),
    marker(offset=7, epoch=1, pid=2, commit=True),
    transactional(8, 1, 2, "open 8", sequence=1),
    plain(9, 1, "plain 9"),
]


def one_broker_cluster(*batches: bytes, topics: dict[str, list[bytes]] | None = None, start: int = 0) -> StagedCluster:
    logs = WrittenLogs(topics or {TOPIC: list(batches)}, start=start)
    cluster = StagedCluster(Simulation(4), "a", brokers=1, logs=logs, configs=ONE_BROKER)
    cluster.start()
    return cluster


def texts(records: list[ConsumerRecord]) -> list[str]:
    return [(record.value or b"").decode() for record in records]


def test_each_isolation_level_sees_its_own() -> None:
    cluster = one_broker_cluster(*LOG)
    everything = [
        "plain 0",
        "aborted 1",
        "aborted 2",
        "committed 3",
        "committed 5",
        "open 8",
        "plain 9",
    ]
    assert texts(cluster.read(TP)) == everything
    assert texts(cluster.read(TP, isolation=COMMITTED)) == ["plain 0", "committed 3", "committed 5"]
    assert Consumer(cluster, TOPIC, isolation=COMMITTED).end_offsets([TP]) == {TP: 8}
    assert Consumer(cluster, TOPIC).end_offsets([TP]) == {TP: 10}


def test_a_record_is_all_that_was_written() -> None:
    cluster = one_broker_cluster(plain(0, 3, "x"))
    rows = [RecordData(b"k", None, [("h", b"1"), ("h", None)], T0_MS + 5)]
    Producer(cluster, compression=Compression.ZSTD).send({TP: rows})
    assert cluster.read(TP) == [
        ConsumerRecord(TOPIC, 0, 0, T0_MS, None, b"x", (), 3),
        ConsumerRecord(TOPIC, 0, 1, T0_MS + 5, b"k", None, (("h", b"1"), ("h", None)), 4),
    ]


def test_messages_of_old_formats_are_records_too() -> None:
    log = [legacy(0, 0, "v0"), legacy(1, 1, "w1", "w2", codec=Compression.GZIP), plain(3, 0, "v2")]
    found = one_broker_cluster(*log).read(TP)
    assert [(record.offset, record.leader_epoch) for record in found] == [(0, -1), (1, -1), (2, -1), (3, 0)]
    assert texts(found) == ["v0", "w1", "w2", "v2"]


def test_iterating_ends_after_an_idle_time_and_can_be_continued() -> None:
    cluster = one_broker_cluster(topics={"one": [plain(0, 0, "a", "b")], "two": [plain(0, 0, "c")]})
    consumer = Consumer(cluster, "one", "two", consumer_timeout_ms=700)
    before = cluster.simulation.now_ms
    assert sorted(texts(list(consumer))) == ["a", "b", "c"]
    assert 700 <= cluster.simulation.now_ms - before < 1_500
    cluster.produce("two", 0, [b"d"])
    assert texts(list(consumer)) == ["d"]
    assert list(consumer) == []
    assert repr(consumer) == "<Consumer of a, read_uncommitted: one-0 at 2, two-0 at 2>"


def test_leaving_the_loop_early_loses_nothing() -> None:
    cluster = one_broker_cluster(topics={"one": [plain(0, 0, "a", "b", "c")], "two": [plain(0, 0, "d")]})
    consumer = Consumer(cluster, "one", "two")
    for record in consumer:
        if record.value == b"b":
            break
    assert consumer.position(TopicPartition("one", 0)) == 2
    assert sorted(texts(list(consumer))) == ["c", "d"]


def test_a_seek_inside_the_loop_counts_at_once() -> None:
    cluster = one_broker_cluster(topics={"one": [plain(0, 0, "a", "b", "c")], "two": [plain(0, 0, "d", "e")]})
    consumer = Consumer(cluster, "one", "two")
    found = []
    for record in consumer:
        found.append((record.value or b"").decode())
        if found == ["a"]:
            consumer.seek(TopicPartition("one", 0), 2)
            consumer.seek(TopicPartition("two", 0), 1)
    assert found == ["a", "c", "e"]


def test_polls_return_the_requested_number_and_skip_no_record() -> None:
    consumer = Consumer(one_broker_cluster(*LOG), isolation=COMMITTED)
    consumer.assign([TP])
    assert texts(consumer.poll(max_records=2)[TP]) == ["plain 0", "committed 3"]
    assert consumer.position(TP) == 4
    assert texts(consumer.poll(max_records=2)[TP]) == ["committed 5"]
    assert consumer.position(TP) == 8, "it is past the markers"
    assert consumer.poll() == {}


def test_seeking() -> None:
    cluster = one_broker_cluster(*LOG, start=3)
    consumer = Consumer(cluster, isolation=COMMITTED)
    with pytest.raises(UsageError, match="orders-0 is not read"):
        consumer.seek(TP, 1)
    consumer.assign([TP])
    consumer.seek_to_end()
    assert (consumer.position(TP), consumer.poll()) == (8, {})
    consumer.seek(TP, 5)
    assert texts(consumer.poll()[TP]) == ["committed 5"]
    consumer.seek_to_beginning(TP)
    assert consumer.position(TP) == 3
    consumer.seek(TP, 0)
    assert texts(consumer.poll(timeout_ms=500)[TP]) == ["committed 3", "committed 5"], "out of range: the earliest"
    last = Consumer(cluster, TOPIC, auto_offset_reset=OffsetSpec.LATEST)
    assert last.poll() == {} and last.position(TP) == 10


def test_an_unknown_topic_is_refused() -> None:
    with pytest.raises(KafkaError, match=r"cannot read nowhere: UNKNOWN_TOPIC_OR_PARTITION.*seed 4") as caught:
        list(Consumer(one_broker_cluster(*LOG), "nowhere"))
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_missing_leader_is_a_failure_with_the_seed() -> None:
    cluster = one_broker_cluster(*LOG)
    cluster.kill(1)
    with pytest.raises(SimulationFailure, match="seed 4"):
        cluster.read(TP)


def test_a_consumer_reads_on_under_the_next_leader() -> None:
    p = pair(6)
    p.a.create_topic(TOPIC)
    consumer = Consumer(p.a, TOPIC, consumer_timeout_ms=20_000)
    p.a.produce(TOPIC, 0, [b"before"])
    assert texts(list(consumer)) == ["before"]
    p.a.elect()
    p.a.produce(TOPIC, 0, [b"after"])
    assert texts(list(consumer)) == ["after"]


@pytest.mark.decision("D15")
def test_a_consumer_of_a_truncated_log_returns_to_the_point_of_divergence() -> None:
    """At its position is another record of a later epoch: a fetch by offset alone would skip "on b"."""
    p = pair(7, logs=WrittenLogs({TOPIC: [plain(0, 0, "both")]}), brokers=1)
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.a.produce(TOPIC, 0, [b"only on a", b"this too"])
    consumer = Consumer(p.a, TOPIC)
    assert texts(list(consumer)) == ["both", "only on a", "this too"]
    p.fail_over()
    p.b.produce(TOPIC, 0, [b"on b"])
    p.b.produce(TOPIC, 0, [b"on b again"])
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert p.a.log().log_end_offset > 3
    assert texts(list(consumer)) == ["on b", "on b again"]
    assert p.a.read(TP, isolation=COMMITTED) == p.b.read(TP, isolation=COMMITTED)


def test_a_producer_that_is_closed_inside_a_transaction_aborts_it() -> None:
    cluster = one_broker_cluster(plain(0, 0, "plain"))
    with pytest.raises(ZeroDivisionError), Producer(cluster, transactional_id="t") as producer:
        for text in (b"committed", b"too"):
            producer.begin_transaction()
            producer.send({TP: [RecordData(value=text)]})
            producer.send({TP: [RecordData(value=text)]})
            producer.commit_transaction()
        producer.begin_transaction()
        producer.send({TP: [RecordData(value=b"aborted")]})
        raise ZeroDivisionError
    cluster.simulation.run_until(lambda: cluster.log().last_stable_offset == 9, what="the markers")
    assert texts(cluster.read(TP, isolation=COMMITTED)) == ["plain", "committed", "committed", "too", "too"]
    assert texts(cluster.read(TP))[-1] == "aborted"


def test_a_producer_without_begin_gets_an_error() -> None:
    cluster = one_broker_cluster(plain(0, 0, "plain"))
    row = {TP: [RecordData(value=b"x")]}
    with pytest.raises(UsageError, match="without a transactional_id"):
        Producer(cluster).begin_transaction()
    producer = Producer(cluster, transactional_id="t")
    assert repr(producer) == f"<Producer to a: id {producer.producer_id} epoch 0, transactional id t>"
    for call in (producer.commit_transaction, producer.abort_transaction, lambda: producer.send(row)):
        with pytest.raises(UsageError, match="call begin_transaction"):
            call()
    producer.begin_transaction()
    with pytest.raises(UsageError, match="commit or abort it first"):
        producer.begin_transaction()
    producer.close()
    assert repr(Producer(cluster)) == "<Producer to a: plain>"
