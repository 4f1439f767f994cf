"""Operations of Kafka's clients on the source of a mirror: each codec, transactions of each outcome, cleaner gaps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, PartitionMetadata

from kmirror.kernel.java import partition_for
from kmirror.spec.topics import GROUP_TOPIC
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.waiting import WITHIN_S, wait_for

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
OLD_CODECS = ("none", "gzip", "snappy", "lz4")
QUIET: dict[str, Any] = {"log_level": 0, "linger.ms": 5, "message.timeout.ms": 60_000}
CLEANING = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.01",
}
MOVING = (KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.NOT_COORDINATOR)
# Of 2.1 alone: formats that its brokers wrote for old clients.
OLD_FORMATS = {"format-0": "0.9.0.1", "format-1": "0.10.2"}


def create_topic(admin: AdminClient, topic: NewTopic) -> None:
    """Create a topic by a separate request: 2.1 may answer one for several topics much later."""
    (created,) = admin.create_topics([topic], operation_timeout=10).values()
    created.result(WITHIN_S)


class Source:
    """Operations of Kafka's clients on the source."""

    def __init__(self, cluster: RealCluster) -> None:
        self.cluster = cluster
        self.servers = cluster.bootstrap_servers
        self.admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        self.has_old_formats = cluster.release.startswith("2.")
        self._open: list[Producer] = []

    def create_topics(self) -> list[str]:
        """Create the topics; cleaned ones have one replica, as each replica is cleaned independently."""
        factor = self.cluster.brokers
        topics = [NewTopic(name, 3, factor) for name in ("codecs", "transactions")]
        topics += [
            NewTopic("compacted", 1, replica_assignment=[[1]], config=CLEANING),
            NewTopic("deleted", 1, replica_assignment=[[1]]),
        ]
        if self.has_old_formats:
            topics += [NewTopic(n, 3, factor, config={"message.format.version": v}) for n, v in OLD_FORMATS.items()]
        for topic in topics:
            self.create(topic)
        return [topic.topic for topic in topics]

    def create(self, topic: NewTopic) -> None:
        """Create a topic."""
        create_topic(self.admin, topic)

    def partition(self, topic: str) -> PartitionMetadata:
        """Return the cluster's metadata of a topic's first partition."""
        return self.admin.list_topics(topic, timeout=30).topics[topic].partitions[0]

    def produce(self, topic: str, rows: Iterable[tuple[int, str]], **configs: Any) -> None:
        """Write (partition, value) rows, and wait until all are acknowledged."""
        producer = Producer({"bootstrap.servers": self.servers, **QUIET, **configs})
        failed = write(producer, topic, rows)
        assert producer.flush(WITHIN_S) == 0 and not failed, failed

    def write_everything(self, stage: str) -> None:
        """Write to every topic: each codec, idempotent or not, and transactions of each outcome."""
        for codec in CODECS:
            rows = [(n % 3, f"{stage} {codec} {n} " + "x" * 50) for n in range(60)]
            self.produce("codecs", rows, **{"compression.type": codec})
        self.produce("codecs", [(n % 3, f"{stage} once {n}") for n in range(60)], **{"enable.idempotence": True})
        for topic in OLD_FORMATS if self.has_old_formats else ():
            for codec in OLD_CODECS:
                rows = [(n % 3, f"{stage} {codec} {n} " + "x" * 50) for n in range(30)]
                self.produce(topic, rows, **{"compression.type": codec})
        self.transaction(f"{stage} committed", ends="commit")
        self.transaction(f"{stage} aborted", ends="abort")

    def transaction(self, value: str, *, ends: str) -> None:
        """Write to partitions 0 to 2 in a transaction; it stays open if `ends` is empty."""
        configs = {"transactional.id": value.replace(" ", "-"), "transaction.timeout.ms": 600_000}
        producer = Producer({"bootstrap.servers": self.servers, **QUIET, **configs})
        producer.init_transactions(WITHIN_S)
        producer.begin_transaction()
        failed = write(producer, "transactions", [(n % 3, f"{value} {n}") for n in range(15)])
        assert producer.flush(WITHIN_S) == 0 and not failed, failed
        if ends == "commit":
            producer.commit_transaction(WITHIN_S)
        elif ends == "abort":
            producer.abort_transaction(WITHIN_S)
        else:
            self._open.append(producer)  # It would end with the object.

    def clean_and_delete(self) -> None:
        """Let the cleaner leave gaps in one topic, and delete the beginning of another one."""
        for n in range(12):
            producer = Producer({"bootstrap.servers": self.servers, **QUIET})
            for key in range(20):
                producer.produce("compacted", f"{n} {key} " + "v" * 60, key=f"k{key % (3 + n)}", partition=0)
            assert producer.flush(WITHIN_S) == 0
            time.sleep(0.12)  # A segment is rolled by its age in ms.
        checkpoint = self.cluster.logs(1) / "cleaner-offset-checkpoint"
        wait_for(lambda: checkpoint.exists() and "compacted 0" in checkpoint.read_text(), "the cleaner")
        self.produce("deleted", [(0, f"d{n}") for n in range(50)])
        (deleted,) = self.admin.delete_records([TopicPartition("deleted", 0, 20)]).values()
        assert deleted.result(WITHIN_S).low_watermark == 20

    def commit(self, groups: Sequence[str], offset: int) -> None:
        """Commit an offset of each group for one partition, like a consumer that assigns partitions itself."""
        for group in groups:
            configs = {"bootstrap.servers": self.servers, "group.id": group, "log_level": 0}
            with contextlib.closing(Consumer(configs)) as consumer:
                row = TopicPartition("codecs", 0, offset)
                wait_for(partial(commits, consumer, row), f"{row} of group {group}")

    def coordinated_by(self, broker_id: int, groups: Sequence[str]) -> list[str]:
        """Return the groups that a broker coordinates: it leads their partition."""
        rows = self.admin.list_topics(GROUP_TOPIC, timeout=30).topics[GROUP_TOPIC].partitions
        return [group for group in groups if rows[partition_for(group, len(rows))].leader == broker_id]

    def leaders(self) -> dict[tuple[str, int], int]:
        """Return the leader of each partition."""
        topics = self.admin.list_topics(timeout=30).topics
        return {
            (name, p): row.leader for name, t in topics.items() for p, row in t.partitions.items() if name[0] != "_"
        }

    def leads(self, broker_id: int) -> bool:
        """Return whether a broker leads any partition, and every partition has a leader."""
        return broker_id in (found := set(self.leaders().values())) and -1 not in found


def commits(consumer: Consumer, row: TopicPartition) -> bool:
    """Return whether an offset was committed; false while the coordinator is moving."""
    try:
        done = consumer.commit(offsets=[row], asynchronous=False)
    except KafkaException as error:
        if error.args[0].code() not in MOVING:
            raise
        return False
    return all(each.error is None for each in done or ())


def write(producer: Producer, topic: str, rows: Iterable[tuple[int, str]]) -> list[str]:
    """Send rows; return the failures, complete after a flush."""
    failed: list[str] = []
    for partition, value in rows:
        told = lambda error, _: failed.append(str(error)) if error else None  # noqa: E731
        producer.produce(topic, value, key=value[:8], partition=partition, on_delivery=told)
        producer.poll(0)
    return failed
