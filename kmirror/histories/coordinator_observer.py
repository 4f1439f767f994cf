"""Observation of coordinators: elections of their partitions, and groups' offsets."""

from __future__ import annotations

from kmirror.cluster.images import NO_LEADER, MetadataImage, PartitionImage
from kmirror.histories.group_account import GroupOffsets, LostCoordinatorLog
from kmirror.histories.scene import Scene
from kmirror.histories.transaction_observer import TransactionObserver
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.spec.topics import GROUP_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC


class CoordinatorObserver:
    """Records elections of coordinators' partitions and committed offsets."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._transactions = TransactionObserver(scene)
        self.after_event = self._transactions.after_event
        self._known: dict[tuple[str, TopicPartition], PartitionImage] = {}
        self._ids: dict[tuple[str, str], Uuid] = {}

    def record_elections(self, cluster: str, image: MetadataImage) -> None:
        """Record which partitions of coordinators had an unclean election, or were deleted with their topic."""
        scene = self._scene
        for name in (GROUP_TOPIC, TRANSACTION_TOPIC, MIRROR_STATE_TOPIC):
            topic = image.topics.get(name)
            self._record_deletion(cluster, name, Uuid.ZERO if topic is None else topic.topic_id)
            for index, partition in topic.partitions.items() if topic is not None else ():
                tp = TopicPartition(name, index)
                before = self._known.get((cluster, tp))
                self._known[cluster, tp] = partition
                if before is None or before.leader_epoch == partition.leader_epoch:
                    continue
                if is_unclean(before, partition):
                    scene.account.groups.lost_logs.append(LostCoordinatorLog(cluster, tp, scene.now))
                    if name == TRANSACTION_TOPIC:
                        self._transactions.on_unclean_election(cluster, tp, partition.leader_epoch)

    def _record_deletion(self, cluster: str, name: str, topic_id: Uuid) -> None:
        if self._ids.setdefault((cluster, name), topic_id) == topic_id:
            return
        self._ids[cluster, name] = topic_id
        for tp in [tp for name_of_cluster, tp in self._known if (name_of_cluster, tp.topic) == (cluster, name)]:
            del self._known[cluster, tp]
            self._scene.account.groups.lost_logs.append(LostCoordinatorLog(cluster, tp, self._scene.now))

    def record_offsets(self) -> None:
        """Record the committed offsets of every group that was seen, in each cluster."""
        scene = self._scene
        groups = scene.account.groups
        for cluster in scene.clusters:
            committed = scene.committed_offsets(cluster)
            unstable = scene.pending_offsets(cluster)
            for group in dict.fromkeys(row.group for row in groups.sent_offsets.values()):
                offsets = {tp: (row[0], row[2]) for (name, tp), row in committed.items() if name == group}
                waiting = tuple(tp for name, tp in unstable if name == group)
                now = scene.now
                groups.offsets.append(GroupOffsets(group, cluster, None, offsets, waiting, True, now, now))


def is_unclean(before: PartitionImage, after: PartitionImage) -> bool:
    """Return whether the leader was elected from outside the ISR and the eligible leader replicas (KIP-966).

    If all replicas died right after an election, the only trace is an ISR, or eligible replicas, without a former
    member.
    """
    electable_before, electable_after = (*before.isr, *before.eligible), (*after.isr, *after.eligible)
    is_outside = after.leader != NO_LEADER and after.leader not in electable_before
    return is_outside or (bool(electable_after) and not any(member in electable_before for member in electable_after))
