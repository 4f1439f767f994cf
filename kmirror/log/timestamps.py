"""Lookup of offsets by timestamp (ListOffsets).

For a non-negative timestamp the result is the first record from the log start on with the same or a later timestamp.
Timestamps need not ascend with offsets, so records after it may be older. Negative timestamps are names: `OffsetSpec`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.batch_iteration import batches_in
from kmirror.log.epochs import LeaderEpochCache
from kmirror.log.segment import Segment, add_file_name
from kmirror.log.segment_list import SegmentList
from kmirror.records.layout import NO_TIMESTAMP
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import Record
from kmirror.spec.wire_values import OffsetSpec


class OffsetAndTimestamp(NamedTuple):
    """Result of a lookup; `timestamp` is -1 if a position was requested, `leader_epoch` is -1 if it is unknown."""

    timestamp: int
    offset: int
    leader_epoch: int


def offset_for_timestamp(
    segments: SegmentList, epochs: LeaderEpochCache, log_start_offset: int, timestamp: int
) -> OffsetAndTimestamp | None:
    """Return the offset for `timestamp` (ms, or an `OffsetSpec`); None if no record qualifies.

    LATEST is the log end; the broker limits it to the offsets that the client may read.
    """
    if timestamp in (OffsetSpec.EARLIEST, OffsetSpec.EARLIEST_LOCAL):
        first = next(iter(epochs.entries), None)
        is_known = first is not None and first.start_offset <= log_start_offset
        return OffsetAndTimestamp(NO_TIMESTAMP, log_start_offset, first.epoch if first is not None and is_known else -1)
    if timestamp == OffsetSpec.LATEST:
        return OffsetAndTimestamp(NO_TIMESTAMP, segments.end_offset, epochs.latest_epoch())
    if timestamp == OffsetSpec.MAX_TIMESTAMP:
        return _max_timestamp(segments)
    if timestamp in (OffsetSpec.LATEST_TIERED, OffsetSpec.EARLIEST_PENDING_UPLOAD):
        return OffsetAndTimestamp(NO_TIMESTAMP, -1, -1)  # There is no remote storage.
    for segment in segments:
        if segment.largest_timestamp >= timestamp:
            return _first_in_segment(segments, segment, log_start_offset, timestamp)
    return None


def _max_timestamp(segments: SegmentList) -> OffsetAndTimestamp | None:
    """Return the first record with the greatest timestamp of the log, which may be below the log start."""
    segment = max(segments, key=lambda candidate: candidate.max_timestamp)
    position = segment.offsets.position_for(segment.max_timestamp_offset)
    for batch in batches_in(segments, segment, position):
        if batch.max_timestamp == segment.max_timestamp:
            if batch.magic == 0:
                return None  # Format 0 has no timestamps.
            for record in _records(segments, segment, batch):
                if record.timestamp == batch.max_timestamp:
                    return _result(batch, record.timestamp, record.offset)
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
                    return _result(batch, record.timestamp, record.offset)
    return None


def _records(segments: SegmentList, segment: Segment, batch: AnyBatch) -> Iterator[Record]:
    try:
        yield from batch.records()
    except CorruptBatch as error:
        raise add_file_name(error, segment).with_context(str(segments.tp)) from None


def _result(batch: AnyBatch, timestamp: int, offset: int) -> OffsetAndTimestamp:
    return OffsetAndTimestamp(timestamp, offset, max(batch.partition_leader_epoch, -1))
