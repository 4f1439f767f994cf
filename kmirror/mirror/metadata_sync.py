"""Metadata sync, run by the mirror's coordinator alone (D17).

The source's cluster id is stored in the mirror's config once the source is seen to have a topic of the mirror, and is
never overwritten (D15, D16): the wrong address of a cluster without these topics leaves no trace. ACLs and share groups
are not synced so far.
"""

from __future__ import annotations

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.mirror.configs import SOURCE_CLUSTER_ID
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.group_coordinators import GroupCoordinators
from kmirror.mirror.source_refresh import RefreshRequest
from kmirror.mirror.syncs.cycle import SyncCycle
from kmirror.mirror.syncs.report import Reports
from kmirror.mirror.topic_ids import is_same_topic
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import ConfigOp, ResourceType


class MetadataSync:
    """Runs the sync cycles of the mirrors that this broker coordinates, and stores their sources' cluster ids."""

    def __init__(self, context: MirrorContext, groups: GroupCoordinators) -> None:
        self._context = context
        self._broker = context.broker
        self._groups = groups
        self._cycles: dict[str, SyncCycle] = {}
        self._reports: dict[str, Reports] = {}
        """Mirror to its reports, which outlive a change of its source."""
        self._storing: dict[str, None] = {}

    def run(self, now: Instant, mirror: str, source: RemoteCluster, refreshed: RefreshRequest) -> None:
        """Sync with the source, whose metadata of the topics in `refreshed` has just been refreshed.

        A refresh of all topics begins a cycle of all syncs; any other affects these topics alone.
        """
        if not self._context.coordinates(mirror):
            self._context.coordinator.ensure(now)  # A mirror has no coordinator while `__mirror_state` is missing.
            self.forget(mirror)
            return
        if not self._context.source_cluster_id(mirror) and any(
            self._is_ours(topic, source) for topic in refreshed.topics
        ):
            self._remember_source(now, mirror, source)
        cycle = self._cycles.get(mirror)
        if cycle is None or cycle.source is not source:
            reports = self._reports.setdefault(mirror, Reports(mirror, self._broker.outbox, self._context.sync_errors))
            cycle = self._cycles[mirror] = SyncCycle(self._context, mirror, source, reports, self._groups)
        cycle.on_topics(now, refreshed.topics)
        if refreshed.is_full:
            cycle.run(now)

    def forget(self, mirror: str) -> None:
        """Forget a mirror that was deleted, or is coordinated elsewhere."""
        self._cycles.pop(mirror, None)
        self._context.not_created.pop(mirror, None)
        self._context.unclean_topics.pop(mirror, None)
        self._reports.pop(mirror, None)

    def _is_ours(self, topic: str, source: RemoteCluster) -> bool:
        """Return whether the source has this topic, and it is the same as the topic here, if there is one."""
        local_topic = self._broker.image.topics.get(topic)
        if not source.has(topic) or local_topic is None:
            return source.has(topic)
        source_topic_id = source.topics[topic].topic_id
        return is_same_topic(
            source_topic_id, local_topic.topic_id, source.cluster_id or "", self._broker.cluster_id, topic
        )

    def _remember_source(self, now: Instant, mirror: str, source: RemoteCluster) -> None:
        if source.cluster_id is None or mirror in self._storing:
            return
        self._storing[mirror] = None
        config = AlterableConfig(name=SOURCE_CLUSTER_ID, config_operation=ConfigOp.SET, value=source.cluster_id)
        request = IncrementalAlterConfigsRequest(
            resources=[AlterConfigsResource(resource_type=ResourceType.MIRROR, resource_name=mirror, configs=[config])]
        )

        def on_reply(_: Instant, reply: Message | None) -> None:
            self._storing.pop(mirror, None)

        self._broker.ask_controller(now, request, on_reply)
