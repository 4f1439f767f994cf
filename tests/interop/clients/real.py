"""Clusters of Apache Kafka as the reference for clients: all their brokers run in one JVM.

`python -m tests.interop.clients.real` starts a cluster of one broker and one of three, prints their addresses, and
stops them when its input ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.interop.jvm import java

HERE = Path(__file__).parent
START_SECONDS = 120
STOP_SECONDS = 60
PORTS = range(20_000, 32_000)
"""Below the ports that systems use for outgoing connections."""
# Values of `config/server.properties` of 4.3.1 except those for large machines. Both kinds of cluster get these.
SHARED = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "group.min.session.timeout.ms": "500",
    "num.partitions": "1",
    "log.retention.ms": "-1",  # Steps write records with old timestamps.
}
# Only for memory: by default each broker's cleaner takes 128 MiB of heap.
FRUGAL = {"log.cleaner.dedupe.buffer.size": "4194304", "num.io.threads": "2", "num.network.threads": "2"}
NOTHING_ELSE: Mapping[str, str] = {}
LOGGING = """\
rootLogger.level = WARN
rootLogger.appenderRef.err.ref = ERR
appender.err.type = Console
appender.err.name = ERR
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = %p %c %m%n%throwable
"""


def shared_configs(brokers: int) -> dict[str, str]:
    """Return the configs of a cluster of this size, for Kafka and for kmirror."""
    factor = str(min(brokers, 3))
    keys = (
        "offsets.topic.replication.factor",
        "transaction.state.log.replication.factor",
        "default.replication.factor",
    )
    return {**SHARED, **dict.fromkeys(keys, factor), "transaction.state.log.min.isr": "1" if brokers == 1 else "2"}


def free_ports(count: int) -> list[int]:
    """Return unused ports that no connection of another test takes before a broker does."""
    found: list[int] = []
    with contextlib.ExitStack() as stack:
        for port in random.SystemRandom().sample(PORTS, len(PORTS)):
            if len(found) < count:
                with contextlib.suppress(OSError):
                    stack.enter_context(socket.create_server(("127.0.0.1", port)))
                    found.append(port)
    return found


def _properties(
    node_id: int, port: int, controller: int, folder: Path, brokers: int, configs: Mapping[str, str]
) -> Mapping[str, str]:
    listeners = {"PLAINTEXT": port} | ({"CONTROLLER": controller} if node_id == 1 else {})
    return {
        "process.roles": "broker,controller" if node_id == 1 else "broker",
        "node.id": str(node_id),
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in listeners.items()),
        "log.dirs": str(folder / "data"),
        **shared_configs(brokers),
        **FRUGAL,
        **configs,
    }


@contextlib.contextmanager
def real_clusters(
    class_path: str,
    folder: Path,
    sizes: tuple[int, ...] = (1, 3),
    configs: Mapping[str, str] = NOTHING_ELSE,
    options: tuple[str, ...] = (),
) -> Iterator[dict[int, str]]:
    """Yield the bootstrap servers of a Kafka cluster of each size; they stop at the end, or when this process dies.

    `configs` are added to those of each broker; `options` are those of the JVM.
    """
    addresses: dict[int, str] = {}
    files = []
    for brokers in sizes:
        controller, *ports = free_ports(brokers + 1)
        addresses[brokers] = ",".join(f"127.0.0.1:{port}" for port in ports)
        for node_id, port in enumerate(ports, start=1):
            home = folder / f"of-{brokers}" / str(node_id)
            home.mkdir(parents=True)
            properties = _properties(node_id, port, controller, home, brokers, configs)
            text = "".join(f"{k}={v}\n" for k, v in properties.items())
            (home / "server.properties").write_text(text)
            files.append(str(home / "server.properties"))
    (folder / "log4j2.properties").write_text(LOGGING)
    logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}"
    command = java(class_path, HERE / "java" / "Brokers.java", "-Xmx512m", logging, *options)
    with (folder / "kafka.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            wait_for_up(process, folder / "kafka.log")
            yield addresses
        finally:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()  # The program then ends at once.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            process.kill()
            process.wait()
            process.stdout.close()


def wait_for_up(process: subprocess.Popen[bytes], log: Path, *, within_s: float = START_SECONDS) -> None:
    """Wait until a started program reports that its brokers are up; AssertionError with the end of its log."""
    assert process.stdout is not None
    deadline = time.monotonic() + within_s
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))
        data = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
        assert data, f"the real brokers did not start: {log.read_text(errors='replace')[-3000:]}"
        line += data


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, real_clusters(sys.argv[1], Path(folder)) as addresses:
        print(json.dumps(addresses), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
