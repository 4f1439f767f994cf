"""DeleteRecords requests that wait for replicas (Kafka's DelayedDeleteRecords).

A deletion raises the leader's log start at once. The response waits until every replica on a living broker has raised
its own: the lowest log start among them is the partition's low watermark. A follower reports its log start with each
fetch. The wait ends with an error if leadership is lost or the timeout expires; the records are deleted in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import Delta
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.error_codes import ErrorCode

NO_LOW_WATERMARK = -1
OnDeleted = Callable[[ErrorCode, int], None]
"""(error, low watermark)"""


@dataclass(frozen=True, slots=True)
class _Wait:
    """A pending deletion below `offset`, and the low watermark when it began."""

    tp: TopicPartition
    offset: int
    low_watermark: int
    on_deleted: OnDeleted


class Deletions(BrokerComponent):
    """Pending deletions of one broker that wait for followers."""

    name = "deletions"

    def __init__(self, context: BrokerContext, replicas: ReplicaManager) -> None:
        self._context = context
        self._replicas = replicas
        self._waits: dict[TopicPartition, dict[int, _Wait]] = {}
        self._partitions_by_timer: dict[int, TopicPartition] = {}
        self._next = 0

    def low_watermark(self, partition: Partition) -> int:
        """Return the lowest log start of a led partition's replicas on living brokers; -1 while one is unknown."""
        starts = [
            f.log_start for number, f in partition.followers.items() if self._context.image.brokers.is_alive(number)
        ]
        return min([partition.log.log_start_offset, *starts])

    def wait(self, now: Instant, partition: Partition, offset: int, timeout_ms: int, on_deleted: OnDeleted) -> None:
        """Call `on_deleted` when the low watermark reaches `offset` or an error occurs; this may be at once."""
        low = self.low_watermark(partition)
        if low >= offset:
            on_deleted(ErrorCode.NONE, low)
            return
        self._next += 1
        wait = _Wait(partition.tp, offset, low, on_deleted)
        self._waits.setdefault(partition.tp, {})[self._next] = wait
        self._partitions_by_timer[self._next] = partition.tp
        self._context.outbox.set_timer((self.name, self._next), now + timeout_ms * MILLISECOND)

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        """Check the waits for `tp` after a follower's fetch."""
        if tp in self._waits:
            self._check(tp)

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        """Check all waits: leadership may be lost, or an awaited broker may be dead."""
        for tp in list(self._waits) if delta.brokers or delta.partitions else ():
            self._check(tp)

    def _check(self, tp: TopicPartition) -> None:
        partition = self._replicas.partitions.find_led(tp)
        for key, wait in list(self._waits[tp].items()):
            if partition is None:
                self._complete(key, self._replicas.partitions.not_led_error(tp), NO_LOW_WATERMARK)
            elif (low := self.low_watermark(partition)) >= wait.offset:
                self._complete(key, ErrorCode.NONE, low)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """End a wait that timed out."""
        number = key[1]
        assert isinstance(number, int), key
        tp = self._partitions_by_timer.get(number)
        if tp is not None:
            self._complete(number, ErrorCode.REQUEST_TIMED_OUT, self._waits[tp][number].low_watermark)

    def _complete(self, key: int, error: ErrorCode, low_watermark: int) -> None:
        tp = self._partitions_by_timer.pop(key)
        wait = self._waits[tp].pop(key)
        if not self._waits[tp]:
            del self._waits[tp]
        self._context.outbox.cancel_timer((self.name, key))
        wait.on_deleted(error, low_watermark)
