"""PREPARING: ask the source how far it knows us, cut to that, wait until every replica is cut (D11).

The source's leader of the partition is asked through DescribeMirrors, under the same mirror name.
What it says counts only if it still leads afterwards in the same epoch: a broker reports just the
partitions that it leads, so silence from a former leader would look like "nothing is known", and
the whole log would be cut for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Note
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source import SourceLeader
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse, PartitionDetail
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.partition import Partition
    from kmirror.mirror.component import MirrorComponent
    from kmirror.mirror.source import SourceCluster

DESCRIBE_MIRRORS = 99
FROM_SCRATCH = -1


class Preparing:
    """Carries one broker's partitions through PREPARING; every step may be repeated."""

    def __init__(self, component: MirrorComponent) -> None:
        self._component = component
        self._broker = component.broker

    def act(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Do the next step that is not done yet."""
        if mp.cut_at is None:
            self._ask(now, mp)
        elif self._all_cut(mp, partition):
            self._component.transition(now, mp, MirrorState.MIRRORING)

    def _ask(self, now: Instant, mp: MirrorPartition) -> None:
        source = self._component.sources.get(mp.assignment.mirror)
        leader = None if source is None else source.leaders.get(mp.tp)
        endpoint = None if source is None else source.leader_endpoint(mp.tp)
        if source is None or leader is None or endpoint is None:
            mp.reason = "the source's leader is not known"
            self._component.refresh_soon(now, mp.assignment.mirror)
            return
        mp.busy = True
        asked = leader
        request = DescribeMirrorsRequest(mirror_names=[mp.assignment.mirror])

        def on_reply(later: Instant, reply: Message | None) -> None:
            if not self._component.is_current(mp, MirrorState.PREPARING):
                return
            mp.busy = False
            if reply is None and source.knows_versions(endpoint) and not source.supports(endpoint, DESCRIBE_MIRRORS):
                self._broker.effects.append(
                    Note(f"{mp.tp} the source has no DescribeMirrors: mirroring from scratch, no delta failback")
                )
                self._cut(later, mp, FROM_SCRATCH)
            else:
                self._on_described(later, mp, source, asked, reply)

        source.send(now, endpoint, "describe", request, on_reply)

    def _on_described(
        self, now: Instant, mp: MirrorPartition, source: SourceCluster, asked: SourceLeader, reply: Message | None
    ) -> None:
        if not isinstance(reply, DescribeMirrorsResponse) or reply.error_code:
            self._component.refresh_soon(now, mp.assignment.mirror)
            self._component.retry_later(now, mp, "the source did not answer DescribeMirrors")
            return
        found = _find(reply, mp)
        if found is None:
            self._confirm_leader(now, mp, source, asked)
        elif found.state == MirrorState.UNKNOWN.name:
            self._component.retry_later(now, mp, "the source has not loaded its own state yet")
        else:
            self._ask_whose(now, mp, source, found)

    def _ask_whose(self, now: Instant, mp: MirrorPartition, source: SourceCluster, found: PartitionDetail) -> None:
        """Is the source's mirror of this name a mirror of *us*? Only then does its epoch speak of our log."""
        endpoint = source.leader_endpoint(mp.tp)
        if endpoint is None:
            self._component.retry_later(now, mp, "the source's leader moved")
            return
        mp.busy = True

        def on_reply(later: Instant, reply: Message | None) -> None:
            if not self._component.is_current(mp, MirrorState.PREPARING):
                return
            mp.busy = False
            if not isinstance(reply, ListMirrorsResponse) or reply.error_code:
                self._component.retry_later(later, mp, "the source did not answer ListMirrors")
                return
            theirs = [row.source_cluster_id for row in reply.mirrors if row.mirror_name == mp.assignment.mirror]
            ours = not theirs or theirs[0] in ("", self._broker.cluster_id)
            if not ours:
                self._cut(later, mp, FROM_SCRATCH)  # A chain: the name is the same, the source is not us.
            elif found.state == MirrorState.STOPPED.name:
                self._cut(later, mp, found.last_mirror_epoch)
            else:
                # Two clusters that mirror each other would each cut what only the other has.
                reason = f"the source still mirrors this topic from us ({found.state}): remove it there first"
                self._component.retry_later(later, mp, reason)

        source.send(now, endpoint, "describe", ListMirrorsRequest(), on_reply)

    def _confirm_leader(
        self, now: Instant, mp: MirrorPartition, source: SourceCluster, asked: SourceLeader
    ) -> None:
        """The source's leader knows nothing of us, if it is the leader."""
        mp.busy = True

        def on_refreshed(later: Instant, answered: bool) -> None:
            if not self._component.is_current(mp, MirrorState.PREPARING):
                return
            mp.busy = False
            still = self._component.sources.get(mp.assignment.mirror) is source
            if answered and still and source.leaders.get(mp.tp) == asked:
                self._cut(later, mp, FROM_SCRATCH)
            else:
                self._component.retry_later(later, mp, "the source's leader moved")

        self._component.refresh_then(now, mp.assignment.mirror, on_refreshed)

    def _cut(self, now: Instant, mp: MirrorPartition, epoch: int) -> None:
        """Cut at the first local epoch above `epoch`, or everything if the source never mirrored us."""
        partition = self._broker.replicas.led(mp.tp)
        if partition is None:
            return
        log = partition.log
        end = log.log_end_offset
        if epoch < 0:
            if end > 0:
                self._component.note_cut(mp, log.log_start_offset, end, "no LME")
                self._broker.replicas.restart_at(now, partition, 0)
        else:
            entry = log.epochs.first_after(epoch)
            offset = end if entry is None else min(entry.start_offset, end)
            self._component.note_cut(mp, offset, end, f"LME {epoch}")
            self._broker.replicas.cut(now, partition, offset)
        mp.cut_at = log.log_end_offset
        self._broker.replicas.touch(mp.tp)

    def _all_cut(self, mp: MirrorPartition, partition: Partition) -> bool:
        """Are all who must be cut? With unclean elections supported that is every assigned replica."""
        topic = mp.tp.topic
        configs = Configs(Scope.TOPIC, self._broker.image.topic_config(topic), self._broker.configs)
        isr = partition.isr
        if configs.flag("mirror.support.unclean.leader.election"):
            missing = [b for b in partition.image.replicas if b not in isr]
            if missing:
                mp.reason = f"replicas {missing} are not in the ISR"
                return False
        if len(isr) < partition.min_isr:
            mp.reason = f"ISR {list(isr)} is smaller than min.insync.replicas"
            return False
        assert mp.cut_at is not None, "asked after the cut"
        if not partition.is_cut_everywhere(mp.cut_at, isr):
            mp.reason = f"not every member of ISR {list(isr)} is cut to {mp.cut_at}"
            return False
        return True


def _find(reply: DescribeMirrorsResponse, mp: MirrorPartition) -> PartitionDetail | None:
    """Return what the source says of the partition under our mirror's name, or None."""
    for mirror in reply.mirrors:
        if mirror.mirror_name != mp.assignment.mirror or mirror.error_code == ErrorCode.UNKNOWN_MIRROR:
            continue
        for topic in mirror.topics:
            if topic.topic_name != mp.tp.topic:
                continue
            for detail in topic.partitions:
                if detail.partition_index == mp.tp.partition:
                    return detail
    return None
