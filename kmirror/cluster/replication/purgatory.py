"""Requests that wait for partitions of one broker (Kafka's purgatories).

An `AckWait` ends when the high watermark reaches an offset, leadership is lost, or its timeout expires. A parked
request (a fetch) is retried whenever one of its watched partitions changes. `wake_waiters` checks the waiters of
changed partitions once, after the event has been handled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kmirror.cluster.component import Components
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.changes import PartitionChanges
from kmirror.cluster.replication.held_partitions import HeldPartitions
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import SetTimer
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.error_codes import ErrorCode

OnAcked = Callable[[Instant, ErrorCode], None]
TRUNCATED = 1 << 62
"""Required offset of an AckWait whose record was truncated: no high watermark reaches it."""
TIMER = "parked"

Attempt = Callable[[Instant, bool], bool]
"""(now, whether the timeout has expired) -> whether the request was answered"""


@dataclass(frozen=True, slots=True)
class AckWait:
    """A producer or coordinator waiting for the high watermark to reach `required_offset`."""

    required_offset: int
    on_acked: OnAcked
    timer: int


class Purgatory:
    """The waiting requests of one broker."""

    def __init__(
        self, context: BrokerContext, components: Components, partitions: HeldPartitions, changes: PartitionChanges
    ) -> None:
        self._context = context
        self._components = components
        self._partitions = partitions
        self._changes = changes
        self._acks: dict[TopicPartition, list[AckWait]] = {}
        self._parked: dict[int, Attempt] = {}
        self._partitions_by_timer: dict[int, TopicPartition] = {}
        self._next_id = 0
        self._dropped_keys: dict[int, None] = {}
        """Keys of parked requests that watched a dropped partition."""

    # -- appends that wait for the high watermark ---------------------------------------------

    def await_acks(
        self, now: Instant, partition: Partition, required_offset: int, timeout_ms: int, on_acked: OnAcked
    ) -> None:
        """Call `on_acked` with NONE once the high watermark reaches `required_offset`, else with an error.

        The errors are NOT_LEADER_OR_FOLLOWER if leadership is lost or the record is truncated,
        UNKNOWN_TOPIC_OR_PARTITION if the topic is deleted, REQUEST_TIMED_OUT, and NOT_ENOUGH_REPLICAS_AFTER_APPEND if
        the ISR has become too small.
        """
        timer = self._new_id()
        self._partitions_by_timer[timer] = partition.tp
        wait = AckWait(required_offset, on_acked, timer)
        self._acks.setdefault(partition.tp, []).append(wait)
        self._context.outbox.set_timer((TIMER, timer), now + timeout_ms * MILLISECOND)
        self._changes.mark_changed(partition.tp)

    def ack_result(self, partition: Partition, required_offset: int) -> ErrorCode | None:
        """Return the result that `await_acks` would report at once for a led partition; None if it would wait."""
        if partition.log.high_watermark < required_offset:
            return None
        image = partition.image
        isr = image.isr if partition.pending_isr is None else partition.maximal_isr()
        is_short = len(isr) < min(partition.min_insync_replicas, len(image.replicas))  # `min_isr`, inlined: a hot path.
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND if is_short else ErrorCode.NONE

    def fail_truncated_acks(self, tp: TopicPartition, end: int) -> None:
        """Fail the waits for truncated records above `end`: a later record must not complete them."""
        waits = self._acks.get(tp, [])
        waits[:] = [wait if wait.required_offset <= end else replace(wait, required_offset=TRUNCATED) for wait in waits]

    def _check_acks(self, now: Instant, tp: TopicPartition) -> None:
        partition, waits = self._partitions.find_led(tp), self._acks[tp]
        not_led_error = self._partitions.not_led_error(tp)
        pending: list[AckWait] = []
        self._acks[tp] = []
        for wait in waits:
            error: ErrorCode | None = not_led_error
            if (
                partition is not None and wait.required_offset != TRUNCATED
            ):  # Else the record is lost; the client retries.
                error = self.ack_result(partition, wait.required_offset)
            if error is None:
                pending.append(wait)
            else:
                self._finish(now, wait, error)
        self._acks[tp] = pending + self._acks[tp]

    def _finish(self, now: Instant, wait: AckWait, error: ErrorCode) -> None:
        self._partitions_by_timer.pop(wait.timer, None)
        self._context.outbox.cancel_timer((TIMER, wait.timer))
        try:
            wait.on_acked(now, error)
        except Exception as failure:  # The other waiters must still be served.
            self._context.failures.report("acknowledging an append", failure)

    # -- parked requests ----------------------------------------------------------------------

    def park(self, now: Instant, wait_ms: int, attempt: Attempt) -> int:
        """Park a request, and return its key, which the watchers of its partitions must list in `parked_keys`.

        `attempt` is called with False whenever one of those partitions changes, until it returns True, and with True
        after `wait_ms`.
        """
        key = self._new_id()
        self._parked[key] = attempt
        self._context.outbox.add(SetTimer((TIMER, key), now + wait_ms * MILLISECOND))
        return key

    def unpark(self, now: Instant, key: int) -> None:
        """End the wait of a parked request as if its timeout had expired."""
        self._context.outbox.cancel_timer((TIMER, key))
        self.on_timer(now, key)

    def mark_dropped(self, keys: Iterable[int]) -> None:
        """Make the next `wake_waiters` retry parked requests whose partition was dropped."""
        self._dropped_keys.update(dict.fromkeys(keys))

    def _retry(self, now: Instant, attempt: Attempt) -> bool:
        """Retry a parked request; return True if it was answered, or if it raised an exception and is abandoned."""
        try:
            return attempt(now, False)
        except Exception as failure:
            self._context.failures.report("trying a parked request", failure)
            return True

    # -- after an event -----------------------------------------------------------------------

    def wake_waiters(self, now: Instant) -> bool:
        """Check the waiters of changed partitions, and call `on_progress`; return whether any partition had changed."""
        if not self._changes.changed:
            return False
        changed, self._changes.changed = self._changes.changed, {}
        keys, self._dropped_keys = self._dropped_keys, {}
        for tp, partition in changed.items():
            if self._acks.get(tp):
                self._check_acks(now, tp)
            if partition is not None and partition.watchers:
                # Keys are sorted so that the request that has waited longest comes first.
                keys.update(dict.fromkeys(sorted(key for one in partition.watchers for key in one.parked_keys)))
        for key in keys:
            attempt = self._parked.get(key)
            if attempt is not None and self._retry(now, attempt):
                del self._parked[key]
                self._context.outbox.cancel_timer((TIMER, key))
        for tp in changed:
            if self._partitions.find_led(tp) is not None:
                try:
                    self._components.on_progress(now, tp)
                except Exception as failure:
                    self._context.failures.report(f"telling components of {tp}", failure)
        return True

    def on_timer(self, now: Instant, key: int) -> None:
        """End a wait whose timeout has expired: force a parked request, or time out an AckWait."""
        attempt = self._parked.pop(key, None)
        if attempt is not None:
            done = attempt(now, True)
            assert done, "a forced attempt must answer"
            return
        tp = self._partitions_by_timer.pop(key, None)
        if tp is None:
            return
        for wait in self._acks.get(tp, []):
            if wait.timer == key:
                self._acks[tp].remove(wait)
                wait.on_acked(now, ErrorCode.REQUEST_TIMED_OUT)
                return

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id
