"""Frames in a byte stream, each preceded by its length as int32."""

from __future__ import annotations

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol.wire import Buffer, pack_int32, unpack_int32

# Kafka's default for socket.request.max.bytes.
FRAME_BYTES_MAX = 104_857_600


def add_length(frame: Buffer) -> bytes:
    """Return the frame with its length prefix."""
    if len(frame) > 2**31 - 1:
        raise LocalProtocolError(f"a frame of {len(frame)} bytes: its length does not fit")
    return pack_int32(len(frame)) + frame


class FrameReader:
    """Collects bytes of a stream and returns complete frames.

    A length is checked as soon as its four bytes have arrived, so a peer cannot make us hold more than `max_bytes`.
    """

    def __init__(self, *, max_bytes: int = FRAME_BYTES_MAX) -> None:
        self.max_bytes = max_bytes
        self.position = 0  # Position of the next frame in the stream.
        self._incomplete = bytearray()

    def feed(self, data: Buffer) -> list[bytes]:
        """Return the frames completed by `data`; raises `ProtocolError` for a length below 0 or above the limit."""
        self._incomplete += data
        found = []
        start = 0
        held = len(self._incomplete)
        while held - start >= 4:
            (size,) = unpack_int32(self._incomplete, start)
            if not 0 <= size <= self.max_bytes:
                raise ProtocolError(
                    f"a frame of {size} bytes: 0 to {self.max_bytes} are allowed",
                    position=self.position,
                    field="length",
                )
            end = start + 4 + size
            if end > held:
                break
            with memoryview(self._incomplete) as view:
                found.append(bytes(view[start + 4 : end]))
            self.position += 4 + size
            start = end
        del self._incomplete[:start]
        return found

    @property
    def held_bytes(self) -> int:
        """Number of bytes held of an incomplete frame."""
        return len(self._incomplete)
