"""`kmirror serve`: one line when clients can connect, an orderly end, a broker's properties."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from kmirror.cli.main import run as run_main
from kmirror.cli.serve import WaitReporter, command, report_note
from kmirror.cli.server_properties import parse, read_properties
from kmirror.cluster.controller.facts import BrokerRefused
from kmirror.errors import UsageError
from kmirror.kernel.events import Note
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.net.listener import Port
from kmirror.net.node import NodePlan, TcpNode
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from tests.net.wire import Wire

WITHIN_S = 60


@contextmanager
def serving(*words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "kmirror", "serve", "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=WITHIN_S)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    with serving() as process:
        key, _, server = line(process).strip().partition("=")
        assert key == "bootstrap.servers"
        with Wire(server) as wire:
            answer = wire.ask(MetadataRequest(topics=[]), 9)
            assert isinstance(answer, MetadataResponse)
            assert [broker.node_id for broker in answer.brokers] == [1]
            process.send_signal(number)
            assert wire.is_closed()
        out, err = process.communicate(timeout=WITHIN_S)
        assert (process.returncode, out) == (0, "")
        assert err == "kmirror: stopping; a second signal stops immediately\n"


def test_json_names_the_brokers_and_the_cluster() -> None:
    with serving("--brokers", "3", "-o", "json") as process:
        started = json.loads(line(process))
        assert [broker["node_id"] for broker in started["brokers"]] == [1, 2, 3]
        servers = [f"{broker['host']}:{broker['port']}" for broker in started["brokers"]]
        assert started["bootstrap_servers"] == ",".join(servers)
        with Wire(servers[2]) as wire:
            response = wire.ask(MetadataRequest(topics=[]), 9)
        assert isinstance(response, MetadataResponse)
        assert response.cluster_id == started["cluster_id"]


def test_metrics_are_served_at_the_given_port() -> None:
    with serving("--metrics-port", "0", "-o", "json") as process:
        page = json.loads(line(process))["metrics"]
        with urlopen(page, timeout=WITHIN_S) as answer:
            assert b'kafka_server_replicamanager_leadercount{node_id="1"}' in answer.read()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=WITHIN_S)
        assert process.returncode == 0 and f"kmirror: metrics at {page}\n" in err


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    # A single broker hands over nothing and ends quickly; so the second signal is sent while the first is handled.
    script = (
        "import os, signal\n"
        "from kmirror.net.cluster import TcpCluster\n"
        "TcpCluster.stop = lambda self, node_id=None: os.kill(os.getpid(), signal.SIGTERM)\n"
        "from kmirror.cli.main import run\n"
        "run(['serve', '--port', '0'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert line(process).startswith("bootstrap.servers=")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=WITHIN_S)
    assert process.returncode == 128 + signal.SIGTERM


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, words)
    return result.exit_code, result.output if result.exception is None else str(result.exception) or result.output


def test_a_port_in_use_is_reported() -> None:
    port = Port("127.0.0.1", 0)
    listening = port.listen(1)
    assert "Address already in use: choose another port" in run("--port", str(port.endpoint.port))[1]
    listening.close()
    port.close()


def write(path: Path, *lines: str) -> Path:
    file = path / "server.properties"
    file.write_text("\n".join(lines))
    return file


KAFKAS: Sequence[str] = (
    "# The file of the distribution, shortened.",
    "process.roles=broker,controller",
    "node.id=1",
    "controller.quorum.bootstrap.servers=localhost:9093",
    "listeners=PLAINTEXT://:9092,CONTROLLER://:9093",
    "inter.broker.listener.name=PLAINTEXT",
    "advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names=CONTROLLER",
    "num.network.threads=3",
    "log.dirs=/tmp/kraft-combined-logs",
    "num.partitions=2",
    "log.retention.hours=168",
)


def test_kafkas_own_file_is_understood(tmp_path: Path) -> None:
    settings = read_properties(write(tmp_path, *KAFKAS))
    assert settings.listener == ("", 9092)
    assert settings.advertised_host == "localhost"
    assert settings.log_dirs == "/tmp/kraft-combined-logs"
    assert settings.configs["num.partitions"] == "2"
    assert settings.configs["log.retention.hours"] == "168"
    assert "num.network.threads" in {*settings.unknown_keys, *settings.configs}
    assert not {"listeners", "process.roles", "node.id"} & {*settings.unknown_keys, *settings.configs}


def test_a_controllers_listener_is_not_the_brokers(tmp_path: Path) -> None:
    file = write(tmp_path, "controller.listener.names=C", "listeners=C://:9093, CLIENTS://[::1]:9094")
    assert read_properties(file).listener == ("::1", 9094)


@pytest.mark.parametrize("listener", ["localhost:9092", "PLAINTEXT://localhost", "PLAINTEXT//:1"])
def test_a_listener_that_is_none_is_named(tmp_path: Path, listener: str) -> None:
    with pytest.raises(UsageError, match="is not a listener, such as PLAINTEXT://localhost:9092"):
        read_properties(write(tmp_path, f"listeners={listener}"))


def test_a_value_that_a_broker_refuses_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "num.partitions=0")
    assert "Invalid value 0 for configuration num.partitions" in run("--config", str(file))[1]
    assert "cannot read" in run("--config", str(tmp_path / "none"))[1]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=b", {"a": "b"}),
        (" a : b ", {"a": "b "}),
        ("a b=c", {"a": "b=c"}),
        ("a=1\\\n  ,2\nb=3", {"a": "1,2", "b": "3"}),
        ("a=x\\\\\nb=y", {"a": "x\\", "b": "y"}),
        ("! no\n#no=no\n\na", {"a": ""}),
        ("a\\=b=c\\u0041\\t", {"a=b": "cA\t"}),
        ("a=1\r\na=2", {"a": "2"}),
        ("a=#1\\", {"a": "#1"}),
        ("x=1\\\n# not a comment", {"x": "1# not a comment"}),
    ],
)
def test_properties_are_read_as_java_reads_them(text: str, pairs: dict[str, str]) -> None:
    assert parse(text) == pairs


def test_a_journal_of_a_process_that_was_killed_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At most its last entry is torn; another process, with other hashes, gives the same result."""
    folder = tmp_path / "journals"
    with serving("--journal", str(folder)) as process:
        server = line(process).strip().partition("=")[2]
        with Wire(server) as wire:
            assert wire.ask(MetadataRequest(topics=[]), 9) is not None
            process.kill()
            assert wire.is_closed()
    files = sorted(folder.iterdir())
    assert [path.name for path in files] == ["kafka-1.1.journal", "kafka-controller.1.journal"]
    with pytest.raises(SystemExit) as caught:
        run_main(["replay", *map(str, files)])
    out = capsys.readouterr().out
    assert caught.value.code == 0, out
    assert out.count(", equal\n") == 2


def test_a_long_wait_of_a_node_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    node = TcpNode(
        NodePlan(
            node_id=2,
            controller=Endpoint("kafka-1", 9093),
            listeners=(ListenerSpec.plain(Endpoint("127.0.0.1", 0)),),
        ),
        cluster_id="x",
    )
    reasons = ["the controller at kafka-1:9093"] * 12 + ["its logs"] * 2
    waiting = WaitReporter(node)
    for number, reason in enumerate(reasons, 1):
        node.run_on_loop = lambda call, reason=reason: reason  # type: ignore[method-assign,assignment,misc]
        waiting.check()
        output = capsys.readouterr().err
        assert output == (f"kmirror: broker 2 waits for {reason}\n" if number in (10, 13) else ""), number


def test_the_controller_reports_a_broker_of_another_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    fact = BrokerRefused(2, "theirs", "ours")
    report_note("controller-100", Note(str(fact), fact))
    message = "controller-100 rejects a broker: broker 2 is of cluster theirs, and this is cluster ours"
    assert capsys.readouterr().err == f"kmirror: {message}\n"
