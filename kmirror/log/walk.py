"""Which segments and batches lie in a log from an offset on?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kmirror.errors import CorruptBatch
from kmirror.log.recovery import placed
from kmirror.log.segment import BatchPlace, Segment
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.legacy import AnyBatch, iter_any_batches

if TYPE_CHECKING:
    from kmirror.log.partition_log import PartitionLog


def reaching(segments: Sequence[Segment], offset: int) -> Sequence[Segment]:
    """The segment that would hold `offset`, which is the first one if none begins so low, and those behind it."""
    above = bisect_right(segments, offset, key=lambda segment: segment.base_offset)
    return segments[max(above - 1, 0) :]


def batches(log: PartitionLog, start: int, end: int | None) -> Iterator[Batch]:
    """The batches from the one that holds `start` to the last one that begins below `end`; raises CorruptBatch."""
    for segment, place in places(log, start):
        try:
            for batch in iter_batches(segment.view(), position=place.position):
                if end is not None and batch.base_offset >= end:
                    return
                yield batch
        except CorruptBatch as error:
            raise placed(error, segment).within(str(log.tp)) from None


def any_batches(log: PartitionLog, start: int) -> Iterator[AnyBatch]:
    """The batches and legacy messages from the one that holds `start` on; raises CorruptBatch."""
    for segment, place in places(log, start):
        yield from batches_in(log, segment, place.position)


def batches_in(log: PartitionLog, segment: Segment, position: int) -> Iterator[AnyBatch]:
    """The batches and legacy messages of one segment from a position on; raises CorruptBatch."""
    try:
        yield from iter_any_batches(segment.view(), position=position)
    except CorruptBatch as error:
        raise placed(error, segment).within(str(log.tp)) from None


def places(log: PartitionLog, start: int) -> Iterator[tuple[Segment, BatchPlace]]:
    """The segments with batches that end at or above `start`, and where the first of them lies in each."""
    for segment in reaching(log.segments, start):
        place = segment.find(start)
        if place is not None:
            yield segment, place
