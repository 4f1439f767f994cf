"""Frames of a byte stream, cut at length prefixes, which are checked before memory is allocated.

All links of a host receive into one scratch buffer, so an idle link holds no buffer. Only a frame longer than the part
received so far gets its own buffer, into which the rest is received and from which a log append reads. This buffer
grows with the bytes that arrive, not with the announced length. Buffers of large frames are reused as soon as nothing
refers to them, because allocating memory costs the system more than receiving into it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from kmirror.kernel.events import Chunk

PREFIX_BYTES = 4
FIRST_BYTES = 1 << 20
"""Maximum bytes allocated for a frame on its length prefix alone."""
KEPT_BYTES_MIN = 128 << 10
"""Smallest buffer that is kept for reuse; malloc itself keeps smaller blocks."""
KEPT_BYTES_MAX = 16 << 20
KEPT_MAX = 4
KEPT_SWEEPS = 10
"""Calls of `sweep` without a use before the buffers are freed: records arrive in bursts."""


class Scratch:
    """Receive buffers shared by the links of a host: `view` for each read, and buffers for large frames."""

    __slots__ = ("_idle_sweeps", "_spare_buffers", "view")

    def __init__(self, size: int) -> None:
        self.view = memoryview(bytearray(size))
        self._spare_buffers: list[bytearray] = []
        """In ascending order of size, at most `KEPT_MAX`; some may be in use."""
        self._idle_sweeps = 0

    def get_buffer(self, size: int, size_min: int) -> memoryview:
        """Return a buffer of up to `size` bytes, free for the caller to hand out views of.

        It is smaller if no kept buffer has `size` bytes, but has at least `size_min` bytes.
        """
        if size < KEPT_BYTES_MIN:
            return memoryview(bytearray(size_min))
        self._idle_sweeps = 0
        fitting: bytearray | None = None
        for each in reversed(self._spare_buffers):
            if len(each) < size_min or (fitting is not None and len(each) < size):
                break
            if _is_free(each):
                fitting = each
        if fitting is None:
            fitting = bytearray(size_min + 1)
            del fitting[-1:]  # Reserves capacity for the byte appended by `_is_free`.
            self._keep(fitting)
        return memoryview(fitting)[:size]

    def _keep(self, buffer: bytearray) -> None:
        if not KEPT_BYTES_MIN <= len(buffer) <= KEPT_BYTES_MAX:
            return
        if len(self._spare_buffers) == KEPT_MAX:
            smallest = next(filter(_is_free, self._spare_buffers), None)
            if smallest is None:
                return
            self._spare_buffers = [each for each in self._spare_buffers if each is not smallest]
        insort(self._spare_buffers, buffer, key=len)

    def sweep(self) -> None:
        """Free the buffers if none was taken during the last `KEPT_SWEEPS` calls."""
        self._idle_sweeps += 1
        if self._idle_sweeps > KEPT_SWEEPS:
            self._spare_buffers.clear()


def _is_free(buffer: bytearray) -> bool:
    """Return whether no view of a buffer exists: a buffer with views cannot be resized."""
    try:
        buffer.append(0)
    except BufferError:
        return False
    del buffer[-1:]
    return True


class FrameReader:
    """Cuts the bytes of one link into frames of 0 to `frame_bytes_max` bytes; several links may share one `scratch`.

    `next_buffers()` returns the buffers for the next bytes. After a read of `count` bytes into these buffers,
    `cut_frames(count)` returns the frames that are now complete.
    """

    __slots__ = ("_frame_bytes_max", "_position", "_prefix", "_scratch", "_size", "_view", "fault")

    def __init__(self, frame_bytes_max: int, scratch: Scratch) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._scratch = scratch
        self._prefix = b""
        """The first 0 to 3 bytes of an incomplete length prefix."""
        self._view: memoryview | None = None
        """Buffer of the incomplete frame."""
        self._size = 0
        self._position = 0
        self.fault = ""
        """Error in the stream, or ""; after an error no more frames are returned."""

    @property
    def is_between(self) -> bool:
        """Whether the stream is at a frame boundary."""
        return self._view is None and not self._prefix

    def next_buffers(self) -> Sequence[memoryview]:
        """Return the buffers for the next bytes, in order."""
        if self._view is None:
            return (self._scratch.view,)
        rest = self._view[self._position :]
        if len(self._view) < self._size or len(rest) > len(self._scratch.view):
            return (rest,)  # The next bytes may also belong to this frame, or are unlikely to arrive in the same read.
        return rest, self._scratch.view

    def cut_frames(self, count: int) -> list[Chunk]:
        """Process `count` bytes in `next_buffers()` and return the completed frames; check `fault` afterwards."""
        frames: list[Chunk] = []
        view = self._view
        if view is not None:
            room = len(view) - self._position
            used = min(room, count)
            self._position += used
            count -= used
            if self._position == self._size:
                frames.append(view.toreadonly())
                self._view = None
            elif used == room:
                self._grow()
        if count:
            self._cut_scratch(count, frames)
        return frames

    def _cut_scratch(self, count: int, frames: list[Chunk]) -> None:
        """Cut `count` bytes of the scratch buffer into frames."""
        scratch, at = self._scratch.view, 0
        prefix = self._prefix
        while True:
            if prefix:
                missing = PREFIX_BYTES - len(prefix)
                begin = at + missing
                size = int.from_bytes(prefix + bytes(scratch[at : min(begin, count)]), "big", signed=True)
            else:
                begin = at + PREFIX_BYTES
                size = int.from_bytes(scratch[at:begin], "big", signed=True)
            if begin > count:
                self._prefix = prefix + bytes(scratch[at:count])
                return
            prefix = self._prefix = b""
            if not 0 <= size <= self._frame_bytes_max:
                self.fault = f"invalid frame size {size}, expected 0 to {self._frame_bytes_max}"
                return
            end = begin + size
            if end > count:
                self._begin_frame(size, scratch[begin:count])
                return
            frames.append(bytes(scratch[begin:end]))
            at = end
            if at == count:
                return

    def _begin_frame(self, size: int, first: memoryview) -> None:
        """Store the first bytes of an incomplete frame."""
        self._view = self._scratch.get_buffer(size, min(size, max(FIRST_BYTES, len(first))))
        self._size = size
        self._position = len(first)
        self._view[: self._position] = first
        if self._position == len(self._view):
            self._grow()

    def _grow(self) -> None:
        """Double the buffer, up to the size of the frame; it grows only when it is full."""
        assert self._view is not None, "a frame is incomplete"
        grown = self._scratch.get_buffer(self._size, min(self._size, 2 * self._position))
        grown[: self._position] = self._view
        self._view = grown
