"""Properties of a line: by name and unit, for clusters and nodes, in both directions or one, during a run."""

from __future__ import annotations

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration
from kmirror.sim.cluster import Cluster
from kmirror.sim.facts import LineChanged, LineDown, LineUp
from kmirror.sim.lines import Line
from kmirror.sim.network import LineSettings
from kmirror.sim.simulation import Simulation


def two() -> Simulation:
    """Return a simulation with clusters a and b, of two brokers each, that were not started."""
    simulation = Simulation(11)
    for name in "ab":
        Cluster(simulation, name, brokers=2)
    return simulation


def delays(simulation: Simulation, sender: str, receiver: str, *, size: int = 100, count: int = 200) -> list[Duration]:
    """Return the delays of frames that are sent a second apart."""
    network, now = simulation.world.network, simulation.world.now
    starts = [now + n * SECOND for n in range(count)]
    return [network.arrival(start, sender, receiver, start, size) - start for start in starts]


def test_latency_and_jitter_bound_the_delay_of_a_frame() -> None:
    simulation = two()
    simulation.line("a", "b").set(latency_ms=100, jitter_ms=10)
    for ends in (("a-1", "b-2"), ("b-controller", "a-2")):
        found = delays(simulation, *ends)
        assert 90 * MILLISECOND <= min(found) < 92 * MILLISECOND and 108 * MILLISECOND < max(found) <= 110 * MILLISECOND
    assert max(delays(simulation, "a-1", "a-2")) <= MILLISECOND, "within a site nothing has changed"
    simulation.line("a", "b").set(jitter_ms=0)
    assert set(delays(simulation, "a-1", "b-1")) == {100 * MILLISECOND}
    simulation.line("a", "b").set(latency_ms=0.5, jitter_ms=2)
    found = delays(simulation, "a-1", "b-1")
    assert min(found) >= 0 and 2 * MILLISECOND < max(found) <= 2.5 * MILLISECOND
    simulation.line("a", "b").reset()
    found = delays(simulation, "a-1", "b-1")
    assert min(found) >= 20 * MILLISECOND and max(found) <= 30 * MILLISECOND


def test_a_one_way_fault_does_not_change_the_other_direction() -> None:
    simulation = two()
    simulation.line("a", "b", one_way=True).set(latency_ms=300, jitter_ms=0)
    assert set(delays(simulation, "a-1", "b-1")) == {300 * MILLISECOND}
    assert max(delays(simulation, "b-1", "a-1")) <= 30 * MILLISECOND


def test_properties_of_nodes_override_those_of_their_clusters() -> None:
    simulation = two()
    simulation.line("a-1", "b-1").set(latency_ms=7)
    simulation.line("a", "b").set(latency_ms=100, jitter_ms=0)
    simulation.line("a", "b-2").set(latency_ms=50)
    simulation.line("a-1", "a-2").set(latency_ms=5, jitter_ms=0)
    expected = {("a-1", "b-1"): 7, ("a-2", "b-1"): 100, ("a-2", "b-2"): 50, ("b-2", "a-1"): 50, ("a-1", "a-2"): 5}
    for ends, latency_ms in expected.items():
        assert set(delays(simulation, *ends)) == {latency_ms * MILLISECOND}, ends


def test_all_links_of_a_line_share_its_bandwidth() -> None:
    simulation = two()
    simulation.line("a", "b").set(latency_ms=0, jitter_ms=0, bandwidth_kbps=8_000)  # One byte each microsecond.
    network, now = simulation.world.network, simulation.world.now
    taken = [network.arrival(now, sender, "b-1", now, 1_000) - now for sender in ("a-1", "a-2", "a-1")]
    assert taken == [1_000, 2_000, 3_000]
    assert network.arrival(now, "b-1", "a-1", now, 1_000) - now == 1_000, "each direction has its own"
    simulation.line("a-2", "b-1").set(bandwidth_kbps=80_000)
    assert network.arrival(now, "a-2", "b-1", now, 1_000) - now == 100, "and so has a line of two nodes"
    assert network.arrival(now, "a-1", "b-1", now, 1_000) - now == 4_000
    simulation.line("a", "b").set(bandwidth_kbps=0)
    assert network.arrival(now, "a-1", "b-1", now, 1_000) == now


def test_loss_and_reordering_hold_frames_up() -> None:
    simulation = two()
    line = simulation.line("a", "b")
    line.set(latency_ms=20, jitter_ms=0, loss_ppm=100_000)
    found = delays(simulation, "a-1", "b-1")
    assert 5 <= sum(delay > 200 * MILLISECOND for delay in found) <= 50
    line.set(loss_ppm=0, reorder_ppm=500_000)
    found = delays(simulation, "a-1", "b-1")
    assert 60 <= sum(delay > 20 * MILLISECOND for delay in found) <= 140 and max(found) <= 70 * MILLISECOND


def test_changes_of_other_lines_leave_the_delays_of_a_line_unchanged() -> None:
    def drawn(*, elsewhere: bool) -> list[Duration]:
        simulation = two()
        if elsewhere:
            simulation.line("a-1", "a-2").set(latency_ms=9, loss_ppm=5)
        return delays(simulation, "a-1", "b-1")

    assert drawn(elsewhere=True) == drawn(elsewhere=False)


def test_a_change_of_a_line_is_reported() -> None:
    simulation = two()
    line = simulation.line("a-1", "b", one_way=True)
    line.set(latency_ms=5, loss_ppm=10)
    line.set()
    line.reset()
    assert [seen.fact for seen in simulation.facts(LineChanged)] == [
        LineChanged("a-1>b", (("a-1", "b"),), LineSettings(latency_ms=5, loss_ppm=10)),
        LineChanged("a-1>b", (("a-1", "b"),), LineSettings()),
    ]
    assert [line.partition("line ")[2] for line in list(simulation.world.trace.lines)[-2:]] == [
        "a-1>b set: latency_ms=5 loss_ppm=10",
        "a-1>b reset",
    ]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"latency_ms": -1}, "latency_ms must be a number of milliseconds, 0 or more, not -1"),
        ({"latency_ms": "5"}, "latency_ms must be a number of milliseconds, 0 or more, not '5'"),
        ({"jitter_ms": float("nan")}, "jitter_ms must be a number of milliseconds, 0 or more, not nan"),
        ({"bandwidth_kbps": 1.5}, "bandwidth_kbps must be an integer from 0 on, not 1.5"),
        ({"loss_ppm": 1_000_001}, "loss_ppm must be an integer from 0 to 1000000, not 1000001"),
        ({"reorder_ppm": True}, "reorder_ppm must be an integer from 0 to 1000000, not True"),
    ],
)
def test_properties_that_no_line_has_are_refused(settings: dict[str, float], text: str) -> None:
    line: Line = two().line("a", "b")
    with pytest.raises(UsageError) as refused:
        line.set(**settings)  # type: ignore[arg-type]
    assert str(refused.value) == text


def test_a_cluster_and_itself_are_connected_by_the_lines_of_its_nodes() -> None:
    simulation = two()
    simulation.line("a", "a").take_down()
    assert simulation.line("a-1", "a-2").is_down is simulation.line("a", "b").is_down is False
    assert simulation.world.network.is_down("a-1", "a-2") and not simulation.world.network.is_down("a-1", "b-1")
    assert [seen.fact for seen in simulation.facts(LineDown)] == [LineDown("a|a", (("a", "a"),))]


def test_a_direction_already_down_is_not_reported_again() -> None:
    simulation = two()
    there, both = simulation.line("a", "b", one_way=True), simulation.line("b", "a")
    for line in (there, there, both, both):
        line.take_down()
    both.bring_up()
    there.bring_up()
    assert [seen.fact for seen in simulation.facts(object)] == [
        LineDown("a>b", (("a", "b"),)),
        LineDown("b|a", (("b", "a"),)),
        LineUp("b|a", (("b", "a"), ("a", "b"))),
    ]
