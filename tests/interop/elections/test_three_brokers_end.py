"""Three brokers of Kafka 4.3.1 are stopped or killed, and return; three of kmirror do the same (D71).

After each step leader, ISR, eligible leader replicas and last known leader are the same with both, and in the end the
records of a consumer too. KMIRROR_ROUNDS=all plays every way to end with every order of the returns,
KMIRROR_ROUNDS=0:12 a part.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import permutations, product
from pathlib import Path

import pytest

from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from tests.interop.elections.rounds import CONFIGS, VICTIMS, OurSide, RealSide, Round, compare_round
from tests.interop.mirror.brokers import RealCluster

pytestmark = pytest.mark.decision("D71")

ROUNDS = (
    # None shuts down cleanly: the last leader leads when it returns.
    Round(VICTIMS, (False, False, False), (2, 3, 4)),
    # The second one does: it leads, before the last leader or after it.
    Round((3, 4, 2), (False, True, False), (2, 3, 4)),
)


def selected_rounds() -> Sequence[Round]:
    """Return the selected rounds."""
    wanted = os.environ.get("KMIRROR_ROUNDS")
    if wanted is None:
        return ROUNDS
    # Partitions have their replicas in every order, so that the first to end may be any.
    every = [
        Round(VICTIMS, clean, returns)
        for clean, returns in product(product((False, True), repeat=3), permutations(VICTIMS))
    ]
    first, _, end = wanted.partition(":")
    return every if wanted == "all" else every[int(first) : int(end)]


def test_three_brokers_that_restart_leave_the_same_files(kafka_class_path: str, tmp_path: Path) -> None:
    ours = OurSide(cluster := Cluster(Simulation(1), "a", brokers=4, configs=CONFIGS, mirror_version=0))
    cluster.start()
    kafka = RealCluster("4.3.1", kafka_class_path, tmp_path / "kafka", brokers=4, alone=VICTIMS, configs=CONFIGS)
    with kafka:
        real = RealSide(kafka)
        for number, round_ in enumerate(selected_rounds()):
            assert compare_round(round_, number, real, ours) == [], f"in round {number}: {round_}"
