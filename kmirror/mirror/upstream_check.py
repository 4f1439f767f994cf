"""Knowledge of the clusters upstream at this broker: reports of it, and its refreshes (D58).

A partition asks its source when it begins to prepare or to fetch, together with the lineage. After that it asks only
when a mirror of this log asks for it.
"""

from __future__ import annotations

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import RETRY_MS, MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_query import SourceQuery, background_query
from kmirror.mirror.source_requests import SourceRequests
from kmirror.mirror.source_responses import DescribeResult
from kmirror.mirror.state_writer import ScheduleStep
from kmirror.mirror.states import FOLLOWING_STATES, MirrorState
from kmirror.mirror.upstream import Upstream, ring

REPORT_AGE_MAX_MS = RETRY_MS // 2
"""Maximum age of a report; an older one is refreshed from the source."""


def upstream_here(context: MirrorContext, now: Instant, tp: TopicPartition) -> Upstream:
    """Return the clusters upstream of a log that this broker leads; request a refresh of old knowledge."""
    mp = context.partitions.get(tp)
    if mp is None or not _follows_source(context, mp):
        return Upstream(asked_at=now, ended_at=now)
    source_id, known = context.source_cluster_id(mp.assignment.mirror), mp.upstream
    if known is None or now >= known.asked_at + REPORT_AGE_MAX_MS * MILLISECOND:
        context.request_upstream(now, tp)
    prepares = mp.state is MirrorState.PREPARING
    known = Upstream(is_complete=False, asked_at=now, ended_at=now) if known is None else known
    return known.with_source(now, source_id, context.broker.cluster_id, prepares=prepares)


def _follows_source(context: MirrorContext, mp: MirrorPartition) -> bool:
    """Return whether the log is mirrored, or will be without another request to the source.

    A broker in PREPARING without a response from its source may have taken over from one that was about to mirror.
    """
    if mp.state is not MirrorState.PREPARING:
        return mp.state in FOLLOWING_STATES
    source = context.sources.get(mp.assignment.mirror)
    has_responded = source is not None and source.cluster_id is not None
    return mp.reported_since is not None or (
        not has_responded and context.source_cluster_id(mp.assignment.mirror) != ""
    )


def ring_of(context: MirrorContext, mp: MirrorPartition) -> tuple[str, ...]:
    """Return the clusters of the ring in which a partition would be mirrored; nothing if there is none."""
    return ring(context.broker.cluster_id, context.source_cluster_id(mp.assignment.mirror), mp.upstream)


class UpstreamCheck:
    """Asks the sources of one broker's partitions for the clusters upstream of their logs."""

    def __init__(self, context: MirrorContext, source_requests: SourceRequests, schedule_step: ScheduleStep) -> None:
        self._context = context
        self._source_requests = source_requests
        self._schedule_step = schedule_step

    def send_requests(self, now: Instant) -> None:
        """Send a request for the partitions whose mirrors need it, unless a request is under way."""
        for mp in self._context.take_upstream_requests():
            query = background_query(self._context, now, mp)
            if query is None:
                self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            elif query.source.cluster_id != self._context.source_cluster_id(mp.assignment.mirror):
                pass  # Another cluster does not know where the log comes from (D16).
            elif mp.upstream_requested_from is not query.source:
                mp.upstream_requested_from = query.source
                self._source_requests.describe(query, self._on_described)

    def _on_described(self, now: Instant, query: SourceQuery, described: DescribeResult | None) -> None:
        mp = query.mp
        mp.upstream_requested_from = None
        before = mp.upstream
        query.record_upstream(described)
        after = mp.upstream
        if described is not None and mp.lineage_is_assumed:
            self._schedule_step(now, mp)  # It can report its lineage by now (D76).
        elif after is not None and (before is None or (before.clusters, before.waits) != (after.clusters, after.waits)):
            self._schedule_step(now, mp)  # A ring was closed or opened.
