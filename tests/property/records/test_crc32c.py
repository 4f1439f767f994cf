"""The checksum of every library equals the reference's, and the polynomial's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kmirror.records.crc32c import crc32c, crc32c_reference, implementations

FUNCTIONS = implementations()
_POLYNOMIAL = 0x82F63B78  # Castagnoli, lowest bit first.


def bit_by_bit(data: bytes) -> int:
    value = 0xFFFF_FFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return value ^ 0xFFFF_FFFF


@given(data=st.binary(max_size=300), before=st.integers(0, 9), behind=st.integers(0, 9))
def test_all_libraries_agree_on_every_kind_of_buffer(data: bytes, before: int, behind: int) -> None:
    expected = bit_by_bit(data)
    padded = bytes(before) + data + bytes(behind)
    view = memoryview(padded)[before : before + len(data)]
    assert crc32c(data) == crc32c_reference(view) == expected
    for name, function in FUNCTIONS.items():
        assert [function(data), function(bytearray(data)), function(view)] == [expected] * 3, name


@given(data=st.binary(min_size=1, max_size=40), size=st.integers(4096, 1 << 18))
def test_all_libraries_agree_on_long_buffers(data: bytes, size: int) -> None:
    long = (data * (size // len(data) + 1))[:size]
    assert {function(long) for function in FUNCTIONS.values()} == {crc32c_reference(long)}
