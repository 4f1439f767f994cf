"""Consumers in a rack read from kmirror's followers (KIP-392): librdkafka's, and Kafka's own with its console tool."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from confluent_kafka import Consumer, TopicPartition

import kmirror.testing
from kmirror.hooks.hooks import Hooks
from kmirror.hooks.received import ReceivedRequest
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.fetch_request import FetchRequest
from tests.interop.jvm import java
from tests.producer_load import QUIET

TOPIC = "orders"
RACKS = {1: "east", 2: "west", 3: "north"}
SELECTOR = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}
VALUES = [str(number).encode() for number in range(30)]
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleConsumer"
WITHIN_S = 60


@dataclass
class Racks:
    """A cluster of three brokers in racks, and the brokers that received fetches, in order."""

    cluster: TcpCluster
    asked: list[int] = field(default_factory=list)

    @property
    def leader(self) -> int:
        return self.cluster.image.topics[TOPIC].partitions[0].leader

    @property
    def follower(self) -> int:
        return next(broker_id for broker_id in RACKS if broker_id != self.leader)

    def on_fetch(self, request: ReceivedRequest) -> None:
        assert isinstance(request.body, FetchRequest)
        if request.body.topics:  # Kafka's consumer ends its session with the leader by an empty fetch.
            self.asked.append(request.node_id)


@pytest.fixture
def racks() -> Iterator[Racks]:
    hooks = Hooks()
    with kmirror.testing.cluster(
        brokers=3, topics={TOPIC: 1}, configs=SELECTOR, racks=RACKS, interpose=hooks
    ) as cluster:
        cluster.produce(TOPIC, 0, VALUES)
        made = Racks(cluster)
        hooks.on(FetchRequest, from_nodes=False).watch(made.on_fetch)
        yield made


def read(consumer: Consumer, count: int) -> list[bytes]:
    found = []
    while len(found) < count:
        message = consumer.poll(WITHIN_S)
        assert message is not None, f"no more than {len(found)} values"
        assert message.error() is None, message.error()
        found.append(message.value() or b"")
    return found


def test_librdkafka_reads_from_the_follower_in_its_rack_and_then_from_the_leader(racks: Racks) -> None:
    leader, follower = racks.leader, racks.follower
    configs = {"group.id": "g", "client.rack": RACKS[follower], "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": racks.cluster.bootstrap_servers, **configs, **QUIET})
    try:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        assert read(consumer, len(VALUES)) == VALUES
        assert racks.asked[0] == leader
        assert set(racks.asked[1:]) == {follower}
        racks.cluster.kill(follower)
        racks.cluster.produce(TOPIC, 0, [b"later"])
        assert read(consumer, 1) == [b"later"]
        assert racks.asked[-1] == leader
    finally:
        consumer.close()


def test_kafkas_own_consumer_reads_from_the_follower_in_its_rack(racks: Racks, kafka_class_path: str) -> None:
    leader, follower = racks.leader, racks.follower
    reads = ["--bootstrap-server", racks.cluster.bootstrap_servers, "--topic", TOPIC, "--from-beginning"]
    rack = ["--max-messages", str(len(VALUES)), "--command-property", f"client.rack={RACKS[follower]}"]
    done = subprocess.run(
        [*java(kafka_class_path, CONSOLE), *reads, *rack],
        capture_output=True,
        timeout=WITHIN_S,
        check=True,
    )
    assert done.stdout.split() == VALUES
    assert racks.asked[0] == leader
    assert set(racks.asked[1:]) == {follower}
