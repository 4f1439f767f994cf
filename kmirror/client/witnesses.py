"""Witnesses: the brokers of a cluster that are believed about its topics, configs and coordinators (D60).

A broker that has lost its controller still responds with old metadata, and so does one that is fenced. So a broker must
prove that it is up to date: the controller returns through it how much of the metadata log is committed
(DescribeQuorum, which brokers forward), and ApiVersions returns how much of that log the broker has replayed (the epoch
of the finalized features is that offset). All later responses of the broker are at least as recent as the controller's
response.

If brokers cannot prove it, because their release has no DescribeQuorum or the request is denied, all brokers that the
cluster lists as alive must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kmirror.client.remote_cluster import (
    FEATURES_FROM,
    METADATA_TIMEOUT_MS,
    SOFTWARE_NAME,
    SOFTWARE_VERSION,
    RemoteCluster,
)
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen import describe_quorum_request as quorum
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.describe_quorum_response import DescribeQuorumResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import METADATA_TOPIC

PURPOSE = "witness"
ROUND_TRIPS = 8
"""Round trips of the first response on a link with TLS and SCRAM, which it opens: a refresh may need one."""
NO_PROOF = "no broker of the source proves that it is up to date"
NO_OFFSET = -1
"""A missing offset of the metadata log."""


OnResponses = Callable[[Instant, Sequence[Message]], None]


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Brokers that are believed if all of them agree; none if no broker has proved to be up to date."""

    closed_links: dict[Endpoint, int]
    """Number of ended links to each: a broker that has restarted since is no longer a witness."""
    no_response: str = ""
    """The message with the time for a response, if no broker responded."""

    @classmethod
    def select(cls, cluster: RemoteCluster, endpoints: Iterable[Endpoint], no_response: str = "") -> Witnesses:
        """Return brokers as witnesses from now on."""
        return cls({endpoint: cluster.closed_links(endpoint) for endpoint in endpoints}, no_response)

    @property
    def missing_reason(self) -> str:
        """Why there are none, if there are none."""
        return f"{NO_PROOF}: {self.no_response}" if self.no_response else NO_PROOF

    @property
    def endpoints(self) -> list[Endpoint]:
        return list(self.closed_links)

    def are_valid(self, cluster: RemoteCluster) -> bool:
        """Return whether there are any, and no link to one of them has ended since."""
        return bool(self.closed_links) and all(
            cluster.closed_links(endpoint) == count for endpoint, count in self.closed_links.items()
        )

    def ask(self, now: Instant, cluster: RemoteCluster, body: Message, on_responses: OnResponses) -> None:
        """Send a request to all of them; `on_responses` gets no responses at all if one is missing."""
        replies: list[Message | None] = []

        def on_reply(later: Instant, reply: Message | None) -> None:
            replies.append(reply)
            if len(replies) == len(self.closed_links):
                responses = [reply for reply in replies if reply is not None]
                are_all = len(responses) == len(replies) and self.are_valid(cluster)
                on_responses(later, responses if are_all else ())

        if not self.closed_links:
            on_responses(now, ())
        for endpoint in self.closed_links:
            cluster.send(now, endpoint, PURPOSE, body, on_reply, timeout_ms=proof_timeout_ms(cluster))


OnFound = Callable[[Instant, Witnesses], None]


def find_witnesses(cluster: RemoteCluster, now: Instant, listed_brokers: Iterable[Endpoint], on_found: OnFound) -> None:
    """Ask one broker after the other for a proof; `listed_brokers` are those that the cluster lists as alive."""
    brokers = list(dict.fromkeys(listed_brokers)) or list(cluster.servers)
    _Search(cluster, brokers, cluster.round_robin(brokers), on_found).ask_next(now)


def ask_for_proof(cluster: RemoteCluster, now: Instant, endpoint: Endpoint, on_found: OnFound) -> None:
    """Ask one broker for a proof; if it cannot give one, all that the cluster lists as alive are the witnesses."""
    _Search(cluster, list(cluster.brokers.values()), [endpoint], on_found).ask_next(now)


class _Search:
    def __init__(
        self, cluster: RemoteCluster, listed_brokers: list[Endpoint], remaining: list[Endpoint], on_found: OnFound
    ) -> None:
        self._cluster = cluster
        self._brokers = listed_brokers
        self._remaining = remaining
        self._on_found = on_found
        self._is_answered = False

    def ask_next(self, now: Instant) -> None:
        """Ask the next broker for a proof."""
        if not self._remaining or self._cluster.is_closed:
            self._end(now, [])
            return
        endpoint = self._remaining.pop(0)
        partition = quorum.PartitionData(partition_index=0)
        topic = quorum.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])

        def on_quorum(later: Instant, reply: Message | None) -> None:
            self._on_quorum(later, endpoint, reply)

        self._send(now, endpoint, quorum.DescribeQuorumRequest(topics=[topic]), on_quorum)

    def _on_quorum(self, now: Instant, endpoint: Endpoint, reply: Message | None) -> None:
        cluster = self._cluster
        self._is_answered = self._is_answered or reply is not None
        is_unable = cluster.knows_versions(endpoint) and not cluster.supports(endpoint, quorum.DescribeQuorumRequest)
        if isinstance(reply, DescribeQuorumResponse):
            is_unable = reply.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        if is_unable:
            self._end(now, self._brokers)
            return
        high_watermark = _high_watermark(reply)
        if high_watermark <= 0:
            self.ask_next(now)
            return

        def on_versions(later: Instant, reply: Message | None) -> None:
            replayed_offset = _replayed_offset(reply)
            if replayed_offset == NO_OFFSET:
                self._end(later, self._brokers)
            elif replayed_offset is not None and replayed_offset >= high_watermark - 1:
                self._end(later, [endpoint])
            else:
                self.ask_next(later)

        request = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION)
        self._send(now, endpoint, request, on_versions, version_min=FEATURES_FROM)

    def _send(
        self,
        now: Instant,
        endpoint: Endpoint,
        body: Message,
        on_reply: Callable[[Instant, Message | None], None],
        version_min: int = 0,
    ) -> None:
        self._cluster.send(
            now,
            endpoint,
            PURPOSE,
            body,
            on_reply,
            version_min=version_min,
            timeout_ms=proof_timeout_ms(self._cluster),
            needs_controller=True,
        )

    def _end(self, now: Instant, endpoints: Iterable[Endpoint]) -> None:
        no_response = "" if self._is_answered else no_response_text(self._cluster)
        self._on_found(now, Witnesses.select(self._cluster, endpoints, no_response))


def proof_timeout_ms(cluster: RemoteCluster) -> int:
    """Return the time for a broker to prove something, in ms; more if the last refresh took long."""
    return min(max(METADATA_TIMEOUT_MS, ROUND_TRIPS * cluster.last_refresh_duration // MILLISECOND), cluster.timeout_ms)


def no_response_text(cluster: RemoteCluster) -> str:
    """Return the message that such a request got no response, with the time limit."""
    waited_ms = proof_timeout_ms(cluster)
    limit = " (request.timeout.ms)" if waited_ms == cluster.timeout_ms else ""
    return f"no answer within {waited_ms} ms{limit}"


def _high_watermark(reply: Message | None) -> int:
    """Return how much of the metadata log is committed, NO_OFFSET if the response is not a leader's."""
    if not isinstance(reply, DescribeQuorumResponse) or reply.error_code:
        return NO_OFFSET
    rows = [row for topic in reply.topics if topic.topic_name == METADATA_TOPIC for row in topic.partitions]
    if len(rows) != 1 or rows[0].error_code:
        return NO_OFFSET
    return rows[0].high_watermark


def _replayed_offset(reply: Message | None) -> int | None:
    """Return the last replayed offset of a broker's metadata log, NO_OFFSET if its release does not return it."""
    if not isinstance(reply, ApiVersionsResponse) or reply.error_code:
        return None
    return reply.finalized_features_epoch
