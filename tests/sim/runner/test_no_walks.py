"""Periodic work, and reactions to changed metadata, never iterate over all partitions of a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.memory_store import MemoryStore
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import StagedCluster, records

TOPICS = [f"t{number}" for number in range(8)]
CONFIGS = {"log.initial.task.delay.ms": "10000000"}
"""Retention has to check all logs, every five minutes."""


class Unwalkable(dict[Any, Any]):
    """A dict that allows only lookups."""

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("a walk over everything")

    keys = values = items = __iter__  # type: ignore[assignment]


@pytest.fixture
def pair() -> Iterator[tuple[StagedCluster, StagedCluster, Mirror]]:
    """Two clusters with 40 mirrored partitions, and no pending work."""
    simulation = Simulation(seed=1)
    with (
        StagedCluster(simulation, "a", brokers=3, configs=CONFIGS) as a,
        StagedCluster(simulation, "b", brokers=3, configs=CONFIGS) as b,
    ):
        for topic in TOPICS:
            a.create_topic(topic, 5)
        mirror = Mirror("m", source=a, destination=b)
        mirror.create()
        mirror.add_topics(TOPICS)
        mirror.catch_up()
        simulation.run_for(span_s=10)
        yield a, b, mirror


def forbid_walks_over(table: dict[Any, Any]) -> None:
    """Forbid iteration over a table with its own class, wherever it is referenced."""
    table.__class__ = type("UnwalkableTable", (Unwalkable, type(table)), {})


def forbid_walks(*clusters: StagedCluster) -> None:
    for cluster in clusters:
        for broker_id in cluster.living():
            parts = cluster.broker(broker_id).parts
            forbid_walks_over(parts.replicas.partitions)
            forbid_walks_over(parts.context.image.topics)
            mirrors = cluster.component(broker_id).context
            mirrors.partitions = Unwalkable(mirrors.partitions)
            mirrors.assignments = Unwalkable(mirrors.assignments)
        forbid_walks_over(cluster.controller.image.topics)


def test_idle_nodes_walk_over_nothing_and_write_nothing(
    pair: tuple[StagedCluster, StagedCluster, Mirror], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, _ = pair
    forbid_walks(a, b)
    written: list[str] = []
    monkeypatch.setattr(MemoryStore, "write_file", lambda self, name, data: written.append(name))
    a.simulation.run_for(span_s=60)
    assert written == []


def test_a_checkpoint_writes_the_logs_that_moved(
    pair: tuple[StagedCluster, StagedCluster, Mirror], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, _ = pair
    written: list[MemoryStore] = []
    write_file = MemoryStore.write_file

    def note(self: MemoryStore, name: str, data: bytes) -> None:
        written.append(self)
        write_file(self, name, data)

    monkeypatch.setattr(MemoryStore, "write_file", note)
    Producer(a).send(records("r", tp=TopicPartition("t3", 1)))
    a.simulation.run_for(span_s=20)
    moved = {
        id(partition.log.store)
        for cluster in (a, b)
        for partition in cluster.replicas(TopicPartition("t3", 1)).values()
    }
    assert {id(store) for store in written} == moved


def test_changes_of_the_metadata_are_followed_where_they_are(
    pair: tuple[StagedCluster, StagedCluster, Mirror],
) -> None:
    a, b, mirror = pair
    simulation = a.simulation
    forbid_walks(a, b)
    assert b.alter("t1", {"min.insync.replicas": "2"}) is ErrorCode.NONE
    mirror.begin_remove_topics(["t2"])
    a.begin_create_topic("new")
    b.begin_create_topic("new")
    simulation.run_for(span_s=5)
    removed = RemoveTopicRecord(topic_id=a.controller.image.topics["t7"].topic_id)
    a.controller.commit(simulation.world.now, [removed])
    b.kill(3)
    simulation.run_for(span_s=20)
    assert not b.controller.image.brokers.is_alive(3)
    for broker_id in a.living():
        held = a.broker(broker_id).parts.replicas.partitions
        assert not any(TopicPartition("t7", index) in held for index in range(5))
    for broker_id in b.living():
        found = b.broker(broker_id).parts.replicas.partitions[TopicPartition("t1", 0)]
        assert found.min_insync_replicas == 2
        assert b.component(broker_id).context.assignments["t2"].wish.name == "REMOVE"
