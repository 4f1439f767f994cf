"""Encoding of values in a journal. Events, effects and headers consist of them; each has a letter as its first byte.

    N          None
    T, F       True, False
    i          an integer: u8 number of bytes, then those, big-endian, signed
    s, b       text in UTF-8, bytes: u32 size, then those
    t          a tuple: u32 number of values, then those
    E P R U    Endpoint (host, port), TopicPartition (topic, partition), Principal (type, name): their fields;
               Uuid: its 16 bytes
    O I        OutboundLink (peer, channel), InboundLink (name)
    o          anything else, such as an enum member in a timer's key: the name of its class and its `repr`, as two
               texts. It is decoded as a `Named`, which is encoded in the same way

Numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from kmirror.errors import ProtocolError
from kmirror.kernel.events import InboundLink, OutboundLink
from kmirror.kernel.ids import Endpoint, Principal, TopicPartition
from kmirror.kernel.uuid import Uuid


class Named(NamedTuple):
    """A value without its own encoding: the name of its class, and its `repr`."""

    kind: str
    text: str


DEPTH_MAX = 40
_U32 = struct.Struct(">I")
_TUPLES: dict[type, bytes] = {
    tuple: b"t",
    Endpoint: b"E",
    TopicPartition: b"P",
    Principal: b"R",
    OutboundLink: b"O",
    InboundLink: b"I",
    Named: b"o",
}
_DECODERS: dict[int, tuple[Callable[..., Any], int]] = {
    ord("E"): (Endpoint, 2),
    ord("P"): (TopicPartition, 2),
    ord("R"): (Principal, 2),
    ord("O"): (OutboundLink, 2),
    ord("I"): (InboundLink, 1),
    ord("o"): (Named, 2),
}


def encode(value: object) -> bytes:
    """Return the encoded bytes of a value."""
    out = bytearray()
    _put(out, value)
    return bytes(out)


def _put(out: bytearray, value: Any) -> None:
    kind = type(value)
    if value is None:
        out += b"N"
    elif kind is bool:
        out += b"T" if value else b"F"
    elif kind is int:
        size = (value.bit_length() + 8) // 8
        out += b"i"
        out.append(size)
        out += value.to_bytes(size, "big", signed=True)
    elif kind is str:
        _put_sized(out, b"s", value.encode("utf-8", "surrogatepass"))
    elif kind is Uuid:
        out += b"U"
        out += value
    elif kind is bytes or kind is bytearray or kind is memoryview:
        _put_sized(out, b"b", value)
    elif kind in _TUPLES:
        out += _TUPLES[kind]
        if kind is tuple:
            out += _U32.pack(len(value))
        for item in value:
            _put(out, item)
    else:
        _put(out, Named(kind.__name__, repr(value)))


def _put_sized(out: bytearray, letter: bytes, data: Any) -> None:
    out += letter
    out += _U32.pack(len(data))
    out += data


def decode(data: bytes | memoryview) -> Any:
    """Return the decoded value; ProtocolError unless the bytes are exactly one value."""
    value, end = _get(memoryview(data), 0, 0)
    if end != len(data):
        raise ProtocolError("extra bytes after a value in a journal", position=end)
    return value


def _get(data: memoryview, at: int, depth: int) -> tuple[Any, int]:
    letter = _take(data, at, 1)[0]
    at += 1
    if letter in b"NTF":
        return {ord("N"): None, ord("T"): True, ord("F"): False}[letter], at
    if letter == ord("i"):
        size = _take(data, at, 1)[0]
        return int.from_bytes(_take(data, at + 1, size), "big", signed=True), at + 1 + size
    if letter == ord("U"):
        return Uuid(_take(data, at, 16)), at + 16
    if letter in b"sb":
        (size,) = _U32.unpack(_take(data, at, 4))
        raw = bytes(_take(data, at + 4, size))
        return (_text(raw, at) if letter == ord("s") else raw), at + 4 + size
    if depth == DEPTH_MAX:
        raise ProtocolError("a value in a journal is nested too deeply", position=at)
    if letter == ord("t"):
        (count,) = _U32.unpack(_take(data, at, 4))
        _take(data, at + 4, count)  # Each value has at least one byte, so an impossible count allocates no list.
        values, at = _get_all(data, at + 4, count, depth)
        return tuple(values), at
    if letter not in _DECODERS:
        raise ProtocolError(f"unknown type byte {letter} in a journal", position=at - 1)
    make, count = _DECODERS[letter]
    values, at = _get_all(data, at, count, depth)
    return make(*values), at


def _get_all(data: memoryview, at: int, count: int, depth: int) -> tuple[list[Any], int]:
    values = []
    for _ in range(count):
        value, at = _get(data, at, depth + 1)
        values.append(value)
    return values, at


def _take(data: memoryview, at: int, size: int) -> memoryview:
    if size > len(data) - at:
        raise ProtocolError("a value in a journal is incomplete", position=at)
    return data[at : at + size]


def _text(raw: bytes, at: int) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise ProtocolError("a string in a journal is not UTF-8", position=at) from None
