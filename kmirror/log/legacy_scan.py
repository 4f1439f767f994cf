"""Slow path of `scan_batches` for bytes that contain messages of format 0 or 1 (D21).

Old segments may contain all three formats. A legacy message has no leader epoch and no producer, and its header has
only the last offset; for a wrapper it is the offset of the last message inside. The first offset is known only after
decompression, so order is checked by last offsets, as in Kafka.
"""

from __future__ import annotations

import zlib

from kmirror.errors import CorruptBatch
from kmirror.log.errors import OffsetsOutOfOrder
from kmirror.log.scan_result import LEGACY_EPOCH, ScanResult, offset_limit_fault, start_fault
from kmirror.log.segment import SPAN_MAX, Segment
from kmirror.records import layout
from kmirror.records.batch import Batch, TornBatch
from kmirror.records.crc32c import crc32c
from kmirror.records.legacy import AnyBatch, LegacyBatch


def scan_any_batches(
    view: memoryview, segment: Segment, *, max_epoch: int, latest_epoch: int, check_crc: bool
) -> ScanResult:
    """Validate batches and legacy messages, decoding each one; several times slower than `scan_batches`."""
    scan = ScanResult()
    scan.epochs, scan.special = [], []
    scan.row_offsets, scan.row_positions, scan.time_rows = [], [], []
    next_row = segment.index_interval_bytes - segment.since_row
    max_row = (segment.max_timestamp, segment.max_timestamp_offset)
    epoch_before = latest_epoch
    row_timestamp = segment.times.last_timestamp
    position = 0
    while position < len(view):
        try:
            batch = _batch_at(view, position)
        except TornBatch:
            break
        except CorruptBatch as error:
            scan.fault = error
            break
        epoch = LEGACY_EPOCH if batch.magic < layout.MAGIC_V2 else batch.partition_leader_epoch
        if epoch > max_epoch:
            scan.refused_epoch = epoch
            break
        scan.fault = _fault(batch, scan.last_offset, check_crc)
        if scan.fault is not None:
            break
        last_offset, timestamp = batch.last_offset, batch.max_timestamp
        if scan.batches == 0:
            scan.first_offset = last_offset if isinstance(batch, LegacyBatch) else batch.base_offset
            scan.roll_offset = -1 if isinstance(batch, LegacyBatch) else scan.first_offset
        scan.last_offset = last_offset
        scan.batches += 1
        if epoch != epoch_before:
            scan.epochs.append((epoch, last_offset if epoch == LEGACY_EPOCH else batch.base_offset))
            epoch_before = epoch
        if timestamp > scan.max_timestamp:
            scan.max_timestamp, scan.max_timestamp_offset = timestamp, last_offset
        if timestamp > max_row[0]:
            max_row = (timestamp, last_offset)
        if batch.producer_id >= 0 or batch.is_control:
            scan.special.append(position)
        if position > next_row:
            scan.row_offsets.append(last_offset)
            scan.row_positions.append(segment.size + position)
            next_row = position + segment.index_interval_bytes
            if max_row[0] > row_timestamp:
                scan.time_rows.append(max_row)
                row_timestamp = max_row[0]
        position += batch.size_in_bytes
    if scan.roll_offset < 0 and scan.batches:
        scan.roll_offset = max(0, scan.last_offset - SPAN_MAX)  # Kafka's lower bound for the first offset.
    scan.valid_bytes = position
    scan.since_row = position - (next_row - segment.index_interval_bytes)
    return scan


def _batch_at(view: memoryview, position: int) -> AnyBatch:
    if len(view) - position <= layout.MAGIC_AT:
        fault = start_fault(view, position)
        raise fault or TornBatch("incomplete header", position=position, needed=layout.MAGIC_AT + 1)
    if view[position + layout.MAGIC_AT] < layout.MAGIC_V2:
        return LegacyBatch(view, position)
    return Batch(view, position)


def _fault(batch: AnyBatch, last_offset: int, check_crc: bool) -> CorruptBatch | None:
    """Return the reason why the batch cannot follow one that ends at `last_offset`, or None."""
    if isinstance(batch, LegacyBatch):
        first = batch.last_offset
        computed = zlib.crc32(batch.view[layout.MAGIC_AT :]) if check_crc else batch.crc
    else:
        first = batch.base_offset
        computed = crc32c(batch.view[layout.ATTRIBUTES_AT :]) if check_crc else batch.crc
    if computed != batch.crc:
        return CorruptBatch("checksum mismatch", position=batch.position, offset=first)
    if first <= last_offset or batch.last_offset < first:
        reason = f"a batch of offsets {first} to {batch.last_offset} follows offset {last_offset}"
        return OffsetsOutOfOrder(reason, position=batch.position, offset=first)
    return offset_limit_fault(batch.position, first, batch.last_offset)
