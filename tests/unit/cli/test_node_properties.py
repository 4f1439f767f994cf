"""A `server.properties` with `process.roles` describes one node; features that kmirror lacks are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kmirror.cli import serve
from kmirror.cli.node_properties import node_plan
from kmirror.cli.serve import description, with_options
from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.net.cluster import TcpCluster
from kmirror.net.node import NodePlan, TcpNode
from kmirror.spec.wire_values import SecurityProtocol
from tests.unit.cli.test_serve_data import properties, refused, run

FILE = Path("server.properties")
BROKER = {
    "process.roles": "broker",
    "node.id": "2",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://:9092",
    "advertised.listeners": "PLAINTEXT://kafka-2:19092",
    "controller.quorum.bootstrap.servers": "kafka-1:9093",
}
CONTROLLER = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://:9093",
    "advertised.listeners": "CONTROLLER://kafka-1:9093",
    "controller.quorum.voters": "1@kafka-1:9093",
}
BOTH = {
    **CONTROLLER,
    "process.roles": "broker, controller",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "advertised.listeners": "",
}


def listener(name: str, endpoint: Endpoint, advertised: Endpoint) -> ListenerSpec:
    return ListenerSpec(name, SecurityProtocol.PLAINTEXT, endpoint, advertised)


def test_without_roles_there_is_no_single_node() -> None:
    assert node_plan(FILE, {"listeners": "PLAINTEXT://:9092"}) is None


def test_a_broker_a_controller_and_a_node_that_is_both() -> None:
    controller = Endpoint("kafka-1", 9093)
    here = Endpoint("localhost", 9092)
    assert node_plan(FILE, BROKER) == NodePlan(
        node_id=2,
        controller=controller,
        listeners=(listener("PLAINTEXT", Endpoint("", 9092), Endpoint("kafka-2", 19092)),),
    )
    assert node_plan(FILE, CONTROLLER) == NodePlan(
        node_id=1, controller_listener=listener("CONTROLLER", Endpoint("", 9093), controller)
    )
    assert node_plan(FILE, BOTH) == NodePlan(
        node_id=1,
        listeners=(ListenerSpec.plain(here),),
        controller_listener=ListenerSpec.plain(Endpoint("localhost", 9093), "CONTROLLER"),
    )


def test_a_broker_has_as_many_listeners_as_the_file_names() -> None:
    said = {
        **BROKER,
        "listeners": "CLIENTS://:9092,BROKERS://:9094",
        "advertised.listeners": "CLIENTS://kafka-2:19092",
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "BROKERS",
    }
    plan = node_plan(FILE, said)
    assert plan is not None
    assert plan.listeners == (
        listener("CLIENTS", Endpoint("", 9092), Endpoint("kafka-2", 19092)),
        listener("BROKERS", Endpoint("", 9094), Endpoint("", 9094)),
    )


def test_voters_name_the_controller_as_bootstrap_servers_do() -> None:
    said = {**BROKER, "controller.quorum.bootstrap.servers": "", "controller.quorum.voters": "1@[::1]:9093"}
    plan = node_plan(FILE, said)
    assert plan is not None and plan.controller == Endpoint("::1", 9093)


def test_names_are_mapped_to_protocols() -> None:
    said = {**BROKER, "listeners": "OWN://:9092", "advertised.listeners": "OWN://kafka-2:1"}
    with pytest.raises(UsageError, match="has no protocol for listener OWN: add OWN:PLAINTEXT"):
        node_plan(FILE, said)
    plan = node_plan(FILE, {**said, "listener.security.protocol.map": "OWN:PLAINTEXT,CONTROLLER:PLAINTEXT"})
    assert plan is not None and plan.listeners == (listener("OWN", Endpoint("", 9092), Endpoint("kafka-2", 1)),)


@pytest.mark.parametrize(
    ("base", "changed", "reason"),
    [
        (BROKER, {"process.roles": "broker,observer"}, "must be broker, controller, or both"),
        (BROKER, {"process.roles": "broker,broker"}, "must be broker, controller, or both"),
        (BROKER, {"node.id": ""}, "node.id is '', but must be an integer"),
        (BROKER, {"node.id": "-1"}, "node.id is '-1'"),
        (BROKER, {"controller.listener.names": ""}, "controller.listener.names is not set"),
        (BROKER, {"controller.quorum.bootstrap.servers": ""}, "has the controller's address"),
        (
            BROKER,
            {"controller.quorum.bootstrap.servers": "a:1,b:2,c:3"},
            "names 3 controllers, but kmirror supports",
        ),
        (
            BROKER,
            {"controller.quorum.bootstrap.servers": "kafka-1"},
            "'kafka-1' is not an address, such as localhost:9093",
        ),
        (BROKER, {"controller.quorum.bootstrap.servers": "kafka-1:0"}, "is not an address"),
        (BROKER, {"controller.quorum.voters": "2@kafka-2:9093"}, "this node is not a controller"),
        (CONTROLLER, {"controller.quorum.voters": "3@kafka-3:9093"}, "this node is a controller, but not in it"),
        (CONTROLLER, {"controller.quorum.voters": "1@a:1,2@b:2,3@c:3"}, "kmirror supports only a quorum of one"),
        (
            BROKER,
            {"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"},
            "CONTROLLER, a listener of a controller, but",
        ),
        (
            CONTROLLER,
            {"listeners": "PLAINTEXT://:9092"},
            "PLAINTEXT, a listener of a broker, but process.roles is controller",
        ),
        (CONTROLLER, {"listeners": ""}, "found: none"),
        (BOTH, {"listeners": "PLAINTEXT://:9092"}, "found: none"),
        (BROKER, {"listeners": "PLAINTEXT://:9092,SSL://:9094"}, "listener SSL has protocol SSL, but kmirror supports"),
        (
            BROKER,
            {"listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT"},
            "has protocol SASL_SSL",
        ),
        (
            CONTROLLER,
            {"listeners": "CONTROLLER://:1,SECOND://:2", "controller.listener.names": "CONTROLLER,SECOND"},
            "a controller needs exactly one listener",
        ),
        (BROKER, {"listeners": "PLAINTEXT://:1,PLAINTEXT://:2"}, "each with its own name"),
        (BROKER, {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT"}, "no protocol for listener CONTROLLER"),
        (BROKER, {"security.inter.broker.protocol": "SSL"}, "security.inter.broker.protocol is SSL"),
        (BROKER, {"inter.broker.listener.name": "INTERNAL"}, "is INTERNAL, but there is no listener of that name"),
        (BROKER, {"advertised.listeners": "OTHER://a:1"}, "has OTHER, but listeners has no such name"),
        (BROKER, {"listeners": "PLAINTEXT://:99999"}, "is not a listener, such as"),
    ],
)
def test_invalid_properties_are_refused(base: Mapping[str, str], changed: Mapping[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        node_plan(FILE, {**base, **changed})


def test_options_take_precedence_over_the_file() -> None:
    broker = node_plan(FILE, BROKER)
    assert broker is not None
    assert with_options(broker, None, None, None) == broker
    changed = with_options(broker, "127.0.0.1", 0, "here")
    assert changed.listeners == (listener("PLAINTEXT", Endpoint("127.0.0.1", 0), Endpoint("here", 0)),)
    controller = node_plan(FILE, CONTROLLER)
    assert controller is not None
    changed = with_options(controller, None, 0, None)
    assert changed.controller_listener == listener("CONTROLLER", Endpoint("", 0), Endpoint("kafka-1", 0))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[TcpCluster | TcpNode, dict[str, object]]]:
    """The clusters and nodes that `serve` starts, each with its description; all stop at once."""
    found: list[tuple[TcpCluster | TcpNode, dict[str, object]]] = []

    def start_and_stop(served: TcpCluster | TcpNode, *_: object) -> None:
        with served:
            if isinstance(served, TcpNode):
                assert served.wait()
            found.append((served, description(served)))
            served.stop()

    monkeypatch.setattr(serve, "serve", start_and_stop)
    return found


def test_roles_make_a_node_unless_a_whole_cluster_is_requested(
    started: list[tuple[TcpCluster | TcpNode, dict[str, object]]], tmp_path: Path
) -> None:
    said = {**BOTH, "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0", "num.partitions": "7"}
    config = properties(tmp_path, *(f"{key}={value}" for key, value in said.items()))
    run("--config", config, "--cluster-id", "5L6g3nShT-eMCtK--X86sw")
    run("--config", config, "--brokers", "2")
    (node, told), (cluster, _) = started
    assert isinstance(node, TcpNode)
    assert (node.configs["num.partitions"], node.configs["process.roles"]) == ("7", "broker, controller")
    assert told == {
        "bootstrap_servers": str(told["bootstrap_servers"]),
        "cluster_id": "5L6g3nShT-eMCtK--X86sw",
        "brokers": [{"node_id": 1, "host": "127.0.0.1", "port": int(str(told["bootstrap_servers"]).split(":")[1])}],
    }
    assert isinstance(cluster, TcpCluster) and cluster.broker_ids == (1, 2)


def test_a_cluster_id_is_one_that_kafka_would_draw() -> None:
    assert "a cluster id has letters, digits, - and _" in refused("--cluster-id", "a b")
