"""The proxy: requests per second of its processor time, to the broker and back (X1, X2).

X1: small requests, one at a time and five in flight, and with the command's other work: a summary, and a rule that may
match each request, so that each is decoded and sent separately. X2: large batches produced and fetched. The broker is
kmirror's; only the proxy's process is charged.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import net_servers
from benchmarks.harness import Case, no_runs, scratch
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message
from kmirror.records import RecordData, build_batch

TOPIC = "orders"
ROUNDS = 4
REQUESTS = 2_000
LARGE = 100
MIB = 1 << 20
RULE_TEXT = '[[rule]]\nprobability = 0\nerror = "REQUEST_TIMED_OUT"\n'


def encode_frame(body: Message, version: int) -> bytes:
    frame = encode_request(body, version, correlation_id=1, client_id="benchmark")
    return len(frame).to_bytes(4, "big") + frame


def produce_frame(size: int) -> bytes:
    records = build_batch([RecordData(None, bytes(size), (), 1)])
    rows = [TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=0, records=records)])]
    return encode_frame(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=rows), 9)


def fetch_frame() -> bytes:
    rows = [FetchPartition(partition=0, partition_max_bytes=MIB)]
    return encode_frame(
        FetchRequest(max_wait_ms=0, max_bytes=MIB, topics=[FetchTopic(topic=TOPIC, partitions=rows)]), 12
    )


@contextmanager
def running_proxy(options: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Yield the process of a proxy in front of a kmirror broker, and its port."""
    with net_servers.kmirror() as server:
        server.create_topic(TOPIC)
        words = ["--bootstrap-server", server.addresses, "-o", "json", *options]
        with subprocess.Popen(
            [sys.executable, "-m", "kmirror", "proxy", *words], stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout is not None
                yield process, int(json.loads(process.stdout.readline())["bootstrap_servers"].rpartition(":")[2])
            finally:
                process.kill()


def read_responses(link: socket.socket, count: int) -> None:
    """Read `count` responses."""
    with link.makefile("rb") as file:
        for _ in range(count):
            file.read(int.from_bytes(file.read(4), "big"))


def per_second(
    make_frame: Callable[[], bytes], count: int, in_flight: int, options: Callable[[], Sequence[str]]
) -> list[float]:
    """Return the requests per second of the proxy's processor time, a few times."""
    found = []
    frame = make_frame()
    with running_proxy(options()) as (process, port), socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(produce_frame(900_000))
        read_responses(link, 1)
        for _ in range(ROUNDS):
            before = net_servers.cpu_s(process)
            for _ in range(count // in_flight):
                link.sendall(frame * in_flight)
                read_responses(link, in_flight)
            found.append(count / (net_servers.cpu_s(process) - before))
    return found


def rule_options() -> list[str]:
    path: Path = scratch() / "rules.toml"
    path.write_text(RULE_TEXT, encoding="ascii")
    return ["--no-summary", "--rules", str(path)]


def cases() -> list[Case]:
    """Return X1 and X2."""
    return list(_cases())


def _cases() -> Iterator[Case]:
    heartbeat = encode_frame(HeartbeatRequest(group_id="g", member_id="m"), 4)
    without_summary: list[str] = ["--no-summary"]

    def row(
        id_: str,
        text: str,
        make_frame: Callable[[], bytes],
        count: int,
        in_flight: int,
        options: Callable[[], Sequence[str]],
    ) -> Case:
        text = f"per CPU-second of the proxy, by itself, {text}"
        measure = lambda pairs: per_second(make_frame, count, in_flight, options)  # noqa: E731  # Each row has its own.
        return Case(id_, text, "kmirror", no_runs, measure=measure, version="")

    yield row("X1", "heartbeats", lambda: heartbeat, REQUESTS, 1, lambda: without_summary)
    yield row("X1", "heartbeats, five under way", lambda: heartbeat, REQUESTS, 5, lambda: without_summary)
    yield row("X1", "heartbeats, with a summary", lambda: heartbeat, REQUESTS, 1, list)
    yield row("X1", "heartbeats, each looked at by a rule", lambda: heartbeat, REQUESTS, 1, rule_options)
    yield row("X1", "batches of 1 KiB produced", lambda: produce_frame(1024), REQUESTS, 1, lambda: without_summary)
    yield row("X2", "batches of 900 kB produced", lambda: produce_frame(900_000), LARGE, 1, lambda: without_summary)
    yield row("X2", "batches of 900 kB fetched", fetch_frame, LARGE, 1, lambda: without_summary)
