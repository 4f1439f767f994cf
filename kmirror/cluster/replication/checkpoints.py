"""Checkpoints: the offsets of all logs of a disk, in files that the logs share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import DiskDone
from kmirror.log.disk import Disk
from kmirror.log.log_state import LogState

TIMER = "checkpoint"


@dataclass(frozen=True, slots=True)
class WriteCheckpoints:
    """Disk job that writes the offsets of all logs of a disk to the shared checkpoint files."""

    disk: Disk

    def run(self) -> None:
        """Write the files; raise OSError if the disk fails."""
        self.disk.write_shared()


class Checkpoints:
    """Writes the checkpoints of one broker every `replica.high.watermark.checkpoint.interval.ms`."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self.unsaved: dict[LogState, None] = {}
        """Logs with an offset that differs from the one on disk."""

    def start(self, now: Instant) -> None:
        """Set the timer for the next checkpoint."""
        interval = self._context.configs.integer("replica.high.watermark.checkpoint.interval.ms")
        self._context.outbox.set_timer((TIMER,), now + interval * MILLISECOND)

    def write(self, now: Instant) -> None:
        """Write changed offsets; a log whose log start was not saved would regain deleted records after a crash."""
        self.start(now)
        logs = list(self.unsaved)
        if not logs:
            return
        by_disk: dict[str, tuple[Disk, list[LogState]]] = {}
        for log in logs:
            disk = self._context.log_dirs.find(log.tp)
            if disk is not None:
                by_disk.setdefault(disk.log_dir, (disk, []))[1].append(log)
        for disk, disk_logs in by_disk.values():
            try:
                with disk.batch():
                    for log in disk_logs:
                        log.write_checkpoints()
            except OSError as error:
                self._context.fail_disk(disk, "checkpoints cannot be written", error)
            else:
                self._context.disk_jobs.submit(disk.log_dir, WriteCheckpoints(disk), partial(self._on_written, disk))

    def _on_written(self, disk: Disk, now: Instant, done: DiskDone) -> None:
        if isinstance(done.error, OSError):
            self._context.fail_disk(disk, "checkpoints cannot be written", done.error)
