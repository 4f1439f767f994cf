"""All three brokers end under load, and one of them has lost the tails of its logs: nothing acknowledged is lost (D71).

In each of ten rounds two librdkafka clients write with acks=all, one idempotent and one with transactions. The three
brokers end in a random order, and are restarted in another one. The broker with the torn tails was killed. The others
shut down cleanly, or are killed as well: then the torn one did not lead last, as the last leader would lead again, like
in Kafka.

KMIRROR_TORN_ROUNDS and KMIRROR_TORN_SEED choose the rounds. With KMIRROR_TORN_LEVEL=0, without eligible leader
replicas, acknowledged records are lost.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from kmirror.kernel.ids import TopicPartition
from kmirror.net.cluster import TcpCluster
from kmirror.spec.wire_values import IsolationLevel
from tests.producer_load import QUIET, WITHIN_S, Load, faults_of

ROUNDS = int(os.environ.get("KMIRROR_TORN_ROUNDS", "10"))
SEED = int(os.environ.get("KMIRROR_TORN_SEED", "1"))
LEVEL = int(os.environ.get("KMIRROR_TORN_LEVEL", "1"))
BROKERS = (1, 2, 3)
PLAIN, PAID = "orders", "payments"
PARTITIONS = 3
IN_EACH = 5
"""Records of a transaction."""
CONFIGS = {
    "min.insync.replicas": "2",
    "transaction.state.log.num.partitions": "1",
    "broker.session.timeout.ms": "800",
    "broker.heartbeat.interval.ms": "150",
    "replica.lag.time.max.ms": "2000",
}


class Transactions:
    """Writes numbered transactions, each over several partitions, and stores the ones acknowledged as committed."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self.begun = 0
        self.committed: set[int] = set()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        producer = self._new()
        while not self._ending.is_set():
            number, self.begun = self.begun, self.begun + 1
            try:
                producer.begin_transaction()
                for index in range(IN_EACH):
                    producer.produce(PAID, b"%d" % number, partition=(number + index) % PARTITIONS)
                producer.commit_transaction(WITHIN_S)
                self.committed.add(number)
            except KafkaException:
                producer = self._new()  # The outcome of the last transaction is unknown: all of it, or nothing.

    def _new(self) -> Producer:
        configs = {"transactional.id": "payments", "linger.ms": 0, "message.timeout.ms": WITHIN_S * 1000}
        while True:
            producer = Producer({"bootstrap.servers": self._servers, **configs, **QUIET})
            try:
                producer.init_transactions(WITHIN_S)
            except KafkaException:
                continue
            return producer

    def end(self) -> None:
        self._ending.set()
        self._thread.join()


class Rounds:
    """The events of the cluster in each round."""

    def __init__(self, cluster: TcpCluster, folder: Path, chance: random.Random) -> None:
        self._cluster, self._folder, self._chance = cluster, folder, chance
        self.torn_bytes = 0

    def play(self, load: Load) -> None:
        before = {path: path.stat().st_size for path in self._logs(BROKERS)}
        load.wait_for_more()
        others_stop = self._chance.random() < 0.5
        torn = self._chance.choice(BROKERS)
        for broker_id in self._drawn():
            if others_stop and broker_id != torn:
                self._cluster.stop(broker_id)
            else:
                self._cluster.kill(broker_id)
        self._cluster.until(
            lambda: not any(map(self._cluster.image.brokers.is_alive, BROKERS)), what="the ends of sessions"
        )
        may_be_torn = [torn] if others_stop else [b for b in BROKERS if b not in self._last_leaders()]
        for path in self._logs(self._chance.sample(may_be_torn, min(1, len(may_be_torn)))):
            written = path.stat().st_size - before.get(path, 0)
            if written > 0:
                lost = self._chance.randint(1, written)
                os.truncate(path, path.stat().st_size - lost)
                self.torn_bytes += lost
        for broker_id in self._drawn():
            self._cluster.restart(broker_id)
        self._cluster.until(self._is_whole, within_s=WITHIN_S, what="a full ISR")

    def _drawn(self) -> list[int]:
        return self._chance.sample(BROKERS, len(BROKERS))

    def _logs(self, broker_ids: Collection[int]) -> list[Path]:
        """Return the last segment of each log of these brokers."""
        folders = [path for b in broker_ids for path in (self._folder / f"broker-{b}").iterdir() if path.is_dir()]
        return [max(folder.glob("*.log")) for folder in folders]

    def _last_leaders(self) -> set[int]:
        rows = [row for topic in self._cluster.image.topics.values() for row in topic.partitions.values()]
        return {last for row in rows for last in (row.last_known or row.isr)}

    def _is_whole(self) -> bool:
        rows = [row for topic in self._cluster.image.topics.values() for row in topic.partitions.values()]
        return all(row.leader >= 0 and len(row.isr) == len(BROKERS) for row in rows)


def stored_values(cluster: TcpCluster, topic: str, isolation: IsolationLevel) -> list[dict[int, bytes]]:
    """Return the values of each partition by their offsets."""
    logs = [cluster.read(TopicPartition(topic, n), isolation=isolation) for n in range(PARTITIONS)]
    return [{record.offset: record.value or b"" for record in log} for log in logs]


@pytest.mark.decision("D71")
def test_a_torn_tail_loses_nothing_if_a_replica_shut_down_cleanly_or_led_last(tmp_path: Path) -> None:
    topics = {PLAIN: PARTITIONS, PAID: PARTITIONS}
    with TcpCluster(data=tmp_path, topics=topics, configs=CONFIGS, eligible_version=LEVEL) as cluster:
        rounds = Rounds(cluster, tmp_path, random.Random(SEED))
        load, paid = Load(cluster.bootstrap_servers, PLAIN, PARTITIONS), Transactions(cluster.bootstrap_servers)
        try:
            for _ in range(ROUNDS):
                rounds.play(load)
        finally:
            load.end()
            paid.end()
        assert not cluster.failures and rounds.torn_bytes
        assert not load.failed and len(load.acked) == load.sent
        assert faults_of(load.acked, stored_values(cluster, PLAIN, IsolationLevel.READ_UNCOMMITTED)) == []
        counts = Counter(v for log in stored_values(cluster, PAID, IsolationLevel.READ_COMMITTED) for v in log.values())
        assert {n for n in paid.committed if not counts[b"%d" % n]} == set(), "committed transactions are lost"
        assert {n: count for n, count in counts.items() if count != IN_EACH} == {}, "transactions are read in part"
        assert len(paid.committed) > ROUNDS
