"""Number of DescribeMirrors requests during a wait."""

from __future__ import annotations

import pytest

from kmirror.assembly import mirrors
from kmirror.assembly.mirrors import MirrorRow
from kmirror.errors import SimulationFailure
from kmirror.mirror.states import MirrorState
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation

PARTITIONS = 8


def times_described(within_s: float) -> int:
    """Return how often a wait for a state that never comes describes the mirror."""
    simulation = Simulation(1)
    a, b = (Cluster(simulation, name, brokers=1, replication_factor=1) for name in "ab")
    a.start()
    b.start()
    a.create_topic("t", PARTITIONS)
    mirror = Mirror("m", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["t"])
    mirror.catch_up()
    seen: list[list[MirrorRow]] = []
    with pytest.raises(SimulationFailure):
        mirror.wait_for_state(MirrorState.STOPPED, mirror.partitions(), within_s=within_s, watch=seen.append)
    assert all(len(rows) == PARTITIONS for rows in seen)
    return len(seen)


def test_a_small_mirror_is_described_twice_a_second() -> None:
    assert times_described(10) in (19, 20, 21)


def test_a_large_mirror_is_described_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrors, "ROWS_PER_S", 4)
    assert times_described(10) in (5, 6)
