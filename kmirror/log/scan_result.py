"""What did a scan find? Its result, and the faults that both scans know: of batches, and of the old formats."""

from __future__ import annotations

from kmirror.errors import CorruptBatch
from kmirror.log.errors import OffsetsOutOfOrder
from kmirror.records import layout
from kmirror.records.batch import UnsupportedMagic
from kmirror.records.layout import LAST_OFFSET_MAX, LOG_OVERHEAD, NO_TIMESTAMP, header_struct

_START = header_struct("base_offset", "batch_length", "partition_leader_epoch", "magic")
_LENGTH_MIN = layout.BATCH_LENGTH_MIN
LEGACY_EPOCH = -2  # What stands in place of the leader epoch of messages that cannot have one.


class ScanResult:
    """What a run of batches is; offsets are -1 while it is empty.

    What an empty one holds are values of the class: a small fetch is scanned sooner than they are all set.
    """

    valid_bytes = 0
    batches = 0
    first_offset = -1  # Of a legacy message, its last: where it begins is not in the header.
    roll_offset = -1  # The base offset of a segment that would begin with these batches.
    last_offset = -1
    max_timestamp = NO_TIMESTAMP
    max_timestamp_offset = -1  # The last offset of the first batch that has it.
    since_row = 0  # Bytes after the last index row.
    refused_epoch = -1
    fault: CorruptBatch | None = None
    epochs: list[tuple[int, int]]  # (epoch or LEGACY_EPOCH, offset) wherever the epoch changes.
    special: list[int]  # Positions of batches with a producer id, and of control batches.
    row_offsets: list[int]  # The last offsets and the positions of the batches to index.
    row_positions: list[int]
    time_rows: list[tuple[int, int]]  # (greatest timestamp so far, last offset of its batch).


def start_fault(view: memoryview, position: int) -> CorruptBatch | None:
    """Return why no batch of format 2 can begin at `position`; None if it can, though it may be cut short."""
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


def beyond_the_greatest(position: int, base: int, last: int) -> OffsetsOutOfOrder | None:
    """Return why a batch that ends at offset `last` cannot be in any log, None if it can."""
    if last <= LAST_OFFSET_MAX:
        return None
    reason = f"a batch ends at offset {last}, and the greatest that a log can have is {LAST_OFFSET_MAX}"
    return OffsetsOutOfOrder(reason, position=position, offset=base)
