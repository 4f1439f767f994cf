"""The group coordinator: which broker answers for a group, and what of it is persisted in `__consumer_offsets`.

A group id hashes to a partition of `__consumer_offsets`; the leader of that partition coordinates the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.groups.classic import rebalance, requests
from kmirror.cluster.coordinators.groups.classic.effects import Answer, CancelTimer, Forget, SetTimer, Timer, Write
from kmirror.cluster.coordinators.groups.classic.group import NO_TIME, ClassicGroup, Limits
from kmirror.cluster.coordinators.groups.classic.records import group_of
from kmirror.cluster.coordinators.groups.state import GroupShard, metadata_record
from kmirror.cluster.coordinators.runtime import CoordinatorRuntime, KeyValue, OnDone
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.wire_values import CoordinatorType


class GroupCoordinator(BrokerComponent):
    """The group coordinator of one broker, for the shards that it leads."""

    name = "groups"

    def __init__(self, context: BrokerContext, replicas: ReplicaManager) -> None:
        self.context = context
        self.rng = context.rng.split(self.name)
        """For the member ids that are handed out."""
        self.runtime = CoordinatorRuntime(context, replicas, GROUP_TOPIC, GroupShard, on_committed=self._open)
        self._live: dict[int, dict[str, ClassicGroup]] = {}
        """Shard to its groups by id: what is in no record, such as who waits for an answer."""

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

    def live(self) -> Iterator[ClassicGroup]:
        """Yield the groups that this broker answers for now."""
        for shard in self._live.values():
            yield from shard.values()

    def find(self, group_id: str) -> ClassicGroup | None:
        """Return the group as it is now, or None if there is none or `error` says why this broker cannot tell.

        A group of which only offsets are known is Empty and has no protocol type: a simple consumer's.
        """
        partition = self.shard_of(group_id)
        shard = self.runtime.state(partition)
        if shard is None:
            return None
        live = self._live[partition].get(group_id)
        if live is not None:
            return live
        return _persisted(group_id, shard.groups.get(group_id), has_offsets=shard.offsets.knows(group_id))

    def committed(self, group_id: str) -> ClassicGroup | None:
        """Return what `find` does if it is committed that there is such a group; for those who only look."""
        partition = self.shard_of(group_id)
        shard = self.runtime.state(partition)
        if shard is None:
            return None
        persisted = _persisted(group_id, shard.groups.committed(group_id), has_offsets=shard.offsets.knows(group_id))
        live = self._live[partition].get(group_id)
        return live if live is not None and persisted is not None else persisted

    def alive(self, now: Instant, group_id: str) -> ClassicGroup | None:
        """Return the group for a request of a member, or None as `find`; hand its effects to `perform`."""
        found = self.find(group_id)
        if found is not None and group_id not in self._live[self.shard_of(group_id)]:
            self._live[self.shard_of(group_id)][group_id] = found
            rebalance.begin(found, to_ms(now), self._limits)
            self.perform(now, found)
        return found

    def all_committed(self) -> Iterator[ClassicGroup]:
        """Yield what `committed` returns for every group of this broker's shards."""
        for shard in self.runtime.states().values():
            for group_id in dict.fromkeys((*shard.groups.all_committed(), *shard.offsets.groups())):
                found = self.committed(group_id)
                if found is not None:
                    yield found

    @property
    def _limits(self) -> Limits:
        configs = self.context.configs
        return Limits(configs.integer("group.initial.rebalance.delay.ms"), configs.integer("group.max.size"))

    # -- what groups do -----------------------------------------------------------------------

    def join(self, now: Instant, asked: requests.Join) -> None:
        """Take up a JoinGroup for a group that this broker coordinates; a client without a member id may create it."""
        group_id, member_id = asked.request.group_id, asked.request.member_id
        found = self.alive(now, group_id)
        if found is None and member_id:
            asked.waiter(JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID, member_id=member_id))
            return
        if found is None:
            found = self._live[self.shard_of(group_id)][group_id] = ClassicGroup(group_id, to_ms(now))
            found.limits = self._limits
        requests.join(found, to_ms(now), asked)
        self.perform(now, found)

    def keep_alive(self, now: Instant, group_id: str, member_id: str) -> None:
        """Restart the session timeout of a member: it has been heard of."""
        found = self.alive(now, group_id)
        if found is not None:
            found.keep_alive(member_id)
            self.perform(now, found)

    def perform(self, now: Instant, of: ClassicGroup) -> None:
        """Carry out what a group wants done."""
        group_id = of.group_id
        effects, of.effects = of.effects, []
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
                    self._write(of, effect)
                case Forget():
                    live = self._live.get(self.shard_of(group_id), {})
                    if live.get(group_id) is of:
                        del live[group_id]

    def _write(self, of: ClassicGroup, write: Write) -> None:
        group_id = of.group_id
        record = metadata_record(group_id, write.value)

        def on_done(later: Instant, error: ErrorCode) -> None:
            write.on_written(to_ms(later), error)
            self.perform(later, of)

        self.write(group_id, lambda _: ([record], ErrorCode.NONE), on_done)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (_, Timer() as timer, str(group_id), str(member_id)):
                found = self._live.get(self.shard_of(group_id), {}).get(group_id)
                if found is not None:
                    rebalance.on_timer(found, to_ms(now), timer, member_id)
                    self.perform(now, found)
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
            return ((), error) if error else (self.deletion(now, shard, group_id), ErrorCode.NONE)

        self.write(group_id, decide, on_done)

    def deletion(self, now: Instant, shard: GroupShard, group_id: str) -> list[KeyValue]:
        """Return the tombstones of a group without members, for an operation of `write`; the group is gone here now.

        Should the append be refused, the group is loaded again from what is persisted of it.
        """
        live = self._live[self.shard_of(group_id)].pop(group_id, None)
        if live is not None:
            rebalance.end(live, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self.perform(now, live)
        return [*shard.offsets.deletions(group_id), metadata_record(group_id, None)]

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
        """Load or drop a shard; what waits in one that is dropped is answered NOT_COORDINATOR."""
        if tp.topic == GROUP_TOPIC:
            for dropped in self._live.pop(tp.partition, {}).values():
                rebalance.end(dropped, ErrorCode.NOT_COORDINATOR)
                self.perform(now, dropped)
        if self.runtime.on_leadership(now, tp, leads=leads) and self.runtime.error(tp.partition) is ErrorCode.NONE:
            self._open(now, tp.partition)

    def _open(self, now: Instant, partition: int) -> None:
        """Begin to answer for the groups of a shard, unless that has begun: their members' sessions begin now."""
        if partition in self._live:
            return
        shard = self.runtime.state(partition)
        assert shard is not None, "what was in its log is committed"
        self._live[partition] = {}
        for group_id in shard.groups.all_committed():
            self.alive(now, group_id)


def _persisted(group_id: str, value: GroupMetadataValue | None, *, has_offsets: bool) -> ClassicGroup | None:
    """Return the group that the log speaks of, or None if it does not."""
    if value is not None:
        return group_of(group_id, value)
    if not has_offsets:
        return None
    simple = ClassicGroup(group_id, NO_TIME)
    simple.is_written = True
    return simple
