"""Hostile, broken, slow and silent peers harm only themselves: others are served, memory stays bounded.

`KMIRROR_HOSTILE_FRAMES` sets the number of mutated frames over TCP: 2 000 by default, 100 000 for the long run.
"""

from __future__ import annotations

import os
import resource
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.net.cluster import TcpCluster
from kmirror.net.links import TcpLink
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.registry import by_key
from kmirror.spec.apis import ROWS
from tests.net.wire import Wire, frame_of
from tests.sim.cluster.random_requests import Generator

FRAMES = int(os.environ.get("KMIRROR_HOSTILE_FRAMES", "2000"))
TP = TopicPartition("orders", 0)
CONTENT = 1 << 20
LEFT_OUT = ("CreateTopics", "CreatePartitions", "DeleteTopics")
"""Requests that may make the cluster grow, or delete the topic of the honest client."""


@pytest.fixture
def served() -> Iterator[TcpCluster]:
    with TcpCluster(brokers=1, topics=["orders"], configs={"message.max.bytes": "2000000"}) as cluster:
        yield cluster
        assert cluster.failures == []


def is_served(cluster: TcpCluster) -> bool:
    """Return whether an honest client gets a response."""
    with Wire(cluster.bootstrap_servers) as wire:
        answer = wire.ask(MetadataRequest(topics=None), 9)
    return isinstance(answer, MetadataResponse) and [t.name for t in answer.topics if t.name == "orders"] == ["orders"]


def links(cluster: TcpCluster) -> list[TcpLink]:
    """Return the broker's connections."""
    host = cluster._host
    assert host is not None
    inbound = host.processes[cluster.process(1)].inbound
    return cluster.run_on_loop(lambda: [link for link in inbound.values() if isinstance(link, TcpLink)])


def topic_id(cluster: TcpCluster) -> Uuid:
    return cluster.image.topics["orders"].topic_id


def fetch(cluster: TcpCluster, number: int) -> bytes:
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=2 * CONTENT,
        topics=[
            FetchTopic(
                topic_id=topic_id(cluster),
                partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=2 * CONTENT)],
            )
        ],
    )
    return frame_of(request, 13, number)


def garbage(rng: Rng, generator: Generator) -> bytes:
    """Return bytes for a connection: a request with a few bytes changed, perhaps in its length."""
    row = rng.choice([row for row in ROWS if "broker" in row.roles and row.name not in LEFT_OUT])
    version = rng.between(row.first, row.last)
    body = encode_request(generator.message(by_key(row.key).request, version), version, correlation_id=1, client_id="c")
    frame = bytearray(len(body).to_bytes(4, "big") + body)
    for _ in range(rng.between(0, 3)):
        frame[rng.below(len(frame))] = rng.below(256)
    return bytes(frame[: rng.below(len(frame) + 1)] if rng.chance(1, 4) else frame)


def test_mutated_frames_cost_their_own_connection(served: TcpCluster) -> None:
    served.produce("orders", 0, [b"kept"])
    rng = Rng(16)
    generators = [Generator(rng.split(str(meant)), served, well_meant=meant) for meant in (True, False)]  # type: ignore[arg-type]
    sent = 0
    while sent < FRAMES:
        with Wire(served.bootstrap_servers) as wire:
            count = rng.between(1, 3)
            try:
                wire.send(b"".join(garbage(rng, rng.choice(generators)) for _ in range(count)))
                if rng.chance(3, 4):
                    wire.socket.shutdown(1)
                    wire.is_closed()
            except (BrokenPipeError, ConnectionResetError):
                pass  # It was closed before all was sent.
            sent += count
        if sent % 500 < 3:
            assert is_served(served)
    assert is_served(served)
    served.until(lambda: not links_now(served), what="the connections to be gone")
    assert served.failures == []


def links_now(served: TcpCluster) -> list[TcpLink]:
    """Return the broker's connections, on the cluster's thread."""
    assert served._host is not None
    return [link for link in served._host.processes[served.process(1)].inbound.values() if isinstance(link, TcpLink)]


@pytest.mark.parametrize("prefix", [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"GET / HTTP/1.1\r\n"])
def test_a_length_out_of_bounds_closes_the_connection(served: TcpCluster, prefix: bytes) -> None:
    with Wire(served.bootstrap_servers) as wire:
        wire.send(prefix)
        assert wire.is_closed()
    assert is_served(served)


def test_half_frames_hold_only_their_received_bytes(served: TcpCluster) -> None:
    with ExitStack() as stack:
        half = [stack.enter_context(Wire(served.bootstrap_servers)) for _ in range(50)]
        tracemalloc.start()
        try:
            for wire in half:
                wire.send((100 << 20).to_bytes(4, "big") + b"x" * 10_000)  # 5 GB in all, as claimed.
            served.until(lambda: sum(link.received == 10_004 for link in links_now(served)) == 50, what="all of it")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 50 * (2 << 20)
        assert is_served(served)


def test_thousands_of_idle_connections_hold_little_and_others_are_served(served: TcpCluster) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(3_000, (hard if hard > 0 else 1 << 16) // 2 - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * count + 400, hard), hard))
    try:
        with ExitStack() as stack:
            tracemalloc.start()
            try:
                for _ in range(count):
                    stack.enter_context(Wire(served.bootstrap_servers))
                served.until(lambda: len(links_now(served)) == count, what="all connections")
                held, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert held / count < 8_000, "bytes for both ends of a connection"
            assert is_served(served)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    served.until(lambda: not links_now(served), what="all connections to be gone")


def test_a_slow_client_is_not_read_from_and_gets_all_responses_later(served: TcpCluster) -> None:
    served.produce("orders", 0, [b"x" * CONTENT])
    with Wire(served.bootstrap_servers) as slow:
        count = 60
        for number in range(count):
            slow.send(fetch(served, number))
        served.until(lambda: any(link.waiting_bytes for link in links(served)), what="an answer that is not taken")
        assert is_served(served)
        # Of sixty responses of a megabyte, only those of one turn wait in the process.
        assert max(link.waiting_bytes for link in links(served)) < 4 * CONTENT
        for number in range(count):
            frame = slow.frame()
            assert int.from_bytes(frame[:4], "big") == number
            response = decode_response(frame, 1, 13).body
            assert isinstance(response, FetchResponse)
            assert len(response.responses[0].partitions[0].records or b"") > CONTENT
    served.until(lambda: not links_now(served), what="the connection to be gone")


def test_a_client_that_leaves_with_responses_in_flight_harms_no_other(served: TcpCluster) -> None:
    served.produce("orders", 0, [b"x" * CONTENT])
    for _ in range(20):
        with Wire(served.bootstrap_servers) as rude:
            rude.send(b"".join(fetch(served, number) for number in range(20)))
    served.until(lambda: not links_now(served), what="the connections to be gone")
    assert is_served(served)
