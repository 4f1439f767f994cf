"""Clients that are not restarted continue after a failover from Kafka, and after the failback.

An idempotent producer, a transactional one and a group's consumer, all librdkafka's, know one address each. The
operator moves it to the serving cluster; when all brokers that a client knows are gone, it connects to that address
again (KIP-899). librdkafka 2.16.0 sometimes does not, and tries the dead brokers for ever (finding L8). The test starts
again then, if the client's address proves that no connection came.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka import TopicPartition as Asked
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from kmirror.admin.mirror import TcpMirror
from kmirror.kernel.ids import TopicPartition
from kmirror.net.cluster import TcpCluster
from kmirror.spec.wire_values import IsolationLevel
from tests.interop.jvm import java
from tests.interop.mirror.applications import Ledger, Reader, faults_of_reading, halves
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.forwarding_port import ForwardingPort
from tests.interop.mirror.source import create_topic
from tests.interop.mirror.waiting import WITHIN_S, wait_for
from tests.producer_load import Load, faults_of

PLAIN, LEDGER = "plain", "ledger"
TOPICS = [PLAIN, LEDGER]
TPS = [TopicPartition(topic, partition) for topic in TOPICS for partition in (0, 1)]
GROUP = "application"
GROUP_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
OURS = {
    "mirror.metadata.refresh.interval.ms": "200",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
TRANSACTIONS_IN_A_PHASE = 10
ATTEMPTS = 3
Stored = dict[TopicPartition, dict[int, bytes]]
Acked = dict[bytes, tuple[int, int]]
"""Value to partition and offset."""


def committed_offsets(servers: str) -> dict[TopicPartition, int]:
    """Return the group's committed offsets at a cluster."""
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    told = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])[GROUP].result(WITHIN_S)
    return {TopicPartition(row.topic, row.partition): row.offset for row in told.topic_partitions or ()}


def is_committed(servers: str, ends: dict[TopicPartition, int]) -> bool:
    return committed_offsets(servers) == ends


def log_ends(servers: str) -> dict[TopicPartition, int]:
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    told = admin.list_offsets({Asked(*tp): OffsetSpec.latest() for tp in TPS}, request_timeout=WITHIN_S)
    return {TopicPartition(tp.topic, tp.partition): future.result().offset for tp, future in told.items()}


def describe_group(class_path: str, servers: str) -> list[Sequence[str]]:
    """Return group, topic, partition, committed offset, log end and lag, as printed by kafka-consumer-groups.sh."""
    command = java(class_path, GROUP_COMMAND, "-Xmx128m")
    words = ["--bootstrap-server", servers, "--describe", "--group", GROUP]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
    return sorted(line.split()[:6] for line in done.stdout.splitlines() if line.startswith(GROUP))


def stored_values(cluster: TcpCluster) -> Stored:
    """Return the value at each offset for a read_committed reader."""
    level = IsolationLevel.READ_COMMITTED
    return {tp: {row.offset: row.value or b"" for row in cluster.read(tp, isolation=level)} for tp in TPS}


def misplaced_values(topic: str, acked: Acked, found: Stored) -> Acked:
    """Return the acknowledged values that are not at their offset."""
    return {value: at for value, at in acked.items() if found[TopicPartition(topic, at[0])].get(at[1]) != value}


class InFlight(NamedTuple):
    """Values in flight during the failover. The source may have stored them, so they may be there twice."""

    values: set[bytes]
    transaction: int


class NoReconnectError(AssertionError):
    """A client never used its bootstrap address after the failover (finding L8)."""


class Applications:
    """The programs with the address that each one knows, and operations on them."""

    def __init__(self, ports: Sequence[ForwardingPort]) -> None:
        self._ports = ports
        self.load = Load(ports[0].servers, PLAIN, 2)
        self.ledger = Ledger(ports[1].servers, LEDGER)
        self.reader = Reader(ports[2].servers, GROUP, TOPICS)
        self.lost: Acked = {}
        """Values of the load that the source acknowledged, and the failover lost."""

    def lead_to(self, servers: str) -> None:
        """Move the addresses of all programs to a cluster."""
        for port in self._ports:
            port.lead_to(servers)

    def work(self) -> None:
        """Let the programs work, and wait until each has done some work.

        Raises NoReconnectError if that failed, and a program made no connection since its address was moved.
        """
        try:
            self._work()
        except AssertionError as failed:
            if all(port.connections for port in self._ports):
                raise
            raise NoReconnectError(f"connections: {[port.connections for port in self._ports]}") from failed

    def _work(self) -> None:
        transactions, rows = len(self.ledger.committed) + TRANSACTIONS_IN_A_PHASE, len(self.reader.rows)
        self.load.flowing.set()
        self.ledger.flowing.set()
        self.load.wait_for_more()
        assert not self.load.failed, self.load.failed
        wait_for(lambda: bool(self.ledger.fatal) or len(self.ledger.committed) >= transactions, "transactions")
        assert not self.ledger.fatal
        wait_for(lambda: len(self.reader.rows) > rows, "the reader")

    def rest(self, *clusters: str) -> None:
        """Stop the work, and wait until these clusters know that all records of the first one have been read."""
        self.load.flowing.clear()
        self.ledger.flowing.clear()
        wait_for(lambda: len(self.load.acked) + len(self.lost) == self.load.sent, "acknowledgements")
        wait_for(self.ledger.idle.is_set, "the end of the last transaction")
        ends = log_ends(clusters[0])
        for servers in clusters:
            wait_for(partial(is_committed, servers, ends), f"offsets {ends}, committed at {servers}")

    def lose(self, there: Stored) -> None:
        """Forget values that the source acknowledged and the other cluster lacks: the last ones of each partition."""
        for topic, acked in ((PLAIN, self.load.acked), (LEDGER, self.ledger.acked)):
            gone = misplaced_values(topic, acked, there)
            for value in gone:
                del acked[value]
            for partition in (0, 1):
                kept = max((offset for at, offset in acked.values() if at == partition), default=-1)
                assert all(offset > kept for at, offset in gone.values() if at == partition), "a gap"
            if topic == PLAIN:
                self.lost = gone

    def in_flight(self, sent: int) -> InFlight:
        """Return the work that was begun without a response; for the load, among the first `sent` values."""
        values = {b"%d" % number for number in range(sent)} - self.load.acked.keys() - self.lost.keys()
        return InFlight(values, len(self.ledger.committed))

    def end(self) -> None:
        self.load.end()
        self.ledger.end()
        self.reader.end()


def judge(
    applications: Applications, found: Stored, synced: Mapping[TopicPartition, int], settled: int, in_flight: InFlight
) -> None:
    """Compare the programs' values with the final logs; `settled` rows were read before the failback."""
    rows = applications.reader.rows
    for tp in TPS:
        read = [(row.offset, row.value) for row in rows if row.tp == tp]
        before = sum(row.tp == tp for row in rows[:settled])
        assert faults_of_reading(read, found[tp], synced[tp], before) == [], tp
    acked, ledger = applications.load.acked, applications.ledger
    plain = [found[TopicPartition(PLAIN, p)] for p in (0, 1)]
    twice = {value for log in plain for value, count in Counter(log.values()).items() if count > 1}
    assert twice <= in_flight.values
    once = [{at: v for at, v in log.items() if v not in twice or acked[v] == (p, at)} for p, log in enumerate(plain)]
    assert faults_of(acked, once) == []
    assert misplaced_values(LEDGER, ledger.acked, found) == {}
    values = [list(found[TopicPartition(LEDGER, p)].values()) for p in (0, 1)]
    assert halves(values[0]) == halves(values[1]) == []
    attempts = {tuple(map(int, value.split(b".")[:2])) for value in (*values[0], *values[1])}
    assert {number for number, _ in attempts - set(ledger.committed.items())} <= {in_flight.transaction}


def test_duplicates_skips_and_half_transactions_are_detected() -> None:
    there = {0: b"a", 1: b"b", 3: b"c", 4: b"d"}
    whole = [(0, b"a"), (1, b"b"), (2, b"lost"), (3, b"lost"), (3, b"c"), (4, b"d")]
    straight, end = sorted(there.items()), len(there) + 5
    assert faults_of_reading(whole, there, synced=2, settled=end) == []
    assert faults_of_reading([*whole, *whole[4:]], there, synced=2, settled=end) == []
    assert faults_of_reading(straight, there, synced=5, settled=0) == []
    assert "back to 0, below 3" in faults_of_reading([*whole, *straight], there, synced=2, settled=end)[0]
    assert "back to 3 after" in faults_of_reading(whole, there, synced=2, settled=4)[0]
    assert "1 was read twice" in faults_of_reading([*straight[:2], *straight[1:]], there, synced=2, settled=end)[-1]
    assert "[3]" in faults_of_reading([*whole[:4], (4, b"d")], there, synced=2, settled=end)[0]
    assert halves([b"1.0.0", b"1.0.2", b"2.0.0"]) == [b"2.0"]
    assert misplaced_values(PLAIN, {b"a": (0, 0), b"d": (0, 3)}, {TopicPartition(PLAIN, 0): there}) == {b"d": (0, 3)}


def fail_over_and_back(release: str, class_path_of: Callable[[str], str], folder: Path) -> None:
    """Let the programs work at a Kafka, at `b` after its loss, and at `c` after that of `b`; then check the logs."""
    class_path = class_path_of("4.3.1")  # For the command that describes the group.
    with ExitStack() as stack:
        kafka = stack.enter_context(RealCluster(release, class_path_of(release), folder, brokers=1))
        b = stack.enter_context(TcpCluster(name="b", brokers=3, configs=OURS, mirror_version=1))
        c = stack.enter_context(TcpCluster(name="c", brokers=1, configs=OURS, mirror_version=1))
        ports = [stack.enter_context(ForwardingPort()) for _ in range(3)]
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
        for topic in TOPICS:
            create_topic(admin, NewTopic(topic, 2, 1))
        for port in ports:
            port.lead_to(kafka.bootstrap_servers)
        applications = Applications(ports)
        stack.callback(applications.end)
        there = TcpMirror("dr", source=kafka.bootstrap_servers, destination=b)
        there.create({"mirror.groups.clamp": "true"})
        there.add_topics(TOPICS)
        applications.work()
        applications.rest(kafka.bootstrap_servers, b.bootstrap_servers)
        there.catch_up()
        assert describe_group(class_path, b.bootstrap_servers) == describe_group(class_path, kafka.bootstrap_servers)

        applications.work()
        kafka.kill()
        there.fail_over()
        sent, synced = applications.load.sent, committed_offsets(b.bootstrap_servers)
        applications.lose(stored_values(b))
        in_flight = applications.in_flight(sent)
        applications.lead_to(b.bootstrap_servers)
        applications.work()
        assert applications.ledger.aborted

        back = TcpMirror("dr", source=b, destination=c)
        back.create()
        back.add_topics(TOPICS)
        applications.rest(b.bootstrap_servers, c.bootstrap_servers)
        back.catch_up()
        assert describe_group(class_path, c.bootstrap_servers) == describe_group(class_path, b.bootstrap_servers)
        for broker_id in b.broker_ids:  # Immediately: clients could learn of elections at b that c does not know (D36).
            b.kill(broker_id)
        back.fail_over()
        settled = len(applications.reader.rows)
        applications.lead_to(c.bootstrap_servers)
        applications.work()
        applications.rest(c.bootstrap_servers)
        judge(applications, stored_values(c), synced, settled, in_flight)
        assert not b.failures and not c.failures


@pytest.mark.parametrize("release", ["2.1.1", "3.9.1", "4.3.1"])
def test_clients_continue_without_a_restart(release: str, class_path_of: Callable[[str], str], tmp_path: Path) -> None:
    for attempt in range(ATTEMPTS):
        try:
            return fail_over_and_back(release, class_path_of, tmp_path / f"kafka-{attempt}")
        except NoReconnectError:
            if attempt == ATTEMPTS - 1:
                raise
