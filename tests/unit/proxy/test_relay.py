"""One port of the proxy, without sockets: events in, effects out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kmirror.kernel.events import (
    Chunk,
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    OutboundLink,
    Reply,
    RequestReceived,
    ResponseReceived,
    ResumeReading,
    Send,
    SetTimer,
    StopReading,
    TimerFired,
)
from kmirror.kernel.ids import ANONYMOUS, Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_cluster_response import DescribeClusterBroker, DescribeClusterResponse
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.fetch_response import NodeEndpoint as FetchNode
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import NodeEndpoint as ProduceNode
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.gen.sasl_handshake_request import SaslHandshakeRequest
from kmirror.protocol.gen.sasl_handshake_response import SaslHandshakeResponse
from kmirror.protocol.headers import decode_response, encode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import all_apis, key_of
from kmirror.proxy.broker_addresses import FIRST_VERSION_WITH_ADDRESSES, BrokerAddresses
from kmirror.proxy.cluster_view import ClusterView
from kmirror.proxy.relay import WAITING_BYTES_MAX, WAITING_MAX, Relay, is_request

BROKER = Endpoint("broker.example", 9092)
CLIENT = InboundLink(("client", 1))
TOPIC_ID = Uuid(b"orders-orders-id")


class Port:
    """A relay for broker 1, whose proxy opens port 7000 + id for each broker."""

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.view = ClusterView()
        self.addresses = BrokerAddresses(self.open)
        self.unsent = 0
        self.relay = Relay(1, lambda: BROKER, lambda link: self.unsent, self.addresses, self.view)
        self.handle(LinkOpened(CLIENT, "PLAINTEXT", ANONYMOUS, Endpoint("127.0.0.1", 5)))

    def open(self, node_id: int) -> Endpoint:
        self.opened.append(node_id)
        return Endpoint("127.0.0.1", 7000 + node_id)

    def handle(self, event: Event) -> list[Effect]:
        return self.relay.handle(0, event)

    def ask(self, frame: Chunk) -> list[Effect]:
        return self.handle(RequestReceived(CLIENT, frame))

    def answer(self, frame: Chunk) -> list[Effect]:
        return self.handle(ResponseReceived(self.upstream, frame))

    @property
    def upstream(self) -> OutboundLink:
        return OutboundLink(BROKER, "1")

    def exchange(self, request: Message, response: Message, version: int) -> bytes:
        """Return the response to the client, and check that the broker received the client's request."""
        frame = encode_request(request, version, correlation_id=7, client_id="c")
        assert self.ask(frame) == [Send(self.upstream, (frame,))]
        (reply,) = self.answer(encode_response(response, version, correlation_id=7))
        assert isinstance(reply, Reply)
        return b"".join(reply.chunks)


def heartbeat(number: int) -> tuple[bytes, bytes]:
    request = encode_request(HeartbeatRequest(group_id="g"), 4, correlation_id=number, client_id="c")
    return request, encode_response(HeartbeatResponse(), 4, correlation_id=number)


def replies(effects: Sequence[Effect]) -> list[bytes]:
    return [b"".join(effect.chunks) for effect in effects if isinstance(effect, Reply)]


@pytest.mark.parametrize("version", range(14))
def test_metadata_names_the_ports_of_the_proxy(version: int) -> None:
    port = Port()
    rows = [MetadataResponseBroker(node_id=n, host="b.example", port=9000 + n, rack="r") for n in (1, 2)]
    if version < 1:
        for row in rows:
            row.rack = None
    frame = port.exchange(MetadataRequest(topics=[]), MetadataResponse(brokers=rows), version)
    body = decode_response(frame, key_of(MetadataRequest), version).body
    assert isinstance(body, MetadataResponse)
    assert [(row.node_id, row.host, row.port) for row in body.brokers] == [(n, "127.0.0.1", 7000 + n) for n in (1, 2)]
    assert port.addresses.broker(2) == Endpoint("b.example", 9002)


def test_a_broker_keeps_its_port_and_is_found_where_it_is_now() -> None:
    port = Port()
    for number in (9001, 9501):
        rows = [MetadataResponseBroker(node_id=1, host="b", port=number)]
        port.exchange(MetadataRequest(topics=[]), MetadataResponse(brokers=rows), 12)
    assert port.opened == [1]
    assert port.addresses.broker(1) == Endpoint("b", 9501)


@pytest.mark.parametrize("version", range(7))
def test_find_coordinator_names_the_ports_of_the_proxy(version: int) -> None:
    response = FindCoordinatorResponse(node_id=3, host="b", port=9)
    if version >= 4:
        response = FindCoordinatorResponse(
            coordinators=[
                Coordinator(key="g", node_id=3, host="b", port=9),
                Coordinator(key="h", node_id=-1, host="", port=-1, error_code=15),
            ]
        )
    port = Port()
    request = FindCoordinatorRequest(coordinator_keys=["g", "h"]) if version >= 4 else FindCoordinatorRequest(key="g")
    body = decode_response(port.exchange(request, response, version), key_of(FindCoordinatorRequest), version).body
    assert isinstance(body, FindCoordinatorResponse)
    first = body.coordinators[0] if version >= 4 else body
    assert (first.host, first.port) == ("127.0.0.1", 7003)
    if version >= 4:
        assert (body.coordinators[1].host, body.coordinators[1].port) == ("", -1), "it names no broker"


def test_describe_cluster_names_the_ports_of_the_proxy() -> None:
    rows = [DescribeClusterBroker(broker_id=2, host="b", port=9)]
    frame = Port().exchange(DescribeClusterRequest(), DescribeClusterResponse(cluster_id="c", brokers=rows), 2)
    body = decode_response(frame, key_of(DescribeClusterRequest), 2).body
    assert isinstance(body, DescribeClusterResponse)
    assert (body.brokers[0].host, body.brokers[0].port) == ("127.0.0.1", 7002)


def test_new_leaders_in_produce_and_fetch_are_the_ports_of_the_proxy() -> None:
    """KIP-951: otherwise a client would bypass the proxy as soon as a leader moved."""
    produced = ProduceResponse(node_endpoints=[ProduceNode(node_id=2, host="b", port=9)])
    body = decode_response(Port().exchange(ProduceRequest(acks=-1), produced, 10), key_of(ProduceRequest), 10).body
    assert isinstance(body, ProduceResponse)
    assert (body.node_endpoints[0].host, body.node_endpoints[0].port) == ("127.0.0.1", 7002)
    fetched = FetchResponse(node_endpoints=[FetchNode(node_id=2, host="b", port=9)])
    other = decode_response(Port().exchange(FetchRequest(), fetched, 16), key_of(FetchRequest), 16).body
    assert isinstance(other, FetchResponse)
    assert (other.node_endpoints[0].host, other.node_endpoints[0].port) == ("127.0.0.1", 7002)


def test_every_response_that_names_a_broker_by_host_and_port_is_known() -> None:
    """A new release may add another such response. Addresses of applications (KIP-1071) and controllers are ignored."""
    others = {"StreamsGroupHeartbeat", "StreamsGroupDescribe", "DescribeQuorum", "DescribeAcls", "DeleteAcls"}
    quorum = {"Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "FetchSnapshot", "UpdateRaftVoter"}

    def names_hosts(message: type) -> bool:
        fields = {field.attribute: field for field in message.FIELDS}  # type: ignore[attr-defined]
        inside = (field.struct for field in fields.values() if field.type == "struct")
        return "host" in fields or any(names_hosts(each) for each in inside)

    found = {api.key for api in all_apis() if api.name not in others | quorum and names_hosts(api.response)}
    assert found == set(FIRST_VERSION_WITH_ADDRESSES)


def test_responses_without_brokers_are_forwarded_byte_for_byte() -> None:
    port = Port()
    request, response = heartbeat(3)
    view = memoryview(request)
    (sent,) = port.ask(view)
    assert isinstance(sent, Send) and sent.chunks[0] is view
    (reply,) = port.answer(response)
    assert isinstance(reply, Reply) and reply.chunks[0] is response


@pytest.mark.parametrize(
    "frame", [b"", b"\0\1", b"\x7f\xf0\0\1\0\0\0\5\xff\xff rest", b"\0\3\x00\x63\0\0\0\5\xff\xff rest"]
)
def test_unknown_requests_are_forwarded_and_so_are_their_responses(frame: bytes) -> None:
    port = Port()
    assert port.ask(frame) == [Send(port.upstream, (frame,))]
    assert replies(port.answer(b"\0\0\0\5?")) == [b"\0\0\0\5?"]


def test_undecodable_responses_are_forwarded_with_a_note() -> None:
    port = Port()
    port.ask(encode_request(MetadataRequest(topics=[]), 12, correlation_id=1, client_id=None))
    broken = encode_response(MetadataResponse(), 12, correlation_id=1)[:-3]
    effects = port.answer(broken)
    assert replies(effects) == [broken] and len(effects) == 2


def test_concurrent_requests_and_a_missing_response_stay_in_order() -> None:
    port = Port()
    first, second = heartbeat(1), encode_request(MetadataRequest(topics=[]), 12, correlation_id=2, client_id="c")
    port.ask(first[0])
    port.ask(second)
    rows = [MetadataResponseBroker(node_id=1, host="b", port=9)]
    (frame,) = replies(port.answer(encode_response(MetadataResponse(brokers=rows), 12, correlation_id=2)))
    body = decode_response(frame, key_of(MetadataRequest), 12).body
    assert isinstance(body, MetadataResponse) and body.brokers[0].port == 7001


@pytest.mark.parametrize("version", [3, 8, 9, 12])
def test_a_produce_without_acks_has_no_response(version: int) -> None:
    port = Port()
    port.ask(encode_request(ProduceRequest(acks=0), version, correlation_id=1, client_id="c"))
    request, response = heartbeat(2)
    port.ask(request)
    assert replies(port.answer(response)) == [response]
    assert port.handle(LinkClosed(CLIENT))[0] == SetTimer((port.upstream,), 10_000_000), (
        "the broker may not have it yet"
    )


def test_tokens_after_an_old_handshake_are_forwarded_unchanged() -> None:
    port = Port()
    port.exchange(SaslHandshakeRequest(mechanism="PLAIN"), SaslHandshakeResponse(mechanisms=["PLAIN"]), 0)
    token = b"\0user\0secret"
    assert port.ask(token) == [Send(port.upstream, (token,))]
    assert replies(port.answer(b"")) == [b""]
    rows = [MetadataResponseBroker(node_id=1, host="b", port=9)]
    frame = port.exchange(MetadataRequest(topics=[]), MetadataResponse(brokers=rows), 4)
    assert b"127.0.0.1" in frame, "and then requests are looked at again"


@pytest.mark.parametrize(
    "token", [b"", b"\0a\0p", b"\0user\0secret", b"n,,n=user,r=abc", b"n,a=u,\1auth=Bearer x\1\1", b"\x60\x82\1\2"]
)
def test_a_token_is_no_request(token: bytes) -> None:
    assert not is_request(token)


def test_every_request_is_one() -> None:
    for api in all_apis():
        for version in range(api.min_version, api.max_version + 1):
            head = api.key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes(4) + b"\xff\xff"
            assert is_request(head)


def test_unknown_versions_are_not_offered_if_they_name_brokers() -> None:
    """The Metadata response of a later version could not be redirected."""
    rows = [ApiVersion(api_key=api.key, min_version=0, max_version=99) for api in all_apis()]
    frame = Port().exchange(ApiVersionsRequest(), ApiVersionsResponse(api_keys=rows), 3)
    body = decode_response(frame, key_of(ApiVersionsRequest), 3).body
    assert isinstance(body, ApiVersionsResponse)
    last = {row.api_key: row.max_version for row in body.api_keys}
    assert {key for key, version in last.items() if version < 99} == set(FIRST_VERSION_WITH_ADDRESSES)


def test_a_link_with_too_many_pending_requests_is_not_read() -> None:
    port = Port()
    effects = [effect for n in range(WAITING_MAX) for effect in port.ask(heartbeat(n)[0])]
    assert [type(effect) for effect in effects if not isinstance(effect, Send)] == [StopReading]
    assert [type(effect) for effect in port.answer(heartbeat(0)[1])] == [ResumeReading, Reply]


def test_a_client_without_responses_waits_for_a_slow_broker() -> None:
    """Nothing else would limit the bytes that the proxy holds for it."""
    port = Port()
    request = encode_request(ProduceRequest(acks=0), 9, correlation_id=1, client_id="c")
    assert [type(effect) for effect in port.ask(request)] == [Send]
    port.unsent = WAITING_BYTES_MAX
    effects = port.ask(request)
    assert [type(effect) for effect in effects] == [SetTimer, Send, StopReading]
    assert isinstance(effects[0], SetTimer)
    again = port.handle(TimerFired(effects[0].key))
    assert [type(effect) for effect in again] == [SetTimer]
    port.unsent = 0
    assert port.handle(TimerFired(effects[0].key)) == [ResumeReading(CLIENT)]


def test_bytes_sent_before_a_client_leaves_reach_the_broker() -> None:
    port = Port()
    request, response = heartbeat(1)
    port.ask(request)
    assert port.handle(LinkClosed(CLIENT)) == [SetTimer((port.upstream,), 10_000_000)]
    assert CloseLink(port.upstream) in port.answer(response)


def test_a_broker_that_hangs_is_left_in_the_end() -> None:
    port = Port()
    port.ask(heartbeat(1)[0])
    port.handle(LinkClosed(CLIENT))
    assert CloseLink(port.upstream) in port.handle(TimerFired((port.upstream,)))
    assert port.answer(heartbeat(1)[1]) == []


def test_a_link_that_the_broker_closes_is_closed_for_the_client() -> None:
    port = Port()
    port.ask(heartbeat(1)[0])
    assert port.handle(LinkClosed(port.upstream, "reset")) == [CloseLink(CLIENT)]
    assert port.ask(heartbeat(2)[0]) == []


def test_topics_and_fetch_sessions_are_followed() -> None:
    """A rule about a topic must match a fetch that contains only an id, or nothing at all within a session."""
    port = Port()
    rows = [MetadataResponsePartition(partition_index=n) for n in range(2)]
    topics = [MetadataResponseTopic(name="orders", topic_id=TOPIC_ID, partitions=rows)]
    port.exchange(MetadataRequest(topics=[]), MetadataResponse(topics=topics), 12)
    assert port.relay.topic_names == {TOPIC_ID: "orders"}
    assert list(port.relay.partitions["orders"]) == [0, 1]

    def fetch(session_id: int, epoch: int, indexes: Sequence[int], forgotten: Sequence[int] = ()) -> FetchRequest:
        parts = [FetchPartition(partition=index) for index in indexes]
        forgotten_topics = [ForgottenTopic(topic_id=TOPIC_ID, partitions=list(forgotten))] if forgotten else []
        return FetchRequest(
            session_id=session_id,
            session_epoch=epoch,
            topics=[FetchTopic(topic_id=TOPIC_ID, partitions=parts)] if parts else [],
            forgotten_topics_data=forgotten_topics,
        )

    port.exchange(fetch(0, 0, [0, 1]), FetchResponse(session_id=5), 15)
    assert list(port.relay.session_partitions(5)) == [("", TOPIC_ID, 0), ("", TOPIC_ID, 1)]
    port.exchange(fetch(5, 1, [], [0]), FetchResponse(session_id=5), 15)
    assert list(port.relay.session_partitions(5)) == [("", TOPIC_ID, 1)]
    request = port.relay.with_session_partitions(fetch(5, 2, []))
    assert isinstance(request, FetchRequest) and [row.partition for row in request.topics[0].partitions] == [1]
    port.exchange(fetch(5, -1, []), FetchResponse(), 15)
    assert list(port.relay.session_partitions(5)) == []
