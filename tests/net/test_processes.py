"""One process for each node: `kmirror serve --config` with Kafka's own keys, killed and stopped under load."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kmirror.kernel.ids import Endpoint
from kmirror.net.listener import Port
from tests.folder_checks import assert_verified
from tests.producer_load import QUIET, WITHIN_S, Load, faults_of

CONTROLLER = 100
BROKERS = (1, 2, 3)
PARTITIONS = 3
TOPIC = "orders"
PROPERTIES = """\
node.id={node_id}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers={controller}
log.dirs={folder}
# So that it is soon noticed that a broker is dead. Kafka's defaults are nine seconds and two.
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
replica.lag.time.max.ms=2000
offsets.topic.num.partitions=1
min.insync.replicas=2
"""


class Nodes:
    """The processes of one cluster: a controller and three brokers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ports = {node_id: Port("127.0.0.1", 0) for node_id in (CONTROLLER, *BROKERS)}
        self.endpoints: dict[int, Endpoint] = {node_id: port.endpoint for node_id, port in ports.items()}
        for port in ports.values():
            port.close()
        self.servers = ",".join(str(self.endpoints[node_id]) for node_id in BROKERS)
        self._processes: dict[int, subprocess.Popen[str]] = {}
        self._cleanup = ExitStack()

    def begin(self, node_id: int) -> None:
        """Start a node's process; `serves` waits for it."""
        role, name = ("controller", "CONTROLLER") if node_id == CONTROLLER else ("broker", "PLAINTEXT")
        file = self.folder / f"{node_id}.properties"
        text = PROPERTIES.format(
            node_id=node_id, controller=self.endpoints[CONTROLLER], folder=self.folder / str(node_id)
        )
        file.write_text(f"process.roles={role}\nlisteners={name}://{self.endpoints[node_id]}\n{text}")
        words = ["serve", "--config", str(file), "--cluster-id", "5L6g3nShT-eMCtK--X86sw"]
        process = subprocess.Popen([sys.executable, "-m", "kmirror", *words], stdout=subprocess.PIPE, text=True)
        self._cleanup.callback(process.communicate)
        self._cleanup.callback(process.kill)
        self._processes[node_id] = process

    def serves(self, node_id: int) -> None:
        """Wait until a node prints its address."""
        stdout = self._processes[node_id].stdout
        assert stdout is not None
        key = "controller.quorum.bootstrap.servers" if node_id == CONTROLLER else "bootstrap.servers"
        assert stdout.readline() == f"{key}={self.endpoints[node_id]}\n"

    def start(self, node_id: int) -> None:
        self.begin(node_id)
        self.serves(node_id)

    def kill(self, node_id: int) -> None:
        self._processes[node_id].kill()
        self._processes[node_id].wait(WITHIN_S)

    def terminate(self, node_id: int) -> None:
        """Stop a node, and wait for its clean shutdown."""
        self._processes[node_id].send_signal(signal.SIGTERM)
        assert self._processes[node_id].wait(WITHIN_S) == 0

    def close(self) -> None:
        self._cleanup.close()


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    opened = Nodes(tmp_path)
    yield opened
    opened.close()


class Watch:
    """A client's view of the topic's leaders and in-sync replicas."""

    def __init__(self, servers: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": servers, **QUIET})

    def create(self) -> None:
        (future,) = self._admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)]).values()
        future.result(WITHIN_S)

    def leaders(self) -> list[int]:
        return [row.leader for row in self._admin.list_topics(TOPIC, WITHIN_S).topics[TOPIC].partitions.values()]

    def is_whole(self) -> bool:
        rows = self._admin.list_topics(TOPIC, WITHIN_S).topics[TOPIC].partitions.values()
        return all(row.leader >= 0 and len(row.isrs) == 3 for row in rows)


def stored_values(servers: str) -> list[dict[int, bytes]]:
    """Return the values of each partition by their offsets."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "x", "enable.auto.commit": False, **QUIET})
    found: list[dict[int, bytes]] = [{} for _ in range(PARTITIONS)]
    ends = [consumer.get_watermark_offsets(TopicPartition(TOPIC, n), WITHIN_S)[1] for n in range(PARTITIONS)]
    consumer.assign([TopicPartition(TOPIC, n, 0) for n in range(PARTITIONS)])
    while sum(map(len, found)) < sum(ends):
        message = consumer.poll(WITHIN_S)
        assert message is not None and message.error() is None, message and message.error()
        found[message.partition() or 0][message.offset() or 0] = message.value() or b""
    consumer.close()
    return found


def test_nodes_start_in_any_order_and_lose_no_acknowledged_records(nodes: Nodes) -> None:
    for node_id in BROKERS:
        nodes.begin(node_id)
    nodes.start(CONTROLLER)
    for node_id in BROKERS:
        nodes.serves(node_id)
    watch = Watch(nodes.servers)
    watch.create()
    load = Load(nodes.servers, TOPIC, PARTITIONS)
    try:
        load.wait_for_more()

        nodes.kill(CONTROLLER)
        load.wait_for_more()
        nodes.start(CONTROLLER)

        victim = watch.leaders()[0]
        nodes.kill(victim)
        load.wait_for_more()
        nodes.start(victim)
        load.wait_until(watch.is_whole)

        leaving = watch.leaders()[0]
        nodes.terminate(leaving)
        assert leaving not in watch.leaders()
        load.wait_for_more()
        nodes.start(leaving)
        load.wait_until(watch.is_whole)

        nodes.terminate(CONTROLLER)
        load.wait_for_more()
        nodes.start(CONTROLLER)
    finally:
        load.end()
    assert not load.failed and len(load.acked) == load.sent
    assert faults_of(load.acked, stored_values(nodes.servers)) == []
    for node_id in (*BROKERS, CONTROLLER):
        nodes.terminate(node_id)
    for node_id in BROKERS:
        assert_verified(nodes.folder / str(node_id))
