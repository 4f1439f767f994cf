"""The syncs of one mirror, run by its coordinator every `mirror.metadata.refresh.interval.ms`, without overlap.

The metadata of the source's topics is known when a cycle begins (`source_refresh.py`). Each sync is a conversation of
its own, and groups have one for each broker of the source, so that a sync that hangs delays no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.group_coordinators import GroupCoordinators
from kmirror.mirror.sync_errors import SyncKind
from kmirror.mirror.syncs import deleted_topics, topics
from kmirror.mirror.syncs.group_script import GroupSync
from kmirror.mirror.syncs.mirror_view import MirrorView
from kmirror.mirror.syncs.report import Reports
from kmirror.mirror.syncs.scripts import Script, ScriptRun
from kmirror.mirror.syncs.source_configs import ResponseCache
from kmirror.mirror.syncs.topic_scripts import create_and_grow, remove_deleted_topics, sync_configs

TOPICS = "topics"
OnEnd = Callable[[Instant], None]
NO_CONFIGS: Mapping[str, Mapping[str, str]] = {}


class SyncCycle:
    """The syncs from one source of one mirror."""

    def __init__(
        self,
        context: MirrorContext,
        mirror: str,
        source: RemoteCluster,
        reports: Reports,
        groups: GroupCoordinators,
    ) -> None:
        self.source = source
        self._context = context
        self._mirror = mirror
        self._groups = groups
        self._view = MirrorView(context, mirror, source)
        self._reports = reports
        self._under_way: dict[str, None] = {}
        """The syncs that have not ended."""
        self._missing: dict[str, int] = {}
        """Topic to the number of cycles in which the source did not have it."""
        self._known_configs = ResponseCache()
        self._has_new_topics = False
        """True if a topic must be created or get partitions, and the sync under way does not include it."""

    def on_topics(self, now: Instant, names: Iterable[str]) -> None:
        """Create topics or add partitions, if one of these topics, whose metadata was just refreshed, needs it."""
        view = self._view
        if not view.halt_reason():
            self._has_new_topics = self._has_new_topics or any(
                topic.is_behind(view.source_id) for topic in view.facts(names)
            )
            self._sync_new_topics(now)

    def run(self, now: Instant) -> None:
        """Begin a cycle; a sync of the last one that has not ended yet continues instead."""
        view = self._view
        reason = view.halt_reason()
        self._reports.report(SyncKind.METADATA, "source", {"its source": reason} if reason else {})
        if reason:
            return
        facts = view.facts(view.to_be_mirrored())
        shrunk = topics.plan(facts, view.mirror, view.source_id, NO_CONFIGS).problems
        self._reports.report(SyncKind.METADATA, "partitions", {f"topic {name}": text for name, text in shrunk.items()})
        self._missing = deleted_topics.count_missing(self._missing, facts)
        self._begin(now, "configs", sync_configs(view, self._reports, self._known_configs))
        self._begin(now, "deleted topics", remove_deleted_topics(view, self._reports, self._missing))
        for broker_id, endpoint in self.source.brokers.items():
            sync = GroupSync(view, self._reports, broker_id, endpoint, self._groups.leader_of)
            self._begin(now, f"groups of broker {broker_id}", sync.script(), partial(self._after_groups, sync))

    def _after_groups(self, sync: GroupSync, now: Instant) -> None:
        if sync.lacks_coordinator:
            self._groups.ensure(now)

    def _sync_new_topics(self, now: Instant) -> None:
        if not self._has_new_topics or TOPICS in self._under_way:
            return
        self._has_new_topics = False
        unanswered: list[str] = []
        self._begin(
            now, TOPICS, create_and_grow(self._view, self._reports, unanswered), partial(self._after_topics, unanswered)
        )

    def _after_topics(self, unanswered: list[str], now: Instant) -> None:
        if not self._view.is_current():
            return
        if unanswered:
            self._context.refresh_soon(now, self._mirror, *unanswered)
        self._sync_new_topics(now)

    def _begin(self, now: Instant, sync_name: str, script: Script, after: OnEnd = lambda now: None) -> None:
        if sync_name in self._under_way:
            script.close()
            return
        self._under_way[sync_name] = None

        def on_end(later: Instant) -> None:
            self._under_way.pop(sync_name, None)
            after(later)

        name = f"the sync of {sync_name} in mirror {self._mirror}"
        ScriptRun(self._context, self.source, name, script, is_wanted=self._view.is_current, on_end=on_end).begin(now)
