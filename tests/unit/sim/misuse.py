"""A small stage for tests of misuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from kmirror import Cluster, Consumer, Mirror, Producer, Simulation, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.records import RecordData
from kmirror.spec.error_codes import ErrorCode

T0, T9, NOPE = (TopicPartition(topic, partition) for topic, partition in (("t", 0), ("t", 9), ("nope", 0)))
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
ONE = RecordData(value=b"x")


@dataclass
class Stage:
    """A simulation with cluster a, of one broker and with topic t of two partitions, and with cluster b."""

    simulation: Simulation = field(default_factory=lambda: Simulation(1))

    def __post_init__(self) -> None:
        self.a, self.b = (Cluster(self.simulation, name, brokers=1) for name in "ab")
        self.a.start()
        self.a.create_topic("t", 2)

    def unstarted(self) -> Cluster:
        return Cluster(self.simulation, "c", brokers=2)

    def transactional(self) -> Producer:
        return Producer(self.a, transactional_id="x")

    def begun(self) -> Producer:
        producer = self.transactional()
        producer.begin_transaction()
        return producer

    def closed(self, producer: Producer | None = None) -> Producer:
        found = producer or Producer(self.a)
        found.close()
        return found

    def mirror(self, *, create: bool = True, topics: tuple[str, ...] = ("t",)) -> Mirror:
        self.b.start()
        mirror = Mirror("m", source=self.a, destination=self.b)
        if create:
            mirror.create()
            mirror.add_topics(topics)
        return mirror

    def send(self, *records: Any, to: Any = T0) -> object:
        return Producer(self.a).send({to: list(records)})

    def assigned(self, *partitions: TopicPartition) -> Consumer:
        consumer = Consumer(self.a)
        consumer.assign(partitions)
        return consumer

    def after(self, *calls: Callable[[], object]) -> None:
        for call in calls:
            call()


ANY: Any = None
Misuse = Callable[[Stage], object]


def check_told(misuse: Misuse, told: str) -> None:
    """Check that misuse raises an error with this text, immediately."""
    stage = Stage()
    began = stage.simulation.now_ms
    with pytest.raises(UsageError, match=told):
        misuse(stage)
    assert stage.simulation.now_ms - began < 2_000, "it is told at once, not after a timeout"
