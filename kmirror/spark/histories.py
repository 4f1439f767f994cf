"""Thousands of histories on Spark, run like sweeps: distributed to tasks, each stored as soon as it is judged.

    from kmirror import spark as ks

    spark = ks.session()
    ks.run_histories(spark, range(3000), "full", "sim.results")     # once more: runs those that are missing
    ks.read_histories("sim.results", range(3000), "full")           # rows, in the order of the seeds

A row has the fields of `kmirror.histories.summary`, and run_id, status (the verdict), cpu_seconds, wall_ms, versions. A
failed history has its plan as JSON text, for `kmirror sim --plan`. The id of a run depends on profile, seed and the
version of kmirror, so another version runs all of them again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import pyarrow as pa

from kmirror import __version__
from kmirror.errors import UsageError
from kmirror.experiments.history_run import history_to_row
from kmirror.experiments.results import Results, Row, run_and_store
from kmirror.experiments.sweep_run import provenance
from kmirror.histories.profiles import checked_profile
from kmirror.histories.summary import findings
from kmirror.kernel.arguments import whole_number
from kmirror.kernel.names import counted
from kmirror.kernel.rng import SEED_MAX
from kmirror.spark.sweep import Progress, SweepReport, report_progress, run_missing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNNER = "kmirror.histories.run:run_history"
"""The function that runs a history on executors, as module:name."""
_ANOMALY = pa.struct(
    [
        ("checker", pa.string()), ("cluster", pa.string()), ("topic", pa.string()), ("partition", pa.int64()),
        ("offset", pa.int64()), ("text", pa.string()), ("at_us", pa.int64()),
    ]
)  # fmt: skip
_ACCEPTED = pa.struct(
    [
        ("decision", pa.string()), ("cluster", pa.string()), ("topic", pa.string()), ("partition", pa.int64()),
        ("records", pa.int64()),
    ]
)  # fmt: skip
SCHEMA = pa.schema(
    [
        ("run_id", pa.string()), ("status", pa.string()), ("seed", pa.uint64()), ("profile", pa.string()),
        ("exit", pa.int64()), ("verdict", pa.string()), ("findings", pa.list_(pa.string())),
        ("anomalies", pa.list_(_ANOMALY)), ("accepted", pa.list_(_ACCEPTED)), ("crash", pa.string()),
        ("steps", pa.int64()), ("acked", pa.int64()), ("read", pa.int64()), ("digest", pa.string()),
        ("events", pa.int64()), ("virtual_seconds", pa.float64()), ("cpu_seconds", pa.float64()),
        ("wall_ms", pa.int64()), ("plan_json", pa.string()), ("kmirror_version", pa.string()),
        ("python_version", pa.string()), ("package", pa.string()),
    ],
    metadata={"kmirror.version": __version__},
)  # fmt: skip
ADDED = ("run_id", "status", "findings", "wall_ms", "plan_json", "kmirror_version", "python_version", "package")
"""Columns that the object of a history does not have."""


def run_histories(
    spark: SparkSession,
    seeds: Collection[int],
    profile: str,
    location: str,
    *,
    tasks: int | None = None,
    progress: Progress | None = None,
    runner: str = RUNNER,
) -> SweepReport:
    """Run the histories of `seeds` that are missing under `location`, and return a report.

    `location` is a path or URI that driver and executors share. Failed histories do not stop others. Raises UsageError
    for an invalid seed or profile, and without seeds: a result without histories would look clean.
    """
    if not seeds:
        raise UsageError("name at least one seed")
    if runner == RUNNER:
        checked_profile(profile)
    for seed in seeds:
        whole_number("a seed", seed, 0, SEED_MAX)
    results = Results(location, SCHEMA)
    results.prepare()
    finished = results.finished()
    seeds_by_id = {history_id(seed, profile): seed for seed in seeds}
    missing = {run_id: seed for run_id, seed in seeds_by_id.items() if run_id not in finished}
    report = SweepReport(len(seeds_by_id), len(seeds_by_id) - len(missing))
    work = partial(run_part, location, profile, runner)
    with report_progress(results, list(seeds_by_id) if missing else [], progress):
        for row in run_missing(
            spark, f"kmirror sim {profile}: {counted(len(missing), 'history')}", missing, work, tasks
        ):
            report.statuses[row["status"]] = report.statuses.get(row["status"], 0) + 1
            report.wall_ms += row["wall_ms"]
            if row["status"] != "clean":
                report.failed_or_broken.append(row["run_id"])
    results.compact()
    return report


def prepare(location: str, seeds: Collection[int], profile: str) -> None:
    """Check that the missing histories can be stored under `location`; raises like `Results.prepare_if_missing`."""
    Results(location, SCHEMA).prepare_if_missing([history_id(seed, profile) for seed in seeds])


def read_histories(location: str, seeds: Collection[int], profile: str) -> list[Row]:
    """Return the objects of those histories that are finished, in the order of the seeds."""
    rows = {row["run_id"]: row for row in Results(location, SCHEMA).read().to_pylist()}
    found = [rows[run_id] for run_id in (history_id(seed, profile) for seed in sorted(seeds)) if run_id in rows]
    return [_to_summary(row) for row in found]


def history_id(seed: int, profile: str) -> str:
    """Return the id of a history, 16 hex digits."""
    text = json.dumps({"kmirror": __version__, "profile": profile, "seed": seed}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def run_part(location: str, profile: str, runner: str, part: Mapping[str, int]) -> Iterator[tuple[str, str, int]]:
    """Run the histories of one task, given as run ids with their seeds."""
    return run_and_store(Results(location, SCHEMA), part, partial(run_and_store_row, profile, runner))


def run_and_store_row(profile: str, runner: str, seed: int) -> Row:
    """Run one history and return the row to store."""
    started_at = time.perf_counter()
    module, _, name = runner.partition(":")
    row = history_to_row(getattr(import_module(module), name), seed, profile)
    plan = row.pop("plan")
    return row | {
        "run_id": history_id(seed, profile),
        "status": row["verdict"],
        "findings": findings(row),
        "plan_json": "" if plan is None else json.dumps(plan, indent=1),
        **provenance(),
        "wall_ms": round((time.perf_counter() - started_at) * 1000),
    }


def _to_summary(row: Row) -> Row:
    fields = {name: value for name, value in row.items() if name not in ADDED}
    return fields | {"plan": json.loads(row["plan_json"]) if row["plan_json"] else None}
