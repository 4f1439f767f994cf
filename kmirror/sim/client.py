"""Client in the simulation, through which scripts send encoded requests to brokers.

`call` and `order` run the world until the response arrives, so a script reads from top to bottom although everything
happens in virtual time. A script sends no ApiVersions request: it uses the newest version that the node would return in
that response, so that one call is one message. Tests pass the version that they test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmirror.client.admin import Admin, check_is_forwarded
from kmirror.client.node import ClientNode, OnTimer
from kmirror.client.requester import Requester
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.errors import KafkaError
from kmirror.kernel.arguments import instance
from kmirror.kernel.events import OutboundLink, Send
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.wrapping import Wrapper
from kmirror.protocol.headers import encode_request_chunks
from kmirror.protocol.message import Message
from kmirror.protocol.negotiate import Range, negotiate
from kmirror.protocol.registry import key_of
from kmirror.sim.facts import OrderAnswered, OrderSent
from kmirror.sim.pending import Pending, Wait
from kmirror.sim.world import World
from kmirror.spec.apis import ROWS_BY_KEY, ApiRow
from kmirror.spec.error_codes import ErrorCode


class Client:
    """Client process at a site of the world."""

    def __init__(self, world: World, name: str, site: str) -> None:
        self._world = world
        self.name = name
        self._node = ClientNode(name)
        self._machines = 0
        self._orders = 0
        world.add(name, site, lambda: self._node)
        world.start(name)

    @property
    def requester(self) -> Requester:
        """Requester for the state machines of this client; `perform` executes the resulting effects."""
        return self._node.requester

    def perform(self) -> None:
        """Execute the effects of this client's state machines, after a script has called one of them."""
        self._world.perform(self.name, self._node.outbox.drain())

    def on_timer(self, name: str, on_timer: OnTimer) -> None:
        """Pass timers whose key begins with `name` to `on_timer`."""
        self._node.timers[name] = on_timer

    def new_name(self, kind: str) -> str:
        """Return a name that is unique among the state machines of this client."""
        self._machines += 1
        return f"{kind}-{self._machines}"

    # -- versions -----------------------------------------------------------------------------

    def _served_range(self, endpoint: Endpoint, row: ApiRow) -> Range | None:
        """Return the versions of an API that the node there supports; all known versions if the node is not running."""
        address = self._world.network.addresses.get(endpoint)
        process = None if address is None else self._world.processes[address.server]
        if process is None or not isinstance(process.inner_node, Broker | Controller):
            return row.first, row.last
        served = process.inner_node.context.api_versions().get(row.key)
        node = process.node
        return node.offered_range(row.key, served) if served is not None and isinstance(node, Wrapper) else served

    def version(self, endpoint: Endpoint, body: Message, *, version_max: int | None = None) -> int:
        """Return the newest version that the node there supports, up to the last version in which `body` is valid.

        If the node supports none, return that last version: the node then returns the error, or supports the version
        soon.
        """
        row = ROWS_BY_KEY[key_of(type(body))]
        last = row.last if version_max is None else version_max
        version = negotiate((row.first, last), self._served_range(endpoint, row) or (last, last))
        return last if version is None else version

    # -- requests -----------------------------------------------------------------------------

    def send(
        self,
        endpoint: Endpoint,
        body: Message,
        on_reply: Callable[[Message | None], None],
        *,
        version: int | None = None,
        version_max: int | None = None,
        timeout_ms: int = 30_000,
    ) -> None:
        """Send a request without waiting; `on_reply` receives the response, or None if there is none."""
        self._node.requester.send(
            self._world.now,
            endpoint,
            "client",
            body,
            self.version(endpoint, body, version_max=version_max) if version is None else version,
            lambda _now, reply: on_reply(reply),
            timeout_ms=timeout_ms,
        )
        self.perform()

    def tell(self, endpoint: Endpoint, body: Message, *, version_max: int | None = None) -> None:
        """Send a request that has no response, such as a Produce request with acks=0."""
        version = self.version(endpoint, body, version_max=version_max)
        number = self._node.requester.next_correlation_id()
        chunks = encode_request_chunks(body, version, correlation_id=number, client_id=self.name)
        self._world.perform(self.name, [Send(OutboundLink(endpoint, "client"), tuple(chunks))])

    def call(
        self,
        endpoint: Endpoint,
        body: Message,
        version: int | None = None,
        *,
        version_max: int | None = None,
        timeout_ms: int = 30_000,
    ) -> Message | None:
        """Send a request, run the world until the response arrives, and return it; None if there is no response."""
        replies: list[Message | None] = []
        self.send(endpoint, body, replies.append, version=version, version_max=version_max, timeout_ms=timeout_ms)
        within_us = (timeout_ms + 1000) * 1000
        self._world.run_until(
            lambda: bool(replies), within_us=within_us, what=f"an answer to {body.NAME} from {endpoint}"
        )
        return replies[0]

    def order(self, endpoints: Sequence[Endpoint], body: Message) -> Message:
        """Send an admin request to a cluster, run the world until it is executed or rejected, and return the response.

        Raises KafkaError with REQUEST_TIMED_OUT or UNSUPPORTED_VERSION if there is no response, and UsageError if
        `body` is not an admin request.
        """
        return self.begin_order(endpoints, body).result()

    def begin_order(self, endpoints: Sequence[Endpoint], body: Message) -> Pending[Message]:
        """Send an admin request to a cluster without waiting."""
        instance("an order", body, Message, "such as CreateTopicsRequest(topics=[...])")
        check_is_forwarded(body)
        return Pending(self._world, f"an answer to {body.NAME}", self.ordering(endpoints, body))

    async def ordering(self, endpoints: Sequence[Endpoint], body: Message) -> Message:
        """Send an admin request to a cluster; the coroutine form, for use in longer scripts."""
        admin = Admin(self.new_name("admin"), self.requester, tuple(endpoints))
        for endpoint in endpoints:
            version = self.version(endpoint, body)
            admin.cluster.record_versions(endpoint, {key_of(type(body)): (version, version)})
        self.on_timer(admin.name, admin.on_timer)
        number = 0

        def start(go_on: Callable[[Message | ErrorCode], None]) -> None:
            nonlocal number
            with self._world.one_event():
                admin.ask(self._world.now, body, lambda _now, reply: go_on(reply))
                number = self._orders = self._orders + 1
                self._world.tell(self.name, OrderSent(number, body))
                self.perform()

        answer = await Wait(start)
        del self._node.timers[admin.name]  # An answered request has no timer any more.
        self._world.tell(self.name, OrderAnswered(number, answer))
        if isinstance(answer, ErrorCode):
            text = f"{body.NAME} was not carried out: {answer.name}: {answer.text}"
            raise KafkaError(answer, f"{text} ({self._world.moment})")
        return answer
