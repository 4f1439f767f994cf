"""A broker with several listeners, in the simulator and over TCP: who asks at one is answered with that one.

CLIENTS and SECOND are for clients, BROKERS is for the brokers, and the controller has one of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.images import NO_LEADER
from kmirror.errors import UsageError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, LinkOpened, Node
from kmirror.kernel.ids import ANONYMOUS, Endpoint, TopicPartition
from kmirror.kernel.wrapping import Wrapper
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.message import Message
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, ResourceType
from tests.acls import ACL_CONFIGS, deny
from tests.builders import batch
from tests.net.wire import Wire

LISTENERS = ("CLIENTS", "SECOND", "BROKERS")
CONFIGS = {"inter.broker.listener.name": "BROKERS"}
TOPIC = "orders"
TP = TopicPartition(TOPIC, 0)
Ask = Callable[[Endpoint, Message, int], Any]


class Opened:
    """Record the process, the listener and the principal of each link that is opened."""

    def __init__(self) -> None:
        self.links: dict[tuple[str, str], str] = {}
        """(process, listener) to the principal."""

    def __call__(self, name: str, node: Node) -> Node:
        links = self.links

        class Around(Wrapper):
            def handle(self, now: Instant, event: Event) -> list[Effect]:
                if isinstance(event, LinkOpened):
                    links[name, event.listener] = str(event.principal)
                return super().handle(now, event)

        return Around(node)


class Running(Protocol):
    """One of the two clusters."""

    def __call__(self, **options: Any) -> Any: ...


@contextmanager
def simulated(**options: Any) -> Iterator[tuple[Cluster, Ask]]:
    with Cluster(Simulation(4), "a", brokers=2, listeners=LISTENERS, **options) as cluster:
        yield cluster, cluster.client.call


@contextmanager
def on_ports(**options: Any) -> Iterator[tuple[TcpCluster, Ask]]:
    links: dict[Endpoint, Wire] = {}

    def ask(endpoint: Endpoint, body: Message, version: int) -> Message:
        if endpoint not in links:
            links[endpoint] = Wire(str(endpoint))
        return links[endpoint].ask(body, version)

    with TcpCluster(brokers=2, listeners=LISTENERS, **options) as cluster:
        try:
            yield cluster, ask
        finally:
            for link in links.values():
                link.close()


@pytest.fixture(params=[simulated, on_ports])
def running(request: pytest.FixtureRequest) -> Running:
    found: Running = request.param
    return found


def wait_until(cluster: Cluster | TcpCluster, condition: Callable[[], bool], what: str) -> None:
    if isinstance(cluster, Cluster):
        cluster.simulation.run_until(condition, what=what)
    else:
        cluster.until(condition, what=what)


def endpoints(cluster: Cluster | TcpCluster, listener: str) -> dict[int, Endpoint]:
    return {broker_id: cluster.endpoint(broker_id, listener) for broker_id in cluster.broker_ids}


def brokers_by_id(rows: Any) -> dict[int, Endpoint]:
    """Return the brokers of an answer, by their ids."""
    return {row.node_id if hasattr(row, "node_id") else row.broker_id: Endpoint(row.host, row.port) for row in rows}


def test_a_client_gets_the_endpoints_of_its_own_listener(running: Running) -> None:
    opened = Opened()
    with running(configs=CONFIGS, interpose=opened) as (cluster, ask):
        cluster.create_topic(TOPIC)
        leader = cluster.leader(TP).broker_id
        for listener in LISTENERS:
            here = endpoints(cluster, listener)
            for at in here.values():
                for version in (0, 5, 12, 12):  # The second one in a version is kept.
                    reply = ask(at, MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)]), version)
                    assert brokers_by_id(reply.brokers) == here
                    assert reply.topics[0].partitions[0].leader_id == leader
                assert brokers_by_id(ask(at, DescribeClusterRequest(), 1).brokers) == here
                until_found(cluster, ask, at, here)
        assert len({at for listener in LISTENERS for at in endpoints(cluster, listener).values()}) == 6
        cluster.produce(TOPIC, 0, [b"a"])
        wait_until(cluster, lambda: len(cluster.leader(TP).image.isr) == 2, "a full ISR")
        controller = cluster.process(CONTROLLER_ID)
        assert {listener for process, listener in opened.links if process == controller} == {"CONTROLLER"}
        brokers = {listener for process, listener in opened.links if process != controller}
        assert brokers == set(LISTENERS) and set(opened.links.values()) == {str(ANONYMOUS)}


def until_found(cluster: Cluster | TcpCluster, ask: Ask, at: Endpoint, here: dict[int, Endpoint]) -> None:
    """Ask for a group's coordinator until there is one; it is at the same listener."""
    for _ in range(200):
        (found,) = ask(at, FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4).coordinators
        if not found.error_code:
            assert Endpoint(found.host, found.port) == here[found.node_id]
            return
        wait_until(cluster, lambda: cluster.is_settled(), "leaders")
    raise AssertionError("no coordinator")


def test_brokers_use_only_their_own_listener_between_them() -> None:
    seen: dict[str, None] = {}
    with simulated(configs=CONFIGS) as (cluster, _):
        watch = cluster.simulation.world.on_frame
        watch.append(lambda _, link, __: seen.setdefault(f"{link.client} {link.server} {link.listener.name}"))
        cluster.create_topic(TOPIC)
        cluster.produce(TOPIC, 0, [b"a"])
    between = {text for text in seen if text.startswith(("a-1 a-2", "a-2 a-1"))}
    assert between and all(text.endswith(" BROKERS") for text in between)
    assert {text for text in seen if " a-controller " in text} == {
        f"a-{broker_id} a-controller CONTROLLER" for broker_id in (1, 2)
    }


def test_a_broker_registers_its_listeners(running: Running) -> None:
    with running(configs=CONFIGS) as (cluster, ask):
        keys = ["listeners", "advertised.listeners", "listener.security.protocol.map", "inter.broker.listener.name"]
        resource = DescribeConfigsResource(
            resource_type=ResourceType.BROKER, resource_name="1", configuration_keys=sorted(keys)
        )
        (result,) = ask(cluster.endpoint(1), DescribeConfigsRequest(resources=[resource]), 4).results
        values = {row.name: row.value for row in result.configs}
        text = ",".join(f"{listener}://{cluster.endpoint(1, listener)}" for listener in LISTENERS)
        assert values == {
            "listeners": text,
            "advertised.listeners": text,
            "listener.security.protocol.map": "CLIENTS:PLAINTEXT,SECOND:PLAINTEXT,BROKERS:PLAINTEXT",
            "inter.broker.listener.name": "BROKERS",
        }


def test_fast_paths_obey_acls_at_every_listener(running: Running) -> None:
    with running(configs={**CONFIGS, **ACL_CONFIGS}) as (cluster, ask):
        for name in (TOPIC, "secret"):
            cluster.create_topic(name)

        def answers(listener: str) -> tuple[list[int], list[int], list[str]]:
            """Return errors of two equal produces and of two equal fetches, and the topics in Metadata."""
            errors: tuple[list[int], list[int]] = ([], [])
            for name in (TOPIC, TOPIC, "secret", "secret"):
                at = cluster.endpoint(cluster.leader(TopicPartition(name, 0)).broker_id, listener)
                rows = [PartitionProduceData(index=0, records=batch())]
                wrote = ask(at, ProduceRequest(None, 1, 1_000, [TopicProduceData(name, partition_data=rows)]), 9)
                errors[0].append(wrote.responses[0].partition_responses[0].error_code)
                read = FetchRequest(session_epoch=-1, max_bytes=1 << 20)
                parts = [FetchPartition(partition=0, partition_max_bytes=1 << 20)]
                read.topics = [FetchTopic(topic=name, partitions=parts)]
                errors[1].append(ask(at, read, 12).responses[0].partitions[0].error_code)
            replies = [ask(cluster.endpoint(1, listener), MetadataRequest(topics=None), 12) for _ in range(2)]
            assert replies[0] == replies[1]
            return *errors, sorted(topic.name for topic in replies[0].topics)

        free = [ErrorCode.NONE] * 4
        for listener in LISTENERS:
            assert answers(listener) == (free, free, [TOPIC, "secret"])
        operations = (AclOperation.WRITE, AclOperation.READ, AclOperation.DESCRIBE)
        records = [deny(number, operation, "secret") for number, operation in enumerate(operations)]
        commit(cluster, records)
        denied = [ErrorCode.NONE] * 2 + [ErrorCode.TOPIC_AUTHORIZATION_FAILED] * 2
        for listener in LISTENERS:
            assert answers(listener) == (denied, denied, [TOPIC])


def commit(cluster: Cluster | TcpCluster, records: list[Any]) -> None:
    """Write records to the metadata log, and wait until every broker knows of them."""

    def write() -> None:
        controller = cluster.controller
        now = cluster.simulation.world.now if isinstance(cluster, Cluster) else cluster._now()
        controller.commit(now, records)

    if isinstance(cluster, Cluster):
        write()
    else:
        cluster.run_on_loop(write)
    brokers = [cluster.broker(broker_id) for broker_id in cluster.broker_ids]
    wait_until(
        cluster, lambda: all(len(each.context.image.acls.latest) == len(records) for each in brokers), "the ACLs"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"listeners": ()}, "listeners must be one or more distinct names"),
        ({"listeners": ("A", "A")}, "listeners must be one or more distinct names"),
        ({"listeners": ("A:B",)}, "invalid listener name"),
        ({"listeners": ("CONTROLLER",)}, "invalid listener name"),
        ({"listeners": "CLIENTS"}, "listeners takes a list of names"),
    ],
)
def test_names_of_listeners_are_checked(options: dict[str, Any], reason: str) -> None:
    for make in (lambda: Cluster(Simulation(1), "a", **options), lambda: TcpCluster(**options)):
        with pytest.raises(UsageError, match=re.escape(reason)):
            make()


def test_the_listener_for_brokers_is_one_of_them() -> None:
    a = Cluster(Simulation(1), "a", brokers=1, configs={"inter.broker.listener.name": "NONE"})
    with pytest.raises(UsageError, match="name is NONE, and the listeners are PLAINTEXT"):
        a.start()
    with pytest.raises(UsageError, match="a-1 has no listener 'SECOND', only PLAINTEXT"):
        a.endpoint(1, "SECOND")


def test_a_leader_that_a_client_cannot_reach_is_none_to_it() -> None:
    """One broker has lost a listener, as in the midst of a rolling change of its configs."""
    with simulated(configs=CONFIGS) as (cluster, ask):
        cluster.create_topic(TOPIC)
        leader = cluster.leader(TP).broker_id
        other = 3 - leader
        del cluster.broker(other).context.image.brokers[leader].endpoints["SECOND"]  # type: ignore[attr-defined]
        topics = [MetadataRequestTopic(name=TOPIC)]
        for version, error in ((5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)):
            reply = ask(cluster.endpoint(other, "SECOND"), MetadataRequest(topics=topics), version)
            (row,) = reply.topics[0].partitions
            assert (row.error_code, row.leader_id, row.offline_replicas) == (error, NO_LEADER, (leader,))
            assert [broker.node_id for broker in reply.brokers] == [other]
            reply = ask(cluster.endpoint(other, "CLIENTS"), MetadataRequest(topics=topics), version)
            assert reply.topics[0].partitions[0].leader_id == leader
