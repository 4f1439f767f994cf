"""Is an answer the one before it, which had no news? Then it need not be read: idle clusters send hardly any other."""

from __future__ import annotations

from kmirror.kernel.events import Chunk

CORRELATION_ID_BYTES = 4


class AnswersWithoutNews:
    """Compares the answers to one long poll, byte by byte behind their correlation ids.

    An answer of more than `bytes_max` bytes has news, whatever its version.
    """

    __slots__ = ("_bytes_max", "_known", "_known_bytes", "_newest")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._newest = b""
        """The newest answer that had to be read, if it is so small that it may have no news."""
        self._known = b""
        """The newest answer that was read and had none."""
        self._known_bytes = 0
        """The size of its frame, 0 if there is none: most frames differ in that already."""

    def has(self, frame: Chunk) -> bool:
        """Return whether a frame is known to have no news; if not, it has to be read."""
        if len(frame) == self._known_bytes and frame[CORRELATION_ID_BYTES:] == self._known:
            return True
        self._newest = bytes(frame[CORRELATION_ID_BYTES:]) if len(frame) <= self._bytes_max else b""
        return False

    def add_newest(self) -> None:
        """Take in that the newest frame that had to be read has no news."""
        self._known = self._newest
        self._known_bytes = CORRELATION_ID_BYTES + len(self._known) if self._known else 0

    def forget(self) -> None:
        """Have every answer read until one has no news again."""
        self._known_bytes = 0
