"""Lineage check in MIRRORING, before a mirror fetches in a new leader epoch of its source (D45).

A failback may have cut the source and mirrored into it, under epoch numbers that it had used itself. Fetches compare
only the numbers and would not notice. Before a source appends anything from another cluster, its leader epoch rises, so
every mirror of it is fenced and checks the lineage again.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.client.remote_cluster import RemoteLeader
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import RETRY_MS, MirrorContext
from kmirror.mirror.cut_rules import FROM_SCRATCH
from kmirror.mirror.lineage import (
    OWN_LINEAGE,
    Lineage,
    adopt,
    begin_copy,
    is_copied_again,
    shared_epoch,
    with_copy_name,
)
from kmirror.mirror.log_cuts import effective_cut_epoch
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_query import SourceQuery, begin_query
from kmirror.mirror.source_requests import SourceRequests
from kmirror.mirror.source_responses import DescribeResult
from kmirror.mirror.state_writer import ScheduleStep, StateWriter, StopFetching
from kmirror.mirror.states import MirrorState
from kmirror.mirror.topic_check import NOT_CONFIRMED, is_confirmed
from kmirror.mirror.topic_ids import generated_topic_id
from kmirror.mirror.upstream import ring_reason
from kmirror.mirror.upstream_check import ring_of
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest


class LineageCheck:
    """Checks, and adopts, the lineages of the sources of one broker's partitions."""

    def __init__(
        self,
        context: MirrorContext,
        writer: StateWriter,
        source_requests: SourceRequests,
        schedule_step: ScheduleStep,
        stop_fetching: StopFetching,
    ) -> None:
        self._context = context
        self._writer = writer
        self._source_requests = source_requests
        self._schedule_step = schedule_step
        self._stop_fetching = stop_fetching

    def shared_with_source(self, mp: MirrorPartition) -> int | None:
        """Return the last epoch that our log can have in common with the source's; None if there is no limit.

        A log that follows a copy has nothing in common with the next one (D69). Before it follows, the offsets that are
        missing at the source decide (D64).
        """
        our_stretches = self._context.writers_of(mp.tp)
        if mp.state is MirrorState.MIRRORING and is_copied_again(our_stretches, mp.source_lineage, self._cluster_id):
            return FROM_SCRATCH
        return shared_epoch(our_stretches, self._context.source_writers_of(mp))

    def limit_by_lineage(self, mp: MirrorPartition, cut_epoch: int) -> int:
        """Return a cut epoch, or the last epoch that both logs have from the same cluster if that is lower (D45)."""
        shared = self.shared_with_source(mp)
        return cut_epoch if shared is None else min(cut_epoch, shared)

    def lineage_to_adopt(self, mp: MirrorPartition, partition: Partition, cut_epoch: int) -> Lineage:
        """Return the source's lineage, with the leader epoch from which on it holds here.

        That is the next epoch, which fences the mirrors of this log. It is the present one for a log that was never
        used, or if the lineage is not new to the mirrors. From scratch, by a cut or with an empty log, begins a copy of
        a compacted log (D69), and perhaps another topic if it has no id at the source (D53).
        """
        log, epoch = partition.log, partition.leader_epoch
        is_unused = mp.lineage == OWN_LINEAGE and not mp.is_touched and epoch == 0 and log.log_end_offset == 0
        valid_from_epoch = epoch if is_unused else epoch + 1
        begins_copy, source = cut_epoch < 0 or log.log_end_offset == 0, self._context.source_writers_of(mp)
        source_id = self._context.source_cluster_id(mp.assignment.mirror)
        is_named = begins_copy and mp.topic_id == generated_topic_id(source_id, mp.tp.topic)
        if is_named:
            source = with_copy_name(mp.source_lineage, source_id, self._cluster_id, valid_from_epoch)
        stretches = adopt(self._context.writers_of(mp.tp), source, self._cluster_id)
        if begins_copy and log.config.compact and not is_unused:
            return begin_copy(stretches, epoch, self._cluster_id)
        if not is_named and self.shared_with_source(mp) is None:
            return Lineage(stretches, mp.lineage.valid_from_epoch)
        return Lineage(stretches, valid_from_epoch)

    @property
    def _cluster_id(self) -> str:
        return self._context.broker.cluster_id

    def may_fetch(self, now: Instant, mp: MirrorPartition, leader: RemoteLeader) -> bool:
        """Return whether `mp` may be fetched in the source's present leader epoch; if not, do the next step."""
        if mp.upstream is None or mp.source_lineage_epoch < leader.epoch:
            self._request_lineage(now, mp)
            return False
        if mp.lineage_is_assumed and self._serves_describe(mp):  # It was upgraded in this leader epoch (D76).
            self._stop_fetching(mp)
            self._request_lineage(now, mp)
            return False
        clusters = ring_of(self._context, mp)
        if clusters and now >= mp.upstream.asked_at + RETRY_MS * MILLISECOND:
            self._context.request_upstream(now, mp.tp)
        if clusters and not mp.upstream.waits:  # An empty log closed it while another cluster was unreachable (D58).
            self._stop_fetching(mp)
            self._context.retry_later(now, mp, ring_reason(clusters))
            return False
        shared = self.shared_with_source(mp)
        if shared is None:
            return True
        partition = self._context.replicas.partitions.find_led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        # This leader may have been cut by a divergence already; a replica that was away then has not (D30).
        self._stop_fetching(mp)
        self._context.note(mp, f"the source's log was rewritten above epoch {shared}")
        epoch = effective_cut_epoch(partition.log, shared)
        self._writer.order_cut(now, mp, partition, epoch, lineage=self.lineage_to_adopt(mp, partition, epoch))
        return False

    def _serves_describe(self, mp: MirrorPartition) -> bool:
        """Return whether the source's leader is known to serve DescribeMirrors."""
        source = self._context.sources[mp.assignment.mirror]
        endpoint = source.leader_endpoint(mp.tp)
        return endpoint is not None and source.supports(endpoint, DescribeMirrorsRequest)

    def _request_lineage(self, now: Instant, mp: MirrorPartition) -> None:
        query = begin_query(self._context, now, mp, MirrorState.MIRRORING)
        if query is not None:
            self._source_requests.describe(query, self._on_described)

    def _on_described(self, now: Instant, query: SourceQuery, described: DescribeResult | None) -> None:
        mp = query.mp
        is_unsupported = described is None and query.has_no_describe()
        reason = ("" if is_unsupported else query.response_error(described)) or query.record_lineage(described)
        if reason:
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            self._context.retry_later(now, mp, reason)
        elif self.shared_with_source(mp) is not None and not query.is_about_our_topic:  # There will be a cut.
            self._source_requests.topic_ids(query, self._on_topic_ids)
        else:
            self._schedule_step(now, mp)

    def _on_topic_ids(self, now: Instant, query: SourceQuery, ids: Mapping[str, Uuid] | None) -> None:
        """Continue with the described lineage if it is that of our topic (D65)."""
        mp = query.mp
        if is_confirmed(query, ids):
            self._schedule_step(now, mp)
        else:
            mp.source_lineage_epoch = -1
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            self._context.retry_later(now, mp, NOT_CONFIRMED)
