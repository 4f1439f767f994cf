"""TCP links: incoming frames cut from the stream; outgoing frames written in one system call for all pending frames.

`TcpLink` is one end of a connection. It uses its socket directly, without an asyncio transport: the kernel gathers the
views that a node passed (`sendmsg`), and the pending bytes are counted only here.

Back-pressure: a link is not read while a response on it is not fully written, and no request is handed over meanwhile.
So the pending responses are limited to those for requests that were handed over before.
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
from kmirror.kernel.runner_metrics import LinkCounts
from kmirror.net.frames import FrameReader

GATHERED_BYTES_MAX = 1 << 20
"""Bytes of pending responses at which they are written before the next request is handled."""
JOINED_MAX = 4 << 10
"""Frame size in bytes up to which one copy is cheaper than many small views."""
LARGE_READ_BYTES = 64 << 10
"""After a read of this size more data is probably waiting; read again instead of returning to the event loop."""
READS_MAX = 16
"""Reads of one link before other links get their turn."""
GATHERED_MAX = 256
"""Buffers in one call of `sendmsg`; systems guarantee at least 16, Linux and macOS take 1024."""


OnWritten = Callable[[Instant, Instant], None]
"""(time of the first attempt to write the frame, time at which the system had taken all of it)"""


@dataclass(slots=True)
class _TimedFrame:
    end: int
    """Value of `sent` at which the frame is fully written."""
    on_written: OnWritten
    began_at: Instant = 0


class LinkCallbacks(Protocol):
    """Callbacks of a link; each of them may close the link."""

    def now(self) -> Instant: ...

    def on_frame(self, link: TcpLink, frame: Chunk) -> None: ...

    def on_link_lost(self, link: TcpLink, reason: str) -> None: ...

    def end_turn(self) -> None:
        """Called after all frames of one read were handed over."""
        ...

    def call_soon(self, call: Callable[[Any], None], argument: Any) -> None:
        """Call `call` with `argument` after the current event."""
        ...


class TcpLink:
    """Connected socket that carries frames. `name` is the node's name for the link."""

    __slots__ = (
        "_active_at",
        "_callbacks",
        "_counted_bytes",
        "_counts",
        "_fd",
        "_is_client",
        "_is_waiting_to_write",
        "_is_watched",
        "_loop",
        "_outgoing",
        "_reader",
        "_socket",
        "_timed_frames",
        "_unread_frames",
        "is_open",
        "is_reading",
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
        callbacks: LinkCallbacks,
        process: str,
        name: InboundLink | OutboundLink,
        connected: socket.socket,
        reader: FrameReader,
        counts: LinkCounts | None = None,
    ) -> None:
        self._loop = loop
        self._callbacks = callbacks
        self.process = process
        self.name = name
        self._socket = connected
        self._is_client = isinstance(name, OutboundLink)
        """True if this node opened the link: it is then the client, and always reads."""
        self._fd = connected.fileno()
        """File descriptor for the loop, which formats a socket object as text each time it begins to watch one."""
        self._reader = reader
        self._outgoing: deque[Chunk] = deque()
        self._unread_frames: deque[Chunk] = deque()
        """Frames received while the node wanted none; at most the content of one scratch buffer."""
        self.waiting_bytes = 0
        """Bytes passed to `send` that the system has not taken yet."""
        self.received = 0
        self.sent = 0
        self.is_open = True
        self.on_closed: Callable[[], None] | None = None
        self.is_reading = True
        """Whether the node wants frames."""
        self._active_at = callbacks.now()
        self._counted_bytes = 0
        """Bytes transferred at the last call of `idle_for`."""
        self._is_watched = False
        self._is_waiting_to_write = False
        self._timed_frames: list[_TimedFrame] = []
        """Frames with a callback for their write times, in order."""
        self._counts = counts
        if counts is not None:
            counts.opened.record(self._active_at)
        self._adjust()

    # -- receiving ----------------------------------------------------------------------------

    @property
    def _has_no_backlog(self) -> bool:
        """Whether all responses to the client are written; always True for a link that this node opened."""
        return not self._is_waiting_to_write or self._is_client

    def set_reading(self, enabled: bool) -> None:
        """Hand over frames, or hold them until they are wanted again."""
        self.is_reading = enabled
        if enabled:
            self._callbacks.call_soon(self._hand_over, None)
        self._adjust()

    def _adjust(self) -> None:
        """Watch the socket for reading only while frames may be handed over."""
        should_watch = self.is_open and self.is_reading and self._has_no_backlog and not self._unread_frames
        if should_watch and not self._is_watched:
            self._loop.add_reader(self._fd, self._on_readable)
        elif self._is_watched and not should_watch:
            self._loop.remove_reader(self._fd)
        self._is_watched = should_watch

    def _on_readable(self) -> None:
        if self._counts is not None:
            self._counts.wakeups.record(self._callbacks.now())
        for _ in range(READS_MAX):
            if not self._receive():
                return

    def _receive(self) -> bool:
        """Receive once; return True after a large piece of an incomplete frame, as more data may be waiting."""
        reader = self._reader
        next_buffers = reader.next_buffers()
        try:
            count = (
                self._socket.recv_into(next_buffers[0])
                if len(next_buffers) == 1
                else self._socket.recvmsg_into(next_buffers)[0]
            )
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            self._abort_now(str(error))
            return False
        if not count:
            self._abort_now("the other end closed it")
            return False
        self.received += count
        if self._counts is not None:
            self._counts.operations.record(self._callbacks.now())
        frames = reader.cut_frames(count)
        if not (frames or reader.fault):  # No frame is complete yet.
            return count >= LARGE_READ_BYTES
        self._unread_frames.extend(frames)
        self._hand_over(None)
        self._callbacks.end_turn()
        return False

    def _hand_over(self, _: None) -> None:
        """Deliver the held frames while the node wants them."""
        held = self._unread_frames
        while held and self.is_open and self.is_reading and self._has_no_backlog:
            self._callbacks.on_frame(self, held.popleft())
            if self.waiting_bytes >= GATHERED_BYTES_MAX:
                self._write()
        if self._reader.fault and not held:
            self.abort(self._reader.fault)
        self._adjust()

    # -- sending ------------------------------------------------------------------------------

    def send(self, chunks: tuple[Chunk, ...]) -> None:
        """Queue a frame; `flush` writes as much as the system takes now, and the rest follows automatically."""
        size = sum(map(len, chunks))
        self.waiting_bytes += PREFIX_BYTES + size
        if size <= JOINED_MAX:
            self._outgoing.append(size.to_bytes(PREFIX_BYTES, "big") + b"".join(chunks))
        else:
            self._outgoing.append(size.to_bytes(PREFIX_BYTES, "big"))
            self._outgoing.extend(chunk for chunk in chunks if len(chunk))

    def send_bytes(self, data: Chunk) -> None:
        """Queue bytes that are not a frame, or are a part of one."""
        if len(data):
            self.waiting_bytes += len(data)
            self._outgoing.append(data)

    def send_timed(self, chunks: tuple[Chunk, ...], on_written: OnWritten) -> None:
        """Queue a frame, and call `on_written` when the system has taken all of it.

        `on_written` is not called if the link is closed before.
        """
        self.send(chunks)
        self._timed_frames.append(_TimedFrame(self.sent + self.waiting_bytes, on_written))

    def flush(self) -> None:
        """Write pending bytes until the system takes no more."""
        if self.is_open and not self._is_waiting_to_write:
            self._write()

    def _write(self) -> None:
        began_at = self._callbacks.now() if self._timed_frames else 0
        out = self._outgoing
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
                # Not immediately: the node may be handling an event, or its effects are being executed.
                self._callbacks.call_soon(self.abort, str(error))
                return
            self.sent += count
            self.waiting_bytes -= count
            drop_bytes(out, count)
            if self._counts is not None:
                self._counts.operations.record(self._callbacks.now())
        if began_at:
            self._report_written(began_at)
        self._watch_writable(bool(out))

    def _report_written(self, began_at: Instant) -> None:
        """Call `on_written` for the written timed frames; for the others, set `began_at` if it is unset."""
        written_at = self._callbacks.now()
        for frame in self._timed_frames:
            frame.began_at = frame.began_at or began_at
        while self._timed_frames and self._timed_frames[0].end <= self.sent:
            frame = self._timed_frames.pop(0)
            frame.on_written(frame.began_at, written_at)

    def _watch_writable(self, is_waiting: bool) -> None:
        """Watch the socket for writing, or stop watching it; meanwhile a client's link is not read."""
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
            self._counts.wakeups.record(self._callbacks.now())
        self._write()
        if not self._outgoing:
            self._hand_over(None)
        self._callbacks.end_turn()

    def idle_for(self, now: Instant) -> Duration:
        """Return the time since the last transfer, with the precision of the interval between calls.

        It must be called periodically: recording the time of every transfer would cost more.
        """
        transferred = self.received + self.sent
        if transferred != self._counted_bytes:
            self._counted_bytes, self._active_at = transferred, now
        return now - self._active_at

    # -- the end ------------------------------------------------------------------------------

    def _abort_now(self, reason: str) -> None:
        self.abort(reason)
        self._callbacks.end_turn()

    def abort(self, reason: str) -> None:
        """Close the link, and notify the node."""
        if self.is_open:
            self.close()
            self._callbacks.on_link_lost(self, reason)

    def close(self) -> None:
        """Close the link and drop its pending bytes."""
        if not self.is_open:
            return
        self.is_open = False
        if self._is_waiting_to_write:
            self._loop.remove_writer(self._fd)
        self._adjust()
        self._socket.close()
        self._outgoing.clear()
        self._unread_frames.clear()
        self._timed_frames.clear()
        if self._counts is not None:
            self._counts.closed.record(self._callbacks.now())
        self.waiting_bytes = 0
        if self.on_closed is not None:
            self.on_closed()


def drop_bytes(out: deque[Chunk], count: int) -> None:
    """Remove the first `count` bytes from a queue."""
    while count:
        first = out[0]
        if len(first) > count:
            out[0] = memoryview(first)[count:]
            return
        count -= len(first)
        out.popleft()
