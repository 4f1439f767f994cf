"""Values on the wire: accepted and refused values as in Java's readers, at the edges of each form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmirror.kernel.uuid import Uuid
from kmirror.protocol import wire
from kmirror.protocol.wire import READ_ERRORS, WRITE_ERRORS

VARINTS = [
    (0, b"\0"),
    (127, b"\x7f"),
    (128, b"\x80\x01"),
    (16_383, b"\xff\x7f"),
    (16_384, b"\x80\x80\x01"),
    (2**31 - 1, b"\xff\xff\xff\xff\x07"),
]
FORMS: list[tuple[Callable[..., Any], Callable[..., Any], object, bytes]] = [
    (wire.string, wire.read_string, "é", b"\0\2\xc3\xa9"),
    (wire.nullable_string, wire.read_nullable_string, None, b"\xff\xff"),
    (wire.compact_string, wire.read_compact_string, "é", b"\3\xc3\xa9"),
    (wire.compact_nullable_string, wire.read_compact_nullable_string, None, b"\0"),
    (wire.compact_nullable_string, wire.read_compact_nullable_string, "", b"\1"),
]


@pytest.mark.parametrize(("value", "data"), VARINTS)
def test_a_varint_has_seven_bits_a_byte(value: int, data: bytes) -> None:
    assert wire.uvarint(value) == data
    assert wire.read_uvarint(b"x" + data + b"rest", 1) == (value, 1 + len(data))


def test_a_varint_is_truncated_to_a_signed_int_as_in_java() -> None:
    assert wire.read_uvarint(b"\xff\xff\xff\xff\x0f", 0) == (-1, 5)
    assert wire.read_uvarint(b"\xff\xff\xff\xff\x7f", 0) == (-1, 5)
    assert wire.read_compact_length(b"\x80\x80\x80\x80\x08", 0) == (2**31 - 1, 5), "Integer.MIN_VALUE - 1 wraps"


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\xff\0"])
def test_a_varint_that_ends_too_early_or_too_late_is_refused(data: bytes) -> None:
    with pytest.raises(READ_ERRORS):
        wire.read_uvarint(data, 0)


@pytest.mark.parametrize(("write", "read", "value", "data"), FORMS)
def test_text_there_and_back(
    write: Callable[..., bytes], read: Callable[..., tuple[object, int]], value: object, data: bytes
) -> None:
    assert write(value) == data
    assert read(b"x" + data + b"rest", 1) == (value, 1 + len(data))
    for end in range(len(data)):
        with pytest.raises(READ_ERRORS):
            read(data[:end], 0)


@pytest.mark.parametrize("write", [wire.string, wire.compact_string])
def test_null_and_text_beyond_a_short_are_not_written(write: Callable[[str | None], bytes]) -> None:
    assert len(write("x" * 32_767)) in (32_769, 32_770)
    for value in (None, "x" * 32_768):
        with pytest.raises(WRITE_ERRORS):
            write(value)


def test_null_text_and_long_compact_text_are_refused() -> None:
    assert wire.read_compact_string(wire.uvarint(32_768) + b"x" * 32_767, 0)[1] == 32_770
    for read, data in (
        (wire.read_string, b"\xff\xff"),
        (wire.read_compact_string, b"\0"),
        (wire.read_compact_string, wire.uvarint(32_769) + b"x" * 32_768),
        (wire.read_bytes, b"\xff\xff\xff\xff"),
        (wire.read_records, b"\xff\xff\xff\xff"),
    ):
        with pytest.raises(READ_ERRORS):
            read(data, 0)


def test_records_are_a_view_and_bytes_a_copy() -> None:
    data = bytearray(b"\0\0\0\3abc")
    records, end = wire.read_records(data, 0)
    copied, _ = wire.read_bytes(data, 0)
    data[4] = ord("z")
    assert (bytes(records), copied, end) == (b"zbc", b"abc", 7)


def test_a_uuid_has_sixteen_bytes() -> None:
    uuid = Uuid(bytes(range(16)))
    assert wire.read_uuid(b"x" + uuid, 1) == (uuid, 17)
    assert wire.uuid(uuid) == uuid
    with pytest.raises(READ_ERRORS):
        wire.read_uuid(uuid[:15], 0)
    with pytest.raises(WRITE_ERRORS):
        wire.uuid(b"short")  # type: ignore[arg-type]
