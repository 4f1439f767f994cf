"""Deletion of old segments by retention, and below the source's log start in mirrored logs.

In a mirrored log only segments below the source's log start are deleted.
"""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.cluster.component import Components
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.follower import ReplicaFetchers
from kmirror.cluster.replication.log_deletions import LogDeletions, PurgeSegments
from kmirror.kernel.clock import Instant, to_ms


class LogRetention:
    """Renames old segments of one broker's logs for deletion."""

    def __init__(
        self, context: BrokerContext, components: Components, fetchers: ReplicaFetchers, deletions: LogDeletions
    ) -> None:
        self._context = context
        self._components = components
        self._fetchers = fetchers
        self._deletions = deletions
        self.cleaning: Partition | None = None
        """The partition being compacted; its segments are kept until that ends."""

    def is_mirrored(self, partition: Partition) -> bool:
        """Return whether another cluster determines the log's content; a follower learns from its leader when that
        ends."""
        if not self._components.has_foreign_epochs(partition):
            return False
        return partition.is_leader or not self._fetchers.knows_local_epochs(partition.tp)

    def delete_old_segments(self, now: Instant, partitions: Iterable[Partition]) -> None:
        """Rename the segments that are old by their logs' configs, and schedule their deletion."""
        now_ms = to_ms(now)
        for partition in partitions:
            log = partition.log
            if partition is self.cleaning or not log.has_old_segments(now_ms):
                continue
            disk, before = self._context.log_dirs.find(partition.tp), log.log_start_offset
            try:
                base_offsets = log.set_aside_old_segments(now_ms, is_mirrored=self.is_mirrored(partition))
            except OSError as error:
                self._context.fail_disk(disk, f"old segments of {partition.tp} cannot be renamed", error)
                continue
            if base_offsets and disk is not None:
                partition.notify_watchers()
                text = f"{partition.tp} deletes {len(base_offsets)} segments"
                self._context.outbox.note(f"{text}, log start {log.log_start_offset} (was {before})")
                self._deletions.schedule(
                    now, log.config.file_delete_delay_ms, PurgeSegments(disk, log.store, base_offsets)
                )
                self._fetchers.on_log_changed(partition.tp)
