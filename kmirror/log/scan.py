"""Validation of replicated bytes by their batch headers.

This is the mirror's hot path. Per batch it takes one fused read of the header, one CRC-32C over a view, a few
comparisons, and sometimes a row for the index. Nothing is decoded or copied. Batches with a producer id and control
batches need more work, so their positions are collected.

The scan stops where Kafka stops: silently at an incomplete batch, which is how a fetch response ends, and before the
first batch whose leader epoch is above the epoch of the fetch (KAFKA-18723). Every other problem is a fault, which the
caller raises or repairs.
"""

from __future__ import annotations

from kmirror.errors import CorruptBatch
from kmirror.log.errors import OffsetsOutOfOrder
from kmirror.log.legacy_scan import scan_any_batches
from kmirror.log.scan_result import ScanResult, offset_limit_fault, start_fault
from kmirror.log.segment import SPAN_MAX, BatchPlace, Segment, place_at
from kmirror.records import layout
from kmirror.records.batch import UnsupportedMagic
from kmirror.records.crc32c import crc32c_function
from kmirror.records.layout import LAST_OFFSET_MAX, LOG_OVERHEAD, NO_TIMESTAMP, header_struct

FUSED = header_struct(
    "base_offset",
    "batch_length",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "max_timestamp",
    "producer_id",
)
_CONTROL = layout.CONTROL_FLAG
_LENGTH_MIN = layout.BATCH_LENGTH_MIN
ANY_EPOCH = 0x7FFF_FFFF


def scan_batches(
    view: memoryview,
    segment: Segment,
    *,
    max_epoch: int = ANY_EPOCH,
    latest_epoch: int = -1,
    check_crc: bool = True,
) -> ScanResult:
    """Validate the batches of `view` for an append to `segment`."""
    scan = ScanResult()
    unpack, crc32c = FUSED.unpack_from, crc32c_function()
    overhead, length_min, control = LOG_OVERHEAD, _LENGTH_MIN, _CONTROL
    scan.row_offsets, scan.row_positions, scan.special = [], [], []
    scan.time_rows, scan.epochs = time_rows, epochs = [], []
    add_offset, add_position, add_special = scan.row_offsets.append, scan.row_positions.append, scan.special.append
    start, interval = segment.size, segment.index_interval_bytes
    next_row = interval - segment.since_row  # The first batch after this position gets a row.
    known_timestamp, row_timestamp = segment.max_timestamp, segment.times.last_timestamp
    epoch_before = latest_epoch if latest_epoch <= max_epoch else None
    size, last_header = len(view), len(view) - layout.HEADER_SIZE
    max_timestamp, max_timestamp_offset, position, last, batches, epoch_at = NO_TIMESTAMP, -1, 0, -1, 0, -1
    while position <= last_header:
        base, length, epoch, magic, crc, attributes, delta, timestamp, producer_id = unpack(view, position)
        end = position + overhead + length
        if end > size or magic != 2 or length < length_min:
            scan.fault = start_fault(view, position)
            break
        if epoch != epoch_before:
            if epoch > max_epoch:
                scan.refused_epoch = epoch
                break
            epochs.append((epoch, base))
            epoch_before, epoch_at = epoch, position
        if check_crc and crc32c(view[position + 21 : end]) != crc:
            scan.fault = CorruptBatch("checksum mismatch", position=position, offset=base)
            break
        if base <= last or delta < 0:
            scan.fault = _out_of_order(position, base, delta, last)
            break
        last = base + delta
        batches += 1
        if timestamp > max_timestamp:
            max_timestamp, max_timestamp_offset = timestamp, last
        if producer_id >= 0 or attributes & control:
            add_special(position)
        if position > next_row:
            add_offset(last)
            add_position(start + position)
            next_row = position + interval
            if max_timestamp > row_timestamp and max_timestamp > known_timestamp:
                time_rows.append((max_timestamp, max_timestamp_offset))
                row_timestamp = max_timestamp
            elif known_timestamp > row_timestamp:
                time_rows.append((known_timestamp, segment.max_timestamp_offset))
                row_timestamp = known_timestamp
        position = end
    else:
        scan.fault = start_fault(view, position)
    if last > LAST_OFFSET_MAX:  # It can only be the last batch, as later ones would begin above the limit.
        return _scan_before_overflow(view, segment, latest_epoch)
    if epoch_at == position:
        epochs.pop()  # The last epoch began with the faulty batch.
    if isinstance(scan.fault, UnsupportedMagic):
        return scan_any_batches(view, segment, max_epoch=max_epoch, latest_epoch=latest_epoch, check_crc=check_crc)
    if batches:
        scan.first_offset = scan.roll_offset = unpack(view, 0)[0]
    scan.valid_bytes, scan.batches, scan.last_offset = position, batches, last
    scan.since_row = position - (next_row - interval)
    scan.max_timestamp, scan.max_timestamp_offset = max_timestamp, max_timestamp_offset
    return scan


def _scan_before_overflow(view: memoryview, segment: Segment, latest_epoch: int) -> ScanResult:
    scan, position, place = scan_up_to(view, segment, LAST_OFFSET_MAX, latest_epoch=latest_epoch)
    scan.fault = offset_limit_fault(position, place.base_offset, place.last_offset)
    return scan


def scan_up_to(
    view: memoryview, segment: Segment, offset_max: int, *, latest_epoch: int
) -> tuple[ScanResult, int, BatchPlace]:
    """Validate the batches before the first one that ends above offset `offset_max`; also return its place.

    There must be such a batch.
    """
    position, place = 0, place_at(view, 0)
    while place.last_offset <= offset_max:
        position = place.end_position
        place = place_at(view, position)
    return scan_batches(view[:position], segment, latest_epoch=latest_epoch), position, place


def _out_of_order(position: int, base: int, delta: int, last: int) -> OffsetsOutOfOrder:
    reason = f"a batch starts at offset {base}, expected an offset above {last}"
    if delta < 0:
        reason = f"a last offset delta of {delta} is negative"
    return OffsetsOutOfOrder(reason, position=position, offset=base)


def split_positions(view: memoryview, size_max: int) -> list[int]:
    """Return the positions that divide `view` into parts that fit a segment: `size_max` bytes, or one larger batch."""
    ends: list[int] = []
    start = end = first_offset = 0
    while end < len(view):
        place = place_at(view, end)
        if end > start and (place.end_position - start > size_max or place.last_offset - first_offset > SPAN_MAX):
            ends.append(end)
            start = end
        if end == start:
            first_offset = place.base_offset
        end = place.end_position
    ends.append(end)
    return ends
