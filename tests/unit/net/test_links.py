"""A link notifies its owner of received frames and of its end, and of nothing else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, OutboundLink
from kmirror.kernel.ids import Endpoint
from kmirror.net.frames import FrameReader, Scratch
from kmirror.net.links import LARGE_READ_BYTES, READS_MAX, TcpLink

LINK = OutboundLink(Endpoint("there", 1), "c")
SIZE = 1 << 20


class LinkCallbacks:
    """Counts the calls of a link to its host."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.frames: list[bytes] = []
        self.turns = 0
        self.lost: list[str] = []

    def now(self) -> Instant:
        return 0

    def on_frame(self, link: TcpLink, frame: Chunk) -> None:
        self.frames.append(bytes(frame))

    def on_link_lost(self, link: TcpLink, why: str) -> None:
        self.lost.append(why)

    def end_turn(self) -> None:
        self.turns += 1

    def call_soon(self, call: Callable[[Any], None], argument: Any) -> None:
        self._loop.call_soon(call, argument)


async def in_pieces(stream: bytes, most: int, *, size: int) -> LinkCallbacks:
    """Return the owner after a stream that came in pieces of `size` bytes."""
    loop = asyncio.get_running_loop()
    owner, (ours, theirs) = LinkCallbacks(loop), socket.socketpair()
    ours.setblocking(False)
    link = TcpLink(loop, owner, "p", LINK, ours, FrameReader(most, Scratch(64 << 10)))
    for begin in range(0, len(stream), size):
        piece = stream[begin : begin + size]
        theirs.sendall(piece)
        while link.is_open and link.received < begin + len(piece):
            await asyncio.sleep(0)
    link.close()
    theirs.close()
    return owner


def test_a_part_of_a_long_frame_does_not_call_the_owner() -> None:
    body = bytes(range(256)) * (SIZE // 256)
    owner = asyncio.run(in_pieces((SIZE.to_bytes(4, "big") + body) * 2, SIZE, size=32 << 10))
    assert owner.frames == [body, body]
    assert owner.turns == 2
    assert not owner.lost


class Pieces:
    """A socket that provides pieces of these sizes, and the loop that watches it."""

    def __init__(self, *sizes: int) -> None:
        self.left = list(sizes)
        self.on_readable: Callable[[], None] = lambda: None

    def fileno(self) -> int:
        return 7

    def recv_into(self, view: memoryview) -> int:
        if not self.left:
            raise BlockingIOError
        size = self.left.pop(0)
        assert size <= len(view)
        view[:4] = (100 << 20).to_bytes(4, "big")  # The size of the frame, in the first piece.
        return size

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        self.on_readable = call

    def link(self) -> TcpLink:
        owner: Any = LinkCallbacks(cast(asyncio.AbstractEventLoop, self))
        reader = FrameReader(100 << 20, Scratch(64 << 10))
        return TcpLink(cast(asyncio.AbstractEventLoop, self), owner, "p", LINK, cast(socket.socket, self), reader)


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ([LARGE_READ_BYTES] * 3, 3),
        ([LARGE_READ_BYTES, 1_000, LARGE_READ_BYTES], 2),
        ([1_000, LARGE_READ_BYTES], 1),
        ([LARGE_READ_BYTES] * (READS_MAX + 5), READS_MAX),
    ],
)
def test_large_pieces_are_received_without_waiting_but_not_for_ever(sizes: list[int], taken: int) -> None:
    pieces = Pieces(*sizes)
    link = pieces.link()
    pieces.on_readable()
    assert link.received == sum(sizes[:taken])
    assert link.is_open


def test_a_link_with_an_invalid_stream_is_lost_without_any_frame() -> None:
    owner = asyncio.run(in_pieces((SIZE + 1).to_bytes(4, "big"), SIZE, size=4))
    assert owner.lost == [f"invalid frame size {SIZE + 1}, expected 0 to {SIZE}"]
    assert owner.turns == 1
