"""Sync of topics: which ones to create here, and which to give more partitions. Pure (D17).

A topic is created with the id, the number of partitions and the configs of the source's. A topic whose configs are not
known yet waits for them: otherwise a compacted topic would be created as one that deletes by age.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kmirror.client.remote_cluster import RemoteTopic
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import Wish
from kmirror.mirror.topic_ids import generated_topic_id, is_same_topic
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, MirrorInfo
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import USE_DEFAULT


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """The facts about one topic of a mirror, on both sides."""

    name: str
    wish: Wish
    source_topic: RemoteTopic | None
    """None if the source has no such topic, or has not responded about it yet."""
    local_topic: RemoteTopic | None
    """None if there is no such topic here."""
    source_error: ErrorCode | None = None
    """The error in the source's response, such as TOPIC_AUTHORIZATION_FAILED."""
    cluster_id: str = ""
    """The id of this cluster."""

    def is_behind(self, source_cluster_id: str) -> bool:
        """Return whether the topic must be created here, or get partitions."""
        if self.source_topic is None or self.unsynced_reason(source_cluster_id):
            return False
        return self.local_topic is None or self.local_topic.partitions < self.source_topic.partitions

    def unsynced_reason(self, source_cluster_id: str) -> str:
        """Return why the topic's metadata is not synced, or an empty text if it is."""
        if self.wish is not Wish.MIRROR:
            return "it is paused" if self.wish is Wish.PAUSE else "it was removed from the mirror"
        if self.source_error is not None:
            return f"the source returned {self.source_error.name} for topic {self.name}"
        if self.source_topic is None:
            return f"the source has no topic {self.name}"
        local_topic = self.local_topic
        if local_topic is not None and not is_same_topic(
            self.source_topic.topic_id, local_topic.topic_id, source_cluster_id, self.cluster_id, self.name
        ):
            ids = f"id {self.source_topic.topic_id}, ours has {local_topic.topic_id}"
            return f"the source's topic has {ids}: they are different topics"
        return ""


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """The requests to the controller, and the topics that cannot be synced."""

    create: list[CreatableTopic] = field(default_factory=list)
    grow: list[CreatePartitionsTopic] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    """Topic to why it cannot be synced."""


def plan(
    topics: Iterable[TopicFacts], mirror: str, source_cluster_id: str, configs: Mapping[str, Mapping[str, str]]
) -> TopicPlan:
    """Return the changes that make our topics equal to the source's, while `mirror` mirrors them (D75).

    `configs` has the configs of new topics; a topic that is not in it is not created.
    """
    result = TopicPlan()
    for topic in topics:
        source_topic, local_topic = topic.source_topic, topic.local_topic
        if source_topic is None or topic.unsynced_reason(source_cluster_id):
            continue
        if local_topic is None:
            if topic.name in configs:
                result.create.append(
                    _creatable_topic(topic.name, mirror, source_topic, source_cluster_id, configs[topic.name])
                )
        elif source_topic.partitions > local_topic.partitions:
            result.grow.append(CreatePartitionsTopic(name=topic.name, count=source_topic.partitions, assignments=None))
        elif source_topic.partitions < local_topic.partitions:
            result.problems[topic.name] = (
                f"the source's topic has {source_topic.partitions} partitions, ours has {local_topic.partitions}: a "
                "topic cannot shrink; if it was created again at the source, remove it from the mirror, delete it "
                "here, and add it again"
            )
    return result


def _creatable_topic(
    name: str, mirror: str, source_topic: RemoteTopic, source_cluster_id: str, configs: Mapping[str, str]
) -> CreatableTopic:
    topic_id = (
        source_topic.topic_id if source_topic.topic_id != Uuid.ZERO else generated_topic_id(source_cluster_id, name)
    )
    return CreatableTopic(
        name=name,
        num_partitions=source_topic.partitions,
        replication_factor=USE_DEFAULT,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in sorted(configs.items())],
        mirror_info=MirrorInfo(topic_id=topic_id, mirror_name=mirror),
    )
