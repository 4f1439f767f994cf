"""Spots of a frame that this program did not write, found with `careful.decode`."""

from __future__ import annotations

from kmirror.errors import ProtocolError
from kmirror.fuzz.spots import Kind, RawSpot
from kmirror.kernel.uuid import Uuid
from kmirror.protocol import wire
from kmirror.protocol.careful import decode
from kmirror.protocol.message import Message
from kmirror.protocol.registry import find_key, find_response
from kmirror.protocol.structs import Struct
from kmirror.protocol.wire import Buffer

REQUEST_SPOTS: tuple[RawSpot, ...] = (
    (Kind.NUMBER, 0, 2, None),
    (Kind.NUMBER, 2, 4, None),
    (Kind.NUMBER, 4, 8, None),
    (Kind.SHORT_LENGTH, 8, 10, None),
)
"""Spots of the fixed start of every request header: key, version, correlation id, length of the client id."""
CORRELATION_SPOT: RawSpot = (Kind.NUMBER, 0, 4, None)
_WIDTHS = {Kind.SHORT_LENGTH: 2, Kind.LENGTH: 4, Kind.COUNT: 4}


def _null(size: int, *, flexible: bool) -> Kind:
    """Return the kind of a null: a length or count of -1, which mutations treat alike, or a marker."""
    if size == 1:
        return Kind.COMPACT_LENGTH if flexible else Kind.MARKER
    return Kind.SHORT_LENGTH if size == _WIDTHS[Kind.SHORT_LENGTH] else Kind.LENGTH


def spots_of(message: type[Message], frame: Buffer, version: int, position: int = 0) -> list[RawSpot]:
    """Return the spots of the message at `position`, without fields; of a broken message those before the fault."""
    spots: list[RawSpot] = []
    flexible = message.FLEXIBLE_FROM is not None and version >= message.FLEXIBLE_FROM

    def prefix(kind: Kind, start: int) -> int:
        """Record a length or a count, and return its end."""
        end = start + _WIDTHS[kind] if kind in _WIDTHS else wire.read_uvarint(frame, start)[1]
        spots.append((kind, start, end, None))
        return end

    def note(start: int, end: int, path: str, value: object) -> None:
        match value:
            case None:
                spots.append((_null(end - start, flexible=flexible), start, end, None))
            case int() if path.endswith("tags"):
                spots.append((Kind.TAG_COUNT, start, start + 1, None))
            case bool():
                spots.append((Kind.BOOL, start, end, None))
            case int() | float():
                spots.append((Kind.NUMBER, start, end, None))
            case Uuid():
                spots.append((Kind.UUID, start, end, None))
            case str():
                begin = prefix(Kind.COMPACT_LENGTH if flexible else Kind.SHORT_LENGTH, start)
                spots.append((Kind.TEXT, begin, end, None))
            case bytes() if path.endswith("]"):
                spots.append((Kind.TAGGED, start, end, None))
            case bytes() | memoryview():
                begin = prefix(Kind.COMPACT_LENGTH if flexible else Kind.LENGTH, start)
                spots.append((Kind.RECORDS if isinstance(value, memoryview) else Kind.BYTES, begin, end, None))
            case list():
                prefix(Kind.COMPACT_COUNT if flexible else Kind.COUNT, start)
            case Struct() if path.endswith("]"):
                spots.append((Kind.ELEMENT, start, end, None))

    try:
        decode(message, frame, version, position, note=note)
    except ProtocolError:
        pass  # The spots before the fault are kept.
    return spots


def places_of(message: type[Message], frame: Buffer, version: int, position: int, name: str) -> list[tuple[int, int]]:
    """Return the ranges of the fields named `name` in the message at `position`, up to the fault of a broken one."""
    places: list[tuple[int, int]] = []

    def note(start: int, end: int, path: str, value: object) -> None:
        if path.rpartition(".")[2] == name:
            places.append((start, end))

    try:
        decode(message, frame, version, position, note=note)
    except ProtocolError:
        pass  # As in spots_of.
    return places


def answer_spots(frame: Buffer, key: int, version: int) -> list[RawSpot]:
    """Return the spots of a response of this API, without its header; one for all bytes if the API is unknown."""
    response, api = find_response(key), find_key(key)
    if response is None or api is None:
        return [(Kind.BYTES, 0, len(frame), None)]
    return spots_of(response, frame, version, 4 + api.response_header_version(version))
