"""Sessions of a client: the responses that it received, and its reactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import NamedTuple, Protocol

from kmirror.fuzz.clients.breaking import break_response
from kmirror.fuzz.clients.delivery_faults import BrokenResponse, Delivery
from kmirror.fuzz.clients.stored_responses import Entry, Names, with_xored_id
from kmirror.kernel.events import InboundLink
from kmirror.protocol.headers import RequestHead

BROKEN_MAX = 500
"""Maximum number of broken responses in a session; a client that never stops gets valid ones after that."""
LATE_S = 3.0
_ONE_SHARE = 0.5
_ONE_API_SHARE = 0.5
_SHARES = (0.02, 0.05, 0.2)
_SHARES_OF_ONE_API = (0.1, 0.3, 1.0)


class Reaction(Enum):
    """Reaction of a client to a response, on the same link."""

    SENT_REQUEST = "asked on"
    CLOSED_LINK = "closed the link"
    NOTHING = "nothing more"


@dataclass(slots=True)
class SentResponse:
    """A response that was sent, and the client's reaction."""

    entry: Entry
    """Its data is empty if the response was not broken."""
    story: tuple[str, ...]
    reaction: Reaction = Reaction.NOTHING


class ReactionKey(NamedTuple):
    """Key under which responses are counted."""

    message: str
    version: int
    is_broken: bool
    reaction: Reaction


class Plan(Protocol):
    """Decision which responses of a session are broken, and with which faults."""

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> BrokenResponse | None:
        """Return the replacement for the response to the `nth` request of an API; None to send the original."""
        ...


class UnbrokenPlan:
    """Plan that breaks nothing."""

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> BrokenResponse | None:
        """Return None."""
        return None


class RandomPlan:
    """Plan of session `number` of a seed: breaks one response, or some of one API, or some of all APIs.

    `api_counts` are the API keys of a session with valid responses, with their numbers of requests; without them the
    faults are not limited to one API or one response.
    Late responses are delayed by `late_s` seconds.
    """

    def __init__(
        self, seed: int, number: int, api_counts: Sequence[tuple[int, int]] = (), *, late_s: float = LATE_S
    ) -> None:
        self._late_ms = int(late_s * 1_000)
        self._random = Random(f"{seed}/client/{number}").random
        self._only_api: int | None = None
        self._nth: int | None = None
        self._share = _SHARES[int(self._random() * len(_SHARES))]
        is_one, is_one_api = self._random() < _ONE_SHARE, self._random() < _ONE_API_SHARE
        if api_counts and (is_one or is_one_api):
            self._only_api, times = api_counts[int(self._random() * len(api_counts))]
            self._share = _SHARES_OF_ONE_API[int(self._random() * len(_SHARES_OF_ONE_API))]
            if is_one:
                self._nth, self._share = int(self._random() * times), 1.0

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> BrokenResponse | None:
        """Return the response broken, if it is selected."""
        if self._only_api not in (None, head.api_key) or self._nth not in (None, nth):
            return None
        return break_response(self._random, frame, head, self._late_ms) if self._random() < self._share else None


class StoredPlan:
    """Plan that replays stored responses, each to the same request of its API in the same version."""

    def __init__(self, entries: Sequence[Entry], names: Names) -> None:
        self._entries = {(each.key, each.nth): each for each in entries}
        self._names = names

    def answer(self, head: RequestHead, nth: int, frame: bytes) -> BrokenResponse | None:
        """Return the stored response to this request, if there is one."""
        entry = self._entries.get((head.api_key, nth))
        if entry is None or entry.version != head.api_version:
            return None
        data = entry.data
        if entry.delivery is Delivery.WHOLE:
            data = with_xored_id(self._names.from_stored(data), frame[:4])
        return BrokenResponse(data, ("as stored",), entry.delivery)


class Session:
    """A client's session: one run of a program, or one link."""

    def __init__(self, number: int, plan: Plan, names: Names) -> None:
        self.number = number
        self.response_count = 0
        self.broken: list[SentResponse] = []
        self.reactions: Counter[ReactionKey] = Counter()
        """Known reactions to the responses."""
        self.last: SentResponse | None = None
        self._plan = plan
        self._names = names
        self._counts: Counter[int] = Counter()
        self._last_sent: dict[InboundLink, SentResponse] = {}

    @property
    def api_counts(self) -> list[tuple[int, int]]:
        """Return the API keys of the requests, with their counts."""
        return sorted(self._counts.items())

    @property
    def is_open(self) -> bool:
        """Return whether the reaction to some response is not known yet."""
        return bool(self._last_sent)

    def add_request(self, link: InboundLink) -> None:
        """Record a request of the client."""
        self._set_reaction(link, Reaction.SENT_REQUEST)

    def add_close(self, link: InboundLink) -> None:
        """Record that the client has closed a link."""
        self._set_reaction(link, Reaction.CLOSED_LINK)

    def finish(self) -> None:
        """Record that nothing more follows."""
        for link in list(self._last_sent):
            self._set_reaction(link, Reaction.NOTHING)

    def answer(self, link: InboundLink, head: RequestHead, frame: bytes) -> BrokenResponse:
        """Return the response to send for the broker's response `frame`; its story is empty if it is unchanged."""
        nth = self._counts[head.api_key]
        self._counts[head.api_key] += 1
        self.response_count += 1
        found = self._plan.answer(head, nth, frame) if len(self.broken) < BROKEN_MAX else None
        if found is None or (found.delivery is Delivery.WHOLE and found.data == frame):
            found = BrokenResponse(b"", ())
        data, story, delivery = found
        stored_data = self._names.to_stored(with_xored_id(data, frame[:4])) if delivery is Delivery.WHOLE else data
        self._set_reaction(link, Reaction.SENT_REQUEST)  # The previous one, if several requests were outstanding.
        sent = self.last = self._last_sent[link] = SentResponse(
            Entry(head.api_key, head.api_version, nth, stored_data, delivery), story
        )
        if not story:
            return BrokenResponse(frame, ())
        self.broken.append(sent)
        return BrokenResponse(data, story, delivery)

    def _set_reaction(self, link: InboundLink, reaction: Reaction) -> None:
        sent = self._last_sent.pop(link, None)
        if sent is not None:
            sent.reaction = reaction
            self.reactions[ReactionKey(sent.entry.name, sent.entry.version, bool(sent.story), reaction)] += 1
