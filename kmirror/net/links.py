"""What goes over one link? Frames in, cut from the stream; frames out, in one call of the system for all that waits.

`TcpLink` is one end of a connection. It has a socket of its own and no transport of asyncio's between: what is sent
are the views that a node gave, gathered by the kernel (`sendmsg`), and what waits is counted here and nowhere else.

Back-pressure. A client that does not take its answers is not read: no request of it is handed over while an answer is
not written out. So on a link wait at most the answers to the requests that were handed over before.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.events import PREFIX_BYTES, Chunk, InboundLink, OutboundLink
from kmirror.kernel.told_by_runner import LinkCounts
from kmirror.net.frames import FrameReader

GATHERED_BYTES_MAX = 1 << 20
"""Bytes of answers to requests that came together, above which they are written before the next one is handled."""
JOINED_MAX = 4 << 10
"""Bytes of a frame up to which one copy is cheaper than many small views."""
LARGE_PIECE_BYTES = 64 << 10
"""Who gives so many bytes at once has given more while they were copied: to try again is cheaper than to be woken."""
PIECES_MAX = 16
"""Pieces of a frame that are received before other links have their turn."""
GATHERED_MAX = 256
"""Buffers in one call of `sendmsg`; the least that systems promise to take is 16, Linux and macOS take 1024."""


OnWritten = Callable[[Instant, Instant], None]
"""(when a frame began to be written, when the system had all of it)"""


@dataclass(slots=True)
class _Timed:
    end: int
    """How many bytes have been sent when its frame has."""
    on_written: OnWritten
    begun: Instant = 0


class Owner(Protocol):
    """What a link tells; every call may close it."""

    def now(self) -> Instant: ...

    def frame_came(self, link: TcpLink, frame: Chunk) -> None: ...

    def link_lost(self, link: TcpLink, why: str) -> None: ...

    def turn_over(self) -> None:
        """Everything that came at once was handed over."""
        ...

    def soon(self, call: Callable[[Any], None], argument: Any) -> None:
        """Call when the present event has been carried out."""
        ...


class TcpLink:
    """A connected socket as frames. `name` is the node's name for it."""

    __slots__ = (
        "_active_at",
        "_counted",
        "_counts",
        "_fd",
        "_held",
        "_is_ours",
        "_is_reading",
        "_is_waiting_to_write",
        "_loop",
        "_out",
        "_owner",
        "_reader",
        "_socket",
        "_timed",
        "is_open",
        "is_wanted",
        "name",
        "on_closed",
        "process",
        "received",
        "sent",
        "waiting_bytes",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        owner: Owner,
        process: str,
        name: InboundLink | OutboundLink,
        connected: socket.socket,
        reader: FrameReader,
        counts: LinkCounts | None = None,
    ) -> None:
        self._loop = loop
        self._owner = owner
        self.process = process
        self.name = name
        self._socket = connected
        self._is_ours = isinstance(name, OutboundLink)
        """A link that this node opened is always read: there it is the client."""
        self._fd = connected.fileno()
        """For the loop, which would make a text of a socket each time that it begins to watch one."""
        self._reader = reader
        self._out: deque[Chunk] = deque()
        self._held: deque[Chunk] = deque()
        """Frames that came while none was wanted, at most as many as one scratch buffer held."""
        self.waiting_bytes = 0
        """Bytes that were given to `send` and not yet taken by the system."""
        self.received = 0
        self.sent = 0
        self.is_open = True
        self.on_closed: Callable[[], None] | None = None
        self.is_wanted = True
        """Does the node want frames?"""
        self._active_at = owner.now()
        self._counted = 0
        """Bytes that had gone over the link when `idle_for` was called last."""
        self._is_reading = False
        self._is_waiting_to_write = False
        self._timed: list[_Timed] = []
        """Frames of which it is told when they were written, in their order."""
        self._counts = counts
        if counts is not None:
            counts.opened.record(self._active_at)
        self._adjust()

    # -- receiving ----------------------------------------------------------------------------

    @property
    def _is_answered(self) -> bool:
        """Does the client take its answers?"""
        return not self._is_waiting_to_write or self._is_ours

    def want(self, wanted: bool) -> None:
        """Hand over frames, or none until they are wanted again."""
        self.is_wanted = wanted
        if wanted:
            self._owner.soon(self._hand_over, None)
        self._adjust()

    def _adjust(self) -> None:
        """Read from the socket exactly as long as frames may be handed over."""
        should = self.is_open and self.is_wanted and self._is_answered and not self._held
        if should and not self._is_reading:
            self._loop.add_reader(self._fd, self._on_readable)
        elif self._is_reading and not should:
            self._loop.remove_reader(self._fd)
        self._is_reading = should

    def _on_readable(self) -> None:
        if self._counts is not None:
            self._counts.wakeups.record(self._owner.now())
        for _ in range(PIECES_MAX):
            if not self._receive():
                return

    def _receive(self) -> bool:
        """Receive what is there; return whether it was a large piece of a long frame, so that more may be there now."""
        reader = self._reader
        into = reader.into()
        try:
            count = self._socket.recv_into(into[0]) if len(into) == 1 else self._socket.recvmsg_into(into)[0]
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            self._lose_now(str(error))
            return False
        if not count:
            self._lose_now("the other end closed it")
            return False
        self.received += count
        if self._counts is not None:
            self._counts.operations.record(self._owner.now())
        frames = reader.received(count)
        if not (frames or reader.fault):  # Nothing follows from a piece.
            return count >= LARGE_PIECE_BYTES
        self._held.extend(frames)
        self._hand_over(None)
        self._owner.turn_over()
        return False

    def _hand_over(self, _: None) -> None:
        """Give the frames to the node, as long as it wants them."""
        held = self._held
        while held and self.is_open and self.is_wanted and self._is_answered:
            self._owner.frame_came(self, held.popleft())
            if self.waiting_bytes >= GATHERED_BYTES_MAX:
                self._write()
        if self._reader.fault and not held:
            self.lose(self._reader.fault)
        self._adjust()

    # -- sending ------------------------------------------------------------------------------

    def send(self, chunks: tuple[Chunk, ...]) -> None:
        """Queue a frame; `flush` writes what the system takes at once, and the rest follows by itself."""
        size = sum(map(len, chunks))
        self.waiting_bytes += PREFIX_BYTES + size
        if size <= JOINED_MAX:
            self._out.append(size.to_bytes(PREFIX_BYTES, "big") + b"".join(chunks))
        else:
            self._out.append(size.to_bytes(PREFIX_BYTES, "big"))
            self._out.extend(chunk for chunk in chunks if len(chunk))

    def send_bytes(self, data: Chunk) -> None:
        """Queue bytes that are no frame, or a part of one."""
        if len(data):
            self.waiting_bytes += len(data)
            self._out.append(data)

    def send_timed(self, chunks: tuple[Chunk, ...], on_written: OnWritten) -> None:
        """Queue a frame, and say later when the first attempt to write it was and when the system had all of it.

        Nothing is said if the link is closed before.
        """
        self.send(chunks)
        self._timed.append(_Timed(self.sent + self.waiting_bytes, on_written))

    def flush(self) -> None:
        """Write what waits, as far as the system takes it."""
        if self.is_open and not self._is_waiting_to_write:
            self._write()

    def _write(self) -> None:
        begun = self._owner.now() if self._timed else 0
        out = self._out
        while out:
            try:
                count = (
                    self._socket.send(out[0])
                    if len(out) == 1
                    else self._socket.sendmsg(list(islice(out, GATHERED_MAX)))
                )
            except (BlockingIOError, InterruptedError):
                break
            except OSError as error:
                # Not now: an event may be about to be carried out, and the node is in the midst of another.
                self._owner.soon(self.lose, str(error))
                return
            self.sent += count
            self.waiting_bytes -= count
            drop(out, count)
            if self._counts is not None:
                self._counts.operations.record(self._owner.now())
        if begun:
            self._tell_written(begun)
        self._wait_to_write(bool(out))

    def _tell_written(self, begun: Instant) -> None:
        """Tell of the timed frames that the system has; the others were begun now, if they were not before."""
        written = self._owner.now()
        for timed in self._timed:
            timed.begun = timed.begun or begun
        while self._timed and self._timed[0].end <= self.sent:
            timed = self._timed.pop(0)
            timed.on_written(timed.begun, written)

    def _wait_to_write(self, is_waiting: bool) -> None:
        """Hear when the system takes more, or no longer; meanwhile a client is not read."""
        if is_waiting == self._is_waiting_to_write:
            return
        self._is_waiting_to_write = is_waiting
        if is_waiting:
            self._loop.add_writer(self._fd, self._on_writable)
        else:
            self._loop.remove_writer(self._fd)
        self._adjust()

    def _on_writable(self) -> None:
        if self._counts is not None:
            self._counts.wakeups.record(self._owner.now())
        self._write()
        if not self._out:
            self._hand_over(None)
        self._owner.turn_over()

    def idle_for(self, now: Instant) -> Duration:
        """Return how long nothing has gone over the link; to be called every so often, and as exact as that is often.

        To note the time of every byte would cost an answer more than this.
        """
        moved = self.received + self.sent
        if moved != self._counted:
            self._counted, self._active_at = moved, now
        return now - self._active_at

    # -- the end ------------------------------------------------------------------------------

    def _lose_now(self, why: str) -> None:
        self.lose(why)
        self._owner.turn_over()

    def lose(self, why: str) -> None:
        """Close the link, and tell the node."""
        if self.is_open:
            self.close()
            self._owner.link_lost(self, why)

    def close(self) -> None:
        """Close the link; what waits on it is dropped."""
        if not self.is_open:
            return
        self.is_open = False
        if self._is_waiting_to_write:
            self._loop.remove_writer(self._fd)
        self._adjust()
        self._socket.close()
        self._out.clear()
        self._held.clear()
        self._timed.clear()
        if self._counts is not None:
            self._counts.closed.record(self._owner.now())
        self.waiting_bytes = 0
        if self.on_closed is not None:
            self.on_closed()


def drop(out: deque[Chunk], count: int) -> None:
    """Take the first `count` bytes off a queue."""
    while count:
        first = out[0]
        if len(first) > count:
            out[0] = memoryview(first)[count:]
            return
        count -= len(first)
        out.popleft()
