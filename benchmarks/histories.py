"""Cost of a random history (H1): processor time of `full`, drawn, run and judged, compared with a loop of plain Python.

The loop does the minimum work of a simulator: it takes plans from a heap, looks their subjects up, packs and unpacks a
frame and updates a digest. Its number of rounds takes as long as the goal, 0.4 seconds of an idle core of the machine
on which that was set, where a history took one second. So a ratio of 1 means that a history takes as long as the goal.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from struct import Struct

from benchmarks.harness import Case, no_runs
from kmirror.cli.quick_start import relax_gc
from kmirror.histories.run import run_history

ROUNDS = 650_000
SUBJECTS = 64
HISTORIES = 3
"""Histories of one pair: they differ by a factor of five."""
FRAME = Struct(">iqiqiqi")


def loop(rounds: int = ROUNDS) -> str:
    """Run the reference loop, and return its digest."""
    digest, heap = hashlib.sha256(), [(number, number) for number in range(SUBJECTS)]
    counts = {f"node-{number}": 0 for number in range(SUBJECTS)}
    names = list(counts)
    for number in range(SUBJECTS, SUBJECTS + rounds):
        due, subject = heappop(heap)
        name = names[subject % SUBJECTS]
        counts[name] += 1
        frame = FRAME.pack(number, due, subject % SUBJECTS, number, counts[name], due, 0)
        fields = FRAME.unpack_from(frame)
        digest.update(frame)
        heappush(heap, (fields[1] + SUBJECTS, fields[0]))
    return digest.hexdigest()


def processor_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(pairs: int, *, rounds: int = ROUNDS, profile: str = "full") -> list[float]:
    """Return the time of the loop over that of a history, for each group of histories."""
    thresholds = gc.get_threshold()
    relax_gc()  # Like `kmirror sim`.
    try:
        return list(_ratios(pairs, rounds, profile))
    finally:
        gc.set_threshold(*thresholds)


def _ratios(pairs: int, rounds: int, profile: str) -> Iterator[float]:
    run_history(seed=0, profile="smoke")  # Loading modules is not measured.
    for pair in range(pairs):
        before = processor_seconds(lambda: loop(rounds))
        seeds = range(pair * HISTORIES, (pair + 1) * HISTORIES)
        history_s = sum(processor_seconds(lambda seed=seed: run_history(seed=seed, profile=profile)) for seed in seeds)  # type: ignore[misc]
        after = processor_seconds(lambda: loop(rounds))
        yield (before + after) / 2 / (history_s / HISTORIES)


def cases() -> list[Case]:
    return [Case("H1", "0.4 s of plain Python / CPU-seconds per history of full", "kmirror", no_runs, 0.15, 1, measure)]
