"""Responses of Kafka and of kmirror about topics: the same conversation with both, including error texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from tests.interop.clients.real import real_clusters, shared_configs
from tests.interop.topics import script
from tests.interop.topics.session import Part, RealPeer, Session, SimulatedPeer

SIZES = (1, 3)


@pytest.fixture(scope="module")
def addresses(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, str]]:
    with real_clusters(kafka_class_path, tmp_path_factory.mktemp("kafka"), SIZES) as found:
        yield found


@pytest.fixture(scope="module")
def ours() -> dict[int, SimulatedPeer]:
    """Return kmirror clusters by size, without mirroring, which Kafka does not support."""
    peers = {}
    for size in SIZES:
        cluster = Cluster(Simulation(size), "a", brokers=size, configs=shared_configs(size), mirror_version=0)
        cluster.start()
        peers[size] = SimulatedPeer(cluster)
    return peers


@pytest.mark.parametrize(
    ("part", "size"),
    [pytest.param(part, 1, id=part.__name__) for part in script.ON_ONE]
    + [pytest.param(part, 3, id=part.__name__) for part in script.ON_THREE],
)
def test_a_kafka_cluster_responds_the_same(
    part: Part, size: int, addresses: dict[int, str], ours: dict[int, SimulatedPeer]
) -> None:
    with RealPeer(addresses[size]) as real:
        expected = Session(real)
        part(expected)
    found = Session(ours[size])
    part(found)
    for label, outcome in expected.outcomes.items():
        assert found.outcomes[label] == outcome, label
    assert list(found.outcomes) == list(expected.outcomes) and len(found.outcomes) > 10
