"""The sources of one broker's mirrors: when they are connected to, and when their metadata is refreshed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kmirror.client.remote_cluster import Changes, RemoteCluster, parse_servers
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.mirror.configs import BOOTSTRAP_SERVERS, mirror_configs, mirror_names
from kmirror.mirror.context import NAME, REFRESH_TIMER, RETRY_MS, MirrorContext
from kmirror.mirror.state_writer import StopFetching

OnRefreshed = Callable[[Instant, str, RemoteCluster, Changes], None]
"""(now, mirror, its source, what its answer changed), called after the source has answered."""


class SourceRefresh:
    """Keeps the sources of one broker's mirrors, and what is known of them, up to date."""

    def __init__(self, context: MirrorContext, stop_fetching: StopFetching, on_refreshed: OnRefreshed) -> None:
        self._context = context
        self._stop_fetching = stop_fetching
        self._on_refreshed = on_refreshed

    def apply_mirrors(self, now: Instant) -> None:
        """Follow mirrors that were created, altered or deleted: connect to the sources in their configs."""
        context, image = self._context, self._context.broker.image
        names = mirror_names(image)
        for gone in [m for m in context.sources if m not in names]:
            del context.sources[gone]
        for mirror in names:
            configs = mirror_configs(image, mirror)
            assert configs is not None, f"mirror {mirror} is in the image"
            servers, timeout_ms = parse_servers(configs.text(BOOTSTRAP_SERVERS)), configs.integer("request.timeout.ms")
            known = context.sources.get(mirror)
            if known is not None and known.servers == servers:
                known.timeout_ms = timeout_ms
                continue
            context.sources[mirror] = RemoteCluster(
                f"mirror-{mirror}",
                context.broker.requester,
                servers,
                timeout_ms=timeout_ms,
                on_refreshed=partial(self._on_answer, mirror),
            )
            if known is not None:  # The servers are new: fetching goes on once their metadata is known.
                for mp in context.partitions_of(mirror):
                    self._stop_fetching(mp)
                context.refresh_soon(now, mirror)

    def on_timer(self, now: Instant, mirror: str) -> None:
        """Refresh the metadata of the mirror's topics: all of them for its coordinator, else those led here."""
        context = self._context
        source = context.sources.get(mirror)
        if source is None or source.refreshing:
            return
        context.refresh_from[mirror] = now + RETRY_MS * MILLISECOND
        topics = context.topics_of(mirror) if context.coordinates(mirror) else context.led_topics_of(mirror)
        if topics:
            source.refresh(now, topics)

    def _on_answer(self, mirror: str, now: Instant, changes: Changes | None) -> None:
        broker = self._context.broker
        interval = broker.configs.integer("mirror.metadata.refresh.interval.ms") if changes is not None else RETRY_MS
        broker.outbox.set_timer((NAME, REFRESH_TIMER, mirror), now + interval * MILLISECOND)
        source = self._context.sources.get(mirror)
        if source is not None and changes is not None:
            self._on_refreshed(now, mirror, source, changes)
