"""A broker of the source that has lost its controller is not believed: its outdated data has no effect (D60)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.syncs.report import SyncProblem
from kmirror.protocol.gen.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.coordinators.offset_requests import Found, OffsetRequests
from tests.sim.stage import SMALL, TOPIC, Pair, StagedCluster, pair, wait_until_mirrored

pytestmark = pytest.mark.decision("D60")
STALE = 3
INTERVAL_S = int(SMALL["mirror.metadata.refresh.interval.ms"]) / 1000
FENCED_S = int(SMALL["broker.session.timeout.ms"]) / 1000 + 1
PROVED = "proves that it is up to date"


def cut_off(p: Pair, broker_id: int = STALE) -> None:
    """Disconnect a broker of the source from its controller, and wait until it counts as fenced."""
    p.simulation.line(p.a.process(broker_id), "a-controller").take_down()
    p.simulation.run_for(span_s=FENCED_S)


def leave_only_the_stale_one(p: Pair) -> Iterator[None]:
    """Disconnect the mirror from the source's other brokers, until the iterator continues."""
    lines = [p.simulation.line(p.a.process(number), p.b) for number in p.a.broker_ids if number != STALE]
    for line in lines:
        line.take_down()
    yield
    for line in lines:
        line.bring_up()


def collect_problems(p: Pair) -> list[str]:
    """Collect the reasons that syncs report from now on."""
    found: list[str] = []
    p.simulation.on(SyncProblem, lambda seen: found.append(seen.fact.reason))
    return found


def place(p: Pair) -> Uuid:
    """Create a topic that the stale broker does not know; return its id."""
    assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])
    wanted = CreatableTopic(name=TOPIC, num_partitions=-1, replication_factor=-1, assignments=[assignment])
    reply = p.a.client.call(p.a.endpoint(1), CreateTopicsRequest(topics=[wanted], timeout_ms=30_000), 7)
    assert isinstance(reply, CreateTopicsResponse) and not reply.topics[0].error_code, reply
    p.a.await_leader()
    return reply.topics[0].topic_id


def with_a_topic_that_one_broker_does_not_know() -> Pair:
    p = pair()
    p.there.create()
    cut_off(p)
    place(p)
    p.a.write("a", "b")
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    return p


def test_a_topic_that_only_a_stale_broker_lacks_is_not_stopped() -> None:
    p = with_a_topic_that_one_broker_does_not_know()
    p.a.kill(1)
    p.hold(6 * INTERVAL_S, lambda: p.b.state() in ("NONE", "MIRRORING"), "the leader has the topic")
    p.run_until(lambda: p.b.state() == "MIRRORING", "its new leader")


def test_a_topic_is_not_stopped_while_only_a_stale_broker_is_reachable() -> None:
    p = with_a_topic_that_one_broker_does_not_know()
    away = leave_only_the_stale_one(p)
    next(away)
    for broker_id in p.b.broker_ids:  # None of them remembers a time when others were reachable.
        p.b.kill(broker_id)
    for broker_id in p.b.broker_ids:
        p.b.restart(broker_id)
    p.run_until(lambda: p.b.state() == "MIRRORING", "the state to be read")
    p.hold(6 * INTERVAL_S, lambda: p.b.state() in ("NONE", "MIRRORING"), "nobody knows better")
    assert PROVED in p.b.reason()
    next(away, None)
    p.a.write("c")
    p.run_until(lambda: p.b.log().high_watermark == 3, "mirroring to go on")


def test_a_deleted_topic_is_stopped_though_a_stale_broker_has_it() -> None:
    p = pair()
    p.a.place_topic()
    p.begin()
    cut_off(p)
    p.a.delete(TOPIC)
    p.run_until(lambda: p.b.state() == "STOPPED", "the deletion", within_s=5 * INTERVAL_S)


def test_a_topic_is_created_under_the_id_that_it_has_now() -> None:
    p = pair()
    p.there.create()
    former = p.a.place_topic()
    cut_off(p)
    p.a.delete(TOPIC)
    p.simulation.run_for(span_s=0.3)
    now = place(p)
    away = leave_only_the_stale_one(p)
    next(away)
    p.there.add_topics([TOPIC])
    p.hold(3 * INTERVAL_S, lambda: TOPIC not in p.b.image.topics, "only the former id is known")
    next(away, None)
    wait_until_mirrored(p.there)
    assert p.b.image.topics[TOPIC].topic_id == now != former
    p.hold(4 * INTERVAL_S, lambda: p.b.state() == "MIRRORING", "the former id of a stale broker fails nothing")


def test_a_config_does_not_return_to_a_stale_brokers_value() -> None:
    p = pair()
    p.a.place_topic(replicas=((1, 2),))
    p.a.alter(TOPIC, {"retention.ms": "1000000"})
    p.begin()
    cut_off(p)
    p.a.alter(TOPIC, {"retention.ms": "2000000"})
    p.run_until(lambda: p.b.image.configs.topic(TOPIC).get("retention.ms") == "2000000", "the new value")
    p.hold(8 * INTERVAL_S, lambda: p.b.image.configs.topic(TOPIC)["retention.ms"] == "2000000", "it is the newest")


def test_partitions_that_a_stale_broker_does_not_know_are_mirrored() -> None:
    p = pair()
    p.a.place_topic(replicas=((1, 2),))
    p.begin()
    cut_off(p)
    assert p.a.grow(TOPIC, 2) is ErrorCode.NONE
    grown = TopicPartition(TOPIC, 1)
    p.run_until(lambda: p.b.state(grown) == "MIRRORING", "the new partition")
    p.hold(4 * INTERVAL_S, lambda: p.b.state(grown) == "MIRRORING" and not p.b.reason(grown), "it is there")


def test_offsets_of_a_deposed_coordinator_are_not_committed() -> None:
    p = pair()
    p.a.place_topic(replicas=((1, 2),))
    p.a.write(*"0123456789")
    there, here = OffsetRequests(p.a), OffsetRequests(p.b)
    there.create()
    here.create()
    p.there.create()
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    there.commit(2, epoch=0)
    p.simulation.run_for(span_s=2 * INTERVAL_S)
    assert here.get() == Found(2, 0)
    deposed = p.a.await_leader(there.shard).broker_id
    cut_off(p, deposed)
    leader = p.a.image.topics.partition(there.shard)
    assert leader is not None and leader.leader not in (-1, deposed)
    p.simulation.run_for(span_s=1)
    assert there.commit(9, epoch=0, broker_id=leader.leader) is ErrorCode.NONE
    p.simulation.run_for(span_s=2 * INTERVAL_S)
    for _ in range(6):
        assert here.get() == Found(9, 0), "the deposed one still lists the group"
        p.simulation.run_for(span_s=INTERVAL_S)


def test_without_a_controller_existing_topics_are_mirrored_and_none_is_created() -> None:
    p = pair()
    told_of = collect_problems(p)
    p.a.place_topic()
    p.a.place_topic("later")
    p.begin()
    p.a.kill(CONTROLLER_ID)
    p.there.add_topics(["later"])
    p.a.write("while it is away")
    p.run_until(lambda: p.b.log().high_watermark == 1, "the topic that is there")
    p.hold(3 * INTERVAL_S, lambda: "later" not in p.b.image.topics, "nobody knows whether it is the newest")
    assert any(PROVED in reason for reason in told_of)
    p.a.restart(CONTROLLER_ID)
    wait_until_mirrored(p.there)


@pytest.mark.parametrize("release", ["2.1", "2.8"])
def test_brokers_that_cannot_prove_it_have_to_agree(release: str) -> None:
    simulation, hooks = Simulation(0), Hooks()
    hooks.play(release)
    a = StagedCluster(simulation, "a", configs=SMALL, interpose=hooks)
    b = StagedCluster(simulation, "b", configs=SMALL)
    a.start()
    b.start()
    p = Pair(simulation, a, b)
    hooks.clear()
    p.there.create()
    cut_off(p)
    place(p)
    hooks.play(release)
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    p.hold(6 * INTERVAL_S, lambda: p.b.state() == "MIRRORING", "brokers that are alive have the topic")
    p.simulation.line(p.a.process(STALE), "a-controller").bring_up()
    hooks.clear()
    p.a.delete(TOPIC)
    hooks.play(release)
    p.run_until(lambda: p.b.state() == "STOPPED", "all of them lack it", within_s=5 * INTERVAL_S)


def test_without_rights_for_the_quorum_all_brokers_must_agree() -> None:
    simulation, hooks = Simulation(0), Hooks()
    asked = hooks.on(DescribeQuorumRequest).answer(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    a = StagedCluster(simulation, "a", configs=SMALL, interpose=hooks)
    b = StagedCluster(simulation, "b", configs=SMALL)
    a.start()
    b.start()
    p = Pair(simulation, a, b)
    p.a.place_topic()
    p.begin()
    assert asked.count
    p.a.delete(TOPIC)
    p.run_until(lambda: p.b.state() == "STOPPED", "the deletion", within_s=5 * INTERVAL_S)
