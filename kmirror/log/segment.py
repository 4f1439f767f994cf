"""One segment of the log: its size, indexes, batch positions and roll conditions.

The store holds the bytes. This object holds derived data: the two indexes, the aborted transactions with a marker in
this segment, the greatest timestamp, and the first batch's timestamp.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from struct import Struct
from struct import error as struct_error

from kmirror.errors import CorruptBatch
from kmirror.log.config import LogConfig
from kmirror.log.index import OFFSET_ROW, TIME_ROW, OffsetIndex, TimeIndex
from kmirror.log.producer_entry import AbortedTxn
from kmirror.log.scan_result import ScanResult
from kmirror.log.state_files import (
    INDEX_SUFFIX,
    LOG_SUFFIX,
    SNAPSHOT_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    decode_aborted,
    encode_aborted,
    file_name,
)
from kmirror.log.store import PartitionStore
from kmirror.records import layout
from kmirror.records.layout import LOG_OVERHEAD, NO_TIMESTAMP, header_struct
from kmirror.records.legacy import LegacyBatch

_BOUNDS = header_struct("base_offset", "batch_length", "magic", "last_offset_delta")
_LEGACY_BOUNDS = header_struct("base_offset", "batch_length", "magic")  # Same positions as in a batch.
_TIMESTAMP = Struct(">q")
_LEGACY_TIMESTAMP_AT = 18
_BATCH_MIN = LOG_OVERHEAD + layout.LEGACY_LENGTH_MIN  # Size of the shortest batch or message.
SPAN_MAX = 0x7FFF_FFFF  # Maximum difference between an offset and its segment's base offset.
_MAGIC_V2, _HEADER_SIZE, _LENGTH_MIN = layout.MAGIC_V2, layout.HEADER_SIZE, layout.BATCH_LENGTH_MIN
_ROW, _TIME_ROW = OFFSET_ROW.size, TIME_ROW.size


class BatchPlace:
    """Position of a batch in its segment."""

    __slots__ = ("base_offset", "end_position", "last_offset", "position")

    def __init__(self, position: int, end_position: int, base_offset: int, last_offset: int) -> None:
        self.position = position
        self.end_position = end_position
        self.base_offset = base_offset
        self.last_offset = last_offset


class Segment:
    __slots__ = (
        "aborted",
        "base_offset",
        "created_ms",
        "first_timestamp",
        "index_bytes_max",
        "index_interval_bytes",
        "max_timestamp",
        "max_timestamp_offset",
        "modified_ms",
        "offsets",
        "since_row",
        "size",
        "store",
        "times",
    )

    def __init__(self, store: PartitionStore, base_offset: int, config: LogConfig, *, created_ms: int) -> None:
        self.store = store
        self.base_offset = base_offset
        self.size = 0  # Bytes of valid batches; equal to the size in the store between two calls.
        self.index_interval_bytes = config.index_interval_bytes
        self.index_bytes_max = config.segment_index_bytes
        self.created_ms = self.modified_ms = created_ms
        self.offsets = OffsetIndex(base_offset)
        self.times = TimeIndex(base_offset)
        self.aborted: Sequence[AbortedTxn] = ()  # Ascending by last offset; a list only if it is not empty.
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        self.first_timestamp = NO_TIMESTAMP  # Greatest timestamp of the first batch; decides when to roll.
        self.since_row = 0

    @property
    def largest_timestamp(self) -> int:
        """Greatest timestamp, or the time of the last append if no record has one."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms

    def view(self, start: int = 0, end: int | None = None) -> memoryview:
        return self.store.view(self.base_offset, start, self.size if end is None else end)

    def add(self, view: memoryview, scan: ScanResult) -> None:
        """Update the derived data with the batches in `view`, which were scanned and follow the known ones."""
        if scan.row_offsets:
            self.offsets.extend(scan.row_offsets, scan.row_positions)
            for timestamp, offset in scan.time_rows:
                self.times.append_if_later(timestamp, offset)
        self.since_row = scan.since_row
        if scan.max_timestamp > self.max_timestamp:
            self.max_timestamp, self.max_timestamp_offset = scan.max_timestamp, scan.max_timestamp_offset
        if self.size == 0:
            self.first_timestamp = timestamp_at(view, 0)
        self.size += scan.valid_bytes

    def add_one(self, last_offset: int, timestamp: int, size: int) -> None:
        """Do the same as `add` for one batch that is not the segment's first."""
        if timestamp > self.max_timestamp:
            self.max_timestamp, self.max_timestamp_offset = timestamp, last_offset
        if self.since_row > self.index_interval_bytes:
            self.offsets.append(last_offset, self.size)
            self.times.append_if_later(self.max_timestamp, self.max_timestamp_offset)
            self.since_row = 0
        self.since_row += size
        self.size += size

    def add_aborted(self, transactions: Iterable[AbortedTxn]) -> None:
        """Add aborted transactions with markers in this segment, after those already known."""
        if isinstance(self.aborted, list):
            self.aborted.extend(transactions)
        else:
            self.aborted = list(transactions) or ()

    def _first_batch_timestamp(self) -> int:
        view = self.store.view(self.base_offset, 0, min(self.store.size(self.base_offset), layout.HEADER_SIZE))
        return timestamp_at(view, 0)

    def should_roll(
        self, config: LogConfig, extra_bytes: int, last_offset: int, max_timestamp: int, now_ms: int
    ) -> bool:
        """Return whether the append needs a new segment; time is that of the records, if they have timestamps."""
        if self.size > config.segment_bytes - extra_bytes:
            return True
        age_ms = max_timestamp - self.first_timestamp if self.first_timestamp >= 0 else now_ms - self.created_ms
        if self.size > 0 and age_ms > config.segment_ms:
            return True
        # The last row of the time index is reserved for closing the segment.
        rows, time_rows = len(self.offsets.offsets), len(self.times.timestamps)
        if (rows + 1) * _ROW > self.index_bytes_max or (time_rows + 2) * _TIME_ROW > self.index_bytes_max:
            return self.size > 0
        return last_offset - self.base_offset > SPAN_MAX

    def close(self) -> None:
        """Close a segment that is no longer active: its greatest timestamp becomes the time index's last row."""
        self.times.append_if_later(self.max_timestamp, self.max_timestamp_offset)

    def write_files(self) -> None:
        """Write the index files, as Kafka does when a segment is rolled.

        The transaction index exists from the first aborted transaction on, even if its rows were removed later.
        """
        write = self.store.write_file
        write(file_name(self.base_offset, INDEX_SUFFIX), self.offsets.encode())
        write(file_name(self.base_offset, TIME_INDEX_SUFFIX), self.times.encode())
        self._write_aborted()

    def _write_aborted(self, *, had_any: bool = False) -> None:
        """Write the transaction index if it exists or must exist."""
        name = file_name(self.base_offset, TXN_INDEX_SUFFIX)
        if self.aborted or had_any or self.store.read_file(name):
            self.store.write_file(name, encode_aborted(self.aborted))

    def has_files(self) -> bool:
        """Return whether the segment could be loaded from its index files without a scan."""
        other = Segment(self.store, self.base_offset, LogConfig(), created_ms=self.created_ms)
        try:
            other.load_files()
        except CorruptBatch:
            return False
        return True

    def delete_files(self) -> None:
        """Delete the index files in the store, which no longer match the segment."""
        self._delete_row_files()
        self.store.delete_file(file_name(self.base_offset, TXN_INDEX_SUFFIX))

    def truncate_files(self, *, had_aborted: bool = False) -> None:
        """Prepare the index files for a truncation: two are deleted, the transaction index only loses rows."""
        self._delete_row_files()
        self._write_aborted(had_any=had_aborted)

    def _delete_row_files(self) -> None:
        """Delete the two indexes; without them the segment is read again when the log is opened."""
        for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            self.store.delete_file(file_name(self.base_offset, suffix))

    def load_files(self) -> int:
        """Load the indexes from the store; return the segment's last offset, -1 if it is empty.

        Raises CorruptBatch if they are missing or do not belong to this segment.
        """
        store, base_offset = self.store, self.base_offset
        offsets = store.read_file(file_name(base_offset, INDEX_SUFFIX))
        times = store.read_file(file_name(base_offset, TIME_INDEX_SUFFIX))
        aborted = store.read_file(file_name(base_offset, TXN_INDEX_SUFFIX))
        if offsets is None or times is None:
            raise CorruptBatch(f"{file_name(base_offset, INDEX_SUFFIX)} is missing")
        self.offsets = OffsetIndex.decode(base_offset, offsets)
        self.times = TimeIndex.decode(base_offset, times)
        self.aborted = decode_aborted(aborted or b"", base_offset=base_offset) or ()
        self.size = store.size(base_offset)
        if self.offsets.last_position > self.size:
            raise CorruptBatch(f"{file_name(base_offset, INDEX_SUFFIX)} points past the end of the log")
        self.max_timestamp, self.max_timestamp_offset = self.times.last_entry()
        if self.size == 0:
            return -1
        last = self._last_batch()
        self.first_timestamp = self._first_batch_timestamp()
        return last.last_offset

    def next_offset(self) -> int:
        """Return the last offset of the last batch plus one, or the base offset if the segment is empty."""
        return self._last_batch().last_offset + 1 if self.size else self.base_offset

    def _last_batch(self) -> BatchPlace:
        """Return the last batch, found from the last index row; raises `CorruptBatch` if that misses the end."""
        position, view = self.offsets.last_position, self.view()
        place: BatchPlace | None = None
        while self.size - position >= layout.LOG_OVERHEAD + layout.LEGACY_LENGTH_MIN:
            place = place_at(view, position)
            if not position < place.end_position <= self.size:
                break
            position = place.end_position
        if place is None or position != self.size or place.last_offset < self.base_offset:
            raise CorruptBatch(f"{file_name(self.base_offset, INDEX_SUFFIX)} points past the end of the log")
        return place

    def reset(self) -> None:
        """Reset all derived data."""
        self.offsets, self.times = OffsetIndex(self.base_offset), TimeIndex(self.base_offset)
        self.aborted = ()
        self.size = 0
        self.max_timestamp, self.max_timestamp_offset = NO_TIMESTAMP, self.base_offset
        self.first_timestamp = NO_TIMESTAMP

    def find(self, offset: int) -> BatchPlace | None:
        """Return the first batch that ends at or above `offset`, None if all end below.

        Raises CorruptBatch if an index row does not point to a batch.
        """
        size = self.size
        position, view = self.offsets.position_for(offset), self.store.view(self.base_offset, 0, size)
        unpack = _BOUNDS.unpack_from
        while position + _HEADER_SIZE <= size:  # Walk over headers only, without creating an object for each batch.
            base_offset, length, magic, delta = unpack(view, position)
            end = position + LOG_OVERHEAD + length
            if magic < _MAGIC_V2 or length < _LENGTH_MIN or end > size or base_offset + delta >= offset:
                break
            position = end
        while position < size:
            place = self._batch_at(view, position, size)
            if place.last_offset >= offset:
                return place
            position = place.end_position
        return None

    def _batch_at(self, view: memoryview, position: int, size: int) -> BatchPlace:
        """Return the place of the batch at `position`; raises `CorruptBatch` if there is none."""
        try:
            place = place_at(view, position)
            if position + _BATCH_MIN <= place.end_position <= size:
                return place
        except struct_error:  # Too few bytes are left for a batch.
            pass
        raise CorruptBatch(
            f"{file_name(self.base_offset, INDEX_SUFFIX)} points to a position without a batch", position=position
        )

    def last_batch_within(self, start: BatchPlace, end_position: int) -> BatchPlace:
        """Return the last batch from `start` on that ends at or before `end_position`; at least `start`."""
        found, last = start, end_position - _BATCH_MIN
        if start.end_position > last:
            return start
        position = max(start.end_position, self.offsets.position_well_below(end_position))
        view = self.view()
        while position <= last:
            place = place_at(view, position)
            if not position < place.end_position <= end_position:
                break
            found, position = place, place.end_position
        return found

    def end_before(self, place: BatchPlace | None) -> int:
        """Return the last offset before `place` plus one, or the base offset if it is the first batch.

        None means the end of the segment.
        """
        if place is None:
            return self.next_offset()
        if place.position == 0:
            return self.base_offset
        first = self._batch_at(self.view(), 0, self.size)
        return self.last_batch_within(first, place.position).last_offset + 1

    def first_offset_of(self, place: BatchPlace) -> int | None:
        """Return the offset of a batch's first record; None for a wrapper that cannot be decompressed."""
        view = self.view()[place.position : place.end_position]
        if view[layout.MAGIC_AT] >= _MAGIC_V2:
            return place.base_offset
        try:
            return LegacyBatch(view).base_offset
        except CorruptBatch:
            return None

    def truncate_to(self, offset: int, *, now_ms: int) -> None:
        """Remove every batch that ends at or above `offset`."""
        place, had_aborted = self.find(offset), bool(self.aborted)
        self.offsets.truncate_to(offset)
        self.times.truncate_to(offset)
        self.aborted = self.aborted[: bisect_left(self.aborted, offset, key=lambda txn: txn.last_offset)] or ()
        self.since_row = 0
        self.truncate_files(had_aborted=had_aborted)
        if place is None:
            if self.size == 0:
                self.created_ms = now_ms
            return
        self.store.truncate(self.base_offset, place.position)
        self.size, self.modified_ms = place.position, now_ms
        if self.size == 0:
            self.created_ms = now_ms
            self.first_timestamp = NO_TIMESTAMP
        self._reload_max_timestamp()

    def _reload_max_timestamp(self) -> None:
        """Find the greatest timestamp after a truncation: in the last row, or in a batch after it."""
        row = self.times.last_entry()
        self.max_timestamp, self.max_timestamp_offset = row
        position, view = self.offsets.position_for(row.offset), self.view()
        while position < self.size:
            place, timestamp = self._batch_at(view, position, self.size), timestamp_at(view, position)
            if timestamp > self.max_timestamp:
                self.max_timestamp, self.max_timestamp_offset = timestamp, place.last_offset
            position = place.end_position


def place_at(view: memoryview, position: int) -> BatchPlace:
    """Return the place of the batch at `position`; a legacy message has its last offset as base offset."""
    try:
        base_offset, length, magic, delta = _BOUNDS.unpack_from(view, position)
    except struct_error:  # The last message may be shorter than a batch header.
        base_offset, length, magic = _LEGACY_BOUNDS.unpack_from(view, position)
        delta = 0
    if magic >= _MAGIC_V2:
        return BatchPlace(position, position + LOG_OVERHEAD + length, base_offset, base_offset + delta)
    return BatchPlace(position, position + LOG_OVERHEAD + length, base_offset, base_offset)


def timestamp_at(view: memoryview, position: int) -> int:
    """Return the greatest timestamp (ms) in the header of the batch at `position`; -1 for message format 0."""
    magic = view[position + layout.MAGIC_AT]
    if magic == 0:
        return NO_TIMESTAMP
    at = layout.MAX_TIMESTAMP_AT if magic >= layout.MAGIC_V2 else _LEGACY_TIMESTAMP_AT
    timestamp: int = _TIMESTAMP.unpack_from(view, position + at)[0]
    return timestamp


def delete_segment(store: PartitionStore, base_offset: int) -> None:
    """Delete a segment with its indexes and the snapshot at its base offset.

    The segment is deleted last: an index without a segment would mean that a segment was lost.
    """
    delete_segment_files(store, base_offset)
    store.delete(base_offset)


def delete_segment_files(store: PartitionStore, base_offset: int) -> None:
    """Delete the indexes of a segment and the snapshot at its base offset."""
    for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX, SNAPSHOT_SUFFIX):
        store.delete_file(file_name(base_offset, suffix))


def add_file_name(fault: CorruptBatch, segment: Segment) -> CorruptBatch:
    """Return `fault` with the name of the segment's file."""
    return fault.with_context(file_name(segment.base_offset, LOG_SUFFIX))


def next_offset(view: memoryview, base_offset: int) -> int:
    """Return the last offset in a segment's bytes plus one, or its base offset if there are none."""
    position, found = 0, base_offset
    while len(view) - position >= LOG_OVERHEAD + layout.LEGACY_LENGTH_MIN:
        place = place_at(view, position)
        if not position < place.end_position <= len(view):
            break
        position, found = place.end_position, place.last_offset + 1
    return found
