"""MIRRORING: before a mirror fetches in a new leader epoch of its source, it asks who wrote the source's log (D45).

The source may have been cut and fed anew, by a failback, under epoch numbers that it had used itself. Fetches compare
numbers and would not notice. Whenever that happens the source's leader epoch rises before it appends anything foreign,
so every mirror of it is fenced and comes here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.client.remote_cluster import RemoteLeader
from kmirror.kernel.clock import Instant
from kmirror.mirror.cutting import after_cut
from kmirror.mirror.inquiry import Inquiry, because, begin_inquiry
from kmirror.mirror.lineage import OWN, Lineage, Stretches, shared_epoch, written_by
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NOT_SETTLED
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.message import Message

if TYPE_CHECKING:
    from kmirror.cluster.replication.partition import Partition
    from kmirror.mirror.component import MirrorComponent


class Kinship:
    """Keeps the lineage of one broker's partitions that of their sources."""

    def __init__(self, component: MirrorComponent) -> None:
        self._component = component
        self._broker = component.broker

    def of(self, mp: MirrorPartition | None) -> Stretches:
        """Return who wrote the log of a partition that this broker leads."""
        known = OWN if mp is None else mp.lineage
        return known.stretches or written_by(self._broker.cluster_id)

    def shared_with_source(self, mp: MirrorPartition) -> int | None:
        """Return the last epoch that the log may have in common with the source's; None if all of it may."""
        return shared_epoch(self.of(mp), mp.source_lineage)

    def adopted(self, mp: MirrorPartition, partition: Partition) -> Lineage:
        """Return the source's lineage, and the leader epoch from which on it is to hold here.

        That is the next one, which fences the mirrors of this log; the present one for a log without any past.
        """
        epoch = partition.leader_epoch
        if self.shared_with_source(mp) is None:
            return Lineage(mp.source_lineage, mp.lineage.since)
        untouched = mp.lineage == OWN and not mp.is_touched and epoch == 0 and partition.log.log_end_offset == 0
        return Lineage(mp.source_lineage, epoch if untouched else epoch + 1)

    def is_settled(self, now: Instant, mp: MirrorPartition, leader: RemoteLeader) -> bool:
        """May `mp` be fetched in the source's present leader epoch? If not, do what is missing for it."""
        if mp.source_lineage_epoch < leader.epoch:
            self._ask(now, mp)
            return False
        shared = self.shared_with_source(mp)
        if shared is None:
            return True
        partition = self._broker.replicas.led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        # Its leader may know by a divergence, and have nothing left to cut: a replica that was away does not (D30).
        self._component.fetchers.remove(mp)
        self._component.note(mp, f"the source's log was written anew above epoch {shared}")
        self._component.write_state(
            now,
            mp,
            MirrorState.MIRRORING,
            NOT_SETTLED,
            uncut=after_cut(mp.uncut, partition.image.replicas, shared),
            lineage=self.adopted(mp, partition),
        )
        return False

    def _ask(self, now: Instant, mp: MirrorPartition) -> None:
        inquiry = begin_inquiry(self._component, now, mp)
        if inquiry is not None:
            inquiry.describe(now, lambda later, reply: self._on_described(later, inquiry, reply))

    def _on_described(self, now: Instant, inquiry: Inquiry, reply: Message | None) -> None:
        mp = inquiry.mp
        if not self._component.resumes(inquiry, MirrorState.MIRRORING):
            return
        told = reply if isinstance(reply, DescribeMirrorsResponse) and not reply.error_code else None
        if told is None and not (reply is None and inquiry.has_no_describe()):
            reason = f"the source did not answer DescribeMirrors{because(reply)}"
        else:
            reason = inquiry.learn_lineage(told)
        if reason:
            self._component.refresh_soon(now, mp.assignment.mirror)
            self._component.retry_later(now, mp, reason)
        else:
            self._component.look_at(now, mp)
