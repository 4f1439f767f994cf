"""Records of a partition as a consumer gets them.

Rule 1: no record below the log start offset or at or above the high watermark, and no control record. Rule 2:
read_committed ends at the last stable offset, the first offset of the first transaction without an end below the high
watermark, and skips records of aborted transactions (`kmirror.log.committed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.committed import Committed
from kmirror.logdir.faults import Unreadable, fault_of
from kmirror.logdir.mapped import MappedFile
from kmirror.logdir.partition import PartitionFolder, iter_batches
from kmirror.logdir.producer_snapshots import committed_walk
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import Record


class CommittedPart(NamedTuple):
    """Part of a partition visible with read_committed: below the last stable offset and not hidden by `committed`."""

    last_stable_offset: int
    committed: Committed


def read_transactions(folder: PartitionFolder, *, end: int | None) -> CommittedPart:
    """Return the outcome of the transactions below offset `end`; raises `FileFault`."""
    start = folder.log_start_offset
    if not folder.segments:
        return CommittedPart(start, Committed())
    walk = committed_walk(folder.path, folder.tp, base_offset=folder.segments[0].base_offset)
    next_offset = start
    for file, batch in iter_batches(folder.segments, end=end):
        next_offset = batch.next_offset
        try:
            walk.add(batch)
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None
    log_end = max(next_offset, folder.segments[-1].base_offset)
    committed = walk.finish(log_end if end is None else min(end, log_end))
    stable = committed.first_undecided_offset
    return CommittedPart(max(next_offset if stable is None else stable, start), committed)


@dataclass(frozen=True, slots=True)
class ConsumeQuery:
    """Records to read: those of [`from_offset`, `until_offset`) that a consumer gets.

    With `timestamp` (ms), reading starts at the first record that is not older.
    """

    from_offset: int = 0
    until_offset: int | None = None  # None is the end.
    timestamp: int | None = None
    read_committed: bool = False
    to_end: bool = False  # Include records at or above the high watermark.


def consume(folder: PartitionFolder, query: ConsumeQuery) -> Iterator[Record]:
    """Yield the records in offset order; raises `FileFault` for invalid batches and checksums."""
    end = None if query.to_end else folder.high_watermark
    span = _Span(folder, max(query.from_offset, folder.log_start_offset), query.until_offset, end)
    committed = Committed()
    if query.read_committed:
        end, committed = read_transactions(folder, end=end)
        span = span._replace(end=end)
    if query.timestamp is not None:
        first = _first_not_older(span, query.timestamp)
        if first is None:
            return
        span = span._replace(start=first)
    for file, batch in span.batches():
        if not batch.is_control and not committed.hides(batch):
            yield from span.records(file, batch)


class _Span(NamedTuple):
    """The offsets [start, until) of a partition; batches that reach above `end` are not read."""

    folder: PartitionFolder
    start: int
    until: int | None
    end: int | None

    def batches(self) -> Iterator[tuple[MappedFile, AnyBatch]]:
        """Yield the batches that overlap the range; nothing after the last one is read."""
        until = self.until
        if until is not None and until <= self.start:
            return
        for file, batch in iter_batches(self.folder.segments_from(self.start), end=self.end):
            if batch.next_offset > self.start:
                yield file, batch
            if until is not None and batch.next_offset >= until:
                return

    def records(self, file: MappedFile, batch: AnyBatch) -> Iterator[Record]:
        """Yield the records of a batch within the range, including control records; raises `FileFault`."""
        try:
            batch.verify_crc()
            for record in batch.records():
                if record.offset >= self.start and (self.until is None or record.offset < self.until):
                    yield record
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None

    def record_count(self, file: MappedFile, batch: AnyBatch) -> int:
        """Return the number of records of a batch within the range, from the header if possible; raises `FileFault`."""
        is_within = self.until is None or batch.next_offset <= self.until
        count = batch.record_count
        if count is None or count < 0 or not is_within or batch.base_offset < self.start:
            return sum(1 for _ in self.records(file, batch))
        try:
            batch.verify_crc()
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None
        return count


def _first_not_older(span: _Span, timestamp: int) -> int | None:
    """Return the offset of the first record that is not older, or None.

    As for ListOffsets, it may be a control record or belong to an aborted transaction.
    """
    for file, batch in span.batches():
        if batch.max_timestamp >= timestamp:
            for record in span.records(file, batch):
                if record.timestamp >= timestamp:
                    return record.offset
    return None


class HiddenRecords(NamedTuple):
    """Data records at or above the high watermark, which a consumer does not get."""

    high_watermark: int
    records: int
    is_whole: bool  # If False, there may be more: the log is damaged there or being written.


def hidden_records(folder: PartitionFolder, query: ConsumeQuery) -> HiddenRecords | None:
    """Return the records that the high watermark hides from `query`, None if there are none."""
    high_watermark = folder.high_watermark
    if high_watermark is None or query.to_end:
        return None
    start = max(query.from_offset, folder.log_start_offset, high_watermark)
    span = _Span(folder, start, query.until_offset, None)
    count, is_whole = 0, True
    try:
        for file, batch in span.batches():
            if not batch.is_control:
                count += span.record_count(file, batch)
    except (CorruptBatch, Unreadable):
        is_whole = False
    return HiddenRecords(high_watermark, count, is_whole) if count else None
