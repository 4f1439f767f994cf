"""ISR changes of many partitions: the number of requests to the controller, and the partitions that it checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest
from kmirror.protocol.message import Message
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from tests.sim.stage import records

TOPICS = [f"t{number}" for number in range(6)]
PARTITIONS = 10
TPS = [TopicPartition(topic, index) for topic in TOPICS for index in range(PARTITIONS)]


@pytest.fixture
def request_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives the number of partitions of each AlterPartition request that a controller decides."""
    sizes: list[int] = []
    decide = Controller.decide

    def record_request(self: Controller, now: Instant, body: Message, version: int, rights: Rights) -> Message | None:
        if isinstance(body, AlterPartitionRequest):
            sizes.append(sum(len(topic.partitions) for topic in body.topics))
        return decide(self, now, body, version, rights)

    monkeypatch.setattr(Controller, "decide", record_request)
    return sizes


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Simulation(seed=3), "a", brokers=3, configs={"replica.lag.time.max.ms": "2000"}) as made:
        for topic in TOPICS:
            made.create_topic(topic, PARTITIONS)
        made.simulation.run_until(made.is_settled)
        yield made


def write_everywhere(cluster: Cluster) -> None:
    producer = Producer(cluster)
    for tp in TPS:
        producer.send(records("r", tp=tp))


def image_of(cluster: Cluster, tp: TopicPartition) -> PartitionImage:
    found = cluster.image.topics.partition(tp)
    assert found is not None
    return found


def images(cluster: Cluster) -> list[PartitionImage]:
    return [image_of(cluster, tp) for tp in TPS]


def test_followers_that_fall_behind_together_leave_and_join_together(
    cluster: Cluster, request_sizes: list[int]
) -> None:
    simulation = cluster.simulation
    lines = [simulation.line("a-3", "a-1"), simulation.line("a-3", "a-2")]
    for line in lines:
        line.take_down()
    write_everywhere(cluster)
    simulation.run_until(lambda: all(3 not in p.isr or p.leader == 3 for p in images(cluster)), what="3 to leave")
    assert sum(request_sizes) >= 40 and len(request_sizes) <= 12, request_sizes
    request_sizes.clear()
    for line in lines:
        line.bring_up()
    simulation.run_until(lambda: all(len(p.isr) == 3 for p in images(cluster)), what="everybody to be in sync")
    assert sum(request_sizes) >= 40 and len(request_sizes) <= 12, request_sizes


def test_the_check_for_lagging_followers_covers_changed_partitions(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.simulation.run_for(span_s=3)
    looked: list[TopicPartition] = []
    lagging = Partition.lagging_members

    def record_request(self: Partition, now: Instant, lag_max: Duration) -> tuple[int, ...]:
        looked.append(self.tp)
        return lagging(self, now, lag_max)

    monkeypatch.setattr(Partition, "lagging_members", record_request)
    cluster.simulation.run_for(span_s=10)
    assert looked == [], "nothing moved"
    cluster.kill(3)
    tp = next(tp for tp in TPS if image_of(cluster, tp).leader == 1)
    Producer(cluster).send(records("r", tp=tp))
    assert 3 not in image_of(cluster, tp).isr
    assert set(looked) == {tp}
