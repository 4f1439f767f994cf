"""Disk work under way: one table, nothing awaited.

Every job that is ordered ends in exactly one call of its `on_done`, with what it returned or the error that it ended
with. A node that restarts has an empty table; a job that was cut may have been done or not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import DiskDone, DiskJob, DiskWork
from kmirror.kernel.outbox import Outbox

OnDone = Callable[[Instant, DiskDone], None]


class DiskJobs:
    """What a node has others do at its disks."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._waiting: dict[Hashable, OnDone] = {}
        self._next_key = 0

    def order(self, log_dir: str, job: DiskJob, on_done: OnDone) -> None:
        """Have `job` run, after those ordered before it for the same log dir, and call `on_done` once, later."""
        key = self._next_key
        self._next_key += 1
        self._waiting[key] = on_done
        self._outbox.add(DiskWork(key, log_dir, job))

    def on_done(self, now: Instant, done: DiskDone) -> None:
        """Tell whoever ordered the job."""
        self._waiting.pop(done.key)(now, done)

    @property
    def idle(self) -> bool:
        """Is nothing under way?"""
        return not self._waiting
