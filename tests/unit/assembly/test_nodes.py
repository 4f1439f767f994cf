"""Node assembly shared by both runners."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.kernel.failures import HandlingFailed, OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.sim.world import World


class Bug(Exception):
    pass


def started(on_failure: OnFailure) -> Cluster:
    cluster = Cluster(Simulation(1), "a", brokers=1, on_failure=on_failure)
    cluster.start()
    cluster.create_topic("t")
    return cluster


def plant_a_bug(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Bug

    monkeypatch.setattr(cluster.broker(1).parts.replicas.checkpoints, "write", fail)
    cluster.broker(1).parts.server.serve({ListOffsetsRequest: fail})


def facts_of(world: World) -> list[object]:
    facts: list[object] = []
    world.on_fact.append(lambda _, fact: facts.append(fact))
    return facts


def test_a_bug_in_a_node_ends_a_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = started(OnFailure.RAISE)
    plant_a_bug(cluster, monkeypatch)
    with pytest.raises(Bug):
        cluster.simulation.run_for(span_s=60)


def test_on_failure_go_on_continues_after_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = started(OnFailure.CONTINUE)
    facts = facts_of(cluster.simulation.world)
    plant_a_bug(cluster, monkeypatch)
    answer = cluster.client.call(cluster.endpoint(1), ListOffsetsRequest())
    assert isinstance(answer, ListOffsetsResponse)
    cluster.simulation.run_for(span_s=30)
    failed = [fact for fact in facts if isinstance(fact, HandlingFailed)]
    assert {"TimerFired"} < {fact.operation for fact in failed}, "the timer fires again, and the request was refused"
    assert len(failed) > 5 and all(isinstance(fact.error, Bug) for fact in failed)
    assert cluster.produce("t", 0, [b"x"]) == 0
    leader = cluster.leader(TopicPartition("t", 0))
    assert leader is not None and leader.log.high_watermark == 1


def test_each_node_is_made_with_all_that_plugs_into_it() -> None:
    cluster = started(OnFailure.RAISE)
    assert isinstance(cluster.broker(1), Broker) and isinstance(cluster.controller, Controller)
    assert cluster.controller.options.node_id == CONTROLLER_ID
    assert cluster.broker(1).context.mirror_enabled
