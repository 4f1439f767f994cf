"""A proxy in front of a cluster on TCP ports: transparent, and one story for each kind of rule."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kmirror.testing
from kmirror.errors import UsageError
from kmirror.kernel.events import Node
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.proxy.mutating import MutatedFrame, MutatingNode
from kmirror.proxy.proxy import Proxy
from kmirror.proxy.recording import TrafficRecorder, read_recording
from kmirror.proxy.replay import replay
from kmirror.proxy.traffic import Exchange, Summary, TrafficNode
from kmirror.spec.error_codes import ErrorCode
from tests.builders import batch_of
from tests.net.test_cluster import QUICK, TP, cluster, values
from tests.net.wire import Wire, frame_of


@pytest.fixture
def served() -> Iterator[TcpCluster]:
    with cluster(1, topics={"orders": 2, "other": 1}, configs=QUICK) as c:
        yield c


@pytest.fixture
def exchanges() -> list[Exchange]:
    """Return the exchanges through the broker's port, in the order in which they ended."""
    return []


@pytest.fixture
def proxy(served: TcpCluster, exchanges: list[Exchange]) -> Iterator[Proxy]:
    def interpose(name: str, node: Node) -> Node:
        return TrafficNode(name, node, exchanges.append)

    with Proxy(served.bootstrap_servers, interpose=interpose) as p:
        yield p
        assert not p.ended_nodes


class Client:
    """A producer and consumer of bare requests, with or without the proxy."""

    def __init__(self, bootstrap: str, client_id: str = "wire") -> None:
        self.bootstrap = bootstrap.split(",")[0]
        self.client_id = client_id
        self.producer_id = -1
        self.sequence = 0
        self._link: Wire | None = None

    @property
    def link(self) -> Wire:
        """Return a connection to the broker that leads everything; it is reopened if it was closed."""
        if self._link is None:
            with Wire(self.bootstrap) as wire:
                topics = [MetadataRequestTopic(name="orders")]
                response = wire.ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 9)
                assert isinstance(response, MetadataResponse)
            self._link = Wire(f"{response.brokers[0].host}:{response.brokers[0].port}")
        return self._link

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def init(self) -> None:
        response = self.link.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 4)
        assert isinstance(response, InitProducerIdResponse) and not response.error_code
        self.producer_id = response.producer_id

    def request(self, value: bytes, topic: str = "orders", partition: int = 0, acks: int = -1) -> ProduceRequest:
        ids: dict[str, Any] = {"producer_id": self.producer_id, "producer_epoch": 0, "base_sequence": self.sequence}
        records = batch_of(value, **ids) if self.producer_id >= 0 else batch_of(value)
        rows = [PartitionProduceData(index=partition, records=records)]
        return ProduceRequest(
            acks=acks, timeout_ms=5000, topic_data=[TopicProduceData(name=topic, partition_data=rows)]
        )

    def produce(self, value: bytes, topic: str = "orders", partition: int = 0) -> ErrorCode | None:
        """Write a record; return the error, or None if the link was closed without a response."""
        try:
            response = self.link.ask(self.request(value, topic, partition), 9)
        except ConnectionError:
            self.close()
            return None
        assert isinstance(response, ProduceResponse)
        return ErrorCode(response.responses[0].partition_responses[0].error_code)

    def fetch(self, *, session: tuple[int, int] = (0, -1), wait_ms: int = 0) -> FetchResponse:
        rows = [] if session[1] > 0 else [FetchPartition(partition=0, partition_max_bytes=1 << 20)]
        topics = [FetchTopic(topic="orders", partitions=rows)] if rows else []
        session_id, epoch = session
        request = FetchRequest(
            max_wait_ms=wait_ms, min_bytes=1, topics=topics, session_id=session_id, session_epoch=epoch
        )
        response = self.link.ask(request, 12)
        assert isinstance(response, FetchResponse)
        return response

    def records(self) -> bytes:
        found = self.fetch().responses[0].partitions[0].records
        return bytes(found or b"")


@pytest.fixture
def client(proxy: Proxy) -> Iterator[Client]:
    opened = Client(proxy.bootstrap_servers)
    yield opened
    opened.close()


def test_clients_are_led_to_ports_of_the_proxy_and_records_are_the_same_bytes(
    served: TcpCluster, proxy: Proxy, client: Client
) -> None:
    assert client.produce(b"a") is ErrorCode.NONE
    direct = Client(served.bootstrap_servers)
    assert client.records() == direct.records() != b""
    assert proxy.brokers.keys() == {1} and proxy.brokers[1] != served.endpoint(1)
    with Wire(proxy.bootstrap_servers) as wire:
        response = wire.ask(ApiVersionsRequest(), 2)
    with Wire(served.bootstrap_servers) as wire:
        assert wire.ask(ApiVersionsRequest(), 2) == response
    direct.close()


def test_three_brokers_have_three_ports() -> None:
    with cluster(3, topics={"orders": 1}) as c, kmirror.testing.proxy(c.bootstrap_servers) as p:
        assert len(p.bootstrap_servers.split(",")) == 3
        Client(p.bootstrap_servers).link.close()
        assert sorted(p.brokers) == [1, 2, 3]
        assert len({*p.brokers.values(), *(c.endpoint(n) for n in c.broker_ids)}) == 6


def test_an_error_is_injected_once_and_the_broker_knows_nothing_of_it(
    served: TcpCluster, proxy: Proxy, client: Client
) -> None:
    proxy.inject(ErrorCode.NOT_LEADER_OR_FOLLOWER, api="Produce", times=1)
    assert client.produce(b"a") is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert values(served) == []
    assert client.produce(b"a") is ErrorCode.NONE
    assert values(served) == [b"a"]


def test_an_error_after_the_broker_acted(served: TcpCluster, proxy: Proxy, client: Client) -> None:
    """An idempotent producer sends the same batch again: the broker knows it, and there is no duplicate."""
    client.init()
    proxy.inject(ErrorCode.REQUEST_TIMED_OUT, api="Produce", times=1, applied=True)
    assert client.produce(b"a") is ErrorCode.REQUEST_TIMED_OUT
    assert values(served) == [b"a"]
    assert client.produce(b"a") is ErrorCode.NONE
    assert values(served) == [b"a"]


@pytest.mark.parametrize(("applied", "idempotent", "expected"), [(False, False, 1), (True, True, 1), (True, False, 2)])
def test_a_link_that_is_closed_before_or_after_the_broker_acted(
    served: TcpCluster, proxy: Proxy, client: Client, applied: bool, idempotent: bool, expected: int
) -> None:
    """Only a producer without a producer id writes a batch twice if it was written without a response."""
    if idempotent:
        client.init()
    hook = proxy.on("Produce", times=1).close(applied=applied)
    assert client.produce(b"a") is None and hook.count == 1
    assert values(served) == [b"a"] * applied
    assert client.produce(b"a") is ErrorCode.NONE
    assert values(served) == [b"a"] * expected


def test_an_error_for_one_topic_and_partition_only(served: TcpCluster, proxy: Proxy, client: Client) -> None:
    proxy.inject(ErrorCode.MESSAGE_TOO_LARGE, api="Produce", topic="orders", partition=1)
    assert [client.produce(b"a", partition=n) for n in (0, 1)] == [ErrorCode.NONE, ErrorCode.MESSAGE_TOO_LARGE]
    assert client.produce(b"a", topic="other") is ErrorCode.NONE


def test_an_error_within_a_fetch_session(proxy: Proxy, client: Client) -> None:
    """The session's fetches name no topic; it was opened before the rule was added."""
    opened = client.fetch(session=(0, 0))
    assert opened.session_id
    proxy.inject(ErrorCode.OFFSET_OUT_OF_RANGE, api="Fetch", topic="orders", times=1)
    response = client.fetch(session=(opened.session_id, 1), wait_ms=1)
    assert [row.error_code for row in response.responses[0].partitions] == [ErrorCode.OFFSET_OUT_OF_RANGE]


def test_the_nth_each_and_by_probability(proxy: Proxy, client: Client) -> None:
    proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", nth=2, every=3, times=2)
    found = [client.produce(b"a") for _ in range(9)]
    assert [number for number, error in enumerate(found, 1) if error] == [2, 5]
    proxy.clear()
    hook = proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", probability=0.5)
    found = [client.produce(b"a") for _ in range(40)]
    assert 0 < hook.count == sum(map(bool, found)) < 40


def test_by_client_version_and_node(proxy: Proxy, client: Client) -> None:
    hook_for_others = proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", client_id="another")
    hook_for_old_versions = proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", versions=(0, 8))
    hook_for_other_node = proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", node=7)
    assert client.produce(b"a") is ErrorCode.NONE
    assert hook_for_others.count == hook_for_old_versions.count == hook_for_other_node.count == 0
    proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", client_id="wire", versions=(9, 9), node=1)
    assert client.produce(b"a") is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("applied", [False, True])
def test_a_request_or_its_response_is_held(served: TcpCluster, proxy: Proxy, client: Client, applied: bool) -> None:
    held = proxy.on("Produce", times=1).hold(applied=applied)
    done: list[ErrorCode | None] = []
    client.init()  # Connects.
    writer = threading.Thread(target=lambda: done.append(client.produce(b"a")))
    writer.start()
    proxy.until(lambda: len(held.requests) == 1)
    assert values(served) == [b"a"] * applied and done == []
    held.release()
    writer.join()
    assert done == [ErrorCode.NONE] and values(served) == [b"a"]


@pytest.mark.parametrize("applied", [False, True])
def test_a_request_or_its_response_is_late(
    proxy: Proxy, client: Client, exchanges: list[Exchange], applied: bool
) -> None:
    proxy.on("Produce", times=1).delay(60, applied=applied)
    assert client.produce(b"a") is ErrorCode.NONE
    assert [row.latency_ms >= 60 for row in exchanges if row.api == "Produce" and row.latency_ms is not None] == [True]


def test_a_slow_link(proxy: Proxy, client: Client, exchanges: list[Exchange]) -> None:
    proxy.on("Produce", times=1).slow(100_000)
    assert client.produce(bytes(5_000)) is ErrorCode.NONE
    assert [row.latency_ms >= 50 for row in exchanges if row.api == "Produce" and row.latency_ms is not None] == [True]


def test_a_throttled_client_gets_its_throttle_time(proxy: Proxy, client: Client) -> None:
    proxy.on("Fetch").throttle(1234)
    assert client.fetch().throttle_time_ms == 1234


@pytest.mark.parametrize("applied", [False, True])
def test_a_broker_that_never_responds(served: TcpCluster, proxy: Proxy, client: Client, applied: bool) -> None:
    dropped = proxy.on("Produce", times=1).drop(applied=applied)
    client.link.send(frame_of(client.request(b"a"), 9))
    proxy.until(lambda: dropped.count == 1)
    client.link.send(frame_of(MetadataRequest(topics=[]), 9))
    assert not client.link.has_data(0.05)
    client.close()
    assert client.produce(b"b") is ErrorCode.NONE
    assert values(served) == [*[b"a"] * applied, b"b"]


def test_a_client_meets_an_older_broker(proxy: Proxy, client: Client) -> None:
    proxy.cap("Produce", 8)
    proxy.cap("Metadata", 8)
    with Wire(proxy.bootstrap_servers) as wire:
        response = wire.ask(ApiVersionsRequest(), 2)
        assert isinstance(response, ApiVersionsResponse)
        last = {row.api_key: row.max_version for row in response.api_keys}
        assert (last[0], last[3]) == (8, 8)
        with pytest.raises(ConnectionError):
            wire.ask(MetadataRequest(topics=[]), 9)
    proxy.play("2.8")
    with Wire(proxy.bootstrap_servers) as wire:
        response = wire.ask(ApiVersionsRequest(), 2)
        assert isinstance(response, ApiVersionsResponse)
        assert {row.api_key: row.max_version for row in response.api_keys}[1] == 12
    proxy.clear()
    assert client.produce(b"a") is ErrorCode.NONE


def test_requests_of_a_link_reach_the_broker_in_order(served: TcpCluster, proxy: Proxy, client: Client) -> None:
    """Including those that hooks handle, between others that they ignore."""
    proxy.on("Produce", every=3).delay(1)
    frames = []
    for number in range(20):
        frames.append(frame_of(client.request(b"%d" % number), 9, number))
        frames.append(frame_of(MetadataRequest(topics=[]), 9, 1000 + number))
    client.link.send(b"".join(frames))
    responses = [int.from_bytes(client.link.frame()[:4], "big") for _ in frames]
    assert responses == [n for number in range(20) for n in (number, 1000 + number)]
    assert values(served) == [b"%d" % number for number in range(20)]


def test_requests_without_a_response_arrive_although_the_client_leaves(
    served: TcpCluster, proxy: Proxy, client: Client
) -> None:
    client.link.send(frame_of(client.request(b"a", acks=0), 9))
    client.close()
    served.until(lambda: served.broker(1).parts.replicas.partitions[TP].log.log_end_offset == 1, what="the record")
    assert values(served) == [b"a"]


def test_a_broker_that_goes_down_and_returns(served: TcpCluster, proxy: Proxy, client: Client) -> None:
    assert client.produce(b"a") is ErrorCode.NONE
    before = proxy.brokers
    served.kill(1)
    assert client.produce(b"b") is None
    served.restart(1)
    served.until(served.is_settled)
    assert client.produce(b"b") is ErrorCode.NONE
    assert proxy.brokers == before and values(served) == [b"a", b"b"]


# -- reports, records, mutations ----------------------------------------------------------------


def test_exchanges_are_reported_and_counted(proxy: Proxy, client: Client, exchanges: list[Exchange]) -> None:
    proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", times=1)
    assert [client.produce(b"a") for _ in range(2)] == [ErrorCode.INVALID_RECORD, ErrorCode.NONE]
    proxy.on("Produce", times=1).close()
    assert client.produce(b"a") is None
    client.link.send(frame_of(client.request(b"a", acks=0), 9))
    client.fetch()
    summary = Summary()
    for exchange in exchanges:
        summary.add(exchange)
    counts_of = {(line.api, line.version, line.client_id): counts for line, counts in summary.counts.items()}
    counts = counts_of["Produce", 9, "wire"]
    assert (counts.requests, counts.cut, counts.errors) == (4, 1, {"INVALID_RECORD": 1})
    assert counts.latencies.total() == 2, "neither the one that was cut off nor the one without an answer"
    assert counts_of["Metadata", 9, "wire"].requests == 2 and counts_of["Fetch", 12, "wire"].errors == {}


def test_a_record_is_written_and_asked_again(
    served: TcpCluster, proxy: Proxy, client: Client, exchanges: list[Exchange], tmp_path: Path
) -> None:
    path = tmp_path / "record"
    client.produce(b"a")
    client.fetch()
    proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", times=1)
    client.produce(b"b")
    file = TrafficRecorder(path)
    for exchange in exchanges:
        file.add(exchange)
    file.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["api"] for line in lines] == ["Metadata", "Produce", "Fetch", "Produce"]
    assert lines[1]["request"]["topicData"][0]["name"] == "orders" and lines[1]["response"]["throttleTimeMs"] == 0
    assert lines[3]["errors"] == ["INVALID_RECORD"]
    found = list(replay(read_recording(path), served.bootstrap_servers))
    assert [each.is_same for each in found] == [True, True, True, False]
    assert found[3].recorded_errors == ("INVALID_RECORD",) and found[3].errors == ()
    assert values(served) == [b"a", b"a", b"b"]


def test_frames_are_mutated_in_both_directions_and_reported(served: TcpCluster) -> None:
    """With any result: the proxy continues, and so does the broker."""
    broken: list[MutatedFrame] = []

    def interpose(name: str, node: Node) -> Node:
        return MutatingNode(name, node, 7, 3, broken.append)

    with Proxy(served.bootstrap_servers, interpose=interpose) as p:
        at = p.bootstrap_servers
        for number in range(20):
            with Wire(at) as wire:
                wire.socket.settimeout(0.1)
                request = MetadataRequest(topics=[MetadataRequestTopic(name="orders")])
                try:  # The broker may close the connection after the first broken frame.
                    for version in (1, 9, 12):
                        wire.send(frame_of(request, version, number))
                    wire.read(1)
                except (TimeoutError, ConnectionError):
                    pass
        assert not p.ended_nodes
    assert {each.receiver for each in broken} == {"broker", "client"}
    assert all(str(each).startswith(f"frame {each.number} at bootstrap 1, ") for each in broken)
    assert served.produce("orders", 0, [b"a"]) == 0 and not served.failures


# -- errors of users ----------------------------------------------------------------------------


def test_only_loopback_is_proxied_by_default() -> None:
    with pytest.raises(UsageError, match=r"kafka.invalid is not loopback: .* --i-own-this-host"):
        Proxy("kafka.invalid:9092")
    Proxy("kafka.invalid:9092", own_host=True)


def test_a_broker_of_another_machine_is_not_connected_to(served: TcpCluster) -> None:
    """The bootstrap server is at loopback, and names a broker that is not."""
    with cluster(1, advertised_host="192.0.2.1") as c, kmirror.testing.proxy(f"127.0.0.1:{c.endpoint(1).port}") as p:
        notes: list[str] = []
        p.on_note.append(lambda _, note: notes.append(note.text))
        with Wire(p.bootstrap_servers) as wire:
            response = wire.ask(MetadataRequest(topics=[]), 9)
            assert isinstance(response, MetadataResponse)
        with Wire(f"127.0.0.1:{response.brokers[0].port}") as wire:
            assert wire.is_closed()
        assert notes == [f"broker 1 is at {c.endpoint(1)}, which is not loopback: links to it are closed"]


def test_a_port_in_use(served: TcpCluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen at 127.0.0.1:{port}"):
            Proxy(served.bootstrap_servers, port=port).start()


def two_free_ports() -> int:
    """Return the first of two ports that are never assigned to outgoing connections."""
    for port in range(20_011, 30_000, 97):
        try:
            with socket.create_server(("127.0.0.1", port)), socket.create_server(("127.0.0.1", port + 1)):
                return port
        except OSError:
            continue
    raise AssertionError("no two ports are free")


def test_ports_follow_the_first(served: TcpCluster) -> None:
    port = two_free_ports()
    with Proxy(served.bootstrap_servers, port=port) as p:
        assert p.bootstrap_servers == f"127.0.0.1:{port}"
        Client(p.bootstrap_servers).link.close()
        assert p.brokers[1].port == port + 1


def test_an_api_that_is_none(proxy: Proxy) -> None:
    with pytest.raises(UsageError, match="no API is named 'Produced'; did you mean"):
        proxy.inject(ErrorCode.INVALID_RECORD, api="Produced")
    with pytest.raises(UsageError, match="the proxy is already running"):
        proxy.start()
