"""MIRRORING: before a mirror fetches in a new leader epoch of its source, it asks who wrote the source's log (D45).

The source may have been cut and fed anew, by a failback, under epoch numbers that it had used itself. Fetches compare
numbers and would not notice. Whenever that happens the source's leader epoch rises before it appends anything foreign,
so every mirror of it is fenced and comes here.
"""

from __future__ import annotations

from kmirror.client.remote_cluster import RemoteLeader
from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.clock import Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import after_cut
from kmirror.mirror.inquiry import Inquiry, begin_inquiry, error_suffix
from kmirror.mirror.lineage import OWN, Lineage, shared_epoch
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NOT_SETTLED
from kmirror.mirror.state_writer import LookAt, StateWriter, StopFetching
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.message import Message


class LineageCheck:
    """Keeps the lineage of one broker's partitions that of their sources."""

    def __init__(
        self, context: MirrorContext, writer: StateWriter, look_at: LookAt, stop_fetching: StopFetching
    ) -> None:
        self._context = context
        self._writer = writer
        self._look_at = look_at
        self._stop_fetching = stop_fetching

    def shared_with_source(self, mp: MirrorPartition) -> int | None:
        """Return the last epoch that the log may have in common with the source's; None if all of it may."""
        return shared_epoch(self._context.writers_of(mp), mp.source_lineage)

    def adopted(self, mp: MirrorPartition, partition: Partition) -> Lineage:
        """Return the source's lineage, and the leader epoch from which on it is to hold here.

        That is the next one, which fences the mirrors of this log; the present one for a log without any past.
        """
        epoch = partition.leader_epoch
        if self.shared_with_source(mp) is None:
            return Lineage(mp.source_lineage, mp.lineage.since)
        untouched = mp.lineage == OWN and not mp.is_touched and epoch == 0 and partition.log.log_end_offset == 0
        return Lineage(mp.source_lineage, epoch if untouched else epoch + 1)

    def may_fetch(self, now: Instant, mp: MirrorPartition, leader: RemoteLeader) -> bool:
        """May `mp` be fetched in the source's present leader epoch? If not, do what is missing for it."""
        if mp.source_lineage_epoch < leader.epoch:
            self._ask(now, mp)
            return False
        shared = self.shared_with_source(mp)
        if shared is None:
            return True
        partition = self._context.replicas.led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        # Its leader may know by a divergence, and have nothing left to cut: a replica that was away does not (D30).
        self._stop_fetching(mp)
        self._context.note(mp, f"the source's log was written anew above epoch {shared}")
        self._writer.write_state(
            now,
            mp,
            MirrorState.MIRRORING,
            NOT_SETTLED,
            uncut=after_cut(mp.uncut, partition.image.replicas, shared),
            lineage=self.adopted(mp, partition),
        )
        return False

    def _ask(self, now: Instant, mp: MirrorPartition) -> None:
        inquiry = begin_inquiry(self._context, now, mp)
        if inquiry is not None:
            inquiry.describe(now, lambda later, reply: self._on_described(later, inquiry, reply))

    def _on_described(self, now: Instant, inquiry: Inquiry, reply: Message | None) -> None:
        mp = inquiry.mp
        if not inquiry.resumes(MirrorState.MIRRORING):
            return
        described = reply if isinstance(reply, DescribeMirrorsResponse) and not reply.error_code else None
        if described is None and not (reply is None and inquiry.has_no_describe()):
            reason = f"the source did not answer DescribeMirrors{error_suffix(reply)}"
        else:
            reason = inquiry.learn_lineage(described)
        if reason:
            self._context.refresh_soon(now, mp.assignment.mirror)
            self._context.retry_later(now, mp, reason)
        else:
            self._look_at(now, mp)
