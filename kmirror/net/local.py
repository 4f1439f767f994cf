"""Links between nodes of one host, without sockets.

Frames and link closes go through the host's queue. They arrive in the order in which they were sent, each as a separate
event, after the event that sent them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, InboundLink, OutboundLink
from kmirror.kernel.runner_metrics import LinkCounts
from kmirror.net.links import OnWritten


class LocalCallbacks(Protocol):
    """Callbacks of an end; `on_frame` and `on_link_lost` may close it."""

    def now(self) -> Instant: ...

    def on_frame(self, link: LocalEnd, frame: Chunk) -> None: ...

    def on_link_lost(self, link: LocalEnd, reason: str) -> None: ...

    def call_soon(self, call: Callable[[Any], None], argument: Any) -> None:
        """Call `call` with `argument` after the current event."""
        ...


class LocalEnd:
    """One end of a link between two nodes of one host; `name` is the name that this end's node uses for the link."""

    __slots__ = ("_callbacks", "_counts", "_peer", "_unread_frames", "is_open", "is_reading", "name", "process")

    def __init__(self, callbacks: LocalCallbacks, process: str, name: InboundLink | OutboundLink) -> None:
        self._callbacks = callbacks
        self._peer: LocalEnd | None = None
        self._unread_frames: deque[Chunk] = deque()
        self.process = process
        self.name = name
        self.is_open = True
        self.is_reading = True
        self._counts: LinkCounts | None = None

    def count(self, counts: LinkCounts | None) -> None:
        """Start counting; must be called when the link has just been opened."""
        self._counts = counts
        if counts is not None:
            counts.opened.record(self._callbacks.now())

    def connect(self, other: LocalEnd) -> None:
        """Connect two ends."""
        self._peer, other._peer = other, self

    def send(self, chunks: tuple[Chunk, ...]) -> None:
        """Deliver a frame to the other end."""
        if self.is_open and self._peer is not None:
            self._callbacks.call_soon(self._peer._receive, chunks[0] if len(chunks) == 1 else b"".join(chunks))

    def send_timed(self, chunks: tuple[Chunk, ...], on_written: OnWritten) -> None:
        """Deliver a frame to the other end, and report the time of its arrival as both write times."""
        self.send(chunks)
        self._callbacks.call_soon(self._report_arrival, on_written)

    def _report_arrival(self, on_written: OnWritten) -> None:
        now = self._callbacks.now()
        on_written(now, now)

    def flush(self) -> None:
        """Do nothing: this end has no pending bytes."""

    def set_reading(self, enabled: bool) -> None:
        """Hand over frames, or hold them until they are wanted again."""
        self.is_reading = enabled
        if enabled:
            self._callbacks.call_soon(self._hand_over, None)

    def close(self) -> None:
        """Close the link; the other end is notified, and this end makes no more callbacks."""
        if self.is_open:
            self._mark_closed()
            if self._peer is not None:
                self._callbacks.call_soon(self._peer._close_by_peer, None)

    def _receive(self, frame: Chunk) -> None:
        if not self.is_open:
            return
        if self._unread_frames or not self.is_reading:
            self._unread_frames.append(frame)
        else:
            self._callbacks.on_frame(self, frame)

    def _hand_over(self, _: None) -> None:
        """Deliver one held frame, and queue the delivery of the next."""
        if self.is_open and self.is_reading and self._unread_frames:
            self._callbacks.on_frame(self, self._unread_frames.popleft())
            self._callbacks.call_soon(self._hand_over, None)

    def _close_by_peer(self, _: None) -> None:
        if self.is_open:
            self._mark_closed()
            self._callbacks.on_link_lost(self, "the other end closed it")

    def _mark_closed(self) -> None:
        self.is_open = False
        self._unread_frames.clear()
        if self._counts is not None:
            self._counts.closed.record(self._callbacks.now())
