"""A compacted topic of Kafka with an aggressive cleaner: consumers read the latest value of every key here.

Mirrored, failed over with a lag, written to here, failed back, and paused for longer than `delete.retention.ms`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from kmirror.net.cluster import TcpCluster
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.destination import Mirrored
from tests.interop.mirror.source import QUIET, Source
from tests.interop.mirror.waiting import WITHIN_S, wait_for

TOPIC, KEYS, RECORDS, DELETE_RETENTION_S = "latest", 12, 10, 1.0
CLEANED = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": str(int(DELETE_RETENTION_S * 1000)),
}
OURS = {
    "mirror.metadata.refresh.interval.ms": "500",
    "log.cleaner.backoff.ms": "200",
    "log.initial.task.delay.ms": "100",
}
GONE, GONE_LATER = b"deleted in the pause", b"deleted before the failback"
Latest = dict[bytes, bytes]


class Writer:
    """Writes random keys to either cluster; a value in five is a tombstone."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.count = 0

    def write(self, servers: str, batches: int) -> None:
        """Write batches, each into a new segment."""
        for _ in range(batches):
            keys = [b"k%d" % self.rng.randrange(KEYS) for _ in range(RECORDS)]
            self.put(servers, {key: None if self.rng.random() < 0.2 else self.value() for key in keys})

    def put(self, servers: str, rows: Mapping[bytes, bytes | None]) -> None:
        """Write a batch of keys and values; a value of None deletes its key."""
        producer = Producer({"bootstrap.servers": servers, **QUIET})
        for key, value in rows.items():
            producer.produce(TOPIC, value, key=key, partition=0)
        assert producer.flush(WITHIN_S) == 0
        time.sleep(0.12)  # A segment is rolled by its age in ms.

    def value(self) -> bytes:
        self.count += 1
        return b"value %d" % self.count


def read(servers: str) -> Latest:
    """Return the latest value of each key for a consumer that reads everything."""
    configs = {"bootstrap.servers": servers, "group.id": "reader", "enable.partition.eof": True, "log_level": 0}
    consumer = Consumer(configs)
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: Latest = {}
    while True:
        message = consumer.poll(WITHIN_S)
        assert message is not None, "no end of the partition"
        if (error := message.error()) is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            consumer.close()
            return found
        key, value = message.key(), message.value()
        assert isinstance(key, bytes)
        found.pop(key, None)
        if isinstance(value, bytes):
            found[key] = value


@pytest.mark.decision("D46")
@pytest.mark.decision("D64")
def test_a_consumer_reads_the_latest_value_of_every_key(class_path_of: Callable[[str], str], tmp_path: Path) -> None:
    writer = Writer(31)
    with (
        RealCluster("4.3.1", class_path_of("4.3.1"), tmp_path / "kafka", brokers=1) as kafka,
        TcpCluster(name="b", brokers=1, data=tmp_path / "b", configs=OURS, mirror_version=1) as b,
    ):
        source, there, here = Source(kafka), kafka.bootstrap_servers, b.bootstrap_servers
        source.create(NewTopic(TOPIC, 1, replica_assignment=[[1]], config=CLEANED))
        mirror = Mirrored(there, b)
        writer.write(there, 8)
        mirror.add([TOPIC])
        mirror.catch_up()
        writer.put(there, dict.fromkeys((GONE, GONE_LATER), writer.value()))
        writer.write(there, 8)
        wait_for_cleaner(kafka, mirror)
        mirror.catch_up()
        assert read(here) == read(there)

        # A pause, during which a key is deleted, and its tombstone removed.
        mirror.pause()
        delete_for_good(writer, GONE, kafka, mirror)
        assert GONE in read(here)
        mirror.resume()
        mirror.catch_up()
        assert read(here) == read(there)

        # A failover with a lag, writes here, another such key at the source, and the failback.
        mirror.pause()
        writer.write(there, 4)
        before = read(here)
        mirror.fail_over()
        assert read(here) == before
        writer.put(here, {b"written here": writer.value()})
        writer.write(here, 8)
        assert b"written here" in read(here)
        delete_for_good(writer, GONE_LATER, kafka, mirror)
        mirror.add([TOPIC])
        mirror.catch_up()
        assert read(here) == read(there)
        assert not b.failures


def delete_for_good(writer: Writer, key: bytes, kafka: RealCluster, mirror: Mirrored) -> None:
    """Delete a key at the source, and wait until the cleaner removes its tombstone too."""
    writer.put(kafka.bootstrap_servers, {key: None})
    writer.write(kafka.bootstrap_servers, 8)
    wait_for_cleaner(kafka, mirror)
    time.sleep(2 * DELETE_RETENTION_S)
    writer.write(kafka.bootstrap_servers, 4)
    wait_for_cleaner(kafka, mirror)


def wait_for_cleaner(kafka: RealCluster, mirror: Mirrored) -> None:
    """Wait until the source's cleaner has passed all but the last batch, which is in a separate segment."""
    checkpoint = kafka.logs(1) / "cleaner-offset-checkpoint"
    (end,) = mirror.stable_ends().values()

    def passed() -> int:
        lines = checkpoint.read_text().splitlines() if checkpoint.exists() else []
        return next((int(line.split()[-1]) for line in lines if line.startswith(f"{TOPIC} 0 ")), -1)

    wait_for(lambda: passed() >= end - RECORDS, "the cleaner")
