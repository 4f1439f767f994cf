"""Delivery faults: wrong deliveries of a response, one row for each, with its random values.

The response itself may be valid: its length is wrong, it is lost, late, sent twice or in pieces, or its link is closed.
Some deliveries have a number: the wrong length, the number of bytes before the end, the milliseconds.
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


class Delivery(IntEnum):
    """Delivery of a response: complete, or with one of the faults. The values are stored in files."""

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
    BYTE_BY_BYTE = 7
    """Byte by byte."""
    LATE = 8
    """Delayed by a number of milliseconds, and with it later responses on its link."""

    @property
    def name_suffix(self) -> str:
        """Return the suffix of the message name in a finding."""
        return _NAME_SUFFIXES[self]


_NAME_SUFFIXES = {
    Delivery.WHOLE: "",
    Delivery.LENGTH: " behind a wrong length",
    Delivery.LENGTH_AND_END: " behind a wrong length, then nothing",
    Delivery.CUT: ", then a closed link",
    Delivery.NEVER: " that never came",
    Delivery.TWICE: " sent twice",
    Delivery.AFTER_NEXT: " after the next",
    Delivery.BYTE_BY_BYTE: " byte by byte",
    Delivery.LATE: " that came late",
}


class BrokenResponse(NamedTuple):
    """A response, its steps, a line each (none if it is unbroken), and its delivery.

    For WHOLE, `data` are the bytes to send. For other deliveries the broker's bytes are sent, and `data` is the number
    of the delivery, or empty.
    """

    data: bytes
    story: tuple[str, ...]
    delivery: Delivery = Delivery.WHOLE


def with_number(delivery: Delivery, number: int, step: str) -> BrokenResponse:
    """Return a response whose delivery has a number."""
    return BrokenResponse(number.to_bytes(_NUMBER_BYTES, "big", signed=True), (step,), delivery)


def read_number(data: bytes) -> int:
    """Return the number of a delivery."""
    return int.from_bytes(data[:_NUMBER_BYTES], "big", signed=True)


class DeliveryFault(NamedTuple):
    """A delivery fault; `make` gets late_ms last, and returns None if the fault does not apply to this response."""

    name: str
    make: Callable[[Draw, bytes, RequestHead, int], BrokenResponse | None]


def apply_delivery_fault(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse | None:
    """Return the response with a random delivery fault; None if that fault does not apply to this response."""
    return DELIVERY_FAULTS[int(random() * len(DELIVERY_FAULTS))].make(random, frame, head, late_ms)


# -- the rows -------------------------------------------------------------------------------------


def _choose(random: Draw, options: tuple[int, ...]) -> int:
    return options[int(random() * len(options))]


def _with_length(delivery: Delivery, length: int, frame: bytes) -> BrokenResponse:
    suffix = ", and nothing more" if delivery is Delivery.LENGTH_AND_END else ""
    return with_number(delivery, length, f"a length of {length:,} before {len(frame):,} bytes{suffix}")


def _negative_length(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return _with_length(Delivery.LENGTH, _choose(random, (-1, -2, -len(frame), -_INT32_MAX - 1)), frame)


def _zero_length(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return _with_length(Delivery.LENGTH, 0, frame)


def _short_length(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse | None:
    if len(frame) < 2:
        return None
    return _with_length(Delivery.LENGTH, 1 + int(random() * (len(frame) - 1)), frame)


def _long_length(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return _with_length(Delivery.LENGTH, len(frame) + 1 + int(random() * _LONGER_MAX), frame)


def _incomplete(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return _with_length(Delivery.LENGTH_AND_END, len(frame) + 1 + int(random() * _LONGER_MAX), frame)


def _huge_length(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    lengths = (_INT32_MAX, _INT32_MAX - 4, 2**30, 10**9, 0x48545450)  # The last is "HTTP".
    return _with_length(Delivery.LENGTH_AND_END, _choose(random, lengths), frame)


def _cut(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    size = PREFIX_BYTES + len(frame)
    kept = int(random() * size)
    return with_number(Delivery.CUT, kept, f"{kept:,} of {size:,} bytes, then the link is closed")


def _closed_after(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return with_number(Delivery.CUT, PREFIX_BYTES + len(frame), "the link is closed after it")


def _never_sent(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return BrokenResponse(b"", ("never sent",), Delivery.NEVER)


def _sent_twice(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return BrokenResponse(b"", ("sent twice",), Delivery.TWICE)


def _sent_after_next(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return BrokenResponse(b"", ("sent after the next",), Delivery.AFTER_NEXT)


def _sent_byte_by_byte(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return BrokenResponse(b"", ("sent byte by byte",), Delivery.BYTE_BY_BYTE)


def _sent_late(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    return with_number(Delivery.LATE, late_ms, f"sent {late_ms:,} ms late")


def _other_correlation_id(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    """Return the response with the correlation id of the previous request, a later one, or none."""
    requested_id = head.correlation_id
    number = _choose(random, (requested_id - 1, requested_id + 1, requested_id + 1_000, ~requested_id)) % 2**32
    return BrokenResponse(
        number.to_bytes(4, "big") + frame[4:], (f"correlation id {number} in place of {requested_id % 2**32}",)
    )


def _other_version(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse | None:
    """Return the response encoded in another version; None if its content cannot be encoded in that one."""
    response = find_response(head.api_key)
    if response is None:
        return None
    requested_version = head.api_version
    others = [
        version for version in range(response.MIN_VERSION, response.MAX_VERSION + 1) if version != requested_version
    ]
    if not others:
        return None
    version = others[int(random() * len(others))]
    try:
        body: Any = decode_response(frame, head.api_key, requested_version).body
        data = encode_response(body, version, correlation_id=int.from_bytes(frame[:4], "big", signed=True))
    except (ProtocolError, LocalProtocolError):
        return None
    return BrokenResponse(data, (f"version {version} in place of {requested_version}",))


DELIVERY_FAULTS = (
    DeliveryFault("a length below zero", _negative_length),
    DeliveryFault("a length of zero", _zero_length),
    DeliveryFault("a length that is too short", _short_length),
    DeliveryFault("a length that is too long", _long_length),
    DeliveryFault("a length whose rest never comes", _incomplete),
    DeliveryFault("a length near 2^31", _huge_length),
    DeliveryFault("cut, then closed", _cut),
    DeliveryFault("closed after it", _closed_after),
    DeliveryFault("never sent", _never_sent),
    DeliveryFault("sent twice", _sent_twice),
    DeliveryFault("changed places", _sent_after_next),
    DeliveryFault("byte by byte", _sent_byte_by_byte),
    DeliveryFault("late", _sent_late),
    DeliveryFault("a correlation id that is not asked for", _other_correlation_id),
    DeliveryFault("another version", _other_version),
)
