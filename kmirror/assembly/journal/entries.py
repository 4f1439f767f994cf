"""The file format of a journal, version 3: one node from its start to its end, as self-contained entries.

    file    = "kmirror journal" 0x00, u16 version, entry ...
    entry   = u32 size of the body, u32 CRC-32C of the body, body
    body    = u8 kind, values
    kind 1  the node: its options and seed; the first entry
    kind 2  a piece of its disk at the start
    kind 3  one call of `handle`: time, event, effects as an encoded value, digest of all effects so far

Values are those of `values.py`. Entries are in chronological order. Each is written by one call, after the effects are
known, so a killed process leaves a prefix of the journal. The last entry may therefore be torn, and is ignored then; a
damaged entry with another one after it is an error.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kmirror.assembly.journal import values
from kmirror.errors import ProtocolError, UsageError
from kmirror.records.crc32c import crc32c

MAGIC = b"kmirror journal\0"
VERSION = 3
NODE, DISK, CALL = 1, 2, 3
_HEAD = struct.Struct(">II")
_VERSION = struct.Struct(">H")


@dataclass(frozen=True, slots=True)
class Torn:
    """The torn end of a journal whose writer was killed: the byte position of the torn entry, and its size in bytes."""

    position: int
    size: int

    def __str__(self) -> str:
        return f"{self.size} bytes at byte {self.position} are a torn entry, which is ignored"


def file_header() -> bytes:
    """Return the bytes before the first entry."""
    return MAGIC + _VERSION.pack(VERSION)


def encode_entry(kind: int, value: object) -> bytes:
    """Return the bytes of an entry."""
    body = bytes((kind,)) + values.encode(value)
    return _HEAD.pack(len(body), crc32c(body)) + body


def read_entries(data: bytes | memoryview) -> Iterator[tuple[int, Any] | Torn]:
    """Yield kind and value of each entry, and at the end a `Torn` for an incomplete entry, if any.

    UsageError if this is not a journal, or one of another version; ProtocolError if it is damaged.
    """
    data = memoryview(data)
    at = len(MAGIC) + _VERSION.size
    if data[: len(MAGIC)] != MAGIC:
        raise UsageError("not a journal: kmirror serve --journal writes them")
    if len(data) < at:
        yield Torn(0, len(data))
        return
    (version,) = _VERSION.unpack(data[len(MAGIC) : at])
    if version != VERSION:
        raise UsageError(f"the journal has version {version}; only version {VERSION} is supported")
    while at < len(data):
        body = _body(data, at)
        if body is None:
            yield Torn(at, len(data) - at)
            return
        yield body[0], values.decode(body[1:])
        at += _HEAD.size + len(body)


def _body(data: memoryview, at: int) -> memoryview | None:
    """Return the body of the entry at a position; None if it is torn."""
    if len(data) - at < _HEAD.size:
        return None
    size, crc = _HEAD.unpack(data[at : at + _HEAD.size])
    end = at + _HEAD.size + size
    if end > len(data):
        return None
    body = data[at + _HEAD.size : end]
    if not size or crc32c(body) != crc:
        if end == len(data):
            return None
        raise ProtocolError("an entry of the journal is damaged", position=at)
    return body
