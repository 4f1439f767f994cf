"""Writing of metadata snapshots, and deletion of the log that they replace.

    bytes     `metadata.log.max.record.bytes.between.snapshots` were appended since the newest one was begun
    time      every `metadata.log.max.snapshot.interval.ms`, if anything was committed since; 0 is never
    deletion  of the oldest snapshot, and of the log below the next one, while log and snapshots take more than
              `metadata.max.retention.bytes`, or that snapshot is older than `metadata.max.retention.ms`; -1 is no limit

Kafka's SnapshotGenerator and KafkaRaftLog.maybeClean. The newest snapshot is never deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.cluster.metadata.log import MetadataLog, SnapshotFacts
from kmirror.cluster.metadata.snapshots import MetadataSnapshot, SnapshotId
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.disk_jobs import DiskJobs
from kmirror.kernel.events import DiskDone
from kmirror.kernel.outbox import Outbox
from kmirror.log.store import PartitionStore
from kmirror.spec.configs import Configs

TIMER = "metadata-snapshot"


@dataclass(frozen=True, slots=True)
class Purge:
    """A job for the disk: delete segments that were set aside, and snapshots."""

    store: PartitionStore
    base_offsets: list[int]
    snapshots: list[SnapshotId]

    def run(self) -> None:
        for base_offset in self.base_offsets:
            self.store.purge(base_offset)
        for snapshot in self.snapshots:
            self.store.delete_file(snapshot.file_name)


class SnapshotGenerator:
    """Writes snapshots and shortens the metadata log of one controller."""

    def __init__(
        self, log: MetadataLog, configs: Callable[[], Configs], outbox: Outbox, disk_jobs: DiskJobs, log_dir: str
    ) -> None:
        self._log = log
        self._configs = configs
        self._outbox = outbox
        self._disk_jobs = disk_jobs
        self._log_dir = log_dir
        self._is_writing = False
        self._is_stopped = False

    def start(self, now: Instant) -> None:
        """Start the timer, and write a snapshot if one is due."""
        self._set_timer(now)
        self.write_if_due(now)

    def stop(self) -> None:
        """Order no more work; work in progress is completed."""
        self._is_stopped = True

    def write_if_due(self, now: Instant) -> None:
        """Write a snapshot if enough bytes have been appended since the last one."""
        bytes_max = self._configs().integer("metadata.log.max.record.bytes.between.snapshots")
        if self._log.bytes_since_snapshot >= bytes_max:
            self._write(now)

    def on_timer(self, now: Instant) -> None:
        """Write a snapshot if the log has records that the newest one lacks."""
        self._set_timer(now)
        self._write(now)

    def _set_timer(self, now: Instant) -> None:
        interval_ms = self._configs().integer("metadata.log.max.snapshot.interval.ms")
        if interval_ms:
            self._outbox.set_timer((TIMER,), now + interval_ms * MILLISECOND)

    def _write(self, now: Instant) -> None:
        if self._is_writing or self._is_stopped:
            return
        job = self._log.begin_snapshot()
        if job is None:
            self._clean(now)
        else:
            self._is_writing = True
            self._disk_jobs.submit(self._log_dir, job, self._on_written)

    def _on_written(self, now: Instant, done: DiskDone) -> None:
        self._is_writing = False
        if not isinstance(done.result, MetadataSnapshot):  # The log is still complete; the next attempt will do.
            self._outbox.note(f"a snapshot of the metadata log could not be written: {done.error}")
            return
        snapshot = done.result
        self._log.add_snapshot(snapshot)
        self._outbox.note(f"metadata snapshot {snapshot.id.file_name}, {len(snapshot.data)} bytes")
        if not self._is_stopped:
            self._clean(now)

    def _clean(self, now: Instant) -> None:
        configs, now_ms = self._configs(), to_ms(now)
        bytes_max = configs.integer("metadata.max.retention.bytes")
        age_max_ms = configs.integer("metadata.max.retention.ms")
        if bytes_max >= 0:
            self._delete_while(now_ms, lambda oldest: self._bytes() > bytes_max)
        if age_max_ms >= 0:
            self._delete_while(now_ms, lambda oldest: now_ms - oldest.timestamp_ms > age_max_ms)

    def _bytes(self) -> int:
        return self._log.log.segments.size_in_bytes + sum(snapshot.size for snapshot in self._log.snapshots.values())

    def _delete_while(self, now_ms: int, is_due: Callable[[SnapshotFacts], bool]) -> None:
        log = self._log
        while len(log.snapshots) > 1:
            (_, oldest), (second, _) = [*log.snapshots.items()][:2]
            if not is_due(oldest):
                return
            base_offsets, snapshots = log.advance_start(second, now_ms)
            self._outbox.note(f"the metadata log begins at offset {second.end_offset}")
            self._disk_jobs.submit(self._log_dir, Purge(log.log.store, base_offsets, snapshots), self._on_purged)

    def _on_purged(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:  # They are deleted when the log is opened next.
            self._outbox.note(f"files of the metadata log could not be deleted: {done.error}")
