"""View of a mirror at its coordinator: the facts and rules from which the plans are made."""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.client.remote_cluster import RemoteCluster, RemoteTopic
from kmirror.mirror.configs import mirror_configs
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import Wish
from kmirror.mirror.syncs.rules import Rules
from kmirror.mirror.syncs.topics import TopicFacts


class MirrorView:
    """One mirror, its source, and its topics in this broker's image; every call reads the present state."""

    def __init__(self, context: MirrorContext, mirror: str, source: RemoteCluster) -> None:
        self.context = context
        self.mirror = mirror
        self.source = source

    def is_current(self) -> bool:
        """Return whether this broker still syncs the mirror, and from this source."""
        context = self.context
        is_ours = context.sources.get(self.mirror) is self.source and context.coordinates(self.mirror)
        return is_ours and not self.halt_reason() and mirror_configs(context.broker.image, self.mirror) is not None

    def halt_reason(self) -> str:
        """Return why nothing is synced from the cluster that responds as the source, or an empty text (D16)."""
        remembered, current = self.context.source_cluster_id(self.mirror), self.source.cluster_id
        if remembered in ("", current):
            return ""
        return (
            f"the source is cluster {current}, not {remembered}: nothing is synced until cluster {remembered} responds "
            "again"
        )

    @property
    def source_id(self) -> str:
        """The id of the cluster that responds as the source."""
        return self.source.cluster_id or ""

    def rules(self) -> Rules:
        """Return the filters, as they are configured now."""
        configs = mirror_configs(self.context.broker.image, self.mirror)
        assert configs is not None, f"mirror {self.mirror} is there"
        return Rules.from_configs(configs)

    def facts(self, names: Iterable[str]) -> list[TopicFacts]:
        """Return the facts about topics of this mirror; topics without a response from the source are left out."""
        found = []
        for name in names:
            assignment = self.context.assignments.get(name)
            has_response = (
                name in self.source.topics or name in self.source.missing_topics or name in self.source.topic_errors
            )
            if assignment is None or assignment.mirror != self.mirror or not has_response:
                continue
            source_topic = self.source.topics[name] if self.source.has(name) else None
            source_error = self.source.topic_errors.get(name)
            cluster_id = self.context.broker.cluster_id
            found.append(
                TopicFacts(name, assignment.wish, source_topic, self._local_topic(name), source_error, cluster_id)
            )
        return found

    def synced(self, names: Iterable[str] | None = None) -> list[TopicFacts]:
        """Return the topics, or those of `names`, that are the same on both sides and are wanted in the mirror."""
        facts = self.facts(self.context.topics_of(self.mirror) if names is None else names)
        return [topic for topic in facts if topic.local_topic is not None and not topic.unsynced_reason(self.source_id)]

    def to_be_mirrored(self) -> list[str]:
        """Return the topics of the mirror that are neither paused nor removed."""
        context = self.context
        return [name for name in context.topics_of(self.mirror) if context.assignments[name].wish is Wish.MIRROR]

    def _local_topic(self, name: str) -> RemoteTopic | None:
        image = self.context.broker.image.topics.get(name)
        return None if image is None else RemoteTopic(image.topic_id, len(image.partitions))
