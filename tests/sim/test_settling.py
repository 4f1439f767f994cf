"""What components collect during an event goes out with it: `has_collected` is never False where something is due."""

from __future__ import annotations

import pytest

from kmirror.cluster.broker.broker import Broker
from kmirror.kernel.clock import Instant
from kmirror.mirror import driver
from kmirror.sim.cluster import CONTROLLER_ID, Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation


def test_nothing_collected_is_left_when_an_event_has_been_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    follow_up = Broker._follow_up
    looked = 0

    def checked(self: Broker, now: Instant) -> bool:
        nonlocal looked
        if follow_up(self, now):
            return True
        looked += 1
        assert not self.parts.components.settle(now), "something is due, and nothing said so"
        return False

    monkeypatch.setattr(Broker, "_follow_up", checked)
    monkeypatch.setattr(driver, "LOOKS_MAX", 2)
    simulation = Simulation(17)
    with Cluster(simulation, "a") as a, Cluster(simulation, "b") as b:
        topics = [f"t{number}" for number in range(8)]
        for topic in topics:
            a.create_topic(topic, 3)
        mirror = Mirror("dr", source=a, destination=b)
        mirror.create()
        for topic in topics:
            mirror.begin_add_topics([topic])
            for _ in range(40):
                simulation.step()  # What is asked meanwhile waits for the answers that are under way.
            a.produce(topic, 0, [b"one", b"two"])
        mirror.catch_up(within_s=60)
        b.kill(1)
        simulation.run_for(span_s=20)
        b.restart(1)
        a.produce(topics[0], 0, [b"three"])
        mirror.catch_up(within_s=60)
        mirror.fail_over()
        b.produce(topics[0], 0, [b"four"])
        b.kill(2)
        b.kill(CONTROLLER_ID)
        simulation.run_for(span_s=70)  # Brokers propose in vain to take the one that is gone out of the ISR.
        b.restart(CONTROLLER_ID)
        simulation.run_for(span_s=20)
    assert looked > 1000
