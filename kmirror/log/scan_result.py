"""Result of a scan, and the faults that the scans of all message formats share."""

from __future__ import annotations

from kmirror.errors import CorruptBatch
from kmirror.log.errors import OffsetsOutOfOrder
from kmirror.records import layout
from kmirror.records.batch import UnsupportedMagic
from kmirror.records.layout import LAST_OFFSET_MAX, LOG_OVERHEAD, NO_TIMESTAMP, header_struct

_START = header_struct("base_offset", "batch_length", "partition_leader_epoch", "magic")
_LENGTH_MIN = layout.BATCH_LENGTH_MIN
LEGACY_EPOCH = -2  # In place of a leader epoch, for messages of formats without one.


class ScanResult:
    """Summary of scanned batches; offsets are -1 if there are none.

    The defaults are class attributes: setting them all would take longer than the scan of a small fetch.
    """

    valid_bytes = 0
    batches = 0
    first_offset = -1  # For a legacy message its last offset: the first one is not in the header.
    roll_offset = -1  # Base offset of a segment that would begin with these batches.
    last_offset = -1
    max_timestamp = NO_TIMESTAMP
    max_timestamp_offset = -1  # The last offset of the first batch with `max_timestamp`.
    since_row = 0  # Bytes after the last index row.
    refused_epoch = -1
    fault: CorruptBatch | None = None
    epochs: list[tuple[int, int]]  # (epoch or LEGACY_EPOCH, offset) at each change of the epoch.
    special: list[int]  # Positions of batches with a producer id, and of control batches.
    row_offsets: list[int]  # Last offsets and positions of the batches to index.
    row_positions: list[int]
    time_rows: list[tuple[int, int]]  # (greatest timestamp so far, last offset of its batch).


def start_fault(view: memoryview, position: int) -> CorruptBatch | None:
    """Return why no batch of format 2 can begin at `position`; None if it can, even if it may be incomplete."""
    if len(view) - position < LOG_OVERHEAD:
        return None
    head = bytes(view[position : position + _START.size])
    base, length, _, magic = _START.unpack(head.ljust(_START.size, b"\x02"))
    if length < layout.LEGACY_LENGTH_MIN:
        return CorruptBatch(f"a batch length of {length} is too small", position=position, offset=base)
    if len(head) < _START.size:
        return None
    if magic != layout.MAGIC_V2:
        if magic in (0, 1):
            return UnsupportedMagic(magic, position=position, offset=base)
        return CorruptBatch(f"message format {magic} does not exist", position=position, offset=base)
    if length < _LENGTH_MIN:
        reason = f"a batch length of {length} is below the {_LENGTH_MIN} of an empty batch"
        return CorruptBatch(reason, position=position, offset=base)
    return None


def offset_limit_fault(position: int, base: int, last: int) -> OffsetsOutOfOrder | None:
    """Return why no log can contain a batch that ends at offset `last`, or None."""
    if last <= LAST_OFFSET_MAX:
        return None
    reason = f"a batch ends at offset {last}, but the largest offset of a log is {LAST_OFFSET_MAX}"
    return OffsetsOutOfOrder(reason, position=position, offset=base)
