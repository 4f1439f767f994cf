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

OnResponse = Callable[[Instant, Any], None]


class ScriptRequest(Protocol):
    """A request that gets one response."""

    def send(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_response: OnResponse) -> None:
        """Send it, and call `on_response` once, with None if there is no response."""
        ...


Script = Generator[Sequence[ScriptRequest], Sequence[Any], None]


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A request to a broker of the source, to any if none is named."""

    request: Message
    endpoint: Endpoint | None = None
    version_max: int | None = None

    def send(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_response: OnResponse) -> None:
        endpoint = self.endpoint or source.any_broker()
        source.send(now, endpoint, PURPOSE, self.request, on_response, version_max=self.version_max)


@dataclass(frozen=True, slots=True)
class WitnessRequest:
    """Selects the brokers of the source that are believed now; the response is a Witnesses (D60)."""

    def send(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_response: OnResponse) -> None:
        find_witnesses(source, now, source.brokers.values(), on_response)


@dataclass(frozen=True, slots=True)
class ControllerRequest:
    """A request to this cluster's controller."""

    request: Message

    def send(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_response: OnResponse) -> None:
        context.broker.ask_controller(now, self.request, on_response)


@dataclass(frozen=True, slots=True)
class BrokerRequest:
    """A request to a broker of this cluster, which may be this one."""

    broker_id: int
    request: Message
    client_id: str | None = None
    """None for this broker's."""

    def send(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_response: OnResponse) -> None:
        broker, client_id = context.broker, self.client_id
        if not broker.ask_broker(now, self.broker_id, CHANNEL, self.request, on_response, client_id=client_id):
            on_response(now, None)


@dataclass(frozen=True, slots=True)
class ReadState:
    """Reads the persisted state of a mirrored partition; the response is a PartitionState."""

    key: StateKey
    topic: str

    def send(self, context: MirrorContext, source: RemoteCluster, now: Instant, on_response: OnResponse) -> None:
        context.states.read(self.key, self.topic, on_response)


class ScriptRun:
    """One run of a script."""

    def __init__(
        self,
        context: MirrorContext,
        source: RemoteCluster,
        name: str,
        script: Script,
        *,
        is_wanted: Callable[[], bool],
        on_end: Callable[[Instant], None],
    ) -> None:
        self._context = context
        self._source = source
        self._name = name
        self._script = script
        self._is_wanted = is_wanted
        self._on_end = on_end
        self._requests: Sequence[ScriptRequest] = ()
        self._responses: dict[int, Any] = {}
        """By the index of the request."""
        self._sent = 0
        self._is_sending = False

    def begin(self, now: Instant) -> None:
        """Run the script up to its first requests; `on_end` is called when it is over, however it ends."""
        self._advance(now, lambda: next(self._script))

    def _advance(self, now: Instant, step: Callable[[], Sequence[ScriptRequest]]) -> None:
        if not self._is_wanted():
            self._script.close()
            self._on_end(now)
            return
        try:
            self._requests = step()
        except StopIteration:
            self._on_end(now)
            return
        except Exception as failure:  # The other syncs continue, and this one is retried with the next cycle.
            self._on_end(now)
            self._context.broker.failures.report(self._name, failure)
            return
        self._responses, self._sent = {}, 0
        self._send(now)

    def _send(self, now: Instant) -> None:
        """Send the requests that may be under way now; an immediate response leads back here, and must not nest."""
        if self._is_sending:
            return
        self._is_sending = True
        requests = self._requests
        while self._sent < len(requests) and self._sent - len(self._responses) < UNDER_WAY_MAX:
            index = self._sent
            self._sent += 1
            requests[index].send(self._context, self._source, now, self._receiver(requests, index))
        self._is_sending = False
        if len(self._responses) == len(requests):
            responses = [self._responses[index] for index in range(len(requests))]
            self._advance(now, lambda: self._script.send(responses))

    def _receiver(self, requests: Sequence[ScriptRequest], index: int) -> OnResponse:
        def receive(now: Instant, response: Any) -> None:
            if requests is self._requests and index not in self._responses:
                self._responses[index] = response
                self._send(now)

        return receive
