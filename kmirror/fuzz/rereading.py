"""Do the records that were read stand in the batch? A second opinion, which uses nothing of `kmirror.records`.

Checksums are computed anew, bit by bit as the polynomial says, and the records of a valid batch are written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from kmirror.fuzz.mutations import signed_varint

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, its bits in reverse.
_OCTETS = 256


class Read(Protocol):
    """A record as a reader gives it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def _table() -> Sequence[int]:
    found = []
    for value in range(_OCTETS):
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


_TABLE = _table()


def castagnoli(data: Iterable[int]) -> int:
    """Return the CRC-32C of some octets."""
    crc = 0xFFFFFFFF
    for octet in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFFFFFF


def records_again(records: Iterable[Read], base_offset: int, base_timestamp: int) -> bytes:
    """Return the records of a batch of format 2, before compression, in as few bytes as there can be."""
    out = bytearray()
    for record in records:
        body = bytearray(b"\0")
        body += signed_varint(record.timestamp - base_timestamp) + signed_varint(record.offset - base_offset)
        body += _content(record.key) + _content(record.value) + signed_varint(len(record.headers))
        for name, value in record.headers:
            body += _content(name.encode()) + _content(value)
        out += signed_varint(len(body)) + body
    return bytes(out)


def _content(value: bytes | None) -> bytes:
    return signed_varint(-1) if value is None else signed_varint(len(value)) + value
