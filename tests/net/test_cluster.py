"""A cluster on TCP ports: the same methods as in the simulator, its nodes' lives, and clients of bare sockets."""

from __future__ import annotations

import inspect
import threading

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, LinkOpened, Node, RequestReceived
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.sim.cluster import Cluster
from kmirror.spec.error_codes import ErrorCode
from tests.net.wire import WITHIN_S, Wire, frame_of

TP = TopicPartition("orders", 0)
QUICK = {
    "broker.session.timeout.ms": "400",
    "broker.heartbeat.interval.ms": "50",
    "request.timeout.ms": "1000",
    "replica.fetch.backoff.ms": "20",
}
"""A broker that was killed is fenced soon."""


def cluster(brokers: int, **more: object) -> TcpCluster:
    made: TcpCluster = TcpCluster(brokers=brokers, on_failure=OnFailure.RAISE, **more)  # type: ignore[arg-type]
    return made


def values(of: TcpCluster, tp: TopicPartition = TP) -> list[bytes | None]:
    return [record.value for record in of.read(tp)]


def public_methods(kind: type) -> dict[str, list[str]]:
    """Return the public methods of a class with the names of their parameters."""
    methods = inspect.getmembers(kind, callable)
    return {name: list(inspect.signature(call).parameters) for name, call in methods if not name.startswith("_")}


def test_both_clusters_have_the_same_words() -> None:
    simulated, served = public_methods(Cluster), public_methods(TcpCluster)
    alike = {name for name in simulated if name in served}
    assert alike >= {"start", "stop", "kill", "restart", "runs", "living", "leader", "replicas", "topics", "partitions"}
    assert alike >= {"create_topic", "produce", "read", "order", "process", "endpoint", "broker", "is_settled"}
    differing = {name for name in alike if simulated[name] != served[name]}
    assert differing == {"kill"}, "only a simulated disk can lose its power"


@pytest.mark.parametrize("brokers", [1, 3])
def test_written_records_can_be_read_and_persist(brokers: int) -> None:
    with cluster(brokers, topics={"orders": 2}) as served:
        assert served.topics() == ["orders"]
        assert served.partitions() == [TopicPartition("orders", n) for n in range(2)]
        assert served.produce("orders", 0, [b"one", b"two"]) == 0
        assert served.produce("orders", 0, [b"three"]) == 2
        assert values(served) == [b"one", b"two", b"three"]
        leader = served.leader(TP)
        assert leader is not None
        assert sorted(served.replicas(TP)) == list(served.broker_ids)
        servers = served.bootstrap_servers
        served.stop()
        assert served.living() == []
        served.start()
        assert served.bootstrap_servers == servers
        assert values(served) == [b"one", b"two", b"three"]


def test_a_killed_leader_is_replaced_and_comes_back() -> None:
    with cluster(3, topics=["orders"], configs=QUICK) as served:
        served.produce("orders", 0, [b"one"])
        first = served.image.topics["orders"].partitions[0].leader
        served.kill(first)
        assert first not in served.living()
        served.until(lambda: served.leader(TP) is not None, what="another leader")
        assert served.produce("orders", 0, [b"two"]) == 1
        served.restart(first)
        served.until(served.is_settled, what="a full ISR")
        assert values(served) == [b"one", b"two"]
        assert {p.log.log_end_offset for p in served.replicas(TP).values()} == {2}


def test_a_broker_that_stops_hands_its_leaderships_over_first() -> None:
    with cluster(3, topics={"orders": 3}, configs=QUICK) as served:
        served.stop(1)
        # No session had to end: at the return every partition has another leader.
        assert all(served.leader(tp) is not None for tp in served.partitions())
        with Wire(str(served.endpoint(2))) as wire:
            answer = wire.ask(MetadataRequest(topics=None), 9)
        assert isinstance(answer, MetadataResponse)
        assert [broker.node_id for broker in answer.brokers] == [2, 3]


def test_clients_get_the_advertised_host() -> None:
    with cluster(1, host="127.0.0.1", advertised_host="localhost") as served:
        with Wire(f"127.0.0.1:{served.endpoint(1).port}") as wire:
            answer = wire.ask(MetadataRequest(topics=[]), 9)
        assert isinstance(answer, MetadataResponse)
        assert (answer.brokers[0].host, answer.brokers[0].port) == tuple(served.endpoint(1))
        assert served.endpoint(1).host == "localhost"


def test_requests_on_one_link_are_answered_in_order() -> None:
    with cluster(1) as served, Wire(served.bootstrap_servers) as wire:
        wire.send(b"".join(frame_of(ApiVersionsRequest(), 3, number) for number in range(500)))
        assert [int.from_bytes(wire.frame()[:4], "big") for _ in range(500)] == list(range(500))


def test_an_unknown_api_versions_version_keeps_the_link_open() -> None:
    with cluster(1) as served, Wire(served.bootstrap_servers) as wire:
        frame = bytearray(frame_of(ApiVersionsRequest(), 4, 7))
        frame[6:8] = (99).to_bytes(2, "big")
        wire.send(bytes(frame))
        assert wire.frame()[4:6] == int(ErrorCode.UNSUPPORTED_VERSION).to_bytes(2, "big")
        assert isinstance(wire.ask(ApiVersionsRequest(), 4), ApiVersionsResponse)


def test_nodes_can_be_wrapped() -> None:
    seen: list[tuple[str, Event]] = []

    class Watched:
        def __init__(self, name: str, node: Node) -> None:
            self._name, self._node = name, node

        def handle(self, now: Instant, event: Event) -> list[Effect]:
            seen.append((self._name, event))
            return self._node.handle(now, event)

    with cluster(1, interpose=Watched) as served:
        served.create_topic("orders")
        assert isinstance(served.broker(1), Broker)
    assert {name for name, event in seen if isinstance(event, RequestReceived)} == {"kafka-1", "kafka-controller"}


def test_failures_of_nodes_are_reported() -> None:
    class Broken:
        def __init__(self, _: str, node: Node) -> None:
            self._node = node

        def handle(self, now: Instant, event: Event) -> list[Effect]:
            raise ArithmeticError("a bug")

    with pytest.raises(ArithmeticError, match="a bug"):
        cluster(1, interpose=Broken).start()


def test_a_broker_that_breaks_down_while_it_serves_ends_the_cluster() -> None:
    class Fragile:
        def __init__(self, _: str, node: Node) -> None:
            self._node = node

        def handle(self, now: Instant, event: Event) -> list[Effect]:
            if isinstance(event, LinkOpened) and event.address.port:
                raise ArithmeticError("a bug")
            return self._node.handle(now, event)

    failure_noted = threading.Event()
    with cluster(1, interpose=Fragile) as served:
        served.on_note.append(lambda process, note: failure_noted.set() if served.has_failed else None)
        with Wire(served.bootstrap_servers) as wire:
            assert wire.is_closed()
        assert failure_noted.wait(WITHIN_S)
        assert served.ended_nodes == {"kafka-1": "ArithmeticError('a bug')"}
        with pytest.raises(ArithmeticError, match="a bug"):
            served.create_topic("orders")


def test_no_thread_is_left_behind() -> None:
    before = set(threading.enumerate())
    with cluster(3):
        assert set(threading.enumerate()) != before
    assert set(threading.enumerate()) == before


def test_user_errors_are_reported() -> None:
    served = cluster(1)
    with pytest.raises(UsageError, match="has no ports yet: use it in a `with` block, or call start"):
        _ = served.bootstrap_servers
    with pytest.raises(UsageError, match="was not started"):
        served.create_topic("orders")
    with served:
        with pytest.raises(UsageError, match="is already running: nodes"):
            served.start()
        with pytest.raises(UsageError, match=r"kafka-1 is already running: call kill\(1\) or stop\(1\) first"):
            served.restart(1)
        with pytest.raises(UsageError, match="has no node 7"):
            served.kill(7)
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            served.read(TP)
        with pytest.raises(KafkaError, match=r"timed out after 0 s waiting for what never comes"):
            served.until(lambda: False, within_s=0, what="what never comes")
        with pytest.raises(UsageError, match="cannot block on the cluster"):
            served.run_on_loop(lambda: served.create_topic("orders"))
        served.kill(1)
        with pytest.raises(UsageError, match=r"kafka-1 is not running: call restart\(1\)"):
            served.stop(1)
    for wrong, text in [
        ({"brokers": 0}, "brokers must be an integer from 1"),
        ({"brokers": 2, "port": 65535}, "port must be an integer from 0 to 65534"),
        ({"host": "0.0.0.0"}, "no client can connect to 0.0.0.0: set the name"),
        ({"topics": "orders"}, r"such as \['orders'\]"),
        ({"configs": {"max.conections": "1"}}, "did you mean max.connections"),
    ]:
        with pytest.raises(UsageError, match=text):
            TcpCluster(**wrong)  # type: ignore[arg-type]


def test_two_clusters_cannot_have_one_port() -> None:
    with cluster(1) as first:
        port = first.endpoint(1).port
        second = cluster(1, port=port)
        with pytest.raises(UsageError, match=f"cannot listen at 127.0.0.1:{port}"):
            second.start()
    with second:
        assert second.endpoint(1).port == port
    assert CONTROLLER_ID not in second.broker_ids
