"""Delivery of responses that are not sent as one frame at once.

Each link has a queue of bytes, pauses, and its end. Later responses of the broker wait behind those in delivery, as on
a real link. A response that changes places with the next waits outside of the queue, for at most `HELD_MAX`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kmirror.fuzz.clients.delivery_faults import Delivery, read_number
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import (
    PREFIX_BYTES,
    CancelTimer,
    CloseLink,
    Effect,
    InboundLink,
    Reply,
    ReplyBytes,
    SetTimer,
    TimerKey,
)

HELD_MAX = 300 * MILLISECOND
"""Maximum time that a response waits for the next one, with which it changes places."""
_PIECE_PAUSE = MILLISECOND
_SINGLE_BYTES = 128
_PIECES = 64
"""Number of pieces for the bytes after the first `_SINGLE_BYTES`, so that a long response has an end too."""

Step = Effect | Duration
"""An effect to emit now, or a pause."""


class _LinkQueue:
    """Pending steps of a link."""

    def __init__(self) -> None:
        self.steps: deque[Step] = deque()
        self.held: bytes | None = None
        self.is_pausing = False
        self.is_over = False
        """Whether nothing more is sent on this link."""


class Deliveries:
    """Responses in delivery to clients; `name` separates its timers from those of the inner node."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._queues: dict[InboundLink, _LinkQueue] = {}

    def send(self, now: Instant, link: InboundLink, delivery: Delivery, number: bytes, frame: bytes) -> list[Effect]:
        """Return the effects that send a response, or its first part, now; `fire` returns those for the rest."""
        queue = self._queues.get(link)
        if queue is None:
            if delivery is Delivery.WHOLE:
                return [Reply(link, (frame,))]
            queue = self._queues[link] = _LinkQueue()
        if queue.is_over:
            return []
        if delivery is Delivery.AFTER_NEXT and queue.held is None:
            queue.held = frame
            return [SetTimer(self._timer_key("held", link), now + HELD_MAX)]
        queue.steps += _delivery_steps(link, delivery, number, frame)
        queue.is_over = delivery in (Delivery.CUT, Delivery.LENGTH_AND_END)
        effects: list[Effect] = []
        if queue.held is not None:
            effects.append(CancelTimer(self._timer_key("held", link)))
            self._queue_held_response(link, queue)
        return effects + self._send_steps(now, link, queue)

    def has_timer(self, key: TimerKey) -> bool:
        """Return whether a timer belongs to this object."""
        return key[0] == self._name

    def fire(self, now: Instant, key: TimerKey) -> list[Effect]:
        """Return the effects due when a timer fires."""
        _, timer, link = key
        assert isinstance(link, InboundLink), key
        queue = self._queues[link]
        if timer == "held":
            self._queue_held_response(link, queue)
        else:
            queue.is_pausing = False
        return self._send_steps(now, link, queue)

    def forget(self, link: InboundLink) -> list[Effect]:
        """Forget a link that is closed."""
        if self._queues.pop(link, None) is None:
            return []
        return [CancelTimer(self._timer_key(timer, link)) for timer in ("held", "pause")]

    def _timer_key(self, timer: str, link: InboundLink) -> TimerKey:
        return self._name, timer, link

    def _queue_held_response(self, link: InboundLink, queue: _LinkQueue) -> None:
        """Queue the held response, unless nothing more is sent on its link."""
        if queue.held is not None and not queue.is_over:
            queue.steps.append(Reply(link, (queue.held,)))
        queue.held = None

    def _send_steps(self, now: Instant, link: InboundLink, queue: _LinkQueue) -> list[Effect]:
        effects: list[Effect] = []
        while queue.steps and not queue.is_pausing:
            step = queue.steps.popleft()
            if isinstance(step, int):
                queue.is_pausing = True
                effects.append(SetTimer(self._timer_key("pause", link), now + step))
            else:
                effects.append(step)
        return effects


def _delivery_steps(link: InboundLink, delivery: Delivery, number: bytes, frame: bytes) -> Iterator[Step]:
    whole = Reply(link, (frame,))
    sized = len(frame).to_bytes(PREFIX_BYTES, "big") + frame
    match delivery:
        case Delivery.WHOLE | Delivery.AFTER_NEXT:
            yield whole
        case Delivery.LENGTH | Delivery.LENGTH_AND_END:
            yield ReplyBytes(link, number[:PREFIX_BYTES] + frame)
        case Delivery.CUT:
            yield ReplyBytes(link, sized[: max(0, read_number(number))])
            yield CloseLink(link)
        case Delivery.TWICE:
            yield whole
            yield whole
        case Delivery.LATE:
            yield read_number(number) * MILLISECOND
            yield whole
        case Delivery.BYTE_BY_BYTE:
            for piece in _split_bytes(sized):
                yield ReplyBytes(link, piece)
                yield _PIECE_PAUSE
        case Delivery.NEVER:
            pass


def _split_bytes(data: bytes) -> Iterator[bytes]:
    for at in range(min(_SINGLE_BYTES, len(data))):
        yield data[at : at + 1]
    rest = data[_SINGLE_BYTES:]
    size = -(-len(rest) // _PIECES) or 1
    for at in range(0, len(rest), size):
        yield rest[at : at + size]
