"""Scripts with which a sync sends requests to the source, the controller and other brokers.

A script is a generator: it yields a list of requests and is sent the list of responses, once all of them are there;
None for a missing response. So it reads from top to bottom, and a script that fails, or is no longer wanted, ends
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.client.witnesses import find_witnesses
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.message import Message

if TYPE_CHECKING:  # These belong to the broker, and a client reads responses without one.
    from kmirror.mirror.context import MirrorContext
    from kmirror.mirror.state_records import StateKey

PURPOSE = "sync"
CHANNEL = "mirror-sync"
UNDER_WAY_MAX = 20
"""Maximum number of requests of a script under way at a time."""

OnAnswer = Callable[[Instant, Any], None]


class Question(Protocol):
    """A request that is answered once."""

    def ask(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_answer: OnAnswer) -> None:
        """Send it, and call `on_answer` once, with None if there is no response."""
        ...


Script = Generator[Sequence[Question], Sequence[Any], None]


@dataclass(frozen=True, slots=True)
class AskSource:
    """A request to a broker of the source, to any if none is named."""

    request: Message
    endpoint: Endpoint | None = None
    version_max: int | None = None

    def ask(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_answer: OnAnswer) -> None:
        to = self.endpoint or source.any_broker()
        source.send(now, to, PURPOSE, self.request, on_answer, version_max=self.version_max)


@dataclass(frozen=True, slots=True)
class AskForWitnesses:
    """Selects the brokers of the source that are believed now; the answer is a Witnesses (D60)."""

    def ask(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_answer: OnAnswer) -> None:
        find_witnesses(source, now, source.brokers.values(), on_answer)


@dataclass(frozen=True, slots=True)
class AskController:
    """A request to this cluster's controller."""

    request: Message

    def ask(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_answer: OnAnswer) -> None:
        context.broker.ask_controller(now, self.request, on_answer)


@dataclass(frozen=True, slots=True)
class AskBroker:
    """A request to a broker of this cluster, which may be this one."""

    broker_id: int
    request: Message
    client_id: str | None = None
    """None for this broker's."""

    def ask(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_answer: OnAnswer) -> None:
        broker, client_id = context.broker, self.client_id
        if not broker.ask_broker(now, self.broker_id, CHANNEL, self.request, on_answer, client_id=client_id):
            on_answer(now, None)


@dataclass(frozen=True, slots=True)
class ReadState:
    """Reads the persisted state of a mirrored partition; the answer is a PartitionState."""

    key: StateKey
    topic: str

    def ask(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_answer: OnAnswer) -> None:
        context.states.read(self.key, self.topic, on_answer)


class Conversation:
    """One run of a script."""

    def __init__(
        self,
        context: MirrorContext,
        source: RemoteCluster,
        what: str,
        script: Script,
        *,
        is_wanted: Callable[[], bool],
        on_end: Callable[[Instant], None],
    ) -> None:
        self._context = context
        self._source = source
        self._what = what
        self._script = script
        self._is_wanted = is_wanted
        self._on_end = on_end
        self._asked: Sequence[Question] = ()
        self._answers: dict[int, Any] = {}
        """By the index of the request."""
        self._sent = 0
        self._is_sending = False

    def begin(self, now: Instant) -> None:
        """Run the script up to its first requests; `on_end` is called when it is over, however it ends."""
        self._advance(now, lambda: next(self._script))

    def _advance(self, now: Instant, step: Callable[[], Sequence[Question]]) -> None:
        if not self._is_wanted():
            self._script.close()
            self._on_end(now)
            return
        try:
            self._asked = step()
        except StopIteration:
            self._on_end(now)
            return
        except Exception as failure:  # The other syncs continue, and this one is retried with the next cycle.
            self._on_end(now)
            self._context.broker.failures.caught(self._what, failure)
            return
        self._answers, self._sent = {}, 0
        self._send(now)

    def _send(self, now: Instant) -> None:
        """Send the requests that may be under way now; an immediate answer leads back here, and must not nest."""
        if self._is_sending:
            return
        self._is_sending = True
        asked = self._asked
        while self._sent < len(asked) and self._sent - len(self._answers) < UNDER_WAY_MAX:
            place = self._sent
            self._sent += 1
            asked[place].ask(self._context, self._source, now, self._taker(asked, place))
        self._is_sending = False
        if len(self._answers) == len(asked):
            answers = [self._answers[place] for place in range(len(asked))]
            self._advance(now, lambda: self._script.send(answers))

    def _taker(self, asked: Sequence[Question], place: int) -> OnAnswer:
        def take(now: Instant, answer: Any) -> None:
            if asked is self._asked and place not in self._answers:
                self._answers[place] = answer
                self._send(now)

        return take
