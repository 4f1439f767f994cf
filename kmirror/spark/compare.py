"""Where do the logs of two partitions differ, batch by batch? Without Spark: what one task of `verify` does.

The source's batches are walked; as long as the destination has the same bytes next, that is all. Where it has
not, the difference gets a name:

    field, bytes   the same batch with another header field, or other records
    bit            the same batch but for some flipped bits, which are named; the comparison goes on after it
    missing        the source has it, the destination does not      extra      the other way round
    duplicate      offsets that the log had already                 epoch      the leader epoch falls
    crc            equal on both sides, and wrong on both           unreadable no batch can be there
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kmirror.errors import CorruptBatch
from kmirror.log.compare import FlippedBits, Match, Parting, Step, flipped_bits, header_offset, parting, steps
from kmirror.logdir.mapped import map_file
from kmirror.records import layout
from kmirror.records.legacy import AnyBatch
from kmirror.spark.folders import FolderSegment, Split, index_position
from kmirror.spark.rows import BrokenPlace, RowQuery, walk

DIFFERENCES_MAX = 1000
_WALK = RowQuery(level="batch", check_crc=False)


@dataclass(slots=True)
class Difference:
    """One place, or one run of offsets, where destination and source differ."""

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

    def __str__(self) -> str:
        offsets = f"{self.offset}" if self.offset == self.last_offset else f"{self.offset}-{self.last_offset}"
        values = f": expected {self.expected}, found {self.found}" if self.found else f": {self.expected}"
        where = f" in {self.destination_file or self.source_file}"
        position = self.destination_position if self.destination_file else self.source_position
        at = f" at position {position}" if position >= 0 else ""
        return f"{self.topic}-{self.partition} offset {offsets} {self.kind} ({self.side}){values}{where}{at}"


@dataclass(frozen=True, slots=True)
class Range:
    """A task: a piece of the source, and the destination's segments that may hold the same offsets."""

    split: Split
    first: int
    end: int | None
    """Offsets [first, end) are compared; None: to the last of either log."""
    until: int | None
    """The source's last stable offset, if it is below its end."""
    destination: tuple[FolderSegment, ...]


@dataclass(slots=True)
class RangeResult:
    """What a task has to say."""

    batches: int = 0
    bytes: int = 0
    differences: list[Difference] = field(default_factory=list)
    more: int = 0
    """Differences beyond the first DIFFERENCES_MAX."""

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


class _Cursor:
    """A place in the destination's segments, which are read as files up to `end` (None: to the last of them)."""

    def __init__(self, segments: Sequence[FolderSegment], first: int, end: int | None) -> None:
        self._left = [s for s in segments if s.end_offset is None or s.end_offset > first]
        self._end = end
        self.segment: FolderSegment | None = self._left[0] if self._left else None
        self.data = memoryview(b"")
        self.position = 0
        self.next_offset = first
        """Where the destination's offsets go on."""
        if self.segment is not None:
            self._next_segment()
            self.position = index_position(self.segment, first)
            try:
                while (batch := self.batch()) is not None and batch.last_offset < first:
                    self.position += batch.size_in_bytes
            except CorruptBatch:
                pass  # The comparison finds it again from here on, and reports it.

    def _next_segment(self) -> bool:
        """Go to where the next segment begins; False if there is none."""
        if not self._left:
            return False
        self.segment = self._left.pop(0)
        self.data = map_file(self.segment.path)
        self.position = 0
        return True

    def _at_end(self) -> bool:
        while self.position >= len(self.data):
            if not self._next_segment():
                return True
        return False

    def close(self) -> None:
        """Be at the end: what is left is not compared."""
        self._left.clear()
        self.data = memoryview(b"")

    def match(self, batch: AnyBatch) -> Match | None:
        """Return EQUAL or FLIPPED if that is how `batch` comes next."""
        if self._at_end():
            return None
        view = batch.view
        if self.data[self.position : self.position + len(view)] == view:
            return Match.EQUAL
        return None if self.flips(batch) is None else Match.FLIPPED

    def batch(self) -> AnyBatch | None:
        """Return the batch that comes next, or None at the end; raises `CorruptBatch` where none can be."""
        if self._at_end():
            return None
        for item in walk(self.data, self.position, len(self.data), _WALK):
            if isinstance(item, BrokenPlace):
                raise CorruptBatch(item.reason, position=item.position, offset=item.offset)
            return None if self._end is not None and header_offset(item) >= self._end else item
        return None

    def skip(self, batch: AnyBatch) -> None:
        """Pass a batch of this size."""
        self.position += len(batch.view)
        self.next_offset = max(self.next_offset, batch.next_offset)

    def flips(self, batch: AnyBatch) -> FlippedBits | None:
        """Return the bits in which what comes next differs from `batch`, None if it is not the same but for a few."""
        there = self.data[self.position : self.position + len(batch.view)]
        flips = flipped_bits(batch.view, there) if len(there) == len(batch.view) else None
        if flips is None or (there[:8] != batch.view[:8] and not self._is_same_place(batch, there)):
            return None  # Another batch, perhaps with the same records.
        return flips

    def _is_same_place(self, batch: AnyBatch, there: memoryview) -> bool:
        """Return whether one of two base offsets that differ does not fit among its neighbours."""
        offset = int.from_bytes(there[:8], "big")
        ours_fits = self._offset_after(len(there)) == batch.next_offset
        theirs_fits = offset == self.next_offset and batch.base_offset != self.next_offset
        return ours_fits or theirs_fits

    def _offset_after(self, size: int) -> int:
        """Return the offset that follows the next `size` bytes, or -1."""
        at = self.position + size
        stands = self.data[at : at + 8]
        return int.from_bytes(stands, "big") if len(stands) == 8 else -1


class RangeComparison:
    """Compares one range; `run` returns what was found."""

    def __init__(self, task: Range) -> None:
        self._task = task
        self._tp = task.split.segment.tp
        self._found = RangeResult()
        self._cursor = _Cursor(task.destination, task.first, task.end)
        self._run: Difference | None = None
        self._batch: AnyBatch | None = None
        """The source's batch that is looked for, None after the last one."""
        self._epoch = -1
        self._next = -1

    def run(self) -> RangeResult:
        """Compare the range and return counts and differences."""
        try:
            for step in steps(self._source(), self._cursor):
                self._tell(step)
        except CorruptBatch as error:
            if self._batch is not None:
                self._differ("unreadable", "destination", self._batch, error.reason)
            else:
                at = max(self._next, self._task.first)
                self._add("unreadable", "destination", at, at, error.reason)
        return self._found

    def _source(self) -> Iterator[AnyBatch]:
        """Yield the source's batches of the range; where none can be, the comparison ends."""
        task = self._task
        data = map_file(task.split.segment.path)
        for item in walk(data, task.split.start, min(task.split.end, len(data)), _WALK):
            if isinstance(item, BrokenPlace):
                at = task.first if item.offset is None else item.offset
                self._add("unreadable", "source", at, at, item.reason, position=item.position)
                self._cursor.close()
                break
            if task.end is not None and header_offset(item) >= task.end:
                break
            if item.last_offset >= task.first:
                self._look_at(item)
                self._batch = item
                yield item
        self._batch = None

    def _look_at(self, batch: AnyBatch) -> None:
        """Report what is wrong with a batch of the source among its neighbours."""
        if batch.partition_leader_epoch < self._epoch:
            self._differ("epoch", "source", batch, f"at least {self._epoch}", str(batch.partition_leader_epoch))
        if header_offset(batch) < self._next:
            self._differ("duplicate", "source", batch, f"from {self._next} on", str(header_offset(batch)))
        self._epoch, self._next = batch.partition_leader_epoch, batch.next_offset

    def _tell(self, step: Step) -> None:
        match, batch, other = step
        if match is Match.EXTRA:
            assert other is not None, "it is there"
            self._surplus(other)
            return
        assert batch is not None, "only what is too much stands beside nothing"
        if match is Match.EQUAL:
            self._equal(batch)
        elif match is Match.FLIPPED:
            self._flipped(batch)
        elif match is Match.UNLIKE:
            self._unlike(batch, parting(step))
        else:
            self._missing(batch)

    def _equal(self, batch: AnyBatch) -> None:
        self._run = None
        self._found.batches += 1
        self._found.bytes += len(batch.view)
        try:
            batch.verify_crc()
        except CorruptBatch as error:
            self._differ("crc", "both", batch, error.reason)

    def _missing(self, batch: AnyBatch) -> None:
        """Report a missing batch, unless it lies above the last stable offset: a mirror takes what is decided."""
        if self._task.until is None or batch.last_offset < self._task.until:
            self._extend("missing", "destination", batch)

    def _surplus(self, other: AnyBatch) -> None:
        kind = "duplicate" if header_offset(other) < self._cursor.next_offset else "extra"
        self._extend(kind, "destination", other)

    def _flipped(self, batch: AnyBatch) -> None:
        """Name the first bit of those that are flipped."""
        flips = self._cursor.flips(batch)
        assert flips is not None, "some bits are flipped"
        at, position = flips.byte, self._cursor.position + flips.byte
        more = f" and {flips.total - 1} more" if flips.total > 1 else ""
        side = "destination" if _is_sound(batch) else "source"
        self._differ(
            "bit", side, batch, f"byte {batch.view[at]:#04x} at file position {position}",
            f"{self._cursor.data[position]:#04x}: bit {flips.bit}{more} flipped, {_field_at(at)}",
        )  # fmt: skip

    def _unlike(self, batch: AnyBatch, where: Parting) -> None:
        here, there = where.expected, where.found
        if where.byte is None:
            self._differ("field", "destination", batch, f"{where.field} {here}", f"{where.field} {there}")
        else:
            self._differ("bytes", "destination", batch, f"byte {where.byte} is {here:#04x}", f"{there:#04x}")

    # -- keeping ------------------------------------------------------------------------------

    def _extend(self, kind: str, side: str, batch: AnyBatch) -> None:
        """Batches in a row that are missing, or too many, are one difference."""
        run = self._run
        if run is not None and (run.kind, run.side) == (kind, side):
            run.last_offset = batch.last_offset
            return
        text = "the destination does not have it" if kind == "missing" else "the source does not have it here"
        self._run = self._differ(kind, side, batch, text)

    def _differ(self, kind: str, side: str, batch: AnyBatch, expected: str, found: str = "") -> Difference | None:
        self._run = None
        last = batch.last_offset
        return self._add(kind, side, header_offset(batch), last, expected, found, position=batch.position)

    def _add(
        self, kind: str, side: str, first: int, last: int, expected: str, found: str = "", *, position: int = -1
    ) -> Difference | None:
        if len(self._found.differences) >= DIFFERENCES_MAX:
            self._found.more += 1
            return None
        cursor = self._cursor
        is_here, is_there = side != "destination" or kind == "bit", side != "source" or kind == "bit"
        made = Difference(
            self._tp.topic, self._tp.partition, kind, side, first, last, expected, found,
            source_file=self._task.split.segment.path, source_position=position if is_here else -1,
            destination_file=cursor.segment.path if is_there and cursor.segment is not None else "",
            destination_position=cursor.position if is_there else -1,
        )  # fmt: skip
        self._found.differences.append(made)
        return made


def _is_sound(batch: AnyBatch) -> bool:
    try:
        batch.verify_crc()
    except CorruptBatch:
        return False
    return True


def _field_at(at: int) -> str:
    """Return which part of a batch its byte `at` belongs to."""
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


def compare_ranges(tasks: Sequence[Range]) -> Iterator[RangeResult]:
    """Yield what each range has to say."""
    for task in tasks:
        yield RangeComparison(task).run()
