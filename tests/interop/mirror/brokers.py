"""Clusters of a release of Apache Kafka, as the sources of mirrors: a broker can be killed and restarted.

Of three brokers those that will be killed have their own JVM, by default the second; the others share one with the
controller, or with the ZooKeeper that brokers of 2.1 need. A single one dies with its controller. A broker with its own
JVM can also be stopped cleanly, from Kafka 3.9 on.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.interop.clients import real
from tests.interop.clients.real import free_ports, wait_for_up
from tests.interop.jvm import java

RAFT_BROKERS = Path(real.__file__).parent / "java" / "Brokers.java"
ZOOKEEPER_BROKERS = Path(__file__).parent / "java" / "ZooKeeperBrokers.java"
START_SECONDS = 240
NOTHING_ELSE: Mapping[str, str] = {}
SHARED = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.ms": "-1",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.backoff.ms": "200",
    "log.segment.delete.delay.ms": "100",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "num.io.threads": "2",
    "num.network.threads": "2",
    "leader.imbalance.check.interval.seconds": "1",
    "leader.imbalance.per.broker.percentage": "0",
}


class RealCluster:
    """Brokers of a release, mostly one or three; they stop at the end of the block, or when this process dies.

    `alone` are the brokers with their own JVM, if there are several; the first is not among them. `listeners` are the
    security protocols of a single broker's listeners besides PLAINTEXT, whose names are the protocols'; `configs` take
    precedence over the others.
    """

    def __init__(
        self,
        release: str,
        class_path: str,
        folder: Path,
        *,
        brokers: int,
        alone: Sequence[int] = (2,),
        listeners: Sequence[str] = (),
        configs: Mapping[str, str] = NOTHING_ELSE,
    ) -> None:
        self.release = release
        self.brokers = brokers
        self._class_path = class_path
        self._folder = folder
        self._is_raft = not release.startswith("2.")
        self._inner, *ports = free_ports(brokers + 1 + len(listeners))
        self._ports = dict(enumerate(ports[:brokers], start=1))
        self.servers_of = {name: f"127.0.0.1:{port}" for name, port in zip(listeners, ports[brokers:], strict=True)}
        """Address of each of `listeners`."""
        self.bootstrap_servers = ",".join(f"127.0.0.1:{port}" for port in self._ports.values())
        self.zookeeper = f"127.0.0.1:{self._inner}"
        self._configs = configs
        self._alone = (1,) if brokers == 1 else tuple(alone)
        self.killable = self._alone[0]
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        """The JVMs, by their first broker."""

    def __enter__(self) -> Self:
        (self._folder / "zookeeper").mkdir(parents=True)
        (self._folder / "zookeeper" / "port").write_text(str(self._inner))
        for broker_id in self._ports:
            text = "".join(f"{key}={value}\n" for key, value in self._properties(broker_id).items())
            self._file(broker_id).write_text(text)
        try:
            for first in (every := dict.fromkeys((1, *self._alone))):
                self._begin(first)
                if not self._is_raft:
                    self._wait(first)  # A broker of 2.1 exits without ZooKeeper.
            for first in every if self._is_raft else ():
                self._wait(first)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for broker_id in list(self._running):
            self._end(broker_id)

    def logs(self, broker_id: int) -> Path:
        """Return the folder of a broker's log.dirs."""
        return self._folder / f"data-{broker_id}"

    def kill(self, broker_id: int | None = None) -> None:
        """Kill a broker, by default `killable`."""
        self._end(broker_id or self.killable)

    def stop(self, broker_id: int) -> None:
        """Stop a broker cleanly, and wait for it."""
        self._running[broker_id].terminate()
        self._running[broker_id].wait(START_SECONDS)
        self._end(broker_id)

    def server(self, broker_id: int) -> str:
        """Return the address of a broker."""
        return f"127.0.0.1:{self._ports[broker_id]}"

    def restart(self, broker_id: int | None = None) -> None:
        """Restart it, and wait until it serves."""
        self._begin(broker_id or self.killable)
        self._wait(broker_id or self.killable)

    def _file(self, broker_id: int) -> Path:
        return self._folder / f"server-{broker_id}.properties"

    def _properties(self, broker_id: int) -> Mapping[str, str]:
        factor = str(len(self._ports))
        servers = {"PLAINTEXT": f"127.0.0.1:{self._ports[broker_id]}", **self.servers_of}
        listener = ",".join(f"{name}://{server}" for name, server in servers.items())
        keys = ("offsets.topic.replication.factor", "transaction.state.log.replication.factor")
        common = {**SHARED, **dict.fromkeys((*keys, "default.replication.factor"), factor)}
        common |= {"transaction.state.log.min.isr": "1", "log.dirs": str(self.logs(broker_id))}
        if not self._is_raft:
            zookeeper = {"zookeeper.connect": self.zookeeper, "zookeeper.session.timeout.ms": "3000"}
            return {"broker.id": str(broker_id), "listeners": listener, **zookeeper, **common, **self._configs}
        leads = broker_id == 1
        controller = f"127.0.0.1:{self._inner}"
        return {
            "node.id": str(broker_id),
            "process.roles": "broker,controller" if leads else "broker",
            "controller.quorum.bootstrap.servers": controller,
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": ",".join(f"{name}:{name}" for name in servers) + ",CONTROLLER:PLAINTEXT",
            "listeners": f"{listener},CONTROLLER://{controller}" if leads else listener,
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            **common,
            **self._configs,
        }

    def _begin(self, first: int) -> None:
        """Start the JVM with this first broker."""
        others = [broker_id for broker_id in self._ports if broker_id not in (1, *self._alone)] if first == 1 else []
        files = [str(self._file(broker_id)) for broker_id in (first, *others)]
        if not self._is_raft and first == 1:
            files = [str(self._folder / "zookeeper"), *files]
        program = RAFT_BROKERS if self._is_raft else ZOOKEEPER_BROKERS
        command = [*java(self._class_path, program, "-Xmx512m"), *files]
        with (self._folder / f"{first}.log").open("ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self._running[first] = process

    def _wait(self, first: int) -> None:
        wait_for_up(self._running[first], self._folder / f"{first}.log", within_s=START_SECONDS)

    def _end(self, first: int) -> None:
        process = self._running.pop(first)
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
