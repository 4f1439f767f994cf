"""How is a stream of bytes cut into frames? By length prefixes, each judged before any memory is asked for.

Every link of a host receives into one scratch buffer, so a link that says nothing holds none. Only a frame that is
longer than what has come of it gets a buffer of its own, into which the rest is received: that is the buffer which a
log's append reads. It grows with the bytes that come, not with those that were announced. Buffers of large frames are
used again as soon as nothing refers to them: new memory costs a system more than to receive into it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from kmirror.kernel.events import Chunk

PREFIX_BYTES = 4
FIRST_BYTES = 1 << 20
"""The largest buffer that a length prefix alone is worth."""
KEPT_BYTES_MIN = 128 << 10
"""Below that malloc itself keeps memory."""
KEPT_BYTES_MAX = 16 << 20
KEPT_MAX = 4
KEPT_SWEEPS = 10
"""So often a host looks whether buffers were used, before they go: records come in waves."""


class Scratch:
    """What the links of a host receive into: `view`, for what comes at a time, and buffers for large frames."""

    __slots__ = ("_idle_sweeps", "_kept", "view")

    def __init__(self, size: int) -> None:
        self.view = memoryview(bytearray(size))
        self._kept: list[bytearray] = []
        """Ascending by size, at most `KEPT_MAX`; some may be in use."""
        self._idle_sweeps = 0

    def take(self, size: int, at_least: int) -> memoryview:
        """Return a buffer of up to `size` bytes, for the caller and whoever it hands views to.

        It has fewer if none of so many is kept, but `at_least` so many.
        """
        if size < KEPT_BYTES_MIN:
            return memoryview(bytearray(at_least))
        self._idle_sweeps = 0
        fitting: bytearray | None = None
        for kept in reversed(self._kept):
            if len(kept) < at_least or (fitting is not None and len(kept) < size):
                break
            if _is_free(kept):
                fitting = kept
        if fitting is None:
            fitting = bytearray(at_least + 1)
            del fitting[-1:]  # Room for the byte of `_is_free`.
            self._keep(fitting)
        return memoryview(fitting)[:size]

    def _keep(self, buffer: bytearray) -> None:
        if not KEPT_BYTES_MIN <= len(buffer) <= KEPT_BYTES_MAX:
            return
        if len(self._kept) == KEPT_MAX:
            smallest = next(filter(_is_free, self._kept), None)
            if smallest is None:
                return
            self._kept = [kept for kept in self._kept if kept is not smallest]
        insort(self._kept, buffer, key=len)

    def sweep(self) -> None:
        """Let the buffers go if none was taken since this was called `KEPT_SWEEPS` times before."""
        self._idle_sweeps += 1
        if self._idle_sweeps > KEPT_SWEEPS:
            self._kept.clear()


def _is_free(buffer: bytearray) -> bool:
    """Return whether no view of a buffer is left: such a one cannot change its size."""
    try:
        buffer.append(0)
    except BufferError:
        return False
    del buffer[-1:]
    return True


class FrameReader:
    """Cuts what one link receives into frames of 0 to `most` bytes; `scratch` may be shared by any number of links.

    `into()` says where the next bytes belong, `received(count)` returns the frames that have become whole by them.
    """

    __slots__ = ("_at", "_most", "_prefix", "_scratch", "_size", "_view", "fault")

    def __init__(self, most: int, scratch: Scratch) -> None:
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
            return (self._scratch.view,)
        rest = self._view[self._at :]
        if len(self._view) < self._size or len(rest) > len(self._scratch.view):
            return (rest,)  # What comes after it may still be of this frame, or hardly comes as well.
        return rest, self._scratch.view

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
        scratch, at = self._scratch.view, 0
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
        self._view = self._scratch.take(size, min(size, max(FIRST_BYTES, len(first))))
        self._size = size
        self._at = len(first)
        self._view[: self._at] = first
        if self._at == len(self._view):
            self._grow()

    def _grow(self) -> None:
        """Double the buffer, up to the size of the frame: as much again has come of it."""
        assert self._view is not None, "a frame is under way"
        grown = self._scratch.take(self._size, min(self._size, 2 * self._at))
        grown[: self._at] = self._view
        self._view = grown
