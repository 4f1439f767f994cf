"""One segment of the log: how long it is, where its batches lie, and when it is full.

The bytes are the store's. What is kept here is derived from them: the two indexes, the aborted
transactions whose markers lie in this segment, the greatest timestamp, the first batch's timestamp.
"""

from __future__ import annotations

from bisect import bisect_left
from struct import Struct
from typing import TYPE_CHECKING

from kmirror.log.config import LogConfig
from kmirror.log.index import OffsetIndex, TimeIndex
from kmirror.log.producers import AbortedTxn
from kmirror.log.store import PartitionStore
from kmirror.records import layout
from kmirror.records.layout import LOG_OVERHEAD, NO_TIMESTAMP

if TYPE_CHECKING:
    from kmirror.log.scan import Scan

# Base offset, length, last offset delta.
_BOUNDS = Struct(">qi11xi")
_MAX_TIMESTAMP = Struct(">q")
_INT32_MAX = 0x7FFF_FFFF


class BatchPlace:
    """Where a batch lies in its segment."""

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
        "index_interval_bytes",
        "max_timestamp",
        "max_timestamp_offset",
        "offsets",
        "since_row",
        "size",
        "store",
        "times",
    )

    def __init__(
        self, store: PartitionStore, base_offset: int, config: LogConfig, *, created_ms: int
    ) -> None:
        self.store = store
        self.base_offset = base_offset
        self.size = 0  # Bytes that are batches of this log; equals the store's size between two calls.
        self.index_interval_bytes = config.index_interval_bytes
        self.created_ms = created_ms
        self.offsets = OffsetIndex(base_offset)
        self.times = TimeIndex(base_offset)
        self.aborted: list[AbortedTxn] = []
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        self.first_timestamp = NO_TIMESTAMP  # The greatest timestamp of the first batch; rolling goes by it.
        self.since_row = 0

    def view(self, start: int = 0, end: int | None = None) -> memoryview:
        return self.store.view(self.base_offset, start, self.size if end is None else end)

    def add(self, scan: Scan) -> None:
        """Take note of the batches that a scan judged and that the store now has."""
        self.offsets.extend(scan.row_offsets, scan.row_positions)
        for timestamp, offset in scan.time_rows:
            self.times.append_if_later(timestamp, offset)
        self.since_row = scan.since_row
        if scan.max_timestamp > self.max_timestamp:
            self.max_timestamp, self.max_timestamp_offset = scan.max_timestamp, scan.max_timestamp_offset
        if self.size == 0:
            self.first_timestamp = self._first_batch_timestamp()
        self.size += scan.valid_bytes

    def _first_batch_timestamp(self) -> int:
        at = layout.MAX_TIMESTAMP_AT
        timestamp: int = _MAX_TIMESTAMP.unpack(self.store.view(self.base_offset, at, at + 8))[0]
        return timestamp

    def should_roll(
        self, config: LogConfig, *, extra_bytes: int, last_offset: int, max_timestamp: int, now_ms: int
    ) -> bool:
        """Must a new segment take the append? Time is the records' own, where they have one."""
        if self.size > config.segment_bytes - extra_bytes:
            return True
        waited = (
            max_timestamp - self.first_timestamp if self.first_timestamp >= 0 else now_ms - self.created_ms
        )
        if self.size > 0 and waited > config.segment_ms:
            return True
        rows_max = config.segment_index_bytes // 8
        time_rows_max = config.segment_index_bytes // 12
        if len(self.offsets) >= rows_max or len(self.times) >= time_rows_max - 1:
            return self.size > 0
        return last_offset - self.base_offset > _INT32_MAX

    def close(self) -> None:
        """The segment is no longer the active one: its greatest timestamp becomes the last row."""
        self.times.append_if_later(self.max_timestamp, self.max_timestamp_offset)

    def find(self, offset: int) -> BatchPlace | None:
        """The first batch that ends at or above `offset`, None if all end below."""
        position = self.offsets.position_for(offset)
        view, size = self.view(), self.size
        while position < size:
            base_offset, length, delta = _BOUNDS.unpack_from(view, position)
            end = position + LOG_OVERHEAD + length
            if base_offset + delta >= offset:
                return BatchPlace(position, end, base_offset, base_offset + delta)
            position = end
        return None

    def last_batch_within(self, start: BatchPlace, end_position: int) -> BatchPlace:
        """The last batch from `start` on that ends at or before `end_position`, at the least `start`."""
        position = max(start.position, self.offsets.position_well_below(end_position))
        view, found = self.view(), start
        while position < end_position:
            base_offset, length, delta = _BOUNDS.unpack_from(view, position)
            end = position + LOG_OVERHEAD + length
            if end > end_position:
                break
            found = BatchPlace(position, end, base_offset, base_offset + delta)
            position = end
        return found

    def truncate_to(self, offset: int, *, now_ms: int) -> int:
        """Drop every batch that ends at or above `offset`; returns how many bytes went."""
        place = self.find(offset)
        self.offsets.truncate_to(offset)
        self.times.truncate_to(offset)
        del self.aborted[bisect_left(self.aborted, offset, key=lambda txn: txn.last_offset) :]
        self.since_row = 0
        if place is None:
            return 0
        cut = self.size - place.position
        self.store.truncate(self.base_offset, place.position)
        self.size = place.position
        if self.size == 0:
            self.created_ms = now_ms
            self.first_timestamp = NO_TIMESTAMP
        self._reload_max_timestamp()
        return cut

    def _reload_max_timestamp(self) -> None:
        """Find the greatest timestamp that is left: the last row's, or that of a batch behind it."""
        row = self.times.last_entry()
        self.max_timestamp, self.max_timestamp_offset = row
        position, view = self.offsets.position_for(row.offset), self.view()
        while position < self.size:
            base_offset, length, delta = _BOUNDS.unpack_from(view, position)
            timestamp: int = _MAX_TIMESTAMP.unpack_from(view, position + layout.MAX_TIMESTAMP_AT)[0]
            if timestamp > self.max_timestamp:
                self.max_timestamp, self.max_timestamp_offset = timestamp, base_offset + delta
            position += LOG_OVERHEAD + length
