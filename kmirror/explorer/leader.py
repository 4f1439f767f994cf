"""Engine objects for the leader of a cluster, which decide D30 and D35 here as in the engine.

Replica `place` of a cluster is broker `place` here, so the leader is broker 0. The persisted list and the state are in
a `MirrorPartition`; the leader's knowledge of its followers is in a `Partition`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import NO_REPLICAS, UNKNOWN_OFFSET, Follower, Partition
from kmirror.explorer.cluster import CUT, IDLE, NOT_LISTED, Cluster, Replica
from kmirror.explorer.logs import ModelLog
from kmirror.kernel.empty_table import EMPTY
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.cut_rules import SESSION, Uncut
from kmirror.mirror.naming import Assignment
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import MirrorState, Wish
from kmirror.mirror.uncut_replicas import apply_uncut

if TYPE_CHECKING:
    from kmirror.log.partition_log import PartitionLog

TP = TopicPartition("t", 0)
ASSIGNMENT = Assignment("m", Wish.MIRROR)
NOW = 0


class LeaderLog:
    """The leader's log as the engine uses it: a model log, and the HW."""

    __slots__ = ("epochs", "high_watermark", "log_end_offset")
    log_start_offset = 0
    is_flush_due = False

    def __init__(self, log: ModelLog, high_watermark: int) -> None:
        self.epochs = log.epochs
        self.log_end_offset = log.log_end_offset
        self.high_watermark = high_watermark

    @property
    def segments(self) -> LeaderLog:
        return self

    @property
    def end_offset(self) -> int:
        return self.log_end_offset

    def update_high_watermark(self, offset: int) -> int:
        self.high_watermark = max(self.high_watermark, offset)
        return self.high_watermark


class Leader:
    """The leader of one cluster, built from engine objects; `apply_to` returns its state."""

    def __init__(self, cluster: Cluster, log: ModelLog, ends: list[int], *, is_new: bool = False) -> None:
        """Start in the state of `cluster`; a new leader has read only the persisted list, and requires all its cuts."""
        self.log = LeaderLog(log, cluster.hw)
        self.partition = Partition(0, TP, Uuid.ZERO, cast("PartitionLog", self.log))
        isr, followers, unconfirmed = [], {}, {}
        for place, replica in enumerate(cluster.replicas):
            if replica.in_isr:
                isr.append(place)
            if place:
                followers[place] = Follower(ends[replica.log] if replica.leo_is_known else UNKNOWN_OFFSET)
                if replica.must_cut and not is_new:
                    unconfirmed[place] = replica.listed_cut
        places = tuple(range(len(cluster.replicas)))
        self.partition.image = PartitionImage(places, tuple(isr), 0, cluster.epoch, 0)
        self.partition.followers = followers
        # The start of the epoch is not in the model: until the whole ISR has fetched, it counts as the LEO.
        self.partition.epoch_start_offset = 0 if cluster.knows_all_leos else self.log.log_end_offset
        self.mp = MirrorPartition(TP, Uuid.ZERO, ASSIGNMENT, cluster.state, cluster.lme)
        if cluster.state is MirrorState.PREPARING and cluster.phase != IDLE:
            self.mp.cut_epoch = cluster.cut_epoch
            self.mp.cut_at = self.log.log_end_offset if cluster.phase == CUT else None
        apply_uncut(self.mp, self.partition, cluster.uncut)
        if not is_new:
            self.partition.required_cuts = unconfirmed or EMPTY

    def disable_list(self) -> None:
        """Require no truncation and admit all replicas, for rules by which the list is not in force."""
        self.partition.required_cuts, self.partition.barred_from_isr = EMPTY, NO_REPLICAS

    def persist(self, uncut: Uncut) -> None:
        """Set the persisted list."""
        apply_uncut(self.mp, self.partition, uncut)

    def enter_epoch(self, epoch: int) -> None:
        """Continue as leader in a later epoch, and read the persisted state again."""
        state, uncut = self.mp.state, self.mp.uncut
        image = self.partition.image
        self.partition.apply(NOW, replace(image, leader_epoch=epoch, partition_epoch=image.partition_epoch + 1))
        self.mp = self.mp.for_new_leader()
        self.mp.state = state
        apply_uncut(self.mp, self.partition, uncut)

    def updated_cluster(self, cluster: Cluster) -> Cluster:
        """Return the cluster with the leader's current knowledge: the list, and the replicas that have confirmed."""
        replicas = tuple(self._replica(place, replica) for place, replica in enumerate(cluster.replicas))
        return cluster._replace(replicas=replicas, session=self.mp.uncut.get(SESSION, NOT_LISTED))

    def _replica(self, place: int, replica: Replica) -> Replica:
        listed_cut = self.mp.uncut.get(place, NOT_LISTED)
        if place == 0:
            return Replica(replica.log, replica.in_isr, True, False, listed_cut)
        has_confirmed = listed_cut != NOT_LISTED and place not in self.partition.required_cuts
        leo_is_known = self.partition.followers[place].log_end != UNKNOWN_OFFSET
        return Replica(replica.log, replica.in_isr, leo_is_known, has_confirmed, listed_cut)
