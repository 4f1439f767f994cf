"""Thousands of runs on Spark: a DataFrame of runs, one simulation for each row, on the available executors.

Runs are distributed to some dozens of tasks, because a task takes some 40 ms of a core by itself, about as long as a
short run; the last tasks are small, so that no core waits long for another. The executor stores each run as soon as it
ends: if an executor is killed, only the run under way is repeated elsewhere, and after a killed driver the next call
runs those that are missing. Only DataFrames are used, so local mode, a cluster and Spark Connect use the same code.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kmirror.experiments.results import Results, run_sweep_part
from kmirror.experiments.sweep_file import Sweep
from kmirror.experiments.sweep_run import OK
from kmirror.kernel.names import counted
from kmirror.kernel.rng import Rng

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_PER_CORE_MIN, TASKS_PER_CORE_MAX = 6, 16
RUNS_PER_TASK = 6
POLL_SECONDS = 0.5
RETURNS = "run_id string, status string, wall_ms bigint"

Work = Callable[[Mapping[str, Any]], Iterator[tuple[str, str, int]]]
"""Runs the given run ids; yields run id, status and milliseconds of each."""
Progress = Callable[[int, int], None]
"""Called with the number of finished runs and of all runs."""


@dataclass(slots=True)
class SweepReport:
    """The outcome of a call of `run_sweep`."""

    total: int
    skipped: int
    statuses: dict[str, int] = field(default_factory=dict)
    wall_ms: int = 0
    """Milliseconds of simulations, on all executors together."""
    failed_or_broken: list[str] = field(default_factory=list)
    """Ids of runs that failed or broke a rule."""


def run_sweep(
    spark: SparkSession, sweep: Sweep, location: str, *, tasks: int | None = None, progress: Progress | None = None
) -> SweepReport:
    """Run the missing runs of `sweep` under `location`, and return a report.

    `location` is a path or URI that driver and executors share. Failed runs do not stop others.
    """
    results = Results(location)
    results.prepare()
    finished = results.finished()
    missing = [item for item in sweep.runs if item.run_id not in finished]
    report = SweepReport(len(sweep.runs), len(sweep.runs) - len(missing))
    work = partial(run_sweep_part, location, sweep.name)
    assigned = {item.run_id: asdict(item.options) for item in missing}
    job_name = f"kmirror sweep {sweep.name}: {counted(len(missing), 'run')}"
    with report_progress(results, [item.run_id for item in sweep.runs] if missing else [], progress):
        for row in run_missing(spark, job_name, assigned, work, tasks):
            report.statuses[row["status"]] = report.statuses.get(row["status"], 0) + 1
            report.wall_ms += row["wall_ms"]
            if row["status"] != OK:
                report.failed_or_broken.append(row["run_id"])
    results.compact()
    return report


def run_missing(spark: SparkSession, name: str, missing: Mapping[str, Any], work: Work, tasks: int | None) -> list[Any]:
    """Run `missing`, run ids with their inputs as plain values, and return a row of `RETURNS` for each.

    `work` runs one task's share, on an executor.
    """
    if not missing:
        return []
    with _name_job(spark, name):
        return _start(spark, missing, work, tasks or _tasks(spark, len(missing)))


def _tasks(spark: SparkSession, runs: int) -> int:
    cores = int(spark.conf.get("spark.kmirror.cores", None) or _cores(spark))
    return tasks_for(runs, cores)


def tasks_for(runs: int, cores: int) -> int:
    """Return the number of tasks: enough for every core, with several runs each if there are many."""
    several = min(runs // RUNS_PER_TASK, cores * TASKS_PER_CORE_MAX)
    return min(runs, max(several, cores * TASKS_PER_CORE_MIN))


def _cores(spark: SparkSession) -> int:
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:
        return 2  # Spark Connect does not report it; the setting `spark.kmirror.cores` can.


def _start(spark: SparkSession, missing: Mapping[str, Any], work: Work, tasks: int) -> list[Any]:
    """Run the job and return a row for each run."""
    # Slow runs are neighbours in a grid: shuffled, tasks of the same size take about as long.
    ids = list(missing)
    Rng(len(ids)).shuffle(ids)
    assigned: list[tuple[int, str]] = []
    start = 0
    for task, size in enumerate(assign(len(ids), tasks)):
        assigned.append((task, json.dumps({run_id: missing[run_id] for run_id in ids[start : start + size]})))
        start += size
    frame = spark.createDataFrame(assigned, "task int, runs string")

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for text in batch.column("runs").to_pylist():
                for run_id, status, wall_ms in work(json.loads(text)):
                    yield pa.RecordBatch.from_pydict({"run_id": [run_id], "status": [status], "wall_ms": [wall_ms]})

    from pyspark.sql.functions import col

    spread = frame.repartitionByRange(len(assigned), col("task"))
    return list(spread.mapInArrow(run, RETURNS).collect())


def assign(runs: int, tasks: int) -> list[int]:
    """Return the number of runs of each task: ever fewer, so that at the end no core waits long for another."""
    tasks = min(tasks, runs)
    sizes, assigned = [], 0
    for remaining in range(tasks - 1, -1, -1):
        # The share of runs given so far, if sizes fall in a straight line to zero.
        target = round(runs * (1 - (remaining / tasks) ** 2))
        size = min(max(target - assigned, 1), runs - assigned - remaining)
        sizes.append(size)
        assigned += size
    return sizes


@contextmanager
def _name_job(spark: SparkSession, text: str) -> Iterator[None]:
    """Give the job a name in the Spark UI, if there is one."""
    try:
        context = spark.sparkContext
    except Exception:
        yield  # Spark Connect: the server names jobs after the client's operation.
        return
    context.setJobDescription(text)
    try:
        yield
    finally:
        context.setJobDescription(None)  # type: ignore[arg-type]  # None removes the description


@contextmanager
def report_progress(results: Results, ids: Collection[str], progress: Progress | None) -> Iterator[None]:
    """Call `progress` periodically during the job; never if there is nothing to run."""
    if progress is None or not ids:
        yield
        return
    run_ids = set(ids)
    is_finished = threading.Event()

    def watch() -> None:
        while not is_finished.wait(POLL_SECONDS):
            progress(len(run_ids & results.finished()), len(run_ids))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_finished.set()
        thread.join()
        progress(len(run_ids & results.finished()), len(run_ids))
