"""A source cluster as one broker of the destination sees it: its brokers, leaders and versions.

Nothing is assumed of the source but the protocol: versions are asked for, leaders are looked up,
and the highest leader epoch ever heard of a partition wins over older news. Requests are those of a
client; the source does not know that we are a broker. What it says is bounded here: an error code that nobody
knows, a request that its versions cannot carry, must not end a broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kmirror.client.requester import OnReply
from kmirror.errors import LocalProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message
from kmirror.protocol.negotiate import negotiate
from kmirror.protocol.registry import key_of
from kmirror.spec.apis import BY_KEY
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.broker.broker import Broker


@dataclass(frozen=True, slots=True)
class SourceLeader:
    broker_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class SourceTopic:
    topic_id: Uuid
    partitions: int


def parse_servers(text: str) -> tuple[Endpoint, ...]:
    """Return the endpoints of a `bootstrap.servers` value; entries without a possible port are left out."""
    found = []
    for entry in text.split(","):
        host, _, port = entry.strip().rpartition(":")
        # Superscripts are digits to Python, and no numbers to int().
        if host and port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536:
            found.append(Endpoint(host, int(port)))
    return tuple(found)


def code_of(code: int) -> ErrorCode:
    """Return an error code of another cluster; one that we do not know is UNKNOWN_SERVER_ERROR to us."""
    return ErrorCode(code) if code in ErrorCode.__members__.values() else ErrorCode.UNKNOWN_SERVER_ERROR


class SourceCluster:
    """What is known of the source of one mirror; refreshed on demand and now and then."""

    def __init__(
        self,
        broker: Broker,
        mirror: str,
        servers: tuple[Endpoint, ...],
        timeout_ms: int,
        on_refreshed: Callable[[Instant, bool], None],
    ) -> None:
        self._broker = broker
        self._mirror = mirror
        self.servers = servers
        self.timeout_ms = timeout_ms
        """How long the source may take to answer; may be changed while requests are under way."""
        self._on_refreshed = on_refreshed
        self._turn = 0
        self.cluster_id: str | None = None
        self.brokers: dict[int, Endpoint] = {}
        self.topics: dict[str, SourceTopic] = {}
        self.missing: dict[str, int] = {}
        """Topics that the last refresh did not find, and how many refreshes in a row did not."""
        self.refused: dict[str, ErrorCode] = {}
        """Topics of which the last refresh told an error instead, such as a missing authorisation."""
        self.leaders: dict[TopicPartition, SourceLeader] = {}
        self._versions: dict[Endpoint, dict[int, tuple[int, int]]] = {}
        self.refreshing = False

    # -- metadata -----------------------------------------------------------------------------

    def refresh(self, now: Instant, topics: Iterable[str]) -> None:
        """Ask one of the source's brokers about `topics`; `on_refreshed` learns whether it answered."""
        if self.refreshing or not self.servers:
            return
        names = sorted(topics)
        choices = [*self.brokers.values(), *self.servers]
        endpoint = choices[self._turn % len(choices)]
        self._turn += 1
        self.refreshing = True
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
        )

        def on_reply(later: Instant, reply: Message | None) -> None:
            self.refreshing = False
            known = isinstance(reply, MetadataResponse)
            if isinstance(reply, MetadataResponse):
                self._learn(reply)
            self._on_refreshed(later, known)

        self.send(now, endpoint, "metadata", request, on_reply)

    def _learn(self, reply: MetadataResponse) -> None:
        self.cluster_id = reply.cluster_id
        self.brokers = {row.node_id: Endpoint(row.host, row.port) for row in reply.brokers}
        for topic in reply.topics:
            name = topic.name or ""
            times_missing = self.missing.pop(name, 0)
            self.refused.pop(name, None)
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                self.missing[name] = times_missing + 1
                continue
            if topic.error_code:
                self.refused[name] = code_of(topic.error_code)
                continue
            before = self.topics.get(name)
            if before is not None and before.topic_id != topic.topic_id:
                for tp in [tp for tp in self.leaders if tp.topic == name]:
                    del self.leaders[tp]  # Another topic of the same name counts its epochs from the start.
            self.topics[name] = SourceTopic(topic.topic_id, len(topic.partitions))
            for row in topic.partitions:
                tp = TopicPartition(name, row.partition_index)
                known = self.leaders.get(tp)
                if known is not None and row.leader_epoch < known.epoch:
                    continue  # An old broker's view; a leader epoch never falls.
                self.leaders[tp] = SourceLeader(row.leader_id, row.leader_epoch)

    def leader_endpoint(self, tp: TopicPartition) -> Endpoint | None:
        """Return where the leader of `tp` listens, or None if that is not known."""
        leader = self.leaders.get(tp)
        return None if leader is None else self.brokers.get(leader.broker_id)

    # -- requests -----------------------------------------------------------------------------

    def version(self, endpoint: Endpoint, request: type[Message]) -> int | None:
        """Return the newest version of a request that both sides speak; None if there is none or it is not known."""
        api_key = key_of(request)
        theirs = self._versions.get(endpoint, {}).get(api_key)
        row = BY_KEY[api_key]
        return None if theirs is None else negotiate((row.first, row.last), theirs)

    def supports(self, endpoint: Endpoint, request: type[Message]) -> bool:
        """Does a broker whose versions are known serve this kind of request?"""
        return self.version(endpoint, request) is not None

    def knows_versions(self, endpoint: Endpoint) -> bool:
        return endpoint in self._versions

    def forget_versions(self, endpoint: Endpoint) -> None:
        """Have the next request to a broker ask for its versions again."""
        self._versions.pop(endpoint, None)

    def send(
        self,
        now: Instant,
        endpoint: Endpoint,
        purpose: str,
        body: Message,
        on_reply: OnReply,
        *,
        client_id: str | None = None,
        version_min: int = 0,
    ) -> None:
        """Send `body` in the newest common version; asks for the versions first if they are not known.

        `on_reply` gets None also when the broker does not serve the API from `version_min` on: `supports` tells
        the two apart.
        """
        if endpoint not in self._versions:
            self._learn_versions(
                now,
                endpoint,
                purpose,
                lambda later: self._send(later, endpoint, purpose, body, on_reply, client_id, version_min),
            )
            return
        self._send(now, endpoint, purpose, body, on_reply, client_id, version_min)

    def _send(
        self,
        now: Instant,
        endpoint: Endpoint,
        purpose: str,
        body: Message,
        on_reply: OnReply,
        client_id: str | None,
        version_min: int,
    ) -> None:
        version = self.version(endpoint, type(body))
        if version is None or version < version_min:
            on_reply(now, None)
            return

        def checked(later: Instant, reply: Message | None) -> None:
            if reply is None:
                # The broker may come back as another release: ask for its versions again.
                self._versions.pop(endpoint, None)
            on_reply(later, reply)

        try:
            self._broker.requester.send(
                now,
                endpoint,
                self.channel(purpose),
                body,
                version,
                checked,
                timeout_ms=self.timeout_ms,
                client_id=client_id,
            )
        except LocalProtocolError as error:  # Nothing was sent.
            self._broker.outbox.note(f"cannot ask {endpoint}: {error}")
            on_reply(now, None)

    def channel(self, purpose: str) -> str:
        return f"mirror-{self._mirror}-{purpose}"

    def _learn_versions(self, now: Instant, endpoint: Endpoint, purpose: str, then: Callable[[Instant], None]) -> None:
        def on_reply(later: Instant, reply: Message | None) -> None:
            if isinstance(reply, ApiVersionsResponse) and reply.error_code == ErrorCode.NONE:
                self._versions[endpoint] = {row.api_key: (row.min_version, row.max_version) for row in reply.api_keys}
            then(later)

        self._broker.requester.send(
            now, endpoint, self.channel(purpose), ApiVersionsRequest(), 0, on_reply, timeout_ms=self.timeout_ms
        )
