"""Removal of committed offsets without a request: expiry (KIP-211), and deletion of their topics.

Every `offsets.retention.check.interval.ms` the leader of a shard checks all its groups. An offset of a simple group
expires `offsets.retention.minutes` after its commit. The offsets of a group without members expire that long after the
group became empty; those of a stable consumer group only for topics that no member reads. A retention time sent by the
client (up to OffsetCommit version 4) overrides all of these. A group without offsets and members is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.offsets import Committed, OffsetKey, tombstone
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.images import Delta
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.configs import MINUTE_MS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC

Records = tuple[Sequence[KeyValue], ErrorCode]


class OffsetExpiry(BrokerComponent):
    """Expiry and deletion of offsets in the shards that this broker leads."""

    name = "offsets"

    def __init__(self, parts: BrokerParts) -> None:
        self._coordinator = parts.components.get(GroupCoordinator)
        self._context = parts.context

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Check a shard's offsets periodically while this broker leads it."""
        if tp.topic == GROUP_TOPIC and leads:
            self._schedule_check(now, tp.partition)

    def _schedule_check(self, now: Instant, partition: int) -> None:
        interval_ms = self._context.configs.integer("offsets.retention.check.interval.ms")
        self._context.outbox.set_timer((self.name, partition), now + interval_ms * MILLISECOND)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (_, int(partition)):
                if self._coordinator.runtime.leads(partition):
                    self._check(now, partition)
                    self._schedule_check(now, partition)
            case _:
                raise AssertionError(f"unknown timer: {key}")

    def _check(self, now: Instant, partition: int) -> None:
        shard = self._coordinator.runtime.state(partition)
        if shard is None:
            return  # Some records of its log are not committed yet; check again later.
        retention_ms = self._context.configs.integer("offsets.retention.minutes") * MINUTE_MS
        for group_id in shard.all_ids(committed=False):
            group = self._coordinator.find(group_id)
            if group is not None:
                for key in group.expired_keys(shard.offsets, to_ms(now), retention_ms):
                    self._delete(partition, key, shard.offsets.latest(key))
                self._delete_if_unused(now, partition, group_id)

    def _delete(self, partition: int, key: OffsetKey, expired: Committed | None) -> None:
        """Remove an offset, unless another one was committed meanwhile."""

        def decide(shard: GroupShard) -> Records:
            is_same = shard.offsets.latest(key) == expired and not shard.offsets.producers(key)
            return [tombstone(key)] if is_same else (), ErrorCode.NONE

        # One operation for each offset; the runtime combines them into batches.
        self._coordinator.runtime.submit(partition, decide, _ignore)

    def _delete_if_unused(self, now: Instant, partition: int, group_id: str) -> None:
        """Remove a group that has neither offsets nor members."""

        def decide(shard: GroupShard) -> Records:
            group = self._coordinator.find(group_id)
            if group is None or not group.is_empty or shard.offsets.has_offsets(group_id):
                return (), ErrorCode.NONE
            return self._coordinator.deletion(now, shard, group), ErrorCode.NONE

        self._coordinator.runtime.submit(partition, decide, _ignore)

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        """Remove the offsets of deleted topics."""
        if not delta.topics_deleted:
            return
        for partition, shard in self._coordinator.runtime.led_states().items():
            for key in shard.offsets.keys_of_topics(delta.topics_deleted):

                def decide(shard: GroupShard, key: OffsetKey = key) -> Records:
                    return list(shard.offsets.deletion(key)), ErrorCode.NONE

                self._coordinator.runtime.submit(partition, decide, _ignore)


def _ignore(now: Instant, error: ErrorCode) -> None:
    """Ignore the result: an offset that was not removed now is removed the next time."""
