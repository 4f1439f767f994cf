"""`Proxy`: stands between any Kafka clients and the brokers of a cluster, and does to their requests as it is told.

with Proxy("localhost:9092") as proxy:
    Producer({"bootstrap.servers": proxy.bootstrap_servers})      # of any library, in any language
    proxy.inject(ErrorCode.NOT_LEADER_OR_FOLLOWER, api="Produce", times=1)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from kmirror.admin.client import checked_servers
from kmirror.assembly.metrics import Metrics
from kmirror.client.remote_cluster import parse_servers
from kmirror.errors import UsageError
from kmirror.hooks.hook import Hook
from kmirror.hooks.hooks import Hooks, On
from kmirror.kernel import arguments
from kmirror.kernel.events import Node, Note
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.wrapping import Interpose
from kmirror.net.host import Host
from kmirror.net.listener import Port
from kmirror.net.loopback import check_own, is_loopback
from kmirror.net.options import LinkOptions
from kmirror.net.running import RunningNodes
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_api_name
from kmirror.proxy.asking import ask_metadata
from kmirror.proxy.relay import Relay
from kmirror.proxy.routes import Routes
from kmirror.proxy.seen import Seen
from kmirror.spec.error_codes import ErrorCode

HOST = "127.0.0.1"
PORT_MAX = 65_535
NEVER_IDLE = LinkOptions(idle_max=1 << 40)
"""A link that nobody uses is closed by the broker, or by the client."""


class Proxy(RunningNodes):
    """A proxy on ports of this machine, from `start` to `close`; any number of clients connect.

    `bootstrap_servers` of the cluster are text as in a client's config; each gets a port of the proxy, `port` and those
    after it, or free ones with 0. Each broker gets another one when it is first heard of, and keeps it. All
    of them have to be at loopback unless `own_host` says that other hosts are the caller's own.

    `seed` names what happens with a probability. `interpose` wraps each port outside of the hooks, by its name:
    "bootstrap 1", "broker 1", ...
    """

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        port: int = 0,
        seed: int = 0,
        own_host: bool = False,
        interpose: Interpose | None = None,
    ) -> None:
        super().__init__("proxy")
        self._servers = parse_servers(checked_servers(bootstrap_servers))
        arguments.whole_number("port", port, 0, PORT_MAX + 1 - len(self._servers))
        self._own_host = own_host
        if not own_host:
            for server in self._servers:
                check_own(server.host)
        self.hooks = Hooks(seed)
        """What is done to requests; `on`, `inject`, `cap`, `play` and `clear` are its."""
        self._first_port = port
        self._interpose = interpose
        self._ports: dict[str, Port] = {}
        self._bootstrap: list[str] = []
        self._seen = Seen()
        self._routes = Routes(self._open_port)
        self._refused: set[Endpoint] = set()

    # -- what is done to requests -------------------------------------------------------------

    def on(self, api: str | type[Message] | None = None, **chosen: Any) -> On:
        """Choose requests, as `Hooks.on` does; an API may be given by its name, such as "Produce".

        `node` is the id of the broker through whose port a request comes; the bootstrap ports have none.
        """
        return self.hooks.on(request_of(api), **chosen)

    def inject(
        self,
        error: ErrorCode,
        *,
        api: str | type[Message] | None = None,
        message: str | None = None,
        applied: bool = False,
        **chosen: Any,
    ) -> Hook:
        """Answer chosen requests with an error, as `Hooks.on(...).answer` does.

        With `applied` the broker does what they ask for all the same.
        """
        on = self.on(api, **chosen)
        return on.apply_then(error, message) if applied else on.answer(error, message)

    def cap(self, api: str | type[Message], version: int | None) -> None:
        """Offer clients versions of an API up to `version`, as `Hooks.cap` does; None lifts the cap."""
        request = request_of(api)
        assert request is not None, "None is no API"
        self.hooks.cap(request, version)

    def play(self, release: str) -> None:
        """Offer clients the APIs and versions of an earlier release of Kafka, as `Hooks.play` does."""
        self.hooks.play(release)

    def clear(self) -> None:
        """Be transparent again: remove all hooks, release what they hold, and lift all caps."""
        self.hooks.clear()

    # -- life ---------------------------------------------------------------------------------

    @property
    def bootstrap_servers(self) -> str:
        """Return the ports of the proxy that stand for the bootstrap servers."""
        self._running_host()
        return ",".join(str(self._ports[name].endpoint) for name in self._bootstrap)

    @property
    def brokers(self) -> dict[int, Endpoint]:
        """Return the port of the proxy for each broker that is known, by id."""
        return self._on_loop(lambda: self._routes.ports)

    def start(self) -> None:
        """Listen for clients, and ask the cluster once for its brokers and topics. UsageError if a port cannot be had.

        A cluster that does not answer, as one with SASL does not, is known when clients have asked it.
        """
        if self._host is not None:
            raise UsageError("the proxy runs already")
        self._thread.start()
        try:
            self._thread.call(self._place)
            self._thread.wait(self._ask_topics())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close every link and give the ports back."""
        self._close_host(self._ports)
        if self._thread.loop is not None:
            self._thread.stop()
        for port in self._ports.values():
            port.close()
        self._ports.clear()

    @property
    def is_lost(self) -> bool:
        """Return whether a port has given up, which is a bug."""
        return bool(self.given_up)

    def metrics(self) -> Metrics:
        """Return no numbers: a proxy has none of a broker's."""
        return Metrics({})

    def _place(self) -> None:
        host = self._host = Host(asyncio.get_running_loop())
        host.on_note = self.on_note
        for number, server in enumerate(self._servers, 1):
            name = f"bootstrap {number}"
            self._bootstrap.append(name)
            wanted = self._first_port and self._first_port + number - 1
            self._add(host, name, Port(HOST, wanted), -number, partial(_given, server))

    async def _ask_topics(self) -> None:
        """Learn the topics, so that a rule about one takes the first request for all of them as well."""
        answer = await ask_metadata(self._running_host(), self._servers)
        if answer is not None:
            self._seen.learn(answer)
            self._routes.redirect(answer)

    def _add(
        self, host: Host, name: str, port: Port, node_id: int, upstream: Callable[[], Endpoint | None]
    ) -> Endpoint:
        """Have a relay listen at a port; return where."""
        self._ports[name] = port

        def make() -> Node:
            relay: Node = self.hooks(
                name, Relay(node_id, upstream, partial(host.unsent, name), self._routes, self._seen)
            )
            return relay if self._interpose is None else self._interpose(name, relay)

        host.add(name, make, port=port, options=NEVER_IDLE)
        host.start(name)
        return port.endpoint

    def _open_port(self, node_id: int) -> Endpoint:
        """Listen for a broker: at the next port after those in use, if that is free, else at any free one."""
        assert self._host is not None, "a client was answered"
        wanted = self._first_port and self._first_port + len(self._ports)
        try:
            port = Port(HOST, wanted if wanted <= PORT_MAX else 0)
        except UsageError:
            port = Port(HOST, 0)
        return self._add(self._host, f"broker {node_id}", port, node_id, lambda: self._upstream(node_id))

    def _upstream(self, node_id: int) -> Endpoint | None:
        """Return where a broker is; None if it is not at loopback, and no link may be opened to it."""
        at = self._routes.broker(node_id)
        if self._own_host or is_loopback(at.host):
            return at
        if at not in self._refused:
            self._refused.add(at)
            told = Note(f"broker {node_id} is at {at}, which is not loopback: links to it are closed")
            for call in self.on_note:
                call(f"broker {node_id}", told)
        return None


def _given(server: Endpoint) -> Endpoint:
    return server


def request_of(api: str | type[Message] | None) -> type[Message] | None:
    """Return the class of an API's requests; UsageError for a name that no API has."""
    return by_api_name(api).request if isinstance(api, str) else api
