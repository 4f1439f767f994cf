"""Recognises a response equal to the last one without new data, unparsed: most of an idle cluster's traffic."""

from __future__ import annotations

from kmirror.kernel.events import Chunk

CORRELATION_ID_BYTES = 4


class EmptyResponseMatcher:
    """Compares the responses to one long poll byte by byte, without their correlation ids.

    A response of more than `bytes_max` bytes has new data, in every version.
    """

    __slots__ = ("_bytes_max", "_known", "_known_bytes", "_newest")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._newest = b""
        """The newest response that had to be parsed, if it is small enough to have no new data."""
        self._known = b""
        """The newest response that was parsed and had no new data."""
        self._known_bytes = 0
        """The size of its frame in bytes, 0 if there is none: most frames differ in size already."""

    def matches(self, frame: Chunk) -> bool:
        """Return whether a frame is known to have no new data; if not, it must be parsed."""
        if len(frame) == self._known_bytes and frame[CORRELATION_ID_BYTES:] == self._known:
            return True
        self._newest = bytes(frame[CORRELATION_ID_BYTES:]) if len(frame) <= self._bytes_max else b""
        return False

    def record_newest(self) -> None:
        """Record that the newest parsed frame has no new data."""
        self._known = self._newest
        self._known_bytes = CORRELATION_ID_BYTES + len(self._known) if self._known else 0

    def forget(self) -> None:
        """Have every response parsed until one has no new data again."""
        self._known_bytes = 0
