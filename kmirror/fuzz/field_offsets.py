"""Spots of a frame that this program did not write, found with `careful.decode`."""

from __future__ import annotations

from kmirror.errors import ProtocolError
from kmirror.fuzz.spots import RawSpot, SpotKind
from kmirror.kernel.uuid import Uuid
from kmirror.protocol import wire
from kmirror.protocol.careful import decode
from kmirror.protocol.message import Message
from kmirror.protocol.registry import find_key, find_response
from kmirror.protocol.structs import Struct
from kmirror.protocol.wire import Buffer

REQUEST_SPOTS: tuple[RawSpot, ...] = (
    (SpotKind.NUMBER, 0, 2, None),
    (SpotKind.NUMBER, 2, 4, None),
    (SpotKind.NUMBER, 4, 8, None),
    (SpotKind.SHORT_LENGTH, 8, 10, None),
)
"""Spots of the fixed start of every request header: key, version, correlation id, length of the client id."""
CORRELATION_SPOT: RawSpot = (SpotKind.NUMBER, 0, 4, None)
_WIDTHS = {SpotKind.SHORT_LENGTH: 2, SpotKind.LENGTH: 4, SpotKind.COUNT: 4}


def _null_kind(size: int, *, flexible: bool) -> SpotKind:
    """Return the kind of a null: a length or count of -1, which mutations treat alike, or a marker."""
    if size == 1:
        return SpotKind.COMPACT_LENGTH if flexible else SpotKind.MARKER
    return SpotKind.SHORT_LENGTH if size == _WIDTHS[SpotKind.SHORT_LENGTH] else SpotKind.LENGTH


def spots_in(message: type[Message], frame: Buffer, version: int, position: int = 0) -> list[RawSpot]:
    """Return the spots of the message at `position`, without fields; of a broken message those before the fault."""
    spots: list[RawSpot] = []
    flexible = message.FLEXIBLE_FROM is not None and version >= message.FLEXIBLE_FROM

    def prefix(kind: SpotKind, start: int) -> int:
        """Record a length or a count, and return its end."""
        end = start + _WIDTHS[kind] if kind in _WIDTHS else wire.read_uvarint(frame, start)[1]
        spots.append((kind, start, end, None))
        return end

    def note(start: int, end: int, path: str, value: object) -> None:
        match value:
            case None:
                spots.append((_null_kind(end - start, flexible=flexible), start, end, None))
            case int() if path.endswith("tags"):
                spots.append((SpotKind.TAG_COUNT, start, start + 1, None))
            case bool():
                spots.append((SpotKind.BOOL, start, end, None))
            case int() | float():
                spots.append((SpotKind.NUMBER, start, end, None))
            case Uuid():
                spots.append((SpotKind.UUID, start, end, None))
            case str():
                begin = prefix(SpotKind.COMPACT_LENGTH if flexible else SpotKind.SHORT_LENGTH, start)
                spots.append((SpotKind.TEXT, begin, end, None))
            case bytes() if path.endswith("]"):
                spots.append((SpotKind.TAGGED, start, end, None))
            case bytes() | memoryview():
                begin = prefix(SpotKind.COMPACT_LENGTH if flexible else SpotKind.LENGTH, start)
                spots.append((SpotKind.RECORDS if isinstance(value, memoryview) else SpotKind.BYTES, begin, end, None))
            case list():
                prefix(SpotKind.COMPACT_COUNT if flexible else SpotKind.COUNT, start)
            case Struct() if path.endswith("]"):
                spots.append((SpotKind.ELEMENT, start, end, None))

    try:
        decode(message, frame, version, position, note=note)
    except ProtocolError:
        pass  # The spots before the fault are kept.
    return spots


def ranges_of_field(
    message: type[Message], frame: Buffer, version: int, position: int, name: str
) -> list[tuple[int, int]]:
    """Return the ranges of the fields named `name` in the message at `position`, up to the fault of a broken one."""
    ranges: list[tuple[int, int]] = []

    def note(start: int, end: int, path: str, value: object) -> None:
        if path.rpartition(".")[2] == name:
            ranges.append((start, end))

    try:
        decode(message, frame, version, position, note=note)
    except ProtocolError:
        pass  # As in `spots_in`.
    return ranges


def response_spots(frame: Buffer, key: int, version: int) -> list[RawSpot]:
    """Return the spots of a response of this API, without its header; one for all bytes if the API is unknown."""
    response, api = find_response(key), find_key(key)
    if response is None or api is None:
        return [(SpotKind.BYTES, 0, len(frame), None)]
    return spots_in(response, frame, version, 4 + api.response_header_version(version))
