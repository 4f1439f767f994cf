"""transaction.version 2 (KIP-890 part 2): each transaction raises the epoch, and leaders add its partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import COMPLETED, EPOCH_MAX, Status, Transaction
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.log.producers import ProducerEntry
from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kmirror.protocol.gen.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.gen.transaction_log_value import TransactionLogValue
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdateFeaturesResponse
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.gen.write_txn_markers_response import WriteTxnMarkersResponse
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import TRANSACTION_VERSION
from kmirror.spec.topics import TRANSACTION_TOPIC
from kmirror.spec.wire_values import UpgradeType
from tests.sim.stage import SMALL, TOPIC, TP, StagedCluster, pair, wait_until_mirrored

SHARD = TopicPartition(TRANSACTION_TOPIC, 0)
SECOND = TopicPartition(TOPIC, 1)
NONE, FENCED, INVALID = ErrorCode.NONE, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_TXN_STATE
ROW = [RecordData(value=b"x")]
COMMIT, ABORT = True, False


class Stage:
    """A cluster, and a client under control of the test; `producer_id` and `epoch` are from its last response."""

    def __init__(self, *, transaction_version: int = 2, partitions: int = 2, **configs: str) -> None:
        simulation, self.hooks = Simulation(5), Hooks()
        self.cluster = StagedCluster(
            simulation,
            "a",
            configs={**SMALL, **configs},
            transaction_version=transaction_version,
            interpose=self.hooks,
        )
        self.cluster.start()
        self.cluster.place_topic(replicas=[(1, 2, 3)] * partitions)
        Producer(self.cluster, transactional_id="first")  # Creates the coordinator's topic.
        self.cluster.await_leader(SHARD)
        self.producer_id = self.epoch = -1

    @property
    def state(self) -> Transaction:
        """Return the coordinator's state of the transactional id."""
        found = self.coordinator.find("t")
        assert found is not None
        return found

    @property
    def coordinator(self) -> TransactionCoordinator:
        broker = self.cluster.broker(self.cluster.await_leader(SHARD).broker_id)
        return broker.parts.components.get(TransactionCoordinator)

    def call(self, request: Message, version: int, tp: TopicPartition = SHARD) -> Message | None:
        endpoint = self.cluster.endpoint(self.cluster.await_leader(tp).broker_id)
        return self.cluster.client.call(endpoint, request, version)

    def again(self, ask: Callable[[], ErrorCode]) -> ErrorCode:
        """Repeat the request until the error is not CONCURRENT_TRANSACTIONS any more."""
        while (error := ask()) is ErrorCode.CONCURRENT_TRANSACTIONS:
            self.cluster.simulation.world.run_for(span_us=50_000)
        return error

    def init(self, *, named: tuple[int, int] = (-1, -1), version: int = 5) -> ErrorCode:
        def ask() -> ErrorCode:
            reply = self.call(InitProducerIdRequest("t", 5_000, *named), version)
            assert isinstance(reply, InitProducerIdResponse)
            if not reply.error_code:
                self.producer_id, self.epoch = reply.producer_id, reply.producer_epoch
            return ErrorCode(reply.error_code)

        return self.again(ask)

    def produce(
        self, tp: TopicPartition = TP, *, epoch: int | None = None, sequence: int = 0, version: int = 12
    ) -> ErrorCode:
        batch = build_batch(
            ROW,
            producer_id=self.producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
            base_sequence=sequence,
            is_transactional=True,
            timestamp_ms=self.cluster.simulation.now_ms,
        )
        data = TopicProduceData(name=tp.topic, partition_data=[PartitionProduceData(tp.partition, batch)])
        request = ProduceRequest(transactional_id="t", acks=-1, timeout_ms=5_000, topic_data=[data])
        reply = self.call(request, version, tp)
        assert isinstance(reply, ProduceResponse)
        return ErrorCode(reply.responses[0].partition_responses[0].error_code)

    def ask_end(self, *, commit: bool, epoch: int | None = None, version: int = 5) -> tuple[ErrorCode, int, int]:
        epoch = self.epoch if epoch is None else epoch
        reply = self.call(EndTxnRequest("t", self.producer_id, epoch, commit), version)
        assert isinstance(reply, EndTxnResponse)
        return ErrorCode(reply.error_code), reply.producer_id, reply.producer_epoch

    def end(self, *, commit: bool) -> None:
        """End the transaction, and continue with the response's producer, once all its markers are written."""
        error, self.producer_id, self.epoch = self.ask_end(commit=commit)
        assert error is NONE
        self.settle()

    def settle(self) -> None:
        self.cluster.simulation.run_until(
            lambda: (found := self.coordinator.find("t")) is not None and found.status in COMPLETED, what="the markers"
        )

    def silence_markers(self) -> None:
        """Drop all markers, so that transactions stay in PREPARE_*."""
        self.hooks.on(WriteTxnMarkersRequest, from_nodes=True).drop()

    def entry(self, tp: TopicPartition = TP) -> ProducerEntry:
        return self.cluster.log(tp).producers.entries[self.producer_id]

    def exhaust(self) -> None:
        """Set the producer to the last epoch that a client gets, as after that number of transactions."""
        before = self.state
        self.coordinator.write(before, replace(before, producer_epoch=EPOCH_MAX - 1), lambda *_: None)
        simulation = self.cluster.simulation
        simulation.run_until(lambda: self.state.producer_epoch == EPOCH_MAX - 1, what="the record")
        self.epoch = EPOCH_MAX - 1


def start_stage(**options: int | str) -> Stage:
    stage = Stage(**options)  # type: ignore[arg-type]
    assert stage.init() is NONE and stage.epoch == 0
    return stage


def test_each_transaction_has_an_epoch_of_its_own() -> None:
    stage = start_stage()
    for n, commit in enumerate((COMMIT, ABORT, COMMIT)):
        assert stage.produce() is NONE, "nobody has added the partition but its leader"
        assert stage.state.status is Status.ONGOING and stage.state.partitions == (TP,)
        stage.end(commit=commit)
        assert stage.epoch == n + 1 and stage.entry().producer_epoch == n + 1, "markers have the raised epoch"
    log = stage.cluster.log()
    assert log.last_stable_offset == log.log_end_offset == 6


def test_transaction_records_equal_kafkas() -> None:
    """Fields that an older reader does not need are tagged; `previous_producer_id` is set from the first record on."""
    stage = start_stage()
    stage.produce()
    stage.end(commit=COMMIT)
    rows = []
    for batch in stage.cluster.log(SHARD).batches():
        for record in batch.records():
            if record.key is not None and record.key.endswith(b"\x00\x01t") and record.value is not None:
                assert record.value[:2] == b"\x00\x01", "version 1"
                value = TransactionLogValue.decode(record.value[2:], 1)
                status = Status(value.transaction_status)
                ids = value.producer_id, value.previous_producer_id, value.next_producer_id
                rows.append((status, *ids, value.producer_epoch, value.client_transaction_version))
    p = stage.producer_id
    assert rows == [
        (Status.EMPTY, p, p, -1, 0, 0),
        (Status.ONGOING, p, p, -1, 0, 2),
        (Status.PREPARE_COMMIT, p, p, -1, 1, 2),
        (Status.COMPLETE_COMMIT, p, p, -1, 1, 2),
    ]


def test_a_late_batch_cannot_get_into_the_next_transaction() -> None:
    stage = start_stage()
    stage.produce()
    stage.end(commit=ABORT)
    assert stage.produce(epoch=0, sequence=1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert stage.produce(SECOND, epoch=0) is ErrorCode.INVALID_PRODUCER_EPOCH, "its leader asks, and hears of the fence"
    assert stage.produce() is NONE


@pytest.mark.parametrize("commit", [COMMIT, ABORT])
def test_a_repeated_end_gets_the_same_response(commit: bool) -> None:
    stage = start_stage()
    stage.produce()
    old = stage.epoch
    stage.end(commit=commit)
    assert stage.ask_end(commit=commit, epoch=old) == (NONE, stage.producer_id, stage.epoch)
    assert stage.ask_end(commit=not commit, epoch=old)[0] is INVALID
    assert stage.ask_end(commit=commit, epoch=old - 1)[0] is FENCED
    assert stage.ask_end(commit=commit, epoch=stage.epoch + 1)[0] is FENCED


def test_a_repeated_end_waits_for_the_markers() -> None:
    stage = start_stage()
    stage.produce()
    stage.silence_markers()
    stage.ask_end(commit=COMMIT)
    assert stage.ask_end(commit=COMMIT)[0] is ErrorCode.CONCURRENT_TRANSACTIONS
    assert stage.ask_end(commit=ABORT)[0] is INVALID


@pytest.mark.parametrize(("commit", "error"), [(ABORT, NONE), (COMMIT, INVALID)])
def test_a_transaction_without_partitions_can_only_be_aborted(commit: bool, error: ErrorCode) -> None:
    """The batch that a client gave up may still be in flight: the abort fences it."""
    stage = start_stage()
    for _ in range(2):  # Empty, then complete.
        told, _, epoch = stage.ask_end(commit=commit)
        assert told is error
        if not error:
            assert epoch == stage.epoch + 1
            assert stage.produce(epoch=stage.epoch) is ErrorCode.INVALID_PRODUCER_EPOCH
            stage.epoch = epoch
            stage.settle()
            assert stage.state.started_ms >= 0
        else:
            stage.produce()
            stage.end(commit=COMMIT)


def test_an_end_without_a_transactional_id_is_no_request() -> None:
    stage = start_stage()
    for version in (4, 5):
        reply = stage.call(EndTxnRequest("", 1, 0, True), version)
        assert isinstance(reply, EndTxnResponse) and reply.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("half", [(0, -1), (-1, 0)])
def test_a_producer_id_without_an_epoch_is_no_request(half: tuple[int, int]) -> None:
    stage = Stage()
    assert stage.init() is NONE
    assert stage.init(named=half) is ErrorCode.INVALID_REQUEST
    assert stage.init(named=(stage.producer_id, stage.epoch)) is NONE


def test_when_the_epochs_are_used_up_there_is_another_producer_id() -> None:
    stage = start_stage()
    stage.exhaust()
    old = stage.producer_id
    assert stage.produce() is NONE
    stage.end(commit=COMMIT)
    assert stage.producer_id != old and stage.epoch == 0
    assert stage.cluster.log().producers.entries[old].producer_epoch == EPOCH_MAX, "nobody has ever got that one"
    assert stage.state.previous_producer_id == old and stage.state.next_producer_id == -1
    reply = stage.call(EndTxnRequest("t", old, EPOCH_MAX - 1, COMMIT), 5)
    assert isinstance(reply, EndTxnResponse)
    assert (reply.error_code, reply.producer_id, reply.producer_epoch) == (0, stage.producer_id, 0), "repeated"
    assert stage.produce() is NONE
    new = stage.producer_id
    stage.end(commit=COMMIT)
    assert (stage.producer_id, stage.epoch) == (new, 1)


def test_the_next_coordinator_continues_with_the_new_producer_id() -> None:
    """It is in PREPARE_*, as the client has its response."""
    stage = start_stage(partitions=1)
    stage.exhaust()
    assert stage.produce() is NONE
    stage.silence_markers()
    error, producer_id, epoch = stage.ask_end(commit=COMMIT)
    assert (error, epoch) == (NONE, 0)
    assert stage.state.status is Status.PREPARE_COMMIT and stage.state.next_producer_id == producer_id
    stage.hooks.clear()
    stage.cluster.elect(SHARD)
    stage.settle()
    assert (stage.state.producer_id, stage.state.producer_epoch) == (producer_id, 0)


def test_a_timed_out_producer_may_abort_and_continue() -> None:
    """The coordinator has raised its epoch by one, as its own end would have done."""
    stage = start_stage(**{"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"})
    stage.produce()
    stage.cluster.simulation.run_for(span_s=8)
    assert stage.state.status is Status.COMPLETE_ABORT and stage.state.client_version == 2
    assert stage.produce(sequence=1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert stage.ask_end(commit=COMMIT)[0] is INVALID
    stage.end(commit=ABORT)
    assert stage.produce() is NONE


def test_a_second_producer_fences_the_first() -> None:
    stage = start_stage()
    stage.produce()
    old = stage.epoch
    assert stage.init() is NONE
    assert stage.epoch == old + 2, "one for the abort, one for the new producer"
    assert stage.produce(SECOND, epoch=old) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert stage.ask_end(commit=ABORT, epoch=old)[0] is FENCED
    assert stage.produce() is NONE


def test_a_repeated_request_gets_the_same_response() -> None:
    stage = start_stage()
    stage.produce()
    old = stage.producer_id, stage.epoch
    stage.end(commit=COMMIT)
    ended = stage.epoch
    assert stage.init(named=old) is NONE and stage.epoch == ended, "EndTxn's"
    assert stage.init(named=(old[0], ended)) is NONE and stage.epoch == ended + 1
    assert stage.init(named=(old[0], ended)) is NONE and stage.epoch == ended + 1, "InitProducerId's"
    assert stage.init() is NONE and stage.epoch == ended + 2
    assert stage.init(named=(old[0], ended + 1)) is FENCED, "another producer has come in between"


def test_a_batch_must_not_overtake_the_first_of_its_transaction() -> None:
    """The first one must be sent again; the log does not know the producer and would accept any."""
    stage = start_stage()
    assert stage.produce(sequence=1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert stage.produce() is NONE
    assert stage.produce(sequence=1) is NONE


def test_a_leader_verifies_again_while_the_previous_transaction_is_ending() -> None:
    """The client need not send its batch twice."""
    stage = start_stage()
    stage.produce()
    error, _, stage.epoch = stage.ask_end(commit=COMMIT)
    assert error is NONE and stage.state.status is Status.PREPARE_COMMIT
    assert stage.produce() is NONE


def test_a_marker_written_twice_ends_nothing_twice() -> None:
    """A coordinator that loads PREPARE_* does not know which partitions have it already (KAFKA-19999)."""
    stage = start_stage()
    stage.produce()
    stage.end(commit=COMMIT)

    def marked(version: int, epoch: int) -> ErrorCode:
        topic = WritableTxnMarkerTopic(TOPIC, [0])
        marker = WritableTxnMarker(stage.producer_id, epoch, False, [topic], 0, 2)
        reply = stage.call(WriteTxnMarkersRequest([marker]), version, TP)
        assert isinstance(reply, WriteTxnMarkersResponse)
        return ErrorCode(reply.markers[0].topics[0].partitions[0].error_code)

    assert marked(2, stage.epoch) is NONE
    assert stage.produce() is NONE
    first = stage.cluster.log().producers.ongoing
    assert first
    assert marked(2, stage.epoch) is ErrorCode.INVALID_PRODUCER_EPOCH, "it is not this transaction's"
    assert stage.cluster.log().producers.ongoing == first


def test_brokers_before_version_2_of_markers_judge_them_by_the_old_rule() -> None:
    stage = start_stage()
    stage.produce()
    topic = WritableTxnMarkerTopic(TOPIC, [0])
    reply = stage.call(WriteTxnMarkersRequest([WritableTxnMarker(stage.producer_id, 0, False, [topic], 0)]), 1, TP)
    assert isinstance(reply, WriteTxnMarkersResponse)
    assert reply.markers[0].topics[0].partitions[0].error_code == NONE
    assert not stage.cluster.log().producers.ongoing


def test_the_version_of_the_request_decides_the_rules_of_the_end() -> None:
    """Like Kafka's brokers, even if the cluster is at level 0."""
    stage = start_stage(transaction_version=0)
    assert stage.produce() is NONE
    error, _, epoch = stage.ask_end(commit=COMMIT)
    assert (error, epoch) == (NONE, 1)
    stage.epoch = epoch
    stage.settle()
    assert stage.produce() is NONE
    assert stage.ask_end(commit=COMMIT, version=4) == (NONE, -1, -1)
    stage.settle()
    assert stage.state.producer_epoch == 1 and stage.state.client_version == 0


def test_below_level_2_a_broker_fences_by_the_old_rules() -> None:
    stage = start_stage(transaction_version=1)
    reply = stage.call(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="t",
            v3_and_below_producer_id=stage.producer_id,
            v3_and_below_producer_epoch=0,
            v3_and_below_topics=[AddPartitionsToTxnTopic(TOPIC, [0])],
        ),
        3,
    )
    assert isinstance(reply, AddPartitionsToTxnResponse)
    stage.cluster.simulation.run_for(span_s=20)
    assert stage.state.status is Status.COMPLETE_ABORT
    assert (stage.state.producer_epoch, stage.state.client_version) == (1, 0)
    assert stage.ask_end(commit=ABORT, version=4)[0] is FENCED


def test_a_running_producer_adopts_the_new_level_between_two_transactions() -> None:
    cluster = StagedCluster(Simulation(5), "a", configs=SMALL, transaction_version=1)
    cluster.start()
    cluster.place_topic()
    producer = Producer(cluster, transactional_id="t")

    def write() -> None:
        producer.begin_transaction()
        producer.send({TP: ROW})
        producer.commit_transaction()

    write()
    assert producer.producer_epoch == 0
    wanted = FeatureUpdateKey(TRANSACTION_VERSION, 2, upgrade_type=UpgradeType.UPGRADE)
    reply = cluster.client.call(cluster.endpoint(1), UpdateFeaturesRequest(feature_updates=[wanted]), 2)
    assert isinstance(reply, UpdateFeaturesResponse) and not reply.error_code
    cluster.simulation.run_for(span_s=2)
    write()
    assert producer.producer_epoch == 0, "it asks when something has changed"
    cluster.elect()
    write()
    assert producer.producer_epoch == 1, (
        "it ended its transaction by the old rules, and got a new epoch before the next"
    )
    write()
    assert producer.producer_epoch == 2
    log = cluster.log()
    cluster.simulation.run_until(lambda: log.last_stable_offset == log.log_end_offset, what="the markers")


def test_kmirrors_producer_adds_no_partitions_and_follows_its_epochs() -> None:
    cluster = StagedCluster(Simulation(5), "a", configs=SMALL)
    cluster.start()
    cluster.place_topic()
    with Producer(cluster, transactional_id="t") as producer:
        for n in range(3):
            producer.begin_transaction()
            producer.send({TP: ROW})
            producer.send({TP: ROW})
            producer.commit_transaction()
            assert producer.producer_epoch == n + 1
    log = cluster.log()
    cluster.simulation.run_until(lambda: log.last_stable_offset == log.log_end_offset == 9, what="the markers")


def test_the_raised_epochs_are_mirrored_and_forgotten_at_a_failover() -> None:
    """The destination gives the same producer ids to other producers, and its epochs begin at 0 again (D15)."""
    p = pair()
    p.a.place_topic()
    there = Producer(p.a, transactional_id="t")

    def write(producer: Producer, *, commit: bool = True) -> None:
        producer.begin_transaction()
        producer.send({TP: ROW})
        (producer.commit_transaction if commit else producer.abort_transaction)()

    for commit in (COMMIT, ABORT, COMMIT):
        write(there, commit=commit)
    p.begin()
    write(there)
    wait_until_mirrored(p.there)
    entry = p.b.log().producers.entries[there.producer_id]
    assert entry.producer_epoch == there.producer_epoch == 4
    p.fail_over()
    assert not p.b.log().producers.entries
    here = Producer(p.b, transactional_id="t")
    for _ in range(2):
        write(here)
    assert here.producer_epoch == 2
    p.fail_back()
    log = p.a.log()
    p.run_until(lambda: log.last_stable_offset == log.log_end_offset, "the markers at a")
    assert p.a.log().producers.entries[here.producer_id].producer_epoch == 2
