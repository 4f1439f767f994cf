"""A campaign on Spark equals the campaign of one process, piece by piece."""

from __future__ import annotations

from pyspark.sql import SparkSession

from kmirror.fuzz import parallel_jobs as pieces_module
from kmirror.fuzz.parallel_jobs import merge_tallies, run_job, split_jobs
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.spark.fuzzing import fuzz

FRAMES = 2_000


def test_a_campaign_on_spark_equals_one_process(spark: SparkSession) -> None:
    wanted = TargetOptions(seed=1, messages=("HeartbeatRequest", "FetchRequest"))
    parts = [piece._replace(frames=FRAMES) for piece in split_jobs("decoder", wanted, 2 * pieces_module.JOB_FRAMES)]
    assert len(parts) == 2
    *_, here = merge_tallies(map(run_job, parts))
    *_, there = fuzz(spark, parts, tasks=2)
    assert (there.frames, there.taken, there.outcomes) == (here.frames, here.taken, here.outcomes)
    assert there.frames == 2 * FRAMES
    assert not there.findings
