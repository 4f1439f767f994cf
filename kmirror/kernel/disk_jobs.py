"""Table of the disk jobs that are running or queued.

Each job ends with exactly one call of its `on_done`, with its result or its error. After a restart of the node the
table is empty; an interrupted job may or may not have been completed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import DiskDone, DiskJob, DiskWork
from kmirror.kernel.outbox import Outbox

OnDone = Callable[[Instant, DiskDone], None]


class DiskJobs:
    """Disk jobs of a node."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._callbacks: dict[Hashable, OnDone] = {}
        self._next_key = 0

    def submit(self, log_dir: str, job: DiskJob, on_done: OnDone) -> None:
        """Run `job` after the earlier jobs of the same log dir, and call `on_done` once when it has ended."""
        key = self._next_key
        self._next_key += 1
        self._callbacks[key] = on_done
        self._outbox.add(DiskWork(key, log_dir, job))

    def on_done(self, now: Instant, done: DiskDone) -> None:
        """Call the `on_done` of the job."""
        self._callbacks.pop(done.key)(now, done)

    @property
    def idle(self) -> bool:
        """True if no job is queued or running."""
        return not self._callbacks
