"""Partitions that are checked, and how often: only changed ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from kmirror.cluster.broker.apis import fetch
from kmirror.cluster.replication.fetch_sessions import CachedPartition
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror import driver
from kmirror.mirror.driver import PartitionDriver
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_loader import StateLoader
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import StagedCluster

TOPICS = [f"t{number}" for number in range(20)]
PARTITIONS = 5


@dataclass
class Stage:
    """Two clusters of one broker, with 100 partitions at the source."""

    simulation: Simulation
    source: StagedCluster
    destination: StagedCluster
    mirror: Mirror
    checks: list[str] = field(default_factory=list)
    """Checks since the list was last cleared."""
    checks_max: int = 0
    """The most checks in one event."""


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    simulation = Simulation(seed=1)
    with StagedCluster(simulation, "a", brokers=1) as a, StagedCluster(simulation, "b", brokers=1) as b:
        for topic in TOPICS:
            a.create_topic(topic, PARTITIONS)
        staged = Stage(simulation, a, b, Mirror("m", source=a, destination=b))
        take_step, counted = PartitionDriver.take_step, 0

        def count(self: PartitionDriver, now: Instant, mp: MirrorPartition) -> None:
            nonlocal counted
            counted += 1
            staged.checks.append(str(mp.tp))
            take_step(self, now, mp)

        def after_event(now: Instant) -> None:
            nonlocal counted
            staged.checks_max, counted = max(staged.checks_max, counted), 0

        monkeypatch.setattr(PartitionDriver, "take_step", count)
        simulation.world.after_event.append(after_event)
        staged.mirror.create()
        yield staged


def mirror_all(stage: Stage) -> None:
    """Bring every partition to MIRRORING, and wait until the clusters are idle."""
    stage.mirror.add_topics(TOPICS)
    stage.mirror.catch_up()
    stage.simulation.run_for(span_s=3)
    stage.checks.clear()


def test_a_refresh_without_changes_checks_no_partition(stage: Stage) -> None:
    mirror_all(stage)
    stage.simulation.run_for(span_s=65)
    assert stage.checks == []


def test_a_changed_topic_config_checks_only_its_partitions(stage: Stage) -> None:
    mirror_all(stage)
    assert stage.destination.alter("t7", {"retention.ms": "1000000"}) is ErrorCode.NONE
    stage.simulation.run_for(span_s=5)
    assert sorted(stage.checks) == [f"t7-{number}" for number in range(PARTITIONS)]


def test_a_topic_that_leaves_the_mirror_causes_no_other_checks(stage: Stage) -> None:
    mirror_all(stage)
    stage.mirror.remove_topics(["t7"])
    stage.simulation.run_for(span_s=5)
    assert {checked.partition("-")[0] for checked in stage.checks} == {"t7"}


def test_only_partitions_of_a_new_source_leader_are_checked(stage: Stage) -> None:
    mirror_all(stage)
    stage.source.bump(5, TopicPartition("t3", 0))
    stage.simulation.run_for(span_s=5)
    assert set(stage.checks) == {"t3-0"}


def test_no_event_checks_more_partitions_than_its_budget(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "STEPS_MAX", 7)
    mirror_all(stage)
    stage.mirror.fail_over()
    assert stage.checks_max == 7


def test_partitions_that_failed_together_are_tried_again_together(stage: Stage) -> None:
    """One timer for all of them; it was one for each."""

    def refuse(now: Instant, inbound: Inbound) -> None:
        inbound.reply(DescribeMirrorsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED))

    stage.source.broker(1).parts.server.serve({DescribeMirrorsRequest: refuse})
    stage.mirror.add_topics(TOPICS)
    stage.simulation.run_for(span_s=5)
    fired: list[str] = []
    stage.simulation.world.trace.listeners.append(
        lambda now, actor, event: fired.append(event) if "retry" in event else None
    )
    stage.checks.clear()
    stage.simulation.run_for(span_s=5)
    assert len(stage.checks) >= 5 * len(TOPICS) * PARTITIONS, "every partition goes on trying"
    assert len(fired) <= 11


def test_a_withheld_partition_is_read_again_when_it_may_be_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the new leader has read the state, followers' fetches continue without a check of the partition (D30)."""
    simulation, held_back, examined = Simulation(seed=1), [], []
    load, examine = StateLoader.load, fetch._Fetch._examine

    def wait(self: StateLoader, now: Instant, mp: MirrorPartition) -> None:
        mp.is_busy = True
        held_back.append(lambda: load(self, simulation.world.now, mp))

    def note(self: fetch._Fetch, now: Instant, cached: CachedPartition, *, is_first: bool) -> bool:
        examined.append(str(cached.tp))
        return examine(self, now, cached, is_first=is_first)

    monkeypatch.setattr(StateLoader, "load", wait)
    monkeypatch.setattr(fetch._Fetch, "_examine", note)
    with Cluster(simulation, "a", brokers=1) as a, Cluster(simulation, "b", brokers=2) as b:
        a.create_topic("t", 20)
        mirror = Mirror("m", source=a, destination=b)
        mirror.create()
        mirror.begin_add_topics(["t"])
        simulation.run_for(span_s=3)
        assert len(held_back) == 20
        examined.clear()
        simulation.run_for(span_s=10)
        assert examined.count("t-0") == 0
        for resume in held_back:
            resume()
        mirror.catch_up()
        assert examined.count("t-0") > 0


def test_a_failing_step_does_not_affect_other_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation, load, failed = Simulation(seed=1), StateLoader.load, []

    def fail_once(self: StateLoader, now: Instant, mp: MirrorPartition) -> None:
        if mp.tp.partition == 3 and len(failed) < 2:
            failed.append(mp.tp)
            raise ValueError("a bug")
        load(self, now, mp)

    monkeypatch.setattr(StateLoader, "load", fail_once)
    with (
        Cluster(simulation, "a", brokers=1) as a,
        Cluster(simulation, "b", brokers=1, on_failure=OnFailure.CONTINUE) as b,
    ):
        a.create_topic("t", 20)
        mirror = Mirror("m", source=a, destination=b)
        mirror.create()
        mirror.add_topics(["t"])
        mirror.catch_up()
        assert len(failed) == 2 and b.broker(1).context.failures.count == 2
