"""Frames made of recorded requests, as they were sent and broken.

Their spots are found by decoding them. Each API and version is drawn equally often, however many of its requests were
recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

from kmirror.errors import ProtocolError, UsageError
from kmirror.fuzz.field_offsets import REQUEST_SPOTS, spots_in
from kmirror.fuzz.mutations import mutate
from kmirror.fuzz.spots import RawSpot
from kmirror.fuzz.stream import BLOCK_FRAMES, BROKEN_HEADS_SHARE, Frame, Stream
from kmirror.protocol.headers import RequestHead, peek_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import find_request

_READ_MAX = 4_096
"""Number of requests whose spots are cached."""


class _Request(NamedTuple):
    """A request of the recording: its frame, its header, and the class of its message."""

    frame: bytes
    head: RequestHead
    message: type[Message]


class RecordedStream:
    """The frames of a seed, made of recorded requests instead of the grammar."""

    def __init__(self, stream: Stream, frames: Sequence[bytes]) -> None:
        """Use the seed, the messages and the header rules of `stream`.

        Raises `UsageError` if no frame is a request of those messages.
        """
        self.seed = stream.seed
        self._stream = stream
        kinds: dict[tuple[int, int], dict[bytes, _Request]] = {}
        for frame in frames:
            found = _request_in(frame)
            if found is not None and found.message in stream.messages:
                alike = kinds.setdefault((found.head.api_key, found.head.api_version), {})
                alike[frame[:4] + frame[8:]] = found  # Without the correlation id.
        if not kinds:
            raise UsageError(f"none of the {len(frames)} recorded requests is a request of this target")
        self._kinds = [list(kinds[name].values()) for name in sorted(kinds)]
        self._spots = lru_cache(maxsize=_READ_MAX)(_body_spots)

    def block(self, number: int) -> list[Frame]:
        """Return a recorded request and its broken variants."""
        random = Random(f"{self.seed}/recorded/{number}").random
        request, data, spots = self._template(random)
        first, name, version = number * BLOCK_FRAMES, request.message.NAME, request.head.api_version
        found = [Frame(first, name, version, bytes(data), (), False, request.message)]
        for place in range(first + 1, first + BLOCK_FRAMES):
            broken, steps = mutate(random, data, spots, self._stream.mutations)
            found.append(Frame(place, name, version, bytes(broken), steps, False, request.message))
        return found

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the frame with more of its spots broken; the spots are those of the recorded request."""
        _, _, spots = self._template(Random(f"{self.seed}/recorded/{parent.number // BLOCK_FRAMES}").random)
        data, steps = mutate(random, bytearray(parent.data), spots, self._stream.mutations)
        return parent._replace(data=bytes(data), steps=[*parent.steps, *steps])

    def _template(self, random: Callable[[], float]) -> tuple[_Request, bytearray, list[RawSpot]]:
        alike = self._kinds[int(random() * len(self._kinds))]
        request = alike[int(random() * len(alike))]
        at, spots = request.head.body_position, self._spots(request)
        if self._stream.has_headers:
            broken = [*REQUEST_SPOTS, *spots] if random() < BROKEN_HEADS_SHARE else spots
            return request, bytearray(request.frame), broken
        return (
            request,
            bytearray(request.frame[at:]),
            [(kind, start - at, end - at, of) for kind, start, end, of in spots],
        )


def _request_in(frame: bytes) -> _Request | None:
    """Return the request in a frame, None if its API or version is unknown."""
    try:
        head = peek_request(frame)
    except ProtocolError:
        return None
    message = find_request(head.api_key)
    if message is None or not message.MIN_VERSION <= head.api_version <= message.MAX_VERSION:
        return None
    return _Request(frame, head, message)


def _body_spots(request: _Request) -> list[RawSpot]:
    return spots_in(request.message, request.frame, request.head.api_version, request.head.body_position)
