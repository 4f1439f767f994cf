"""Varints: variable-length encoding of signed numbers.

A number is zig-zag encoded (0, -1, 1, -2 become 0, 1, 2, 3), then split into groups of seven bits, lowest first; the
top bit is set in all bytes but the last. A 32-bit number takes at most 5 bytes and a 64-bit number 10. Bits beyond the
width are dropped, as on the JVM.
"""

from __future__ import annotations

from typing import Final

from kmirror.errors import CorruptBatch
from kmirror.records.layout import Buffer

VARINT_SIZE_MAX: Final = 5
VARLONG_SIZE_MAX: Final = 10
_MASK_32: Final = 0xFFFFFFFF
_MASK_64: Final = 0xFFFFFFFFFFFFFFFF


def _encode(value: int) -> bytes:
    raw = value << 1 if value >= 0 else (-value << 1) - 1
    out = bytearray()
    while raw > 127:
        out.append(raw & 127 | 128)
        raw >>= 7
    out.append(raw)
    return bytes(out)


# The one-byte encodings and half of the two-byte ones: most lengths, offset deltas and timestamp deltas.
SMALL: Final = (
    *(bytes((raw,)) for raw in range(0, 128, 2)),
    *(bytes((raw & 127 | 128, raw >> 7)) for raw in range(128, 8192, 2)),
)
MINUS_ONE: Final = _encode(-1)


def encode_varint(value: int) -> bytes:
    """Return `value` as a zig-zag varint; the caller has checked that it fits into 64 bits."""
    return SMALL[value] if 0 <= value < 4096 else _encode(value)


def varint_size(value: int) -> int:
    """Return the encoded size of `value` in bytes."""
    raw = value << 1 if value >= 0 else (-value << 1) - 1
    return (raw.bit_length() + 6) // 7 or 1


def read_raw_varint(data: Buffer, at: int) -> tuple[int, int]:
    """Return the zig-zag encoded 32-bit number at `at` and the position after it; `IndexError` at the end of `data`."""
    raw = shift = 0
    for _ in range(VARINT_SIZE_MAX):
        byte = data[at]
        at += 1
        raw |= (byte & 127) << shift
        if byte < 128:
            return raw & _MASK_32, at
        shift += 7
    raise CorruptBatch(f"a varint is longer than {VARINT_SIZE_MAX} bytes", position=at - VARINT_SIZE_MAX)


def read_raw_varlong(data: Buffer, at: int) -> tuple[int, int]:
    """Return the zig-zag encoded 64-bit number at `at` and the position after it; `IndexError` at the end of `data`."""
    raw = shift = 0
    for _ in range(VARLONG_SIZE_MAX):
        byte = data[at]
        at += 1
        raw |= (byte & 127) << shift
        if byte < 128:
            return raw & _MASK_64, at
        shift += 7
    raise CorruptBatch(f"a varlong is longer than {VARLONG_SIZE_MAX} bytes", position=at - VARLONG_SIZE_MAX)


def read_varint(data: Buffer, at: int) -> tuple[int, int]:
    """Return the 32-bit number at `at` and the position after it; `IndexError` at the end of `data`."""
    raw, at = read_raw_varint(data, at)
    return (raw >> 1) ^ -(raw & 1), at


def read_varlong(data: Buffer, at: int) -> tuple[int, int]:
    """Return the 64-bit number at `at` and the position after it; `IndexError` at the end of `data`."""
    raw, at = read_raw_varlong(data, at)
    return (raw >> 1) ^ -(raw & 1), at
