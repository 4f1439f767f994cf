"""Consumer groups on a cluster whose brokers die: responses to members, and the state of a new coordinator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode as E
from tests.interop.groups.script import Member, delete
from tests.interop.groups.talk import SimulatedPeer, Talk
from tests.sim.stage import SMALL, StagedCluster

GROUP = "g"
SHARD = TopicPartition("__consumer_offsets", partition_for(GROUP, 2))
CONFIGS = {**SMALL, "group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "500"}
SESSION_S = 20


class Scene:
    """A cluster of three brokers, and clients of the group's current coordinator."""

    def __init__(self, cluster: StagedCluster) -> None:
        self.cluster = cluster
        self.peer = SimulatedPeer(cluster)
        self.talk = Talk(self.peer)
        self.find()

    def find(self) -> None:
        """Try to find the coordinator at every broker until one responds for the group."""
        for _ in range(100):
            for broker_id in self.cluster.living():
                self.peer.broker_id = broker_id
                if self.talk.peek_coordinator() == 0:
                    return
            self.peer.wait(0.5)
        raise AssertionError("nobody coordinates the group")

    def member(self, link: str, **options: object) -> Member:
        return Member(self.talk, link, GROUP, **options)

    def pair(self) -> tuple[Member, Member]:
        """Return two members, the leader first, each with its assignment."""
        one, two = self.member("one"), self.member("two")
        one.join("")
        one.sync("")
        two.begin_join("")
        one.send_join("")
        one.take_join()
        two.take_join()
        two.send_sync("")
        assert one.sync("", two).assignment == b"one"
        assert self.talk.receive("two").assignment == b"two"
        return one, two

    def fail_over(self) -> None:
        """Kill the coordinator and find the next one."""
        self.cluster.elect(SHARD)
        self.find()

    def state(self) -> str:
        row = self.talk.ask("admin", "", DescribeGroupsRequest(groups=[GROUP]), 5).groups[0]
        return str(row.group_state)


@pytest.fixture
def scene() -> Iterator[Scene]:
    with StagedCluster(Simulation(3), "a", configs=CONFIGS) as cluster:
        yield Scene(cluster)


def test_members_continue_with_a_new_coordinator_without_a_rebalance(scene: Scene) -> None:
    one, two = scene.pair()
    scene.fail_over()
    assert [one.beat("").error_code, two.beat("").error_code] == [0, 0]
    assert two.sync("").assignment == b"two" and one.generation == 2 and scene.state() == "Stable"
    joined = two.join("with nothing new")
    assert (joined.error_code, joined.generation_id) == (0, 2)


def test_a_member_that_died_with_the_coordinator_is_out_after_its_session(scene: Scene) -> None:
    one, two = scene.pair()
    scene.fail_over()
    for _ in range(SESSION_S - 1):
        assert one.beat("").error_code == 0
        scene.peer.wait(1)
    scene.peer.wait(1)
    assert one.beat("").error_code == E.REBALANCE_IN_PROGRESS
    assert one.join("").members[0].member_id == one.member_id and one.generation == 3
    assert two.beat("").error_code == E.UNKNOWN_MEMBER_ID


def test_a_rebalance_that_dies_with_the_coordinator_is_begun_again(scene: Scene) -> None:
    one = scene.member("one")
    one.join("")
    one.sync("")
    two = scene.member("two")
    two.begin_join("waits, and loses its link")
    assert scene.state() == "PreparingRebalance"
    scene.fail_over()
    assert one.beat("").error_code == 0, "the new coordinator knows the last generation only"
    late = scene.member("two again")
    late.member_id = two.member_id
    late.send_join("with an id that nobody knows")
    assert late.take_join().error_code == E.UNKNOWN_MEMBER_ID
    late.member_id = ""
    late.begin_join("anew")
    assert one.beat("").error_code == E.REBALANCE_IN_PROGRESS
    one.send_join("")
    assert one.take_join().generation_id == 2
    assert late.take_join().generation_id == 2


def test_a_lost_assignment_was_not_returned(scene: Scene) -> None:
    one, two = scene.pair()
    leader = scene.peer.broker_id
    others = [broker_id for broker_id in scene.cluster.broker_ids if broker_id != leader]
    one.send_join("wants to assign anew")
    two.send_join("")
    assert one.take_join().generation_id == two.take_join().generation_id == 3
    simulation = scene.cluster.simulation
    lines = [simulation.line(scene.cluster.process(leader), scene.cluster.process(other)) for other in others]
    for line in lines:
        line.take_down()
    two.send_sync("")
    one.send_sync("", two)
    assert not scene.peer.has_answer("one") and not scene.peer.has_answer("two")
    assert one.beat("a slow follower stalls nobody").error_code == 0
    scene.cluster.kill(leader)
    for line in lines:
        line.bring_up()
    scene.find()
    fresh = scene.member("one again")
    fresh.member_id, fresh.generation = one.member_id, one.generation
    assert fresh.beat("of the lost generation").error_code == E.ILLEGAL_GENERATION
    fresh.generation = 2
    assert fresh.beat("of the one before").error_code == 0
    assert scene.state() == "Stable"


def test_while_a_coordinator_loads_heartbeats_succeed_and_the_rest_has_to_wait(scene: Scene) -> None:
    one, two = scene.pair()
    shard = scene.cluster.image.topics.partition(SHARD)
    assert shard is not None
    former, heir, other = shard.replicas
    assert scene.peer.broker_id == former
    one.send_join("assigns anew")
    two.send_join("")
    one.take_join()
    two.take_join()
    simulation = scene.cluster.simulation
    lines = [simulation.line(scene.cluster.process(one), scene.cluster.process(other)) for one in (former, heir)]
    for line in lines:
        line.take_down()
    one.send_sync("reaches the log of the heir", two)
    scene.cluster.elect(SHARD)
    scene.peer.broker_id = scene.cluster.await_leader(SHARD).broker_id
    assert scene.peer.broker_id == heir
    for member in (one, two):
        member.link += " again"
    assert one.beat("").error_code == E.NONE
    assert two.sync("").error_code == one.join("").error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    assert two.leave("").error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    assert scene.talk.ask("admin", "", ListGroupsRequest(), 5).error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    assert delete(scene.talk, "", GROUP).results[0].error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    for line in lines:
        line.bring_up()
    scene.find()
    assert two.sync("").assignment == b"two" and two.beat("").error_code == 0 and two.generation == 3


def test_requests_waiting_at_a_former_coordinator_get_an_error(scene: Scene) -> None:
    one, two = scene.pair()
    three = scene.member("three")
    three.begin_join("waits")
    former = scene.peer.broker_id
    stopping = scene.cluster.begin_stop(former)
    assert three.take_join().error_code == E.NOT_COORDINATOR
    stopping.result()
    scene.find()
    assert [one.beat("").error_code, two.beat("").error_code] == [0, 0]


def test_requests_to_a_wrong_coordinator_get_an_error(scene: Scene) -> None:
    scene.peer.broker_id = next(one for one in scene.cluster.broker_ids if one != scene.peer.broker_id)
    one = scene.member("elsewhere")
    assert one.join("").error_code == E.NOT_COORDINATOR
    assert one.sync("").error_code == E.NOT_COORDINATOR
    assert one.beat("").error_code == E.NOT_COORDINATOR
    assert one.leave("").error_code == E.NOT_COORDINATOR


def test_a_group_that_was_deleted_stays_deleted(scene: Scene) -> None:
    one, two = scene.pair()
    one.leave("")
    two.leave("")
    assert scene.state() == "Empty"
    assert delete(scene.talk, "", GROUP).results[0].error_code == 0
    assert scene.state() == "Dead"
    scene.fail_over()
    assert scene.state() == "Dead"
