"""Maintenance of a broker's logs: periodic tasks, and jobs that run on the disks in the background.

    retention    every `log.retention.check.interval.ms`: old segments are renamed (`log_retention.py`), and deleted
                 after `file.delete.delay.ms` (`log_deletions.py`); for compacted logs after each run of the cleaner
    cleaner      one log at a time until none is dirty enough; then again after `log.cleaner.backoff.ms`
                 (`log_cleaning.py`)
    flush        of rolled segments, by `flush.ms` and by `flush.messages` (`log_flushes.py`)
    expiry       of producers that were inactive for `producer.id.expiration.ms`

Flush, compaction and deletion are disk jobs: the log remains in use meanwhile, and if it is truncated below a job's
range, the job's result is discarded. Due logs and their order are chosen like LogManager and LogCleanerManager of Kafka
4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from kmirror.cluster.component import Components
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.replication.follower import ReplicaFetchers
from kmirror.cluster.replication.log_cleaning import LogCleaning
from kmirror.cluster.replication.log_deletions import LogDeletions, PurgePartition
from kmirror.cluster.replication.log_flushes import LogFlushes
from kmirror.cluster.replication.log_retention import LogRetention
from kmirror.cluster.replication.log_tasks import LogTasks
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import Instant, to_ms


class LogManager(LogTasks):
    """Keeps the logs of one broker within their configs."""

    def __init__(
        self, context: BrokerContext, components: Components, replicas: ReplicaManager, fetchers: ReplicaFetchers
    ) -> None:
        super().__init__(context)
        self._replicas = replicas
        self._deletions = LogDeletions(context)
        self._retention = LogRetention(context, components, fetchers, self._deletions)
        self._cleaning = LogCleaning(context, components, replicas.partitions, self._retention)
        self._flushes = LogFlushes(context, replicas, fetchers)
        self._tasks: dict[str, Callable[[Instant], None]] = {
            "retention": self._retain,
            "cleaner": self._cleaning.on_timer,
            "flush": self._flushes.flush_by_time,
            "flush again": self._flushes.retry_flushes,
            "expiry": self._expire,
            "purge": self._deletions.on_timer,
        }

    def start(self, now: Instant) -> None:
        """Start the periodic tasks."""
        configs = self._context.configs
        self._deletions.start(now)
        self._schedule(now, "retention", configs.integer("log.initial.task.delay.ms"))
        self._schedule(now, "expiry", configs.integer("producer.id.expiration.check.interval.ms"))
        self._cleaning.start(now)
        self._flushes.start(now)

    def take_offline(self, log_dirs: Collection[str]) -> None:
        """Cancel pending deletions in failed directories."""
        self._deletions.take_offline(log_dirs)

    def stop(self) -> None:
        """Submit no more jobs; jobs in flight are completed."""
        for tasks in (self._deletions, self._cleaning, self._flushes):
            tasks.is_stopped = True

    def on_timer(self, now: Instant, task: str) -> None:
        self._tasks[task](now)

    def settle(self, now: Instant) -> None:
        """After an event, flush and clean logs that grew, where due, and schedule deletions of dropped partitions."""
        replicas, changes = self._replicas, self._replicas.changes
        for tp in changes.take_grown_logs():
            partition = replicas.partitions.get(tp)
            if partition is not None:
                self._flushes.flush_if_due(partition)
            self._cleaning.update(tp, partition)
        for disk, name in changes.take_renamed_dirs() if changes.renamed_dirs else ():
            delay_ms = self._context.configs.integer("log.segment.delete.delay.ms")
            self._deletions.schedule(now, delay_ms, PurgePartition(disk, name))

    def _retain(self, now: Instant) -> None:
        partitions = [
            p for p in self._replicas.partitions.values() if p.log.log_end_offset and not p.log.config.compact
        ]
        self._retention.delete_old_segments(now, partitions)
        self._schedule(now, "retention", self._context.configs.integer("log.retention.check.interval.ms"))

    def _expire(self, now: Instant) -> None:
        for partition in self._replicas.partitions.values():
            partition.log.remove_expired_producers(to_ms(now))
        self._schedule(now, "expiry", self._context.configs.integer("producer.id.expiration.check.interval.ms"))
