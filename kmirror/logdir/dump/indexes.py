"""Index files and snapshots of a segment, read as Kafka's dump tool does.

Kafka's tool looks up each row of an offset or time index in the log and lists the missing ones on stderr; a row that
points to no readable batch ends the dump. A preallocated row of zeros after the first row ends the file.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kmirror.errors import CorruptBatch
from kmirror.log import state_files
from kmirror.log.index import OFFSET_ROW, TIME_ROW
from kmirror.log.state_files import PRODUCER_ROW, SNAPSHOT_CHECKED_AT, SNAPSHOT_HEAD
from kmirror.logdir.dump.batches import Head, iter_heads, open_batch
from kmirror.logdir.dump.rows import AbortedRow, OffsetRow, PrintableProducer, TimeRow
from kmirror.logdir.faults import FileFault
from kmirror.logdir.mapped import MappedFile
from kmirror.records.crc32c import crc32c

_WARM_BYTES: Final = 8192
_INT32_MAX: Final = 2**31 - 1


class CorruptSnapshot(FileFault):
    """An invalid producer snapshot, in the wording of Kafka's reader."""


class OffsetIndexFile:
    """A `.index` file; rows are read in place."""

    def __init__(self, file: MappedFile, base_offset: int) -> None:
        self.file = file
        self.base_offset = base_offset
        self.rows = file.size // OFFSET_ROW.size

    def row(self, number: int) -> OffsetRow:
        """Return row `number` with an absolute offset."""
        relative, position = OFFSET_ROW.unpack_from(self.file.view, number * OFFSET_ROW.size)
        return OffsetRow(self.base_offset + relative, position)

    def sanity_check(self) -> None:
        """Raise `FileFault` for an index that a broker would rebuild when it starts."""
        last = self.row(self.rows - 1).offset if self.rows else self.base_offset
        if self.rows and last < self.base_offset:
            reason = f"the last offset is {last}, less than the base offset {self.base_offset}"
            raise FileFault(reason, path=self.file.path, position=(self.rows - 1) * OFFSET_ROW.size)
        _check_whole_rows(self.file, OFFSET_ROW.size)

    def lookup(self, offset: int) -> OffsetRow:
        """Return the row that Kafka's binary search finds; with unordered rows it may be the wrong one."""
        slot = self._slot_for(offset)
        return OffsetRow(self.base_offset, 0) if slot < 0 else self.row(slot)

    def _slot_for(self, offset: int) -> int:
        if self.rows == 0:
            return -1
        low, high = 0, self.rows - 1
        # The last rows are looked up most often and searched first.
        warm = max(0, self.rows - 1 - _WARM_BYTES // OFFSET_ROW.size)
        if self.row(warm).offset < offset:
            low = warm
        elif self.row(0).offset > offset:
            return -1
        else:
            high = warm
        while low < high:
            middle = (low + high + 1) // 2
            found = self.row(middle).offset
            if found == offset:
                return middle
            low, high = (low, middle - 1) if found > offset else (middle, high)
        return low


class TimeIndexFile:
    """A `.timeindex` file; rows are read in place."""

    def __init__(self, file: MappedFile, base_offset: int) -> None:
        self.file = file
        self.base_offset = base_offset
        self.rows = file.size // TIME_ROW.size

    def row(self, number: int) -> TimeRow:
        """Return row `number` with an absolute offset."""
        timestamp, relative = TIME_ROW.unpack_from(self.file.view, number * TIME_ROW.size)
        return TimeRow(timestamp, self.base_offset + relative)

    def sanity_check(self) -> None:
        """Raise `FileFault` for an index that a broker would rebuild when it starts."""
        if self.rows:
            first, last = self.row(0), self.row(self.rows - 1)
            at = (self.rows - 1) * TIME_ROW.size
            if last.timestamp < first.timestamp:
                reason = f"the last timestamp is {last.timestamp}, less than the first, {first.timestamp}"
                raise FileFault(reason, path=self.file.path, position=at)
            if last.offset < self.base_offset:
                reason = f"the last offset is {last.offset}, less than the base offset {self.base_offset}"
                raise FileFault(reason, path=self.file.path, position=at)
        _check_whole_rows(self.file, TIME_ROW.size)


def _check_whole_rows(file: MappedFile, size: int) -> None:
    if file.size % size:
        reason = f"{file.size} bytes, which is no multiple of the {size} of a row"
        raise FileFault(reason, path=file.path, position=file.size - file.size % size)


class BatchLookup:
    """Lookup of the batches of a segment from any position; batch positions are collected once."""

    def __init__(self, file: MappedFile) -> None:
        self.file = file
        self._positions: array[int] | None = None
        self._fault: CorruptBatch | None = None

    def first_at(self, position: int, size_max: int) -> Head:
        """Return the batch at `position`, of at most `size_max` bytes."""
        self._check_position(position, size_max)
        end = min(self.file.size, position + size_max)
        for head in iter_heads(self.file.view, position, end):
            return head
        raise FileFault(f"no batch within {size_max} bytes", path=self.file.path, position=position)

    def first_with(self, offset: int, position: int) -> Head | None:
        """Return the first batch from `position` on that ends at or above `offset`, or None.

        All later batches must be valid.
        """
        self._check_position(position, _INT32_MAX)
        heads = self._heads_from(position)
        for head in heads:
            if open_batch(self.file.view, head).last_offset >= offset:
                return head
        return None

    def _check_position(self, position: int, size: int) -> None:
        if not 0 <= position <= self.file.size:
            reason = f"an index row points to position {position} of {self.file.size}"
            raise FileFault(reason, path=self.file.path, position=position)
        if size < 0:
            raise FileFault(f"size {size} is negative", path=self.file.path)

    def _heads_from(self, position: int) -> Iterator[Head]:
        if self._positions is None:
            self._positions = array("q")
            try:
                self._positions.extend(head.position for head in iter_heads(self.file.view))
            except CorruptBatch as error:
                self._fault = error
        slot = bisect_left(self._positions, position)
        if slot == len(self._positions) or self._positions[slot] != position:
            return iter(list(iter_heads(self.file.view, position)))
        if self._fault is not None:
            raise self._fault
        return iter_heads(self.file.view, position)


def aborted_rows(file: MappedFile) -> list[AbortedRow]:
    """Return the rows of a `.txnindex` file; raises `FileFault` for a future version."""
    rows = []
    for number, (version, row) in enumerate(state_files.aborted_rows(file.view)):
        version >>= 8  # Kafka's class reads only the first of the version's two bytes.
        if version > 0:
            at = number * state_files.ABORTED_ROW.size
            raise FileFault(f"an aborted transaction of version {version}, not 0", path=file.path, position=at)
        rows.append(AbortedRow(version, *row))
    return rows


def producer_rows(file: MappedFile) -> list[PrintableProducer]:
    """Return the rows of a `.snapshot` file; raises `CorruptSnapshot`."""
    data, path = file.view, file.path
    invalid = "Snapshot failed schema validation: "
    if len(data) < 2:
        raise CorruptSnapshot(f"{invalid}null", path=path)
    version = int.from_bytes(data[:2], "big", signed=True)
    if version != 1:
        raise CorruptSnapshot(f"{invalid}Snapshot contained an unknown file version {version}", path=path)
    if len(data) < SNAPSHOT_HEAD.size:
        raise CorruptSnapshot(f"{invalid}null", path=path)
    _, checksum, count = SNAPSHOT_HEAD.unpack_from(data)
    left = len(data) - SNAPSHOT_HEAD.size
    if count < 0:
        raise CorruptSnapshot(f"{invalid}non-nullable field producerEntries was serialized as null", path=path)
    if count > left:
        reason = f"Tried to allocate a collection of size {count}, but there are only {left} bytes remaining."
        raise CorruptSnapshot(invalid + reason, path=path)
    if count * PRODUCER_ROW.size > left:
        raise CorruptSnapshot(f"{invalid}null", path=path)
    computed = crc32c(data[SNAPSHOT_CHECKED_AT:])
    if computed != checksum:
        reason = f"Stored crc: {checksum}. Computed crc: {computed}"
        raise CorruptSnapshot(f"Snapshot is corrupt (CRC is no longer valid). {reason}", path=path)
    return [PrintableProducer._make(row) for row in state_files.producer_rows(data, count)]


def sibling(path: Path, suffix: str) -> Path:
    """Return the file of the same segment with another suffix."""
    return path.with_name(path.name.split(".")[0] + suffix)
