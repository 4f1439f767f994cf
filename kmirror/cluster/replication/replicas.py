"""The replicas of one broker, kept in line with the metadata image; each of their tasks is a separate part."""

from __future__ import annotations

from collections.abc import Collection

from kmirror.cluster.component import Components
from kmirror.cluster.images import Delta, PartitionImage
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.appends import LeaderAppends
from kmirror.cluster.replication.assignments import DirectoryAssignments
from kmirror.cluster.replication.changes import PartitionChanges
from kmirror.cluster.replication.checkpoints import Checkpoints
from kmirror.cluster.replication.held_partitions import HeldPartitions
from kmirror.cluster.replication.log_opening import LogOpening
from kmirror.cluster.replication.purgatory import Purgatory
from kmirror.kernel.clock import Instant
from kmirror.kernel.failures import DiskFailed
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.wire_values import ResourceType


class ReplicaManager:
    """Creates, opens and drops the partitions of one broker according to the metadata image."""

    def __init__(self, context: BrokerContext, components: Components, assignments: DirectoryAssignments) -> None:
        self._context = context
        self._components = components
        self._assignments = assignments
        self.partitions = HeldPartitions(context)
        self.changes = PartitionChanges(self.partitions)
        self.purgatory = Purgatory(context, components, self.partitions, self.changes)
        self.appends = LeaderAppends(context, self.purgatory, self.changes)
        self.opening = LogOpening(context, self.changes)
        self.checkpoints = Checkpoints(context)

    def apply(self, now: Instant, delta: Delta) -> dict[TopicPartition, bool]:
        """Apply a change of the image: create and delete partitions, update leaderships and configs.

        Return the partitions whose leader epoch or leadership changed, each with True if this broker leads it now.
        """
        leaderships: dict[TopicPartition, bool] = {}
        for tp in delta.partitions:
            image, partition = self._context.image.topics.partition(tp), self.partitions.get(tp)
            if partition is not None and partition.topic_id in delta.topics_deleted.get(tp.topic, ()):
                self._drop(tp)  # Even if it exists again: a mirror recreates it with the same id (D49).
                leaderships[tp] = False
            if tp in self.partitions.offline and self.partitions.check_offline(tp):
                if tp in self.partitions:  # Its directory has just failed.
                    self._release(self.partitions.pop(tp))
                    leaderships[tp] = False
                continue
            if image is None or self._context.node_id not in image.replicas:
                if tp in self.partitions:
                    self._drop(tp)
                    leaderships[tp] = False
                continue
            led_before = tp in self.partitions and self.partitions[tp].is_leader
            try:
                has_changed = self._apply_partition(now, tp, image)
            except OSError as error:  # The other partitions must still be applied.
                self._context.fail_disk_of(tp, "cannot open", error)
                self.partitions.set_offline(tp)
                continue
            except DiskFailed:
                self.partitions.set_offline(tp)
                continue
            if has_changed or led_before != self.partitions[tp].is_leader:
                leaderships[tp] = self.partitions[tp].is_leader
            self.changes.mark_changed(tp)
        for kind, topic in delta.configs:
            if kind == ResourceType.TOPIC:
                self._apply_configs(topic)
        return leaderships

    def take_offline(self, log_dirs: Collection[str]) -> list[TopicPartition]:
        """Mark the partitions in failed log directories as offline, and return them.

        `apply` drops them, so that all readers of the change see it.
        """
        offline = [tp for tp, partition in self.partitions.items() if partition.log_dir in log_dirs]
        for tp in offline:
            self.partitions.set_offline(tp)
        return offline

    def _apply_configs(self, topic: str) -> None:
        config, min_insync_replicas = self.opening.log_config(topic), self.min_insync_replicas(topic)
        for tp in self._partitions_of_topic(topic):
            partition = self.partitions[tp]
            partition.log.config = config
            partition.notify_watchers()
            self.changes.mark_grown(tp)  # A flush may be due under the new configs.
            partition.min_insync_replicas = min_insync_replicas
            if partition.is_leader and partition.advance_high_watermark():
                self.changes.mark_changed(tp)

    def _partitions_of_topic(self, topic: str) -> list[TopicPartition]:
        """Return the partitions of a topic that this broker holds."""
        known = self._context.image.topics.get(topic)
        all_partitions = [] if known is None else [TopicPartition(topic, index) for index in known.partitions]
        return [tp for tp in all_partitions if tp in self.partitions]

    def _apply_partition(self, now: Instant, tp: TopicPartition, image: PartitionImage) -> bool:
        topic_id = self._context.image.topics[tp.topic].topic_id
        partition = self.partitions.get(tp)
        if partition is not None and partition.topic_id != topic_id:
            self._drop(tp)
            partition = None
        if partition is None:
            disk, log = self.opening.open(now, tp, topic_id, image)
            log.flushing.is_deferred = True  # Requests must not wait for a disk.
            log.track_unsaved(self.checkpoints.unsaved)
            partition = self.partitions[tp] = Partition(self._context.node_id, tp, topic_id, log, disk.log_dir)
            partition.min_insync_replicas = self.min_insync_replicas(tp.topic)
            self.changes.mark_grown(tp)
        changed = partition.apply(now, image)
        if image.directories:
            self._assignments.check(now, tp, topic_id, image)
        if partition.is_leader:
            if changed and not self._components.has_foreign_epochs(partition):
                self.appends.assign_epoch(partition)
            partition.advance_high_watermark()  # A member that held it back may have left the ISR.
        return changed

    def _drop(self, tp: TopicPartition) -> None:
        partition, disk = self.partitions.pop(tp), self._context.log_dirs.find(tp)
        if disk is not None:
            try:
                self.changes.renamed_dirs.append((disk, disk.set_aside(tp)))
            except OSError as error:  # Its directory stays, for a topic that no longer exists.
                self._context.fail_disk(disk, f"cannot set {tp} aside", error)
        self._release(partition)

    def _release(self, partition: Partition) -> None:
        """Release a partition that was removed from the table, and its waiters."""
        tp = partition.tp
        partition.log.track_unsaved(None)
        self.purgatory.fail_truncated_acks(tp, -1)  # The same image change may have a new topic of this name.
        partition.notify_watchers()
        for watcher in partition.watchers:
            self.purgatory.mark_dropped(watcher.parked_keys)
            watcher.on_dropped()
        self.changes.mark_changed(tp)

    def min_insync_replicas(self, topic: str) -> int:
        """Return the topic's `min.insync.replicas`; this broker need not have a replica of it."""
        configs = Configs(Scope.TOPIC, self._context.image.configs.topic(topic), self._context.configs)
        return configs.integer("min.insync.replicas")
