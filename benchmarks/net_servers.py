"""Two servers for the group `net`: `kmirror serve` and a real Kafka, each a process with a log folder of its own."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import scratch
from benchmarks.tools import class_path, kafka_version

START_WITHIN_S = 60.0
CONFIGS = {
    "message.max.bytes": "4000000",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}
CLUSTER_ID = "AAAAAAAAQACAAAAAAAAAAA"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Server:
    """A process that serves one broker."""

    name: str
    process: subprocess.Popen[str]
    port: int
    started_in_s: float

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cpu_s(self) -> float:
        """Return the processor time of all of its threads so far, in user and system mode."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK_S

    def resident_bytes(self) -> int:
        """Return the memory that it has resident."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES

    def create_topic(self, name: str) -> None:
        from confluent_kafka.admin import AdminClient, NewTopic

        admin: Any = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        for future in admin.create_topics([NewTopic(name, 1, 1)]).values():
            future.result(30)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _properties(path: Path, configs: Mapping[str, str]) -> Path:
    path.write_text("".join(f"{key}={value}\n" for key, value in configs.items()), encoding="ascii")
    return path


def _is_up(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def kmirror() -> Iterator[Server]:
    """Yield `kmirror serve` over a new folder."""
    folder = scratch() / f"ours-{time.monotonic_ns()}"
    folder.mkdir()
    config = _properties(folder / "server.properties", CONFIGS)
    words = ["--port", "0", "--data", str(folder / "data"), "--config", str(config), "-o", "json"]
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "kmirror", "serve", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], START_WITHIN_S)
            assert ready, "kmirror serve did not start"
            port = json.loads(process.stdout.readline())["brokers"][0]["port"]
            yield Server("kmirror", process, port, time.monotonic() - began)
        finally:
            process.kill()


@contextmanager
def kafka() -> Iterator[Server]:
    """Yield a real Kafka over a new folder, with the heap that tests give it."""
    folder = scratch() / f"kafka-{time.monotonic_ns()}"
    folder.mkdir()
    port, controller = free_port(), free_port()
    roles = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "log.dirs": str(folder / "data"),
    }
    config = str(_properties(folder / "server.properties", {**CONFIGS, **roles}))
    path = class_path()
    assert path is not None, "asked before"
    java = ["java", "-Xmx512m", "-Xms512m", "-cp", path]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", config], check=True, capture_output=True
    )
    began = time.monotonic()
    with subprocess.Popen(
        [*java, "kafka.Kafka", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            while not _is_up(port):
                assert process.poll() is None and time.monotonic() - began < START_WITHIN_S, "Kafka did not start"
                time.sleep(0.01)
            yield Server("kafka", process, port, time.monotonic() - began)
        finally:
            process.kill()


@contextmanager
def both() -> Iterator[tuple[Server, Server]]:
    """Yield ours and Kafka's, both running."""
    with ExitStack() as stack:
        yield stack.enter_context(kmirror()), stack.enter_context(kafka())


def version() -> str | None:
    """Return Kafka's version, None where it is not at hand."""
    path = class_path()
    return None if path is None else kafka_version(path)
