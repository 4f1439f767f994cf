"""Sessions of a client: the responses that it got, and its reactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import NamedTuple, Protocol

from kmirror.fuzz.clients.breaking import broken
from kmirror.fuzz.clients.delivery_faults import Broken, Way
from kmirror.fuzz.clients.stored_responses import Entry, Names, xored
from kmirror.kernel.events import InboundLink
from kmirror.protocol.headers import RequestHead

BROKEN_MAX = 500
"""Maximum number of broken responses in a session: a client that never stops asking gets valid ones after that."""
LATE_S = 3.0
_ONE_SHARE = 0.5
_ONE_API_SHARE = 0.5
_SHARES = (0.02, 0.05, 0.2)
_SHARES_OF_ONE_API = (0.1, 0.3, 1.0)


class Next(Enum):
    """Reaction of a client to a response, on the same link."""

    ASKED = "asked on"
    CLOSED = "closed the link"
    NOTHING = "nothing more"


@dataclass(slots=True)
class Given:
    """A response that was sent."""

    entry: Entry
    """Its data is empty if the response was not broken."""
    story: tuple[str, ...]
    next: Next = Next.NOTHING


class Row(NamedTuple):
    """Key under which responses are counted."""

    message: str
    version: int
    is_broken: bool
    next: Next


class Plan(Protocol):
    """Decides which responses of a session are broken, and how."""

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> Broken | None:
        """Return the replacement for the response to the `nth` request of an API; None to send the original."""
        ...


class Whole:
    """Breaks nothing."""

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> Broken | None:
        """Return None."""
        return None


class Drawn:
    """Session `number` of a seed: breaks one response, or some of one API, or some of all.

    `seen` are the API keys of a session with valid responses and their counts; without them no single one is chosen.
    Late responses are delayed by `late_s` seconds.
    """

    def __init__(self, seed: int, number: int, seen: Sequence[tuple[int, int]] = (), *, late_s: float = LATE_S) -> None:
        self._late_ms = int(late_s * 1_000)
        self._random = Random(f"{seed}/client/{number}").random
        self._only: int | None = None
        self._nth: int | None = None
        self._share = _SHARES[int(self._random() * len(_SHARES))]
        is_one, is_one_api = self._random() < _ONE_SHARE, self._random() < _ONE_API_SHARE
        if seen and (is_one or is_one_api):
            self._only, times = seen[int(self._random() * len(seen))]
            self._share = _SHARES_OF_ONE_API[int(self._random() * len(_SHARES_OF_ONE_API))]
            if is_one:
                self._nth, self._share = int(self._random() * times), 1.0

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> Broken | None:
        """Return the response broken, if it is selected."""
        if self._only not in (None, head.api_key) or self._nth not in (None, nth):
            return None
        return broken(self._random, frame, head, self._late_ms) if self._random() < self._share else None


class Script:
    """Replays stored responses, each to the same request of its API in the same version."""

    def __init__(self, entries: Sequence[Entry], names: Names) -> None:
        self._entries = {(each.key, each.nth): each for each in entries}
        self._names = names

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> Broken | None:
        """Return the stored response to this request, if there is one."""
        entry = self._entries.get((head.api_key, nth))
        if entry is None or entry.version != head.api_version:
            return None
        data = entry.data
        if entry.way is Way.WHOLE:
            data = xored(self._names.given(data), frame[:4])
        return Broken(data, ("as it was kept",), entry.way)


class Session:
    """A client's session: one run of a program, or one link."""

    def __init__(self, number: int, plan: Plan, names: Names) -> None:
        self.number = number
        self.answers = 0
        self.broken: list[Given] = []
        self.rows: Counter[Row] = Counter()
        """Known reactions to the responses."""
        self.last: Given | None = None
        self._plan = plan
        self._names = names
        self._counts: Counter[int] = Counter()
        self._last: dict[InboundLink, Given] = {}

    @property
    def seen(self) -> list[tuple[int, int]]:
        """Return the API keys of the requests, with their counts."""
        return sorted(self._counts.items())

    @property
    def is_open(self) -> bool:
        """Return whether the reaction to some response is not known yet."""
        return bool(self._last)

    def asked(self, link: InboundLink) -> None:
        """Record a request of the client."""
        self._then(link, Next.ASKED)

    def closed(self, link: InboundLink) -> None:
        """Record that the client has closed a link."""
        self._then(link, Next.CLOSED)

    def ended(self) -> None:
        """Record that nothing more follows."""
        for link in list(self._last):
            self._then(link, Next.NOTHING)

    def answer(self, link: InboundLink, head: RequestHead, frame: bytes) -> Broken:
        """Return the response to send for the broker's response `frame`; its story is empty if it is unchanged."""
        nth = self._counts[head.api_key]
        self._counts[head.api_key] += 1
        self.answers += 1
        found = self._plan.answer(head, nth, frame) if len(self.broken) < BROKEN_MAX else None
        if found is None or (found.way is Way.WHOLE and found.data == frame):
            found = Broken(b"", ())
        data, story, way = found
        kept = self._names.kept(xored(data, frame[:4])) if way is Way.WHOLE else data
        self._then(link, Next.ASKED)  # The previous one, if several requests were outstanding.
        given = self.last = self._last[link] = Given(Entry(head.api_key, head.api_version, nth, kept, way), story)
        if not story:
            return Broken(frame, ())
        self.broken.append(given)
        return Broken(data, story, way)

    def _then(self, link: InboundLink, what: Next) -> None:
        given = self._last.pop(link, None)
        if given is not None:
            given.next = what
            self.rows[Row(given.entry.name, given.entry.version, bool(given.story), what)] += 1
