"""Mirrors from brokers of Apache Kafka over TCP: the same bytes, through a killed leader, a failover and a failback.

The source is a cluster of three brokers of each release that KIP-1279 mirrors from; real clients write. Each partition
of the destination is compared with the source's own folder, up to the last stable offset.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kmirror.logdir.compare.pairs import pair_folders
from kmirror.logdir.compare.partitions import CompareOptions, compare
from kmirror.net.cluster import TcpCluster
from kmirror.testing.pairs import MirrorPair
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.destination import Mirrored
from tests.interop.mirror.waiting import WITHIN_S, wait_for

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
OLD_CODECS = ("none", "gzip", "snappy", "lz4")
QUIET: dict[str, Any] = {"log_level": 0, "linger.ms": 5, "message.timeout.ms": 60_000}
CLEANING = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.01",
}
# Of 2.1 alone: what its brokers wrote for clients of old.
OLD_FORMATS = {"format-0": "0.9.0.1", "format-1": "0.10.2"}
BATCHES_MIN = 25
OURS = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}


class Source:
    """What real clients do to the source."""

    def __init__(self, cluster: RealCluster) -> None:
        self.cluster = cluster
        self.servers = cluster.bootstrap_servers
        self.admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        self.has_old_formats = cluster.release.startswith("2.")
        self._open: list[Producer] = []

    def create_topics(self) -> list[str]:
        """Create the topics; those that are cleaned have one replica, as each replica is cleaned by itself."""
        factor = self.cluster.brokers
        topics = [NewTopic(name, 3, factor) for name in ("codecs", "transactions")]
        topics += [
            NewTopic("compacted", 1, replica_assignment=[[1]], config=CLEANING),
            NewTopic("deleted", 1, replica_assignment=[[1]]),
        ]
        if self.has_old_formats:
            topics += [NewTopic(n, 3, factor, config={"message.format.version": v}) for n, v in OLD_FORMATS.items()]
        for topic in topics:  # In one request 2.1 answers after a minute, though all are there at once.
            (created,) = self.admin.create_topics([topic]).values()
            created.result(WITHIN_S)
        return [topic.topic for topic in topics]

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
        """Have the cleaner leave gaps in one topic, and cut the beginning of another one off."""
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

    def leaders(self) -> dict[tuple[str, int], int]:
        """Return who leads what."""
        topics = self.admin.list_topics(timeout=30).topics
        return {
            (name, p): row.leader for name, t in topics.items() for p, row in t.partitions.items() if name[0] != "_"
        }

    def leads(self, broker_id: int) -> bool:
        """Return whether a broker leads anything, and everything has a leader."""
        return broker_id in (found := set(self.leaders().values())) and -1 not in found


def write(producer: Producer, topic: str, rows: Iterable[tuple[int, str]]) -> list[str]:
    """Hand rows over; return what failed, once they are flushed."""
    failed: list[str] = []
    for partition, value in rows:
        told = lambda error, _: failed.append(str(error)) if error else None  # noqa: E731
        producer.produce(topic, value, key=value[:8], partition=partition, on_delivery=told)
        producer.poll(0)
    return failed


def assert_equal(left: Path, right: Path, topics: Sequence[str]) -> int:
    """Hold the folders' logs equal, byte by byte, up to the last stable offset; return how many batches they have."""
    result = compare(pair_folders(left, right, topics=topics), CompareOptions(until_lso=True))
    assert result.is_equal, [str(difference) for difference in result.differences]
    return sum(found.shares.common.batches for found in result.partitions)


def logs(top: Path, cluster: TcpCluster, broker_id: int) -> Path:
    """Return the folder of a broker of ours."""
    return top if len(cluster.broker_ids) == 1 else top / f"broker-{broker_id}"


@pytest.mark.parametrize(("release", "brokers"), [("2.1.1", 3), ("3.9.1", 1), ("4.3.1", 3)])
def test_a_release_of_kafka_is_mirrored(
    release: str, brokers: int, class_path_of: Callable[[str], str], tmp_path: Path
) -> None:
    ours: dict[str, Any] = {"brokers": brokers, "configs": OURS, "mirror_version": 1}
    with (
        RealCluster(release, class_path_of(release), tmp_path / "kafka", brokers=brokers) as kafka,
        TcpCluster(name="b", data=tmp_path / "b", **ours) as b,
    ):
        source = Source(kafka)
        topics = source.create_topics()
        source.write_everything("before")
        source.clean_and_delete()
        mirror = Mirrored(kafka.bootstrap_servers, b)
        mirror.add(topics)
        mirror.catch_up()

        kafka.kill()
        if brokers > 1:
            wait_for(lambda: not source.leads(kafka.killable), "new leaders")
            source.write_everything("without a broker")
            mirror.catch_up()
        kafka.restart()
        wait_for(lambda: source.leads(kafka.killable), "the former leader")
        source.write_everything("with it again")
        source.transaction("open", ends="")
        source.transaction("behind it", ends="commit")
        mirror.catch_up()
        for broker_id in b.broker_ids:
            assert assert_equal(kafka.logs(1), logs(tmp_path / "b", b, broker_id), topics) > BATCHES_MIN

        mirror.fail_over()
        other = Producer({"bootstrap.servers": b.bootstrap_servers, **QUIET})
        failed = write(other, "codecs", [(n % 3, f"after {n}") for n in range(30)])
        assert other.flush(WITHIN_S) == 0 and not failed, failed
        assert not b.failures
        with TcpCluster(name="c", data=tmp_path / "c", **ours) as c:
            pair = MirrorPair(b, c, "back")
            pair.add_topics(*topics)
            pair.catch_up()
            pair.fail_over()
            for broker_id in c.broker_ids:
                left, right = logs(tmp_path / "b", b, broker_id), logs(tmp_path / "c", c, broker_id)
                assert assert_equal(left, right, topics) > BATCHES_MIN
            assert not b.failures and not c.failures
