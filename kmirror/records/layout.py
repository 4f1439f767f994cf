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
from struct import Struct, calcsize
from typing import Final, TypeAlias

from kmirror.kernel.java import wrap_int32

Buffer: TypeAlias = bytes | bytearray | memoryview

# Each field of the header with the letter that `struct` has for it, in the order of the bytes. Positions and structs
# follow from these rows.
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


def _at(name: str) -> int:
    """Return where a field begins."""
    return calcsize(">" + "".join(HEADER_FIELDS.values())[: list(HEADER_FIELDS).index(name)])


def field_range(name: str) -> tuple[int, int]:
    """Return where a field of the header begins and how many bytes it has."""
    return _at(name), calcsize(">" + HEADER_FIELDS[name])


def header_struct(*names: str, start: str = "base_offset") -> Struct:
    """Return what reads these fields, named in the order of the bytes, out of a header, and skips the others.

    It counts from the field `start` on and ends with the last one that it reads.
    """
    masks, at = [">"], _at(start)
    for name in names:
        gap = _at(name) - at
        assert gap >= 0, f"{name} stands before its forerunner"
        masks.append(f"{gap}x{HEADER_FIELDS[name]}" if gap else HEADER_FIELDS[name])
        at = _at(name) + calcsize(">" + HEADER_FIELDS[name])
    return Struct("".join(masks))


BASE_OFFSET_AT: Final = _at("base_offset")
BATCH_LENGTH_AT: Final = _at("batch_length")
LEADER_EPOCH_AT: Final = _at("partition_leader_epoch")
MAGIC_AT: Final = _at("magic")
CRC_AT: Final = _at("crc")
ATTRIBUTES_AT: Final = _at("attributes")  # The checksum covers everything from here on.
LAST_OFFSET_DELTA_AT: Final = _at("last_offset_delta")
BASE_TIMESTAMP_AT: Final = _at("base_timestamp")
MAX_TIMESTAMP_AT: Final = _at("max_timestamp")
PRODUCER_ID_AT: Final = _at("producer_id")
PRODUCER_EPOCH_AT: Final = _at("producer_epoch")
BASE_SEQUENCE_AT: Final = _at("base_sequence")
RECORD_COUNT_AT: Final = _at("record_count")

# The whole header in one read.
HEADER: Final = header_struct(*HEADER_FIELDS)
RECORDS_AT: Final = HEADER.size
# What the checksum does not cover, itself at the end, and what it does, for the writer.
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
# What every format begins with.
OVERHEAD: Final = header_struct("base_offset", "batch_length")

LOG_OVERHEAD: Final = OVERHEAD.size
HEADER_SIZE: Final = RECORDS_AT
BATCH_LENGTH_MIN: Final = HEADER_SIZE - LOG_OVERHEAD
LEGACY_LENGTH_MIN: Final = 14  # The least that formats 0 and 1 can have after the overhead.
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
LAST_OFFSET_MAX: Final = 2**63 - 2  # A log ends one above its last offset, and that has to be an offset too.
_BLOCK: Final = 1 << 16  # The number of bytes that are looked at in one piece.


class TimestampType(IntEnum):
    """Who set a record's timestamp."""

    NO_TIMESTAMP_TYPE = -1  # Only message format 0, which has no timestamps.
    CREATE_TIME = 0  # The producer.
    LOG_APPEND_TIME = 1  # The broker, when it appended.


# In the words of Kafka's tools.
TIMESTAMP_NAMES: Final = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}


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


def subtract_from_sequence(sequence: int, decrement: int) -> int:
    """Return the sequence number `decrement` steps before; what comes before 0 is 2^31-1."""
    first = sequence - decrement
    return wrap_int32(first if first >= 0 else first + SEQUENCE_MAX + 1)


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
