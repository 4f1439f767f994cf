"""A transactional producer and its coordinator: fenced, moved, silent; transactions that can only be aborted."""

from __future__ import annotations

from itertools import product

import pytest

from kmirror.client.producer import Producer, ProducerConfigs
from kmirror.client.transactions import PREDECESSORS, State
from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from kmirror.protocol.gen.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.protocol.message import Message
from kmirror.records.batch import Batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import BOOTSTRAP, ONE, OTHER, TP, TWO, Script, metadata

NONE = ErrorCode.NONE
FOUND = FindCoordinatorResponse(coordinators=[Coordinator(key="t", node_id=2, host=TWO.host, port=TWO.port)])


class Stage:
    """A producer with the transactional id t; the test answers its coordinator, broker two."""

    def __init__(self, *, ready: bool = True, **configs: int) -> None:
        self.script = Script()
        self.now: Instant = 0
        self.done: list[ErrorCode] = []
        self.delivered: list[ErrorCode] = []
        wanted = ProducerConfigs(transactional_id="t", **configs)  # type: ignore[arg-type]
        self.producer = Producer("producer", self.script.requester, (BOOTSTRAP,), wanted)
        self.producer.init(0, self.on_done)
        if ready:
            self.answer(FOUND)
            self.answer(InitProducerIdResponse(producer_id=7, producer_epoch=3))
            assert self.results_since_last() == [NONE]

    def on_done(self, _: Instant, error: ErrorCode) -> None:
        self.done.append(error)

    def results_since_last(self) -> list[ErrorCode]:
        done, self.done = self.done, []
        return done

    def next_request(self) -> Message | None:
        """Return the next request, after versions and leaders were answered; None if there is none."""
        while self.script.pending_requests():
            body = self.script.pending_requests()[0].body
            if isinstance(body, ApiVersionsRequest):
                self.script.answer_versions(self.now)
            elif isinstance(body, MetadataRequest):
                self.script.answer(metadata({TP: (1, 4), OTHER: (1, 4)}), self.now)
            else:
                return body
        return None

    def answer(self, reply: Message) -> None:
        assert self.next_request() is not None
        self.script.answer(reply, self.now)

    def wait(self) -> None:
        self.script.pending_requests()
        key, at = min(self.script.timers.items(), key=lambda row: row[1])
        del self.script.timers[key]
        self.now = max(self.now, at)
        self.producer.on_timer(self.now, key)

    def begin(self) -> None:
        """Begin a transaction and write one batch, up to Produce."""
        self.producer.begin()
        self.send()
        self.answer(added(NONE))
        assert isinstance(self.next_request(), ProduceRequest)

    def send(self) -> None:
        row = [RecordData(value=b"x")]
        self.producer.send(self.now, TP, row, lambda _, told: self.delivered.append(told.error))

    def end(self, *, commit: bool) -> None:
        self.producer.end(self.now, self.on_done, commit=commit)

    @property
    def state(self) -> State:
        return self.producer.transactions.state


def added(*errors: ErrorCode) -> AddPartitionsToTxnResponse:
    rows = [AddPartitionsToTxnPartitionResult(partition_index=n, partition_error_code=e) for n, e in enumerate(errors)]
    topic = AddPartitionsToTxnTopicResult(name="t", results_by_partition=rows)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[topic])


def produced(error: ErrorCode = NONE) -> ProduceResponse:
    row = PartitionProduceResponse(index=0, error_code=error, base_offset=0)
    return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[row])])


def test_a_transaction_from_the_first_batch_to_its_commit() -> None:
    stage = Stage()
    stage.begin()
    request = stage.next_request()
    assert isinstance(request, ProduceRequest) and request.transactional_id == "t"
    stage.end(commit=True)
    assert stage.results_since_last() == [], "a batch is under way"
    stage.answer(produced())
    end = stage.next_request()
    assert isinstance(end, EndTxnRequest) and stage.script.pending_requests()[0].peer == TWO
    assert (end.producer_id, end.producer_epoch, end.committed, stage.script.versions) == (7, 3, True, [4])
    stage.answer(EndTxnResponse())
    assert (stage.results_since_last(), stage.delivered, stage.state) == ([NONE], [NONE], State.READY)


def test_partitions_are_added_once_in_the_last_version_that_clients_send() -> None:
    stage = Stage()
    stage.producer.begin()
    stage.producer.add_partitions(0, [TP, OTHER], stage.on_done)
    request = stage.next_request()
    assert isinstance(request, AddPartitionsToTxnRequest) and stage.script.versions == [3]
    assert request.v3_and_below_topics[0].partitions == [0, 1]
    stage.answer(added(NONE, NONE))
    stage.producer.add_partitions(0, [TP], stage.on_done)
    assert stage.results_since_last() == [NONE, NONE] and stage.next_request() is None


def test_an_empty_transaction_sends_no_request() -> None:
    stage = Stage()
    stage.producer.begin()
    stage.end(commit=True)
    assert (stage.results_since_last(), stage.next_request(), stage.state) == ([NONE], None, State.READY)


@pytest.mark.parametrize(
    "error",
    [ErrorCode.NOT_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, None],
)
def test_an_unavailable_coordinator_is_looked_up_and_asked_again(error: ErrorCode | None) -> None:
    stage = Stage()
    stage.producer.begin()
    stage.producer.add_partitions(0, [TP, OTHER], stage.on_done)
    assert stage.next_request() is not None
    if error is None:
        stage.script.break_link()
    else:
        stage.answer(added(ErrorCode.OPERATION_NOT_ATTEMPTED, error))
    stage.wait()
    moved = error in (ErrorCode.NOT_COORDINATOR, None)
    assert isinstance(stage.next_request(), FindCoordinatorRequest if moved else AddPartitionsToTxnRequest)
    if moved:
        stage.answer(FindCoordinatorResponse(coordinators=[Coordinator(key="t", host=ONE.host, port=ONE.port)]))
        stage.next_request()
        assert stage.script.pending_requests()[0].peer == ONE
    stage.answer(added(NONE, NONE))
    assert stage.results_since_last() == [NONE]


def test_requests_end_after_max_block_ms() -> None:
    stage = Stage(ready=False, max_block_ms=1_000)
    while not stage.done:
        if stage.next_request() is None:
            stage.wait()
        else:
            stage.answer(FindCoordinatorResponse(coordinators=[Coordinator(error_code=15)]))
    assert stage.results_since_last() == [ErrorCode.REQUEST_TIMED_OUT] and stage.state is State.UNINITIALIZED
    assert stage.now < 1_000 * MILLISECOND


@pytest.mark.parametrize("error", [ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_TXN_STATE])
def test_a_fenced_producer_is_lost(error: ErrorCode) -> None:
    stage = Stage()
    stage.begin()
    stage.answer(produced())
    stage.end(commit=True)
    stage.answer(EndTxnResponse(error_code=error))
    assert (stage.results_since_last(), stage.state) == ([error], State.FATAL_ERROR)
    with pytest.raises(UsageError, match="FATAL_ERROR"):
        stage.producer.begin()


def test_a_refused_partition_is_not_written_to_and_the_transaction_can_be_aborted() -> None:
    stage = Stage()
    stage.producer.begin()
    stage.send()
    stage.answer(added(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    assert stage.delivered == [ErrorCode.TOPIC_AUTHORIZATION_FAILED] and stage.state is State.ABORTABLE_ERROR
    assert stage.next_request() is None
    stage.end(commit=False)
    assert stage.results_since_last() == [NONE] and stage.state is State.READY


def test_a_transaction_that_lost_a_batch_is_not_committed() -> None:
    stage = Stage()
    stage.begin()
    stage.end(commit=True)
    stage.answer(produced(ErrorCode.MESSAGE_TOO_LARGE))
    assert stage.results_since_last() == [ErrorCode.MESSAGE_TOO_LARGE] and stage.next_request() is None
    stage.end(commit=False)
    request = stage.next_request()
    assert isinstance(request, EndTxnRequest) and not request.committed


@pytest.mark.parametrize(("producer_id", "epoch"), [(-1, 0), (7, -1), (-(2**63), 3)])
def test_a_negative_producer_id_is_no_response(producer_id: int, epoch: int) -> None:
    stage = Stage(ready=False)
    stage.answer(FOUND)
    stage.answer(InitProducerIdResponse(producer_id=producer_id, producer_epoch=epoch))
    assert (stage.results_since_last(), stage.state) == ([], State.INITIALIZING)
    stage.wait()
    stage.answer(InitProducerIdResponse(producer_id=7, producer_epoch=3))
    assert (stage.results_since_last(), stage.producer.transactions.producer_id) == ([NONE], 7)


def test_an_abort_after_a_batch_with_unknown_outcome_takes_the_next_epoch() -> None:
    stage = Stage()
    stage.begin()
    stage.answer(produced(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER))
    assert stage.state is State.ABORTABLE_ERROR
    stage.end(commit=False)
    stage.answer(EndTxnResponse())
    bump = stage.next_request()
    assert isinstance(bump, InitProducerIdRequest) and (bump.producer_id, bump.producer_epoch) == (7, 3)
    stage.answer(InitProducerIdResponse(producer_id=7, producer_epoch=4))
    assert (stage.results_since_last(), stage.state, stage.producer.transactions.epoch) == ([NONE], State.READY, 4)


def test_a_transaction_with_a_rejected_batch_fails_later_batches_and_bumps_the_epoch() -> None:
    stage = Stage()
    stage.begin()
    stage.send()
    stage.answer(produced(ErrorCode.MESSAGE_TOO_LARGE))
    stage.answer(produced(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER))
    assert stage.delivered == [ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.TRANSACTION_ABORTABLE]
    stage.end(commit=True)
    assert stage.results_since_last() == [ErrorCode.MESSAGE_TOO_LARGE], "the first error, which explains the others"
    stage.end(commit=False)
    stage.answer(EndTxnResponse())
    assert isinstance(stage.next_request(), InitProducerIdRequest)
    stage.answer(InitProducerIdResponse(producer_id=7, producer_epoch=4))
    stage.begin()
    request = stage.next_request()
    assert isinstance(request, ProduceRequest)
    batch = Batch(bytes(request.topic_data[0].partition_data[0].records or b""))
    assert (batch.producer_epoch, batch.base_sequence) == (4, 0)


def test_an_abort_drops_unsent_batches() -> None:
    stage = Stage()
    stage.begin()
    stage.answer(produced(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    stage.send()
    stage.end(commit=False)
    assert stage.delivered == [ErrorCode.TRANSACTION_ABORTABLE] and stage.results_since_last() == []
    stage.wait()
    stage.answer(produced())
    stage.answer(EndTxnResponse())
    assert (stage.delivered[1:], stage.results_since_last()) == ([NONE], [NONE])


def test_a_batch_needs_a_transaction() -> None:
    stage = Stage()
    with pytest.raises(UsageError, match="no transaction is open"):
        stage.send()


@pytest.mark.parametrize(("before", "after"), list(product(State, State)))
def test_states_follow_the_table(before: State, after: State) -> None:
    manager = Stage().producer.transactions
    manager.state = before
    if before in PREDECESSORS[after]:
        manager.enter(after)
        assert manager.state is after
    else:
        with pytest.raises(UsageError):
            manager.enter(after)
        assert manager.state is before


def test_every_state_can_be_entered_and_a_lost_producer_stays_so() -> None:
    assert set(PREDECESSORS) == set(State) and all(PREDECESSORS.values())
    assert [state for state, sources in PREDECESSORS.items() if State.FATAL_ERROR in sources] == [State.FATAL_ERROR]
