"""Faults planted in the readers of record batches, one function each."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from kmirror.fuzz.findings import FaultKind
from kmirror.fuzz.targets import batch as batch_target
from kmirror.records import batch as batches
from kmirror.records import legacy, record, views

Patch = AbstractContextManager[object]


def crc_not_verified() -> Patch:
    """Every checksum is accepted."""
    return patch.object(batches.Batch, "verify_crc", lambda self: None)


def crc_of_legacy_not_verified() -> Patch:
    """Every checksum of a message of format 0 or 1 is accepted."""
    return patch.object(legacy.LegacyBatch, "verify_crc", lambda self: None)


def crc_of_other_bytes() -> Patch:
    """The checksum covers one byte less."""
    crc32c = batches.crc32c
    return patch.object(batches, "crc32c", lambda data: crc32c(data[:-1]))


def header_key_wrong() -> Patch:
    """The key of a header loses its first letter, in all readers of records."""
    read = record.read_headers

    def read_cut_keys(data: bytes, at: int, end: int) -> tuple[list[record.Header], int]:
        headers, at = read(data, at, end)
        return [(name[1:], value) for name, value in headers], at

    return patch.object(record, "read_headers", read_cut_keys)


def views_differ() -> Patch:
    """Views have the time of the producer where the broker's applies."""
    decode = views.decode_records

    def decode_producer_times(data: bytes, count: int, context: record.BatchContext) -> Iterator[record.Record]:
        return decode(data, count, context._replace(log_append_time=None))

    return patch.object(views, "decode_records", decode_producer_times)


def outline_without_keys() -> Patch:
    """The outline says that all records have keys."""
    outline = batch_target.outline

    def outline_with_keys(data: bytes, at: int, count: int) -> object:
        found = outline(data, at, count)
        return found and found._replace(has_keys=True)

    return patch.object(batch_target, "outline", outline_with_keys)


def outline_time_too_high() -> Patch:
    """The outline has a maximum timestamp that no record has."""
    outline = batch_target.outline

    def outline_with_later_time(data: bytes, at: int, count: int) -> object:
        found = outline(data, at, count)
        return found and found._replace(max_delta=found.max_delta + 1)

    return patch.object(batch_target, "outline", outline_with_later_time)


def long_ends_at_its_edge() -> Patch:
    """Offsets and timestamps beyond a Java long are its maximum or minimum; only broken batches have them."""
    edge = 2**63
    return patch.object(record, "wrap_int64", lambda number: max(-edge, min(number, edge - 1)))


def length_of_three_bytes_in_record() -> Patch:
    """The third byte of a length is ignored: contents from 8 KiB on are wrong."""
    read = record.read_raw_varint

    def read_two_bytes(data: Sequence[int], at: int) -> tuple[int, int]:
        raw, end = read(data, at)
        return (raw & 0x3FFF if end - at == 3 and len(data) > 2**13 else raw), end

    return patch.object(record, "read_raw_varint", read_two_bytes)


def index_error_of_record() -> Patch:
    """A record that exceeds its batch raises an IndexError."""

    def return_error(error: Exception, *_: object) -> Exception:
        return error

    return patch.object(record, "_decoding_error", return_error)


def zlib_error() -> Patch:
    """A decompression failure raises zlib's own error."""
    decompress = batches.decompress

    def decompress_unchecked(codec: object, data: bytes, **options: Any) -> bytes:
        return decompress(codec, data, **options) if codec != 1 else zlib.decompress(data, 31)

    return patch.object(batches, "decompress", decompress_unchecked)


def long_varint_of_record() -> Patch:
    """The length of a record may have any number of bytes."""

    def read_any_length(data: Sequence[int], at: int) -> tuple[int, int]:
        raw = shift = 0
        while True:
            octet = data[at]
            at += 1
            raw |= (octet & 127) << shift
            shift += 7
            if octet < 128:
                return raw & 0xFFFFFFFF, at

    return patch.object(record, "read_raw_varint", read_any_length)


def key_for_value() -> Patch:
    """Key and value of a message of format 0 or 1 are swapped."""
    body = legacy.LegacyBatch._read_body
    return patch.object(legacy.LegacyBatch, "_read_body", lambda self: body(self)[::-1])


def last_record_left_out() -> Patch:
    """The last record of each batch is left out."""
    decode = batches.decode_records

    def decode_all_but_last(
        data: bytes, count: int, context: record.BatchContext, placed: Any
    ) -> Iterator[record.Record]:
        return iter(list(decode(data, count, context, placed))[: max(0, count - 1)] if data else [])

    return patch.object(batches, "decode_records", decode_all_but_last)


BATCH = (
    (crc_not_verified, (FaultKind.TAKEN,), ()),
    (crc_of_legacy_not_verified, (FaultKind.TAKEN,), ()),
    (crc_of_other_bytes, (FaultKind.REFUSED,), ()),
    (header_key_wrong, (FaultKind.CHANGED, FaultKind.DIFFERS), ()),
    (views_differ, (FaultKind.DIFFERS,), ()),
    (outline_without_keys, (FaultKind.DIFFERS,), ()),
    (outline_time_too_high, (FaultKind.DIFFERS,), ()),
    (long_ends_at_its_edge, (FaultKind.DIFFERS,), ()),
    (length_of_three_bytes_in_record, (FaultKind.REFUSED, FaultKind.DIFFERS), ()),
    (index_error_of_record, (FaultKind.RAISED,), ()),
    (zlib_error, (FaultKind.RAISED,), ()),
    (long_varint_of_record, (FaultKind.TAKEN,), ()),
    (key_for_value, (FaultKind.CHANGED, FaultKind.DIFFERS), ()),
    (last_record_left_out, (FaultKind.CHANGED, FaultKind.DIFFERS), ()),
)
