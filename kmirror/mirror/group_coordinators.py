"""Coordinators of this cluster's consumer groups, as the metadata sync finds them."""

from __future__ import annotations

from kmirror.cluster.broker.internal_topics import InternalTopics
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.kernel.clock import Instant
from kmirror.spec.topics import GROUP_TOPIC


class GroupCoordinators:
    """Looks up the result of FindCoordinator without sending the request."""

    def __init__(self, groups: GroupCoordinator, internal_topics: InternalTopics) -> None:
        self._groups = groups
        self._internal_topics = internal_topics

    def leader_of(self, group_id: str) -> int | None:
        """Return the broker that coordinates the group, or None if none does at the moment."""
        partition = self._groups.context.image.topics.partition(self._groups.shard_partition(group_id))
        return None if partition is None or partition.leader < 0 else partition.leader

    def ensure(self, now: Instant) -> None:
        """Create the topic that holds the offsets of groups, if it is missing."""
        if GROUP_TOPIC not in self._groups.context.image.topics:
            self._internal_topics.create(now, GROUP_TOPIC)
