"""Verification that two clusters' log directories hold the same batches, or the same records.

Each piece of a segment is a task. The source is compared up to its last stable offset, which is the part that a mirror
copies. If several brokers of the source are given, the first one that has a partition counts; of the destination every
replica is compared. Records (`logical`) are compared where batches differ, a whole log by a task, as `kmirror diff
--logical --until-lso` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import as_names, counted
from kmirror.log.compare import Extent, Shares
from kmirror.logdir.compare.results import extent_in_words, shares_in_words
from kmirror.logdir.partition import PartitionFolder, read_partition
from kmirror.spark.compare import Difference, Range, RangeResult, Records, compare_ranges
from kmirror.spark.folders import SPLIT_BYTES, FolderSegment, find_segments, first_offset, split
from kmirror.spark.transactions import find_transactions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = (
    "topic string, partition int, kind string, side string, offset bigint, last_offset bigint, expected string, "
    "found string, source_file string, source_position bigint, destination_file string, destination_position bigint, "
    "within string, byte bigint, expected_bytes string, found_bytes string"
)
TASK_BYTES = SPLIT_BYTES // 4


@dataclass(slots=True)
class ReplicaResult:
    """The equal and the differing parts of a replica at the destination and the source."""

    tp: TopicPartition
    folder: str
    shares: Shares = field(default_factory=Shares)
    """`only_expected` is the part that only the source has, `only_found` the part that only the replica has."""
    bytes: int = 0
    """Bytes of the batches that are equal."""

    @property
    def is_equal(self) -> bool:
        """Whether both sides have the same batches. Faults that both have, such as a wrong checksum, do not count."""
        shares = self.shares
        return all(part.is_empty for part in (shares.differing, shares.only_expected, shares.only_found))

    def __str__(self) -> str:
        return f"{self.tp} in {self.folder}: {shares_in_words(self.shares, 'source', 'destination')}"


@dataclass(slots=True)
class Verification:
    """The result of `verify`."""

    _spark: SparkSession
    rows: list[Difference] = field(default_factory=list)
    replicas: list[ReplicaResult] = field(default_factory=list)
    """The replicas of partitions that both sides have, in the order of the partitions."""
    only_source: list[TopicPartition] = field(default_factory=list)
    only_destination: list[TopicPartition] = field(default_factory=list)
    more_differences: int = 0
    """Number of differences beyond the first thousand of each task."""

    @property
    def partitions(self) -> int:
        """The number of partitions that both sides have."""
        return len({replica.tp for replica in self.replicas})

    @property
    def common(self) -> Extent:
        """The amount that is equal."""
        total = Extent()
        for replica in self.replicas:
            total.add(replica.shares.common)
        return total

    @property
    def bytes(self) -> int:
        """The bytes that are equal, over all replicas."""
        return sum(replica.bytes for replica in self.replicas)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was compared: no partition exists on both sides, or none of those holds a batch."""
        return all(replica.shares.is_empty for replica in self.replicas)

    @property
    def is_equal(self) -> bool:
        """Whether something was compared, and nothing differs."""
        return not (self.rows or self.more_differences or self.is_empty)

    @property
    def differences(self) -> DataFrame:
        """The differences as a DataFrame."""
        return self._spark.createDataFrame([asdict(row) for row in self.rows], SCHEMA)

    def summary(self) -> str:
        """Return a summary of the comparison and its result, in two lines at most."""
        common = self.common
        head = (
            f"{counted(self.partitions, 'partition')}, {counted(len(self.replicas), 'replica')}, "
            f"{extent_in_words(common)}, {self.bytes} bytes equal"
        )
        if self.is_empty:
            head = "nothing was compared"
        if self.is_equal:
            return head
        kinds = Counter(row.kind for row in self.rows)
        texts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        more = f", and {self.more_differences} more" if self.more_differences else ""
        return f"{head}\n{counted(len(self.rows) + self.more_differences, 'difference')}: {texts}{more}"


def verify(
    spark: SparkSession,
    source: str,
    destination: str,
    *,
    topics: Collection[str] | None = None,
    internal: bool = False,
    logical: bool = False,
    common: bool = False,
) -> Verification:
    """Compare every partition of `source` with its replicas in `destination`; both are paths for `kafka-log`.

    `topics` selects topics; `logical` compares records where batches differ; with `common` a partition that only one
    side has is no difference. Raises `UsageError` for an unknown topic, and if nothing could be compared and nothing
    differs.
    """
    names = None if topics is None else as_names(topics)
    source_replicas = _replicas(source, names, internal)
    destination_replicas = _replicas(destination, names, internal)
    _check_topics(source, destination, names, {tp.topic for tp in (*source_replicas, *destination_replicas)})
    result = Verification(spark)
    tasks: list[Range | Records] = []
    for tp, replicas in source_replicas.items():
        others = destination_replicas.get(tp, [])
        if not others:
            result.only_source.append(tp)
            text = "the destination has no such partition"
            result.rows += [] if common else [_partition_difference(tp, "missing", "destination", replicas[0], text)]
        for other in others:
            number = len(result.replicas)
            result.replicas.append(ReplicaResult(tp, str(Path(other[0].path).parent)))
            if logical:
                tasks.append(Records(_folder(replicas[0]), _folder(other), number))
                continue
            if replicas[0][0].log_start_offset != other[0].log_start_offset:
                result.rows.append(_start_difference(tp, replicas[0][0], other[0]))
            tasks += _ranges(replicas[0], other, number)
    for tp, others in destination_replicas.items():
        if tp not in source_replicas:
            result.only_destination.append(tp)
            text = "the source has no such partition"
            result.rows += [] if common else [_partition_difference(tp, "extra", "destination", others[0], text)]
    for found in _compare_on_executors(spark, tasks):
        replica = result.replicas[found.replica]
        replica.shares.add(found.shares)
        replica.bytes += found.bytes
        result.more_differences += found.more
        result.rows += found.differences
    if result.is_empty and not (result.rows or result.more_differences):
        reason = "the partitions have no batch below the source's last stable offset" if result.replicas else ""
        raise UsageError(f"nothing was compared: {reason or 'no partition exists on both sides'}")
    result.rows.sort(key=lambda row: (row.topic, row.partition, row.destination_file, row.offset))
    return result


def _check_topics(source: str, destination: str, names: Sequence[str] | None, known: Collection[str]) -> None:
    for topic in names or ():
        if topic not in known:
            raise UsageError(f"neither {source} nor {destination} has the topic {topic!r} among those to compare")


def _folder(segments: Sequence[FolderSegment]) -> PartitionFolder:
    """Return the folder of these segments; the last stable offset is that of the whole log, checkpoint or not."""
    paths = {segment.path for segment in segments}
    folder = read_partition(Path(segments[0].path).parent)
    selected = [segment for segment in folder.segments if str(segment.path) in paths]
    return folder._replace(segments=selected, high_watermark=None)


def _replicas(
    path: str, topics: Collection[str] | None, internal: bool
) -> dict[TopicPartition, list[list[FolderSegment]]]:
    """Return the segments of each partition, once for each folder that holds it."""
    found: dict[TopicPartition, list[list[FolderSegment]]] = {}
    segments = find_segments(path, topics=topics, internal=internal)
    for _, group in groupby(segments, key=lambda s: s.path.rpartition("/")[0]):
        folder = list(group)
        found.setdefault(folder[0].tp, []).append(folder)
    return found


def _partition_difference(
    tp: TopicPartition, kind: str, side: str, segments: Sequence[FolderSegment], text: str
) -> Difference:
    first, last = segments[0].base_offset, segments[-1].base_offset
    return Difference(tp.topic, tp.partition, kind, side, first, last, text, source_file=segments[0].path)


def _start_difference(tp: TopicPartition, source: FolderSegment, destination: FolderSegment) -> Difference:
    return Difference(
        tp.topic, tp.partition, "log start", "destination", destination.log_start_offset, destination.log_start_offset,
        str(source.log_start_offset), str(destination.log_start_offset), source.path, -1, destination.path, -1,
    )  # fmt: skip


def _ranges(source: Sequence[FolderSegment], destination: Sequence[FolderSegment], replica: int) -> list[Range]:
    """Return the tasks of one replica: the source's pieces, each with the start of the next one."""
    last_stable_offset = find_transactions(source, tolerant=True).first_undecided_offset
    start = max(source[0].log_start_offset, destination[0].log_start_offset)
    pieces = [piece for segment in source for piece in split(segment)]
    filled = [piece for piece in pieces if piece.end > piece.start] or pieces[:1]
    firsts = [first_offset(piece) for piece in filled]
    tasks = []
    for number, (piece, first) in enumerate(zip(filled, firsts, strict=True)):
        end = firsts[number + 1] if number + 1 < len(filled) else None
        begin = start if number == 0 else max(first, start)
        if end is None or end > start:
            tasks.append(Range(piece, begin, end, last_stable_offset, tuple(destination), replica))
    return tasks


def _compare_on_executors(spark: SparkSession, tasks: Sequence[Range | Records]) -> Iterator[RangeResult]:
    """Compare on the executors; tasks are pickled, as a row of JSON cannot hold them."""
    import pickle

    groups: list[list[Range | Records]] = []
    size = TASK_BYTES
    for task in tasks:
        if size >= TASK_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(task)
        size += task.size
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

    assigned = frame.repartitionByRange(len(groups), col("task"))
    for row in assigned.mapInArrow(work, "found binary").collect():
        found: RangeResult = pickle.loads(bytes(row["found"]))
        yield found
