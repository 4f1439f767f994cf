"""In which field do two batches differ first, said so that a person sees why?"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from kmirror.errors import CorruptBatch
from kmirror.logdir.dump.batches import AnyFileBatch, AnyRecord, FileBatch, FileMessage
from kmirror.records import layout
from kmirror.records.codecs import Compression

_SHOWN_BYTES_MAX: Final = 32

# What a field holds on one side: a number, or its value in words; None where there is none or it is not known.
Value: TypeAlias = int | str | None


class BatchDifference(NamedTuple):
    """The first field in which two batches differ; `offset` is the record's or the batch's, `text` says it all."""

    offset: int
    field: str
    left: Value
    right: Value
    text: str


# The fields of a batch's header, in the order in which a difference says most; the checksum comes after the records.
_FIELDS: Final = (
    ("base offset", "base_offset"),
    ("last offset", "last_offset"),
    ("leader epoch", "partition_leader_epoch"),
    ("producer id", "producer_id"),
    ("producer epoch", "producer_epoch"),
    ("base sequence", "base_sequence"),
    ("record count", "record_count"),
    ("base timestamp", "base_timestamp"),
    ("max timestamp", "max_timestamp"),
)


def first_difference(left: AnyFileBatch, right: AnyFileBatch) -> BatchDifference:
    """Return the first difference of two batches that are not equal."""
    offset = min(left.head.offset, right.head.offset)
    if left.head.magic != right.head.magic:
        return _of(offset, "message format", left.head.magic, right.head.magic)
    if isinstance(left, FileMessage) or isinstance(right, FileMessage):
        return _of_messages(left, right, offset)
    for name, attribute in _FIELDS:
        one, other = getattr(left, attribute), getattr(right, attribute)
        if one != other:
            return _of(offset, name, one, other)
    if left.attributes != right.attributes:
        return _of(offset, "attributes", _attributes(left), _attributes(right))
    return _of_content(left, right, offset)


def _of(offset: int, field: str, left: Value, right: Value) -> BatchDifference:
    return BatchDifference(offset, field, left, right, f"{field} is {left} on the left and {right} on the right")


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


def _of_messages(left: AnyFileBatch, right: AnyFileBatch, offset: int) -> BatchDifference:
    if left.last_offset != right.last_offset:
        return _of(offset, "offset", left.last_offset, right.last_offset)
    return _of_content(left, right, offset)


def _of_content(left: AnyFileBatch, right: AnyFileBatch, offset: int) -> BatchDifference:
    """Return the first record that differs, or else the checksum, the size, or the byte."""
    found = _of_records(left, right)
    if found is not None:
        return found
    if left.checksum != right.checksum:
        return _of(offset, "CRC", f"{left.checksum:#010x}", f"{right.checksum:#010x}")
    if left.head.length != right.head.length:
        return _of(offset, "size in bytes", left.head.size_in_bytes, right.head.size_in_bytes)
    views = [batch.file[batch.head.position : batch.head.position + left.head.size_in_bytes] for batch in (left, right)]
    at = next((index for index, (one, other) in enumerate(zip(*views, strict=True)) if one != other), 0)
    return _of(offset, f"byte {at} of the batch", f"{views[0][at]:#04x}", f"{views[1][at]:#04x}")


def _of_records(left: AnyFileBatch, right: AnyFileBatch) -> BatchDifference | None:
    """Return the first difference between the records, None where there is none or they cannot be read."""
    try:
        return _of_pairs(list(zip(left.records(), right.records(), strict=False)))
    except CorruptBatch:
        return None


def _of_pairs(pairs: list[tuple[AnyRecord, AnyRecord]]) -> BatchDifference | None:
    for one, other in pairs:
        if one.offset != other.offset:
            return _of(min(one.offset, other.offset), "record offset", one.offset, other.offset)
        for name in ("timestamp", "key", "value", "headers"):
            values = getattr(one, name), getattr(other, name)
            if values[0] != values[1]:
                return _of(one.offset, f"record {name}", *(_shown(value) for value in values))
    return None


def _shown(value: object) -> Value:
    if isinstance(value, bytes):
        more = f"... ({len(value)} bytes)" if len(value) > _SHOWN_BYTES_MAX else ""
        return f"{value[:_SHOWN_BYTES_MAX]!r}{more}"
    return value if isinstance(value, int) or value is None else str(value)
