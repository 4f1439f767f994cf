"""Independent check of the records that were read from a batch, without any code of `kmirror.records`.

Checksums are computed bit by bit from the polynomial. The records of a valid batch are written again, and those of each
accepted batch are read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from kmirror.fuzz.mutations import signed_varint

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bit-reversed.
_OCTETS = 256


class ReadRecord(Protocol):
    """A record as a reader returns it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def _crc_table() -> Sequence[int]:
    found = []
    for value in range(_OCTETS):
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


_TABLE = _crc_table()


def castagnoli(data: Iterable[int]) -> int:
    """Return the CRC-32C of some octets."""
    crc = 0xFFFFFFFF
    for octet in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFFFFFF


def encode_records(records: Iterable[ReadRecord], base_offset: int, base_timestamp: int) -> bytes:
    """Return the records of a batch of format 2, uncompressed, in their shortest encoding."""
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


class RecordFields(NamedTuple):
    """A record as encoded in a batch of format 2; the names of headers are bytes."""

    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...]


class _ByteReader:
    """Reads numbers and contents up to the end of the bytes; raises ValueError where Kafka refuses them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, octets: int = 5) -> int:
        """Return a signed varint of at most `octets` bytes: 32 bits for 5 of them, otherwise 64 bits."""
        raw = 0
        for place in range(octets):
            if self.at == len(self.data):
                raise ValueError("the bytes end within a number")
            octet = self.data[self.at]
            self.at += 1
            raw |= (octet & 0x7F) << 7 * place
            if octet < 0x80:
                raw %= 1 << (32 if octets == 5 else 64)
                return raw >> 1 if not raw & 1 else -(raw >> 1) - 1
        raise ValueError(f"a number of more than {octets} octets")

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self.data) - self.at:
            raise ValueError(f"{size} octets where {len(self.data) - self.at} are left")
        self.at += size
        return self.data[self.at - size : self.at]

    def content(self) -> bytes | None:
        size = self.number()
        return None if size < 0 else self.take(size)

    def check_end(self) -> None:
        if self.at < len(self.data):
            raise ValueError(f"{len(self.data) - self.at} octets are left over")


def decode_records(payload: bytes, count: int) -> list[RecordFields]:
    """Return the `count` records that fill `payload`; raises ValueError if they do not."""
    reader, rows = _ByteReader(payload), []
    for _ in range(count):
        rows.append(_read_record(_ByteReader(reader.take(reader.number()))))
    reader.check_end()
    return rows


def _read_record(body: _ByteReader) -> RecordFields:
    body.take(1)  # Attributes; none are defined.
    timestamp_delta, offset_delta = body.number(10), body.number()
    key, value, headers = body.content(), body.content(), body.number()
    if not 0 <= headers <= len(body.data):
        raise ValueError(f"{headers} headers")
    found = tuple((body.take(body.number()), body.content()) for _ in range(headers))
    body.check_end()
    return RecordFields(timestamp_delta, offset_delta, key, value, found)


def matches(record: ReadRecord, row: RecordFields, base_offset: int, base_timestamp: int | None) -> bool:
    """Return whether a record agrees with the batch; offsets and timestamps wrap like Java's long.

    With a base timestamp of None the timestamp is not compared; nor is a header name that is not UTF-8.
    """
    offset, time = base_offset + row.offset_delta, (base_timestamp or 0) + row.timestamp_delta
    names = [name for name, _ in row.headers]
    return (
        (offset - record.offset) % 2**64 == 0
        and (base_timestamp is None or (time - record.timestamp) % 2**64 == 0)
        and (row.key, row.value) == (record.key, record.value)
        and [value for _, value in row.headers] == [value for _, value in record.headers]
        and all(_is_text(name, text) for name, (text, _) in zip(names, record.headers, strict=True))
    )


def _is_text(name: bytes, text: str) -> bool:
    try:
        return name.decode() == text
    except UnicodeDecodeError:
        return True


def decode_message(message: bytes) -> tuple[int, int, bytes | None, bytes | None]:
    """Return offset, timestamp (-1 in format 0), key and value of a message; raises ValueError if its size is wrong."""
    magic, at = message[16], 18
    time_ms = int.from_bytes(message[at : at + 8], "big", signed=True) if magic else -1
    at += 8 if magic else 0
    found: list[bytes | None] = []
    for _ in range(2):
        if at + 4 > len(message):
            raise ValueError("the message ends within a length")
        size = int.from_bytes(message[at : at + 4], "big", signed=True)
        at += 4
        if size > len(message) - at:
            raise ValueError(f"{size} octets where {len(message) - at} are left")
        found.append(None if size < 0 else message[at : at + size])
        at += max(size, 0)
    if at < len(message):
        raise ValueError(f"{len(message) - at} octets are left over")
    return int.from_bytes(message[:8], "big", signed=True), time_ms, found[0], found[1]
