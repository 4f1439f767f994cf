"""The group coordinator: which broker answers for a group, and what of it is persisted in `__consumer_offsets`.

A group id hashes to a partition of `__consumer_offsets`; the leader of that partition coordinates the group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.runtime import CoordinatorRuntime, KeyValue, OnDone
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.wire_values import CoordinatorType


class GroupCoordinator(BrokerComponent):
    """The group coordinator of one broker, for the shards that it leads."""

    name = "groups"

    def __init__(self, context: BrokerContext, replicas: ReplicaManager) -> None:
        self.context = context
        self.runtime = CoordinatorRuntime(context, replicas, GROUP_TOPIC, GroupShard, on_committed=self._open)
        self._groups: dict[int, dict[str, Group]] = {}
        """Shard to its groups that live here, by id: what is in no record, such as who waits for an answer."""

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

    def find(self, group_id: str) -> Group | None:
        """Return the group as it is now, or None if there is none or `error` says why this broker cannot tell.

        A group of which only offsets are known is Empty and has no protocol type: a simple consumer's.
        """
        partition = self.shard_of(group_id)
        shard = self.runtime.state(partition)
        if shard is None:
            return None
        live = self._groups[partition].get(group_id)
        if live is None and (shard.metadata(group_id) is not None or shard.offsets.knows(group_id)):
            return Group(group_id, -1)
        return live

    def write(
        self, group_id: str, decide: Callable[[GroupShard], tuple[Sequence[KeyValue], ErrorCode]], on_done: OnDone
    ) -> None:
        """Append what `decide` returns to the group's shard; call `on_done` once that is committed (D48).

        `decide` gets the newest state of the shard when the present event ends, and may be called twice. Errors beside
        its own: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, UNKNOWN_SERVER_ERROR for records that are too large.
        """
        self.runtime.submit(self.shard_of(group_id), decide, on_done)

    def end_transaction(self, now: Instant, tp: TopicPartition, producer_id: int, end: int, *, commit: bool) -> None:
        """Commit or drop what is pending of a producer: its marker was appended to `tp`, below offset `end`."""
        self.runtime.end_transaction(now, tp, producer_id, end, commit=commit)

    def keep_alive(self, now: Instant, group_id: str, member_id: str) -> None:
        """Let a member's session begin anew."""

    # -- leadership ---------------------------------------------------------------------------

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Load or drop a shard."""
        if tp.topic == GROUP_TOPIC:
            self._groups.pop(tp.partition, None)
        if self.runtime.on_leadership(now, tp, leads=leads) and self.runtime.error(tp.partition) is ErrorCode.NONE:
            self._open(now, tp.partition)

    def _open(self, now: Instant, partition: int) -> None:
        """Begin to answer for the groups of a shard, unless that has begun."""
        shard = self.runtime.state(partition)
        assert shard is not None, "what was in its log is committed"
        self._groups.setdefault(partition, {})
