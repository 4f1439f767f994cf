"""The source that is the benchmark's peer reads the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kmirror

SAMPLE = Path(kmirror.__file__).parent / "logdir" / "sample" / "codecs-0"


def test_the_peer_reads_the_same_rows_as_the_source(spark: Any) -> None:
    from benchmarks.spark_tuples import KafkaLogTuples

    spark.dataSource.register(KafkaLogTuples)
    theirs = spark.read.format("kafka-log-tuples").load(str(SAMPLE)).drop("headers").collect()
    ours = spark.read.format("kafka-log").load(str(SAMPLE)).drop("headers").collect()
    assert len(ours) > 0 and theirs == ours
