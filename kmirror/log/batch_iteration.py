"""Iteration over the batches of a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmirror.errors import CorruptBatch
from kmirror.log.segment import Segment, add_file_name
from kmirror.log.segment_list import SegmentList
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.legacy import AnyBatch, iter_any_batches


def batches(segments: SegmentList, start: int, end: int | None) -> Iterator[Batch]:
    """Yield the batches from the one that contains `start` to the last one that begins below `end`.

    Raises `CorruptBatch`.
    """
    for segment, place in segments.places(start):
        try:
            for batch in iter_batches(segment.view(), position=place.position):
                if end is not None and batch.base_offset >= end:
                    return
                yield batch
        except CorruptBatch as error:
            raise add_file_name(error, segment).with_context(str(segments.tp)) from None


def any_batches(segments: SegmentList, start: int) -> Iterator[AnyBatch]:
    """Yield the batches and legacy messages from the one that contains `start` on; raises `CorruptBatch`."""
    for segment, place in segments.places(start):
        yield from batches_in(segments, segment, place.position)


class HoleFinder:
    """Finds the first offset without a record in batches that are passed in order.

    The cleaner does not reuse the offsets of the records that it removes.
    """

    def __init__(self, start: int) -> None:
        self.expected = start
        self.is_found = False

    def add_batch(self, batch: AnyBatch) -> bool:
        """Return whether an offset before the end of this batch is missing; `expected` is then at or below it."""
        if self.is_found or batch.next_offset <= self.expected:
            return self.is_found
        count = batch.record_count if isinstance(batch, Batch) else sum(1 for _ in batch.records())
        self.is_found = batch.base_offset > self.expected or count < batch.next_offset - batch.base_offset
        if not self.is_found:
            self.expected = batch.next_offset
        return self.is_found


def has_holes(batches: Iterable[AnyBatch], start: int, end: int) -> bool:
    """Return whether some offset from `start` (inclusive) to `end` (exclusive) has no record in the batches.

    The first batch contains `start`.
    """
    finder = HoleFinder(start)
    for batch in batches:
        if finder.expected >= end:
            return False
        if finder.add_batch(batch):
            return True
    return finder.expected < end


def batches_in(segments: SegmentList, segment: Segment, position: int) -> Iterator[AnyBatch]:
    """Yield the batches and legacy messages of one segment from a position on; raises `CorruptBatch`."""
    try:
        yield from iter_any_batches(segment.view(), position=position)
    except CorruptBatch as error:
        raise add_file_name(error, segment).with_context(str(segments.tp)) from None
