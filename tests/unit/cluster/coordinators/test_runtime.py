"""A coordinator applies a record at its append, and responds once the state of its response is committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kmirror.cluster.component import Components
from kmirror.cluster.coordinators.runtime import NOT_TRANSACTIONAL, CoordinatorRuntime, KeyValue, Producer
from kmirror.cluster.coordinators.shard_state import LoggedRecord, TableShard
from kmirror.cluster.images import Delta
from kmirror.cluster.metadata.directory import ControllerDirectory
from kmirror.cluster.node.context import BrokerContext, BrokerOptions
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication import purgatory
from kmirror.cluster.replication.appends import LeaderAppends
from kmirror.cluster.replication.assignments import DirectoryAssignments
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import SECOND
from kmirror.kernel.events import Note, SetTimer
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.log.partition_log import AppendInfo, AppendOrigin, LogAppendError
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.records.batch import Batch
from kmirror.records.build import build_batch
from kmirror.records.control import end_txn_marker
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

pytestmark = pytest.mark.decision("D48")
TOPIC = "__counters"
TOPIC_ID = Uuid.from_ints(5, 6)
Decide = Callable[["Counters"], tuple[Sequence[KeyValue], ErrorCode]]


class Counters(TableShard[str, int]):
    """A number by name."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, int, int]] = []
        """Name, offset and producer id of each record."""
        self.ended: list[tuple[int, bool]] = []

    def replay(self, record: LoggedRecord) -> None:
        self.seen.append((record.key.decode(), record.offset, record.producer_id))
        self.put(record.key.decode(), None if record.value is None else int(record.value))

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        self.ended.append((producer_id, commit))
        self.put(f"{producer_id} ended", int(commit))


def add(name: str, number: int = 1, *, width: int = 1) -> Decide:
    """Return an operation that adds to a counter; the value of its record has at least `width` bytes."""

    def decide(state: Counters) -> tuple[Sequence[KeyValue], ErrorCode]:
        return [(name.encode(), b"%0*d" % (width, (state.get(name) or 0) + number))], ErrorCode.NONE

    return decide


class Bench:
    """Broker 1, which leads shards of a topic with replicas 1 and 2, and a runtime over them."""

    def __init__(self, partitions: int = 1, *, configs: Sequence[tuple[str, str]] = ()) -> None:
        here = (ListenerSpec.plain(Endpoint("b-1", 1)),)
        controllers = ControllerDirectory({100: Endpoint("c", 2)}, 100)
        options = BrokerOptions(1, "cluster", here, controllers, on_failure=OnFailure.CONTINUE)
        self.context = BrokerContext(options, [MemoryDisk()], Rng(1))
        self.replicas = ReplicaManager(
            self.context, Components(), DirectoryAssignments(self.context, Lifecycle(self.context))
        )
        self.late: list[int] = []
        self.runtime = CoordinatorRuntime(
            self.context, self.replicas, TOPIC, Counters, on_committed=lambda _, partition: self.late.append(partition)
        )
        self.answers: list[tuple[str, ErrorCode]] = []
        self.now = SECOND
        records: list[Message] = [TopicRecord(name=TOPIC, topic_id=TOPIC_ID)]
        records += [
            ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=TOPIC, name=name, value=value)
            for name, value in (("min.insync.replicas", "1"), *configs)
        ]
        for index in range(partitions):
            row = PartitionRecord(
                partition_id=index, topic_id=TOPIC_ID, replicas=[1, 2], isr=[1, 2], leader=1, leader_epoch=0
            )
            records.append(row)
        self.publish(*records)

    def publish(self, *records: Message) -> None:
        """Apply metadata records, like a broker."""
        delta = Delta()
        for record in records:
            self.context.image.apply(record, delta)
        for tp, leads in self.replicas.apply(self.now, delta).items():
            self.runtime.on_leadership(self.now, tp, leads=leads)
        self.settle()

    def change(self, leader: int, isr: Sequence[int] | None = None) -> None:
        self.publish(
            PartitionChangeRecord(
                partition_id=0, topic_id=TOPIC_ID, leader=leader, isr=None if isr is None else list(isr)
            )
        )

    def submit(self, label: str, operation: Decide, partition: int = 0, producer: Producer = NOT_TRANSACTIONAL) -> None:
        def on_done(_: int, error: ErrorCode) -> None:
            self.answers.append((label, error))

        self.runtime.submit(partition, operation, on_done, producer=producer)

    def settle(self) -> list[object]:
        """End the event; return its effects."""
        while self.replicas.purgatory.wake_waiters(self.now) or self.context.run_deferred(self.now):
            pass
        return list(self.context.outbox.drain())

    def partition(self, index: int = 0) -> Partition:
        return self.replicas.partitions[TopicPartition(TOPIC, index)]

    def fetched(self, index: int = 0, offset: int | None = None) -> None:
        """Let the follower fetch from `offset`, by default from the log end."""
        partition = self.partition(index)
        partition.on_follower_fetch(self.now, 2, partition.log.log_end_offset if offset is None else offset)
        partition.advance_high_watermark()
        self.replicas.changes.mark_changed(partition.tp)
        self.settle()

    def time_out(self) -> None:
        """Let all waits time out."""
        for timer in list(self.replicas.purgatory._partitions_by_timer):
            self.replicas.purgatory.on_timer(self.now, timer)
        self.settle()

    def batches(self, index: int = 0) -> list[Batch]:
        return list(self.partition(index).log.batches())

    def state(self, index: int = 0) -> Counters:
        state = self.runtime.state(index)
        assert state is not None
        return state

    def drain_answers(self) -> list[tuple[str, ErrorCode]]:
        answers, self.answers = self.answers, []
        return answers


def is_wait(effect: object) -> bool:
    return isinstance(effect, SetTimer) and effect.key[0] == purgatory.TIMER


def test_writes_of_one_event_are_one_batch() -> None:
    bench = Bench()
    for number in range(50):
        bench.submit(str(number), add("a"))
    effects = bench.settle()
    assert [batch.record_count for batch in bench.batches()] == [50]
    assert sum(map(is_wait, effects)) == 1, "they wait together"
    assert bench.state().get("a") == 50 and bench.state().committed("a") is None
    assert bench.drain_answers() == []
    bench.fetched()
    assert bench.drain_answers() == [(str(number), ErrorCode.NONE) for number in range(50)]
    assert bench.state().committed("a") == 50


def test_no_write_waits_for_the_replication_of_an_earlier_one() -> None:
    bench = Bench()
    for label in "xyz":
        bench.submit(label, add("a"))
        bench.settle()
    assert bench.state().get("a") == 3 and len(bench.batches()) == 3
    bench.fetched(offset=1)
    assert bench.drain_answers() == [("x", ErrorCode.NONE)]
    assert bench.state().committed("a") == 1
    bench.fetched()
    assert bench.drain_answers() == [("y", ErrorCode.NONE), ("z", ErrorCode.NONE)]


def test_a_slow_follower_of_one_shard_stalls_no_other_shard() -> None:
    bench = Bench(2)
    bench.submit("slow", add("a"), 0)
    bench.submit("quick", add("a"), 1)
    bench.settle()
    bench.fetched(1)
    assert bench.drain_answers() == [("quick", ErrorCode.NONE)]


def test_a_response_without_records_waits_for_the_state_it_uses() -> None:
    bench = Bench()
    seen: list[int | None] = []

    def look(state: Counters) -> tuple[Sequence[KeyValue], ErrorCode]:
        seen.append(state.get("a"))
        return (), ErrorCode.NONE

    bench.submit("write", add("a"))
    bench.settle()
    bench.submit("read", look)
    bench.settle()
    assert seen == [1] and bench.drain_answers() == []
    bench.fetched()
    assert bench.drain_answers() == [("write", ErrorCode.NONE), ("read", ErrorCode.NONE)]
    bench.submit("again", look)
    effects = bench.settle()
    assert bench.drain_answers() == [("again", ErrorCode.NONE)] and not any(map(is_wait, effects)), (
        "nothing to wait for"
    )


def test_a_write_that_timed_out_counts_and_is_reported_once_committed() -> None:
    bench = Bench()
    bench.submit("x", add("a"))
    bench.settle()
    bench.time_out()
    assert bench.drain_answers() == [("x", ErrorCode.COORDINATOR_NOT_AVAILABLE)]
    assert (bench.state().get("a"), bench.state().committed("a")) == (1, None)
    bench.submit("y", add("a"))
    bench.settle()
    assert bench.state().get("a") == 2, "the record may be committed yet, so it counts"
    bench.time_out()
    bench.time_out()
    assert bench.drain_answers() == [("y", ErrorCode.COORDINATOR_NOT_AVAILABLE)] and bench.late == []
    bench.fetched()
    assert bench.state().committed("a") == 2 and bench.late and bench.drain_answers() == []


def test_requests_waiting_for_a_lost_shard_get_not_coordinator() -> None:
    bench = Bench()
    bench.submit("x", add("a"))
    bench.settle()
    bench.submit("y", add("a"))  # In the event of the leader change.
    bench.change(2)
    lost = ErrorCode.NOT_COORDINATOR
    assert sorted(bench.drain_answers()) == [("x", lost), ("y", lost)]
    assert bench.runtime.state(0) is None and bench.runtime.error(0) is lost
    bench.submit("z", add("a"))
    bench.settle()
    assert bench.drain_answers() == [("z", lost)] and len(bench.batches()) == 1


def test_a_new_leader_returns_nothing_before_its_state_is_committed() -> None:
    """The former leader's responses may be ahead of the new one's high watermark; or its log lacks some."""
    bench = Bench()
    bench.submit("x", add("a"))
    bench.settle()
    bench.fetched()
    bench.submit("y", add("a"))
    bench.settle()
    bench.change(2)
    bench.drain_answers()
    bench.change(1)
    assert bench.runtime.leads(0) and bench.runtime.error(0) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert bench.runtime.state(0) is None and bench.runtime.states() == {}
    bench.submit("z", add("a"))
    bench.settle()
    bench.fetched(offset=1)
    assert bench.late == [] and bench.drain_answers() == []
    bench.fetched(offset=2)
    assert bench.late == [0] and bench.runtime.error(0) is ErrorCode.NONE
    assert (bench.state().committed("a"), bench.state().get("a")) == (2, 3)
    bench.fetched()
    assert bench.drain_answers() == [("z", ErrorCode.NONE)]


def test_below_min_insync_replicas_nothing_is_appended_or_applied() -> None:
    bench = Bench(configs=[("min.insync.replicas", "2")])
    bench.change(1, isr=[1])
    bench.submit("write", add("a"))
    bench.submit("read", lambda _: ((), ErrorCode.NONE))
    bench.settle()
    assert bench.drain_answers() == [("write", ErrorCode.COORDINATOR_NOT_AVAILABLE), ("read", ErrorCode.NONE)]
    assert bench.batches() == [] and bench.state().get("a") is None


def test_a_full_batch_is_followed_by_another() -> None:
    bench = Bench(configs=[("max.message.bytes", "500")])
    for number in range(30):
        bench.submit(str(number), add("a", width=50))
    bench.settle()
    sizes = [batch.size_in_bytes for batch in bench.batches()]
    assert len(sizes) > 2 and max(sizes) <= 500
    assert bench.state().get("a") == 30
    bench.fetched()
    assert [error for _, error in bench.drain_answers()] == [ErrorCode.NONE] * 30


def test_a_record_that_no_log_accepts_is_reverted_and_harms_no_other() -> None:
    bench = Bench(configs=[("max.message.bytes", "500")])
    bench.submit("before", add("a"))
    bench.submit("huge", add("a", 100, width=600))
    bench.submit("after", add("a"))
    bench.settle()
    assert bench.drain_answers() == [("huge", ErrorCode.UNKNOWN_SERVER_ERROR)]
    bench.fetched()
    assert bench.drain_answers() == [("before", ErrorCode.NONE), ("after", ErrorCode.NONE)]
    assert bench.state().committed("a") == bench.state().get("a") == 2
    bench.change(2)
    bench.change(1)
    bench.fetched()
    assert bench.state().get("a") == 2, "the log says the same"


@pytest.mark.parametrize(
    ("failure", "refused"),
    [
        (LogAppendError(ErrorCode.INVALID_RECORD, "no"), ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (OSError("no space left"), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_decision_on_a_rejected_append_is_made_again(
    failure: Exception, refused: ErrorCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(configs=[("max.message.bytes", "500")])
    append, refusals = LeaderAppends.append, [failure]

    def refusing(*args: Any, **named: Any) -> AppendInfo:
        if refusals:
            raise refusals.pop()
        return append(*args, **named)

    monkeypatch.setattr(LeaderAppends, "append", refusing)
    for number in range(4):
        bench.submit(str(number), add("a", width=150))  # Two of them fill a batch.
    bench.settle()
    assert bench.drain_answers() == [("0", refused), ("1", refused)]
    assert bench.state().get("a") == 2, "the third is the first that is in the log"
    bench.fetched()
    assert bench.drain_answers() == [("2", ErrorCode.NONE), ("3", ErrorCode.NONE)]
    assert [record.value for batch in bench.batches() for record in batch.records()] == [b"%0150d" % n for n in (1, 2)]


def test_an_operation_that_fails_harms_no_other() -> None:
    bench = Bench()

    def broken(state: Counters) -> tuple[Sequence[KeyValue], ErrorCode]:
        raise ValueError("a bug")

    bench.submit("x", add("a"))
    bench.submit("broken", broken)
    bench.submit("y", add("a"))
    bench.settle()
    bench.fetched()
    assert bench.drain_answers() == [
        ("x", ErrorCode.NONE),
        ("broken", ErrorCode.UNKNOWN_SERVER_ERROR),
        ("y", ErrorCode.NONE),
    ]
    assert bench.context.failures.count == 1


# -- transactions -------------------------------------------------------------------------------------


def test_records_of_a_transaction_have_a_batch_of_their_own() -> None:
    bench = Bench()
    mine, other = Producer(7, 0), Producer(8, 3)
    for label, producer in (("a", NOT_TRANSACTIONAL), ("b", mine), ("c", mine), ("d", other), ("e", NOT_TRANSACTIONAL)):
        bench.submit(label, add(label), producer=producer)
    bench.settle()
    assert [(b.producer_id, b.producer_epoch, b.is_transactional, b.record_count) for b in bench.batches()] == [
        (-1, -1, False, 1),
        (7, 0, True, 2),
        (8, 3, True, 1),
        (-1, -1, False, 1),
    ]
    bench.fetched()
    assert bench.drain_answers() == [(label, ErrorCode.NONE) for label in "abcde"]
    assert bench.state().seen == [("a", 0, -1), ("b", 1, 7), ("c", 2, 7), ("d", 3, 8), ("e", 4, -1)]


def test_an_older_epoch_of_a_producer_is_refused_and_its_changes_are_reverted() -> None:
    bench = Bench()
    bench.submit("new", add("a"), producer=Producer(7, 3))
    bench.settle()
    bench.submit("old", add("a"), producer=Producer(7, 2))
    bench.submit("plain", add("b"))
    bench.settle()
    assert bench.drain_answers() == [("old", ErrorCode.INVALID_PRODUCER_EPOCH)]
    assert (bench.state().get("a"), bench.state().get("b")) == (1, 1)


def test_a_marker_is_applied_at_its_offset_and_again_by_the_next_leader() -> None:
    bench = Bench()
    bench.submit("a", add("a"), producer=Producer(7, 0))
    bench.settle()
    marker = end_txn_marker(
        base_offset=0,
        leader_epoch=0,
        timestamp_ms=1000,
        producer_id=7,
        producer_epoch=0,
        commit=True,
        coordinator_epoch=2,
    )
    info = bench.replicas.appends.append(bench.now, bench.partition(), marker, origin=AppendOrigin.COORDINATOR)
    tp = TopicPartition(TOPIC, 0)
    bench.runtime.end_transaction(bench.now, tp, 7, info.last_offset + 1, commit=True)
    bench.runtime.end_transaction(bench.now, TopicPartition("other", 0), 9, 5, commit=True)
    assert (bench.state().ended, bench.state().committed("7 ended")) == ([(7, True)], None)
    bench.fetched()
    assert bench.state().committed("7 ended") == 1
    bench.change(leader=2)
    bench.change(leader=1, isr=[1])
    assert bench.state().ended == [(7, True)]
    assert bench.state().seen == [("a", 0, 7)]


class Picky(Counters):
    """Cannot read some records."""

    def replay(self, record: LoggedRecord) -> None:
        if record.value == b"unreadable":
            raise ProtocolError("no number", field="value")
        super().replay(record)


class Partly(Picky):
    SERVED_IF_TRUNCATED = True


@pytest.mark.parametrize("make", [Picky, Partly])
def test_a_log_that_cannot_be_read_affects_only_its_own_shard(make: type[Picky]) -> None:
    bench = Bench(2)
    bench.runtime._make_state = make
    data = build_batch([RecordData(key=b"a", value=value, timestamp=0) for value in (b"1", b"unreadable", b"2")])
    bench.replicas.appends.append(bench.now, bench.partition(), data, origin=AppendOrigin.COORDINATOR)
    bench.fetched()
    notes: list[str] = []
    for index in (0, 1):
        assert bench.runtime.on_leadership(bench.now, bench.partition(index).tp, leads=True) is (
            index == 1 or make.SERVED_IF_TRUNCATED
        )
        notes += [effect.text for effect in bench.context.outbox.drain() if isinstance(effect, Note)]
    assert notes == ["__counters-0 cannot be read from offset 1 on: no number (at field value)"]
    assert bench.runtime.error(1) is ErrorCode.NONE
    if make.SERVED_IF_TRUNCATED:
        assert bench.state().get("a") == 1
        return
    assert bench.runtime.error(0) is ErrorCode.NOT_COORDINATOR
    bench.submit("x", add("a"))
    bench.settle()
    assert bench.drain_answers() == [("x", ErrorCode.NOT_COORDINATOR)]
