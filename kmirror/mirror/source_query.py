"""Queries to the source about a partition: the broker to send them to, and the lineage in a response."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.client.remote_cluster import RemoteCluster, RemoteLeader, code_of
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.log.epochs import EndOffset
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import NOTHING_KEPT
from kmirror.mirror.lineage import single_stretch
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_responses import DescribeResult
from kmirror.mirror.states import MirrorState
from kmirror.mirror.upstream import Upstream
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest


@dataclass(slots=True)
class SourceQuery:
    """Requests for one partition, to the broker that led it at the source when the query began."""

    context: MirrorContext
    mp: MirrorPartition
    state: MirrorState | None
    """The state in which a response is of use; None for any: then the partition does not wait for it."""
    source: RemoteCluster
    leader: RemoteLeader
    endpoint: Endpoint
    started_at: Instant
    topic_id: Uuid
    """The id that the source's topic had then, zeros if the source has no topic ids."""
    described_id: Uuid = Uuid.ZERO
    """The id of the topic in the response whose lineage was recorded, zeros if it has none."""
    kept: EndOffset = NOTHING_KEPT
    """The last epoch that the cut would leave in our log, and its end offset; set with the request for it (D25)."""

    @property
    def is_about_our_topic(self) -> bool:
        """Whether the response whose lineage was recorded is about the mirrored topic (D65).

        If not, the topic's id must be requested from the broker. Without topic ids no request is needed.
        """
        return self.topic_id in (Uuid.ZERO, self.described_id)

    def is_current(self) -> bool:
        """Return whether this broker still leads the partition, in the same leader epoch, mirror and state."""
        return self.context.is_present(self.mp) if self.state is None else self.context.is_current(self.mp, self.state)

    def has_current_source(self) -> bool:
        """Return whether the mirror still has the source of this query."""
        return self.context.sources.get(self.mp.assignment.mirror) is self.source

    def has_no_describe(self) -> bool:
        """Return whether the broker's versions are known and do not include DescribeMirrors.

        After a DescribeMirrors without a response the known versions are newer than that request (D76).
        """
        source, endpoint = self.source, self.endpoint
        return source.knows_versions(endpoint) and not source.supports(endpoint, DescribeMirrorsRequest)

    def response_error(self, result: DescribeResult | None) -> str:
        """Return why a response to DescribeMirrors is unusable: it is missing or an error; else empty."""
        if result is None:
            return f"the source did not respond to DescribeMirrors{self.source.connection_error_suffix(self.endpoint)}"
        code = result.error_code
        return f"the source returned {code_of(code).name} for DescribeMirrors" if code else ""

    def record_lineage(self, result: DescribeResult | None) -> str:
        """Record the lineage of the source's log, and where that is mirrored from; return the reason if that fails.

        A source that responds without lineages does not know mirroring: its own cluster wrote the whole log (D45).
        """
        mp = self.mp
        self.described_id = Uuid.ZERO if result is None else result.topic_id(mp.tp.topic)
        if result is None or not result.has_lineages:
            mp.source_lineage, mp.source_lineage_epoch = single_stretch(self.source.cluster_id or ""), self.leader.epoch
            self._assume_nothing_upstream()
            mp.lineage_is_assumed = result is None  # Else it cannot report more before it is upgraded.
            return ""
        row = result.lineage(mp.tp)
        if row is None:
            return "the source returned lineages of other logs, but not of this one"
        if row.error_code:
            return f"the source returned no lineage of the log: {code_of(row.error_code).name}"
        if row.leader_epoch < self.leader.epoch:
            return f"the source's broker {self.leader.broker_id} does not know leader epoch {self.leader.epoch} yet"
        stretches, upstream = result.stretches(row), result.upstream(row, self.started_at)
        if stretches is None or upstream is None:
            return "the source's lineage of the log lacks the id of a cluster"
        mp.upstream, mp.lineage_is_assumed = upstream, False
        mp.source_lineage, mp.source_lineage_epoch = stretches, row.leader_epoch
        self.source.record_leader(mp.tp, self.leader.broker_id, row.leader_epoch)
        return ""

    def record_upstream(self, result: DescribeResult | None) -> None:
        """Record where the source's log is mirrored from, unless the response is from an earlier leader epoch."""
        if result is None:
            if self.has_no_describe():
                self._assume_nothing_upstream()
                self.mp.lineage_is_assumed = True
            return
        row = result.lineage(self.mp.tp)
        if row is not None and not row.error_code and row.leader_epoch >= self.leader.epoch:
            self.mp.upstream = result.upstream(row, self.started_at) or self.mp.upstream

    def _assume_nothing_upstream(self) -> None:
        """Assume that a source that reports nothing about mirroring mirrored from none when the request was sent."""
        self.mp.upstream = Upstream(asked_at=self.started_at, ended_at=self.started_at)


def begin_query(context: MirrorContext, now: Instant, mp: MirrorPartition, state: MirrorState) -> SourceQuery | None:
    """Return a query to the source's leader; None, with the reason set at `mp`, if the leader is not known."""
    query = _query(context, now, mp, state)
    if query is None:
        mp.reason = "the source's leader is not known"
        context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
    return query


def background_query(context: MirrorContext, now: Instant, mp: MirrorPartition) -> SourceQuery | None:
    """Return a query for which the partition does not wait; None if the source's leader is not known."""
    return _query(context, now, mp, None)


def _query(context: MirrorContext, now: Instant, mp: MirrorPartition, state: MirrorState | None) -> SourceQuery | None:
    source = context.sources.get(mp.assignment.mirror)
    leader = None if source is None else source.leader(mp.tp)
    endpoint = None if source is None else source.leader_endpoint(mp.tp)
    if source is None or leader is None or endpoint is None:
        return None
    topic = source.topics.get(mp.tp.topic)
    topic_id = Uuid.ZERO if topic is None else topic.topic_id
    return SourceQuery(context, mp, state, source, leader, endpoint, now, topic_id)
