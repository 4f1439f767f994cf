"""`Proxy`: forwards requests between Kafka clients and the brokers of a cluster, and applies hooks to them.

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
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.wrapping import WrapNode
from kmirror.net.host import Host
from kmirror.net.listener import Port
from kmirror.net.loopback import check_loopback, is_loopback
from kmirror.net.options import LinkOptions
from kmirror.net.running import RunningNodes
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_api_name
from kmirror.proxy.broker_addresses import BrokerAddresses
from kmirror.proxy.cluster_metadata import fetch_metadata
from kmirror.proxy.cluster_view import ClusterView
from kmirror.proxy.relay import Relay
from kmirror.spec.error_codes import ErrorCode

HOST = "127.0.0.1"
PORT_MAX = 65_535
NEVER_IDLE = LinkOptions(idle_max=1 << 40)
"""Idle links are closed by the broker or the client, not by the proxy."""


class Proxy(RunningNodes):
    """A proxy on ports of this machine, from `start` to `close`; any number of clients can connect.

    `bootstrap_servers` of the cluster is text as in a client's config; each server gets a port of the proxy, beginning
    with `port`, or a free one for 0. Each broker gets another port when it is first named, and keeps it. All hosts must
    be loopback unless `own_host` is set, which states that the other hosts belong to the caller.

    `seed` is for the probabilities. `interpose` wraps each port outside of the hooks, by its name: "bootstrap 1",
    "broker 1", ...
    """

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        port: int = 0,
        seed: int = 0,
        own_host: bool = False,
        interpose: WrapNode | None = None,
    ) -> None:
        super().__init__("proxy")
        self._servers = parse_servers(checked_servers(bootstrap_servers))
        arguments.whole_number("port", port, 0, PORT_MAX + 1 - len(self._servers))
        self._own_host = own_host
        if not own_host:
            for server in self._servers:
                check_loopback(server.host)
        self.hooks = Hooks(seed)
        """Hooks on requests; `on`, `inject`, `cap`, `play` and `clear` use them."""
        self._first_port = port
        self._interpose = interpose
        self._ports: dict[str, Port] = {}
        self._bootstrap: list[str] = []
        self._view = ClusterView()
        self._addresses = BrokerAddresses(self._open_port)
        self._refused: set[Endpoint] = set()

    # -- hooks on requests --------------------------------------------------------------------

    def on(self, api: str | type[Message] | None = None, **criteria: Any) -> On:
        """Choose requests, like `Hooks.on`; an API may be given by its name, such as "Produce".

        `node` is the id of the broker whose port receives the request; the bootstrap ports have none.
        """
        return self.hooks.on(request_of(api), **criteria)

    def inject(
        self,
        error: ErrorCode,
        *,
        api: str | type[Message] | None = None,
        message: str | None = None,
        applied: bool = False,
        **criteria: Any,
    ) -> Hook:
        """Respond to chosen requests with an error, like `Hooks.on(...).answer`.

        With `applied` the broker applies the request first.
        """
        requests = self.on(api, **criteria)
        return requests.apply_then(error, message) if applied else requests.answer(error, message)

    def cap(self, api: str | type[Message], version: int | None) -> None:
        """Offer clients versions of an API up to `version`, like `Hooks.cap`; None removes the cap."""
        request = request_of(api)
        assert request is not None, "None is no API"
        self.hooks.cap(request, version)

    def play(self, release: str) -> None:
        """Offer clients the APIs and versions of an earlier release of Kafka, like `Hooks.play`."""
        self.hooks.play(release)

    def clear(self) -> None:
        """Become transparent again: remove all hooks, release the held requests, and remove all caps."""
        self.hooks.clear()

    # -- lifecycle ----------------------------------------------------------------------------

    @property
    def bootstrap_servers(self) -> str:
        """Return the addresses of the proxy's bootstrap ports."""
        self._running_host()
        return ",".join(str(self._ports[name].endpoint) for name in self._bootstrap)

    @property
    def brokers(self) -> dict[int, Endpoint]:
        """Return the port of the proxy for each known broker, by id."""
        return self._on_loop(lambda: self._addresses.ports)

    def start(self) -> None:
        """Listen for clients, and request the cluster's metadata once. Raises UsageError if a port cannot be opened.

        If the cluster does not respond, for example because it requires SASL, the metadata is learned from clients'
        responses.
        """
        if self._host is not None:
            raise UsageError("the proxy is already running")
        self._thread.start()
        try:
            self._thread.call(self._open_bootstrap_ports)
            self._thread.wait(self._learn_topics())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all links, and release the ports."""
        self._close_host(self._ports)
        if self._thread.loop is not None:
            self._thread.stop()
        for port in self._ports.values():
            port.close()
        self._ports.clear()

    @property
    def has_failed(self) -> bool:
        """Return whether a port has failed, which is a bug."""
        return bool(self.ended_nodes)

    def metrics(self) -> Metrics:
        """Return no metrics: a proxy has none of a broker's."""
        return Metrics({})

    def _open_bootstrap_ports(self) -> None:
        host = self._host = Host(asyncio.get_running_loop())
        host.on_note = self.on_note
        for number, server in enumerate(self._servers, 1):
            name = f"bootstrap {number}"
            self._bootstrap.append(name)
            port_number = self._first_port and self._first_port + number - 1
            self._open_relay(host, name, Port(HOST, port_number), -number, partial(_same_server, server))

    async def _learn_topics(self) -> None:
        """Learn the topics, so that a rule about a topic also applies to the first request for all topics."""
        response = await fetch_metadata(self._running_host(), self._servers)
        if response is not None:
            self._view.update(response)
            self._addresses.rewrite_addresses(response)

    def _open_relay(
        self, host: Host, name: str, port: Port, node_id: int, upstream: Callable[[], Endpoint | None]
    ) -> Endpoint:
        """Open a relay at a port; return its address."""
        self._ports[name] = port

        def make() -> Node:
            relay: Node = self.hooks(
                name, Relay(node_id, upstream, partial(host.unsent_bytes, name), self._addresses, self._view)
            )
            return relay if self._interpose is None else self._interpose(name, relay)

        host.add(name, make, ports=[(ListenerSpec.plain(port.endpoint), port)], options=NEVER_IDLE)
        host.start(name)
        return port.endpoint

    def _open_port(self, node_id: int) -> Endpoint:
        """Open a port for a broker: the one after those in use, if free, otherwise any free one."""
        assert self._host is not None, "a client was answered"
        port_number = self._first_port and self._first_port + len(self._ports)
        try:
            port = Port(HOST, port_number if port_number <= PORT_MAX else 0)
        except UsageError:
            port = Port(HOST, 0)
        return self._open_relay(self._host, f"broker {node_id}", port, node_id, lambda: self._upstream(node_id))

    def _upstream(self, node_id: int) -> Endpoint | None:
        """Return the address of a broker; None if it is not loopback, so that no link may be opened to it."""
        address = self._addresses.broker(node_id)
        if self._own_host or is_loopback(address.host):
            return address
        if address not in self._refused:
            self._refused.add(address)
            note = Note(f"broker {node_id} is at {address}, which is not loopback: links to it are closed")
            for call in self.on_note:
                call(f"broker {node_id}", note)
        return None


def _same_server(server: Endpoint) -> Endpoint:
    return server


def request_of(api: str | type[Message] | None) -> type[Message] | None:
    """Return the request class of an API; raises UsageError for an unknown name."""
    return by_api_name(api).request if isinstance(api, str) else api
