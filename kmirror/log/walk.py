"""Which batches lie in a log from an offset on?"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.errors import CorruptBatch
from kmirror.log.segment import Segment, placed
from kmirror.log.segment_list import SegmentList
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.legacy import AnyBatch, iter_any_batches


def batches(segments: SegmentList, start: int, end: int | None) -> Iterator[Batch]:
    """Yield the batches from the one that holds `start` to the last that begins below `end`; raises `CorruptBatch`."""
    for segment, place in segments.places(start):
        try:
            for batch in iter_batches(segment.view(), position=place.position):
                if end is not None and batch.base_offset >= end:
                    return
                yield batch
        except CorruptBatch as error:
            raise placed(error, segment).within(str(segments.tp)) from None


def any_batches(segments: SegmentList, start: int) -> Iterator[AnyBatch]:
    """Yield the batches and legacy messages from the one that holds `start` on; raises `CorruptBatch`."""
    for segment, place in segments.places(start):
        yield from batches_in(segments, segment, place.position)


def first_hole(segments: SegmentList, start: int, end: int) -> int | None:
    """Return the first offset from `start` on, below `end`, that no record has; None if there is none.

    As far as the cleaner goes that is where it first changed the log: it gives no offset to another record.
    """
    expected = start
    for batch in any_batches(segments, start):
        if expected >= end:
            return None
        if batch.base_offset > expected:
            return expected
        if holds_holes(batch):
            return max(expected, batch.base_offset)
        expected = batch.next_offset
    return expected if expected < end else None


def holds_holes(batch: AnyBatch) -> bool:
    """Return whether some offset from the batch's first to its last has no record."""
    count = batch.record_count if isinstance(batch, Batch) else sum(1 for _ in batch.records())
    return count < batch.next_offset - batch.base_offset


def batches_in(segments: SegmentList, segment: Segment, position: int) -> Iterator[AnyBatch]:
    """Yield the batches and legacy messages of one of the segments from a position on; raises `CorruptBatch`."""
    try:
        yield from iter_any_batches(segment.view(), position=position)
    except CorruptBatch as error:
        raise placed(error, segment).within(str(segments.tp)) from None
