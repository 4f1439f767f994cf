"""How is a stream of bytes cut into frames? By length prefixes, each judged before any memory is asked for.

Every link of a host receives into one scratch buffer, so a link that says nothing holds none. Only a frame that is
longer than what has come of it gets a buffer of its own, into which the rest is received: that is the buffer which a
log's append reads. It grows with the bytes that come, not with those that were announced.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.kernel.events import Chunk

PREFIX_BYTES = 4
FIRST_BYTES = 1 << 20
"""The largest buffer that a length prefix alone is worth."""


class FrameReader:
    """Cuts what one link receives into frames of 0 to `most` bytes; `scratch` may be shared by any number of links.

    `into()` says where the next bytes belong, `received(count)` returns the frames that have become whole by them.
    """

    __slots__ = ("_at", "_most", "_prefix", "_scratch", "_size", "_view", "fault")

    def __init__(self, most: int, scratch: memoryview) -> None:
        self._most = most
        self._scratch = scratch
        self._prefix = b""
        """The first bytes of a length, 0 to 3."""
        self._view: memoryview | None = None
        """The buffer of the frame that is under way."""
        self._size = 0
        self._at = 0
        self.fault = ""
        """What is wrong with the stream; no frame comes any more then."""

    @property
    def is_between(self) -> bool:
        """Return whether no frame is begun."""
        return self._view is None and not self._prefix

    def into(self) -> Sequence[memoryview]:
        """Return the buffers for the next bytes, in order."""
        if self._view is None:
            return (self._scratch,)
        if len(self._view) < self._size:
            return (self._view[self._at :],)  # What comes after it may still be of this frame.
        return self._view[self._at :], self._scratch

    def received(self, count: int) -> list[Chunk]:
        """Take up `count` bytes that were written to `into()`; look at `fault` afterwards."""
        frames: list[Chunk] = []
        view = self._view
        if view is not None:
            room = len(view) - self._at
            taken = min(room, count)
            self._at += taken
            count -= taken
            if self._at == self._size:
                frames.append(view.toreadonly())
                self._view = None
            elif taken == room:
                self._grow()
        if count:
            self._cut(count, frames)
        return frames

    def _cut(self, count: int, frames: list[Chunk]) -> None:
        """Cut `count` bytes of the scratch buffer into frames."""
        scratch, at = self._scratch, 0
        prefix = self._prefix
        while True:
            if prefix:
                more = PREFIX_BYTES - len(prefix)
                begin = at + more
                size = int.from_bytes(prefix + bytes(scratch[at : min(begin, count)]), "big", signed=True)
            else:
                begin = at + PREFIX_BYTES
                size = int.from_bytes(scratch[at:begin], "big", signed=True)
            if begin > count:
                self._prefix = prefix + bytes(scratch[at:count])
                return
            prefix = self._prefix = b""
            if not 0 <= size <= self._most:
                self.fault = f"a frame of {size} bytes; 0 to {self._most} are taken"
                return
            end = begin + size
            if end > count:
                self._begin(size, scratch[begin:count])
                return
            frames.append(bytes(scratch[begin:end]))
            at = end
            if at == count:
                return

    def _begin(self, size: int, first: memoryview) -> None:
        """Keep the first bytes of a frame that has more of them."""
        self._view = memoryview(bytearray(min(size, max(FIRST_BYTES, len(first)))))
        self._size = size
        self._at = len(first)
        self._view[: self._at] = first
        if self._at == len(self._view):
            self._grow()

    def _grow(self) -> None:
        """Double the buffer, up to the size of the frame: as much again has come of it."""
        assert self._view is not None, "a frame is under way"
        grown = memoryview(bytearray(min(self._size, 2 * self._at)))
        grown[: self._at] = self._view
        self._view = grown
