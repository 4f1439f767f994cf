"""Simulated disks: completion times of disk work, and injected faults.

A job takes effect at a single instant, its end: if the process dies before, the job was not done. Jobs of one log dir
run one after the other; different log dirs work in parallel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.errors import KmirrorError
from kmirror.kernel.arguments import whole_number
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.events import DiskDone, DiskWork
from kmirror.kernel.rng import Rng


@dataclass(frozen=True, slots=True)
class DiskOptions:
    """Duration of a job in microseconds, inclusive bounds."""

    job_min_us: Duration = 0
    job_max_us: Duration = 0

    def __post_init__(self) -> None:
        """Raise UsageError for a negative or non-integer time, and for a maximum below the minimum."""
        whole_number("job_max_us", self.job_max_us, whole_number("job_min_us", self.job_min_us, 0))


class DiskWorkers:
    """One worker per log dir of each process."""

    def __init__(self, rng: Rng, options: DiskOptions) -> None:
        self._rng = rng
        self._options = options
        self._free_at: dict[tuple[str, int, str], Instant] = {}
        self.slow: dict[str, Duration] = {}
        """Extra time of each job, by process."""
        self._faults: list[tuple[str, Callable[[DiskWork], bool], OSError]] = []

    def done_at(self, now: Instant, process: str, incarnation: int, work: DiskWork) -> Instant:
        """Return the completion time of work that is ordered now."""
        worker = (process, incarnation, work.log_dir)
        options = self._options
        span = self._rng.between(options.job_min_us, options.job_max_us) if options.job_max_us else 0
        span += self.slow.get(process, 0)
        done = self._free_at[worker] = max(now, self._free_at.get(worker, now)) + span
        return done

    def fail_next(self, process: str, error: OSError, matches: Callable[[DiskWork], bool] = lambda _: True) -> None:
        """Let the next job of `process` that satisfies `matches` fail with `error`, without being executed."""
        self._faults.append((process, matches, error))

    def run_job(self, process: str, work: DiskWork) -> DiskDone:
        """Run the job and return the event for the node."""
        for fault in self._faults:
            name, matches, error = fault
            if name == process and matches(work):
                self._faults.remove(fault)
                return DiskDone(work.key, None, error)
        try:
            return DiskDone(work.key, work.job.run())
        except (OSError, KmirrorError) as error:
            return DiskDone(work.key, None, error)
