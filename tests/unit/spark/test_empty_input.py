"""Spark jobs without input are refused before Spark is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kmirror.logdir
from kmirror.errors import UsageError
from kmirror.spark.histories import run_histories
from kmirror.spark.options import parse_options
from kmirror.spark.source import KafkaLogReader
from kmirror.spark.verification import verify

NO_SPARK: Any = None
SAMPLE = Path(kmirror.logdir.__file__).parent / "sample"


def test_of_no_histories_none_is_clean(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one seed"):
        run_histories(NO_SPARK, [], "full", str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_topic_that_neither_side_has(tmp_path: Path) -> None:
    for name in "ab":
        folder = tmp_path / name / "t-0"
        folder.mkdir(parents=True)
        (folder / f"{0:020d}.log").touch()
    sides = str(tmp_path / "a"), str(tmp_path / "b")
    with pytest.raises(UsageError, match="has the topic 'nope'"):
        verify(NO_SPARK, *sides, topics=["nope"])
    with pytest.raises(UsageError, match="takes a list of names"):
        verify(NO_SPARK, *sides, topics="t")


def test_a_mistyped_option_of_kafka_log_is_no_empty_table() -> None:
    def plan(**options: str) -> int:
        return len(KafkaLogReader(parse_options({"path": str(SAMPLE), **options})).partitions())

    assert plan(topics="codecs, txn") > 0
    with pytest.raises(UsageError, match="no segment of topic 'codex' there"):
        plan(topics="codecs,codex")
    with pytest.raises(UsageError, match=r"'__consumer_offsets' there \(internal: option includeInternal\)"):
        plan(topics="__consumer_offsets")
