"""Shards of an internal topic: a record is applied when it is appended, and confirmed once it is committed (D48).

A shard is one partition of the topic; its leader loads it by replaying the log. An operation decides on the newest
state. Its records are appended and replayed at once, so that the next operation builds on them. Its response is sent
when the high watermark reaches the log end offset that the operation saw or produced. This also holds for operations
without records: the state that they read may be lost until then. The records decided in one event go into one batch per
shard, except transactional ones, because a batch has one producer.

No operation waits for the replication of another one. A new leader replays its own log, which rolls back all that was
not committed. A response that is not confirmed in time becomes COORDINATOR_NOT_AVAILABLE, as in Kafka: the record may
still be committed or lost, and the state keeps it. Below min.insync.replicas nothing is appended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from kmirror.cluster.coordinators.loading import load
from kmirror.cluster.coordinators.shard_state import LoggedRecord, ShardState
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.records import layout
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode

KeyValue = tuple[bytes, bytes | None]

S = TypeVar("S", bound=ShardState)

Operation = Callable[[S], tuple[Sequence[KeyValue], ErrorCode]]
"""(newest state) -> records to append, and the error to return if there are none. It may be called twice."""
OnDone = Callable[[Instant, ErrorCode], None]
OnCommitted = Callable[[Instant, int], None]
"""Called with the partition of a shard in which records were committed that no operation waited for.

These are the records that were in the log when it was loaded, and records whose operation was answered with an error.
"""


class Producer(NamedTuple):
    """The producer in whose transaction an operation writes."""

    id: int
    epoch: int


NOT_TRANSACTIONAL = Producer(layout.NO_PRODUCER_ID, layout.NO_PRODUCER_EPOCH)

CLIENT_ERRORS = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_PRODUCER_EPOCH: ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_TXN_STATE: ErrorCode.INVALID_TXN_STATE,
}
"""Error of an append -> error for the coordinator's client. All others become COORDINATOR_NOT_AVAILABLE."""
COMMITTED_OUTCOMES = (ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
"""The high watermark has passed the record, even if the ISR has become too small since."""
RECORD_OVERHEAD_MAX = 23
"""Maximum bytes of a record without headers, besides its key and value.

They are the attributes, the header count, and the variable-length integers (five bytes each; one byte for the timestamp
delta, as the batch has the same timestamp).
"""


@dataclass(slots=True)
class Shard(Generic[S]):
    """One shard that this broker leads."""

    state: S
    is_loaded: bool
    """True once all records that were in the log when the leadership began are committed.

    Before that, the committed values may be older than those that the former leader has returned.
    """


class SubmittedOperation(NamedTuple, Generic[S]):
    """An operation that waits for the end of the event."""

    operation: Operation[S]
    on_done: OnDone
    producer: Producer


@dataclass(slots=True)
class PendingBatch:
    """The batch that is being filled, and the responses that are sent with it."""

    records: list[KeyValue] = field(default_factory=list)
    size: int = layout.HEADER_SIZE
    """Upper bound of the batch size in bytes."""
    producer: Producer = NOT_TRANSACTIONAL
    responses: list[tuple[OnDone, ErrorCode]] = field(default_factory=list)

    def has_room(self, records: Sequence[KeyValue], producer: Producer, size_max: int) -> bool:
        """Return whether these records fit into the batch; the first records always fit."""
        if not records or not self.records:
            return True
        return producer == self.producer and self.size + size_of(records) <= size_max


def size_of(records: Sequence[KeyValue]) -> int:
    """Return the maximum bytes that these records need in a batch."""
    return sum(len(key) + len(value or b"") + RECORD_OVERHEAD_MAX for key, value in records)


class CoordinatorRuntime(Generic[S]):
    """The shards of one internal topic that this broker leads."""

    def __init__(
        self,
        context: BrokerContext,
        replicas: ReplicaManager,
        topic: str,
        make_state: Callable[[], S],
        *,
        on_committed: OnCommitted | None = None,
    ) -> None:
        self._context = context
        self._replicas = replicas
        self.topic = topic
        self._make_state = make_state
        self._on_committed = on_committed
        self._shards: dict[int, Shard[S]] = {}
        self._submitted: dict[int, list[SubmittedOperation[S]]] = {}

    # -- leadership ---------------------------------------------------------------------------

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> bool:
        """Load or drop a shard; return whether one was loaded.

        Responses that wait in a dropped shard become NOT_COORDINATOR at the end of this event.
        """
        if tp.topic != self.topic:
            return False
        self._shards.pop(tp.partition, None)
        return leads and self._load(now, self._replicas.partitions[tp])

    def _load(self, now: Instant, partition: Partition) -> bool:
        """Load a shard from its log; return False, and do not serve the shard, if its log cannot be read."""
        state = self._make_state()
        load_error = load(state, partition.log.batches(), partition.log.high_watermark)
        if load_error is not None:
            self._context.outbox.note(f"{partition.tp} cannot be read {load_error}")
            if not state.SERVED_IF_TRUNCATED:
                return False
        end = partition.log.log_end_offset
        shard = self._shards[partition.tp.partition] = Shard(state, partition.log.high_watermark >= end)
        if not shard.is_loaded:
            self._await_commit(now, partition, shard, end)
        return True

    def error(self, partition: int) -> ErrorCode:
        """Return why this broker cannot report the committed state of a shard, or NONE.

        NOT_COORDINATOR if it does not lead the shard or could not read its log; COORDINATOR_LOAD_IN_PROGRESS until all
        records that were in the log when it became the leader are committed.
        """
        shard = self._shards.get(partition)
        if shard is None:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.NONE if shard.is_loaded else ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def leads(self, partition: int) -> bool:
        """Return whether this broker leads the shard."""
        return partition in self._shards

    def state(self, partition: int) -> S | None:
        """Return the state of a shard, or None unless its committed state is known (see `error`)."""
        shard = self._shards.get(partition)
        return shard.state if shard is not None and shard.is_loaded else None

    def states(self) -> dict[int, S]:
        """Return the states of all shards whose committed state is known, by partition."""
        return {partition: shard.state for partition, shard in self._shards.items() if shard.is_loaded}

    def led_states(self) -> dict[int, S]:
        """Return the states of all shards that this broker leads, by partition; some know only the newest state."""
        return {partition: shard.state for partition, shard in self._shards.items()}

    @property
    def is_loading(self) -> bool:
        """Return whether this broker leads a shard whose committed state it does not know yet."""
        return not all(shard.is_loaded for shard in self._shards.values())

    # -- operations ---------------------------------------------------------------------------

    def submit(
        self, partition: int, operation: Operation[S], on_done: OnDone, *, producer: Producer = NOT_TRANSACTIONAL
    ) -> None:
        """Run `operation` at the end of this event; call `on_done` with its error once all that it saw is committed.

        With a `producer`, its records become part of that producer's transaction. Errors: NOT_COORDINATOR if this
        broker does not lead the shard, or loses it before the commit; COORDINATOR_NOT_AVAILABLE if there are records
        and the ISR is too small, or if they were not confirmed in time (they may still be committed later).
        """
        self._submitted.setdefault(partition, []).append(SubmittedOperation(operation, on_done, producer))
        self._context.defer(self.run_submitted)

    def run_submitted(self, now: Instant) -> None:
        """Run the operations submitted since the last call; those of a shard share a batch where possible."""
        submitted, self._submitted = self._submitted, {}
        for partition, operations in submitted.items():
            shard, led_partition = (
                self._shards.get(partition),
                self._replicas.partitions.find_led(TopicPartition(self.topic, partition)),
            )
            if shard is None or led_partition is None:
                self._respond(now, [(operation.on_done, ErrorCode.NOT_COORDINATOR) for operation in operations])
            else:
                self._run(now, led_partition, shard, operations)

    def end_transaction(self, now: Instant, tp: TopicPartition, producer_id: int, end: int, *, commit: bool) -> None:
        """Apply a transaction marker that was just appended to this broker's log of `tp`, below offset `end`."""
        shard, partition = self._shards.get(tp.partition), self._replicas.partitions.find_led(tp)
        if tp.topic == self.topic and shard is not None and partition is not None:
            shard.state.end_transaction(producer_id, commit=commit)
            shard.state.mark_appended(end)
            self._await_commit(now, partition, shard, end)

    def _run(
        self, now: Instant, partition: Partition, shard: Shard[S], operations: Sequence[SubmittedOperation[S]]
    ) -> None:
        is_short = len(partition.isr) < partition.min_isr
        size_max = min(partition.log.config.max_message_bytes, partition.log.config.segment_bytes)
        pending = PendingBatch()
        for operation, on_done, producer in operations:
            records, error = self._decide(shard, operation)
            if not pending.has_room(records, producer, size_max):
                self._append(now, partition, shard, pending)
                pending = PendingBatch()
                records, error = self._decide(shard, operation)  # The state that it saw may have been reverted.
            if records and is_short:
                self._respond(now, [(on_done, ErrorCode.COORDINATOR_NOT_AVAILABLE)])
                continue
            first = partition.log.log_end_offset + len(pending.records)
            for offset, (key, value) in enumerate(records, first):
                shard.state.replay(LoggedRecord(key, value, offset, producer.id))
            if records:
                pending.records += records
                pending.size += size_of(records)
                pending.producer = producer
            pending.responses.append((on_done, ErrorCode.NONE if records else error))
        self._append(now, partition, shard, pending)

    def _decide(self, shard: Shard[S], operation: Operation[S]) -> tuple[Sequence[KeyValue], ErrorCode]:
        try:
            return operation(shard.state)
        except Exception as failure:  # Do not fail the other operations.
            self._context.failures.report(f"deciding in {self.topic}", failure)
            return (), ErrorCode.UNKNOWN_SERVER_ERROR

    def _append(self, now: Instant, partition: Partition, shard: Shard[S], pending: PendingBatch) -> None:
        """Append the records of `pending`, whose changes are already in the state; revert them if the append fails."""
        if pending.records:
            batch = build_batch(
                [RecordData(key=key, value=value, timestamp=to_ms(now)) for key, value in pending.records],
                partition_leader_epoch=partition.leader_epoch,
                producer_id=pending.producer.id,
                producer_epoch=pending.producer.epoch,
                is_transactional=pending.producer is not NOT_TRANSACTIONAL,
            )
            try:
                info = self._replicas.appends.append(now, partition, batch, origin=AppendOrigin.COORDINATOR)
            except Exception as error:
                shard.state.revert()
                outcome = self._outcome(error)
                self._respond(now, [(on_done, outcome) for on_done, _ in pending.responses])
                return
            shard.state.mark_appended(info.last_offset + 1)
        if pending.responses:
            self._respond_on_commit(now, partition, shard, pending)

    def _outcome(self, error: Exception) -> ErrorCode:
        """Return the error for the coordinator's client after an append that raised `error`."""
        if isinstance(error, LogAppendError):
            return CLIENT_ERRORS.get(error.code, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        self._context.failures.report(f"appending to {self.topic}", error)
        return ErrorCode.UNKNOWN_SERVER_ERROR

    # -- responses ----------------------------------------------------------------------------

    def _respond_on_commit(self, now: Instant, partition: Partition, shard: Shard[S], pending: PendingBatch) -> None:
        """Send the responses of `pending` once the log up to its current end is committed."""
        end = partition.log.log_end_offset

        def on_acked(later: Instant, error: ErrorCode) -> None:
            if error in COMMITTED_OUTCOMES:
                shard.state.commit(partition.log.high_watermark)
                self._respond(later, pending.responses)
                return
            if pending.records:
                self._await_commit(later, partition, shard, end)
            outcome = CLIENT_ERRORS.get(error, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self._respond(later, [(on_done, outcome) for on_done, _ in pending.responses])

        if partition.log.high_watermark >= end:
            on_acked(now, ErrorCode.NONE)
        else:
            self._replicas.purgatory.await_acks(now, partition, end, self._timeout_ms, on_acked)

    def _await_commit(self, now: Instant, partition: Partition, shard: Shard[S], end: int) -> None:
        """Wait until the log below `end` is committed, for as long as this broker leads the shard."""

        def on_acked(later: Instant, error: ErrorCode) -> None:
            if self._shards.get(partition.tp.partition) is not shard:
                return
            if error in COMMITTED_OUTCOMES:
                shard.is_loaded = True
                shard.state.commit(partition.log.high_watermark)
                if self._on_committed is not None:
                    self._on_committed(later, partition.tp.partition)
            elif error is ErrorCode.REQUEST_TIMED_OUT:
                self._await_commit(later, partition, shard, end)

        if self._shards.get(partition.tp.partition) is shard:
            self._replicas.purgatory.await_acks(now, partition, end, self._timeout_ms, on_acked)

    @property
    def _timeout_ms(self) -> int:
        return self._context.configs.integer("request.timeout.ms")

    def _respond(self, now: Instant, responses: Sequence[tuple[OnDone, ErrorCode]]) -> None:
        for on_done, error in responses:
            try:
                on_done(now, error)
            except Exception as failure:  # Do not fail the other responses.
                self._context.failures.report(f"an answer of {self.topic}", failure)
