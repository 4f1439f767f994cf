"""Ratios that are independent of the machine's drift.

kmirror and the peer run in turns within one process, in slices of some tens of milliseconds; each pair of adjacent
slices gives one ratio, and the row's ratio is their median. A ratio above 1 means that kmirror is better by that
factor, also where memory or import time is compared. Absolute times are not shown: they mean nothing on another
machine, and little on this one.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Run = Callable[[], object]
BUILT_IN_PEERS = ("kmirror", "asyncio")  # Peers that are always installed: a limit, or a part of Python.


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison. `prepare` builds both sides just before they are measured."""

    id: str
    case: str
    peer: str
    prepare: Callable[[], tuple[Run, Run]]
    floor: float | None = None
    reach: float | None = None
    # Returns the ratios itself, if the comparison is not of time in this process.
    measure: Callable[[int], list[float]] | None = None
    version: str | None = None  # Version of the peer, if it is not an installed package.

    @property
    def is_possible(self) -> bool:
        return self.version is not None or self.peer in BUILT_IN_PEERS or is_installed(self.peer)


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    case: str
    peer: str
    peer_version: str
    ratio: float
    low: float  # Lower and upper quartile of the paired ratios.
    high: float
    floor: float | None
    reach: float | None
    commit: str
    machine: str

    @property
    def is_below_floor(self) -> bool:
        return self.floor is not None and self.ratio < self.floor

    def to_json(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Effort:
    pairs: int
    slice_ns: int


FULL = Effort(pairs=15, slice_ns=50_000_000)
QUICK = Effort(pairs=9, slice_ns=8_000_000)


def no_runs() -> tuple[Run, Run]:
    """For cases that measure by themselves."""
    raise AssertionError


def calls_per_slice(run: Run, slice_ns: int) -> int:
    """Return the number of calls that fill a slice."""
    run()
    calls = 1
    while True:
        spent = time_calls(run, calls)
        if spent * 4 >= slice_ns:
            return max(1, calls * slice_ns // spent)
        calls *= 4


# Parts of a slice; only the fastest counts, so that another process on the machine spoils no pair.
PARTS = 8


def best_time(run: Run, calls: int) -> float:
    """Return nanoseconds per call within one slice."""
    part = max(1, calls // PARTS)
    return min(time_calls(run, part) for _ in range(PARTS)) / part


def time_calls(run: Run, calls: int) -> int:
    """Return nanoseconds for `calls` calls."""
    start = time.perf_counter_ns()
    for _ in range(calls):
        run()
    return time.perf_counter_ns() - start


def paired_ratios(ours: Run, theirs: Run, effort: Effort) -> list[float]:
    """Return the peer's time over kmirror's, once for each pair of slices."""
    our_calls = calls_per_slice(ours, effort.slice_ns)
    their_calls = calls_per_slice(theirs, effort.slice_ns)
    ratios = []
    for turn in range(effort.pairs):
        gc.collect()
        # The order alternates.
        if turn % 2:
            their_time = best_time(theirs, their_calls)
            our_time = best_time(ours, our_calls)
        else:
            our_time = best_time(ours, our_calls)
            their_time = best_time(theirs, their_calls)
        ratios.append(their_time / our_time)
    return ratios


def run(cases: Sequence[Case], effort: Effort) -> Iterator[Row]:
    """Yield one row for each case whose peer is installed."""
    commit, machine = current_commit(), current_machine()
    for case in cases:
        peer_version = installed_version(case.peer) if case.version is None else case.version
        if case.measure is not None:
            ratios = case.measure(effort.pairs)
        else:
            ratios = paired_ratios(*case.prepare(), effort)
        low, _, high = statistics.quantiles(ratios, n=4)
        yield Row(
            case.id, case.case, case.peer, peer_version, round(statistics.median(ratios), 3), round(low, 3),
            round(high, 3), case.floor, case.reach, commit, machine,
        )  # fmt: skip


@cache
def scratch() -> Path:
    """Return a folder for the files of a run; it is removed when the process ends, also by `kill` or `timeout`."""
    path = Path(tempfile.mkdtemp(prefix="kmirror-benchmark-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    return path


def installed_version(package: str) -> str:
    """Return the peer's version; "-" if it is a part of Python, or kmirror itself."""
    try:
        return version(package)
    except PackageNotFoundError:
        return platform.python_version() if package == "asyncio" else "-"


def is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def current_commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "-"
    return completed.stdout.strip()


def current_machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    system = f"{platform.system()}, {platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} x {model}, {system}"
