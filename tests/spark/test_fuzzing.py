"""A campaign on Spark equals the campaign of one process, piece by piece."""

from __future__ import annotations

from pyspark.sql import SparkSession

from kmirror.fuzz import pieces as pieces_module
from kmirror.fuzz.pieces import joined, pieces, run_piece
from kmirror.fuzz.targets.rows import Wanted
from kmirror.spark.fuzzing import fuzz

FRAMES = 2_000


def test_a_campaign_on_spark_equals_one_process(spark: SparkSession) -> None:
    wanted = Wanted(seed=1, messages=("HeartbeatRequest", "FetchRequest"))
    parts = [piece._replace(frames=FRAMES) for piece in pieces("decoder", wanted, 2 * pieces_module.PIECE_FRAMES)]
    assert len(parts) == 2
    *_, here = joined(map(run_piece, parts))
    *_, there = fuzz(spark, parts, tasks=2)
    assert (there.frames, there.taken, there.outcomes) == (here.frames, here.taken, here.outcomes)
    assert there.frames == 2 * FRAMES
    assert not there.findings
