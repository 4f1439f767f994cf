"""Work in several processes, with ordered results; Ctrl-C leaves no process behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TypeVar

from kmirror.cli.quick_start import relax_gc
from kmirror.errors import KmirrorError

P = TypeVar("P")
R = TypeVar("R")


@contextmanager
def in_processes(work: Callable[[P], R], pieces: Sequence[P], jobs: int) -> Iterator[Iterator[R]]:
    """Yield an iterator over the results of `work` for all pieces, in their order; an early exit ends all processes.

    With one job, or one piece, the work is done in this process.
    """
    if jobs == 1 or len(pieces) == 1:
        yield map(work, pieces)
        return
    earlier_processes = active_children()
    # Spawned, not forked: a progress bar has a thread. At Ctrl-C only the parent handles the signal.
    pool = ProcessPoolExecutor(min(jobs, len(pieces)), get_context("spawn"), _start_worker)
    is_done = False
    try:
        yield _results(pool.map(work, pieces))
        is_done = True
    finally:
        hook = threading.excepthook
        if not is_done:
            # The pool's own thread fails on cancelled work when its processes end (CPython 3.11).
            threading.excepthook = lambda _: None
            for process in active_children():
                if process not in earlier_processes:
                    process.terminate()
        pool.shutdown(cancel_futures=True)
        threading.excepthook = hook


def _results(found: Iterator[R]) -> Iterator[R]:
    try:
        yield from found
    except BrokenProcessPool:
        text = "a worker process was killed, possibly for lack of memory: try fewer --jobs"
        raise KmirrorError(text) from None


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    relax_gc()
