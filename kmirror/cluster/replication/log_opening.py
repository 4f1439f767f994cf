"""Opening of a partition's log: choice of the log directory, and removal of a log of an earlier topic."""

from __future__ import annotations

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.replication.changes import PartitionChanges
from kmirror.cluster.replication.log_configs import log_config
from kmirror.cluster.replication.log_recovery import LogRecovery, belongs_to_topic
from kmirror.errors import KmirrorError
from kmirror.kernel.clock import Instant
from kmirror.kernel.failures import DiskFailed
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk
from kmirror.log.log_dirs import UNASSIGNED
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.log.state_files import encode_partition_metadata
from kmirror.log.store import PARTITION_METADATA


class LogOpening:
    """Opens the logs of one broker."""

    def __init__(self, context: BrokerContext, changes: PartitionChanges) -> None:
        self._context = context
        self._changes = changes
        self.recovery = LogRecovery(context)

    def open(
        self, now: Instant, tp: TopicPartition, topic_id: Uuid, image: PartitionImage
    ) -> tuple[Disk, PartitionLog]:
        """Return the disk and log of a partition; raise DiskFailed if no log directory can open it."""
        recovered, disk = self.recovery.take_log(tp, topic_id), self._context.log_dirs.find(tp)
        if recovered is not None and disk is not None:
            recovered.config = self.log_config(tp.topic)
            return disk, recovered
        for disk in self._candidate_disks(tp, image):
            try:
                store = disk.open(tp)
                belongs = belongs_to_topic(store, topic_id)
                if belongs is False:
                    self._changes.renamed_dirs.append((disk, disk.set_aside(tp)))  # An earlier topic of this name.
                    store = disk.open(tp)
                if not belongs:
                    store.write_file(PARTITION_METADATA, encode_partition_metadata(topic_id))
                return disk, self.recovery.job(now, tp, disk, store).run()
            except (OSError, KmirrorError) as error:
                self._context.fail_disk(disk, f"cannot open {tp}", error)
        raise DiskFailed(f"no log directory takes {tp}")

    def _candidate_disks(self, tp: TopicPartition, image: PartitionImage) -> list[Disk]:
        """Return the directories to try for opening a log, in order.

        This is the directory that holds the log; else the one assigned by the controller; else, unless the log may be
        in an offline directory, all online ones with the fewest logs first (Partition.createLogInAssignedDirectoryId,
        LogManager.nextLogDirs).
        """
        log_dirs = self._context.log_dirs
        if (holder := log_dirs.find(tp)) is not None:
            return [holder]
        assigned_id = image.directory_of(self._context.node_id)
        if (assigned := log_dirs.find_by_id(assigned_id)) is not None:
            return [assigned]
        return [*log_dirs.sorted_by_load()] if assigned_id == UNASSIGNED or not log_dirs.offline else []

    def log_config(self, topic: str) -> LogConfig:
        """Return the LogConfig of a topic."""
        return log_config(self._context.image.configs.topic(topic), self._context.configs)
