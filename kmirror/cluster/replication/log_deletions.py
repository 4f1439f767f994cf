"""Delayed deletion of renamed segments and partition directories."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.replication.log_tasks import TIMER, LogTasks
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import DiskDone
from kmirror.log.disk import Disk
from kmirror.log.store import PartitionStore


@dataclass(frozen=True, slots=True)
class PurgeSegments:
    """Disk job that deletes the files of segments renamed for deletion."""

    disk: Disk
    store: PartitionStore
    base_offsets: list[int]

    def run(self) -> None:
        for base_offset in self.base_offsets:
            self.store.purge(base_offset)


@dataclass(frozen=True, slots=True)
class PurgePartition:
    """Disk job that deletes a partition directory renamed for deletion."""

    disk: Disk
    name: str

    def run(self) -> None:
        self.disk.purge(self.name)


Deletion = PurgeSegments | PurgePartition


class LogDeletions(LogTasks):
    """Submits deletions to the disks, each after its delay."""

    def __init__(self, context: BrokerContext) -> None:
        super().__init__(context)
        self._deletions: list[tuple[Instant, Deletion]] = []

    def start(self, now: Instant) -> None:
        """Schedule deletion of the directories that an earlier process renamed for deletion."""
        delay_ms = self._context.configs.integer("log.segment.delete.delay.ms")
        for disk in [*self._context.log_dirs.online]:
            for name in self._renamed_directories(disk):
                self.schedule(now, delay_ms, PurgePartition(disk, name))

    def _renamed_directories(self, disk: Disk) -> list[str]:
        try:
            return disk.leftovers()
        except OSError as error:
            self._context.fail_disk(disk, "its folders cannot be listed", error)
            return []

    def take_offline(self, log_dirs: Collection[str]) -> None:
        """Cancel pending deletions in failed directories."""
        self._deletions = [(at, purge) for at, purge in self._deletions if purge.disk.log_dir not in log_dirs]

    def schedule(self, now: Instant, delay_ms: int, purge: Deletion) -> None:
        """Schedule a deletion after `delay_ms`."""
        self._deletions.append((now + delay_ms * MILLISECOND, purge))
        self.on_timer(now)

    def on_timer(self, now: Instant) -> None:
        """Submit the deletions that are due."""
        if self.is_stopped:
            return  # The next start schedules the remaining deletions.
        due = [purge for at, purge in self._deletions if at <= now]
        self._deletions = [(at, purge) for at, purge in self._deletions if at > now]
        for purge in due:
            self._context.disk_jobs.submit(purge.disk.log_dir, purge, self._on_deleted)
        if self._deletions:
            self._context.outbox.set_timer((TIMER, "purge"), min(at for at, _ in self._deletions))

    def _on_deleted(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:  # They are deleted when the directory is next opened.
            self._context.outbox.note(f"files could not be deleted: {done.error}")
