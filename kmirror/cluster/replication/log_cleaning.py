"""Log compaction: one log at a time, the dirtiest first, chosen like Kafka's LogCleaner and LogCleanerManager.

Mirrored logs are compacted like any other, except by a leader that is about to truncate the log (D46).
"""

from __future__ import annotations

from kmirror.cluster.component import Components
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.facts import LogCompacted
from kmirror.cluster.replication.held_partitions import HeldPartitions
from kmirror.cluster.replication.log_retention import LogRetention
from kmirror.cluster.replication.log_tasks import LogTasks
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.events import DiskDone
from kmirror.kernel.ids import TopicPartition
from kmirror.log.cleanable import Cleanable
from kmirror.log.cleaner import Compaction, Rewrite

KEY_BYTES = 24
"""Bytes per key in the cleaner's buffer: a hash of 16 bytes and an offset."""


class LogCleaning(LogTasks):
    """The cleaner of one broker."""

    def __init__(
        self, context: BrokerContext, components: Components, partitions: HeldPartitions, retention: LogRetention
    ) -> None:
        super().__init__(context)
        self._components = components
        self._partitions = partitions
        self._retention = retention
        self._compacted: dict[TopicPartition, None] = {}
        """Partitions configured for compaction; the cleaner ignores all others."""
        self._uncleanable: dict[TopicPartition, Partition] = {}
        """Partitions whose compaction failed; they are skipped until the broker restarts or the topic is recreated."""

    def start(self, now: Instant) -> None:
        """Start the cleaner, if `log.cleaner.enable` is set."""
        configs = self._context.configs
        if configs.flag("log.cleaner.enable"):
            self._schedule(now, "cleaner", configs.integer("log.cleaner.backoff.ms"))

    def update(self, tp: TopicPartition, partition: Partition | None) -> None:
        """Record whether the log of a partition must be compacted; `partition` is None if it is gone."""
        if partition is not None and partition.log.config.compact:
            self._compacted[tp] = None
        else:
            self._compacted.pop(tp, None)

    def on_timer(self, now: Instant) -> None:
        """Compact the dirtiest log; if none is dirty enough, set the timer for the next attempt."""
        if self.is_stopped:
            return
        found = self._dirtiest(now)
        if found is None:
            self._retention.delete_old_segments(now, self._compacted_partitions())
            self._schedule(now, "cleaner", self._context.configs.integer("log.cleaner.backoff.ms"))
            return
        partition, cleanable = found
        job = partition.log.begin_compaction(cleanable, to_ms(now), self._keys_max())
        self._retention.cleaning = partition
        self._context.disk_jobs.submit(
            partition.log_dir, job, lambda now, done: self._on_cleaned(now, partition, job, done)
        )

    def _compacted_partitions(self) -> list[Partition]:
        partitions = self._partitions
        return [partitions[tp] for tp in self._compacted if tp in partitions]

    def _dirtiest(self, now: Instant) -> tuple[Partition, Cleanable] | None:
        best: tuple[Partition, Cleanable] | None = None
        for partition in self._compacted_partitions():
            log = partition.log
            if self._uncleanable.get(partition.tp) is partition or not self._may_compact(partition):
                continue
            cleanable = log.cleanable(to_ms(now), is_mirrored=self._retention.is_mirrored(partition))
            is_dirty_enough = cleanable.is_dirty_enough(log.config.min_cleanable_dirty_ratio)
            if is_dirty_enough and (best is None or cleanable.dirty_ratio > best[1].dirty_ratio):
                best = partition, cleanable
        return best

    def _may_compact(self, partition: Partition) -> bool:
        """Return False while a decided truncation depends on how far the cleaner had come; True for a follower."""
        return not partition.is_leader or self._components.may_compact(partition)

    def _keys_max(self) -> int:
        configs = self._context.configs
        slots = configs.integer("log.cleaner.dedupe.buffer.size") // KEY_BYTES
        return max(1, int(slots * configs.double("log.cleaner.io.buffer.load.factor")))

    def _on_cleaned(self, now: Instant, partition: Partition, job: Compaction, done: DiskDone) -> None:
        tp, self._retention.cleaning = partition.tp, None
        if self._partitions.get(tp) is partition:
            may_compact = self._may_compact(partition)
            if not may_compact:
                partition.log.compaction = None  # The decided cut did not account for this run (D63).
            if isinstance(done.result, Rewrite):
                try:
                    cleaned = partition.log.finish_compaction(job, done.result)
                except OSError as error:
                    self._context.fail_disk_of(tp, "cannot put in place what is left of", error)
                    self.on_timer(now)
                    return
                if cleaned is None:
                    self._context.outbox.note(f"{tp} was {'cut' if may_compact else 'mirrored'} while it was compacted")
                else:
                    sizes = f"{cleaned.bytes_before} bytes to {cleaned.bytes_after}"
                    compacted = LogCompacted(tp, cleaned.end_offset, cleaned.bytes_before, cleaned.bytes_after)
                    self._context.outbox.note(f"{tp} compacted to offset {cleaned.end_offset}, {sizes}", compacted)
            else:
                self._uncleanable[tp] = partition
                if isinstance(done.error, OSError):
                    self._context.fail_disk_of(tp, "cannot compact", done.error)
                self._context.outbox.note(f"{tp} cannot be compacted: {done.error}")
        self._retention.delete_old_segments(now, self._compacted_partitions())
        self.on_timer(now)
