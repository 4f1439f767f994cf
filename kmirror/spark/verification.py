"""Do two clusters' log directories hold the same batches? Each piece of a segment is compared by a task.

The source is compared up to its last stable offset, which is what a mirror copies. Where several brokers of the
source are given, the first that has a partition speaks for it; of the destination every replica is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kmirror.kernel.ids import TopicPartition
from kmirror.spark.compare import Difference, Range, RangeResult, compare_ranges
from kmirror.spark.folders import SPLIT_BYTES, FolderSegment, find_segments, first_offset, split
from kmirror.spark.transactions import find_transactions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = (
    "topic string, partition int, kind string, side string, offset bigint, last_offset bigint, expected string, "
    "found string, source_file string, source_position bigint, destination_file string, destination_position bigint"
)
TASK_BYTES = SPLIT_BYTES // 4


@dataclass(slots=True)
class Verification:
    """What `verify` found."""

    rows: list[Difference]
    partitions: int
    replicas: int
    batches: int
    bytes: int
    untold: int
    """Differences beyond the first thousand of each task."""
    _spark: SparkSession

    @property
    def is_equal(self) -> bool:
        return not self.rows and not self.untold

    @property
    def differences(self) -> DataFrame:
        """Return the differences as a DataFrame."""
        return self._spark.createDataFrame([asdict(row) for row in self.rows], SCHEMA)

    def summary(self) -> str:
        """Return what was compared and how it ended, in two lines at most."""
        head = (
            f"{self.partitions} partitions, {self.replicas} replicas, {self.batches} batches, {self.bytes} bytes equal"
        )
        if self.is_equal:
            return head
        kinds = Counter(row.kind for row in self.rows)
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        more = f", and {self.untold} more" if self.untold else ""
        return f"{head}\n{len(self.rows) + self.untold} differences: {told}{more}"


def verify(
    spark: SparkSession, source: str, destination: str, *, topics: Sequence[str] | None = None, internal: bool = False
) -> Verification:
    """Compare every partition of `source` with its replicas in `destination`; both are paths as `kafka-log` takes."""
    here = _replicas(source, topics, internal)
    there = _replicas(destination, topics, internal)
    result = Verification([], len(here), 0, 0, 0, 0, spark)
    tasks: list[Range] = []
    for tp, replicas in here.items():
        others = there.get(tp, [])
        result.replicas += len(others)
        if not others:
            text = "the destination has no such partition"
            result.rows.append(_whole(tp, "missing", "destination", replicas[0], text))
        for other in others:
            if replicas[0][0].log_start_offset != other[0].log_start_offset:
                result.rows.append(_starts(tp, replicas[0][0], other[0]))
            tasks += _ranges(replicas[0], other)
    for tp, others in there.items():
        if tp not in here:
            result.rows.append(_whole(tp, "extra", "destination", others[0], "the source has no such partition"))
    for found in _run(spark, tasks):
        result.batches += found.batches
        result.bytes += found.bytes
        result.untold += found.more
        result.rows += found.differences
    result.rows.sort(key=lambda row: (row.topic, row.partition, row.destination_file, row.offset))
    return result


def _replicas(
    path: str, topics: Sequence[str] | None, internal: bool
) -> dict[TopicPartition, list[list[FolderSegment]]]:
    """Return the segments of each partition, once for each folder that holds it."""
    found: dict[TopicPartition, list[list[FolderSegment]]] = {}
    segments = find_segments(path, topics=topics, internal=internal)
    for _, group in groupby(segments, key=lambda s: s.path.rpartition("/")[0]):
        folder = list(group)
        found.setdefault(folder[0].tp, []).append(folder)
    return found


def _whole(tp: TopicPartition, kind: str, side: str, segments: Sequence[FolderSegment], text: str) -> Difference:
    first, last = segments[0].base_offset, segments[-1].base_offset
    return Difference(tp.topic, tp.partition, kind, side, first, last, text, source_file=segments[0].path)


def _starts(tp: TopicPartition, here: FolderSegment, there: FolderSegment) -> Difference:
    return Difference(
        tp.topic, tp.partition, "log start", "destination", there.log_start_offset, there.log_start_offset,
        str(here.log_start_offset), str(there.log_start_offset), here.path, -1, there.path, -1,
    )  # fmt: skip


def _ranges(here: Sequence[FolderSegment], there: Sequence[FolderSegment]) -> list[Range]:
    """Return the tasks of one replica: the source's pieces, each with where the next one begins."""
    until = find_transactions(here, tolerant=True).first_undecided_offset
    start = max(here[0].log_start_offset, there[0].log_start_offset)
    pieces = [piece for segment in here for piece in split(segment)]
    filled = [piece for piece in pieces if piece.end > piece.start] or pieces[:1]
    firsts = [first_offset(piece) for piece in filled]
    tasks = []
    for number, (piece, first) in enumerate(zip(filled, firsts, strict=True)):
        end = firsts[number + 1] if number + 1 < len(filled) else None
        begin = start if number == 0 else max(first, start)
        if end is None or end > start:
            tasks.append(Range(piece, begin, end, until, tuple(there)))
    return tasks


def _run(spark: SparkSession, tasks: Sequence[Range]) -> Iterator[RangeResult]:
    """Compare on the executors; a row of JSON cannot carry what a task needs, a pickle can."""
    import pickle

    groups: list[list[Range]] = []
    size = TASK_BYTES
    for task in tasks:
        if size >= TASK_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(task)
        size += task.split.end - task.split.start
    if not groups:
        return
    rows = [(number, bytearray(pickle.dumps(group))) for number, group in enumerate(groups)]
    frame = spark.createDataFrame(rows, "task int, ranges binary")

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for pickled in batch.column("ranges").to_pylist():
                for found in compare_ranges(pickle.loads(pickled)):
                    yield pa.RecordBatch.from_pydict({"found": [pickle.dumps(found)]})

    from pyspark.sql.functions import col

    dealt = frame.repartitionByRange(len(groups), col("task"))
    for row in dealt.mapInArrow(work, "found binary").collect():
        found: RangeResult = pickle.loads(bytes(row["found"]))
        yield found
