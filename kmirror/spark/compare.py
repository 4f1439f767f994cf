"""Comparison of two partitions' logs, batch by batch: the work of one task of `verify`, without Spark.

The source's batches are read in order; while the destination has the same bytes next, nothing else is done. Otherwise
the difference gets a name:

    field, bytes   the same batch with another header field or record, or with a byte that is in no field
    bit            the same batch with some flipped bits, which are named; the comparison continues after it
    missing        the source has it, the destination does not      extra      the other way round
    duplicate      offsets that the log had already                 epoch      the leader epoch falls
    crc            equal on both sides, and wrong on both           unreadable no batch can be there
    record         where records are compared: the first that differs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kmirror.errors import CorruptBatch
from kmirror.log.compare import Match, Shares, Step, parting, steps
from kmirror.log.first_difference import FirstDifference, Place, header_offset
from kmirror.logdir.compare.cursor import LogCursor
from kmirror.logdir.compare.partitions import CompareOptions, compare_partition
from kmirror.logdir.mapped import map_file
from kmirror.logdir.partition import PartitionFolder
from kmirror.records import layout
from kmirror.records.legacy import AnyBatch
from kmirror.spark.folders import FolderSegment, Split, index_position
from kmirror.spark.rows import BrokenPlace, RowQuery, iter_batches

DIFFERENCES_MAX = 1000
_HEADER_QUERY = RowQuery(level="batch", check_crc=False)


@dataclass(slots=True)
class Difference:
    """One place, or one run of offsets, where destination and source differ.

    `byte` is the position in `within` (batch, key, value, header NAME) of the first byte that differs, -1 if there is
    none; the bytes there are given as hex digits.
    """

    topic: str
    partition: int
    kind: str
    side: str
    offset: int
    last_offset: int
    expected: str = ""
    found: str = ""
    source_file: str = ""
    source_position: int = -1
    destination_file: str = ""
    destination_position: int = -1
    within: str = ""
    byte: int = -1
    expected_bytes: str = ""
    found_bytes: str = ""

    def with_place(self, place: Place | None) -> Difference:
        """Set the place where the bytes differ; return the difference."""
        if place is not None:
            self.within, self.byte, self.expected_bytes, self.found_bytes = place
        return self

    def __str__(self) -> str:
        offsets = f"{self.offset}" if self.offset == self.last_offset else f"{self.offset}-{self.last_offset}"
        values = f": expected {self.expected}, found {self.found}" if self.found else f": {self.expected}"
        location = f" in {self.destination_file or self.source_file}"
        position = self.destination_position if self.destination_file else self.source_position
        position_text = f" at position {position}" if position >= 0 else ""
        if self.byte >= 0:
            place = Place(self.within, self.byte, self.expected_bytes, self.found_bytes)
            position_text += f"; {place.words('source', 'destination')}"
        return (
            f"{self.topic}-{self.partition} offset {offsets} {self.kind} ({self.side}){values}{location}{position_text}"
        )


@dataclass(frozen=True, slots=True)
class Range:
    """A task: a piece of the source, and the destination's segments that may hold the same offsets."""

    split: Split
    first: int
    end: int | None
    """Offsets [first, end) are compared; None: to the last of either log."""
    last_stable_offset: int | None
    """The source's last stable offset, if it is below its end."""
    destination: tuple[FolderSegment, ...]
    replica: int = 0
    """The number of its replica among all that are compared."""

    @property
    def size(self) -> int:
        return self.split.end - self.split.start


@dataclass(frozen=True, slots=True)
class Records:
    """A task: the records of two whole logs, which cannot be split as their records have no common offsets."""

    source: PartitionFolder
    destination: PartitionFolder
    replica: int = 0

    @property
    def size(self) -> int:
        return self.source.size


@dataclass(slots=True)
class RangeResult:
    """The result of a task."""

    replica: int = 0
    shares: Shares = field(default_factory=Shares)
    bytes: int = 0
    """Bytes of the batches that are equal."""
    differences: list[Difference] = field(default_factory=list)
    more: int = 0
    """Number of differences beyond the first DIFFERENCES_MAX."""


def _cursor(task: Range) -> LogCursor:
    """Return a cursor at the start of the range in the destination."""
    segments = [s for s in task.destination if s.end_offset is None or s.end_offset > task.first]
    position = index_position(segments[0], task.first) if segments else 0
    cursor = LogCursor([Path(s.path) for s in segments], start=task.first, end=task.end, position=position)
    try:
        cursor.skip_below(task.first)
    except CorruptBatch:
        pass  # The comparison will find and report it.
    return cursor


class RangeComparison:
    """Compares one range; `run` returns the result."""

    def __init__(self, task: Range) -> None:
        self._task = task
        self._tp = task.split.segment.tp
        self._result = RangeResult(task.replica)
        self._cursor = _cursor(task)
        self._current_run: Difference | None = None
        self._batch: AnyBatch | None = None
        """The current batch of the source, None after the last one."""
        self._epoch = -1
        self._next_offset = self._previous_end = -1

    def run(self) -> RangeResult:
        """Compare the range and return counts and differences."""
        try:
            for step in steps(self._source(), self._cursor):
                self._handle_step(step)
        except CorruptBatch as error:
            if self._batch is not None:
                self._add_for_batch("unreadable", "destination", self._batch, error.reason)
            else:
                offset = max(self._next_offset, self._task.first)
                self._add("unreadable", "destination", offset, offset, error.reason)
        return self._result

    def _source(self) -> Iterator[AnyBatch]:
        """Yield the source's batches of the range; the comparison ends at an unreadable place."""
        task = self._task
        data = map_file(task.split.segment.path)
        for item in iter_batches(data, task.split.start, min(task.split.end, len(data)), _HEADER_QUERY):
            if isinstance(item, BrokenPlace):
                offset = task.first if item.offset is None else item.offset
                self._add("unreadable", "source", offset, offset, item.reason, position=item.position)
                self._cursor.close()
                break
            if task.end is not None and header_offset(item) >= task.end:
                break
            if item.last_offset >= task.first:
                self._previous_end = max(self._next_offset, task.first)
                self._check_order(item)
                self._batch = item
                yield item
        self._batch = None

    def _check_order(self, batch: AnyBatch) -> None:
        """Report errors of a batch of the source among its neighbours."""
        if batch.partition_leader_epoch < self._epoch:
            self._add_for_batch("epoch", "source", batch, f"at least {self._epoch}", str(batch.partition_leader_epoch))
        if header_offset(batch) < self._next_offset:
            self._add_for_batch("duplicate", "source", batch, f"from {self._next_offset} on", str(header_offset(batch)))
        self._epoch, self._next_offset = batch.partition_leader_epoch, batch.next_offset

    def _handle_step(self, step: Step) -> None:
        match, batch, other = step
        if match is not Match.MISSING or batch is None or not self._is_undecided(batch):
            previous_end = self._cursor.next_offset if match is Match.EXTRA else self._previous_end
            self._result.shares.count(step, previous_end)
        if match is Match.EXTRA:
            assert other is not None, "it is there"
            self._report_extra(other)
            return
        assert batch is not None, "only an extra batch has no expected one"
        if match is Match.EQUAL:
            self._count_equal(batch)
        elif match is Match.FLIPPED:
            self._report_flipped(batch)
        elif match is Match.UNLIKE:
            self._report_fields(batch, parting(step))
        else:
            self._report_missing(batch)

    def _count_equal(self, batch: AnyBatch) -> None:
        self._current_run = None
        self._result.bytes += len(batch.view)
        try:
            batch.verify_crc()
        except CorruptBatch as error:
            self._add_for_batch("crc", "both", batch, error.reason)

    def _report_missing(self, batch: AnyBatch) -> None:
        if not self._is_undecided(batch):
            self._extend("missing", "destination", batch)

    def _is_undecided(self, batch: AnyBatch) -> bool:
        """Return whether a batch lies above the last stable offset: a mirror only copies batches below it."""
        return self._task.last_stable_offset is not None and batch.last_offset >= self._task.last_stable_offset

    def _report_extra(self, other: AnyBatch) -> None:
        kind = "duplicate" if header_offset(other) < self._cursor.next_offset else "extra"
        self._extend(kind, "destination", other)

    def _report_flipped(self, batch: AnyBatch) -> None:
        """Report the first of the flipped bits."""
        flips = self._cursor.bit_flips(batch)
        assert flips is not None, "some bits are flipped"
        index, position = flips.byte, self._cursor.position + flips.byte
        found_bytes = self._cursor.next_bytes(batch)
        more = f" and {flips.total - 1} more" if flips.total > 1 else ""
        side = "destination" if _is_sound(batch) else "source"
        self._add_for_batch(
            "bit", side, batch, f"byte {batch.view[index]:#04x} at file position {position}",
            f"{found_bytes[index]:#04x}: bit {flips.bit}{more} flipped, {_field_at(index)}",
        )  # fmt: skip

    def _report_fields(self, batch: AnyBatch, first: FirstDifference) -> None:
        kind = "bytes" if first.field.startswith("byte ") else "field"
        values = (f"{first.field} {value}" for value in (first.expected, first.found))
        difference = self._add_for_batch(kind, "destination", batch, *values)
        if difference is not None:
            difference.with_place(first.place)

    # -- results ------------------------------------------------------------------------------

    def _extend(self, kind: str, side: str, batch: AnyBatch) -> None:
        """Add a difference; adjacent batches that are missing, or extra, are one difference."""
        run = self._current_run
        if run is not None and (run.kind, run.side) == (kind, side):
            run.last_offset = batch.last_offset
            return
        text = "the destination does not have it" if kind == "missing" else "the source does not have it here"
        self._current_run = self._add_for_batch(kind, side, batch, text)

    def _add_for_batch(
        self, kind: str, side: str, batch: AnyBatch, expected: str, found: str = ""
    ) -> Difference | None:
        self._current_run = None
        last = batch.last_offset
        return self._add(kind, side, header_offset(batch), last, expected, found, position=batch.position)

    def _add(
        self, kind: str, side: str, first: int, last: int, expected: str, found: str = "", *, position: int = -1
    ) -> Difference | None:
        if len(self._result.differences) >= DIFFERENCES_MAX:
            self._result.more += 1
            return None
        cursor = self._cursor
        in_source, in_destination = side != "destination" or kind == "bit", side != "source" or kind == "bit"
        difference = Difference(
            self._tp.topic, self._tp.partition, kind, side, first, last, expected, found,
            source_file=self._task.split.segment.path, source_position=position if in_source else -1,
            destination_file=str(cursor.path) if in_destination and cursor.path is not None else "",
            destination_position=cursor.position if in_destination else -1,
        )  # fmt: skip
        self._result.differences.append(difference)
        return difference


def _is_sound(batch: AnyBatch) -> bool:
    try:
        batch.verify_crc()
    except CorruptBatch:
        return False
    return True


def _field_at(at: int) -> str:
    """Return the part of a batch that its byte `at` belongs to."""
    starts = {
        "base offset": layout.BASE_OFFSET_AT,
        "batch length": layout.BATCH_LENGTH_AT,
        "leader epoch": layout.LEADER_EPOCH_AT,
        "magic": layout.MAGIC_AT,
        "checksum": layout.CRC_AT,
        "attributes": layout.ATTRIBUTES_AT,
        "header": layout.LAST_OFFSET_DELTA_AT,
        "records": layout.RECORDS_AT,
    }
    return "in the " + max((start, name) for name, start in starts.items() if start <= at)[1]


def compare_ranges(tasks: Sequence[Range | Records]) -> Iterator[RangeResult]:
    """Yield the result of each task."""
    for task in tasks:
        yield RangeComparison(task).run() if isinstance(task, Range) else _compare_records(task)


def _compare_records(task: Records) -> RangeResult:
    """Compare as `kmirror diff --logical --until-lso` does."""
    source, destination = task.source, task.destination
    found = compare_partition(source, destination, CompareOptions(until_lso=True, logical=True))
    result = RangeResult(task.replica, found.shares, found.bytes)
    for row in found.differences:
        offset = 0 if row.offset is None else row.offset
        expected, text = (
            (row.text, "") if row.field == "file" else (f"{row.field} {row.left}", f"{row.field} {row.right}")
        )
        if row.right_offset is not None:
            text += f" at offset {row.right_offset}"
        kind = "unreadable" if row.field == "file" else "record"
        side = "source" if f"{source.path}/" in row.text and row.field == "file" else "destination"
        difference = Difference(row.tp.topic, row.tp.partition, kind, side, offset, offset, expected, text)
        difference.source_file, difference.destination_file = str(source.path), str(destination.path)
        result.differences.append(difference.with_place(row.place))
    return result
