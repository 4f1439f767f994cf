"""Delivery faults: wrong ways to deliver a response, one row for each, with its random values.

The response itself may be valid: its length is wrong, it is lost, late, sent twice or in pieces, or its link is closed.
Some ways have a number: the wrong length, the bytes before the end, the milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.kernel.events import PREFIX_BYTES
from kmirror.protocol.headers import RequestHead, decode_response, encode_response
from kmirror.protocol.registry import find_response

Draw = Callable[[], float]
_NUMBER_BYTES = 4
_INT32_MAX = 2**31 - 1
_LONGER_MAX = 400
"""Maximum number of extra bytes that a client waits for after a response; it takes them from the next one."""


class Way(IntEnum):
    """Way in which a response is delivered; the number is stored in files."""

    WHOLE = 0
    """With its length, at once; only its content is broken."""
    LENGTH = 1
    """With a wrong length."""
    LENGTH_AND_END = 2
    """With a wrong length, and nothing more on this link."""
    CUT = 3
    """The first bytes of the length and the response, then the end of the link."""
    NEVER = 4
    """Not at all."""
    TWICE = 5
    """Twice."""
    AFTER_NEXT = 6
    """After the next response on its link, or after a while if there is none."""
    DRIBBLED = 7
    """Byte by byte."""
    LATE = 8
    """Delayed by a number of milliseconds, and with it later responses on its link."""

    @property
    def about(self) -> str:
        """Return the suffix of the message name in a finding."""
        return _ABOUT[self]


_ABOUT = {
    Way.WHOLE: "",
    Way.LENGTH: " behind a wrong length",
    Way.LENGTH_AND_END: " behind a wrong length, then nothing",
    Way.CUT: ", then a closed link",
    Way.NEVER: " that never came",
    Way.TWICE: " sent twice",
    Way.AFTER_NEXT: " after the next",
    Way.DRIBBLED: " byte by byte",
    Way.LATE: " that came late",
}


class Broken(NamedTuple):
    """A response, its steps, a line each (none if it is unbroken), and the way of its delivery.

    For WHOLE, `data` are the bytes to send. For other ways the broker's bytes are sent, and `data` is the number of the
    way, or empty.
    """

    data: bytes
    story: tuple[str, ...]
    way: Way = Way.WHOLE


def numbered(way: Way, number: int, told: str) -> Broken:
    """Return a response with a way that has a number."""
    return Broken(number.to_bytes(_NUMBER_BYTES, "big", signed=True), (told,), way)


def number_of(data: bytes) -> int:
    """Return the number of a way."""
    return int.from_bytes(data[:_NUMBER_BYTES], "big", signed=True)


class WayRow(NamedTuple):
    """A delivery fault; `make` gets late_ms last, and returns None if the fault does not apply to this response."""

    name: str
    make: Callable[[Draw, bytes, RequestHead, int], Broken | None]


def in_some_way(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken | None:
    """Return the response with one of the rows, drawn at random; None if it does not apply to this response."""
    return WAYS[int(random() * len(WAYS))].make(random, frame, head, late_ms)


# -- the rows -------------------------------------------------------------------------------------


def _drawn(random: Draw, options: tuple[int, ...]) -> int:
    return options[int(random() * len(options))]


def _with_length(way: Way, length: int, frame: bytes) -> Broken:
    then = ", and nothing more" if way is Way.LENGTH_AND_END else ""
    return numbered(way, length, f"a length of {length:,} before {len(frame):,} bytes{then}")


def _negative(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return _with_length(Way.LENGTH, _drawn(random, (-1, -2, -len(frame), -_INT32_MAX - 1)), frame)


def _none(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return _with_length(Way.LENGTH, 0, frame)


def _shorter(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken | None:
    if len(frame) < 2:
        return None
    return _with_length(Way.LENGTH, 1 + int(random() * (len(frame) - 1)), frame)


def _longer(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return _with_length(Way.LENGTH, len(frame) + 1 + int(random() * _LONGER_MAX), frame)


def _never_full(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return _with_length(Way.LENGTH_AND_END, len(frame) + 1 + int(random() * _LONGER_MAX), frame)


def _huge(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    lengths = (_INT32_MAX, _INT32_MAX - 4, 2**30, 10**9, 0x48545450)  # The last is "HTTP".
    return _with_length(Way.LENGTH_AND_END, _drawn(random, lengths), frame)


def _cut(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    size = PREFIX_BYTES + len(frame)
    kept = int(random() * size)
    return numbered(Way.CUT, kept, f"{kept:,} of {size:,} bytes, then the link is closed")


def _closed_after(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return numbered(Way.CUT, PREFIX_BYTES + len(frame), "the link is closed after it")


def _never(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return Broken(b"", ("never sent",), Way.NEVER)


def _twice(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return Broken(b"", ("sent twice",), Way.TWICE)


def _after_next(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return Broken(b"", ("sent after the next",), Way.AFTER_NEXT)


def _dribbled(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return Broken(b"", ("sent byte by byte",), Way.DRIBBLED)


def _late(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    return numbered(Way.LATE, late_ms, f"sent {late_ms:,} ms late")


def _other_id(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken:
    """Return the response with the correlation id of the previous request, a later one, or none."""
    asked = head.correlation_id
    number = _drawn(random, (asked - 1, asked + 1, asked + 1_000, ~asked)) % 2**32
    return Broken(number.to_bytes(4, "big") + frame[4:], (f"correlation id {number} in place of {asked % 2**32}",))


def _in_another_version(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> Broken | None:
    """Return the response encoded in another version; None if its content cannot be encoded in that one."""
    response = find_response(head.api_key)
    if response is None:
        return None
    asked = head.api_version
    others = [version for version in range(response.MIN_VERSION, response.MAX_VERSION + 1) if version != asked]
    if not others:
        return None
    version = others[int(random() * len(others))]
    try:
        body: Any = decode_response(frame, head.api_key, asked).body
        data = encode_response(body, version, correlation_id=int.from_bytes(frame[:4], "big", signed=True))
    except (ProtocolError, LocalProtocolError):
        return None
    return Broken(data, (f"version {version} in place of {asked}",))


WAYS = (
    WayRow("a length below zero", _negative),
    WayRow("a length of zero", _none),
    WayRow("a length that is too short", _shorter),
    WayRow("a length that is too long", _longer),
    WayRow("a length whose rest never comes", _never_full),
    WayRow("a length near 2^31", _huge),
    WayRow("cut, then closed", _cut),
    WayRow("closed after it", _closed_after),
    WayRow("never sent", _never),
    WayRow("sent twice", _twice),
    WayRow("changed places", _after_next),
    WayRow("byte by byte", _dribbled),
    WayRow("late", _late),
    WayRow("a correlation id that is not asked for", _other_id),
    WayRow("another version", _in_another_version),
)
