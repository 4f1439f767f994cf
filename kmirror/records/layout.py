"""Layout of a record batch (message format 2): header fields and attribute bits.

     0      8      12     16 17  21    23     27     35     43      51     53     57     61
     | base | bat- | lea- |ma|   | at- | last | base | max  | pro-  | pro- | base | rec- | records
     | off- | ch   | der  |gi|crc| tri-| off- | time | time | ducer | ducer| se-  | ord  |
     | set  | size | epoch|c |   | but.| set  | stamp| stamp| id    | epoch| quen.| count|
     | not under the checksum    | under the checksum, to the end of the batch

The batch size counts the bytes after this field. The last offset is relative to the base offset. Base offset and leader
epoch can be set without changing the checksum.

    attributes   6 delete horizon | 5 control | 4 transactional | 3 timestamp type | 2..0 compression
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct, calcsize
from typing import Final, TypeAlias

from kmirror.kernel.java import wrap_int32

Buffer: TypeAlias = bytes | bytearray | memoryview

# Header fields with their `struct` format characters, in order. Positions and structs are derived from this table.
HEADER_FIELDS: Final = {
    "base_offset": "q",
    "batch_length": "i",
    "partition_leader_epoch": "i",
    "magic": "b",
    "crc": "I",
    "attributes": "h",
    "last_offset_delta": "i",
    "base_timestamp": "q",
    "max_timestamp": "q",
    "producer_id": "q",
    "producer_epoch": "h",
    "base_sequence": "i",
    "record_count": "i",
}


def _position_of(name: str) -> int:
    """Return the position of a field."""
    return calcsize(">" + "".join(HEADER_FIELDS.values())[: list(HEADER_FIELDS).index(name)])


def field_range(name: str) -> tuple[int, int]:
    """Return the position of a header field and its size in bytes."""
    return _position_of(name), calcsize(">" + HEADER_FIELDS[name])


def header_struct(*names: str, start: str = "base_offset") -> Struct:
    """Return a struct that reads these fields of a header, named in order, and skips the others.

    It starts at the field `start` and ends after the last field that it reads.
    """
    masks, position = [">"], _position_of(start)
    for name in names:
        gap = _position_of(name) - position
        assert gap >= 0, f"{name} is before its predecessor"
        masks.append(f"{gap}x{HEADER_FIELDS[name]}" if gap else HEADER_FIELDS[name])
        position = _position_of(name) + calcsize(">" + HEADER_FIELDS[name])
    return Struct("".join(masks))


BASE_OFFSET_AT: Final = _position_of("base_offset")
BATCH_LENGTH_AT: Final = _position_of("batch_length")
LEADER_EPOCH_AT: Final = _position_of("partition_leader_epoch")
MAGIC_AT: Final = _position_of("magic")
CRC_AT: Final = _position_of("crc")
ATTRIBUTES_AT: Final = _position_of("attributes")  # The checksum covers everything from here on.
LAST_OFFSET_DELTA_AT: Final = _position_of("last_offset_delta")
BASE_TIMESTAMP_AT: Final = _position_of("base_timestamp")
MAX_TIMESTAMP_AT: Final = _position_of("max_timestamp")
PRODUCER_ID_AT: Final = _position_of("producer_id")
PRODUCER_EPOCH_AT: Final = _position_of("producer_epoch")
BASE_SEQUENCE_AT: Final = _position_of("base_sequence")
RECORD_COUNT_AT: Final = _position_of("record_count")

# The whole header.
HEADER: Final = header_struct(*HEADER_FIELDS)
RECORDS_AT: Final = HEADER.size
# The part that the checksum does not cover (it ends with the checksum), and the part that it covers.
UNCHECKED_HEADER: Final = header_struct("base_offset", "batch_length", "partition_leader_epoch", "magic", "crc")
CHECKED_HEADER: Final = header_struct(
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "record_count",
    start="attributes",
)
# The common start of all formats.
OVERHEAD: Final = header_struct("base_offset", "batch_length")

LOG_OVERHEAD: Final = OVERHEAD.size
HEADER_SIZE: Final = RECORDS_AT
BATCH_LENGTH_MIN: Final = HEADER_SIZE - LOG_OVERHEAD
LEGACY_LENGTH_MIN: Final = 14  # Minimum length field of a message of format 0 or 1.
MAGIC_V2: Final = 2

COMPRESSION_MASK: Final = 0x07
LOG_APPEND_TIME_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40

NO_TIMESTAMP: Final = -1
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_LEADER_EPOCH: Final = -1
SEQUENCE_MAX: Final = 0x7FFFFFFF
LAST_OFFSET_MAX: Final = 2**63 - 2  # A log end offset is the last offset plus one and must also be an int64.
_BLOCK: Final = 1 << 16  # Bytes processed at a time.


class TimestampType(IntEnum):
    """Origin of a record's timestamp."""

    NO_TIMESTAMP_TYPE = -1  # Only message format 0, which has no timestamps.
    CREATE_TIME = 0  # Set by the producer.
    LOG_APPEND_TIME = 1  # Set by the broker at append.


# As printed by Kafka's tools.
TIMESTAMP_NAMES: Final = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}


def add_to_sequence(sequence: int, increment: int) -> int:
    """Return `sequence` plus `increment`; 2^31-1 is followed by 0.

    Negative increments occur only in corrupt data; the result is then the JVM's, with int overflow.
    """
    total = sequence + increment
    if increment >= 0:
        return total if total <= SEQUENCE_MAX else total - SEQUENCE_MAX - 1
    if total < -SEQUENCE_MAX - 1:
        return total + 2 * (SEQUENCE_MAX + 1)
    return total + SEQUENCE_MAX + 1 if total < 0 else total - SEQUENCE_MAX - 1


def subtract_from_sequence(sequence: int, decrement: int) -> int:
    """Return `sequence` minus `decrement`; 0 is preceded by 2^31-1."""
    first = sequence - decrement
    return wrap_int32(first if first >= 0 else first + SEQUENCE_MAX + 1)


def end_of_content(data: memoryview) -> int:
    """Return the position of the trailing zeros; after a kill, a preallocated index ends with ten million of them."""
    end = len(data)
    while end:
        start = max(0, end - _BLOCK)
        content = bytes(data[start:end]).rstrip(b"\0")
        if content:
            return start + len(content)
        end = start
    return 0
