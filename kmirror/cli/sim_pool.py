"""How do many histories run in several processes? In the order of their seeds, and Ctrl-C leaves no process behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context
from typing import Any

from kmirror.errors import KmirrorError
from kmirror.experiments.one_history import RunSeed, execute_history


@contextmanager
def rows(run: RunSeed, seeds: range, profile: str, jobs: int) -> Iterator[Iterator[dict[str, Any]]]:
    """Give an iterator over the rows of all seeds, in their order; when it is left early, no process goes on."""
    if jobs == 1 or len(seeds) == 1:
        yield (execute_history(run, seed, profile) for seed in seeds)
        return
    before = active_children()
    # Spawned, not forked: a progress bar has a thread. At Ctrl-C only the parent acts on the signal.
    pool = ProcessPoolExecutor(min(jobs, len(seeds)), get_context("spawn"), _ignore_interrupts)
    is_done = False
    try:
        yield _watched(pool.map(partial(_execute, run, profile), seeds))
        is_done = True
    finally:
        hook = threading.excepthook
        if not is_done:
            # The pool's own thread stumbles over cancelled work when its processes go (CPython 3.11).
            threading.excepthook = lambda _: None
            for process in active_children():
                if process not in before:
                    process.terminate()
        pool.shutdown(cancel_futures=True)
        threading.excepthook = hook


def _execute(run: RunSeed, profile: str, seed: int) -> dict[str, Any]:
    return execute_history(run, seed, profile)


def _watched(found: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    try:
        yield from found
    except BrokenProcessPool:
        text = "a process that ran histories was killed, for want of memory perhaps: try fewer --jobs"
        raise KmirrorError(text) from None


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
