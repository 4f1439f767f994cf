"""Sources of one broker's mirrors: connections to them, and refreshes of their metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from kmirror.client.authentication import Authenticator
from kmirror.client.remote_cluster import Changes, OnChecked, RemoteCluster, parse_servers
from kmirror.client.security import security_of
from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint
from kmirror.mirror.configs import BOOTSTRAP_SERVERS, SOURCE_CLUSTER_ID, mirror_configs, mirror_names
from kmirror.mirror.context import RETRY_MS, MirrorContext
from kmirror.mirror.cut_rules import SOURCE_EPOCH_MAX
from kmirror.mirror.facts import SourceTrouble
from kmirror.mirror.metadata_check import MetadataCheck
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_requests import PURPOSE
from kmirror.mirror.state_writer import ScheduleStep, StopFetching
from kmirror.mirror.states import Wish
from kmirror.mirror.sync_errors import SyncKind
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

TIMEOUT = "request.timeout.ms"
CONFIGS_WITHOUT_RECONNECT = (TIMEOUT, SOURCE_CLUSTER_ID)
"""Configs of a mirror that may change without a new connection, besides those that begin with `mirror.`."""


class RefreshRequest(NamedTuple):
    """The topics of a refresh."""

    topics: Sequence[str]
    is_full: bool
    """All topics of the mirror, and not only requested ones."""


OnRefreshed = Callable[[Instant, str, RemoteCluster, RefreshRequest, Changes], None]
"""(now, mirror, its source, the refreshed topics, the changes in the response), called after each response."""


class SourceRefresh:
    """Keeps the sources of one broker's mirrors, and their metadata, up to date."""

    def __init__(
        self,
        context: MirrorContext,
        stop_fetching: StopFetching,
        schedule_step: ScheduleStep,
        on_refreshed: OnRefreshed,
    ) -> None:
        self._context = context
        self._stop_fetching = stop_fetching
        self._on_refreshed = on_refreshed
        self._schedule_step = schedule_step
        self._rng = context.broker.rng.split("sources")
        self._sent: dict[str, RefreshRequest] = {}
        """Mirror to the refresh that was sent last."""
        self._connections: dict[str, Mapping[str, str]] = {}
        """Mirror to the configs of its connection."""
        self._silent: dict[str, RemoteCluster] = {}
        """Mirror to its source, if that did not respond while nothing was known of it."""

    def apply_mirrors(self, now: Instant) -> None:
        """Follow mirrors that were created, altered or deleted: connect to the sources in their configs."""
        context, image = self._context, self._context.broker.image
        names = mirror_names(image)
        for mirror in [m for m in context.sources if m not in names]:
            context.refreshes.pop(mirror, None)
            context.sources.pop(mirror).close(now)
            context.source_errors.pop(mirror, None)
            self._silent.pop(mirror, None)
        for mirror in names:
            configs = mirror_configs(image, mirror)
            assert configs is not None, f"mirror {mirror} is in the image"
            values = image.configs[ResourceType.MIRROR, mirror]
            connection, timeout_ms = _connection(values), configs.integer(TIMEOUT)
            known = context.sources.get(mirror)
            if known is not None and self._connections[mirror] == connection:
                known.timeout_ms = timeout_ms
                continue
            self._connections[mirror] = connection
            servers = parse_servers(configs.text(BOOTSTRAP_SERVERS))
            context.sources[mirror] = self._connect(mirror, servers, values, timeout_ms)
            self._report_error(now, mirror, context.sources[mirror].connection_error())
            if known is not None:  # Fetching continues once the metadata is known over the new connection.
                for mp in context.partitions_of(mirror):
                    self._stop_fetching(mp)
                known.close(now)
                context.refresh_soon(now, mirror)

    def _connect(
        self, mirror: str, servers: tuple[Endpoint, ...], values: Mapping[str, str], timeout_ms: int
    ) -> RemoteCluster:
        def on_response(now: Instant, changes: Changes | None) -> None:
            # Responses of a source that was deleted or replaced are dropped.
            if self._context.sources.get(mirror) is source:
                self._on_response(now, mirror, source, changes)

        def check(now: Instant, request: MetadataRequest, reply: MetadataResponse, on_checked: OnChecked) -> None:
            MetadataCheck(self._context, mirror, source).check(now, request, reply, on_checked)

        broker = self._context.broker
        problem, authenticator = "", None
        try:
            security = security_of(values)
        except UsageError as error:  # Our controllers reject such configs, but the log may be from another one.
            problem, servers = str(error), ()
        else:
            authenticator = None if security is None else Authenticator(security, self._rng, timeout_ms)
        source = RemoteCluster(
            f"mirror-{mirror}",
            broker.requester,
            servers,
            timeout_ms=timeout_ms,
            on_refreshed=on_response,
            client_id=f"broker-{broker.node_id}-mirror-{mirror}",  # Not that of the source's own broker of this number.
            authenticator=authenticator,
            check=check,
        )
        source.config_error = problem
        return source

    def on_topic(self, now: Instant, topic: str) -> None:
        """Follow a topic that was added, removed, created or deleted: request its metadata at the source if unknown.

        The metadata of a topic that is not mirrored, or no longer exists here, may change unnoticed, so it is
        forgotten.
        """
        context = self._context
        assignment = context.assignments.get(topic)
        mirrored = assignment is not None and assignment.wish is not Wish.REMOVE
        if not mirrored or topic not in context.broker.image.topics:
            self._remember_epochs(topic)
            for source in context.sources.values():
                source.forget(topic)
        if assignment is not None and mirrored:
            known = context.sources.get(assignment.mirror)
            if known is None or not known.has(topic):
                context.refresh_soon(now, assignment.mirror, topic)

    def on_leadership(self, now: Instant, mirror: str) -> None:
        """Resume the regular refreshes for a partition that this broker now leads.

        They stop while a broker leads no partition of the mirror, so its metadata of the source may be old.
        """
        source, plan = self._context.sources.get(mirror), self._context.refreshes.get(mirror)
        if source is not None and not source.refreshing and plan is not None and plan.timer_at is None:
            self._context.refresh_at(mirror, max(now, plan.next_at()))

    def _remember_epochs(self, topic: str) -> None:
        """Keep the source's leader epochs, also those that were never fetched in: a stop bumps above them (D36)."""
        for mp in self._context.led_of_topic(topic):
            source = self._context.sources.get(mp.assignment.mirror)
            leader = None if source is None else source.leader(mp.tp)
            if leader is not None and leader.epoch <= SOURCE_EPOCH_MAX:
                mp.source_epoch = max(mp.source_epoch, leader.epoch)

    def on_timer(self, now: Instant, mirror: str) -> None:
        """Refresh the metadata of the requested topics, or at the regular interval of all topics of the mirror."""
        context = self._context
        source, plan = context.sources.get(mirror), context.refreshes.get(mirror)
        if plan is None:
            return
        plan.timer_at = None
        if source is None or source.refreshing:
            return  # The response sets the next timer.
        is_full = plan.is_full(now)
        topics = self._all_topics(mirror) if is_full else self._still_mirrored(mirror, plan.requested)
        plan.full_requested, plan.requested = False, {}
        if topics:
            plan.not_before = now + RETRY_MS * MILLISECOND
            self._sent[mirror] = RefreshRequest(topics, is_full)
            source.refresh(now, topics)
        elif not is_full:
            context.refresh_at(mirror, plan.next_at())

    def _all_topics(self, mirror: str) -> Sequence[str]:
        """Return all topics of the mirror if this broker coordinates it, else those with partitions that it leads.

        While no broker can be the coordinator, since `__mirror_state` was deleted, each one acts as it (D8).
        """
        if self._context.coordinates(mirror) or self._context.coordinator.shard_of_mirror(mirror) is None:
            return self._still_mirrored(mirror, self._context.topics_of(mirror))
        return self._still_mirrored(mirror, self._context.led_topics_of(mirror))

    def _still_mirrored(self, mirror: str, topics: Iterable[str]) -> Sequence[str]:
        """Return the `topics` that are still wanted in the mirror; a removed topic is stopped without its source."""
        found = ((topic, self._context.assignments.get(topic)) for topic in topics)
        return [topic for topic, a in found if a is not None and a.mirror == mirror and a.wish is not Wish.REMOVE]

    def _on_response(self, now: Instant, mirror: str, source: RemoteCluster, changes: Changes | None) -> None:
        plan, configs, refreshed = self._context.refreshes[mirror], self._context.broker.configs, self._sent[mirror]
        if changes is None:
            self._context.sync_errors.add(SyncKind.METADATA)
            plan.request(() if refreshed.is_full else refreshed.topics)
            plan.not_before = now + RETRY_MS * MILLISECOND
        else:
            mirrored = set(self._still_mirrored(mirror, refreshed.topics))
            for topic in refreshed.topics:
                if topic not in mirrored:  # Removed since: it must be refreshed when it is added again.
                    source.forget(topic)
            # The response also covers requests made meanwhile; a partition that finds it outdated requests the topic
            # again.
            for topic in refreshed.topics:
                plan.requested.pop(topic, None)
                if source.topic_errors.get(topic, ErrorCode.LEADER_NOT_AVAILABLE) is not ErrorCode.LEADER_NOT_AVAILABLE:
                    self._context.sync_errors.add(SyncKind.METADATA)
            distrusted = self._still_mirrored(mirror, source.distrusted_topics)
            if distrusted:
                plan.request(distrusted)
            if refreshed.is_full:
                plan.next_full_at = now + configs.integer("mirror.metadata.refresh.interval.ms") * MILLISECOND
        self._context.refresh_at(mirror, max(now, plan.next_at()))
        self._report_error(now, mirror, source.connection_error() if changes is None else "")
        if changes is not None:
            if refreshed.is_full:
                self._refresh_versions(now, mirror, source)
            self._on_refreshed(now, mirror, source, refreshed, changes)
        elif source.cluster_id is None and self._silent.get(mirror) is not source:
            self._silent[mirror] = source
            for mp in self._context.waiting_for(mirror):  # Their reasons may say that there was no response yet.
                self._schedule_step(now, mp)

    def _refresh_versions(self, now: Instant, mirror: str, source: RemoteCluster) -> None:
        """Refresh versions of leaders without DescribeMirrors; step their partitions if it is served now (D76)."""
        without_describe: dict[Endpoint, list[MirrorPartition]] = {}
        for mp in self._context.partitions_of(mirror):
            if mp.lineage_is_assumed and (endpoint := source.leader_endpoint(mp.tp)) is not None:
                without_describe.setdefault(endpoint, []).append(mp)

        def on_versions(endpoint: Endpoint, later: Instant) -> None:
            if source.supports(endpoint, DescribeMirrorsRequest):
                for mp in without_describe[endpoint]:
                    self._schedule_step(later, mp)

        for endpoint in without_describe:
            source.request_versions(now, endpoint, PURPOSE, partial(on_versions, endpoint))

    def _report_error(self, now: Instant, mirror: str, reason: str) -> None:
        """Keep and trace why the source cannot be reached, if the cause changed; empty for none."""
        context = self._context
        if reason == context.source_errors.get(mirror, ""):
            return
        if reason:
            context.source_errors[mirror] = reason
        else:
            del context.source_errors[mirror]
        text = f"cannot reach its source: {reason}" if reason else "reaches its source again"
        context.broker.outbox.note(f"mirror {mirror} {text}", SourceTrouble(mirror, reason))
        for mp in context.waiting_for(mirror):
            self._schedule_step(now, mp)


def _connection(configs: Mapping[str, str]) -> Mapping[str, str]:
    """Return the configs of a mirror whose change needs new connections, such as addresses and credentials."""
    return {
        name: value
        for name, value in configs.items()
        if name not in CONFIGS_WITHOUT_RECONNECT and not name.startswith("mirror.")
    }
