"""When is what written to a client, if its answer comes in another way than as one frame at once?

Each link has a queue: bytes, pauses, and its end. What a broker answers later waits behind what is under way, as it
would on a real link. An answer that changes places with the next waits outside of the queue, for so long at most.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kmirror.fuzz.clients.ways import Way, number_of
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
"""So long an answer waits for the next, with which it changes places."""
_PIECE_PAUSE = MILLISECOND
_SINGLE_BYTES = 128
_PIECES = 64
"""After so many single bytes the rest comes in so many pieces: a long answer has an end too."""

Step = Effect | Duration
"""What is done at once, or how long nothing is."""


class _Line:
    """What waits on a link."""

    def __init__(self) -> None:
        self.steps: deque[Step] = deque()
        self.held: bytes | None = None
        self.is_pausing = False
        self.is_over = False
        """Whether nothing more is sent on it."""


class Sending:
    """What is on its way to clients; `name` tells its timers from those of the node inside."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines: dict[InboundLink, _Line] = {}

    def send(self, now: Instant, link: InboundLink, way: Way, number: bytes, frame: bytes) -> list[Effect]:
        """Return the effects that send an answer now, or begin to; `fire` returns those that come later."""
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
        """Return whether a timer is one of these."""
        return key[0] == self._name

    def fire(self, now: Instant, key: TimerKey) -> list[Effect]:
        """Return what is sent when a timer fires."""
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
        """Let the answer go that waited for the next, unless that ended the link."""
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
