"""The group coordinator: which broker answers for a group, and what of it is persisted in `__consumer_offsets`.

A group id hashes to a partition of `__consumer_offsets`; the leader of that partition coordinates the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TypeVar

from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.groups.effects import Answer, CancelTimer, Forget, SetTimer, Write
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
        """For the member ids that are handed out."""
        self.runtime = CoordinatorRuntime(context, replicas, GROUP_TOPIC, GroupShard, on_committed=self._open)

    # -- where groups live --------------------------------------------------------------------

    def shard_of(self, group_id: str) -> int:
        """Return the partition of `__consumer_offsets` that owns the group, or -1 before the topic exists."""
        topic = self.context.image.topics.get(GROUP_TOPIC)
        return -1 if topic is None else partition_for(group_id, len(topic.partitions))

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition whose leader coordinates group `key`; None for other key types."""
        if key_type != CoordinatorType.GROUP:
            return None
        return self.home(key)

    def home(self, group_id: str) -> TopicPartition:
        """Return the partition that owns the group, or will when the topic exists."""
        shard = self.shard_of(group_id)
        count = self.context.configs.integer("offsets.topic.num.partitions")
        return TopicPartition(GROUP_TOPIC, partition_for(group_id, count) if shard < 0 else shard)

    def error(self, group_id: str) -> ErrorCode:
        """Return why this broker cannot answer for the group now, or NONE.

        NOT_COORDINATOR if it does not lead the group's shard, COORDINATOR_LOAD_IN_PROGRESS until that is loaded.
        """
        return self.runtime.error(self.shard_of(group_id))

    def _shard(self, group_id: str) -> GroupShard | None:
        """Return the shard of the group, or None if `error` says why this broker cannot answer for it."""
        return self.runtime.state(self.shard_of(group_id))

    # -- groups -------------------------------------------------------------------------------

    def live(self, of: type[G]) -> Iterator[G]:
        """Yield the groups of this class that this broker answers for now."""
        for shard in self.runtime.states().values():
            for group in shard.live.values():
                if isinstance(group, of):
                    yield group

    def find(self, group_id: str) -> Group | None:
        """Return the group as it is now, or None if there is none or `error` says why this broker cannot tell."""
        shard = self._shard(group_id)
        return None if shard is None else shard.find(group_id)

    def committed(self, group_id: str) -> Group | None:
        """Return what `find` does if it is committed that there is such a group; for those who only look."""
        shard = self._shard(group_id)
        return None if shard is None else shard.committed(group_id)

    def all_committed(self) -> Iterator[Group]:
        """Yield what `committed` returns for every group of this broker's shards."""
        for shard in self.runtime.states().values():
            for group_id in shard.all_ids(committed=True):
                found = shard.committed(group_id)
                if found is not None:
                    yield found

    def alive(self, now: Instant, group_id: str) -> Group | ErrorCode | None:
        """Return the group for a request of a member, None if there is none, or `error`.

        Hand its effects to `perform`.
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
        """Answer for a group that is new, in a shard that this broker leads."""
        shard = self._shard(group.group_id)
        assert shard is not None, "this broker has answered that there is no such group"
        shard.live[group.group_id] = group

    def keep_alive(self, now: Instant, group_id: str, member_id: str) -> None:
        """Take note that a member of a group was heard of."""
        group = self.alive(now, group_id)
        if isinstance(group, Group):
            group.keep_alive(member_id)
            self.perform(now, group)

    def perform(self, now: Instant, group: Group) -> None:
        """Carry out what a group wants done."""
        group_id = group.group_id
        effects, group.effects = group.effects, []
        for effect in effects:
            match effect:
                case Answer(waiter, body):
                    waiter(body)
                case SetTimer(timer, member_id, delay_ms):
                    at = now + max(0, delay_ms) * MILLISECOND
                    self.context.outbox.set_timer((self.name, timer, group_id, member_id), at)
                case CancelTimer(timer, member_id):
                    self.context.outbox.cancel_timer((self.name, timer, group_id, member_id))
                case Write():
                    self._write(group, effect)
                case Forget():
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
                raise AssertionError(f"a timer nobody set: {key}")

    # -- records ------------------------------------------------------------------------------

    def delete(self, now: Instant, group_id: str, on_done: OnDone) -> None:
        """Delete a group that has no members, and its offsets; errors are those of `write` and of `Group.delete_error`.

        GROUP_ID_NOT_FOUND if there is no such group.
        """

        def decide(shard: GroupShard) -> tuple[Sequence[KeyValue], ErrorCode]:
            group = self.find(group_id)
            error = ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.delete_error()
            return ((), error) if group is None or error else (self.deletion(now, shard, group), ErrorCode.NONE)

        self.write(group_id, decide, on_done)

    def deletion(self, now: Instant, shard: GroupShard, group: Group) -> list[KeyValue]:
        """Return the tombstones of a group without members, for an operation of `write`; the group is gone here now.

        Should the append be refused, the group is loaded again from what is persisted of it.
        """
        group_id = group.group_id
        if shard.live.pop(group_id, None) is not None:
            group.end(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self.perform(now, group)
        return [*shard.offsets.deletions(group_id), *shard.kinds[group.kind].tombstones(group_id)]

    def write(
        self, group_id: str, decide: Callable[[GroupShard], tuple[Sequence[KeyValue], ErrorCode]], on_done: OnDone
    ) -> None:
        """Append what `decide` returns to the group's shard; call `on_done` once that is committed (D48).

        `decide` gets the newest state of the shard when the present event ends, and may be called twice. Errors beside
        its own: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, UNKNOWN_SERVER_ERROR for records that are too large.
        """
        self.runtime.submit(self.shard_of(group_id), decide, on_done)

    def on_marker(self, now: Instant, tp: TopicPartition, producer_id: int, end: int, *, commit: bool) -> None:
        """Commit or drop the offsets that are pending of a producer."""
        self.runtime.end_transaction(now, tp, producer_id, end, commit=commit)

    # -- leadership ---------------------------------------------------------------------------

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Load or drop a shard; requests that wait in one that is dropped are answered with NOT_COORDINATOR."""
        dropped = self.runtime.state(tp.partition) if tp.topic == GROUP_TOPIC else None
        if dropped is not None:
            groups, dropped.live = dropped.live, {}
            for group in groups.values():
                group.end(ErrorCode.NOT_COORDINATOR)
                self.perform(now, group)
        if self.runtime.on_leadership(now, tp, leads=leads) and self.runtime.error(tp.partition) is ErrorCode.NONE:
            self._open(now, tp.partition)

    def _open(self, now: Instant, partition: int) -> None:
        """Begin to answer for the groups of a shard, unless that has begun: their members' sessions begin now."""
        shard = self.runtime.state(partition)
        assert shard is not None, "what was in its log is committed"
        if not shard.is_open:
            shard.is_open = True
            for group_id in shard.ids(committed=True):
                self.alive(now, group_id)
