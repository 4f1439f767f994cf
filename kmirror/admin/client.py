"""An admin client over TCP, for programs on asyncio: sends requests to any cluster that speaks the protocol.

async with AsyncAdmin("localhost:9094") as admin:
    reply = await admin.ask(ListMirrorsRequest())

Versions are negotiated with each broker, a broker that does not respond costs one attempt, and requests that change
something go to the controller through any broker. Errors in a response are left to the caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

from kmirror.client.admin import Admin, AdminConfigs
from kmirror.client.authentication import Authenticator
from kmirror.client.backoff import Backoff
from kmirror.client.node import ClientNode
from kmirror.client.remote_cluster import RemoteCluster, code_of, parse_servers
from kmirror.client.security import SecuritySettings
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.net.dialing import CANNOT_CONNECT
from kmirror.net.host import Host
from kmirror.net.running import new_rng
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

T = TypeVar("T")
NAME = "admin"
LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """The Metadata of a topic."""

    topic_id: Uuid
    """Zeros if the cluster has no topic ids (before Kafka 2.8)."""
    leaders: dict[int, int]
    """Partition to the broker that leads it, -1 if there is none."""
    leader_epochs: dict[int, int]
    """Partition to its leader epoch; -1 if the cluster returns none (before Kafka 2.1)."""
    is_internal: bool


class AsyncAdmin:
    """An admin client of the cluster at `servers`, in the format of `bootstrap.servers`, on the running event loop.

    A server without a host, such as `:9094`, is on this machine. Raises UsageError if there is no valid server.
    `security` is that of `security_of`; None for plain connections. `on_silent` is called with a broker each time that
    it did not respond and another attempt follows.
    """

    def __init__(
        self,
        servers: str,
        configs: AdminConfigs | None = None,
        *,
        security: SecuritySettings | None = None,
        on_silent: Callable[[Endpoint], None] = lambda endpoint: None,
    ) -> None:
        self._on_silent = on_silent
        self.servers = checked_servers(servers)
        self._configs = configs or AdminConfigs()
        self._backoff = Backoff(self._configs.retry_backoff_ms, self._configs.retry_backoff_max_ms)
        self._node = ClientNode("kmirror-admin")
        self._host: Host | None = None
        endpoints, timeout_ms = parse_servers(self.servers), self._configs.request_timeout_ms
        authenticator = None if security is None else Authenticator(security, new_rng(), timeout_ms)
        requester = self._node.requester
        self._cluster = RemoteCluster(
            "queries", requester, endpoints, timeout_ms=timeout_ms, authenticator=authenticator
        )
        self._orders = Admin("orders", requester, endpoints, self._configs, authenticator=authenticator)
        self._node.timers["orders"] = self._orders.on_timer

    def __repr__(self) -> str:
        return f"<AsyncAdmin of {self.servers}>"

    async def __aenter__(self) -> Self:
        self._host = Host(asyncio.get_running_loop())
        self._host.add(NAME, lambda: self._node)
        self._host.start(NAME)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._host is not None, "it was entered"
        self._host.close()
        self._host = None

    async def order(self, body: Message) -> Message:
        """Send a request that changes something, and return the response.

        Raises KafkaError UNSUPPORTED_VERSION if the cluster does not know the request, NETWORK_EXCEPTION if no server
        can be connected to, or all close the connection, REQUEST_TIMED_OUT if no broker responds within
        `default.api.timeout.ms`, SASL_AUTHENTICATION_FAILED if none accepts this client.
        """
        if not self._cluster.brokers:
            await self.brokers()  # An order would retry at brokers that reject the client.
        answer: Message | ErrorCode = await self._outcome(
            lambda now, done: self._orders.ask(now, body, lambda _, reply: done(reply))
        )
        if isinstance(answer, ErrorCode):
            raise self._no_response_error(answer, body)
        return answer

    async def ask(self, body: Message, *, broker_id: int | None = None) -> Message:
        """Send a request to any broker, or to the one with `broker_id`, and return the response.

        Raises KafkaError like `order`; for a given broker REQUEST_TIMED_OUT after one attempt, and BROKER_NOT_AVAILABLE
        if the last call of `brokers` or `topics` did not return that id.
        """
        if broker_id is not None and broker_id not in self._cluster.brokers:
            text = f"the cluster at {self.servers} has no broker {broker_id}"
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, text)
        until = asyncio.get_running_loop().time() + self._configs.default_api_timeout_ms / 1000
        attempts = 0
        while True:
            endpoint = self._cluster.any_broker() if broker_id is None else self._cluster.brokers[broker_id]
            reply = await self._send_once(endpoint, body)
            if reply is not None:
                return reply
            if self._cluster.knows_versions(endpoint) and not self._cluster.supports(endpoint, type(body)):
                raise self._no_response_error(ErrorCode.UNSUPPORTED_VERSION, body)
            connection_error = self._cluster.connection_error(endpoint)
            if connection_error:
                text = f"no secured connection to {endpoint}: {connection_error}"
                raise KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, text)
            self._raise_if_unreachable()
            pause_s = self._backoff.pause_ms(attempts) / 1000
            attempts += 1
            if broker_id is not None or asyncio.get_running_loop().time() + pause_s >= until:
                raise self._no_response_error(ErrorCode.REQUEST_TIMED_OUT, body)
            self._on_silent(endpoint)
            await asyncio.sleep(pause_s)

    async def ask_each(self, body: Message) -> dict[int, Message]:
        """Send a request to every broker of the cluster, and return the responses by broker id.

        A broker that does not respond is left out. Raises KafkaError like `order`.
        """
        answers: dict[int, Message] = {}
        for broker_id in await self.brokers():
            try:
                answers[broker_id] = await self.ask(body, broker_id=broker_id)
            except KafkaError as error:
                if error.code is not ErrorCode.REQUEST_TIMED_OUT:
                    raise
        return answers

    async def brokers(self) -> dict[int, Endpoint]:
        """Return the endpoint of each broker of the cluster; raises KafkaError like `order`."""
        await self._metadata([])
        return dict(self._cluster.brokers)

    async def cluster_id(self) -> str:
        """Return the id of the cluster; raises KafkaError like `order`."""
        return (await self._metadata([])).cluster_id or ""

    async def topics(self, names: Iterable[str] | None = None) -> dict[str, TopicInfo]:
        """Return the metadata of the named topics, or of all; topics that do not exist are left out.

        Raises KafkaError like `order`, and if the client may not describe a named topic.
        """
        reply = await self._metadata(names)
        found: dict[str, TopicInfo] = {}
        for topic in reply.topics:
            name = topic.name or ""
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                continue
            if topic.error_code:
                error = code_of(topic.error_code)
                raise KafkaError(error, f"topic {name} of {self.servers}: {error.name}: {error.text}")
            found[name] = TopicInfo(
                topic.topic_id,
                {row.partition_index: row.leader_id for row in topic.partitions},
                {row.partition_index: row.leader_epoch for row in topic.partitions},
                topic.is_internal,
            )
        return dict(sorted(found.items()))

    async def partitions(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Return the partitions of topics, in order; raises KafkaError UNKNOWN_TOPIC_OR_PARTITION if one is missing."""
        names = list(topics)
        known = await self.topics(names)
        for name in names:
            if name not in known:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                raise KafkaError(error, f"the cluster at {self.servers} has no topic {name}")
        return sorted(TopicPartition(name, index) for name in names for index in known[name].leaders)

    async def _metadata(self, names: Iterable[str] | None) -> MetadataResponse:
        requested = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        reply = await self.ask(MetadataRequest(topics=requested, allow_auto_topic_creation=False))
        assert isinstance(reply, MetadataResponse), "the answer to its request"
        self._cluster.brokers = {row.node_id: Endpoint(row.host, row.port) for row in reply.brokers}
        return reply

    async def _send_once(self, endpoint: Endpoint, body: Message) -> Message | None:
        return await self._outcome(
            lambda now, done: self._cluster.send(now, endpoint, "queries", body, lambda _, reply: done(reply))
        )

    async def _outcome(self, begin: Callable[[Instant, Callable[[T], None]], None]) -> T:
        """Begin an operation, and return the value of its callback; raises an exception of the node instead."""
        if self._host is None:
            raise UsageError(f"the admin client of {self.servers} is not open: use it in an `async with` block")
        host, outcomes = self._host, list[T]()
        begin(host.now(), outcomes.append)
        host.perform(NAME, self._node.outbox.drain())
        await host.until(lambda: bool(outcomes or host.crashes))
        if not outcomes:
            raise host.crashes[0][1]
        return outcomes[0]

    def _raise_if_unreachable(self) -> None:
        """Raise KafkaError NETWORK_EXCEPTION if no server has ever responded, and it is known why for each of them.

        A cluster that has responded once is expected to be back: requests to it are repeated until their timeout.
        """
        if self._cluster.brokers:
            return
        reasons = {server: self._node.requester.close_reasons.get(server, "") for server in self._cluster.servers}
        if all(reasons.values()):
            texts = dict.fromkeys(unreachable_text(server, reason) for server, reason in reasons.items())
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, "; ".join(texts))

    def _no_response_error(self, error: ErrorCode, body: Message) -> KafkaError:
        name = body.NAME.removesuffix("Request")
        if error is ErrorCode.UNSUPPORTED_VERSION:
            return KafkaError(error, f"the cluster at {self.servers} does not support the request {name}")
        return KafkaError(error, f"no broker at {self.servers} responded to {name}: {error.name}: {error.text}")


def unreachable_text(server: Endpoint, reason: str) -> str:
    """Return why a server cannot be used: it cannot be connected to, or its listener expects another protocol."""
    if reason.startswith(CANNOT_CONNECT):
        return reason
    return f"{server} closed the connection without a response: set security.protocol if its listener uses SASL or TLS"


def checked_servers(servers: str) -> str:
    """Return `bootstrap.servers` with a host in each entry; raises UsageError if an entry is invalid."""
    entries = [entry.strip() for entry in arguments.text("servers", servers).split(",") if entry.strip()]
    with_hosts = [f"{LOCALHOST}{entry}" if entry.startswith(":") else entry for entry in entries]
    for entry in with_hosts:
        if not parse_servers(entry):
            raise UsageError(f"{entry!r} is not a server: give host:port, or several separated by commas")
    if not with_hosts:
        raise UsageError("no server given: use host:port, or several separated by commas")
    return ",".join(with_hosts)
