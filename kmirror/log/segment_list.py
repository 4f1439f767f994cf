"""Segments of a log, and the log end offset.

Segments are ordered by offset; the last one is active and takes the appends. The log end offset is kept only here: it
changes when batches are appended or truncated, and when the log is restarted. Other state (epochs, producers,
replication offsets) belongs to `PartitionLog`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple, overload

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.producer_entry import AbortedTxn
from kmirror.log.results import ReadResult
from kmirror.log.scan_result import ScanResult
from kmirror.log.segment import BatchPlace, Segment, delete_segment, delete_segment_files
from kmirror.log.store import PartitionStore

_NOTHING = memoryview(b"")
_base_offset = attrgetter("base_offset")


class Cut(NamedTuple):
    """Result of a truncation: `end` is the log end, `kept_end` the last offset in a batch plus one.

    They differ if no batch covers the offsets in between. Then only the name of a new segment preserves the end when
    the log is reopened.
    """

    end: int
    kept_end: int


class SegmentList(Sequence[Segment]):
    """The segments of one log, at least one, in a store."""

    __slots__ = ("_segments", "active", "end_offset", "store", "tp")

    def __init__(self, tp: TopicPartition, store: PartitionStore, segments: Iterable[Segment], end_offset: int) -> None:
        self.tp = tp
        self.store = store
        self.end_offset = end_offset  # The offset of the next record.
        self._segments = list(segments)
        self.active = self._segments[-1]

    @overload
    def __getitem__(self, number: int) -> Segment: ...
    @overload
    def __getitem__(self, number: slice) -> list[Segment]: ...
    def __getitem__(self, number: int | slice) -> Segment | list[Segment]:
        return self._segments[number]

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    @property
    def base_offsets(self) -> list[int]:
        return [segment.base_offset for segment in self._segments]

    @property
    def size_in_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    # -- lookup -------------------------------------------------------------------------------

    def reaching(self, offset: int) -> list[Segment]:
        """Return the segment that would contain `offset` (the first one if all begin above it) and all later ones."""
        return self._segments[self._index_of(offset) :]

    def _index_of(self, offset: int) -> int:
        if offset >= self.active.base_offset:
            return len(self._segments) - 1
        return (bisect_right(self._segments, offset, key=_base_offset) or 1) - 1

    def find(self, offset: int) -> tuple[Segment, BatchPlace] | None:
        """Return the first batch that ends at or above `offset`, None if all end below; raises `CorruptBatch`."""
        for number in range(self._index_of(offset), len(self._segments)):
            segment = self._segments[number]
            place = segment.find(offset)
            if place is not None:
                return segment, place
        return None

    def places(self, offset: int) -> Iterator[tuple[Segment, BatchPlace]]:
        """Yield each segment with batches that end at or above `offset`, and the place of the first of them."""
        for segment in self.reaching(offset):
            place = segment.find(offset)
            if place is not None:
                yield segment, place

    def aborted_transactions(self, start: int, end: int, *, reaching: int | None = None) -> list[AbortedTxn]:
        """Return the aborted transactions with records from `start` (inclusive) to `end` (exclusive).

        The search begins in the segment that contains offset `reaching`, by default `start`.
        """
        found: list[AbortedTxn] = []
        for segment in self.reaching(start if reaching is None else reaching):
            for txn in segment.aborted:
                if txn.last_offset >= start and txn.first_offset < end:
                    found.append(txn)
                if txn.last_stable_offset >= end:
                    return found
        return found

    def read(self, offset: int, max_bytes: int, end_offset: int, min_one: bool) -> ReadResult:
        """Return batches from the one that contains `offset`, all below `end_offset`, at most `max_bytes` in total.

        With `min_one` the first batch is returned even if it is larger.
        """
        if offset >= end_offset:
            return ReadResult(_NOTHING, offset, offset)
        segment = self._segments[self._index_of(offset)]
        first = segment.find(offset)
        if first is None:  # No batch covers the rest of this segment.
            found = self.find(offset)
            if found is None:
                return ReadResult(_NOTHING, offset, offset)
            segment, first = found
        last, bound = first, segment.size
        if end_offset < self.end_offset:
            beyond = segment.find(end_offset)
            bound = segment.size if beyond is None else beyond.position
        room = max_bytes - (first.end_position - first.position)
        if first.end_position > bound or (room < 0 and not min_one):
            return ReadResult(_NOTHING, offset, offset)
        if room > 0:
            last = segment.last_batch_within(first, min(bound, first.end_position + room))
        records = self.store.read(segment.base_offset, first.position, last.end_position)
        return ReadResult(records, first.base_offset, last.last_offset + 1)

    def aborted_within(self, offset: int, found: ReadResult) -> list[AbortedTxn]:
        """Return the aborted transactions that may have records in `found`, which was read from `offset` on."""
        for segment in self.reaching(offset):
            if segment.aborted:
                return self.aborted_transactions(offset, self.bound_of(found))
        return []

    def bound_of(self, found: ReadResult) -> int:
        """Return an upper bound (exclusive) of the offsets in `found`, from the offset index.

        If the index has no row above them, this is the base offset of the next segment, or the log end offset.
        """
        number = self._index_of(found.start_offset)
        segment = self._segments[number]
        first = segment.find(found.start_offset)
        assert first is not None, "read"
        beyond = segment.offsets.first_from(first.position + len(found.records))
        if beyond is not None:
            return beyond
        return self._segments[number + 1].base_offset if number + 1 < len(self._segments) else self.end_offset

    # -- appends ------------------------------------------------------------------------------

    def append(self, view: memoryview, scan: ScanResult, now_ms: int) -> Segment:
        """Append validated batches; return the active segment, which received them."""
        segment = self.active
        self.store.append(segment.base_offset, view)
        segment.add(view, scan)
        segment.modified_ms = now_ms
        self.end_offset = scan.last_offset + 1
        return segment

    def append_one(self, view: memoryview, last_offset: int, timestamp: int, now_ms: int) -> None:
        """Do the same as `append` for one batch that is not the active segment's first."""
        segment = self.active
        self.store.append(segment.base_offset, view)
        segment.add_one(last_offset, timestamp, len(view))
        segment.modified_ms = now_ms
        self.end_offset = last_offset + 1

    def add(self, base_offset: int, config: LogConfig, now_ms: int) -> Segment:
        """Start a new active segment."""
        segment = Segment(self.store, base_offset, config, created_ms=now_ms)
        self.store.create(base_offset)
        self._segments.append(segment)
        self.active = segment
        return segment

    def seal(self, *, flushes: bool = True) -> None:
        """Close the active segment, write its indexes and flush it: it is then trusted without being read."""
        if flushes:
            self.store.flush(self.active.base_offset)
        self.active.close()
        self.active.write_files()

    def flush(self, offset: int) -> None:
        """Flush everything from `offset` on; it is safe from a power cut on return."""
        for segment in self.reaching(offset):
            self.store.flush(segment.base_offset)

    # -- truncation and replacement -----------------------------------------------------------

    def end_after_cut(self, offset: int, log_start_offset: int) -> int:
        """Return the log end offset after a truncation to `offset`."""
        if offset >= self.end_offset:
            return self.end_offset
        cut = self.cut_at(offset, log_start_offset)
        return min(offset, log_start_offset) if cut is None else cut.end

    def cut_at(self, offset: int, log_start_offset: int) -> Cut | None:
        """Return the result of a truncation to `offset`; None if nothing from the log start on would be left (D47)."""
        if offset < self._segments[0].base_offset:
            return None
        segment = self._segments[self._index_of(offset)]
        place = segment.find(offset)
        kept_end = segment.end_before(place)
        first = offset if place is None else segment.first_offset_of(place)
        end = kept_end if first is None else max(kept_end, min(offset, first))
        return None if end < min(offset, log_start_offset) else Cut(end, kept_end)

    def truncate_to(self, offset: int, now_ms: int) -> None:
        """Remove every batch that ends at or above `offset`, the new end; the first segment begins at or below it."""
        first = self._segments[0].base_offset
        assert offset >= first, f"{self.tp}: a cut to {offset}, below {first}"
        while self._segments[-1].base_offset > offset:
            self._drop_last()
        self.active = self._segments[-1]
        self.active.truncate_to(offset, now_ms=now_ms)
        self.end_offset = offset

    def restart_at(self, offset: int, config: LogConfig, now_ms: int) -> None:
        """Remove everything; the next batch begins at `offset`."""
        while self._segments:
            self._drop_last()
        self.add(offset, config, now_ms)
        self.end_offset = offset

    def _drop_last(self) -> None:
        delete_segment(self.store, self._segments.pop().base_offset)

    def set_aside_first(self, count: int) -> list[int]:
        """Set the `count` oldest segments aside and delete their index files; at least one segment must remain.

        Returns their base offsets, which the store must purge.
        """
        assert count < len(self._segments), f"{self.tp}: {count} of {len(self._segments)} segments"
        base_offsets = [segment.base_offset for segment in self._segments[:count]]
        for base_offset in base_offsets:
            self.store.set_aside(base_offset)
            delete_segment_files(self.store, base_offset)
        del self._segments[:count]
        return base_offsets

    def replace(self, new: Segment, count: int) -> None:
        """Replace `count` neighbouring segments, none of them active, by `new` with the base offset of the first."""
        first = self._index_of(new.base_offset)
        assert self._segments[first].base_offset == new.base_offset, f"{self.tp}: no segment {new.base_offset}"
        assert first + count < len(self._segments), f"{self.tp}: the active segment is not replaced"
        self._segments[first : first + count] = [new]
