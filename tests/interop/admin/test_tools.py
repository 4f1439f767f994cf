"""kafka-configs.sh and kafka-features.sh compared with `kmirror configs` and `kmirror features`, on the same clusters.

Each step is run by both tools, one after the other, and must have the same exit code and output. `TOOL` in a step is a
name that differs for each tool, so that both can delete their own settings.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from kmirror.admin.client import AsyncAdmin
from kmirror.cli import configs, features
from kmirror.errors import UsageError
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from tests.interop.clients.real import real_clusters
from tests.interop.jvm import java

HERE = Path(__file__).parent
CLASSES = {"configs": "kafka.admin.ConfigCommand", "features": "org.apache.kafka.tools.FeatureCommand"}
COMMANDS = {"configs": configs.command, "features": features.command}


class ToolResult(NamedTuple):
    """Exit code and output of a tool."""

    status: int
    out: str


class KafkaTools:
    """Kafka's tools, all in one JVM."""

    def __init__(self, class_path: str, log: Path) -> None:
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            java(class_path, HERE / "Tools.java", "-Xmx256m"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )

    def run(self, tool: str, words: list[str]) -> tuple[ToolResult, str]:
        """Return the tool's result, and its output on stderr."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps([CLASSES[tool], *words]) + "\n")
        stdin.flush()
        told = json.loads(stdout.readline())
        return ToolResult(told["status"], told["out"]), told["err"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()


@pytest.fixture(scope="module")
def tools(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaTools]:
    tools = KafkaTools(kafka_class_path, tmp_path_factory.mktemp("tools") / "tools.log")
    yield tools
    tools.close()


@pytest.fixture(scope="module")
def real(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_clusters(kafka_class_path, tmp_path_factory.mktemp("kafka"), (1,)) as addresses:
        yield addresses[1]


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    with TcpCluster(brokers=1) as cluster:
        yield cluster.bootstrap_servers


def ours_ended(tool: str, words: list[str]) -> tuple[ToolResult, str]:
    result = CliRunner().invoke(COMMANDS[tool], words, standalone_mode=False)
    if isinstance(result.exception, UsageError):
        return ToolResult(1, result.stdout), str(result.exception)
    assert result.exception is None, result.exception
    return ToolResult(result.return_value, result.stdout), result.stderr


def differences(tools: KafkaTools, server: str, script: str) -> Iterator[str]:
    """Run each line of a script with both tools, and yield the differences."""
    for line in script.strip().splitlines():
        tool, *rest = line.split()
        words = ["--bootstrap-server", server, *rest]
        theirs, why = tools.run(tool, [word.replace("TOOL", "of-kafka") for word in words])
        found, our_why = ours_ended(tool, [word.replace("TOOL", "of-ours") for word in words])
        if mask_differences(tool, found) != mask_differences(tool, theirs):
            yield f"{line}\nKafka's: {theirs}\n{why}\nours: {found}\n{our_why}"


def mask_differences(tool: str, ended: ToolResult) -> ToolResult:
    """Return a tool's result without intended differences."""
    if tool == "configs" and ended.status:
        return ToolResult(ended.status, "")  # Kafka's prints the title of a resource before it fails to describe it.
    out = re.sub("of-kafka|of-ours", "TOOL", re.sub(r"Epoch: \d+", "Epoch: N", ended.out))
    blocks = re.split(r"(?m)^(?=Dynamic|All)", out)  # Kafka's prints topics in the order of a hash table.
    return ToolResult(ended.status, "".join(sorted(blocks)))


AT_BOTH = """
configs --entity-type topics --describe
configs --topic orders --describe
configs --topic orders --alter --add-config cleanup.policy=[compact,delete],retention.ms=1000
configs --topic orders --describe
configs --topic orders --describe --all
configs --topic nowhere --describe
configs --topic nowhere --describe --all
configs --topic orders --alter --add-config retention.ms=soon
configs --topic orders --alter --delete-config cleanup.policy,retention.ms
configs --entity-type brokers --entity-default --alter --add-config log.cleaner.threads=2
configs --broker 1 --alter --add-config log.retention.ms=100000
configs --broker 1 --describe
configs --broker 1 --describe --all
configs --entity-type brokers --describe
configs --broker-defaults --describe --all
configs --broker 1 --alter --delete-config log.retention.ms
configs --broker-defaults --alter --delete-config log.cleaner.threads
configs --broker 7 --describe
configs --group g --describe --all
features describe
features describe --node-id 1
features upgrade --feature transaction.version=2
features downgrade --feature transaction.version=1 --dry-run
features upgrade --feature metadata.version=99
features downgrade --metadata 3.9
features downgrade --release-version 4.2
features disable --feature transaction.version --dry-run
features disable --feature nothing.version
features upgrade --feature a=b
features upgrade --feature transaction.version=0
features upgrade
features version-mapping
features version-mapping --release-version 3.9.1
features version-mapping --release-version 4.4
features feature-dependencies --feature metadata.version=17 --feature eligible.leader.replicas.version=1
features feature-dependencies --feature group.version=7
features feature-dependencies --feature what.version=7
"""
AT_KAFKA = """
configs --group g --alter --add-config consumer.session.timeout.ms=50000
configs --group g --describe
configs --group h --describe
configs --entity-type groups --describe
configs --broker-logger 1 --alter --add-config kafka.server.KafkaApis=DEBUG
configs --broker-logger 1 --alter --add-config what=DEBUG
configs --broker-logger 1 --describe
configs --client-metrics m --alter --add-config interval.ms=30000,metrics=[a,b]
configs --client-metrics m --describe
configs --client-metrics n --describe
configs --entity-type client-metrics --describe
configs --client TOOL --alter --add-config consumer_byte_rate=1024,producer_byte_rate=1e6,request_percentage=12.5
configs --client TOOL --describe
configs --entity-type clients --entity-default --alter --add-config consumer_byte_rate=1
configs --client-defaults --describe
configs --client TOOL --alter --delete-config consumer_byte_rate
configs --client TOOL --alter --delete-config consumer_byte_rate
configs --user TOOL --client a --alter --add-config producer_byte_rate=5
configs --user TOOL --client a --describe
configs --entity-type users --entity-name TOOL --entity-type clients --describe
configs --entity-type clients --entity-type users --entity-default --describe
configs --user TOOL --alter --add-config SCRAM-SHA-256=[iterations=8192,password=p]
configs --user TOOL --alter --add-config SCRAM-SHA-512=[password=p]
configs --user TOOL --describe
configs --user TOOL --alter --delete-config SCRAM-SHA-512
configs --user TOOL --alter --delete-config SCRAM-SHA-512
configs --entity-type users --describe
configs --user nobody --describe
configs --ip 127.0.0.7 --alter --add-config connection_creation_rate=10
configs --entity-type ips --describe
features downgrade --feature group.version=0 --feature streams.version=0
features upgrade --release-version 4.3
"""


def test_at_a_real_broker_they_do_and_print_the_same(tools: KafkaTools, real: str) -> None:
    create(real)
    assert list(differences(tools, real, AT_BOTH + AT_KAFKA.strip())) == []


def test_at_our_brokers_they_do_and_print_the_same(tools: KafkaTools, ours: str) -> None:
    create(ours)
    assert list(differences(tools, ours, AT_BOTH)) == []


def create(server: str) -> None:
    async def created() -> None:
        async with AsyncAdmin(server) as admin:
            names = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in ("orders", "bills")]
            reply = await admin.order(CreateTopicsRequest(topics=names, timeout_ms=30_000))
            assert isinstance(reply, CreateTopicsResponse) and not any(row.error_code for row in reply.topics)

    asyncio.run(created())
