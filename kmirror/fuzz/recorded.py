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

_SPOTS_CACHE_MAX = 4_096
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
        by_version: dict[tuple[int, int], dict[bytes, _Request]] = {}
        for frame in frames:
            found = _request_in(frame)
            if found is not None and found.message in stream.messages:
                requests = by_version.setdefault((found.head.api_key, found.head.api_version), {})
                requests[frame[:4] + frame[8:]] = found  # Without the correlation id.
        if not by_version:
            raise UsageError(f"none of the {len(frames)} recorded requests is a request of this target")
        self._by_version = [list(by_version[name].values()) for name in sorted(by_version)]
        self._spots = lru_cache(maxsize=_SPOTS_CACHE_MAX)(_body_spots)

    def block(self, number: int) -> list[Frame]:
        """Return a recorded request and its broken variants."""
        random = Random(f"{self.seed}/recorded/{number}").random
        request, data, spots = self._draw_request(random)
        first, name, version = number * BLOCK_FRAMES, request.message.NAME, request.head.api_version
        found = [Frame(first, name, version, bytes(data), (), False, request.message)]
        for frame_number in range(first + 1, first + BLOCK_FRAMES):
            broken, steps = mutate(random, data, spots, self._stream.mutations)
            found.append(Frame(frame_number, name, version, bytes(broken), steps, False, request.message))
        return found

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the frame with more of its spots broken; the spots are those of the recorded request."""
        _, _, spots = self._draw_request(Random(f"{self.seed}/recorded/{parent.number // BLOCK_FRAMES}").random)
        data, steps = mutate(random, bytearray(parent.data), spots, self._stream.mutations)
        return parent._replace(data=bytes(data), steps=[*parent.steps, *steps])

    def _draw_request(self, random: Callable[[], float]) -> tuple[_Request, bytearray, list[RawSpot]]:
        requests = self._by_version[int(random() * len(self._by_version))]
        request = requests[int(random() * len(requests))]
        at, spots = request.head.body_position, self._spots(request)
        if self._stream.has_headers:
            broken = [*REQUEST_SPOTS, *spots] if random() < BROKEN_HEADS_SHARE else spots
            return request, bytearray(request.frame), broken
        return (
            request,
            bytearray(request.frame[at:]),
            [(kind, start - at, end - at, field) for kind, start, end, field in spots],
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
