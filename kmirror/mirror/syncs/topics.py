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
from kmirror.mirror.topic_ids import is_same_topic, made_topic_id
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreatableTopicConfig, MirrorInfo
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import USE_DEFAULT


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """The facts about one topic of a mirror, on both sides."""

    name: str
    wish: Wish
    theirs: RemoteTopic | None
    """None if the source has no such topic, or has not responded about it yet."""
    ours: RemoteTopic | None
    """None if there is no such topic here."""
    refused: ErrorCode | None = None
    """The error in the source's response, such as TOPIC_AUTHORIZATION_FAILED."""
    cluster_id: str = ""
    """The id of this cluster."""

    def is_behind(self, source_cluster_id: str) -> bool:
        """Return whether the topic must be created here, or get partitions."""
        if self.theirs is None or self.why_not_synced(source_cluster_id):
            return False
        return self.ours is None or self.ours.partitions < self.theirs.partitions

    def why_not_synced(self, source_cluster_id: str) -> str:
        """Return why the topic's metadata is not synced, or an empty text if it is."""
        if self.wish is not Wish.MIRROR:
            return "it is paused" if self.wish is Wish.PAUSE else "it was removed from the mirror"
        if self.refused is not None:
            return f"the source answers {self.refused.name} for topic {self.name}"
        if self.theirs is None:
            return f"the source has no topic {self.name}"
        ours = self.ours
        if ours is not None and not is_same_topic(
            self.theirs.topic_id, ours.topic_id, source_cluster_id, self.cluster_id, self.name
        ):
            return f"the source's topic has id {self.theirs.topic_id}, ours has {ours.topic_id} and is another one"
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
    made = TopicPlan()
    for topic in topics:
        theirs, ours = topic.theirs, topic.ours
        if theirs is None or topic.why_not_synced(source_cluster_id):
            continue
        if ours is None:
            if topic.name in configs:
                made.create.append(_created(topic.name, mirror, theirs, source_cluster_id, configs[topic.name]))
        elif theirs.partitions > ours.partitions:
            made.grow.append(CreatePartitionsTopic(name=topic.name, count=theirs.partitions, assignments=None))
        elif theirs.partitions < ours.partitions:
            made.problems[topic.name] = (
                f"the source's topic has {theirs.partitions} partitions, ours has {ours.partitions}: a topic cannot "
                "shrink; if it was created anew at the source, remove it from the mirror, delete it here, and add it"
            )
    return made


def _created(
    name: str, mirror: str, theirs: RemoteTopic, source_cluster_id: str, configs: Mapping[str, str]
) -> CreatableTopic:
    topic_id = theirs.topic_id if theirs.topic_id != Uuid.ZERO else made_topic_id(source_cluster_id, name)
    return CreatableTopic(
        name=name,
        num_partitions=theirs.partitions,
        replication_factor=USE_DEFAULT,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in sorted(configs.items())],
        mirror_info=MirrorInfo(topic_id=topic_id, mirror_name=mirror),
    )
