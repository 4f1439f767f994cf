"""Which offset has this timestamp? What ListOffsets asks of a partition log.

The answer to a real timestamp is the first record at or above the log start whose timestamp is not smaller;
timestamps need not ascend with offsets, so later records may well be older. Negative ones
are names: `OffsetSpec`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.epochs import LeaderEpochCache
from kmirror.log.segment import Segment, placed
from kmirror.log.segment_list import SegmentList
from kmirror.log.walk import batches_in
from kmirror.records.layout import NO_TIMESTAMP
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import Record
from kmirror.spec.wire_values import OffsetSpec


class OffsetAndTimestamp(NamedTuple):
    """`timestamp` is -1 where a position was asked for; `leader_epoch` is -1 where none is known."""

    timestamp: int
    offset: int
    leader_epoch: int


def offset_for_timestamp(
    segments: SegmentList, epochs: LeaderEpochCache, log_start_offset: int, timestamp: int
) -> OffsetAndTimestamp | None:
    """Return what has this timestamp, an `OffsetSpec` or milliseconds; None if no record qualifies.

    LATEST is the log end: to bound it by what the asker may read is the broker's business.
    """
    if timestamp in (OffsetSpec.EARLIEST, OffsetSpec.EARLIEST_LOCAL):
        first = next(iter(epochs.entries), None)
        known = first is not None and first.start_offset <= log_start_offset
        return OffsetAndTimestamp(NO_TIMESTAMP, log_start_offset, first.epoch if first is not None and known else -1)
    if timestamp == OffsetSpec.LATEST:
        return OffsetAndTimestamp(NO_TIMESTAMP, segments.end_offset, epochs.latest_epoch())
    if timestamp == OffsetSpec.MAX_TIMESTAMP:
        return _max_timestamp(segments)
    if timestamp in (OffsetSpec.LATEST_TIERED, OffsetSpec.EARLIEST_PENDING_UPLOAD):
        return OffsetAndTimestamp(NO_TIMESTAMP, -1, -1)  # There is no remote storage here.
    for segment in segments:
        if segment.largest_timestamp >= timestamp:
            return _first_in_segment(segments, segment, log_start_offset, timestamp)
    return None


def _max_timestamp(segments: SegmentList) -> OffsetAndTimestamp | None:
    """Return the first record with the greatest timestamp of the log, which may lie below the log start."""
    segment = max(segments, key=lambda candidate: candidate.max_timestamp)
    position = segment.offsets.position_for(segment.max_timestamp_offset)
    for batch in batches_in(segments, segment, position):
        if batch.max_timestamp == segment.max_timestamp:
            if batch.magic == 0:
                return None  # Format 0 has no timestamps, so it has no greatest one.
            for record in _records(segments, segment, batch):
                if record.timestamp == batch.max_timestamp:
                    return _answer(batch, record.timestamp, record.offset)
            return None
    return None


def _first_in_segment(
    segments: SegmentList, segment: Segment, start_offset: int, timestamp: int
) -> OffsetAndTimestamp | None:
    row = segment.times.lookup(timestamp)
    position = segment.offsets.position_for(max(row.offset, start_offset))
    for batch in batches_in(segments, segment, position):
        if batch.max_timestamp >= timestamp:
            for record in _records(segments, segment, batch):
                if record.timestamp >= timestamp and record.offset >= start_offset:
                    return _answer(batch, record.timestamp, record.offset)
    return None


def _records(segments: SegmentList, segment: Segment, batch: AnyBatch) -> Iterator[Record]:
    try:
        yield from batch.records()
    except CorruptBatch as error:
        raise placed(error, segment).within(str(segments.tp)) from None


def _answer(batch: AnyBatch, timestamp: int, offset: int) -> OffsetAndTimestamp:
    return OffsetAndTimestamp(timestamp, offset, max(batch.partition_leader_epoch, -1))
