"""Metadata sync, by the mirror's coordinator alone (D17): topics that do not exist here yet are created.

A created topic has the source's partition count and its id, or one that is made here if the source has none (D53). The
source's cluster id is stored in the mirror's config once the source is seen to have a topic of the mirror, and never
overwritten (D15, D16): a wrong address of a cluster without these topics leaves no trace.
Left out so far: partition growth, configs, groups, ACLs.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.client.remote_cluster import RemoteCluster, code_of
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import SOURCE_CLUSTER_ID
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import Wish
from kmirror.mirror.topic_ids import is_same_topic, made_topic_id
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest, MirrorInfo
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import USE_DEFAULT, ConfigOp, ResourceType

PARTITIONS_MAX = 1000
"""Bounds what the controller decides at a time."""


class MetadataSync:
    """Creates topics and stores the source's cluster id, for the mirrors that this broker coordinates."""

    def __init__(self, context: MirrorContext) -> None:
        self._context = context
        self._broker = context.broker
        self._creating: dict[str, None] = {}
        self._remembering: dict[str, None] = {}

    def run(self, now: Instant, mirror: str, source: RemoteCluster, topics: Sequence[str]) -> None:
        """Bring the destination's `topics` of `mirror` in line with the source's, which were just asked about."""
        if not self._context.coordinates(mirror):
            return
        if not self._context.source_cluster_id(mirror) and any(self._is_ours(topic, source) for topic in topics):
            self._remember_source(now, mirror, source)
        if self._context.source_cluster_id(mirror) not in ("", source.cluster_id):
            return  # Another cluster answers: its topics are not created here (D16).
        wanted = [topic for topic in topics if self._is_to_create(topic, source)]
        self._create(now, mirror, [self._wanted(topic, source) for topic in wanted])

    def _is_to_create(self, topic: str, source: RemoteCluster) -> bool:
        """Return whether a topic is to be mirrored, is there at the source, and is neither here nor on its way."""
        if topic in self._broker.image.topics or topic in self._creating:
            return False
        assignment = self._context.assignments.get(topic)
        is_mirrored = assignment is not None and assignment.wish is Wish.MIRROR
        return is_mirrored and source.has(topic)

    def _wanted(self, topic: str, source: RemoteCluster) -> CreatableTopic:
        known = source.topics[topic]
        topic_id = made_topic_id(source.cluster_id or "", topic) if known.topic_id == Uuid.ZERO else known.topic_id
        return CreatableTopic(
            name=topic,
            num_partitions=known.partitions,
            replication_factor=USE_DEFAULT,
            mirror_info=MirrorInfo(topic_id=topic_id),
        )

    def _is_ours(self, topic: str, source: RemoteCluster) -> bool:
        """Return whether the source has this topic, and it is the one that exists here, if one does."""
        here = self._broker.image.topics.get(topic)
        if not source.has(topic) or here is None:
            return source.has(topic)
        return is_same_topic(source.topics[topic].topic_id, here.topic_id, source.cluster_id or "", topic)

    def _remember_source(self, now: Instant, mirror: str, source: RemoteCluster) -> None:
        if source.cluster_id is None or mirror in self._remembering:
            return
        self._remembering[mirror] = None
        config = AlterableConfig(name=SOURCE_CLUSTER_ID, config_operation=ConfigOp.SET, value=source.cluster_id)
        request = IncrementalAlterConfigsRequest(
            resources=[AlterConfigsResource(resource_type=ResourceType.MIRROR, resource_name=mirror, configs=[config])]
        )

        def on_reply(_: Instant, reply: Message | None) -> None:
            self._remembering.pop(mirror, None)

        self._broker.ask_controller(now, request, on_reply)

    def _create(self, now: Instant, mirror: str, topics: Sequence[CreatableTopic]) -> None:
        """Have topics created, in requests of at most PARTITIONS_MAX partitions or of one topic."""
        batch: list[CreatableTopic] = []
        partitions = 0
        for topic in topics:
            if batch and partitions + topic.num_partitions > PARTITIONS_MAX:
                self._send(now, mirror, batch)
                batch, partitions = [], 0
            batch.append(topic)
            partitions += topic.num_partitions
        if batch:
            self._send(now, mirror, batch)

    def _send(self, now: Instant, mirror: str, topics: Sequence[CreatableTopic]) -> None:
        names = [topic.name for topic in topics]
        self._creating.update(dict.fromkeys(names))

        def on_reply(later: Instant, reply: Message | None) -> None:
            for name in names:
                self._creating.pop(name, None)
            if reply is None:
                self._context.refresh_soon(later, mirror, *names)
            for row in reply.topics if isinstance(reply, CreateTopicsResponse) else ():
                if row.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                    error = code_of(row.error_code).name
                    self._context.errors.metadata_refresh += 1
                    self._broker.outbox.note(f"cannot create {row.name}: {error} {row.error_message}")

        self._broker.ask_controller(now, CreateTopicsRequest(topics=list(topics), timeout_ms=30_000), on_reply)
