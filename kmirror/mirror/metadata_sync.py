"""Metadata sync, by the mirror's coordinator alone (D17): topics that do not exist here yet are created.

A created topic has the source's partition count and, if the source has topic ids, its id. The source's cluster id is
stored in the mirror's config once the source is seen to have a topic of the mirror, and never overwritten (D15, D16):
a wrong address of a cluster without these topics leaves no trace.
Left out so far: partition growth, configs, groups, ACLs.
"""

from __future__ import annotations

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import SOURCE_CLUSTER_ID
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import Wish
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


class MetadataSync:
    """Creates topics and stores the source's cluster id, for the mirrors that this broker coordinates."""

    def __init__(self, context: MirrorContext) -> None:
        self._context = context
        self._broker = context.broker
        self._creating: dict[str, None] = {}
        self._remembering: dict[str, None] = {}

    def run(self, now: Instant, mirror: str, source: RemoteCluster) -> None:
        """Bring the destination's metadata of `mirror` in line with the source's, which was just refreshed."""
        if not self._context.coordinates(mirror):
            return
        if any(self._is_ours(topic, source) for topic in self._context.topics_of(mirror)):
            self._remember_source(now, mirror, source)
        if self._context.source_cluster_id(mirror) not in ("", source.cluster_id):
            return  # Another cluster answers: its topics are not created here (D16).
        for topic in self._context.topics_of(mirror):
            assignment = self._context.assignments[topic]
            known = source.topics.get(topic)
            missing = topic not in self._broker.image.topics
            if assignment.wish is Wish.MIRROR and missing and known is not None and topic not in source.missing:
                self._create(
                    now,
                    topic,
                    CreatableTopic(
                        name=topic,
                        num_partitions=known.partitions,
                        replication_factor=USE_DEFAULT,
                        mirror_info=None if known.topic_id == Uuid.ZERO else MirrorInfo(topic_id=known.topic_id),
                    ),
                )

    def _is_ours(self, topic: str, source: RemoteCluster) -> bool:
        """Return whether the source has this topic, with the same id as here if it exists here."""
        known, here = source.topics.get(topic), self._broker.image.topics.get(topic)
        if known is None or topic in source.missing:
            return False
        return here is None or known.topic_id in (Uuid.ZERO, here.topic_id)

    def _remember_source(self, now: Instant, mirror: str, source: RemoteCluster) -> None:
        if self._context.source_cluster_id(mirror) or source.cluster_id is None or mirror in self._remembering:
            return
        self._remembering[mirror] = None
        config = AlterableConfig(name=SOURCE_CLUSTER_ID, config_operation=ConfigOp.SET, value=source.cluster_id)
        request = IncrementalAlterConfigsRequest(
            resources=[AlterConfigsResource(resource_type=ResourceType.MIRROR, resource_name=mirror, configs=[config])]
        )

        def on_reply(_: Instant, reply: Message | None) -> None:
            self._remembering.pop(mirror, None)

        self._broker.ask_controller(now, request, on_reply)

    def _create(self, now: Instant, topic: str, wanted: CreatableTopic) -> None:
        if topic in self._creating:
            return
        self._creating[topic] = None
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=30_000)

        def on_reply(_: Instant, reply: Message | None) -> None:
            self._creating.pop(topic, None)
            if isinstance(reply, CreateTopicsResponse) and reply.topics[0].error_code not in (
                ErrorCode.NONE,
                ErrorCode.TOPIC_ALREADY_EXISTS,
            ):
                row = reply.topics[0]
                self._broker.outbox.note(f"cannot create {topic}: {ErrorCode(row.error_code).name} {row.error_message}")

        self._broker.ask_controller(now, request, on_reply)
