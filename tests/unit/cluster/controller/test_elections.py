"""The elected replica when brokers are fenced or unfenced."""

from __future__ import annotations

from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.images import NO_LEADER, PartitionImage
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.spec.wire_values import ResourceType
from tests.unit.cluster.stage import TP, controller


def image_after(target: Controller) -> PartitionImage:
    found = target.image.topics.partition(TP)
    assert found is not None
    return found


def test_a_dead_follower_leaves_the_isr_and_the_leader_epoch_stays() -> None:
    c = controller(topic=(1, 2, 3))
    c.sessions.fence(0, 2, "a test")
    found = image_after(c)
    assert (found.leader, found.leader_epoch, found.isr, found.partition_epoch) == (1, 7, (1, 3), 3)


def test_the_next_isr_member_in_replica_order_follows_a_dead_leader() -> None:
    c = controller(topic=(1, 2, 3))
    c.sessions.fence(0, 1, "a test")
    found = image_after(c)
    assert (found.leader, found.leader_epoch, found.isr) == (2, 8, (2, 3))


def test_only_the_last_isr_member_may_lead_again() -> None:
    c = controller(topic=(1, 2, 3))
    for broker_id in (2, 3, 1):
        c.sessions.fence(0, broker_id, "a test")
    found = image_after(c)
    assert (found.leader, found.isr) == (NO_LEADER, (1,))
    c.sessions.unfence(0, 2)
    assert image_after(c).leader == NO_LEADER, "broker 2 was not in the ISR"
    c.sessions.unfence(0, 1)
    assert (image_after(c).leader, image_after(c).isr) == (1, (1,))


def test_an_unclean_election_only_where_the_topic_allows_it() -> None:
    c = controller(topic=(1, 2, 3))
    c.commit(
        0,
        [
            ConfigRecord(
                resource_type=ResourceType.TOPIC,
                resource_name=TP.topic,
                name="unclean.leader.election.enable",
                value="true",
            )
        ],
    )
    for broker_id in (2, 3, 1):
        c.sessions.fence(0, broker_id, "a test")
    before = image_after(c).leader_epoch
    c.sessions.unfence(0, 3)
    found = image_after(c)
    assert (found.leader, found.isr, found.leader_epoch) == (3, (3,), before + 1)


def test_brokers_without_the_partition_change_nothing() -> None:
    c = controller((1, 2, 3, 4), topic=(1, 2, 3))
    before = image_after(c)
    c.sessions.fence(0, 4, "a test")
    c.sessions.unfence(0, 4)
    assert image_after(c) == before
