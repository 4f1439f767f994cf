"""Client of a cluster: its brokers, topics, leaders and versions, and requests to its brokers.

Nothing but the protocol is assumed of the cluster: versions are requested, leaders are looked up, and metadata with a
lower leader epoch than a known one is ignored. An unknown error code, or a request that the broker's versions cannot
carry, never raises in the node that sends the request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from kmirror.client.authentication import Authenticator
from kmirror.client.empty_responses import CORRELATION_ID_BYTES
from kmirror.client.requester import OnFrame, OnReply, Requester
from kmirror.client.unsupported_version import has_unsupported_version
from kmirror.errors import LocalProtocolError
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.events import Chunk, OutboundLink
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse, MetadataResponseTopic
from kmirror.protocol.message import Message
from kmirror.protocol.negotiate import Range, negotiate
from kmirror.protocol.registry import key_of, released_versions
from kmirror.spec.apis import ROWS_BY_KEY
from kmirror.spec.error_codes import ErrorCode

METADATA_TIMEOUT_MS = 3_000
API_VERSIONS_VERSION = 0
"""Every broker since 0.10 serves version 0."""
FEATURES_FROM = 3
"""First version of ApiVersions with the cluster's feature levels in the response; a second request fetches them."""
SOFTWARE_NAME, SOFTWARE_VERSION = "kmirror", "1"
"""The name and version that a client sends from that version on."""


@dataclass(frozen=True, slots=True)
class RemoteLeader:
    """The leader of a partition, and its leader epoch, -1 if the broker is too old to return one."""

    broker_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class LeaderHint:
    """The leader of a partition according to a broker that was taken for it; -1 for unknown values."""

    broker_id: int
    epoch: int
    endpoint: Endpoint | None = None
    """Endpoint of that broker, if it was in the response."""


@dataclass(frozen=True, slots=True)
class RemoteTopic:
    """A topic's id, zeros if the cluster has no topic ids, and its number of partitions."""

    topic_id: Uuid
    partitions: int


@dataclass(slots=True)
class Changes:
    """The changes that one Metadata response made in a RemoteCluster; each field is a dict used as an ordered set.

    Topics that are missing and partitions without a leader are always included, as nothing else would request them
    again.
    """

    cluster_id: bool = False
    """The id has changed, or is the first one: everything must be examined again."""
    topics: dict[str, None] = field(default_factory=dict)
    """Topics with a new id, number of partitions or error; those that are missing, or not in the response."""
    partitions: dict[TopicPartition, None] = field(default_factory=dict)
    """Partitions with a new leader, leader epoch or leader's endpoint; those whose leader is not known."""


OnRefreshed = Callable[[Instant, Changes | None], None]
"""(now, the changes in the response, or None if no broker responded)"""

OnChecked = Callable[[Instant, MetadataResponse, Mapping[str, str]], None]
"""(now, the response to use, the topics for which it is not believed, each with the reason)"""
Check = Callable[[Instant, MetadataRequest, MetadataResponse, OnChecked], None]
"""(now, request, its response, a callback to call once) -> decides how much of a response is believed"""


def parse_servers(text: str) -> tuple[Endpoint, ...]:
    """Return the endpoints of a `bootstrap.servers` value; entries without a valid port are left out."""
    found = []
    for entry in text.split(","):
        host, _, port = entry.strip().rpartition(":")
        # Superscripts are digits to Python, but int() rejects them.
        if host and port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536:
            found.append(Endpoint(host, int(port)))
    return tuple(found)


def code_of(code: int) -> ErrorCode:
    """Return the ErrorCode for a number from another cluster; UNKNOWN_SERVER_ERROR if we do not know it."""
    return ErrorCode(code) if code in ErrorCode.__members__.values() else ErrorCode.UNKNOWN_SERVER_ERROR


def _usable_versions(request: type[Message]) -> Range:
    """Return the versions in which a request is sent: those that are served here, or those that Kafka has."""
    row = ROWS_BY_KEY.get(key_of(request))
    if row is not None:
        return row.first, row.last
    released = released_versions(request)
    return released.start, released.stop - 1


class RemoteCluster:
    """Metadata of one cluster, refreshed on demand. Requests of one purpose share a link to each broker."""

    def __init__(
        self,
        name: str,
        requester: Requester,
        servers: tuple[Endpoint, ...],
        *,
        timeout_ms: int,
        on_refreshed: OnRefreshed | None = None,
        client_id: str | None = None,
        wants_features: bool = False,
        authenticator: Authenticator | None = None,
        check: Check | None = None,
    ) -> None:
        self.name = name
        """The name of the client; the channels of its links begin with it."""
        self._client_id = client_id
        """The client id of requests without one of their own; None for the requester's."""
        self._requester = requester
        self.servers = servers
        """Brokers to ask before any broker is known: `bootstrap.servers`."""
        self.timeout_ms = timeout_ms
        """Time for a broker to respond; may be changed while requests are under way."""
        self._on_refreshed = on_refreshed
        self.is_closed = False
        self._wants_features = wants_features
        self._check = check
        """Called for every response to a refresh; None if all are believed."""
        self._authenticator = authenticator
        """Secures the links; None if they are plain."""
        self.config_error = ""
        """Configuration error that prevents all requests, or ""; set by a caller that therefore passed no servers."""
        self.features: Mapping[str, int] = {}
        """Level of each feature that is not 0, as far as a broker has returned it; only fetched if wanted."""
        self._features_epoch = -1
        self._next_broker = 0
        self.cluster_id: str | None = None
        self.brokers: dict[int, Endpoint] = {}
        self.topics: dict[str, RemoteTopic] = {}
        self.missing_topics: dict[str, int] = {}
        """Topics that the last refresh did not find, with the number of such refreshes in a row."""
        self.topic_errors: dict[str, ErrorCode] = {}
        """Topics for which the last refresh got another error, such as a missing authorisation."""
        self.distrusted_topics: dict[str, str] = {}
        """Topics for which the last response was not believed, with the reason: their metadata is older."""
        self._leaders: dict[str, dict[int, RemoteLeader]] = {}
        """By topic and partition."""
        self._versions: dict[Endpoint, Mapping[int, Range]] = {}
        self._versions_at: dict[Endpoint, int] = {}
        """Number of ended links to a broker when its versions were learned; after another end they are requested again.
        """
        self._unresponsive: dict[Endpoint, None] = {}
        """Brokers whose most recent request got no response."""
        self._links: dict[OutboundLink, None] = {}
        """The links over which something was sent."""
        self._metadata_timeout_ms = METADATA_TIMEOUT_MS
        """Time for a broker to return metadata, at most `timeout_ms`: if it hangs, another one gets the request."""
        self.last_refresh_duration: Duration = 0
        """Duration of the last answered refresh."""
        self.refreshing = False
        self._last_response: tuple[list[str], bytes] | None = None
        """The topics of the last refresh, and its response without the correlation id, if an equal one need not be
        parsed."""

    # -- metadata -----------------------------------------------------------------------------

    def refresh(self, now: Instant, topics: Iterable[str]) -> None:
        """Request the metadata of `topics` from one of the brokers; `on_refreshed` is called with the changes.

        Does nothing while another refresh is under way.
        """
        if self.refreshing or not self.servers:
            return
        self.refreshing = True
        names = sorted(topics)
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
        )
        response = b""

        def on_frame(later: Instant, frame: Chunk) -> bool:
            nonlocal response
            self.last_refresh_duration = later - now
            response = bytes(frame[CORRELATION_ID_BYTES:])
            if self._last_response != (names, response):
                return False
            self._end_refresh(later, Changes())  # Most responses repeat the last one.
            return True

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._last_response = None
            if reply is None:
                self._metadata_timeout_ms = min(
                    2 * self._metadata_timeout_ms, max(self.timeout_ms, METADATA_TIMEOUT_MS)
                )
            if not isinstance(reply, MetadataResponse):
                self._end_refresh(later, None)
            elif self._check is None:
                on_checked(later, reply, {})
            else:
                self._check(later, request, reply, on_checked)

        def on_checked(later: Instant, reply: MetadataResponse, distrusted: Mapping[str, str]) -> None:
            changes = self._record_metadata(reply, names, distrusted)
            must_parse = distrusted or self._is_incomplete(reply, names, changes)
            self._last_response = None if must_parse else (names, response)
            self._end_refresh(later, changes)

        metadata_timeout_ms = min(self._metadata_timeout_ms, self.timeout_ms)
        self.send(
            now, self.any_broker(), "metadata", request, on_reply, timeout_ms=metadata_timeout_ms, on_frame=on_frame
        )

    def _end_refresh(self, now: Instant, changes: Changes | None) -> None:
        self.refreshing = False
        if self._wants_features and changes is not None:
            self._versions.clear()  # An upgrade may have caused the refresh.
        if self._on_refreshed is not None:
            self._on_refreshed(now, changes)

    def _is_incomplete(self, reply: MetadataResponse, requested: list[str], changes: Changes) -> bool:
        """Return whether a response lacks something, so that it counts as a change each time (see Changes)."""
        unanswered = len(reply.topics) < len(requested) or any(name in self.missing_topics for name in changes.topics)
        return unanswered or any(self.leader_endpoint(tp) is None for tp in changes.partitions)

    def any_broker(self) -> Endpoint:
        """Return the next broker in turn, for requests that every broker can serve.

        A broker whose last request got no response is skipped, unless all are like that.
        """
        endpoints = [*self.brokers.values(), *self.servers]
        choices = [endpoint for endpoint in endpoints if endpoint not in self._unresponsive] or endpoints
        endpoint = choices[self._next_broker % len(choices)]
        self._next_broker += 1
        return endpoint

    def round_robin(self, endpoints: Sequence[Endpoint]) -> list[Endpoint]:
        """Return brokers in the order in which to ask them, each call with another one first; silent ones last."""
        first = self._next_broker % max(1, len(endpoints))
        self._next_broker += 1
        return sorted([*endpoints[first:], *endpoints[:first]], key=lambda endpoint: endpoint in self._unresponsive)

    def _record_metadata(self, reply: MetadataResponse, requested: list[str], distrusted: Mapping[str, str]) -> Changes:
        changes = Changes(cluster_id=reply.cluster_id != self.cluster_id, topics=dict.fromkeys(requested))
        self.cluster_id = reply.cluster_id
        self._record_brokers({row.node_id: Endpoint(row.host, row.port) for row in reply.brokers}, changes)
        for topic in reply.topics:
            name = topic.name or ""
            self.distrusted_topics.pop(name, None)
            if name in distrusted:
                self.distrusted_topics[name] = distrusted[name]
            elif not self._record_topic(topic, changes):
                changes.topics.pop(name, None)
        return changes

    def _record_brokers(self, brokers: dict[int, Endpoint], changes: Changes) -> None:
        before, self.brokers = self.brokers, brokers
        known = (*brokers.values(), *self.servers)
        self._unresponsive = {endpoint: None for endpoint in self._unresponsive if endpoint in known}
        changed_ids = {number for number in before.keys() | brokers.keys() if before.get(number) != brokers.get(number)}
        if changed_ids:
            for name, leaders in self._leaders.items():
                for partition, leader in leaders.items():
                    if leader.broker_id in changed_ids:
                        changes.partitions[TopicPartition(name, partition)] = None

    def _record_topic(self, topic: MetadataResponseTopic, changes: Changes) -> bool:
        """Return whether the topic has changed."""
        name = topic.name or ""
        times_missing, previous_error = self.missing_topics.pop(name, 0), self.topic_errors.pop(name, None)
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self.missing_topics[name] = times_missing + 1
            return True
        if topic.error_code:
            self.topic_errors[name] = code_of(topic.error_code)
            return times_missing > 0 or self.topic_errors[name] is not previous_error
        before, rows = self.topics.get(name), topic.partitions
        # A broker that still gets requests of an old version returns no id; that is no change.
        topic_id = topic.topic_id if before is None or any(topic.topic_id) else before.topic_id
        if before is not None and any(before.topic_id) and before.topic_id != topic_id:
            self._leaders[name] = {}  # Another topic of the same name counts its epochs from the start.
        has_changed = before is None or (before.topic_id, before.partitions) != (topic_id, len(rows))
        if has_changed:
            self.topics[name] = RemoteTopic(topic_id, len(rows))
        for row in rows:
            tp = TopicPartition(name, row.partition_index)
            if self.record_leader(tp, row.leader_id, row.leader_epoch) or self.leader_endpoint(tp) is None:
                changes.partitions[tp] = None
        return has_changed or times_missing > 0 or previous_error is not None

    def record_leader(self, tp: TopicPartition, broker_id: int, epoch: int) -> bool:
        """Record the leader of `tp`, unless a higher leader epoch is known; return whether the leader is new."""
        leaders = self._leaders.setdefault(tp.topic, {})
        known = leaders.get(tp.partition)
        if known is not None and (epoch < known.epoch or (broker_id, epoch) == (known.broker_id, known.epoch)):
            return False
        leaders[tp.partition] = RemoteLeader(broker_id, epoch)
        self._last_response = None
        return True

    def record_hint(self, tp: TopicPartition, hint: LeaderHint) -> bool:
        """Record a leader that a broker named with an error (KIP-951); return whether that changes anything.

        It must have a later leader epoch than the known one, so that two brokers which name each other are not
        believed. The endpoint of a known broker comes from Metadata only.
        """
        known = self.leader(tp)
        if hint.broker_id < 0 or hint.epoch <= (-1 if known is None else known.epoch):
            return False
        if hint.endpoint is not None:
            self.brokers.setdefault(hint.broker_id, hint.endpoint)
        return hint.broker_id in self.brokers and self.record_leader(tp, hint.broker_id, hint.epoch)

    def forget(self, topic: str) -> None:
        """Forget a topic that is no longer refreshed: its id and its leaders may change unnoticed."""
        for known in (self.topics, self.missing_topics, self.topic_errors, self.distrusted_topics, self._leaders):
            known.pop(topic, None)
        self._last_response = None

    def has(self, topic: str) -> bool:
        """Return whether the topic existed at the last refresh."""
        return topic in self.topics and topic not in self.missing_topics

    def leader(self, tp: TopicPartition) -> RemoteLeader | None:
        """Return the last known leader of `tp`, or None."""
        leaders = self._leaders.get(tp.topic)
        return None if leaders is None else leaders.get(tp.partition)

    def leader_endpoint(self, tp: TopicPartition) -> Endpoint | None:
        """Return the endpoint of the leader of `tp`, or None if that is not known."""
        leader = self.leader(tp)
        return None if leader is None else self.brokers.get(leader.broker_id)

    # -- versions -----------------------------------------------------------------------------

    def version(self, endpoint: Endpoint, request: type[Message]) -> int | None:
        """Return the newest version of a request that both sides have; None if there is none or it is not known."""
        broker_range = self._versions.get(endpoint, {}).get(key_of(request))
        return None if broker_range is None else negotiate(_usable_versions(request), broker_range)

    def supports(self, endpoint: Endpoint, request: type[Message]) -> bool:
        """Return whether a broker's versions are known and have this kind of request."""
        return self.version(endpoint, request) is not None

    def knows_versions(self, endpoint: Endpoint) -> bool:
        """Return whether a broker's versions have been requested and not been forgotten since."""
        return endpoint in self._versions

    def record_versions(self, endpoint: Endpoint, versions: Mapping[int, Range]) -> None:
        """Record the versions that a broker serves: API key to (first, last) version."""
        self._versions[endpoint] = versions
        self._versions_at[endpoint] = self.closed_links(endpoint)

    def closed_links(self, endpoint: Endpoint) -> int:
        """Return how many links to a broker have ended."""
        return self._requester.closed_links.get(endpoint, 0)

    def forget_versions(self, endpoint: Endpoint) -> None:
        """Make the next request to a broker ask for its versions again."""
        self._versions.pop(endpoint, None)

    def request_versions(
        self, now: Instant, endpoint: Endpoint, purpose: str, on_done: Callable[[Instant], None]
    ) -> None:
        """Request a broker's versions, known or not, and call `on_done`; without a response they are forgotten."""
        self._prepare_link(endpoint, purpose)
        self._request_versions(now, endpoint, purpose, self.timeout_ms, on_done)

    def _request_versions(
        self, now: Instant, endpoint: Endpoint, purpose: str, timeout_ms: int, on_done: Callable[[Instant], None]
    ) -> None:
        def on_reply(later: Instant, reply: Message | None) -> None:
            self._record_response(endpoint, reply)
            if isinstance(reply, ApiVersionsResponse) and reply.error_code == ErrorCode.NONE:
                versions = {row.api_key: (row.min_version, row.max_version) for row in reply.api_keys}
                self.record_versions(endpoint, versions)
                version = self.version(endpoint, ApiVersionsRequest)
                if self._wants_features and version is not None and version >= FEATURES_FROM:
                    self._send_api_versions(later, endpoint, purpose, version, timeout_ms, on_features)
                    return
            else:
                self.forget_versions(endpoint)  # The earlier versions prove nothing now.
            on_done(later)

        def on_features(later: Instant, reply: Message | None) -> None:
            if isinstance(reply, ApiVersionsResponse) and reply.error_code == ErrorCode.NONE:
                self._record_features(reply)
            on_done(later)

        self._send_api_versions(now, endpoint, purpose, API_VERSIONS_VERSION, timeout_ms, on_reply)

    def _send_api_versions(
        self, now: Instant, endpoint: Endpoint, purpose: str, version: int, timeout_ms: int, on_reply: OnReply
    ) -> None:
        request = ApiVersionsRequest()
        if version >= FEATURES_FROM:
            request.client_software_name, request.client_software_version = SOFTWARE_NAME, SOFTWARE_VERSION
        self._requester.send(
            now,
            endpoint,
            self.channel(purpose),
            request,
            version,
            on_reply,
            timeout_ms=timeout_ms,
            client_id=self._client_id,
        )

    def _record_response(self, endpoint: Endpoint, reply: Message | None) -> None:
        """Record whether a broker responds; responses of a quiet session, which are not parsed, change nothing here."""
        if reply is None:
            self._unresponsive[endpoint] = None
        else:
            self._unresponsive.pop(endpoint, None)

    def _record_features(self, reply: ApiVersionsResponse) -> None:
        """Record the levels, unless newer ones are known."""
        if reply.finalized_features_epoch > self._features_epoch:
            self._features_epoch = reply.finalized_features_epoch
            self.features = {row.name: row.max_version_level for row in reply.finalized_features}

    # -- requests -----------------------------------------------------------------------------

    def connection_error(self, *endpoints: Endpoint) -> str:
        """Return why links to these brokers, or any at all, cannot be secured, each reason once; empty if they can."""
        if self._authenticator is None:
            return self.config_error
        requested = endpoints or dict.fromkeys((*self.servers, *self.brokers.values()))
        return ", ".join(
            dict.fromkeys(reason for endpoint in requested if (reason := self._authenticator.failure_reason(endpoint)))
        )

    def connection_error_suffix(self, *endpoints: Endpoint) -> str:
        """Return `connection_error` as the end of a sentence: after a colon, if there is any."""
        connection_error = self.connection_error(*endpoints)
        return connection_error and f": {connection_error}"

    @property
    def is_unresponsive(self) -> bool:
        """Whether every known broker got a request, and none responded the last time."""
        return bool(self.servers) and self._unresponsive.keys() >= {*self.servers, *self.brokers.values()}

    @property
    def awaits_first_answer(self) -> bool:
        """Whether nothing is known of the cluster yet, and no broker has left a request unanswered."""
        return bool(self.servers) and self.cluster_id is None and not self._unresponsive and not self.connection_error()

    def close(self, now: Instant) -> None:
        """Close all links to the cluster; requests under way on them end without a response."""
        self.is_closed = True
        links, self._links = self._links, {}
        for link in links:
            self._requester.close_link(now, link)

    def link(self, endpoint: Endpoint, purpose: str) -> OutboundLink:
        """Return the link to a broker of the cluster for one purpose."""
        return OutboundLink(endpoint, self.channel(purpose))

    @property
    def uses_sasl(self) -> bool:
        """Whether we authenticate by SASL."""
        return self._authenticator is not None and self._authenticator.security.credentials is not None

    def channel(self, purpose: str) -> str:
        return f"{self.name}-{purpose}"

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
        version_max: int | None = None,
        timeout_ms: int | None = None,
        on_frame: OnFrame | None = None,
        is_counted: bool = False,
        needs_controller: bool = False,
    ) -> None:
        """Send `body` in the newest common version; request the broker's versions first if they are not known.

        They are also requested if the broker is not known to serve the request, and if it rejects the version that it
        served before: a feature level may have changed. In the latter case the request is sent once more if there is
        another version of it; else `on_reply` gets the rejection (D76).

        The version lies between `version_min` and `version_max`. `on_reply` gets None if there is no response, and also
        if the broker serves no such version: `supports` distinguishes the two. `on_frame` is that of `Requester.send`.
        With `is_counted` everything on this link is counted (`Requester.counts`). With `needs_controller` a request
        without a response does not make the broker count as silent.
        """

        wait_ms = timeout_ms or self.timeout_ms

        newest = partial(self._version_to_send, endpoint, body, version_min, version_max)

        def send_version(
            later: Instant, version: int | None, rejected_version: int | None = None, rejection: Message | None = None
        ) -> None:
            if version is None or version == rejected_version:
                on_reply(later, rejection)
                return

            def on_answer(latest: Instant, reply: Message | None) -> None:
                if rejected_version is None and reply is not None and has_unsupported_version(reply):
                    self._request_versions(
                        latest, endpoint, purpose, wait_ms, lambda at: send_version(at, newest(), version, reply)
                    )
                else:
                    on_reply(latest, reply)

            self._send(
                later, endpoint, purpose, body, version, on_answer, client_id, wait_ms, on_frame, needs_controller
            )

        self._prepare_link(endpoint, purpose, is_counted=is_counted)
        version = newest() if self._versions_at.get(endpoint) == self.closed_links(endpoint) else None
        if version is None:
            self._request_versions(now, endpoint, purpose, wait_ms, lambda later: send_version(later, newest()))
        else:
            send_version(now, version)

    def _prepare_link(self, endpoint: Endpoint, purpose: str, *, is_counted: bool = False) -> None:
        """Secure, and if requested count, the link to a broker for one purpose before anything is sent on it."""
        link = self.link(endpoint, purpose)
        self._links[link] = None
        if is_counted:
            self._requester.count(link)
        if self._authenticator is not None:
            self._requester.secure(link, self._authenticator)

    def _version_to_send(
        self, endpoint: Endpoint, body: Message, version_min: int, version_max: int | None
    ) -> int | None:
        """Return the newest version that both sides have, within these bounds; None if there is none or not known."""
        version = self.version(endpoint, type(body))
        if version is None:
            return None
        if version_max is not None:
            version = min(version, version_max)
        lowest = max(version_min, _usable_versions(type(body))[0], self._versions[endpoint][key_of(type(body))][0])
        return None if version < lowest else version

    def _send(
        self,
        now: Instant,
        endpoint: Endpoint,
        purpose: str,
        body: Message,
        version: int,
        on_reply: OnReply,
        client_id: str | None,
        timeout_ms: int,
        on_frame: OnFrame | None,
        needs_controller: bool,
    ) -> None:
        def on_response(later: Instant, reply: Message | None) -> None:
            if reply is not None or not needs_controller:
                self._record_response(endpoint, reply)
            if reply is None:
                # The broker may come back as another release: request its versions again.
                self.forget_versions(endpoint)
            on_reply(later, reply)

        try:
            self._requester.send(
                now,
                endpoint,
                self.channel(purpose),
                body,
                version,
                on_response,
                timeout_ms=timeout_ms,
                client_id=client_id or self._client_id,
                on_frame=on_frame,
            )
        except LocalProtocolError as error:  # Nothing was sent.
            self._requester.outbox.note(f"cannot send to {endpoint}: {error}")
            on_reply(now, None)
