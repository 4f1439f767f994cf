"""The remote end in tests of clients: the requests of the client, and the responses of the test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from kmirror.client import requester
from kmirror.client.requester import Requester
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import CloseLink, Effect, Note, OutboundLink, Send, SetTimer, TimerKey
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kmirror.protocol.headers import decode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.protocol.negotiate import Range
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.apis import versions_served
from kmirror.spec.error_codes import ErrorCode

M = TypeVar("M", bound=Message)
BOOTSTRAP = Endpoint("bootstrap", 9092)
ONE, TWO = Endpoint("one", 9092), Endpoint("two", 9092)
BROKERS = {1: ONE, 2: TWO}
TOPIC_ID = Uuid.from_ints(1, 2)
TP, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


@dataclass(frozen=True)
class PendingRequest:
    """One request that the client sent."""

    peer: Endpoint
    channel: str
    version: int
    correlation_id: int
    client_id: str | None
    body: Message


class Script:
    """The outbox of one client; requests wait here until the test answers them."""

    def __init__(self) -> None:
        self.outbox = Outbox()
        self.requester = Requester("client", self.outbox)
        self.asked: list[PendingRequest] = []
        self.timers: dict[TimerKey, Instant] = {}
        """Timers of the client; those of the requester are left out."""
        self.notes: list[str] = []
        self.closed: list[tuple[Endpoint, str]] = []

    @property
    def versions(self) -> list[int]:
        """Return the versions of the pending requests."""
        return [one.version for one in self.pending_requests()]

    def pending_requests(self) -> list[PendingRequest]:
        """Return the pending requests, the oldest first."""
        for effect in self.outbox.drain():
            self._take(effect)
        return self.asked

    def _take(self, effect: Effect) -> None:
        match effect:
            case Send(OutboundLink(peer, channel), chunks):
                head, body = decode_request(b"".join(chunks))
                self.asked.append(
                    PendingRequest(peer, channel, head.api_version, head.correlation_id, head.client_id, body)
                )
            case SetTimer(key, at) if key[0] != requester.TIMER:
                self.timers[key] = at
            case Note(text):
                self.notes.append(text)
            case CloseLink(OutboundLink(peer, channel)):
                self.closed.append((peer, channel))
            case _:
                pass

    def next(self, kind: type[M]) -> M:
        """Return the body of the oldest request; it must be of this kind."""
        body = self.pending_requests()[0].body
        assert isinstance(body, kind), body
        return body

    def answer(self, reply: Message, now: Instant = 0) -> PendingRequest:
        """Answer the oldest request."""
        asked = self.pending_requests().pop(0)
        frame = encode_response(reply, asked.version, correlation_id=asked.correlation_id)
        self.requester.on_response(now, OutboundLink(asked.peer, asked.channel), frame)
        self.pending_requests()
        return asked

    def answer_versions(self, now: Instant = 0, **limits: Range) -> None:
        """Answer ApiVersions, the oldest request, with kmirror's APIs, changed by `limits` (by API name)."""
        self.next(ApiVersionsRequest)
        self.answer(versions(**limits), now)

    def break_link(self, now: Instant = 0) -> PendingRequest:
        """Close the link of the oldest request."""
        asked = self.pending_requests()[0]
        self.asked = [one for one in self.asked if (one.peer, one.channel) != (asked.peer, asked.channel)]
        self.requester.on_link_closed(now, OutboundLink(asked.peer, asked.channel))
        self.pending_requests()
        return asked


def versions(**limits: Range) -> ApiVersionsResponse:
    """Return a kmirror broker's response, changed by `limits` (by API name); an empty range removes the API."""
    served = {**versions_served("broker", mirror=True), **{API_KEYS[name]: limit for name, limit in limits.items()}}
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in served.items()
            if first <= last
        ]
    )


def metadata(
    leaders: Mapping[TopicPartition, tuple[int, int]], *, topic_id: Uuid = TOPIC_ID, error: ErrorCode = ErrorCode.NONE
) -> MetadataResponse:
    """Return a response with the (leader, leader epoch) of partitions; all topics have the same id and error."""
    topics: dict[str, MetadataResponseTopic] = {}
    for tp, (leader, epoch) in leaders.items():
        row = MetadataResponsePartition(partition_index=tp.partition, leader_id=leader, leader_epoch=epoch)
        topic = topics.setdefault(tp.topic, MetadataResponseTopic(name=tp.topic, topic_id=topic_id, error_code=error))
        topic.partitions.append(row)
    return MetadataResponse(
        cluster_id="theirs",
        brokers=[MetadataResponseBroker(node_id=n, host=e.host, port=e.port) for n, e in BROKERS.items()],
        topics=list(topics.values()),
    )
