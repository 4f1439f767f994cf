"""What would a consumer get from this partition?

Rule 1: nothing below the log start offset, nothing at or above the high watermark, and no control records.
Rule 2: read_committed ends at the last stable offset, the first offset of the first transaction that has no end below
the high watermark, and leaves out what belongs to an aborted transaction (`kmirror.log.committed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.committed import Committed
from kmirror.logdir.faults import Unreadable, fault_of
from kmirror.logdir.mapped import Mapped
from kmirror.logdir.partition import PartitionFolder, iter_batches
from kmirror.logdir.producer_snapshots import committed_walk
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import Record


class CommittedPart(NamedTuple):
    """What a committed reader gets of a partition: all below the last stable offset but what `committed` hides."""

    last_stable_offset: int
    committed: Committed


def read_transactions(folder: PartitionFolder, *, end: int | None) -> CommittedPart:
    """Return what the transactions below offset `end` came to; raises `FileFault`."""
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
    """Which records to read: those of [`from_offset`, `until_offset`) that a consumer would get.

    `timestamp`, in milliseconds, asks for the first that is not older and all that follow.
    """

    from_offset: int = 0
    until_offset: int | None = None  # None is the end.
    timestamp: int | None = None
    read_committed: bool = False
    to_end: bool = False  # Also what is at or above the high watermark.


def consume(folder: PartitionFolder, wanted: ConsumeQuery) -> Iterator[Record]:
    """Yield the records in offset order; raises `FileFault` at bytes that are no batch or fail their checksum."""
    end = None if wanted.to_end else folder.high_watermark
    span = _Span(folder, max(wanted.from_offset, folder.log_start_offset), wanted.until_offset, end)
    committed = Committed()
    if wanted.read_committed:
        end, committed = read_transactions(folder, end=end)
        span = span._replace(end=end)
    if wanted.timestamp is not None:
        first = _first_not_older(span, wanted.timestamp)
        if first is None:
            return
        span = span._replace(start=first)
    for file, batch in span.batches():
        if not batch.is_control and not committed.hides(batch):
            yield from span.records(file, batch)


class _Span(NamedTuple):
    """The offsets [start, until) of a partition; no batch that reaches above `end` is looked at."""

    folder: PartitionFolder
    start: int
    until: int | None
    end: int | None

    def batches(self) -> Iterator[tuple[Mapped, AnyBatch]]:
        """Yield the batches that may hold something of it; what comes after the last one is not looked at."""
        until = self.until
        if until is not None and until <= self.start:
            return
        for file, batch in iter_batches(self.folder.segments_from(self.start), end=self.end):
            if batch.next_offset > self.start:
                yield file, batch
            if until is not None and batch.next_offset >= until:
                return

    def records(self, file: Mapped, batch: AnyBatch) -> Iterator[Record]:
        """Yield the records of a batch of it, control records too; raises `FileFault`."""
        try:
            batch.verify_crc()
            for record in batch.records():
                if record.offset >= self.start and (self.until is None or record.offset < self.until):
                    yield record
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None

    def record_count(self, file: Mapped, batch: AnyBatch) -> int:
        """Return how many records a batch has of it, by the header where that says so; raises `FileFault`."""
        is_inside = self.until is None or batch.next_offset <= self.until
        known = batch.record_count
        if known is None or known < 0 or not is_inside or batch.base_offset < self.start:
            return sum(1 for _ in self.records(file, batch))
        try:
            batch.verify_crc()
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None
        return known


def _first_not_older(span: _Span, timestamp: int) -> int | None:
    """Return the offset of the first record that is not older, None if there is none.

    As for ListOffsets it may be a control record or of an aborted transaction.
    """
    for file, batch in span.batches():
        if batch.max_timestamp >= timestamp:
            for record in span.records(file, batch):
                if record.timestamp >= timestamp:
                    return record.offset
    return None


class HiddenRecords(NamedTuple):
    """Records at or above the high watermark, which a consumer does not get; control records do not count."""

    high_watermark: int
    records: int
    is_whole: bool  # If not there may be more: the log is damaged there, or being written.


def hidden_records(folder: PartitionFolder, wanted: ConsumeQuery) -> HiddenRecords | None:
    """Return what the high watermark keeps from `wanted`, None if that is nothing."""
    high_watermark = folder.high_watermark
    if high_watermark is None or wanted.to_end:
        return None
    start = max(wanted.from_offset, folder.log_start_offset, high_watermark)
    span = _Span(folder, start, wanted.until_offset, None)
    count, is_whole = 0, True
    try:
        for file, batch in span.batches():
            if not batch.is_control:
                count += span.record_count(file, batch)
    except (CorruptBatch, Unreadable):
        is_whole = False
    return HiddenRecords(high_watermark, count, is_whole) if count else None
