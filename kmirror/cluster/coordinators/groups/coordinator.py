"""The group coordinator: the groups that a broker coordinates, and their records in `__consumer_offsets`.

A group id hashes to a partition of `__consumer_offsets`; the leader of that partition coordinates the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TypeVar

from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.groups.effects import CancelTimer, RemoveGroup, Respond, SetTimer, Write
from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.runtime import CoordinatorRuntime, KeyValue, OnDone
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.wire_values import CoordinatorType

G = TypeVar("G", bound=Group)


class GroupCoordinator(BrokerComponent):
    """The group coordinator of one broker, for the shards that it leads."""

    name = "groups"

    def __init__(self, context: BrokerContext, replicas: ReplicaManager) -> None:
        self.context = context
        self.rng = context.rng.split(self.name)
        """Random source of the generated member ids."""
        self.runtime = CoordinatorRuntime(context, replicas, GROUP_TOPIC, GroupShard, on_committed=self._open)

    # -- shards of groups ---------------------------------------------------------------------

    def shard_of(self, group_id: str) -> int:
        """Return the partition of `__consumer_offsets` that owns the group, or -1 before the topic exists."""
        topic = self.context.image.topics.get(GROUP_TOPIC)
        return -1 if topic is None else partition_for(group_id, len(topic.partitions))

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition whose leader coordinates group `key`; None for other key types."""
        if key_type != CoordinatorType.GROUP:
            return None
        return self.shard_partition(key)

    def shard_partition(self, group_id: str) -> TopicPartition:
        """Return the partition that owns the group, or that will own it once the topic exists."""
        shard = self.shard_of(group_id)
        count = self.context.configs.integer("offsets.topic.num.partitions")
        return TopicPartition(GROUP_TOPIC, partition_for(group_id, count) if shard < 0 else shard)

    def error(self, group_id: str) -> ErrorCode:
        """Return why this broker cannot serve the group now, or NONE.

        NOT_COORDINATOR if it does not lead the group's shard, COORDINATOR_LOAD_IN_PROGRESS until the shard is loaded.
        """
        return self.runtime.error(self.shard_of(group_id))

    def _shard(self, group_id: str) -> GroupShard | None:
        """Return the shard of the group, or None unless this broker can serve it (see `error`)."""
        return self.runtime.state(self.shard_of(group_id))

    # -- groups -------------------------------------------------------------------------------

    def live_groups(self, group_type: type[G]) -> Iterator[G]:
        """Yield the groups of this class that this broker currently serves."""
        for shard in self.runtime.states().values():
            for group in shard.live.values():
                if isinstance(group, group_type):
                    yield group

    def find(self, group_id: str) -> Group | None:
        """Return the current group, or None if there is none or this broker cannot serve it (see `error`)."""
        shard = self._shard(group_id)
        return None if shard is None else shard.find(group_id)

    def committed(self, group_id: str) -> Group | None:
        """Return the result of `find` if the group's existence is committed, else None; for read-only requests."""
        shard = self._shard(group_id)
        return None if shard is None else shard.committed(group_id)

    def all_committed(self) -> Iterator[Group]:
        """Yield the result of `committed` for every group in this broker's shards."""
        for shard in self.runtime.states().values():
            for group_id in shard.all_ids(committed=True):
                found = shard.committed(group_id)
                if found is not None:
                    yield found

    def live_group(self, now: Instant, group_id: str) -> Group | ErrorCode | None:
        """Return the group for a member's request, None if there is none, or the error.

        The caller must pass the group to `perform` afterwards.
        """
        partition = self.shard_of(group_id)
        shard = self.runtime.state(partition)
        if shard is None:
            return self.runtime.error(partition)
        group = shard.live.get(group_id)
        if group is None:
            group = shard.load(group_id)
            if group is not None:
                shard.live[group_id] = group
                shard.kinds[group.kind].begin(group, to_ms(now), self.context.configs)
                self.perform(now, group)
        return group

    def add(self, group: Group) -> None:
        """Start to serve a new group, in a shard that this broker leads."""
        shard = self._shard(group.group_id)
        assert shard is not None, "this broker has reported that there is no such group"
        shard.live[group.group_id] = group

    def keep_alive(self, now: Instant, group_id: str, member_id: str) -> None:
        """Record that a member is alive, as a heartbeat would."""
        group = self.live_group(now, group_id)
        if isinstance(group, Group):
            group.keep_alive(member_id)
            self.perform(now, group)

    def perform(self, now: Instant, group: Group) -> None:
        """Carry out the pending effects of a group."""
        group_id = group.group_id
        effects, group.effects = group.effects, []
        for effect in effects:
            match effect:
                case Respond(waiter, body):
                    waiter(body)
                case SetTimer(timer, member_id, delay_ms):
                    at = now + max(0, delay_ms) * MILLISECOND
                    self.context.outbox.set_timer((self.name, timer, group_id, member_id), at)
                case CancelTimer(timer, member_id):
                    self.context.outbox.cancel_timer((self.name, timer, group_id, member_id))
                case Write():
                    self._write(group, effect)
                case RemoveGroup():
                    shard = self._shard(group_id)
                    if shard is not None and shard.live.get(group_id) is group:
                        del shard.live[group_id]

    def _write(self, group: Group, write: Write) -> None:
        def on_done(later: Instant, error: ErrorCode) -> None:
            write.on_written(to_ms(later), error)
            self.perform(later, group)

        self.write(group.group_id, lambda _: (write.records, ErrorCode.NONE), on_done)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (_, Enum() as timer, str(group_id), str(member_id)):
                shard = self._shard(group_id)
                group = None if shard is None else shard.live.get(group_id)
                if shard is not None and group is not None:
                    shard.kinds[group.kind].on_timer(group, to_ms(now), timer, member_id)
                    self.perform(now, group)
            case _:
                raise AssertionError(f"unknown timer: {key}")

    # -- records ------------------------------------------------------------------------------

    def delete(self, now: Instant, group_id: str, on_done: OnDone) -> None:
        """Delete a group that has no members, and its offsets.

        Errors are those of `write` and of `Group.delete_error`, and GROUP_ID_NOT_FOUND if there is no such group.
        """

        def decide(shard: GroupShard) -> tuple[Sequence[KeyValue], ErrorCode]:
            group = self.find(group_id)
            error = ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.delete_error()
            return ((), error) if group is None or error else (self.deletion(now, shard, group), ErrorCode.NONE)

        self.write(group_id, decide, on_done)

    def deletion(self, now: Instant, shard: GroupShard, group: Group) -> list[KeyValue]:
        """Return the tombstones of a group without members, for an operation of `write`; drop the live group at once.

        If the append fails, the group is loaded again from its records.
        """
        group_id = group.group_id
        if shard.live.pop(group_id, None) is not None:
            group.end(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self.perform(now, group)
        return [*shard.offsets.deletions(group_id), *shard.kinds[group.kind].tombstones(group_id)]

    def write(
        self, group_id: str, decide: Callable[[GroupShard], tuple[Sequence[KeyValue], ErrorCode]], on_done: OnDone
    ) -> None:
        """Append the records that `decide` returns to the group's shard; call `on_done` once they are committed (D48).

        `decide` gets the newest state of the shard at the end of the current event, and may be called twice. Errors
        besides its own: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, UNKNOWN_SERVER_ERROR for records that are too
        large.
        """
        self.runtime.submit(self.shard_of(group_id), decide, on_done)

    def on_marker(self, now: Instant, tp: TopicPartition, producer_id: int, end: int, *, commit: bool) -> None:
        """Commit or drop the pending offsets of a producer."""
        self.runtime.end_transaction(now, tp, producer_id, end, commit=commit)

    # -- leadership ---------------------------------------------------------------------------

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Load or drop a shard; requests that wait in a dropped shard fail with NOT_COORDINATOR."""
        dropped = self.runtime.state(tp.partition) if tp.topic == GROUP_TOPIC else None
        if dropped is not None:
            groups, dropped.live = dropped.live, {}
            for group in groups.values():
                group.end(ErrorCode.NOT_COORDINATOR)
                self.perform(now, group)
        if self.runtime.on_leadership(now, tp, leads=leads) and self.runtime.error(tp.partition) is ErrorCode.NONE:
            self._open(now, tp.partition)

    def _open(self, now: Instant, partition: int) -> None:
        """Start to serve the groups of a shard, unless already done. The sessions of their members begin now."""
        shard = self.runtime.state(partition)
        assert shard is not None, "the records that were in its log are committed"
        if not shard.is_open:
            shard.is_open = True
            for group_id in shard.ids(committed=True):
                self.live_group(now, group_id)
