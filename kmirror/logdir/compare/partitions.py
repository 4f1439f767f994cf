"""Do two logs hold the same batches, byte for byte?

Rule 1: LEFT is the reference. Both are compared from the higher of their log start offsets to their ends, or to the
last stable offset of LEFT. How they are cut into segments does not count.
Rule 2: the first difference of a partition is described in words, then the next partition is compared.

Both logs are mapped and walked side by side. As long as runs of bytes are equal only the lengths in them are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.compare import Parting, Value
from kmirror.logdir.checkpoints import read_folder_facts
from kmirror.logdir.compare.words import first_difference
from kmirror.logdir.consume import read_transactions
from kmirror.logdir.dump.batches import AnyFileBatch, Head, iter_heads, open_batch
from kmirror.logdir.faults import FileFault, Progress, fault_of, refusal
from kmirror.logdir.mapped import Mapped
from kmirror.logdir.partition import (
    PartitionFolder,
    is_log_dirs,
    open_partition,
    partition_paths,
)
from kmirror.spec.topics import SYSTEM_TOPICS

_RUN_BYTES: Final = 256 * 1024


class Difference(NamedTuple):
    """Where two logs part: `left` and `right` are the two values of `field`.

    `offset` is None where one side lacks the partition, or a file cannot be read at a place without an offset.
    """

    tp: TopicPartition
    offset: int | None
    field: str
    left: Value
    right: Value
    text: str

    def __str__(self) -> str:
        place = str(self.tp) if self.offset is None else f"{self.tp} offset {self.offset}"
        return f"{place}: {self.text}"


@dataclass(slots=True)
class ComparisonResult:
    """What was compared and where it differs."""

    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    partitions: int = 0
    batches: int = 0
    bytes: int = 0


class _Side:
    """One log, read from `start` on up to the batch that begins at or above `end`."""

    def __init__(self, folder: PartitionFolder, start: int, end: int | None) -> None:
        self.folder = folder
        self._segments = list(reversed(folder.segments_from(start)))
        self.end = end
        self.file: Mapped | None = None
        self.position = 0
        self.next_offset = start

    def pass_to(self, offset: int) -> None:
        """Pass the batches that end below `offset`; raises `FileFault`."""
        while (head := self.head()) is not None and (last := self.batch(head).last_offset) < offset:
            self.take(head.size_in_bytes, last + 1)

    @property
    def view(self) -> memoryview:
        assert self.file is not None, "no segment is open"
        return self.file.view

    @property
    def remaining(self) -> int:
        return 0 if self.file is None else self.file.size - self.position

    def head(self) -> Head | None:
        """Return the batch that stands next, None at the end.

        Raises `FileFault` where bytes are no batch and `Unreadable` where the system refuses the file.
        """
        while self.file is None or self.position >= self.file.size:
            self.close()
            if not self._segments:
                return None
            path = self._segments.pop().path
            try:
                self.file = Mapped(path)
            except (OSError, ValueError) as error:
                raise refusal(error, path) from None
            self.position = 0
        try:
            head = next(iter_heads(self.view, self.position), None)
        except CorruptBatch as error:
            raise fault_of(error, self.file.path) from None
        if head is None:
            reason = f"{self.remaining} bytes that are no whole batch"
            raise FileFault(reason, path=self.file.path, position=self.position)
        return None if self.end is not None and head.offset >= self.end else head

    def batch(self, head: Head) -> AnyFileBatch:
        try:
            return open_batch(self.view, head)
        except CorruptBatch as error:
            assert self.file is not None
            raise fault_of(error, self.file.path) from None

    def bytes(self, count: int) -> bytes:
        return bytes(self.view[self.position : self.position + count])

    def take(self, count: int, next_offset: int) -> None:
        """Pass `count` bytes, which end before `next_offset`."""
        self.next_offset = next_offset
        self.position += count
        if self.file is not None:
            self.file.passed(self.position)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


def compare_partitions(
    left: PartitionFolder, right: PartitionFolder, result: ComparisonResult, *, until_lso: bool, progress: Progress
) -> None:
    """Compare two partitions and add the outcome to `result`."""
    result.partitions += 1
    start = max(left.log_start_offset, right.log_start_offset)
    if left.log_start_offset != right.log_start_offset:
        starts = f"{left.log_start_offset} and {right.log_start_offset}"
        result.notes.append(f"{left.tp}: the logs start at {starts}; compared from {start}")
    try:
        end = read_transactions(left, end=left.high_watermark).last_stable_offset if until_lso else None
        sides = (_Side(left, start, end), _Side(right, start, end))
        try:
            for side in sides:
                side.pass_to(start)
            found = _walk(*sides, result, progress)
        finally:
            for side in sides:
                side.close()
    except FileFault as error:
        found = Difference(left.tp, error.offset, "file", None, None, f"cannot be read: {error}")
    if found is not None:
        result.differences.append(found)


def _walk(left: _Side, right: _Side, result: ComparisonResult, progress: Progress) -> Difference | None:
    while True:
        one, other = left.head(), right.head()
        if one is None or other is None:
            return None if one is other else _ended(left, right)
        equal = _equal_run(left, right)
        if equal is None:
            size = max(one.size_in_bytes, other.size_in_bytes)
            if left.bytes(size) != right.bytes(size) or one.size_in_bytes != other.size_in_bytes:
                return _told(left, first_difference(left.batch(one), right.batch(other)))
            equal = _Run(1, size, one)
        next_offset = left.batch(equal.last).last_offset + 1
        for side in (left, right):
            side.take(equal.size, next_offset)
        result.batches += equal.batches
        result.bytes += equal.size
        progress(equal.size)


class _Run(NamedTuple):
    """Batches that are equal on both sides; `last` is the last of them on the left."""

    batches: int
    size: int
    last: Head


def _equal_run(left: _Side, right: _Side) -> _Run | None:
    """Return the whole batches within a run of bytes that are equal on both sides, None if there is none."""
    count = min(_RUN_BYTES, left.remaining, right.remaining)
    if left.bytes(count) != right.bytes(count):
        return None
    batches, size, last, end = 0, 0, None, left.end
    try:
        for head in iter_heads(left.view, left.position, left.position + count):
            if end is not None and head.offset >= end:
                break
            batches += 1
            size += head.size_in_bytes
            last = head
    except CorruptBatch:
        pass  # The next call reports it.
    return None if last is None else _Run(batches, size, last)


def _ended(left: _Side, right: _Side) -> Difference:
    ends = (left.next_offset, right.next_offset)
    text = f"the log of {left.folder.path} goes on, that of {right.folder.path} ends before this offset"
    if left.head() is None:
        text = f"the log of {left.folder.path} ends before this offset, that of {right.folder.path} goes on"
    return Difference(left.folder.tp, min(ends), "log end offset", *_known_ends(left, right), text)


def _known_ends(left: _Side, right: _Side) -> tuple[int | None, int | None]:
    """Return the end of the log that has ended; the other one's is not known without reading on."""
    return (left.next_offset if left.head() is None else None, right.next_offset if right.head() is None else None)


def _told(left: _Side, where: Parting) -> Difference:
    text = f"{where.field} is {where.expected} on the left and {where.found} on the right"
    return Difference(left.folder.tp, where.offset, where.field, where.expected, where.found, text)


# -- folders ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pairs:
    """The partitions to compare, and those that only one side has."""

    both: list[tuple[PartitionFolder, PartitionFolder]]
    only_left: list[PartitionFolder]
    only_right: list[PartitionFolder]

    @property
    def size(self) -> int:
        return sum(left.size for left, _ in self.both)


def pair_folders(left: Path, right: Path, *, topics: Collection[str] | None = None, internal: bool = False) -> Pairs:
    """Return what there is to compare in two partitions or two log folders; raises `UsageError`."""
    are_logs = [is_log_dirs(path) for path in (left, right)]
    if are_logs[0] != are_logs[1]:
        one, other = (left, right) if are_logs[0] else (right, left)
        raise UsageError(f"{one} is a log folder and {other} is one partition: give two of a kind")
    if not are_logs[0]:
        return Pairs([(open_partition(left), open_partition(right))], [], [])

    def is_wanted(tp: TopicPartition) -> bool:
        return tp.topic in topics if topics else internal or tp.topic not in SYSTEM_TOPICS

    found = [_partitions(path, is_wanted) for path in (left, right)]
    for topic in topics or ():
        if not any(tp.topic == topic for side in found for tp in side):
            raise UsageError(f"neither {left} nor {right} has the topic {topic!r}")
    both = sorted(found[0].keys() & found[1].keys())
    return Pairs(
        [(found[0][tp], found[1][tp]) for tp in both],
        [found[0][tp] for tp in sorted(found[0].keys() - found[1].keys())],
        [found[1][tp] for tp in sorted(found[1].keys() - found[0].keys())],
    )


def _partitions(top: Path, is_wanted: Callable[[TopicPartition], bool]) -> dict[TopicPartition, PartitionFolder]:
    facts = read_folder_facts(top)
    found = (open_partition(path, facts, may_be_empty=True) for path in partition_paths(top))
    return {folder.tp: folder for folder in found if is_wanted(folder.tp)}


def compare(
    pairs: Pairs,
    *,
    until_lso: bool = False,
    progress: Progress = lambda count: None,
    tell: Callable[[Difference], None] = lambda difference: None,
) -> ComparisonResult:
    """Compare everything; `tell` gets each difference as it is found."""
    result = ComparisonResult()
    for side, folders in (("left", pairs.only_left), ("right", pairs.only_right)):
        for folder in folders:
            has = (True, False) if side == "left" else (False, True)
            text = f"only {folder.path.parent} has this partition"
            result.differences.append(Difference(folder.tp, None, "partition", *has, text))
    for difference in result.differences:
        tell(difference)
    for left, right in pairs.both:
        known = len(result.differences)
        done = result.bytes
        compare_partitions(left, right, result, until_lso=until_lso, progress=progress)
        progress(max(0, left.size - (result.bytes - done)))  # What was not compared counts as done.
        for difference in result.differences[known:]:
            tell(difference)
    return result
