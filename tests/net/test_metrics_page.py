"""The metrics page over HTTP: the content for Prometheus, and limits for bad clients."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from kmirror.assembly.metrics import OPEN_METRICS_CONTENT_TYPE, PLAIN_CONTENT_TYPE
from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.net import metrics_page
from kmirror.net.cluster import TcpCluster
from kmirror.net.node import NodePlan, TcpNode
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.headers import encode_request

ANY = ListenerSpec.plain(Endpoint("127.0.0.1", 0))


@pytest.fixture(scope="module")
def cluster() -> Iterator[TcpCluster]:
    with TcpCluster(brokers=2, topics={"orders": 3}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def page(cluster: TcpCluster) -> str:
    return cluster.serve_metrics()


def ask(page: str, method: str = "GET", path: str = "/metrics", **headers: str) -> tuple[HTTPResponse, bytes]:
    at = urlsplit(page)
    connection = HTTPConnection(at.hostname or "", at.port or 0, timeout=10)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    return response, response.read()


def connected(page: str) -> socket.socket:
    at = urlsplit(page)
    return socket.create_connection((at.hostname, at.port), timeout=10)


def test_a_scrape_gets_the_numbers_of_all_nodes(page: str) -> None:
    response, body = ask(page)
    assert (response.status, response.headers["Content-Type"]) == (200, PLAIN_CONTENT_TYPE)
    found = {one.name: one for one in families(body.decode())}
    leaders = {s.labels["node_id"]: s.value for s in found["kafka_server_replicamanager_leadercount"].samples}
    assert leaders.keys() == {"1", "2"} and sum(leaders.values()) >= 3
    assert [s.value for s in found["kafka_controller_kafkacontroller_activecontrollercount"].samples] == [1]


def test_clients_that_accept_open_metrics_get_it(page: str) -> None:
    response, body = ask(page, Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert response.headers["Content-Type"] == OPEN_METRICS_CONTENT_TYPE and body.endswith(b"# EOF\n")


def test_other_requests_get_ordinary_http_responses(page: str) -> None:
    assert ask(page, path="/nosuch")[0].status == 404
    response, body = ask(page, path="/")
    assert response.status == 200 and b'<a href="/metrics">' in body
    assert ask(page, "POST")[0].status == 405
    response, body = ask(page, "HEAD")
    assert response.status == 200 and int(response.headers["Content-Length"]) > 1_000 and not body
    assert ask(page, path="/metrics?name[]=x")[0].status == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"hello\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", b"431"),
        (b"GET /metrics HTTP/1.1\r\n\r\n" + b"x" * 300_000, b"200"),
    ],
)
def test_a_bad_client_gets_its_response_and_is_disconnected(page: str, sent: bytes, status: bytes) -> None:
    with connected(page) as peer:
        peer.sendall(sent)
        peer.shutdown(socket.SHUT_WR)
        response = b""
        while chunk := peer.recv(1 << 16):
            response += chunk
    assert response.split(b" ")[1] == status
    assert ask(page)[0].status == 200


def test_silent_peers_do_not_keep_others_out_for_good(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_page, "WITHIN_S", 0.2)
    silent = [connected(page) for _ in range(metrics_page.CONNECTIONS_MAX)]
    try:
        for peer in silent:
            assert peer.recv(1) == b"", "its time is over"
        assert ask(page)[0].status == 200
    finally:
        for peer in silent:
            peer.close()


def test_a_port_in_use_is_reported(cluster: TcpCluster, page: str) -> None:
    with pytest.raises(UsageError, match="already serves its metrics"):
        cluster.serve_metrics()
    with TcpCluster(brokers=1) as other, pytest.raises(UsageError, match=r"cannot listen at .* for metrics"):
        other.serve_metrics(port=urlsplit(page).port or 0)


def test_a_single_node_has_a_page_too() -> None:
    plan = NodePlan(node_id=7, listeners=(ANY,), controller_listener=ANY._replace(name="CONTROLLER"))
    with TcpNode(plan) as node:
        node.wait()
        body = ask(node.serve_metrics())[1].decode()
    assert 'kafka_server_replicamanager_leadercount{node_id="7"}' in body
    assert 'kafka_controller_kafkacontroller_activecontrollercount{node_id="7"} 1' in body


def send_to(at: Endpoint, frame: bytes) -> None:
    """Send a request to a node, and wait for its response."""
    with socket.create_connection((at.host, at.port), timeout=10) as link:
        link.sendall(len(frame).to_bytes(4, "big") + frame)
        assert link.recv(1 << 16)


def test_broker_and_controller_of_one_process_share_meters() -> None:
    """As in Kafka; Prometheus refuses a page with a duplicate series."""
    plan = NodePlan(node_id=7, listeners=(ANY,), controller_listener=ANY._replace(name="CONTROLLER"))
    frame = encode_request(CreateMirrorRequest(mirror_name="m"), 0, correlation_id=1, client_id="c")
    with TcpNode(plan) as node:
        node.wait()
        assert node.endpoint is not None
        for at in (node.endpoint, node.endpoint, node.controller_endpoint):
            send_to(at, frame)
        metrics = node.metrics()
        assert metrics.total("RequestsPerSec", request="CreateMirror") == 3
        (sizes,) = metrics.find("RequestBytes", request="CreateMirror")
        assert (sizes.value, sizes.attributes["Mean"]) == (3, len(frame))
        (times,) = metrics.find("TotalTimeMs", request="CreateMirror")
        assert times.value == 3
        page = [line.rsplit(" ", 1)[0] for line in metrics.page().splitlines() if not line.startswith("#")]
    assert len(page) == len(set(page))
