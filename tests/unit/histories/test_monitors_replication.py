"""Rules of replication: each reports a leader that breaks it, and accepts the same leader before."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import pytest

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.changed_partitions import ChangedPartitions
from kmirror.histories.monitors.matching import MatchingMonitor
from kmirror.histories.monitors.replication import ReplicationMonitor
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.plan import ClusterPlan, Plan
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation

T = TopicPartition("t", 0)


class Stage:
    """A cluster of three brokers with ten records in a topic, and its observers."""

    def __init__(self) -> None:
        simulation = Simulation(1)
        plan = Plan(1, "by hand", (ClusterPlan("a", 3, 3),), {}, (), (), 1, 1, {})
        self.scene = Scene(plan, simulation)
        self.cluster = self.scene.clusters["a"] = Cluster(simulation, "a", brokers=3)
        self.cluster.start()
        self.cluster.create_topic("t", 1)
        self.cluster.produce("t", 0, [b"x"] * 10)
        simulation.world.run_for(span_us=2_000_000)
        rules = Rules(self.scene)
        self.changed_partitions = ChangedPartitions()
        self.replication = ReplicationMonitor(self.scene, rules)
        self.matching = MatchingMonitor(self.scene, rules)
        self.leader = self.led()
        self.followers = [broker_id for broker_id in (1, 2, 3) if broker_id != self.leader.broker_id]

    def led(self) -> Partition:
        found = self.cluster.leader(T)
        assert found is not None
        return found

    def broker(self, broker_id: int) -> Broker:
        return self.cluster.broker(broker_id)

    def check_brokers(self) -> set[str]:
        """Observe all brokers, and return the broken rules."""
        for broker_id in (1, 2, 3):
            broker = self.broker(broker_id)
            changed = self.changed_partitions.check("a", broker)
            for monitor in (self.replication, self.matching):
                monitor.on_partitions_changed("a", broker, changed)
        return {rule for _, _, rule in self.scene.account.broken_rules}


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    assert stage.check_brokers() == set()
    return stage


def with_image(partition: Partition, **changes: object) -> PartitionImage:
    return replace(partition.image, **changes)  # type: ignore[arg-type]


def append(partition: Partition) -> None:
    """Append a batch at one broker that the others do not have."""
    data = build_batch([RecordData(value=b"y")])
    partition.log.append_as_leader(data, leader_epoch=partition.leader_epoch, now_ms=0)


def test_the_high_watermark_waits_for_members_that_are_proposed(stage: Stage) -> None:
    leader, away = stage.leader, stage.followers[0]
    leader.image = with_image(leader, isr=(leader.broker_id,))
    leader.pending_isr = (leader.broker_id, away, stage.followers[1])
    append(leader)
    assert stage.check_brokers() == set()
    leader.log.update_high_watermark(leader.log.log_end_offset)
    assert stage.check_brokers() == {"high-watermark"}


def test_the_high_watermark_does_not_rise_below_min_isr(stage: Stage) -> None:
    leader = stage.leader
    leader.min_insync_replicas = 4
    append(leader)
    stage.check_brokers()
    leader.image = with_image(leader, isr=(leader.broker_id,))
    leader.log.update_high_watermark(leader.log.log_end_offset)
    assert stage.check_brokers() == {"high-watermark", "isr-uncounted"}


@pytest.mark.parametrize(("changes", "rules"), [(1, {"high-watermark"}), (2, set())])
def test_a_high_watermark_may_have_risen_between_two_observations(stage: Stage, changes: int, rules: set[str]) -> None:
    leader, (one, _) = stage.leader, stage.followers
    append(leader)
    stage.check_brokers()
    leader.image = with_image(
        leader, isr=(leader.broker_id, one), partition_epoch=leader.image.partition_epoch + changes
    )
    leader.log.update_high_watermark(leader.log.log_end_offset)
    assert stage.check_brokers() - {"isr-uncounted"} == rules


def test_marks_of_a_leader_are_in_order(stage: Stage) -> None:
    leader = stage.leader
    leader.log.high_watermark = leader.log.log_end_offset + 1
    leader.epoch_start_offset = leader.log.log_end_offset + 1
    leader.followers[stage.followers[0]].log_end = leader.log.log_end_offset + 1
    assert stage.check_brokers() >= {"range", "epoch-start", "follower-end"}


def test_a_leader_counts_the_members_that_the_controller_has_decided(stage: Stage) -> None:
    stage.leader.image = with_image(stage.leader, isr=(stage.leader.broker_id,))
    assert stage.check_brokers() == {"isr-uncounted"}


def test_a_leader_proposes_only_replicas_that_reached_its_epoch_start(stage: Stage) -> None:
    leader, late = stage.leader, stage.followers[0]
    leader.image = with_image(leader, isr=(leader.broker_id, stage.followers[1]))
    leader.epoch_start_offset = leader.followers[late].log_end
    leader.pending_isr = (1, 2, 3)
    assert stage.check_brokers() == set()
    leader.pending_isr = None
    stage.scene.account.broken_rules.clear()
    stage.check_brokers()
    stage.scene.account.broken_rules.clear()
    leader.followers[late].log_end -= 1
    leader.pending_isr = (1, 2, 3)
    assert stage.check_brokers() == {"isr-join"}


def test_images_of_one_leader_epoch_do_not_go_back(stage: Stage) -> None:
    leader = stage.leader
    leader.image = with_image(leader, partition_epoch=leader.image.partition_epoch - 1)
    assert stage.check_brokers() == {"leader-partition-epoch"}


def test_an_epoch_has_one_leader(stage: Stage) -> None:
    other = stage.broker(stage.followers[0]).parts.replicas.partitions[T]
    other.image = with_image(other, leader=other.broker_id)
    assert "two-leaders" in stage.check_brokers()


def admitted(stage: Stage, *, behind: int = 0, of_epoch: int = 0, is_fenced: bool = False) -> set[str]:
    """Observe an ISR with a member that the controller added in a partition epoch that the leader may not know."""
    before, after = copy(stage.cluster.image), copy(stage.cluster.image)
    member, was = stage.followers[0], after.topics["t"].partitions[0]
    before.topics = copy(after.topics)
    before.topics["t"] = replace(after.topics["t"], partitions={0: with_isr(was, member)})
    leader = stage.leader
    leader.image = with_image(leader, partition_epoch=was.partition_epoch - 1 - behind)
    leader.followers[member].broker_epoch = after.brokers[member].epoch - of_epoch
    after.brokers = copy(after.brokers)
    after.brokers[member] = replace(after.brokers[member], fenced=is_fenced)
    stage.replication.controller_handled("a", before, after)
    return {rule for _, _, rule in stage.scene.account.broken_rules}


def with_isr(image: PartitionImage, without: int) -> PartitionImage:
    isr = tuple(member for member in image.isr if member != without)
    return replace(image, isr=isr, partition_epoch=image.partition_epoch - 1)


def test_members_are_admitted_by_the_current_state(stage: Stage) -> None:
    assert admitted(stage) == set()
    assert admitted(stage, behind=1) == {"isr-overtaken"}


def test_members_are_admitted_in_the_epoch_in_which_they_fetched(stage: Stage) -> None:
    assert admitted(stage, of_epoch=1) == {"isr-epoch"}


def test_members_are_admitted_while_they_are_active(stage: Stage) -> None:
    assert admitted(stage, is_fenced=True) == {"isr-inactive"}


# -- appends of followers ------------------------------------------------------------------------


def test_a_follower_appends_after_its_leaders_records(stage: Stage) -> None:
    follower = stage.broker(stage.followers[0]).parts.replicas.partitions[T]
    stage.cluster.produce("t", 0, [b"z"])
    assert stage.check_brokers() == set()
    follower.log.truncate_to(0)
    append(follower)
    stage.check_brokers()
    append(follower)
    assert stage.check_brokers() == {"log-matching"}
