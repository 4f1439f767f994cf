"""A stream follows growing folders, returns each record once across restarts, and reports unread deleted segments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW_MS, batch_of


def numbered(first: int, count: int) -> bytes:
    return batch_of(*(b"%d" % (first + n) for n in range(count)), offset=first, timestamp=NOW_MS + first)


def tolerates_torn_tail(spark: Any, folder: Path, work: Path, **options: object) -> list[int]:
    """Process the new records, and return all offsets that the stream has delivered since its start."""
    query = (
        spark.readStream.format("kafka-log").options(**options).load(str(folder))
        .writeStream.format("parquet").option("checkpointLocation", str(work / "checkpoint"))
        .trigger(availableNow=True).start(str(work / "out"))
    )  # fmt: skip
    query.awaitTermination()
    return sorted(row.offset for row in spark.read.parquet(str(work / "out")).select("offset").collect())


def test_each_record_once_over_restarts_rolls_and_new_partitions(spark: Any, tmp_path: Path) -> None:
    logs, work = tmp_path / "logs", tmp_path / "work"
    partition = logs / "t-0"
    partition.mkdir(parents=True)
    first = partition / f"{0:020}.log"
    torn = numbered(20, 10)
    first.write_bytes(numbered(0, 10) + numbered(10, 10) + torn[:50])
    assert tolerates_torn_tail(spark, logs, work) == list(range(20))  # The torn end is not included yet.
    first.write_bytes(numbered(0, 10) + numbered(10, 10) + torn)
    (partition / f"{30:020}.log").write_bytes(numbered(30, 5))  # Rolled.
    assert tolerates_torn_tail(spark, logs, work) == list(range(35))
    assert tolerates_torn_tail(spark, logs, work) == list(range(35))
    first.unlink()  # Deleted after it was read: nothing is lost.
    other = logs / "t-1"
    other.mkdir()
    (other / f"{100:020}.log").write_bytes(numbered(100, 3))
    assert tolerates_torn_tail(spark, logs, work) == [*range(35), 100, 101, 102]


def test_new_records_are_read_in_pieces_of_the_requested_size(spark: Any, tmp_path: Path) -> None:
    logs, work = tmp_path / "logs", tmp_path / "work"
    for name in ("t-0", "t-1"):
        (logs / name).mkdir(parents=True)
        for base in (0, 40):
            (logs / name / f"{base:020}.log").write_bytes(b"".join(numbered(base + n, 10) for n in range(0, 40, 10)))
    wanted = sorted([*range(80), *range(80)])
    assert tolerates_torn_tail(spark, logs, work, bytesPerTrigger=4 * len(numbered(0, 10))) == wanted
    assert len(list((work / "checkpoint" / "commits").glob("[0-9]*"))) >= 4
    assert tolerates_torn_tail(spark, logs, work, bytesPerTrigger=1) == wanted


def test_a_segment_deleted_before_it_was_read_is_named(spark: Any, tmp_path: Path) -> None:
    logs, work = tmp_path / "logs", tmp_path / "work"
    partition = logs / "t-0"
    partition.mkdir(parents=True)
    (partition / f"{0:020}.log").write_bytes(numbered(0, 10))
    assert tolerates_torn_tail(spark, logs, work) == list(range(10))
    (partition / f"{0:020}.log").unlink()
    (partition / f"{40:020}.log").write_bytes(numbered(40, 2))
    with pytest.raises(Exception, match="was deleted before it was read to its end: offsets from 10 to 39"):
        tolerates_torn_tail(spark, logs, work)
    assert tolerates_torn_tail(spark, logs, work, onCorrupt="skip") == [*range(10), 40, 41]
