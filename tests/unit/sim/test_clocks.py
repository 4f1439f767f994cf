"""Wrong clocks: the time shown to nodes, the firing of their timers, and no step back while a node runs."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.sim.clocks import WrongClock
from kmirror.sim.cluster import Cluster
from kmirror.sim.facts import BrokerFenced
from kmirror.sim.simulation import Simulation

HOUR_MS = 3_600_000


@pytest.mark.parametrize("ahead", [-5_000_000, 0, 7])
@pytest.mark.parametrize("ppm", [-500, 0, 333, 20_000])
def test_a_timer_fires_at_the_first_instant_of_its_time_on_the_clock(ahead: int, ppm: int) -> None:
    clock = WrongClock(ahead, ppm, 1_000)
    for local in range(clock.local(2_000), clock.local(2_000) + 300):
        instant = clock.instant(local)
        assert clock.local(instant) >= local > clock.local(instant - 1)


def stamp(cluster: Cluster) -> int:
    """Return the time that the leader gives a record, as an offset from the world's in ms."""
    cluster.produce("t", 0, [b"v"])
    leader = cluster.leader(cluster.partitions(["t"])[0])
    assert leader is not None
    *_, batch = leader.log.batches()
    return batch.max_timestamp - cluster.simulation.now_ms


def test_a_clock_jumps_immediately_and_is_corrected_by_a_restart() -> None:
    with Simulation(seed=1) as simulation, Cluster(simulation, "a", brokers=1) as a:
        a.create_topic("t", configs={"message.timestamp.type": "LogAppendTime"})
        assert abs(stamp(a)) < 100
        a.set_clock(1, ahead_ms=HOUR_MS)
        assert abs(stamp(a) - HOUR_MS) < 100
        a.set_clock(1, ahead_ms=-HOUR_MS)
        assert abs(stamp(a) - HOUR_MS) < 100
        a.kill(1)
        a.restart(1)
        simulation.run_for(span_s=10)
        assert abs(stamp(a) + HOUR_MS) < 100
        a.set_clock(1)
        assert abs(stamp(a)) < 100


def test_a_fast_clock_gains_time_and_timers_follow_it() -> None:
    with Simulation(seed=1) as simulation, Cluster(simulation, "a", brokers=1) as a:
        a.create_topic("t", configs={"message.timestamp.type": "LogAppendTime"})
        a.set_clock(1, ppm=100_000)
        simulation.run_for(span_s=30)
        assert abs(stamp(a) - 3_000) < 200, "a tenth of thirty seconds"
        world = simulation.world
        before = world.events
        simulation.run_for(span_s=10)
        assert world.events - before < 5_000, "no timer goes off over and over"


def test_a_leap_of_the_controllers_clock_ends_all_sessions_at_once() -> None:
    with Simulation(seed=1) as simulation, Cluster(simulation, "a") as a:
        a.set_clock(CONTROLLER_ID, ahead_ms=HOUR_MS)
        simulation.run_for(span_s=1)
        assert sorted(seen.fact.broker_id for seen in simulation.facts(BrokerFenced)) == [1, 2, 3]
        simulation.run_until(a.is_settled, within_s=10)
