"""Spark compared with plain processes (K1) and with the same reader without Spark (K2).

K1: the same runs of a sweep, stored the same way, by a pool of worker processes and by Spark with the same number of
workers, in turns; the ratio is the pool's wall time over Spark's. K2: one segment read by one task. The session is
started before the measurement, and each side has run once before.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.harness import Case, no_runs, scratch

WORKERS = 2
PAIRS_MAX = 5
WARM_UP = 3
RECORDS = 600_000
# The README's example with half its seeds; and runs that take hardly longer than Spark's overhead for a task.
EXAMPLE: dict[str, Any] = {
    "seeds": 5,
    "fixed": {"brokers": 3, "failure_ms": 2000},
    "grid": {"latency_ms": [5, 25, 50, 100], "loss_ppm": [0, 1000, 5000, 10_000, 20_000]},
}
SHORT: dict[str, Any] = {"seeds": 20, "grid": {"latency_ms": [10, 50], "loss_ppm": [0, 10_000]}}
ROOT = Path(__file__).resolve().parent.parent


@cache
def spark() -> Any:
    """Return the session of this process, with a variant of the source that yields tuples, for K2."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    from kmirror.spark.sessions import session

    found = session("benchmarks", master=f"local[{WORKERS}]", ui=False)
    atexit.register(found.stop)
    return found


# -- K1 -----------------------------------------------------------------------------------------


def _run_simulation(argument: tuple[str, Any]) -> str:
    """Run one simulation and store it; the job of a worker of the pool."""
    from kmirror.experiments.results import run_all

    location, item = argument
    return next(iter(run_all(location, "k1", [item])))[1]


def k1(document: dict[str, Any], pairs_max: int) -> Callable[[int], list[float]]:
    """Return a function that measures the pool's time over Spark's, a pair at a time."""
    return lambda pairs: _k1(document, min(pairs, pairs_max))


def _k1(document: dict[str, Any], pairs: int) -> list[float]:
    from kmirror.experiments.results import Results
    from kmirror.experiments.sweep_file import Sweep, parse_sweep
    from kmirror.spark.sweep import run_sweep

    sweep = parse_sweep(document, "k1")
    small = Sweep("warm", (), sweep.runs[: 2 * WORKERS])
    numbers = iter(range(1000))

    def new_location() -> str:
        location = str(scratch() / f"k1-{next(numbers)}")
        Results(location).prepare()
        return location

    def run_on_spark(selected: Sweep) -> None:
        assert run_sweep(spark(), selected, new_location()).statuses == {"ok": len(selected.runs)}

    with get_context("spawn").Pool(WORKERS) as pool:

        def run_on_pool(selected: Sweep) -> None:
            location = new_location()
            statuses = list(
                pool.imap_unordered(_run_simulation, [(location, item) for item in selected.runs], chunksize=1)
            )
            assert statuses == ["ok"] * len(selected.runs)
            Results(location).compact()

        run_on_spark(small)
        run_on_pool(small)
        return [1 / ratio for ratio in _pairs(lambda: run_on_spark(sweep), lambda: run_on_pool(sweep), pairs)]


def _pairs(one: Callable[[], object], other: Callable[[], object], pairs: int) -> Iterator[float]:
    """Yield the time of `one` over that of `other`; their order alternates."""
    for turn in range(min(pairs, PAIRS_MAX)):
        order = [one, other] if turn % 2 else [other, one]
        spent = {}
        for run in order:
            started_at = time.perf_counter()
            run()
            spent[run] = time.perf_counter() - started_at
        yield spent[one] / spent[other]


# -- K2 -----------------------------------------------------------------------------------------


@cache
def segment() -> str:
    """Return a partition folder with one segment: 100-byte records, 500 in a batch, no compression."""
    from kmirror.records import RecordData, build_batch

    target = scratch() / "bench-0"
    target.mkdir()
    value = bytes(range(80))
    with (target / f"{0:020}.log").open("wb") as log:
        for base in range(0, RECORDS, 500):
            rows = [RecordData(b"key-%08d" % (base + n), value) for n in range(500)]
            log.write(build_batch(rows, base_offset=base, partition_leader_epoch=0, timestamp_ms=1_700_000_000_000))
    return str(target)


def arrow_in_spark() -> None:
    frame = spark().read.format("kafka-log").option("splitBytes", 1 << 30).load(segment())
    frame.write.format("noop").mode("overwrite").save()


def tuples_in_spark() -> None:
    from benchmarks.spark_tuples import KafkaLogTuples

    spark().dataSource.register(KafkaLogTuples)
    frame = spark().read.format("kafka-log-tuples").load(segment())
    frame.write.format("noop").mode("overwrite").save()


def arrow_alone() -> None:
    from kmirror.log.committed import Committed
    from kmirror.spark.folders import find_segments, split
    from kmirror.spark.rows import RowQuery, read_split

    count = 0
    for item in find_segments(segment()):
        for piece in split(item, 1 << 30):
            count += sum(batch.num_rows for batch in read_split(piece, RowQuery(), Committed()))
    assert count == RECORDS


def k2(other: Callable[[], None]) -> Callable[[int], list[float]]:
    def measure(pairs: int) -> list[float]:
        for _ in range(WARM_UP):  # The JVM compiles the code that moves rows.
            arrow_in_spark()
            other()
        return [1 / ratio for ratio in _pairs(arrow_in_spark, other, pairs)]

    return measure


def cases() -> list[Case]:
    """Return K1 and K2, or nothing without Spark."""
    if find_spec("pyspark") is None:
        return []
    peers = f"vs {WORKERS} worker processes"
    return [
        Case("K1", f"README's, 100 runs of 0.6 s, {peers}", "pyspark", no_runs, 0.85, 0.95, measure=k1(EXAMPLE, 3)),
        Case("K1", f"80 runs of 0.1 s, {peers}", "pyspark", no_runs, 0.85, 0.95, measure=k1(SHORT, PAIRS_MAX)),
        Case("K2", "read a segment: Arrow vs tuples", "pyspark", no_runs, 2.2, 3.0, measure=k2(tuples_in_spark)),
        Case("K2", "read a segment: one task vs no Spark", "pyspark", no_runs, 0.25, 0.4, measure=k2(arrow_alone)),
    ]
