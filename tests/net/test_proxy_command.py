"""`kmirror proxy` as a process: its output, its end, its recordings, and its confirmations."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from kmirror.errors import KafkaError
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.proxy.replay import replay
from tests.net.test_cluster import cluster
from tests.net.wire import WITHIN_S, Wire, frame_of


@pytest.fixture(scope="module")
def served() -> Iterator[TcpCluster]:
    with cluster(1, topics=["orders"]) as c:
        yield c


class Command:
    """A process that runs until it gets a signal."""

    def __init__(self, served: TcpCluster, *words: str) -> None:
        command = [sys.executable, "-m", "kmirror", "proxy", "--bootstrap-server", served.bootstrap_servers, *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[str, str]:
        """Return the output after the first line, on stdout and stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WITHIN_S)
        assert self.process.returncode == 0, err
        return out, err


def run(served: TcpCluster, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kmirror", "proxy", "--bootstrap-server", served.bootstrap_servers, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)


def test_rules_a_record_and_a_summary(served: TcpCluster, tmp_path: Path) -> None:
    rules, record = tmp_path / "rules.toml", tmp_path / "record.jsonl"
    rules.write_text(
        '[[rule]]\napi = "Metadata"\nnth = 2\ntimes = 1\nerror = "LEADER_NOT_AVAILABLE"\ntopic = "orders"\n'
    )
    with Command(served, "--rules", str(rules), "--record", str(record), "-o", "json") as process:
        address = json.loads(process.first)["bootstrap_servers"]
        codes = []
        with Wire(address) as wire:
            for _ in range(3):
                response = wire.ask(MetadataRequest(topics=None), 9)
                assert isinstance(response, MetadataResponse)
                codes.append(response.topics[0].error_code)
        assert codes == [0, 5, 0]
        out, err = process.end(signal.SIGINT)
    summary = json.loads(out)
    assert summary["rules"] == [{"rule": 1, "taken": 1}] and err == ""
    (row,) = summary["requests"]
    assert (row["api"], row["version"], row["client_id"], row["requests"]) == ("Metadata", 9, "wire", 3)
    assert row["errors"] == {"LEADER_NOT_AVAILABLE": 1} and row["latency_ms"]["max"] > 0
    assert [json.loads(line)["errors"] for line in record.read_text().splitlines()] == [
        [],
        ["LEADER_NOT_AVAILABLE"],
        [],
    ]

    again = run(served, "--replay", str(record))
    assert again.returncode == 4
    assert again.stdout.splitlines() == [
        f"{record}, line 2: Metadata v9: LEADER_NOT_AVAILABLE then, NONE now",
        "3 requests sent again, 1 got other errors",
    ]
    lines = record.read_text().splitlines()
    record.write_text(f"{lines[0]}\n{lines[2]}\n")
    same = run(served, "--replay", str(record), "-o", "json")
    assert (same.returncode, json.loads(same.stdout)) == (0, {"asked": 2, "differing": 0})


def test_a_table_for_people_and_a_signal_that_lets_go(served: TcpCluster, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\napi = "ApiVersions"\nhold = true\n')
    with Command(served, "--rules", str(rules)) as process:
        address = process.first.removeprefix("bootstrap.servers=").strip()
        with Wire(address) as wire:
            wire.send(frame_of(ApiVersionsRequest(), 2))
            assert not wire.has_data(0.05)
            process.process.send_signal(signal.SIGUSR1)
            assert wire.frame()
        out, _ = process.end()
    assert out.splitlines()[0] == "rule 1 (api = ApiVersions, hold = True): applied 1 times"
    assert [line.split()[:4] for line in out.splitlines() if "wire" in line] == [["ApiVersions", "2", "wire", "1"]]


def test_mutations_are_reported(served: TcpCluster) -> None:
    with Command(served, "--mutate", "3", "--every", "1", "--no-summary") as process:
        with Wire(process.first.removeprefix("bootstrap.servers=").strip()) as wire:
            wire.socket.settimeout(1)
            wire.send(frame_of(ApiVersionsRequest(), 2))
            try:
                wire.read(1)
            except TimeoutError:
                pass
        out, err = process.end()
    assert out == "" and err.startswith("kmirror: frame 1 at bootstrap 1, ApiVersions v")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--rules", "none.toml"], 1, "kmirror: none.toml: cannot be read: No such file or directory\n"),
        (["--replay", "none.jsonl"], 1, "kmirror: none.jsonl: cannot be read: No such file or directory\n"),
        (["--record", "none/record"], 1, "kmirror: none/record: cannot be written: No such file or directory\n"),
        (["--mutate", "-1"], 2, "Invalid value for '--mutate'"),
    ],
)
def test_invalid_options_are_refused(served: TcpCluster, words: list[str], code: int, text: str) -> None:
    done = run(served, *words)
    assert done.returncode == code and text in done.stderr


def test_an_unreachable_cluster_is_reported() -> None:
    with pytest.raises(KafkaError, match=r"cannot connect to 127\.0\.0\.1:1"):
        list(replay([], "127.0.0.1:1"))
