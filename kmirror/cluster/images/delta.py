"""The delta: the changes between two published metadata images."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.spec.wire_values import ResourceType


@dataclass(slots=True)
class Delta:
    """The changes between two published images; each field is a dict that serves as an ordered set.

    The partitions of a deleted topic are among the changed ones.
    """

    brokers: dict[int, None] = field(default_factory=dict)
    topics_created: dict[str, None] = field(default_factory=dict)
    topics_deleted: dict[str, dict[Uuid, None]] = field(default_factory=dict)
    """Name -> ids of the deleted topics; a topic with this name may exist again, even with the same id (D49)."""
    partitions: dict[TopicPartition, None] = field(default_factory=dict)
    configs: dict[tuple[int, str], None] = field(default_factory=dict)
    features: dict[str, None] = field(default_factory=dict)

    def alters_node(self, node_id: int) -> bool:
        """Return whether broker configs of `node_id` have changed: its own, or the cluster-wide ones."""
        return any((ResourceType.BROKER, name) in self.configs for name in ("", str(node_id)))

    def add(self, later: Delta) -> None:
        """Add the changes of a later delta."""
        for name, ids in later.topics_deleted.items():
            self.topics_created.pop(name, None)
            self.topics_deleted.setdefault(name, {}).update(ids)
        self.brokers.update(later.brokers)
        self.topics_created.update(later.topics_created)
        self.partitions.update(later.partitions)
        self.configs.update(later.configs)
        self.features.update(later.features)

    def is_empty(self) -> bool:
        return not (
            self.brokers
            or self.topics_created
            or self.topics_deleted
            or self.partitions
            or self.configs
            or self.features
        )
