"""One round of a consumer: leaders, start positions, records; brokers that are old, wrong or down."""

from __future__ import annotations

import pytest

from kmirror.client.consumer import Consumer, ConsumerConfigs, ReadError, Round
from kmirror.client.positions import Position
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.records.build import build_batch
from kmirror.records.control import end_txn_marker
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec
from tests.call_counts import count_calls
from tests.unit.client.script import BOOTSTRAP, ONE, OTHER, TOPIC_ID, TP, TWO, Script, metadata

COMMITTED = ConsumerConfigs(isolation_level=IsolationLevel.READ_COMMITTED)


class Stage:
    """A consumer of topic t, its rounds, and the brokers' side."""

    def __init__(self, configs: ConsumerConfigs | None = None) -> None:
        self.script = Script()
        self.rounds: list[Round] = []
        self.consumer = Consumer("consumer", self.script.requester, (BOOTSTRAP,), configs)

    def poll(self, *partitions: TopicPartition) -> None:
        self.consumer.poll(0, partitions or (TP,), lambda _, found: self.rounds.append(found))

    def answer_metadata(self, *, topic_id: Uuid = TOPIC_ID, other: tuple[int, int] | None = None) -> None:
        """Answer Metadata: broker 1 leads TP in epoch 4; `other` is the leader and epoch of the other partition."""
        if not isinstance(self.script.pending_requests()[0].body, MetadataRequest):
            self.script.answer_versions()
        self.script.answer(metadata({TP: (1, 4)} if other is None else {TP: (1, 4), OTHER: other}, topic_id=topic_id))

    def begin(self, offset: int = 0, epoch: int = -1, *, topic_id: Uuid = TOPIC_ID) -> None:
        """Begin a round with a known position, up to the fetch."""
        self.consumer.positions[TP] = Position(offset, epoch)
        self.poll()
        while not isinstance(self.script.pending_requests()[0].body, FetchRequest):
            if isinstance(self.script.pending_requests()[0].body, MetadataRequest):
                self.answer_metadata(topic_id=topic_id)
            else:
                self.script.answer_versions()

    def fetched(self) -> list[tuple[int, str]]:
        """Return offset and value of the records of TP in the last round."""
        found = self.rounds[-1].fetched.get(TP)
        return [] if found is None else [(r.offset, (r.value or b"").decode()) for r in found.records]


def batch(offset: int, *values: str, epoch: int = 4, producer: int = -1) -> bytes:
    return build_batch(
        [RecordData(value=value.encode()) for value in values],
        base_offset=offset,
        partition_leader_epoch=epoch,
        producer_id=producer,
        producer_epoch=0 if producer >= 0 else -1,
        base_sequence=0 if producer >= 0 else -1,
        is_transactional=producer >= 0,
    )


def marker(offset: int, *, producer: int, commit: bool) -> bytes:
    return end_txn_marker(
        base_offset=offset,
        leader_epoch=4,
        timestamp_ms=0,
        producer_id=producer,
        producer_epoch=0,
        commit=commit,
        coordinator_epoch=0,
    )


def fetch(data: PartitionData, *, by_name: bool = False, session: int = 9) -> FetchResponse:
    topic = FetchableTopicResponse(
        topic="t" if by_name else "", topic_id=Uuid.ZERO if by_name else TOPIC_ID, partitions=[data]
    )
    return FetchResponse(session_id=session, responses=[topic])


def data(records: bytes = b"", *, error: ErrorCode = ErrorCode.NONE) -> PartitionData:
    return PartitionData(partition_index=0, error_code=error, records=records)


def offset_row(offset: int, error: ErrorCode = ErrorCode.NONE) -> ListOffsetsResponse:
    row = ListOffsetsPartitionResponse(partition_index=0, offset=offset, error_code=error)
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[row])])


def test_the_first_round_finds_the_leader_and_the_position_before_it_fetches() -> None:
    stage = Stage()
    stage.poll()
    stage.answer_metadata()
    stage.script.answer_versions()
    asked = stage.script.next(ListOffsetsRequest).topics[0].partitions[0]
    assert (asked.timestamp, asked.current_leader_epoch) == (OffsetSpec.EARLIEST, 4)
    stage.script.answer(offset_row(3))
    wanted = stage.script.next(FetchRequest).topics[0].partitions[0]
    assert (wanted.fetch_offset, wanted.last_fetched_epoch, stage.script.versions) == (3, -1, [19])
    stage.script.answer(fetch(data(batch(3, "a", "b"))))
    assert stage.fetched() == [(3, "a"), (4, "b")]
    assert stage.rounds[0].fetched[TP].after == Position(5, 4)
    assert stage.consumer.positions[TP] == Position(3), "whoever takes the records moves the position"


def test_the_next_round_continues_the_session() -> None:
    stage = Stage()
    stage.begin(3)
    stage.script.answer(fetch(data(batch(3, "a"))))
    stage.begin(4, 4)
    request = stage.script.next(FetchRequest)
    row = request.topics[0].partitions[0]
    assert (request.session_id, request.session_epoch, row.fetch_offset, row.last_fetched_epoch) == (9, 1, 4, 4)


def test_records_before_the_position_and_markers_are_not_returned() -> None:
    stage = Stage()
    stage.begin(2)
    records = batch(0, "a", "b", "c", "d") + marker(4, producer=5, commit=True)
    stage.script.answer(fetch(data(records)))
    assert stage.fetched() == [(2, "c"), (3, "d")]
    assert stage.rounds[0].fetched[TP].after.offset == 5


def test_aborted_transactions_are_hidden_from_committed_readers() -> None:
    stage = Stage(COMMITTED)
    stage.begin(0)
    abort = marker(2, producer=5, commit=False)
    records = batch(0, "gone", producer=5) + batch(1, "other", producer=6) + abort + batch(3, "later", producer=5)
    row = data(records)
    row.aborted_transactions = [AbortedTransaction(producer_id=5, first_offset=0)]
    stage.script.answer(fetch(row))
    assert stage.fetched() == [(1, "other"), (3, "later")]


def test_a_batch_with_a_wrong_checksum_is_refused() -> None:
    records = bytearray(batch(0, "a"))
    records[-1] ^= 1
    stage = Stage()
    stage.begin(0)
    stage.script.answer(fetch(data(bytes(records))))
    assert stage.rounds[0].errors == [ReadError(TP, ErrorCode.CORRUPT_MESSAGE)]


def test_an_incomplete_batch_waits_for_the_next_round() -> None:
    stage = Stage()
    stage.begin(0)
    stage.script.answer(fetch(data(batch(0, "a") + batch(1, "b")[:-3])))
    assert stage.fetched() == [(0, "a")] and stage.rounds[0].errors == []


def test_a_broker_without_topic_ids_gets_requests_by_name() -> None:
    stage = Stage()
    stage.begin(0, topic_id=Uuid.ZERO)
    assert stage.script.versions == [12]
    stage.script.answer(fetch(data(batch(0, "a")), by_name=True))
    assert stage.fetched() == [(0, "a")]


def test_a_broker_without_support_for_an_epoch_gets_requests_without_one() -> None:
    """Kafka before 2.7 has no such field: one round is lost to find that out, and no further one."""
    stage = Stage()
    stage.consumer.positions[TP] = Position(0, 4)
    answers = [batch(0, "a", "b"), batch(2, "c")]
    while answers:
        if not stage.script.pending_requests():
            stage.poll()
        match stage.script.pending_requests()[0].body:
            case MetadataRequest():
                stage.script.answer(metadata({TP: (1, 4)}, topic_id=Uuid.ZERO))
            case FetchRequest():
                stage.script.answer(fetch(data(answers.pop(0)), by_name=True))
                stage.consumer.positions[TP] = stage.rounds[-1].fetched[TP].after
            case _:
                stage.script.answer_versions(Fetch=(4, 11))
    assert stage.consumer.positions[TP] == Position(3, 4)
    assert [found.fetched.get(TP) is not None for found in stage.rounds] == [False, True, True]


def test_a_truncated_log_is_read_on_from_the_divergence() -> None:
    stage = Stage()
    stage.begin(10, 4)
    row = data()
    row.diverging_epoch = EpochEndOffset(epoch=3, end_offset=6)
    stage.script.answer(fetch(row))
    assert stage.consumer.positions[TP] == Position(6, 3) and stage.fetched() == []


def test_a_position_out_of_range_is_reset_in_the_next_round() -> None:
    stage = Stage()
    stage.begin(10)
    stage.script.answer(fetch(data(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    assert stage.rounds[0].errors == [] and TP not in stage.consumer.positions
    stage.poll()
    assert stage.script.next(ListOffsetsRequest).topics[0].partitions[0].timestamp == OffsetSpec.EARLIEST


def test_a_moved_leader_makes_the_next_round_request_metadata() -> None:
    stage = Stage()
    stage.begin(0)
    stage.script.answer(fetch(data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)))
    assert stage.rounds == [Round()]
    stage.poll()
    assert isinstance(stage.script.pending_requests()[0].body, ApiVersionsRequest), (
        "of the broker that is asked who leads"
    )
    stage.script.answer_versions()
    stage.script.next(MetadataRequest)


def test_a_leader_that_names_the_next_one_saves_a_request() -> None:
    stage = Stage()
    stage.begin(0)
    row = data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    row.current_leader = LeaderIdAndEpoch(leader_id=2, leader_epoch=5)
    stage.script.answer(fetch(row))
    stage.begin(0)
    assert stage.script.pending_requests()[0].peer == TWO


def test_a_leader_that_lost_a_partition_gets_a_fetch_that_forgets_it() -> None:
    stage = Stage()
    stage.consumer.positions.update({TP: Position(0), OTHER: Position(0)})
    stage.poll(TP, OTHER)
    stage.answer_metadata(other=(1, 4))
    stage.script.answer_versions()
    first = stage.script.next(FetchRequest).topics[0].partitions
    assert [row.partition for row in first] == [0, 1]
    gone = data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    gone.current_leader = LeaderIdAndEpoch(leader_id=2, leader_epoch=5)
    stage.script.answer(fetch(gone))
    stage.poll(TP, OTHER)
    stage.script.pending_requests().sort(key=lambda one: one.peer)
    told = stage.script.next(FetchRequest)
    assert [row.partitions for row in told.forgotten_topics_data] == [[0]] and told.topics == []
    stage.script.answer(FetchResponse(session_id=9))
    stage.script.answer_versions()
    named = stage.script.next(FetchRequest)
    assert [row.current_leader_epoch for topic in named.topics for row in topic.partitions] == [5]


@pytest.mark.parametrize("moved", [0, 3])
def test_the_cost_of_a_round_grows_with_changes_only(moved: int) -> None:
    """Independent of the number of partitions."""

    def cost(count: int) -> int:
        partitions = tuple(TopicPartition("t", number) for number in range(count))
        stage = Stage()
        for tp in partitions:
            stage.consumer.positions[tp] = Position(0)
        stage.poll(*partitions)
        stage.script.answer_versions()
        stage.script.answer(metadata(dict.fromkeys(partitions, (1, 4))))
        stage.script.answer_versions()
        for _ in range(2):
            stage.script.answer(FetchResponse(session_id=9))
            stage.poll(*partitions)
        stage.script.answer(FetchResponse(session_id=9))

        def one_round() -> None:
            for tp in partitions[:moved]:
                stage.consumer.positions[tp] = Position(7)
            stage.consumer.poll(0, partitions, lambda _, found: stage.rounds.append(found))
            stage.script.answer(FetchResponse(session_id=9))

        rounds = len(stage.rounds)
        work = count_calls(one_round)
        assert len(stage.rounds) == rounds + 1
        return work

    assert cost(10) == cost(500)


def test_a_round_ends_even_without_any_response() -> None:
    stage = Stage()
    stage.poll()
    stage.script.break_link()
    assert stage.rounds == [Round()]
    stage.begin(0)
    stage.script.break_link()
    assert stage.rounds == [Round(), Round()]
    stage.begin(0)
    assert stage.script.next(FetchRequest).session_epoch == 0


def test_a_round_waits_for_every_leader() -> None:
    stage = Stage()
    stage.consumer.positions.update({TP: Position(0), OTHER: Position(0)})
    stage.poll(TP, OTHER)
    stage.answer_metadata(other=(2, 4))
    assert [one.peer for one in stage.script.pending_requests()] == [ONE, TWO]
    stage.script.answer_versions()
    stage.script.answer_versions()
    stage.script.answer(fetch(data(batch(0, "a"))))
    assert stage.rounds == []
    stage.script.break_link()
    assert stage.fetched() == [(0, "a")]


@pytest.mark.parametrize(
    "error",
    [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.LEADER_NOT_AVAILABLE],
)
def test_a_topic_that_cannot_be_read_is_refused_unless_that_may_pass(error: ErrorCode) -> None:
    stage = Stage()
    stage.poll()
    stage.script.answer_versions()
    stage.script.answer(metadata({TP: (1, 4)}, error=error))
    refused = [] if error is ErrorCode.LEADER_NOT_AVAILABLE else [ReadError("t", error)]
    assert stage.rounds[0].errors == refused


def test_a_position_changed_by_the_user_counts() -> None:
    stage = Stage()
    stage.begin(0)
    stage.consumer.positions[TP] = Position(7)
    stage.script.answer(fetch(data(batch(0, "a"))))
    assert stage.rounds == [Round()] and stage.consumer.positions[TP] == Position(7)
