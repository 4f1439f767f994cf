"""Nodes of one cluster that communicate only over TCP: joining, start order, and messages during a wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import CONTROLLER_NAME, ListenerSpec
from kmirror.logdir.checkpoints import META_PROPERTIES
from kmirror.net.listener import Port
from kmirror.net.node import NodePlan, TcpNode
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from tests.net.wire import Wire

CLUSTER = "5L6g3nShT-eMCtK--X86sw"
ANY = ListenerSpec.plain(Endpoint("127.0.0.1", 0))
CONTROLLER = ANY._replace(name=CONTROLLER_NAME)
QUICK = {"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "100"}


def node(plan: NodePlan, **more: object) -> TcpNode:
    options: dict[str, object] = {"cluster_id": CLUSTER, "configs": QUICK, "on_failure": OnFailure.RAISE, **more}
    return TcpNode(plan, **options)  # type: ignore[arg-type]


def broker(node_id: int, controller: Endpoint, **more: object) -> TcpNode:
    return node(NodePlan(node_id=node_id, controller=controller, listeners=(ANY,)), **more)


def brokers_of(served: TcpNode) -> list[int]:
    with Wire(str(served.endpoint)) as wire:
        answer = wire.ask(MetadataRequest(topics=[]), 9)
    assert isinstance(answer, MetadataResponse)
    return sorted(each.node_id for each in answer.brokers)


def test_a_combined_node_accepts_other_brokers(tmp_path: Path) -> None:
    plan = NodePlan(node_id=1, listeners=(ANY,), controller_listener=CONTROLLER)
    with node(plan, data=tmp_path / "1") as both:
        assert both.wait()
        with broker(2, both.controller_endpoint, data=tmp_path / "2") as second:
            assert second.wait() and second.cluster_id == CLUSTER
            assert brokers_of(second) == [1, 2]
            second.stop()
            assert brokers_of(both) == [1]
        both.stop()
    with node(plan, data=tmp_path / "1", cluster_id=None) as both:
        assert both.wait() and both.cluster_id == CLUSTER


def test_a_broker_waits_for_a_controller_that_starts_later() -> None:
    port = Port("127.0.0.1", 0)
    here = port.endpoint
    reasons: list[str] = []
    with broker(2, here) as early:
        late: list[TcpNode] = []

        def record_and_start() -> None:
            reasons.append(early.run_on_loop(lambda: early.waits_for))
            if not late:
                port.close()
                late.append(node(NodePlan(node_id=100, controller_listener=ListenerSpec.plain(here, CONTROLLER_NAME))))
                late[0].start()

        assert early.wait(on_wait=record_and_start)
        assert reasons[0] == f"the controller at {here}"
        assert brokers_of(early) == [2]
        late[0].close()


def test_a_wait_can_be_given_up_and_the_broker_ends_at_once() -> None:
    port = Port("127.0.0.1", 0)
    with broker(2, port.endpoint) as alone:
        assert not alone.wait(should_stop=lambda: True)
        alone.stop()
        assert alone.living() == []
    port.close()


def test_a_broker_of_another_cluster_is_refused_with_both_ids() -> None:
    with node(NodePlan(node_id=100, controller_listener=CONTROLLER)) as controller:
        notes: list[str] = []
        controller.on_note.append(lambda process, note: notes.append(note.text))
        with broker(2, controller.controller_endpoint, cluster_id="another") as stranger:
            with pytest.raises(KafkaError, match=r"than this broker \(another\): INCONSISTENT_CLUSTER_ID"):
                stranger.wait()
            assert stranger.has_failed and stranger.living() == []
        assert f"broker 2 is of cluster another, and this is cluster {CLUSTER}" in notes


def test_a_broker_with_a_used_id_reports_it_while_it_waits() -> None:
    with node(NodePlan(node_id=1, listeners=(ANY,), controller_listener=CONTROLLER)) as both:
        assert both.wait()
        with broker(1, both.controller_endpoint) as twin:
            assert not twin.wait(should_stop=lambda: "rejects it" in twin.run_on_loop(lambda: twin.waits_for))
            assert "which rejects it: DUPLICATE_BROKER_REGISTRATION" in twin.waits_for


def test_a_folder_belongs_to_its_node(tmp_path: Path) -> None:
    nowhere = Endpoint("127.0.0.1", 1)
    with pytest.raises(UsageError, match="it is not formatted, but a broker needs the id of its cluster"):
        broker(2, nowhere, data=tmp_path / "new", cluster_id=None).start()
    assert not (tmp_path / "new").exists()
    with pytest.raises(UsageError, match="needs a cluster id: set --cluster-id"):
        broker(2, nowhere, cluster_id=None)
    with broker(2, nowhere, data=tmp_path / "2"):
        assert f"cluster.id={CLUSTER}\n" in (tmp_path / "2" / META_PROPERTIES).read_text()
    with pytest.raises(UsageError, match=f"belongs to cluster {CLUSTER}, but would be served in another"):
        broker(2, nowhere, data=tmp_path / "2", cluster_id="another").start()
    with pytest.raises(UsageError, match="belongs to node 2"):
        broker(3, nowhere, data=tmp_path / "2").start()
    with broker(2, nowhere, data=tmp_path / "2", cluster_id=None) as known:
        assert known.cluster_id == CLUSTER


def test_a_plan_is_a_broker_a_controller_or_both() -> None:
    with pytest.raises(UsageError, match="has no listeners"):
        NodePlan(node_id=1)
    with pytest.raises(UsageError, match="not both"):
        NodePlan(node_id=1, listeners=(ANY,))
    with pytest.raises(UsageError, match="no client can connect to"):
        node(NodePlan(node_id=1, controller=ANY.endpoint, listeners=(ListenerSpec.plain(Endpoint("", 0)),)))
