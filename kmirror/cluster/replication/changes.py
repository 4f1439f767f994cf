"""What happened to the partitions of one broker during an event, for the parts that follow it once it was handled.

| method       | what happened                                         | who follows it                          |
|--------------|-------------------------------------------------------|-----------------------------------------|
| `touch`      | what a waiter waits for, or what the next fetch reads | `Purgatory.wake_waiters`, `on_progress` |
| `progressed` | a follower fetched, and nothing else                  | `on_progress`, by `wake_waiters`        |
| `grew`       | records were appended to a log, or its configs change | `LogManager.settle`                     |
| `appended`   | a leader's log grew                                   | all of them                             |
| `dropped`    | the folder of a partition was set aside               | `LogManager.settle`                     |
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.node.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.log.disk import Disk


class PartitionChanges:
    """The changes since each follower took them."""

    def __init__(self, partitions: Mapping[TopicPartition, Partition]) -> None:
        self._partitions = partitions
        self.moved: dict[TopicPartition, Partition | None] = {}
        """What moved, each with the partition whose waiters are looked at; None if only `on_progress` is called."""
        self.grown: dict[TopicPartition, None] = {}
        """The partitions whose logs grew."""
        self.dropped: list[tuple[Disk, str]] = []
        """The names under which partitions were set aside, each with its disk."""

    def touch(self, tp: TopicPartition) -> None:
        """Mark a partition as moved, for the next fetch and for the next `wake_waiters`."""
        partition = self.moved[tp] = self._partitions.get(tp)
        if partition is not None:
            partition.mark()

    def progressed(self, tp: TopicPartition) -> None:
        """Have the next `wake_waiters` call `on_progress`: a follower fetched, which no other fetch has to wait for."""
        self.moved.setdefault(tp, None)

    def grew(self, tp: TopicPartition) -> None:
        """Note that something was appended to the log of `tp`."""
        self.grown[tp] = None

    def appended(self, partition: Partition) -> None:
        """Follow an append to a led partition: the high watermark may rise, and waiters are looked at."""
        self.grown[partition.tp] = None
        self.moved[partition.tp] = partition
        if not partition.advance_high_watermark():  # Which marks the partition, as `touch` does.
            partition.mark()

    def flushed(self, partition: Partition) -> None:
        """Let what was flushed of a led partition count."""
        if partition.advance_high_watermark():
            self.touch(partition.tp)

    def take_grown(self) -> dict[TopicPartition, None]:
        """Return the partitions whose logs grew since the last call."""
        grown, self.grown = self.grown, {}
        return grown

    def take_dropped(self) -> list[tuple[Disk, str]]:
        """Return what was set aside since the last call."""
        dropped, self.dropped = self.dropped, []
        return dropped
