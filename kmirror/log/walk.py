"""Which batches lie in a log from an offset on?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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


def has_holes(found: Iterable[AnyBatch], start: int, end: int) -> bool:
    """Return whether some offset from `start` to below `end` is in no record of the batches, which hold `start` on.

    The cleaner leaves the offsets of what it removes to nobody else.
    """
    expected = start
    for batch in found:
        if expected >= end:
            return False
        count = batch.record_count if isinstance(batch, Batch) else sum(1 for _ in batch.records())
        if batch.base_offset > expected or count < batch.next_offset - batch.base_offset:
            return True
        expected = batch.next_offset
    return expected < end


def batches_in(segments: SegmentList, segment: Segment, position: int) -> Iterator[AnyBatch]:
    """Yield the batches and legacy messages of one of the segments from a position on; raises `CorruptBatch`."""
    try:
        yield from iter_any_batches(segment.view(), position=position)
    except CorruptBatch as error:
        raise placed(error, segment).within(str(segments.tp)) from None
