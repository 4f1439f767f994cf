"""kmirror's transaction coordinator sends and writes the same as Kafka's, with both protocols."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from tests.interop.clients.real import real_clusters
from tests.interop.groups.talk import RealPeer, SimulatedPeer, Talk
from tests.interop.transactions import script


def ours() -> list[tuple[str, Any]]:
    with Cluster(Simulation(1), "a", brokers=1, configs=script.CONFIGS) as cluster:
        talk = Talk(SimulatedPeer(cluster))
        script.run(talk)
        return talk.outcomes


def theirs(class_path: str, folder: Path) -> list[tuple[str, Any]]:
    with (
        real_clusters(class_path, folder, (1,), configs=script.CONFIGS) as addresses,
        contextlib.closing(RealPeer(addresses[1])) as peer,
    ):
        talk = Talk(peer)
        script.run(talk)
        return talk.outcomes


def test_a_kafka_coordinator_responds_and_writes_the_same(kafka_class_path: str, tmp_path: Path) -> None:
    expected, found = theirs(kafka_class_path, tmp_path), ours()
    different = [
        f"{wanted[0]}\n  Kafka:   {wanted[1]}\n  kmirror: {said[1]}"
        for wanted, said in zip(expected, found, strict=True)
        if said != wanted
    ]
    assert not different, "\n".join(different)
    assert len(found) > 100
