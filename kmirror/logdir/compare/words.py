"""In which field do two batches differ first, said so that a person sees why?"""

from __future__ import annotations

from typing import Final

from kmirror.errors import CorruptBatch
from kmirror.log.compare import Parting, Value, byte_field, first_byte, first_field
from kmirror.logdir.dump.batches import AnyFileBatch, AnyRecord, FileBatch, FileMessage
from kmirror.records import layout
from kmirror.records.codecs import Compression

_SHOWN_BYTES_MAX: Final = 32

# The fields of a batch's header, in the order in which a difference says most; the checksum comes after the records.
_FIELDS: Final = (
    "base_offset", "last_offset", "partition_leader_epoch", "producer_id", "producer_epoch", "base_sequence",
    "record_count", "base_timestamp", "max_timestamp",
)  # fmt: skip
_RECORD_FIELDS: Final = ("offset", "timestamp", "key", "value", "headers")


def first_difference(left: AnyFileBatch, right: AnyFileBatch) -> Parting:
    """Return the first difference of two batches that are not equal, its field and values in words."""
    offset = min(left.head.offset, right.head.offset)
    if left.head.magic != right.head.magic:
        return Parting(offset, "message format", left.head.magic, right.head.magic)
    if isinstance(left, FileMessage) or isinstance(right, FileMessage):
        if left.last_offset != right.last_offset:
            return Parting(offset, "offset", left.last_offset, right.last_offset)
        return _of_content(left, right, offset)
    found = first_field(left, right, _FIELDS)
    if found is not None:
        name = found.name.removeprefix("partition_").replace("_", " ")
        return Parting(offset, name, found.expected, found.found)
    if left.attributes != right.attributes:
        return Parting(offset, "attributes", _attributes(left), _attributes(right))
    return _of_content(left, right, offset)


def _attributes(batch: FileBatch) -> str:
    """Return what the attributes mean."""
    bits = batch.attributes & layout.COMPRESSION_MASK
    words = [Compression(bits).name.lower() if bits <= Compression.ZSTD else f"compression {bits}"]
    words.append(batch.timestamp_type.name.lower())
    flags = {
        "transactional": layout.TRANSACTIONAL_FLAG,
        "control": layout.CONTROL_FLAG,
        "delete horizon": layout.DELETE_HORIZON_FLAG,
        "bit 7": 0x80,
    }
    words += [name for name, flag in flags.items() if batch.attributes & flag]
    return f"{batch.attributes:#04x} ({', '.join(words)})"


def _of_content(left: AnyFileBatch, right: AnyFileBatch, offset: int) -> Parting:
    """Return the first record that differs, or else the checksum, the size, or the byte."""
    found = _of_records(left, right)
    if found is not None:
        return found
    if left.checksum != right.checksum:
        return Parting(offset, "CRC", f"{left.checksum:#010x}", f"{right.checksum:#010x}")
    if left.head.length != right.head.length:
        return Parting(offset, "size in bytes", left.head.size_in_bytes, right.head.size_in_bytes)
    one, other = (batch.file[batch.head.position :][: left.head.size_in_bytes] for batch in (left, right))
    at = first_byte(one, other)
    assert at is not None, "the batches are not equal"
    return Parting(offset, byte_field(at), f"{one[at]:#04x}", f"{other[at]:#04x}", at)


def _of_records(left: AnyFileBatch, right: AnyFileBatch) -> Parting | None:
    """Return the first difference between the records, None where there is none or they cannot be read."""
    try:
        pairs: list[tuple[AnyRecord, AnyRecord]] = list(zip(left.records(), right.records(), strict=False))
        for one, other in pairs:
            found = first_field(one, other, _RECORD_FIELDS)
            if found is not None:
                offset = min(one.offset, other.offset)
                return Parting(offset, f"record {found.name}", _shown(found.expected), _shown(found.found))
    except CorruptBatch:
        pass
    return None


def _shown(value: object) -> Value:
    if isinstance(value, bytes):
        more = f"... ({len(value)} bytes)" if len(value) > _SHOWN_BYTES_MAX else ""
        return f"{value[:_SHOWN_BYTES_MAX]!r}{more}"
    return value if isinstance(value, int) or value is None else str(value)
