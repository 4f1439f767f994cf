"""Two clusters for the group `net`, of one broker or three: `kmirror serve`, one process, and Kafka, a JVM for each."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import scratch
from benchmarks.tools import class_path, kafka_version

START_TIMEOUT_S = 120.0
CONFIGS = {
    "message.max.bytes": "4000000",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}
CLUSTER_ID = "AAAAAAAAQACAAAAAAAAAAA"
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Server:
    """The processes that serve a cluster, and the port of each broker, by broker id."""

    name: str
    processes: tuple[subprocess.Popen[str], ...]
    ports: Mapping[int, int]
    started_in_s: float
    folders: tuple[Path, ...] = ()
    """The log directory of each broker, in the order of their ids."""

    @property
    def addresses(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def cpu_s(self) -> float:
        """Return the processor time of all threads until now, in user and system mode, to the microsecond."""
        return sum(map(cpu_s, self.processes))

    def resident_bytes(self) -> int:
        """Return the resident memory in bytes."""
        rows = [Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii") for process in self.processes]
        return sum(int(row.split()[1]) for row in rows) * PAGE_BYTES

    def create_topic(self, name: str) -> int:
        """Create a topic of one partition, with a replica on every broker; return the port of its leader."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient, NewTopic

        admin: Any = AdminClient({"bootstrap.servers": self.addresses, "log_level": 0})
        config = {"min.insync.replicas": str(max(1, len(self.ports) - 1))}
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:  # The controller may not know brokers yet that have just started to listen.
            try:
                admin.create_topics([NewTopic(name, 1, len(self.ports), config=config)])[name].result(30)
                break
            except KafkaException:
                assert time.monotonic() < deadline, f"{self.name} does not create a topic"
                time.sleep(0.1)
        while True:
            rows = admin.list_topics(name).topics[name].partitions
            if rows and rows[0].leader in self.ports and len(rows[0].isrs) == len(self.ports):
                return self.ports[rows[0].leader]
            assert time.monotonic() < deadline, f"{self.name} elects no leader of {name}"
            time.sleep(0.01)


def cpu_s(process: subprocess.Popen[str]) -> float:
    """Return the processor time of all threads of a process until now, in user and system mode, to the microsecond."""
    # The id of another process's clock is derived from its process id: clock_getcpuclockid(3).
    return time.clock_gettime(~process.pid << 3 | 2)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def properties(path: Path, configs: Mapping[str, str]) -> Path:
    path.write_text("".join(f"{key}={value}\n" for key, value in configs.items()), encoding="ascii")
    return path


def _is_up(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def kmirror(brokers: int = 1, options: Sequence[str] = ()) -> Iterator[Server]:
    """Yield `kmirror serve` with a new folder."""
    folder = scratch() / f"ours-{time.monotonic_ns()}"
    folder.mkdir()
    config = properties(folder / "server.properties", CONFIGS)
    words = ["--port", "0", "--data", str(folder / "data"), "--config", str(config), "-o", "json"]
    words += ["--brokers", str(brokers), *options]
    started_at = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "kmirror", "serve", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], START_TIMEOUT_S)
            assert ready, "kmirror serve did not start"
            found = json.loads(process.stdout.readline())["brokers"]
            ports = {each["node_id"]: each["port"] for each in found}
            folders = [folder / "data" / f"broker-{node}" for node in ports] if brokers > 1 else [folder / "data"]
            yield Server("kmirror", (process,), ports, time.monotonic() - started_at, tuple(folders))
        finally:
            process.kill()


@contextmanager
def kafka(brokers: int = 1, extra: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Yield an Apache Kafka with new folders, each JVM with the tests' heap size; the first node is the controller.

    `extra` are configs of each broker.
    """
    ports = {node: free_port() for node in range(1, brokers + 1)}
    controller = free_port()
    path = class_path()
    assert path is not None, "asked before"
    java = ["java", "-Xmx512m", "-Xms512m", "-cp", path]
    configs = [_format_folder(java, node, port, controller, extra or {}) for node, port in ports.items()]
    started_at = time.monotonic()
    with ExitStack() as stack:
        processes = []
        for config in configs:
            command = [*java, "kafka.Kafka", str(config)]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
            processes.append(stack.enter_context(process))
            stack.callback(process.kill)
        while not all(map(_is_up, ports.values())):
            assert all(process.poll() is None for process in processes), "Kafka ended"
            assert time.monotonic() - started_at < START_TIMEOUT_S, "Kafka did not start"
            time.sleep(0.01)
        folders = tuple(config.parent / "data" for config in configs)
        yield Server("kafka", tuple(processes), ports, time.monotonic() - started_at, folders)


def _format_folder(java: list[str], node: int, port: int, controller: int, extra: Mapping[str, str]) -> Path:
    """Format the folder of one node, and return the path of its properties."""
    folder = scratch() / f"kafka-{time.monotonic_ns()}"
    folder.mkdir()
    listener = f"PLAINTEXT://127.0.0.1:{port}"
    roles = {
        "process.roles": "broker,controller" if node == 1 else "broker",
        "node.id": str(node),
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{listener},CONTROLLER://127.0.0.1:{controller}" if node == 1 else listener,
        "log.dirs": str(folder / "data"),
    }
    config = properties(folder / "server.properties", {**CONFIGS, **roles, **extra})
    format_ = [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(config)]
    subprocess.run(format_, check=True, capture_output=True)
    return config


@contextmanager
def both_servers(brokers: int = 1) -> Iterator[tuple[Server, Server]]:
    """Yield kmirror and Kafka, both running."""
    with ExitStack() as stack:
        yield stack.enter_context(kmirror(brokers)), stack.enter_context(kafka(brokers))


def version() -> str | None:
    """Return Kafka's version, None if it is not available."""
    path = class_path()
    return None if path is None else kafka_version(path)
