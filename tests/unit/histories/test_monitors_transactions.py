"""The rules of transaction coordinators accept records that Kafka writes, and report others."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kmirror.cluster.coordinators.transactions.state import Status, Transaction
from kmirror.cluster.coordinators.transactions.transitions import (
    complete,
    create,
    initialise,
    prepare,
    with_partitions,
)
from kmirror.histories.account import UNAWARE, Election
from kmirror.histories.group_account import LostCoordinatorLog
from kmirror.histories.monitors.log_model import LogModel
from kmirror.histories.monitors.transactions import TransactionMonitor
from kmirror.kernel.clock import Duration
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC, TRANSACTION_TOPIC
from tests.unit.histories.monitors import FakeScene, Link, answer, ask, broken_rules, rules_of
from tests.unit.log.partitions import lead, open_log

TP = TopicPartition("t", 0)


class Stage:
    """A coordinator, and its log's records of the transactional id `x`."""

    def __init__(self) -> None:
        self.scene = FakeScene()
        self.scene.leader = lambda cluster, tp: None
        self.scene.simulation.world.processes["a-1"].events = 1
        self.monitor = TransactionMonitor(self.scene, rules_of(self.scene))  # type: ignore[arg-type]
        self.log = open_log()
        self.model = LogModel(self.log)
        self.leader = SimpleNamespace(
            broker_id=1, tp=TopicPartition(TRANSACTION_TOPIC, 0), log=self.log, leader_epoch=0
        )
        self.read(from_start=True)

    def read(self, *, from_start: bool = False) -> None:
        """Let the observer read on."""
        self.model.read_new_batches()
        self.monitor.on_log_read("a", self.leader, self.model, from_start=from_start)  # type: ignore[arg-type]
        self.model.new = []

    def write(self, *states: Transaction) -> list[str]:
        """Append a record for each state; return the rules broken until now."""
        for state in states:
            key, value = state.record(2)
            lead(self.log, build_batch([RecordData(key, value)]), coordinator=True)
            self.read()
        return broken_rules(self.scene)

    def end(self, state: Transaction, *, commit: bool, version: int = 4) -> None:
        """Send a client's request to end the transaction, without a response."""
        body = EndTxnRequest(
            transactional_id="x",
            producer_id=state.producer_id,
            producer_epoch=state.producer_epoch,
            committed=commit,
        )
        self.pending = ask(self.monitor, Link("p0", "a-1"), body, version=version)


@pytest.fixture
def stage() -> Stage:
    return Stage()


EMPTY = create("x", 7, timeout_ms=1_000, now_ms=1)
ONGOING = with_partitions(EMPTY, (TP,), client_version=0, now_ms=2)
FENCED = prepare(ONGOING, commit=False, now_ms=5, client_version=0, fences=True)
COMMITTING = prepare(ONGOING, commit=True, now_ms=5, client_version=0)
COMMITTED = complete(COMMITTING, now_ms=6)


def test_a_transaction_like_kafkas_breaks_no_rule(stage: Stage) -> None:
    more = with_partitions(ONGOING, (TopicPartition("t", 1),), client_version=0, now_ms=4)
    ended = prepare(more, commit=False, now_ms=5, client_version=2)
    done = complete(ended, now_ms=6)
    nothing_in_it = prepare(done, commit=False, now_ms=7, client_version=2)
    again = initialise(complete(nothing_in_it, now_ms=8), producer_id=7, producer_epoch=3, timeout_ms=9, now_ms=9)
    assert not stage.write(EMPTY, ONGOING, more, ended, done, nothing_in_it, complete(nothing_in_it, now_ms=8), again)


def test_an_end_without_fencing_must_be_requested(stage: Stage) -> None:
    stage.write(EMPTY, ONGOING)
    stage.end(ONGOING, commit=True)
    assert not stage.write(COMMITTING)
    answer(stage.monitor, stage.pending, EndTxnResponse())
    assert not stage.write(COMMITTED)


def test_an_unrequested_end_fences_the_producer(stage: Stage) -> None:
    assert not stage.write(EMPTY, ONGOING, FENCED, complete(FENCED, now_ms=6))


def test_an_unrequested_end_without_fencing_is_reported(stage: Stage) -> None:
    assert stage.write(EMPTY, ONGOING, COMMITTING) == ["transaction-fence"]


@pytest.mark.parametrize(
    ("states", "rule"),
    [
        ([ONGOING], "transaction-life"),
        ([EMPTY, ONGOING, COMMITTED], "transaction-life"),
        ([EMPTY, ONGOING, FENCED, replace(FENCED, status=Status.PREPARE_COMMIT)], "transaction-life"),
        ([EMPTY, replace(FENCED, producer_epoch=1)], "transaction-life"),
        ([EMPTY, ONGOING, replace(ONGOING, started_ms=3)], "transaction-start"),
        ([EMPTY, ONGOING, replace(ONGOING, partitions=())], "transaction-partitions"),
        ([EMPTY, ONGOING, FENCED, replace(complete(FENCED, now_ms=6), producer_epoch=0)], "transaction-epoch"),
        ([EMPTY, replace(ONGOING, producer_id=8)], "transaction-producer"),
    ],
)
def test_records_that_kafka_never_writes_are_reported(stage: Stage, states: list[Transaction], rule: str) -> None:
    assert stage.write(*states) == [rule]


@pytest.mark.parametrize(("commit", "error", "is_wrong"), [
    (True, ErrorCode.PRODUCER_FENCED, True),
    (False, ErrorCode.PRODUCER_FENCED, False),
    (True, ErrorCode.CONCURRENT_TRANSACTIONS, False),
])  # fmt: skip
def test_a_repeated_request_for_the_same_end_is_not_fenced(
    stage: Stage, commit: bool, error: ErrorCode, is_wrong: bool
) -> None:
    ended = prepare(ONGOING, commit=True, now_ms=5, client_version=2)
    stage.write(EMPTY, ONGOING, ended, complete(ended, now_ms=6))
    stage.end(ONGOING, commit=commit, version=5)
    answer(stage.monitor, stage.pending, EndTxnResponse(error_code=error))
    assert broken_rules(stage.scene) == (["transaction-again"] if is_wrong else [])


@pytest.mark.parametrize(
    ("epoch", "elected", "is_wrong"),
    [
        (0, 0, True),
        (1, 0, True),  # The marker ends it.
        (2, 0, False),
        (2, 1, True),  # The election was of another coordinator's partition.
        (2, None, True),
    ],
)
def test_a_transaction_in_an_epoch_lost_by_an_election_stays_open(
    stage: Stage, epoch: int, elected: int | None, is_wrong: bool
) -> None:
    """Its partition rejects the marker with INVALID_PRODUCER_EPOCH, and the transaction completes without it."""
    log = open_log()
    lead(
        log, build_batch([RecordData(b"")], producer_id=7, producer_epoch=epoch, base_sequence=0, is_transactional=True)
    )
    lead_by_another_broker(stage, TP, log)
    if elected is not None:
        lost = LostCoordinatorLog("a", TopicPartition(TRANSACTION_TOPIC, elected), 0)
        stage.scene.account.groups.lost_logs.append(lost)
    found = stage.write(EMPTY, ONGOING, FENCED, complete(FENCED, now_ms=6))
    assert found == (["transaction-markers"] if is_wrong else [])


@pytest.mark.parametrize(
    ("topic", "unclean", "ago", "is_wrong"),
    [
        ("t", True, UNAWARE, False),
        ("t", True, UNAWARE + 1, True),
        ("t", False, 0, True),
        ("u", True, 0, True),
        (GROUP_TOPIC, True, UNAWARE, False),  # Offsets are committed in transactions as well.
    ],
)
def test_a_leader_just_deposed_by_an_unclean_election_may_have_the_marker(
    stage: Stage, topic: str, unclean: bool, ago: Duration, is_wrong: bool
) -> None:
    tp, scene = TopicPartition(GROUP_TOPIC if topic == GROUP_TOPIC else "t", 0), stage.scene
    log = open_log()
    lead(log, build_batch([RecordData(b"")], producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True))
    lead_by_another_broker(stage, tp, log)
    scene.now = 2 * UNAWARE
    if topic == GROUP_TOPIC:
        scene.account.groups.lost_logs.append(LostCoordinatorLog("a", tp, scene.now - ago))
    else:
        scene.account.elections.append(Election("a", TopicPartition(topic, 0), 2, 1, unclean, scene.now - ago))
    ongoing = with_partitions(EMPTY, (tp,), client_version=0, now_ms=2)
    fenced = prepare(ongoing, commit=False, now_ms=5, client_version=0, fences=True)
    found = stage.write(EMPTY, ongoing, fenced, complete(fenced, now_ms=6))
    assert found == (["transaction-markers"] if is_wrong else [])


def lead_by_another_broker(stage: Stage, tp: TopicPartition, log: PartitionLog) -> None:
    """Let broker 2 lead a partition with this log."""
    leader = SimpleNamespace(broker_id=2, tp=tp, log=log, leader_epoch=0)
    components = SimpleNamespace(has_foreign_epochs=lambda _: None)
    broker = SimpleNamespace(parts=SimpleNamespace(components=components))
    stage.scene.leader = lambda cluster, tp: leader
    stage.scene.clusters = {"a": SimpleNamespace(broker=lambda _: broker)}
