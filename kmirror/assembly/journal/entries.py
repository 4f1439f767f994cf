"""The file format of a journal, version 3: one node from its start to its end, as entries that stand for themselves.

    file    = "kmirror journal" 0x00, u16 version, entry ...
    entry   = u32 size of the body, u32 CRC-32C of the body, body
    body    = u8 kind, values
    kind 1  the node: what it was made of; the first entry
    kind 2  a piece of what its disk held when it was made
    kind 3  one call of `handle`: when, the event, the effects as a value within bytes, the digest of all effects so far

Values are those of `values.py`. Entries follow each other in the order in which things happened, and each is written by
one call, after the effects are known: a process that is killed leaves a prefix. So the last entry may be torn, and is
cut; an entry that is damaged and has another one behind it is an error.
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
    """The end of a journal whose writer was killed: from where on it is cut, and how much of it that is."""

    position: int
    size: int

    def __str__(self) -> str:
        return f"{self.size} bytes from byte {self.position} on are a torn entry, and cut"


def beginning() -> bytes:
    """Return what stands before the first entry."""
    return MAGIC + _VERSION.pack(VERSION)


def entry(kind: int, value: object) -> bytes:
    """Return an entry."""
    body = bytes((kind,)) + values.encode(value)
    return _HEAD.pack(len(body), crc32c(body)) + body


def entries(data: bytes | memoryview) -> Iterator[tuple[int, Any] | Torn]:
    """Yield kind and value of each entry, and in the end what is torn, if anything is.

    UsageError for what is no journal, or one of another version; ProtocolError for a damaged one.
    """
    data = memoryview(data)
    at = len(MAGIC) + _VERSION.size
    if data[: len(MAGIC)] != MAGIC:
        raise UsageError("this is no journal: kmirror serve --journal writes some")
    if len(data) < at:
        yield Torn(0, len(data))
        return
    (version,) = _VERSION.unpack(data[len(MAGIC) : at])
    if version != VERSION:
        raise UsageError(f"this journal has version {version}, and only {VERSION} is known here")
    while at < len(data):
        body = _body(data, at)
        if body is None:
            yield Torn(at, len(data) - at)
            return
        yield body[0], values.decode(body[1:])
        at += _HEAD.size + len(body)


def _body(data: memoryview, at: int) -> memoryview | None:
    """Return the body of the entry at a position, None if it is torn."""
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
