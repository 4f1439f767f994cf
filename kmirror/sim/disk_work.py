"""The simulated disks: when is work done, and what goes wrong with it?

A job happens at one instant, at its end: whoever dies before that has not done it. Jobs of one log dir follow each
other, those of several go on at the same time.
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
    """How long a job takes, in microseconds, inclusive bounds."""

    job_min_us: Duration = 0
    job_max_us: Duration = 0

    def __post_init__(self) -> None:
        """Raise UsageError for a time that is no whole number, below 0, or the wrong way round."""
        whole_number("job_max_us", self.job_max_us, whole_number("job_min_us", self.job_min_us, 0))


class DiskWorkers:
    """One worker for each log dir of each process."""

    def __init__(self, rng: Rng, options: DiskOptions) -> None:
        self._rng = rng
        self._options = options
        self._free_at: dict[tuple[str, int, str], Instant] = {}
        self.slow: dict[str, Duration] = {}
        """Process to how much longer each of its jobs takes."""
        self._faults: list[tuple[str, Callable[[DiskWork], bool], OSError]] = []

    def done_at(self, now: Instant, process: str, incarnation: int, work: DiskWork) -> Instant:
        """Return when work that is ordered now is done."""
        worker = (process, incarnation, work.log_dir)
        options = self._options
        span = self._rng.between(options.job_min_us, options.job_max_us) if options.job_max_us else 0
        span += self.slow.get(process, 0)
        done = self._free_at[worker] = max(now, self._free_at.get(worker, now)) + span
        return done

    def fail_next(self, process: str, error: OSError, wanted: Callable[[DiskWork], bool] = lambda _: True) -> None:
        """Let the next job of `process` that is `wanted` end with `error`, undone."""
        self._faults.append((process, wanted, error))

    def carry_out(self, process: str, work: DiskWork) -> DiskDone:
        """Do it; return what the node is told."""
        for fault in self._faults:
            name, wanted, error = fault
            if name == process and wanted(work):
                self._faults.remove(fault)
                return DiskDone(work.key, None, error)
        try:
            return DiskDone(work.key, work.job.run())
        except (OSError, KmirrorError) as error:
            return DiskDone(work.key, None, error)
