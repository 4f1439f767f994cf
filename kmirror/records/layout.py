"""Where is each field of a version 2 record batch, and what do its attribute bits mean?

     0      8      12     16 17  21    23     27     35     43      51     53     57     61
     | base | bat- | lea- |ma|   | at- | last | base | max  | pro-  | pro- | base | rec- | records
     | off- | ch   | der  |gi|crc| tri-| off- | time | time | ducer | ducer| se-  | ord  |
     | set  | size | epoch|c |   | but.| set  | stamp| stamp| id    | epoch| quen.| count|
     | not under the checksum    | under the checksum, to the end of the batch

The batch size counts the bytes after itself; the last offset is relative to the base offset. Base offset and
leader epoch may be set without touching the checksum.

    attributes   6 delete horizon | 5 control | 4 transactional | 3 timestamp type | 2..0 compression
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

BASE_OFFSET_AT: Final = 0
BATCH_LENGTH_AT: Final = 8
LEADER_EPOCH_AT: Final = 12
MAGIC_AT: Final = 16
CRC_AT: Final = 17
ATTRIBUTES_AT: Final = 21  # The checksum covers everything from here on.
LAST_OFFSET_DELTA_AT: Final = 23
BASE_TIMESTAMP_AT: Final = 27
MAX_TIMESTAMP_AT: Final = 35
PRODUCER_ID_AT: Final = 43
PRODUCER_EPOCH_AT: Final = 51
BASE_SEQUENCE_AT: Final = 53
RECORD_COUNT_AT: Final = 57
RECORDS_AT: Final = 61

LOG_OVERHEAD: Final = 12  # Base offset and length, which every format begins with.
HEADER_SIZE: Final = RECORDS_AT
BATCH_LENGTH_MIN: Final = HEADER_SIZE - LOG_OVERHEAD
LEGACY_LENGTH_MIN: Final = 14  # The least that formats 0 and 1 can have after the overhead.
MAGIC_V2: Final = 2

# The whole header in one read.
HEADER: Final = Struct(">qiibIhiqqqhii")
# What an appender needs: base offset, length, leader epoch, magic, crc, attributes, last offset delta.
PREFIX: Final = Struct(">qiibIhi")
# What follows the checksum, for the writer.
CHECKED_HEADER: Final = Struct(">hiqqqhii")
# What precedes it.
UNCHECKED_HEADER: Final = Struct(">qiibI")

COMPRESSION_MASK: Final = 0x07
LOG_APPEND_TIME_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40

# The fields as a `Batch` names them, in the order in which they stand.
HEADER_FIELD_NAMES: Final = (
    "base_offset", "batch_length", "partition_leader_epoch", "magic", "crc", "attributes", "last_offset_delta",
    "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "record_count",
)  # fmt: skip

NO_TIMESTAMP: Final = -1
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_LEADER_EPOCH: Final = -1
SEQUENCE_MAX: Final = 0x7FFFFFFF
LAST_OFFSET_MAX: Final = 2**63 - 2  # A log ends one above its last offset, and that has to be an offset too.
_BLOCK: Final = 1 << 16  # What is looked at in one piece.

assert HEADER.size == HEADER_SIZE
assert PREFIX.size == BASE_TIMESTAMP_AT
assert UNCHECKED_HEADER.size == ATTRIBUTES_AT
assert UNCHECKED_HEADER.size + CHECKED_HEADER.size == HEADER_SIZE


class TimestampType(IntEnum):
    """Who set a record's timestamp."""

    NO_TIMESTAMP_TYPE = -1  # Only message format 0, which has no timestamps.
    CREATE_TIME = 0  # The producer.
    LOG_APPEND_TIME = 1  # The broker, when it appended.


def add_to_sequence(sequence: int, increment: int) -> int:
    """Return the sequence number `increment` steps on; after 2^31-1 comes 0.

    Steps back, which only broken bytes ask for, end where they do on the JVM, whose int has wrapped by then.
    """
    total = sequence + increment
    if increment >= 0:
        return total if total <= SEQUENCE_MAX else total - SEQUENCE_MAX - 1
    if total < -SEQUENCE_MAX - 1:
        return total + 2 * (SEQUENCE_MAX + 1)
    return total + SEQUENCE_MAX + 1 if total < 0 else total - SEQUENCE_MAX - 1


def end_of_content(data: memoryview) -> int:
    """Return where the zeros at the end begin, of which a preallocated index has ten million after a kill."""
    end = len(data)
    while end:
        start = max(0, end - _BLOCK)
        content = bytes(data[start:end]).rstrip(b"\0")
        if content:
            return start + len(content)
        end = start
    return 0
