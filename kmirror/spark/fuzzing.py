"""Campaigns of the fuzzer on Spark: their pieces are distributed to tasks, whose findings come back as JSON.

from kmirror import spark as ks

for tally in ks.fuzz(ks.session(), split_jobs("decoder", TargetOptions(seed=1), 10**8)):
    ...
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kmirror.fuzz.campaign import Tally
from kmirror.fuzz.parallel_jobs import FuzzJob, merge_tallies, run_job
from kmirror.fuzz.targets.rows import TargetOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fuzz(spark: SparkSession, pieces: Sequence[FuzzJob], *, tasks: int | None = None) -> Iterator[Tally]:
    """Yield the tally as pieces come back, in their order; `tasks` is the number of tasks that share the pieces."""
    rows = [(json.dumps({**piece._asdict(), "options": asdict(piece.options)}),) for piece in pieces]
    assigned = spark.createDataFrame(rows, "piece string").repartition(min(len(rows), tasks or len(rows)))
    results = assigned.mapInArrow(_work, "row string").toLocalIterator(prefetchPartitions=True)
    yield from merge_tallies(json.loads(row["row"]) for row in results)


def _work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for piece in batch.column("piece"):
            row = json.dumps(run_job(_piece(json.loads(piece.as_py()))))
            yield pa.RecordBatch.from_arrays([pa.array([row])], ["row"])


def _piece(raw: dict[str, Any]) -> FuzzJob:
    """Return the piece in a row; JSON has lists in place of tuples."""
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in raw["options"].items()
    }
    return FuzzJob(**{**raw, "options": TargetOptions(**options)})
