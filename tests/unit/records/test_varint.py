"""Zig-zag varints: the edges of each width, and varints without an end."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.records.varint import SMALL, encode_varint, read_varint, read_varlong

CASES = [
    (0, "00"),
    (-1, "01"),
    (1, "02"),
    (63, "7e"),
    (-64, "7f"),
    (64, "8001"),
    (-65, "8101"),
    (8191, "fe7f"),
    (8192, "808001"),
    (2**31 - 1, "feffffff0f"),
    (-(2**31), "ffffffff0f"),
]
LONG = [(2**63 - 1, "feffffffffffffffff01"), (-(2**63), "ffffffffffffffffff01")]


@pytest.mark.parametrize(("value", "text"), CASES + LONG)
def test_varints_survive_a_round_trip(value: int, text: str) -> None:
    data = bytes.fromhex(text)
    assert encode_varint(value) == data
    assert read_varlong(b"\xff" + data + b"\xff", 1) == (value, 1 + len(data))
    if len(data) <= 5:
        assert read_varint(b"\xff" + data + b"\xff", 1) == (value, 1 + len(data))


def test_small_numbers_are_at_hand() -> None:
    assert list(SMALL) == [encode_varint(number) for number in range(4096)]


def test_a_number_that_does_not_end_is_refused() -> None:
    with pytest.raises(CorruptBatch, match="longer than 5"):
        read_varint(b"\xff" * 20, 0)
    with pytest.raises(CorruptBatch, match="longer than 10"):
        read_varlong(b"\xff" * 20, 0)
    for read in (read_varint, read_varlong):
        with pytest.raises(IndexError):
            read(b"\x80\x80", 0)


def test_bits_beyond_the_width_are_dropped_as_the_jvm_drops_them() -> None:
    assert read_varint(bytes.fromhex("ffffffff7f"), 0) == (-(2**31), 5)
