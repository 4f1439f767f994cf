"""Brokers are killed under load: acknowledged records are stored exactly once, and clients recover by themselves.

Three brokers, min.insync.replicas 2, an idempotent producer with acks=all and a consumer in a group, both librdkafka's.
KMIRROR_KILL_ROUNDS is the number of kills and restarts; KMIRROR_KILL_SEED selects the brokers.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from typing import Any

from confluent_kafka import Consumer

import kmirror.testing
from kmirror.net.cluster import TcpCluster
from tests.producer_load import QUIET, WITHIN_S, Load, faults_of

ROUNDS = int(os.environ.get("KMIRROR_KILL_ROUNDS", "3"))
SEED = int(os.environ.get("KMIRROR_KILL_SEED", "1"))
TOPIC = "orders"
PARTITIONS = 3
# So that a dead broker is detected soon. Kafka's defaults are nine seconds and two.
CONFIGS = {
    "min.insync.replicas": "2",
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "200",
    "replica.lag.time.max.ms": "2000",
}


class Reader:
    """Reads committed records as a member of a group, on its own thread."""

    def __init__(self, servers: str) -> None:
        configs = {"group.id": "readers", "auto.offset.reset": "earliest", "session.timeout.ms": 6000}
        self._consumer = Consumer({"bootstrap.servers": servers, **configs, **QUIET})
        self._consumer.subscribe([TOPIC])
        self.values: Counter[bytes] = Counter()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._ending.is_set():
            message = self._consumer.poll(0.05)
            if message is not None and message.error() is None:
                value = message.value()
                assert value is not None
                self.values[value] += 1

    def end(self) -> None:
        self._ending.set()
        self._thread.join()
        self._consumer.close()


def stored_values(cluster: TcpCluster) -> list[dict[int, bytes]]:
    """Return a reader's values of each partition, by their offsets."""
    rows: list[Any] = [cluster.read(tp) for tp in cluster.partitions([TOPIC])]
    return [{record.offset: record.value for record in records} for records in rows]


def test_a_lost_a_moved_a_doubled_and_a_strange_value_are_seen() -> None:
    acked = {b"a": (0, 0), b"b": (0, 1), b"c": (1, 0)}
    whole = [{0: b"a", 1: b"b"}, {0: b"c"}]
    assert faults_of(acked, whole) == []
    for broken in ([{0: b"a"}, {0: b"c"}], [{0: b"b", 1: b"a"}, {0: b"c"}]):
        assert "not where they were" in faults_of(acked, broken)[0]
    assert faults_of(acked, [*whole, {0: b"c"}]) == ["b'c' is there 2 times"]
    assert faults_of(acked, [*whole, {0: b"d"}]) == ["b'd' was not acknowledged"]


def test_acknowledged_records_survive_brokers_killed_under_load() -> None:
    chance = random.Random(SEED)
    with kmirror.testing.cluster(brokers=3, topics={TOPIC: PARTITIONS}, configs=CONFIGS) as cluster:
        load, reader = Load(cluster.bootstrap_servers, TOPIC, PARTITIONS), Reader(cluster.bootstrap_servers)
        try:
            load.wait_for_more()
            for _ in range(ROUNDS):
                victim = chance.choice(cluster.broker_ids)
                cluster.kill(victim)
                load.wait_for_more()
                cluster.restart(victim)
                load.wait_for_more()
                cluster.until(lambda: _has_full_isr(cluster), within_s=WITHIN_S, what="a full ISR")
        finally:
            load.end()
        assert not load.failed
        assert len(load.acked) == load.sent
        assert faults_of(load.acked, stored_values(cluster)) == []
        try:
            cluster.until(lambda: len(reader.values) == load.sent, within_s=WITHIN_S, what="the reader to have all")
        finally:
            reader.end()


def _has_full_isr(cluster: TcpCluster) -> bool:
    rows = cluster.image.topics[TOPIC].partitions.values()
    return all(row.leader >= 0 and len(row.isr) == len(row.replicas) for row in rows)
