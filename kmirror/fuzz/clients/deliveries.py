"""Delivery of responses that are not sent as one frame at once.

Each link has a queue of bytes, pauses, and its end. Later responses of the broker wait behind those in delivery, as on
a real link. A response that changes places with the next waits outside of the queue, for at most `HELD`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kmirror.fuzz.clients.delivery_faults import Way, number_of
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

HELD = 300 * MILLISECOND
"""Maximum time that a response waits for the next one, with which it changes places."""
_PIECE_PAUSE = MILLISECOND
_SINGLE_BYTES = 128
_PIECES = 64
"""Number of pieces for the bytes after the first `_SINGLE_BYTES`, so that a long response has an end too."""

Step = Effect | Duration
"""An effect to emit now, or a pause."""


class _Line:
    """Pending steps of a link."""

    def __init__(self) -> None:
        self.steps: deque[Step] = deque()
        self.held: bytes | None = None
        self.is_pausing = False
        self.is_over = False
        """Whether nothing more is sent on it."""


class Sending:
    """Responses in delivery to clients; `name` separates its timers from those of the inner node."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines: dict[InboundLink, _Line] = {}

    def send(self, now: Instant, link: InboundLink, way: Way, number: bytes, frame: bytes) -> list[Effect]:
        """Return the effects that send a response now, or begin to; `fire` returns later ones."""
        line = self._lines.get(link)
        if line is None:
            if way is Way.WHOLE:
                return [Reply(link, (frame,))]
            line = self._lines[link] = _Line()
        if line.is_over:
            return []
        if way is Way.AFTER_NEXT and line.held is None:
            line.held = frame
            return [SetTimer(self._key("held", link), now + HELD)]
        line.steps += _steps(link, way, number, frame)
        line.is_over = way in (Way.CUT, Way.LENGTH_AND_END)
        effects: list[Effect] = []
        if line.held is not None:
            effects.append(CancelTimer(self._key("held", link)))
            self._release(link, line)
        return effects + self._go_on(now, link, line)

    def is_mine(self, key: TimerKey) -> bool:
        """Return whether a timer belongs to this object."""
        return key[0] == self._name

    def fire(self, now: Instant, key: TimerKey) -> list[Effect]:
        """Return the effects due when a timer fires."""
        _, what, link = key
        assert isinstance(link, InboundLink), key
        line = self._lines[link]
        if what == "held":
            self._release(link, line)
        else:
            line.is_pausing = False
        return self._go_on(now, link, line)

    def forget(self, link: InboundLink) -> list[Effect]:
        """Forget a link that is closed."""
        if self._lines.pop(link, None) is None:
            return []
        return [CancelTimer(self._key(what, link)) for what in ("held", "pause")]

    def _key(self, what: str, link: InboundLink) -> TimerKey:
        return self._name, what, link

    def _release(self, link: InboundLink, line: _Line) -> None:
        """Queue the held response, unless its link is over."""
        if line.held is not None and not line.is_over:
            line.steps.append(Reply(link, (line.held,)))
        line.held = None

    def _go_on(self, now: Instant, link: InboundLink, line: _Line) -> list[Effect]:
        effects: list[Effect] = []
        while line.steps and not line.is_pausing:
            step = line.steps.popleft()
            if isinstance(step, int):
                line.is_pausing = True
                effects.append(SetTimer(self._key("pause", link), now + step))
            else:
                effects.append(step)
        return effects


def _steps(link: InboundLink, way: Way, number: bytes, frame: bytes) -> Iterator[Step]:
    whole = Reply(link, (frame,))
    sized = len(frame).to_bytes(PREFIX_BYTES, "big") + frame
    match way:
        case Way.WHOLE | Way.AFTER_NEXT:
            yield whole
        case Way.LENGTH | Way.LENGTH_AND_END:
            yield ReplyBytes(link, number[:PREFIX_BYTES] + frame)
        case Way.CUT:
            yield ReplyBytes(link, sized[: max(0, number_of(number))])
            yield CloseLink(link)
        case Way.TWICE:
            yield whole
            yield whole
        case Way.LATE:
            yield number_of(number) * MILLISECOND
            yield whole
        case Way.DRIBBLED:
            for piece in _pieces(sized):
                yield ReplyBytes(link, piece)
                yield _PIECE_PAUSE
        case Way.NEVER:
            pass


def _pieces(data: bytes) -> Iterator[bytes]:
    for at in range(min(_SINGLE_BYTES, len(data))):
        yield data[at : at + 1]
    rest = data[_SINGLE_BYTES:]
    size = -(-len(rest) // _PIECES) or 1
    for at in range(0, len(rest), size):
        yield rest[at : at + size]
