"""Rules of controllers: each reports an image that breaks it, and accepts one that does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.cluster.images import NO_LEADER, MetadataImage, PartitionImage
from kmirror.histories.monitors.controllers import UNCLEAN, ControllerMonitor
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.monitors.views import view_of
from kmirror.histories.plan import ClusterPlan, Plan
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.wire_values import ResourceType

T = TopicPartition("t", 0)


class Stage:
    """A cluster of three brokers, led by the first replica of its topic, and changes of its controller's image."""

    def __init__(self) -> None:
        simulation = Simulation(1)
        self.scene = Scene(Plan(1, "by hand", (ClusterPlan("a", 3, 3),), {}, (), (), 1, 1, {}), simulation)
        self.cluster = self.scene.clusters["a"] = Cluster(simulation, "a", brokers=3)
        self.cluster.start()
        self.cluster.create_topic("t", 1)
        self.monitor = ControllerMonitor(self.scene, Rules(self.scene))
        self.before = view_of(self.cluster.image, None)
        self.after = view_of(self.cluster.image, None)
        self.partition = self.before.topics["t"].partitions[0]

    def put(self, **changes: object) -> PartitionImage:
        """Let the controller change the partition."""
        known = self.after.topics["t"].partitions[0]
        check_changes = replace(known, partition_epoch=known.partition_epoch + 1, **changes)  # type: ignore[arg-type]
        self.after.topics["t"].partitions[0] = check_changes
        return check_changes

    def fence(self, *broker_ids: int) -> None:
        for broker_id in broker_ids:
            self.after.brokers[broker_id] = replace(self.after.brokers[broker_id], fenced=True)

    def broken(self) -> set[str]:
        """Return the rules broken by the change."""
        self.monitor.check_changes("a", self.before, self.after)
        return {rule for _, _, rule in self.scene.account.broken_rules}


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_an_image_that_has_not_changed_breaks_nothing(stage: Stage) -> None:
    assert stage.broken() == set()


def test_the_leader_is_in_the_isr_and_active(stage: Stage) -> None:
    first, second, third = stage.partition.replicas
    stage.fence(first)
    stage.put(leader=second, leader_epoch=1, isr=(second, third))
    assert stage.broken() == set()
    stage.put(leader=first, leader_epoch=2)
    assert stage.broken() >= {"leader-isr", "leader-inactive"}


def test_a_broker_that_is_fenced_leads_nothing(stage: Stage) -> None:
    stage.fence(stage.partition.leader)
    assert stage.broken() == {"leader-inactive"}


def test_a_partition_has_no_leader_only_if_no_isr_member_may_lead(stage: Stage) -> None:
    first, second, third = stage.partition.replicas
    stage.fence(first, second, third)
    stage.put(leader=NO_LEADER, leader_epoch=1, isr=(first, second))
    assert stage.broken() == set()
    stage.after.brokers[second] = stage.before.brokers[second]
    assert stage.broken() == {"leaderless"}


def test_epochs_rise(stage: Stage) -> None:
    second = stage.partition.replicas[1]
    stage.put(leader=second)
    assert stage.broken() == {"leader-epoch"}
    known = stage.after.topics["t"].partitions[0]
    stage.after.topics["t"].partitions[0] = replace(known, partition_epoch=stage.partition.partition_epoch)
    assert stage.broken() == {"leader-epoch", "partition-epoch"}


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_replica_outside_the_isr_leads_if_allowed(stage: Stage, is_allowed: bool) -> None:
    first, second, _ = stage.partition.replicas
    stage.before.topics["t"].partitions[0] = replace(stage.partition, isr=(first,))
    stage.fence(first)
    stage.put(leader=second, leader_epoch=1, isr=(second,))
    if is_allowed:
        stage.after.configs[ResourceType.TOPIC, "t"] = {UNCLEAN: "true"}
    assert stage.broken() == (set() if is_allowed else {"unclean-refused"})


def test_a_replica_outside_the_isr_does_not_lead_while_a_member_may(stage: Stage) -> None:
    first, second, third = stage.partition.replicas
    stage.before.topics["t"].partitions[0] = replace(stage.partition, isr=(first, third))
    stage.fence(first)
    stage.put(leader=second, leader_epoch=1, isr=(second,))
    stage.after.configs[ResourceType.TOPIC, "t"] = {UNCLEAN: "true"}
    assert stage.broken() == {"unclean-leader"}


def test_a_leader_from_outside_the_isr_is_its_only_member(stage: Stage) -> None:
    first, second, third = stage.partition.replicas
    stage.before.topics["t"].partitions[0] = replace(stage.partition, isr=(first,))
    stage.fence(first)
    stage.put(leader=second, leader_epoch=1, isr=(second, third))
    stage.after.configs[ResourceType.TOPIC, "t"] = {UNCLEAN: "true"}
    assert stage.broken() == {"unclean-isr"}


def test_images_are_compared_at_one_offset(stage: Stage) -> None:
    other: MetadataImage = stage.after
    other.configs[ResourceType.TOPIC, "t"] = {"retention.ms": "1"}
    other.offset += 1
    stage.monitor.check_restart("a", stage.before, other)
    assert not stage.scene.account.broken_rules
    other.offset -= 1
    stage.monitor.check_restart("a", stage.before, other)
    assert {rule for _, _, rule in stage.scene.account.broken_rules} == {"other-image"}
