"""Log flushes: by time, by number of records, and of rolled segments.

Records that must be flushed count only after the flush, both for the high watermark and in a follower's fetch.
"""

from __future__ import annotations

from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.follower import ReplicaFetchers
from kmirror.cluster.replication.log_tasks import LogTasks
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.events import DiskDone
from kmirror.kernel.ids import TopicPartition
from kmirror.log.flushing import Flush
from kmirror.spec.configs import LONG_MAX

RETRY_MS = 1_000
"""Pause in ms after a failed flush."""


class LogFlushes(LogTasks):
    """Submits flush jobs for one broker's logs."""

    def __init__(self, context: BrokerContext, replicas: ReplicaManager, fetchers: ReplicaFetchers) -> None:
        super().__init__(context)
        self._replicas = replicas
        self._fetchers = fetchers
        self._cuts: dict[TopicPartition, None] = {}
        """Partitions with a job in flight that makes a cut durable."""

    def start(self, now: Instant) -> None:
        """Start flushing by time, if `log.flush.scheduler.interval.ms` is set."""
        configs = self._context.configs
        if configs.integer("log.flush.scheduler.interval.ms") < LONG_MAX:
            self._schedule(now, "flush", configs.integer("log.initial.task.delay.ms"))

    def flush_by_time(self, now: Instant) -> None:
        """Flush the logs whose last flush is at least `flush.ms` ago."""
        for partition in self._replicas.partitions.values():
            if to_ms(now) - partition.log.flushing.last_flush_ms >= partition.log.config.flush_ms:
                self._flush(partition, partition.log.log_end_offset)
        self._schedule(now, "flush", self._context.configs.integer("log.flush.scheduler.interval.ms"))

    def retry_flushes(self, now: Instant) -> None:
        """Retry all due flushes after a failure."""
        for partition in self._replicas.partitions.values():
            self.flush_if_due(partition)

    def flush_if_due(self, partition: Partition) -> None:
        """Flush rolled segments, and all records if `flush.messages` is reached; make a cut durable first."""
        log = partition.log
        if log.store.has_unsafe_cut:
            self._make_cut_safe(partition)
        segments, recovery_point = log.segments, log.flushing.recovery_point
        end = segments.active.base_offset
        if segments.end_offset - recovery_point >= log.config.flush_messages:  # `is_flush_due`, inlined: a hot path.
            end = segments.end_offset
        if recovery_point < end:
            self._flush(partition, end)

    def _make_cut_safe(self, partition: Partition) -> None:
        if self.is_stopped or partition.tp in self._cuts:
            return
        self._cuts[partition.tp] = None
        log = partition.log
        job = Flush(log.store, [log.segments.active.base_offset])
        self._context.disk_jobs.submit(
            partition.log_dir, job, lambda now, done: self._on_cut_safe(now, partition, done)
        )

    def _on_cut_safe(self, now: Instant, partition: Partition, done: DiskDone) -> None:
        tp = partition.tp
        del self._cuts[tp]
        if done.error is not None:
            self._on_flush_failed(now, partition, done.error)
        elif self._replicas.partitions.get(tp) is partition:
            self.flush_if_due(partition)  # The log may have been cut again.
            if not partition.is_leader:
                self._fetchers.resume(now, tp)

    def _flush(self, partition: Partition, end_offset: int) -> None:
        job = None if self.is_stopped else partition.log.begin_flush(end_offset)
        if job is not None:
            self._context.disk_jobs.submit(
                partition.log_dir, job, lambda now, done: self._on_flushed(now, partition, done)
            )

    def _on_flushed(self, now: Instant, partition: Partition, done: DiskDone) -> None:
        tp = partition.tp
        partition.log.finish_flush(to_ms(now), done=done.error is None)
        if done.error is not None:
            self._on_flush_failed(now, partition, done.error)
        elif self._replicas.partitions.get(tp) is partition:
            self.flush_if_due(partition)  # Records appended meanwhile.
            if partition.is_leader:
                self._replicas.changes.mark_flushed(partition)
            else:
                self._fetchers.resume(now, tp)

    def _on_flush_failed(self, now: Instant, partition: Partition, error: Exception) -> None:
        tp = partition.tp
        if not isinstance(error, OSError):
            self._context.outbox.note(f"{tp} could not be flushed: {error}")
            self._schedule(now, "flush again", RETRY_MS)
        elif self._replicas.partitions.get(tp) is partition:  # A retry cannot restore pages that the OS dropped.
            self._context.fail_disk_of(tp, "cannot flush", error)
