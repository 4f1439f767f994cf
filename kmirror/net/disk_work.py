"""Disk work of nodes: one thread per log dir, or the event loop itself for disks in memory."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Protocol

from kmirror.errors import KmirrorError
from kmirror.kernel.events import DiskDone, DiskWork

OnDone = Callable[[DiskDone], None]
"""Called on the loop's thread, never from within `submit`."""
CallSoon = Callable[[Callable[[], None]], object]


class Workers(Protocol):
    """Disk workers of one process, from its start to its end."""

    def submit(self, work: DiskWork, on_done: OnDone) -> None:
        """Queue `work` after the earlier work for the same log dir."""
        ...

    def end(self) -> list[threading.Thread]:
        """Start no more jobs; return the threads that may still run one. Each thread ends after its job."""
        ...


def run_job(work: DiskWork) -> DiskDone:
    """Run the job and return the event for the node."""
    try:
        return DiskDone(work.key, work.job.run())
    except (OSError, KmirrorError) as error:
        return DiskDone(work.key, None, error)
    except Exception as error:  # A bug in a job must not end the thread: the node would wait forever.
        return DiskDone(work.key, None, error)


class ThreadWorkers:
    """One thread per log dir, created for its first job."""

    def __init__(self, name: str, call_soon_threadsafe: CallSoon) -> None:
        self._name = name
        self._call_soon = call_soon_threadsafe
        self._queues: dict[str, queue.SimpleQueue[tuple[DiskWork, OnDone] | None]] = {}
        self._threads: list[threading.Thread] = []
        self._has_ended = threading.Event()

    def submit(self, work: DiskWork, on_done: OnDone) -> None:
        jobs = self._queues.get(work.log_dir)
        if jobs is None:
            jobs = self._queues[work.log_dir] = queue.SimpleQueue()
            name = f"{self._name} {work.log_dir}"
            thread = threading.Thread(target=self._run, args=(jobs,), name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        jobs.put((work, on_done))

    def end(self) -> list[threading.Thread]:
        self._has_ended.set()
        for jobs in self._queues.values():
            jobs.put(None)
        return self._threads

    def _run(self, jobs: queue.SimpleQueue[tuple[DiskWork, OnDone] | None]) -> None:
        while (entry := jobs.get()) is not None and not self._has_ended.is_set():
            work, on_done = entry
            done = run_job(work)
            try:
                self._call_soon(lambda on_done=on_done, done=done: on_done(done))  # type: ignore[misc]
            except RuntimeError:  # The loop is closed.
                return


class LoopWorkers:
    """Jobs on the loop's own thread, after the event that submitted them: disks in memory complete immediately."""

    def __init__(self, call_soon: CallSoon) -> None:
        self._call_soon = call_soon
        self._has_ended = False

    def submit(self, work: DiskWork, on_done: OnDone) -> None:
        def run() -> None:
            if not self._has_ended:
                on_done(run_job(work))

        self._call_soon(run)

    def end(self) -> list[threading.Thread]:
        self._has_ended = True
        return []
