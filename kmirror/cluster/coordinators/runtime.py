"""Shards of an internal topic: decide first, apply when committed.

A shard is one partition of the topic, loaded by its leader by replaying the log. A write runs its operation on the
committed state; the records that it returns are appended and, once the whole ISR has them, replayed and answered.
Writes to one shard run one after another, so no decision is based on a record that may still be lost. An append that
is not confirmed in time leaves the state as it was, as in Kafka: the record may be committed later or lost. Until that
is known the shard refuses further writes; if the ISR gets the record after all, it is replayed. Below
min.insync.replicas nothing is appended at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode

KeyValue = tuple[bytes, bytes | None]


class ShardState(Protocol):
    """The state of one shard; `replay` is the only way it changes."""

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Apply one committed record; None for `value` is a tombstone."""


S = TypeVar("S", bound=ShardState)

WriteOperation = Callable[[S], tuple[Sequence[KeyValue], ErrorCode]]
"""(committed state) -> records to append, and the error to answer with if there are none."""
OnDone = Callable[[Instant, ErrorCode], None]
OnLate = Callable[[Instant, int], None]
"""Gets the partition of a shard in which a record was committed after its writer had got an error."""


OUTCOMES = {
    ErrorCode.NONE: ErrorCode.NONE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""Error of an append to the one that the coordinator's client gets; every other is COORDINATOR_NOT_AVAILABLE."""
STANDS = (ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
"""The high watermark has passed the record, though the ISR may be too small by then to acknowledge it to a client."""


@dataclass(slots=True)
class Shard(Generic[S]):
    """One shard that this broker leads, and the writes that wait for their turn."""

    state: S
    queue: deque[tuple[WriteOperation[S], OnDone]] = field(default_factory=deque)
    writing: bool = False
    """A record is appended and not committed yet."""
    in_doubt: bool = False
    """That record was not confirmed in time."""


class CoordinatorRuntime(Generic[S]):
    """The shards of one internal topic that this broker leads."""

    def __init__(
        self,
        context: BrokerContext,
        replicas: ReplicaManager,
        topic: str,
        make_state: Callable[[], S],
        *,
        on_late: OnLate | None = None,
    ) -> None:
        self._context = context
        self._replicas = replicas
        self.topic = topic
        self._make_state = make_state
        self._on_late = on_late
        self._shards: dict[int, Shard[S]] = {}

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> bool:
        """Load or drop a shard; return whether one was loaded."""
        if tp.topic != self.topic:
            return False
        lost = self._shards.pop(tp.partition, None)
        if lost is not None:
            for _, on_done in lost.queue:
                on_done(now, ErrorCode.NOT_COORDINATOR)
        if leads:
            self._shards[tp.partition] = Shard(self._load(tp))
        return leads

    def _load(self, tp: TopicPartition) -> S:
        state = self._make_state()
        for batch in self._replicas.partitions[tp].log.batches():
            if batch.is_control:
                continue
            for record in batch.records():
                if record.key is not None:
                    state.replay(record.key, record.value)
        return state

    def state(self, partition: int) -> S | None:
        """Return the committed state of a shard, or None if this broker does not coordinate it."""
        shard = self._shards.get(partition)
        return None if shard is None else shard.state

    def states(self) -> dict[int, S]:
        """Return the committed state of every shard led here, by partition."""
        return {partition: shard.state for partition, shard in self._shards.items()}

    def write(self, now: Instant, partition: int, decide: WriteOperation[S], on_done: OnDone) -> None:
        """Run `decide` when its turn comes; call `on_done` with its error once its records are committed.

        NOT_COORDINATOR if this broker does not lead the shard; COORDINATOR_NOT_AVAILABLE while an earlier write is in
        doubt, or if the records were not confirmed in time: they may be committed later.
        """
        shard = self._shards.get(partition)
        if shard is None:
            on_done(now, ErrorCode.NOT_COORDINATOR)
            return
        if shard.in_doubt:
            on_done(now, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        shard.queue.append((decide, on_done))
        self._next(now, partition, shard)

    def _next(self, now: Instant, partition: int, shard: Shard[S]) -> None:
        while shard.queue and not shard.writing and self._shards.get(partition) is shard:
            decide, on_done = shard.queue.popleft()
            records, error = decide(shard.state)
            if not records:
                on_done(now, error)
                continue
            shard.writing = True
            self._append(now, partition, shard, records, on_done)

    def _append(
        self, now: Instant, partition: int, shard: Shard[S], records: Sequence[KeyValue], on_done: OnDone
    ) -> None:
        tp = TopicPartition(self.topic, partition)
        led = self._replicas.led(tp)

        def on_acked(later: Instant, error: ErrorCode) -> None:
            current = self._shards.get(partition) is shard
            if current and error in STANDS:
                self._replay(shard, records)
            elif current:
                self._doubt(later, partition, shard, records, end)
            on_done(later, OUTCOMES.get(error, ErrorCode.COORDINATOR_NOT_AVAILABLE))
            if current:
                self._next(later, partition, shard)

        def refuse(error: ErrorCode) -> None:  # Nothing was appended; the loop of `_next` goes on.
            shard.writing = False
            on_done(now, OUTCOMES.get(error, ErrorCode.COORDINATOR_NOT_AVAILABLE))

        if led is None:
            refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return
        if len(led.isr) < led.min_isr:
            refuse(ErrorCode.NOT_ENOUGH_REPLICAS)
            return
        batch = build_batch(
            [RecordData(key=key, value=value, timestamp=to_ms(now)) for key, value in records],
            partition_leader_epoch=led.leader_epoch,
        )
        try:
            info = self._replicas.append(now, led, batch, origin=AppendOrigin.COORDINATOR)
        except LogAppendError as error:
            refuse(error.code)
            return
        end = info.last_offset + 1
        timeout_ms = self._context.configs.integer("request.timeout.ms")
        self._replicas.await_acks(now, led, end, timeout_ms, on_acked)

    def _replay(self, shard: Shard[S], records: Sequence[KeyValue]) -> None:
        shard.writing = shard.in_doubt = False
        for key, value in records:
            shard.state.replay(key, value)

    def _doubt(self, now: Instant, partition: int, shard: Shard[S], records: Sequence[KeyValue], end: int) -> None:
        """Wait until it is known whether `records`, which end at `end`, are committed; fail the writes in the queue."""
        tp = TopicPartition(self.topic, partition)
        led = self._replicas.led(tp)
        if led is None:
            return  # This broker does not lead any more; the shard will be dropped.

        def on_acked(later: Instant, error: ErrorCode) -> None:
            if self._shards.get(partition) is not shard:
                return
            if error not in STANDS:
                self._doubt(later, partition, shard, records, end)
                return
            self._replay(shard, records)
            if self._on_late is not None:
                self._on_late(later, partition)
            self._next(later, partition, shard)

        shard.in_doubt = True
        timeout_ms = self._context.configs.integer("request.timeout.ms")
        self._replicas.await_acks(now, led, end, timeout_ms, on_acked)
        while shard.queue:
            _, on_done = shard.queue.popleft()
            on_done(now, ErrorCode.COORDINATOR_NOT_AVAILABLE)
