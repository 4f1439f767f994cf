"""Overlapping faults of lines: the end of one leaves the other in force."""

from __future__ import annotations

import pytest

from kmirror.histories.execution import ActionExecutor, StepSkipped
from kmirror.histories.fault_actions import lose_power
from kmirror.histories.observer import Observer
from kmirror.histories.plan import Plan
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation


def hands(*, brokers: int = 1) -> ActionExecutor:
    """Return hands over running clusters a and b, with one broker each or with `brokers`."""
    scene = Scene(Plan(1, "test", (), {}, (), (), 0, 0), Simulation(1))
    for name in "ab":
        scene.clusters[name] = Cluster(scene.simulation, name, brokers=brokers)
        scene.clusters[name].start()
    return ActionExecutor(scene, Observer(scene))


def down(made: ActionExecutor, one: str, other: str) -> bool:
    return made.scene.simulation.world.network.is_down(one, other)


def test_a_line_that_comes_up_does_not_end_another_fault_of_the_same_ends() -> None:
    made = hands()
    world = made.scene.simulation.world
    made.take_down("a|b", 1_000)
    made.take_down("a>b", 200)
    with pytest.raises(StepSkipped, match="the line a>b is down"):
        made.take_down("a>b", 100)
    world.run_for(span_us=300 * MILLISECOND)
    assert down(made, "a-1", "b-1") and down(made, "b-1", "a-1")
    world.run_for(span_us=800 * MILLISECOND)
    assert not down(made, "a-1", "b-1") and not down(made, "b-1", "a-1")
    assert [(s.subject, s.begin < s.end) for s in made.scene.account.spans] == [("a>b", True), ("a|b", True)]


def test_a_broker_loses_its_controller_while_the_sites_stay_connected() -> None:
    made = hands()
    made.take_down("a-1|a-100", 0)
    assert down(made, "a-1", "a-controller") and not down(made, "a-1", "b-1")
    made.end_faults()
    assert not down(made, "a-1", "a-controller")


def test_a_broker_of_a_small_cluster_loses_power_only_with_another_in_sync() -> None:
    made = hands(brokers=3)
    cluster = made.scene.clusters["a"]
    cluster.create_topic("t", 1)
    made.kill("a", 3, 60_000)
    for short in (False, True):  # Broker 3 is in the ISR until its session ends, and its log end is unknown.
        with pytest.raises(StepSkipped):
            lose_power(made, "a", 2, 60_000, short=short)
    made.scene.simulation.run_until(lambda: len(cluster.image.topics["t"].partitions[0].isr) == 2, what="the ISR")
    with pytest.raises(StepSkipped, match="are down or fenced"):
        lose_power(made, "a", 2, 60_000)
    lose_power(made, "a", 2, 60_000, short=True)
    made.scene.simulation.run_until(lambda: len(cluster.image.topics["t"].partitions[0].isr) == 1, what="the ISR")
    with pytest.raises(StepSkipped, match="has ISR"):
        lose_power(made, "a", 1, 60_000, short=True)


def test_dead_nodes_are_started_after_the_faults() -> None:
    made = hands()
    made.kill("a", 1, 60_000)
    made.kill("b", 100, 0)
    made.end_faults()
    assert all(made.scene.clusters[name].runs(node) for name in "ab" for node in (1, 100))
    with pytest.raises(StepSkipped, match="faults have ended"):
        made.kill("a", 1, 100)
    assert made.scene.open_spans == {}


def test_slow_disks_recover_after_a_while_and_when_faults_end() -> None:
    made = hands()
    world = made.scene.simulation.world
    made.slow_disk("a-1", 500, 1_000)
    made.slow_disk("b-1", 700, 0)
    assert world.disk_workers.slow == {"a-1": 500 * MILLISECOND, "b-1": 700 * MILLISECOND}
    with pytest.raises(StepSkipped, match="the disks of a-1 are slow"):
        made.slow_disk("a-1", 100, 100)
    world.run_for(span_us=1_100 * MILLISECOND)
    assert world.disk_workers.slow == {"b-1": 700 * MILLISECOND}
    made.end_faults()
    assert world.disk_workers.slow == {}
