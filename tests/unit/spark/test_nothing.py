"""What Spark is asked to do over nothing is refused before it is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.spark.histories import run_histories
from kmirror.spark.verification import verify

NO_SPARK: Any = None


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
