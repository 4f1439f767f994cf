"""The life of a broker's logs: what happens to them by the clock, and what their disk does beside the broker.

    retention    every `log.retention.check.interval.ms`: old segments are set aside, and purged after
                 `file.delete.delay.ms`; of a log that is compacted too, after each round of the cleaner
    cleaner      one log at a time, the dirtiest first, until none is dirty enough; then again after
                 `log.cleaner.backoff.ms`
    flush        of segments that were rolled, of what has lain unflushed for `flush.ms`, and of as many records as
                 `flush.messages`, which do not count as held by this broker before: neither for the high watermark nor
                 in a follower's fetch
    expiry       of producers that were silent for `producer.id.expiration.ms`

Flush, compaction and deletion are jobs for the disk: the log goes on meanwhile, and if it is cut below what a job is
about, that job's result is dropped. Which log is due, and in which order, is LogManager's and LogCleanerManager's of
Kafka 4.3.1.

Of a log that is mirrored only the segments below its source's log start are deleted. It is compacted as any other, but
not by a leader that is about to cut it (D46).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.component import Components
from kmirror.cluster.replication.facts import LogCompacted
from kmirror.cluster.replication.follower import ReplicaFetchers
from kmirror.cluster.replication.partition import Partition
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.events import DiskDone
from kmirror.kernel.ids import TopicPartition
from kmirror.log.cleanable import Cleanable
from kmirror.log.cleaner import Compaction, Rewrite
from kmirror.log.disk import Disk
from kmirror.log.flushing import Flush
from kmirror.log.store import PartitionStore
from kmirror.spec.configs import LONG_MAX

TIMER = "logs"
RETRY_MS = 1_000
"""Pause after a flush that failed."""
KEY_BYTES = 24
"""What the cleaner's buffer takes for a key: a hash of 16 bytes and an offset."""


@dataclass(frozen=True, slots=True)
class PurgeSegments:
    """A job for the disk: remove the bytes of segments that were set aside."""

    disk: Disk
    store: PartitionStore
    base_offsets: list[int]

    def run(self) -> None:
        for base_offset in self.base_offsets:
            self.store.purge(base_offset)


@dataclass(frozen=True, slots=True)
class PurgePartition:
    """A job for the disk: remove the folder of a partition that was set aside."""

    disk: Disk
    name: str

    def run(self) -> None:
        self.disk.purge(self.name)


Purge = PurgeSegments | PurgePartition


class LogManager:
    """Keeps the logs of one broker within their configs."""

    def __init__(
        self, context: BrokerContext, components: Components, replicas: ReplicaManager, fetchers: ReplicaFetchers
    ) -> None:
        self._context = context
        self._components = components
        self._replicas = replicas
        self._fetchers = fetchers
        self._is_stopped = False
        self._cleaning: Partition | None = None
        self._compacted: dict[TopicPartition, None] = {}
        """The partitions whose configs ask for compaction: the cleaner looks at no others."""
        self._uncleanable: dict[TopicPartition, Partition] = {}
        """Where a run of the cleaner failed; they are left alone until the broker starts anew, or the topic does."""
        self._cuts: dict[TopicPartition, None] = {}
        """The partitions with a job under way that makes a cut safe."""
        self._purges: list[tuple[Instant, Purge]] = []
        self._tasks: dict[str, Callable[[Instant], None]] = {
            "retention": self._retain,
            "cleaner": self._clean,
            "flush": self._flush_by_time,
            "flush again": self._flush_again,
            "expiry": self._expire,
            "purge": self._purge,
        }

    def start(self, now: Instant) -> None:
        """Begin to look after the logs."""
        configs = self._context.configs
        delay_ms = configs.integer("log.initial.task.delay.ms")
        for disk in [*self._context.log_dirs.online]:
            for name in self._leftovers(disk):  # The process before this one had no time to.
                purge = PurgePartition(disk, name)
                self._purge_later(now, configs.integer("log.segment.delete.delay.ms"), purge)
        self._again(now, "retention", delay_ms)
        self._again(now, "expiry", configs.integer("producer.id.expiration.check.interval.ms"))
        if configs.flag("log.cleaner.enable"):
            self._again(now, "cleaner", configs.integer("log.cleaner.backoff.ms"))
        if configs.integer("log.flush.scheduler.interval.ms") < LONG_MAX:
            self._again(now, "flush", delay_ms)

    def _leftovers(self, disk: Disk) -> list[str]:
        try:
            return disk.leftovers()
        except OSError as error:
            self._context.fail_disk(disk, "its folders cannot be listed", error)
            return []

    def take_offline(self, log_dirs: Collection[str]) -> None:
        """Forget what was still to be purged in directories that failed."""
        self._purges = [(at, purge) for at, purge in self._purges if purge.disk.log_dir not in log_dirs]

    def stop(self) -> None:
        """Order no more work; what is under way comes to its end."""
        self._is_stopped = True

    def on_timer(self, now: Instant, task: str) -> None:
        self._tasks[task](now)

    def _again(self, now: Instant, task: str, after_ms: int) -> None:
        self._context.outbox.set_timer((TIMER, task), now + after_ms * MILLISECOND)

    def settle(self, now: Instant) -> None:
        """Look at the logs that grew, and at the partitions that were dropped, while an event was handled."""
        replicas, changes = self._replicas, self._replicas.changes
        for tp in changes.take_grown():
            self._follow_growth(tp, replicas.partitions.get(tp))
        for disk, name in changes.take_dropped() if changes.dropped else ():
            delay_ms = self._context.configs.integer("log.segment.delete.delay.ms")
            self._purge_later(now, delay_ms, PurgePartition(disk, name))

    def _follow_growth(self, tp: TopicPartition, partition: Partition | None) -> None:
        if partition is not None:
            self._flush_if_due(partition)
        if partition is not None and partition.log.config.compact:
            self._compacted[tp] = None
        else:
            self._compacted.pop(tp, None)

    def _is_mirrored(self, partition: Partition) -> bool:
        """Return whether another cluster decides what the log holds; a follower hears when that ends."""
        if not self._components.foreign_epochs(partition):
            return False
        return partition.is_leader or not self._fetchers.knows_local_epochs(partition.tp)

    # -- deletion -----------------------------------------------------------------------------

    def _retain(self, now: Instant) -> None:
        partitions = [
            p for p in self._replicas.partitions.values() if p.log.log_end_offset and not p.log.config.compact
        ]
        self._delete_old_segments(now, partitions)
        self._again(now, "retention", self._context.configs.integer("log.retention.check.interval.ms"))

    def _delete_old_segments(self, now: Instant, partitions: Iterable[Partition]) -> None:
        now_ms = to_ms(now)
        for partition in partitions:
            log = partition.log
            if partition is self._cleaning or not log.has_old_segments(now_ms):
                continue
            disk, before = self._context.log_dirs.of(partition.tp), log.log_start_offset
            try:
                gone = log.set_aside_old_segments(now_ms, is_mirrored=self._is_mirrored(partition))
            except OSError as error:
                self._context.fail_disk(disk, f"old segments of {partition.tp} cannot be renamed", error)
                continue
            if gone and disk is not None:
                partition.mark()
                what = f"{partition.tp} deletes {len(gone)} segments"
                self._context.outbox.note(f"{what}, log start {log.log_start_offset} (was {before})")
                self._purge_later(now, log.config.file_delete_delay_ms, PurgeSegments(disk, log.store, gone))
                self._fetchers.on_log_changed(partition.tp)

    def _purge_later(self, now: Instant, delay_ms: int, purge: Purge) -> None:
        self._purges.append((now + delay_ms * MILLISECOND, purge))
        self._purge(now)

    def _purge(self, now: Instant) -> None:
        if self._is_stopped:
            return  # A broker deletes what it finds set aside when it starts.
        due = [purge for at, purge in self._purges if at <= now]
        self._purges = [(at, purge) for at, purge in self._purges if at > now]
        for purge in due:
            self._context.disk_jobs.order(purge.disk.log_dir, purge, self._on_purged)
        if self._purges:
            self._context.outbox.set_timer((TIMER, "purge"), min(at for at, _ in self._purges))

    def _on_purged(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:  # They go when the folder is opened next.
            self._context.outbox.note(f"files could not be deleted: {done.error}")

    # -- compaction ---------------------------------------------------------------------------

    def _clean(self, now: Instant) -> None:
        """Clean the dirtiest log; if none is dirty enough, come back later."""
        if self._is_stopped:
            return
        found = self._dirtiest(now)
        if found is None:
            self._delete_old_segments(now, self._with_compaction())
            self._again(now, "cleaner", self._context.configs.integer("log.cleaner.backoff.ms"))
            return
        partition, what = found
        job = partition.log.begin_compaction(what, to_ms(now), self._keys_max())
        self._cleaning = partition
        self._context.disk_jobs.order(
            partition.log_dir, job, lambda now, done: self._on_cleaned(now, partition, job, done)
        )

    def _with_compaction(self) -> list[Partition]:
        held = self._replicas.partitions
        return [held[tp] for tp in self._compacted if tp in held]

    def _dirtiest(self, now: Instant) -> tuple[Partition, Cleanable] | None:
        best: tuple[Partition, Cleanable] | None = None
        for partition in self._with_compaction():
            log = partition.log
            if self._uncleanable.get(partition.tp) is partition or not self._may_compact(partition):
                continue
            what = log.cleanable(to_ms(now), is_mirrored=self._is_mirrored(partition))
            dirty_enough = what.is_dirty_enough(log.config.min_cleanable_dirty_ratio)
            if dirty_enough and (best is None or what.dirty_ratio > best[1].dirty_ratio):
                best = partition, what
        return best

    def _may_compact(self, partition: Partition) -> bool:
        """Return whether no cut is decided on that goes by how far the cleaner had come; a follower decides on none."""
        return not partition.is_leader or self._components.may_compact(partition)

    def _keys_max(self) -> int:
        configs = self._context.configs
        slots = configs.integer("log.cleaner.dedupe.buffer.size") // KEY_BYTES
        return max(1, int(slots * configs.double("log.cleaner.io.buffer.load.factor")))

    def _on_cleaned(self, now: Instant, partition: Partition, job: Compaction, done: DiskDone) -> None:
        tp, self._cleaning = partition.tp, None
        if self._replicas.partitions.get(tp) is partition:
            may_compact = self._may_compact(partition)
            if not may_compact:
                partition.log.compaction = None  # A cut that is decided on knows nothing of this run (D63).
            if isinstance(done.result, Rewrite):
                try:
                    cleaned = partition.log.finish_compaction(job, done.result)
                except OSError as error:
                    self._context.fail_disk_of(tp, "cannot put in place what is left of", error)
                    self._clean(now)
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
        self._delete_old_segments(now, self._with_compaction())
        self._clean(now)

    # -- flush --------------------------------------------------------------------------------

    def _flush_by_time(self, now: Instant) -> None:
        for partition in self._replicas.partitions.values():
            if to_ms(now) - partition.log.flushing.last_flush_ms >= partition.log.config.flush_ms:
                self._flush(partition, partition.log.log_end_offset)
        self._again(now, "flush", self._context.configs.integer("log.flush.scheduler.interval.ms"))

    def _flush_again(self, now: Instant) -> None:
        for partition in self._replicas.partitions.values():
            self._flush_if_due(partition)

    def _flush_if_due(self, partition: Partition) -> None:
        log = partition.log
        if log.store.has_unsafe_cut:
            self._make_cut_safe(partition)
        segments, recovery_point = log.segments, log.flushing.recovery_point
        end = segments.active.base_offset
        if segments.end_offset - recovery_point >= log.config.flush_messages:  # `is_flush_due`: each append comes by.
            end = segments.end_offset
        if recovery_point < end:
            self._flush(partition, end)

    def _make_cut_safe(self, partition: Partition) -> None:
        if self._is_stopped or partition.tp in self._cuts:
            return
        self._cuts[partition.tp] = None
        log = partition.log
        job = Flush(log.store, [log.segments.active.base_offset])
        self._context.disk_jobs.order(partition.log_dir, job, lambda now, done: self._on_cut_safe(now, partition, done))

    def _on_cut_safe(self, now: Instant, partition: Partition, done: DiskDone) -> None:
        tp = partition.tp
        del self._cuts[tp]
        if done.error is not None:
            self._on_flush_failed(now, partition, done.error)
        elif self._replicas.partitions.get(tp) is partition:
            self._flush_if_due(partition)  # It may have been cut again.
            if not partition.is_leader:
                self._fetchers.go_on(now, tp)

    def _flush(self, partition: Partition, end_offset: int) -> None:
        job = None if self._is_stopped else partition.log.begin_flush(end_offset)
        if job is not None:
            self._context.disk_jobs.order(
                partition.log_dir, job, lambda now, done: self._on_flushed(now, partition, done)
            )

    def _on_flushed(self, now: Instant, partition: Partition, done: DiskDone) -> None:
        tp = partition.tp
        partition.log.finish_flush(to_ms(now), done=done.error is None)
        if done.error is not None:
            self._on_flush_failed(now, partition, done.error)
        elif self._replicas.partitions.get(tp) is partition:
            self._flush_if_due(partition)  # What came meanwhile.
            if partition.is_leader:
                self._replicas.changes.flushed(partition)
            else:
                self._fetchers.go_on(now, tp)

    def _on_flush_failed(self, now: Instant, partition: Partition, error: Exception) -> None:
        tp = partition.tp
        if not isinstance(error, OSError):
            self._context.outbox.note(f"{tp} could not be flushed: {error}")
            self._again(now, "flush again", RETRY_MS)
        elif self._replicas.partitions.get(tp) is partition:  # What the system dropped, a second try does not bring.
            self._context.fail_disk_of(tp, "cannot flush", error)

    # -- producers ----------------------------------------------------------------------------

    def _expire(self, now: Instant) -> None:
        for partition in self._replicas.partitions.values():
            partition.log.remove_expired_producers(to_ms(now))
        self._again(now, "expiry", self._context.configs.integer("producer.id.expiration.check.interval.ms"))
