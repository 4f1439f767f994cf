"""Changes of one broker's partitions during an event, for the parts that react to them after the event.

| member          | change                                                 | read by                                 |
|-----------------|--------------------------------------------------------|-----------------------------------------|
| `mark_changed`  | something a waiter waits for, or the next fetch reads  | `Purgatory.wake_waiters`, `on_progress` |
| `mark_fetched`  | a follower fetched, and nothing else                   | `on_progress`, by `wake_waiters`        |
| `mark_grown`    | records were appended to a log, or its configs changed | `LogManager.settle`                     |
| `mark_appended` | a leader's log grew                                    | all of them                             |
| `renamed_dirs`  | a partition's directory was renamed for deletion       | `LogManager.settle`                     |
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.node.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.log.disk import Disk


class PartitionChanges:
    """Changes not yet taken by each reader."""

    def __init__(self, partitions: Mapping[TopicPartition, Partition]) -> None:
        self._partitions = partitions
        self.changed: dict[TopicPartition, Partition | None] = {}
        """Changed partitions; the value is the partition whose waiters must be checked, None to call only
        `on_progress`."""
        self.grown_logs: dict[TopicPartition, None] = {}
        """Partitions whose logs grew."""
        self.renamed_dirs: list[tuple[Disk, str]] = []
        """Directories renamed for deletion: (disk, new name)."""

    def mark_changed(self, tp: TopicPartition) -> None:
        """Mark a partition as changed, for the next fetch and the next `wake_waiters`."""
        partition = self.changed[tp] = self._partitions.get(tp)
        if partition is not None:
            partition.notify_watchers()

    def mark_fetched(self, tp: TopicPartition) -> None:
        """Make the next `wake_waiters` call `on_progress`: a follower fetched, and no other fetch waits for that."""
        self.changed.setdefault(tp, None)

    def mark_grown(self, tp: TopicPartition) -> None:
        """Record that the log of `tp` grew."""
        self.grown_logs[tp] = None

    def mark_appended(self, partition: Partition) -> None:
        """Record an append to a led partition: the high watermark may rise, and waiters will be checked."""
        self.grown_logs[partition.tp] = None
        self.changed[partition.tp] = partition
        if not partition.advance_high_watermark():  # It marks the partition if it returns True.
            partition.notify_watchers()

    def mark_flushed(self, partition: Partition) -> None:
        """Raise the high watermark after a flush of a led partition."""
        if partition.advance_high_watermark():
            self.mark_changed(partition.tp)

    def take_grown_logs(self) -> dict[TopicPartition, None]:
        """Return and clear the partitions whose logs grew."""
        grown_logs, self.grown_logs = self.grown_logs, {}
        return grown_logs

    def take_renamed_dirs(self) -> list[tuple[Disk, str]]:
        """Return and clear the directories renamed for deletion."""
        renamed_dirs, self.renamed_dirs = self.renamed_dirs, []
        return renamed_dirs
