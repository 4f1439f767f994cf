"""Batches, once and in order: sequence numbers, retries, moved leaders, refusals and unknown outcomes."""

from __future__ import annotations

import pytest

from kmirror.client.producer import Delivery, Producer, ProducerConfigs
from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kmirror.records.batch import Batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import BOOTSTRAP, ONE, OTHER, TOPIC_ID, TP, TWO, PendingRequest, Script, metadata

PLAIN = ProducerConfigs(enable_idempotence=False)
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


class Stage:
    """A producer with the id 7, two known leaders, and the deliveries."""

    def __init__(self, configs: ProducerConfigs | None = None) -> None:
        self.script = Script()
        self.delivered: list[tuple[str, ErrorCode, int]] = []
        self.leaders = {TP: (1, 4), OTHER: (2, 4)}
        self.now: Instant = 0
        self.producer = Producer("producer", self.script.requester, (BOOTSTRAP,), configs)
        if self.producer.is_idempotent:
            self.producer.init(0, lambda _now, _error: None)
            self.answer_others()

    def send(self, name: str, tp: TopicPartition = TP, *, records: int = 1) -> None:
        """Send one batch, up to Produce."""

        def on_delivery(_: Instant, delivery: Delivery) -> None:
            self.delivered.append((name, delivery.error, delivery.base_offset))

        self.producer.send(self.now, tp, [RecordData(value=name.encode())] * records, on_delivery)
        self.answer_others()

    def answer_others(self) -> None:
        """Answer the requests before Produce: versions, leaders, the producer id."""
        while (asked := self.first_but_produce()) is not None:
            self.script.asked.remove(asked)
            self.script.asked.insert(0, asked)
            if isinstance(asked.body, ApiVersionsRequest):
                self.script.answer_versions(self.now)
            elif isinstance(asked.body, MetadataRequest):
                self.script.answer(metadata(self.leaders), self.now)
            else:
                assert isinstance(asked.body, InitProducerIdRequest)
                self.script.answer(InitProducerIdResponse(producer_id=7, producer_epoch=0), self.now)

    def first_but_produce(self) -> PendingRequest | None:
        return next((one for one in self.script.pending_requests() if not isinstance(one.body, ProduceRequest)), None)

    def batches(self) -> list[tuple[TopicPartition, str, int, int]]:
        """Return (partition, first value, epoch, sequence) of each batch in flight."""
        self.answer_others()
        found = []
        for one in self.script.pending_requests():
            assert isinstance(one.body, ProduceRequest)
            for topic in one.body.topic_data:
                for data in topic.partition_data:
                    batch = Batch(bytes(data.records or b""))
                    value = next(batch.records()).value or b""
                    tp = TopicPartition("t", data.index)
                    found.append((tp, value.decode(), batch.producer_epoch, batch.base_sequence))
        return found

    def answer(
        self, error: ErrorCode = ErrorCode.NONE, offset: int = -1, *, leader: tuple[int, int] | None = None
    ) -> None:
        """Answer the oldest Produce with one row for each of its batches."""
        self.answer_others()
        asked = self.script.next(ProduceRequest)
        topics = []
        for topic in asked.topic_data:
            rows = [PartitionProduceResponse(index=d.index, error_code=error, base_offset=offset)
                    for d in topic.partition_data]  # fmt: skip
            for row in rows:
                if leader is not None:
                    row.current_leader = LeaderIdAndEpoch(leader_id=leader[0], leader_epoch=leader[1])
            topics.append(TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=rows))
        self.script.answer(ProduceResponse(responses=topics), self.now)

    def wait(self) -> None:
        """Let time pass until the producer's next timer, and fire it."""
        self.script.pending_requests()
        key, at = min(self.script.timers.items(), key=lambda row: row[1])
        del self.script.timers[key]
        self.now = max(self.now, at)
        self.producer.on_timer(self.now, key)


def test_a_plain_batch_is_sent_with_the_id_of_its_topic_in_the_newest_version() -> None:
    stage = Stage(PLAIN)
    stage.send("a")
    assert stage.batches() == [(TP, "a", -1, -1)]
    (asked,) = stage.script.pending_requests()
    assert isinstance(asked.body, ProduceRequest)
    assert (asked.peer, asked.version, asked.body.topic_data[0].topic_id) == (ONE, 13, TOPIC_ID)
    stage.answer(offset=12)
    assert stage.delivered == [("a", ErrorCode.NONE, 12)]


def test_without_sequences_a_partition_has_one_batch_in_flight() -> None:
    stage = Stage(PLAIN)
    stage.send("a")
    stage.send("b")
    stage.send("c", OTHER)
    assert [name for _, name, _, _ in stage.batches()] == ["a", "c"]
    stage.answer()
    assert [name for _, name, _, _ in stage.batches()] == ["c", "b"]


def test_sequences_continue_per_partition_with_five_requests_in_flight() -> None:
    stage = Stage()
    for name in "abcdefg":
        stage.send(name, records=2)
    stage.send("x", OTHER)
    assert stage.batches() == [*((TP, name, 0, 2 * n) for n, name in enumerate("abcde")), (OTHER, "x", 0, 0)]
    assert stage.script.versions == [11] * 6, "the last one before transaction.version 2"
    stage.answer(offset=0)
    assert stage.batches()[-1] == (TP, "f", 0, 10)


def test_a_retry_keeps_its_sequence_and_precedes_later_batches() -> None:
    stage = Stage()
    for name in "abc":
        stage.send(name)
    stage.leaders[TP] = (2, 5)
    stage.answer(NOT_LEADER)
    stage.answer(OUT_OF_ORDER)
    stage.answer(OUT_OF_ORDER)
    assert stage.batches() == [] and stage.delivered == []
    stage.wait()
    assert stage.batches() == [(TP, "a", 0, 0)] and stage.script.pending_requests()[0].peer == TWO
    for name in "abc":
        stage.answer()
        while not stage.batches() and name != "c":
            stage.wait()
    assert [name for name, _, _ in stage.delivered] == ["a", "b", "c"]


def test_a_retry_that_waits_for_a_response_sets_one_timer() -> None:
    """The partition has no leader, and another batch is in flight: only its response, or its timeout, helps."""
    stage = Stage()
    stage.send("a")
    stage.send("b")
    del stage.leaders[TP]
    stage.answer(NOT_LEADER)
    stage.wait()
    before = stage.now
    stage.wait()
    assert stage.now - before > 100 * SECOND
    assert [name for name, _, _ in stage.delivered] == ["a"], "its delivery.timeout.ms is over"


def test_pauses_between_retries_double() -> None:
    stage = Stage()
    stage.send("a")
    at = []
    for _ in range(6):
        stage.answer(ErrorCode.NOT_ENOUGH_REPLICAS)
        before = stage.now
        stage.wait()
        at.append((stage.now - before) // MILLISECOND)
    assert at == [100, 200, 400, 800, 1000, 1000]


def test_a_duplicate_sequence_number_counts_as_acknowledged() -> None:
    stage = Stage()
    stage.send("a")
    stage.script.break_link()
    stage.wait()
    assert stage.batches() == [(TP, "a", 0, 0)]
    stage.answer(ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
    assert stage.delivered == [("a", ErrorCode.NONE, -1)]


def test_a_leader_that_names_the_next_one_is_believed() -> None:
    stage = Stage()
    stage.send("a")
    stage.answer(NOT_LEADER, leader=(2, 5))
    assert stage.script.pending_requests() == [], "no broker is asked for the leader"
    stage.wait()
    assert stage.batches() == [(TP, "a", 0, 0)] and stage.script.pending_requests()[0].peer == TWO


def test_the_sequence_of_a_failed_batch_is_never_reused() -> None:
    stage = Stage()
    stage.send("a", records=3)
    stage.send("b")
    stage.answer(ErrorCode.MESSAGE_TOO_LARGE)
    assert stage.delivered == [("a", ErrorCode.MESSAGE_TOO_LARGE, -1)]
    stage.send("c")
    assert stage.batches() == [(TP, "b", 0, 3)], "what is later waits for the new epoch"
    stage.answer(OUT_OF_ORDER)
    stage.wait()
    assert stage.batches() == [(TP, "b", 1, 0), (TP, "c", 1, 1)]


@pytest.mark.parametrize("error", [OUT_OF_ORDER, ErrorCode.UNKNOWN_PRODUCER_ID])
def test_a_leader_that_lost_the_producer_state_gets_a_new_epoch(error: ErrorCode) -> None:
    stage = Stage()
    stage.send("a")
    stage.answer(offset=0)
    stage.send("b")
    stage.send("x", OTHER)
    stage.send("c")
    stage.answer(error)
    stage.answer(offset=5)
    assert stage.delivered == [("a", ErrorCode.NONE, 0), ("x", ErrorCode.NONE, 5)]
    stage.answer(OUT_OF_ORDER)
    stage.wait()
    while len(stage.delivered) < 4:
        (row,) = stage.batches()[:1] or [None]
        if row is None:
            stage.wait()
            continue
        assert row in [(TP, "b", 1, 0), (TP, "c", 1, 1)]
        stage.answer(offset=9)
    stage.send("y", OTHER)
    assert stage.batches() == [(OTHER, "y", 1, 0)], "every partition begins anew in the new epoch"


def test_a_batch_refused_after_an_earlier_one_keeps_its_number() -> None:
    stage = Stage()
    stage.send("a")
    stage.send("b")
    stage.answer(NOT_LEADER, leader=(1, 4))
    stage.answer(OUT_OF_ORDER)
    for number, name in enumerate("ab"):
        while not stage.batches():
            stage.wait()
        assert stage.batches()[0] == (TP, name, 0, number)
        stage.answer(offset=number)


def test_an_expired_batch_fails_and_ends_the_epoch() -> None:
    stage = Stage(ProducerConfigs(delivery_timeout_ms=1_000))
    stage.send("a")
    while not stage.delivered:
        if stage.batches():
            stage.script.break_link(stage.now)
        else:
            stage.wait()
    assert stage.delivered == [("a", ErrorCode.REQUEST_TIMED_OUT, -1)]
    assert stage.now >= 1_000 * MILLISECOND
    stage.send("b")
    while not stage.batches():
        stage.wait()
    assert stage.batches() == [(TP, "b", 1, 0)]


def test_a_batch_that_was_never_sent_does_not_change_the_epoch() -> None:
    stage = Stage(ProducerConfigs(delivery_timeout_ms=1_000))
    stage.leaders = {TP: (9, 4)}
    stage.send("a")
    while not stage.delivered:
        stage.wait()
        stage.answer_others()
    assert stage.delivered == [("a", ErrorCode.REQUEST_TIMED_OUT, -1)]
    stage.leaders = {TP: (1, 5)}
    stage.send("b")
    while not stage.batches():
        stage.wait()
    assert stage.batches() == [(TP, "b", 0, 0)]


def test_a_topic_that_one_may_not_write_to_is_refused() -> None:
    stage = Stage(PLAIN)
    stage.producer.send(0, TP, [RecordData(value=b"a")], lambda _, told: stage.delivered.append(("a", told.error, -1)))
    stage.script.answer_versions()
    stage.script.answer(metadata({TP: (1, 4)}, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    assert stage.delivered == [("a", ErrorCode.TOPIC_AUTHORIZATION_FAILED, -1)]


def test_an_idempotent_producer_does_not_send_without_its_id() -> None:
    producer = Producer("producer", Script().requester, (BOOTSTRAP,))
    with pytest.raises(UsageError, match="needs an id"):
        producer.send(0, TP, [RecordData(value=b"a")], lambda *_: None)
