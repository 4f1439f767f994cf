"""Where do the logs of two partitions differ, batch by batch? Without Spark: what one task of `verify` does.

The source's batches are walked; as long as the destination has the same bytes next, that is all. Where it has
not, the difference gets a name:

    field, bytes   the same batch with another header field, or other records
    bit            the same batch but for some flipped bits, which are named; the comparison goes on behind it
    missing        the source has it, the destination does not      extra      the other way round
    duplicate      offsets that the log had already                 epoch      the leader epoch falls
    crc            equal on both sides, and wrong on both           unreadable no batch can be there
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kmirror.errors import CorruptBatch
from kmirror.records import layout
from kmirror.records.layout import HEADER_FIELDS
from kmirror.records.legacy import AnyBatch, LegacyBatch
from kmirror.spark.folders import Segment, Split, index_position
from kmirror.spark.rows import Fault, Wanted, walk
from kmirror.spark.transactions import map_file

DIFFERENCES_MAX = 1000
FLIPPED_BITS_MAX = 16
_WALK = Wanted(level="batch", check_crc=False)


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
    destination: tuple[Segment, ...]


@dataclass(slots=True)
class Found:
    """What a task has to say."""

    batches: int = 0
    bytes: int = 0
    differences: list[Difference] = field(default_factory=list)
    more: int = 0
    """Differences beyond the first DIFFERENCES_MAX."""

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


class _Cursor:
    """A place in the destination's segments."""

    def __init__(self, segments: Sequence[Segment], first: int) -> None:
        self._left = [s for s in segments if s.end_offset is None or s.end_offset > first]
        self.segment: Segment | None = self._left[0] if self._left else None
        self.data = memoryview(b"")
        self.position = 0
        if self.segment is not None:
            self.next_segment()
            self.position = index_position(self.segment, first)
            try:
                while (batch := self.batch()) is not None and batch.last_offset < first:
                    self.position += batch.size_in_bytes
            except CorruptBatch:
                pass  # Whoever compares from here on finds it again, and says so.

    def next_segment(self) -> bool:
        """Go to where the next segment begins; False if there is none."""
        if not self._left:
            return False
        self.segment = self._left.pop(0)
        self.data = map_file(self.segment.path)
        self.position = 0
        return True

    def at_end(self) -> bool:
        while self.position >= len(self.data):
            if not self.next_segment():
                return True
        return False

    def has(self, view: memoryview) -> bool:
        """Do the same bytes come next?"""
        if self.at_end():
            return False
        return self.data[self.position : self.position + len(view)] == view

    def batch(self) -> AnyBatch | None:
        """Return the batch that comes next, or None at the end; raises `CorruptBatch` where none can be."""
        if self.at_end():
            return None
        for item in walk(self.data, self.position, len(self.data), _WALK):
            if isinstance(item, Fault):
                raise CorruptBatch(item.reason, position=item.position, offset=item.offset)
            return item
        return None


class Comparison:
    """Compares one range; `run` returns what was found."""

    def __init__(self, task: Range) -> None:
        self._task = task
        self._tp = task.split.segment.tp
        self._found = Found()
        self._cursor = _Cursor(task.destination, task.first)
        self._run: Difference | None = None
        self._epoch = -1
        self._next = -1
        self._there_next = task.first
        """Where the destination's offsets go on."""
        self._dead = False

    def run(self) -> Found:
        task = self._task
        data = map_file(task.split.segment.path)
        for item in walk(data, task.split.start, min(task.split.end, len(data)), _WALK):
            if isinstance(item, Fault):
                at = task.first if item.offset is None else item.offset
                self._add("unreadable", "source", at, at, item.reason, position=item.position)
                self._dead = True
                break
            if self._is_over(item):
                break
            if item.last_offset >= task.first:
                self._source(item)
        if not self._dead:
            self._rest()
        return self._found

    def _is_over(self, batch: AnyBatch) -> bool:
        task = self._task
        return task.end is not None and start_of(batch) >= task.end

    def _source(self, batch: AnyBatch) -> None:
        """Look at one batch of the source, then for it at the destination."""
        if batch.partition_leader_epoch < self._epoch:
            self._differ("epoch", "source", batch, f"at least {self._epoch}", str(batch.partition_leader_epoch))
        if start_of(batch) < self._next:
            self._differ("duplicate", "source", batch, f"from {self._next} on", str(start_of(batch)))
        self._epoch, self._next = batch.partition_leader_epoch, batch.next_offset
        while not self._dead:
            if self._cursor.has(batch.view):
                self._cursor.position += len(batch.view)
                self._equal(batch)
                return
            if not self._step(batch):
                return

    def _equal(self, batch: AnyBatch) -> None:
        self._run = None
        self._there_next = max(self._there_next, batch.next_offset)
        self._found.batches += 1
        self._found.bytes += len(batch.view)
        try:
            batch.verify_crc()
        except CorruptBatch as error:
            self._differ("crc", "both", batch, error.reason)

    def _step(self, batch: AnyBatch) -> bool:
        """Name what the destination has instead; True if the same batch of the source is to be tried again."""
        cursor = self._cursor
        if cursor.at_end():
            self._missing(batch)
            return False
        if self._flipped(batch):
            cursor.position += len(batch.view)
            self._there_next = max(self._there_next, batch.next_offset)
            return False
        try:
            other = cursor.batch()
        except CorruptBatch as error:
            self._differ("unreadable", "destination", batch, error.reason)
            self._dead = True
            return False
        assert other is not None, "the cursor is not at its end"
        if start_of(other) > start_of(batch):
            self._missing(batch)
            return False
        cursor.position += other.size_in_bytes
        if start_of(other) < start_of(batch):
            self._surplus(other)
            return True
        self._there_next = max(self._there_next, other.next_offset)
        self._unlike(batch, other)
        return False

    def _missing(self, batch: AnyBatch) -> None:
        """A mirror takes what is decided: from the last stable offset on nothing has to be there yet."""
        if self._task.until is None or batch.last_offset < self._task.until:
            self._extend("missing", "destination", batch)

    def _surplus(self, other: AnyBatch) -> None:
        kind = "duplicate" if start_of(other) < self._there_next else "extra"
        self._there_next = max(self._there_next, other.next_offset)
        self._extend(kind, "destination", other)

    def _flipped(self, batch: AnyBatch) -> bool:
        """Is it the same batch but for some bits? Then the first is named, and what follows is compared as ever."""
        cursor, size = self._cursor, len(batch.view)
        there = cursor.data[cursor.position : cursor.position + size]
        if len(there) < size:
            return False
        difference = int.from_bytes(there, "big") ^ int.from_bytes(batch.view, "big")
        count = difference.bit_count()
        if count > FLIPPED_BITS_MAX:
            return False
        if there[:8] != batch.view[:8] and not self._is_same_place(batch, there):
            return False  # Another batch with the same records.
        at = size - 1 - (difference.bit_length() - 1) // 8
        bit = (batch.view[at] ^ there[at]).bit_length() - 1
        more = f" and {count - 1} more" if count > 1 else ""
        side = "destination" if _is_sound(batch) else "source"
        self._differ(
            "bit", side, batch, f"byte {batch.view[at]:#04x} at file position {cursor.position + at}",
            f"{there[at]:#04x}: bit {bit}{more} flipped, {_field_at(at)}",
        )  # fmt: skip
        return True

    def _is_same_place(self, batch: AnyBatch, there: memoryview) -> bool:
        """Base offsets differ: does one of them not fit among its neighbours?"""
        offset = int.from_bytes(there[:8], "big")
        ours_fits = self._offset_after(len(there)) == batch.next_offset
        theirs_fits = offset == self._there_next and batch.base_offset != self._there_next
        return ours_fits or theirs_fits

    def _offset_after(self, size: int) -> int:
        """Return the offset that stands behind the next `size` bytes of the destination, or -1."""
        at = self._cursor.position + size
        stands = self._cursor.data[at : at + 8]
        return int.from_bytes(stands, "big") if len(stands) == 8 else -1

    def _unlike(self, batch: AnyBatch, other: AnyBatch) -> None:
        for name in HEADER_FIELDS:
            here, there = getattr(batch, name, None), getattr(other, name, None)
            if here != there:
                self._differ("field", "destination", batch, f"{name} {here}", f"{name} {there}")
                return
        at = next(i for i, (a, b) in enumerate(zip(batch.view, other.view, strict=False)) if a != b)
        self._differ("bytes", "destination", batch, f"byte {at} is {batch.view[at]:#04x}", f"{other.view[at]:#04x}")

    def _rest(self) -> None:
        """What the destination has behind the source's last batch is too much."""
        task = self._task
        try:
            while (other := self._cursor.batch()) is not None:
                if task.end is not None and start_of(other) >= task.end:
                    return
                self._surplus(other)
                self._cursor.position += other.size_in_bytes
        except CorruptBatch as error:
            at = max(self._next, task.first)
            self._add("unreadable", "destination", at, at, error.reason)

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
        return self._add(kind, side, start_of(batch), last, expected, found, position=batch.position)

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


def start_of(batch: AnyBatch) -> int:
    """Return the offset that the header gives: the first, and in formats 0 and 1 the last."""
    return batch.last_offset if isinstance(batch, LegacyBatch) else batch.base_offset


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


def compare_ranges(tasks: Sequence[Range]) -> Iterator[Found]:
    """Yield what each range has to say."""
    for task in tasks:
        yield Comparison(task).run()
