"""A consumer, the console consumer and the dump tool of Kafka 4.3.1 get the same from a mirror as from its source.

Records above the source's last stable offset are not mirrored, and are left out.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer

from kmirror.kernel.ids import TopicPartition
from kmirror.net.cluster import TcpCluster
from tests.interop.jvm import java
from tests.interop.log.judge import Judge
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.destination import Mirrored
from tests.interop.mirror.source import QUIET, Source
from tests.interop.mirror.waiting import WITHIN_S

ISOLATIONS = ("read_committed", "read_uncommitted")
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleConsumer"
PRINTED = ("timestamp", "partition", "offset", "epoch", "headers", "key", "value")
DECIDED = ["codecs", "compacted", "deleted"]
"""Topics without an open transaction."""
WHERE = re.compile(r" position: \d+")
Found = Mapping[str, Any]
"""By partition."""


class Seen(NamedTuple):
    """Kafka's results at the source and here."""

    records: Mapping[str, tuple[Found, Found]]
    """By isolation level."""
    producers: tuple[Found, Found]
    console: tuple[list[str], list[str]]
    ends: Mapping[TopicPartition, int]
    judge: Judge
    folders: tuple[Path, Path]
    """Locations of the logs, after both clusters have stopped."""


def console(class_path: str, servers: str, count: int) -> list[str]:
    """Return the console consumer's output for `count` committed records of all topics."""
    command = java(class_path, CONSOLE, "-Xmx128m")
    words = ["--bootstrap-server", servers, "--include", "|".join((*DECIDED, "transactions")), "--from-beginning"]
    words += ["--isolation-level", "read_committed", "--max-messages", str(count), "--timeout-ms", "60000"]
    for name in PRINTED:
        words += ["--formatter-property", f"print.{name}=true"]
    return sorted(subprocess.run([*command, *words], capture_output=True, text=True, check=True).stdout.splitlines())


@pytest.fixture(scope="module")
def results(class_path_of: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    class_path, folder = class_path_of("4.3.1"), tmp_path_factory.mktemp("read")
    with contextlib.ExitStack() as stack:
        judge = stack.enter_context(contextlib.closing(Judge(class_path, folder)))
        kafka = stack.enter_context(RealCluster("4.3.1", class_path, folder / "kafka", brokers=1))
        b = stack.enter_context(TcpCluster(name="b", brokers=1, data=folder / "b", mirror_version=1))
        source = Source(kafka)
        topics = source.create_topics()
        source.write_everything("first")
        source.clean_and_delete()
        kafka.kill()
        kafka.restart()  # In another leader epoch.
        source.write_everything("second")
        write_oddities(kafka.bootstrap_servers)
        source.transaction("open", ends="")
        source.transaction("behind it", ends="commit")
        mirror = Mirrored(kafka.bootstrap_servers, b)
        mirror.add(topics)
        mirror.catch_up()
        ends = mirror.stable_ends()
        both = (kafka.bootstrap_servers, b.bootstrap_servers)
        rows = {level: both_of(judge, both, "read", list(ends), isolation=level) for level in ISOLATIONS}
        count = sum(map(len, rows["read_committed"][1].values()))
        printed = console(class_path, both[0], count), console(class_path, both[1], count)
        producers = both_of(judge, both, "producers", [tp for tp in ends if tp.topic in DECIDED])
        kafka.kill()
        b.stop()
        assert not b.failures
        yield Seen(rows, producers, printed, ends, judge, (kafka.logs(1), folder / "b"))


def write_oddities(servers: str) -> None:
    """Write the remaining cases: headers, null and empty keys and values, timestamps of the producer."""
    producer = Producer({"bootstrap.servers": servers, **QUIET})
    for number, (key, value) in enumerate([(None, None), (b"", b""), (b"k", None), (None, "snowman \u2603".encode())]):
        headers: Any = [("h", b"1"), ("h", None), ("", b"")] if number % 2 else []
        producer.produce("codecs", value, key=key, partition=0, headers=headers, timestamp=1_000_000 + number)
    assert producer.flush(WITHIN_S) == 0


def both_of(
    judge: Judge, servers: tuple[str, str], what: str, partitions: list[TopicPartition], **details: Any
) -> tuple[Found, Found]:
    """Send the same requests about both clusters with Kafka's clients."""
    asked = [(tp.topic, tp.partition) for tp in partitions]
    found = []
    for address in servers:
        judge.ask("at", address=address)
        found.append(judge.ask(what, partitions=asked, **details))
    return found[0], found[1]


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_consumer_gets_the_same_records(results: Seen, isolation: str) -> None:
    theirs, ours = results.records[isolation]
    for tp, end in results.ends.items():
        assert ours[str(tp)] == [row for row in theirs[str(tp)] if row["offset"] < end], tp
        assert ours[str(tp)]
    epochs = {row["leader_epoch"] for rows in ours.values() for row in rows}
    assert len(epochs) > 1


def test_the_console_consumer_prints_the_same(results: Seen) -> None:
    theirs, ours = results.console
    assert ours == theirs and len(ours) > 500


def test_describe_producers_returns_the_same(results: Seen) -> None:
    theirs, ours = results.producers
    for partition, rows in theirs.items():
        assert sorted(ours[partition]) == sorted(rows), partition
    assert any(theirs.values())


def dump(judge: Judge, folder: Path, tp: TopicPartition, suffix: str, *flags: str) -> list[str]:
    """Return the dump tool's output for a partition's files, without file names and positions."""
    files = [str(path) for path in sorted((folder / str(tp)).glob(f"*{suffix}")) if path.stat().st_size]
    if not files:
        return []
    text = judge.dump(*flags, "--files", ",".join(files))
    lines = [WHERE.sub("", line) for line in text.splitlines()]
    return [line for line in lines if not line.startswith(("Dumping ", "Log starting offset: "))]


@pytest.mark.parametrize("flags", [("--deep-iteration", "--print-data-log"), ()], ids=len)
def test_the_dump_tool_prints_the_same_batches(results: Seen, flags: tuple[str, ...]) -> None:
    for tp in results.ends:
        theirs, ours = (dump(results.judge, folder, tp, ".log", *flags) for folder in results.folders)
        first = theirs.index(ours[0])  # The source may still have records below its log start.
        assert ours == theirs[first : first + len(ours)], tp
        assert any("partitionLeaderEpoch: " in line and "producerId: " in line for line in ours)
        assert not any("isvalid: false" in line for line in ours)


def test_the_dump_tool_finds_our_indexes_sound(results: Seen) -> None:
    for suffix in (".index", ".timeindex"):
        for tp in results.ends:
            assert dump(results.judge, results.folders[1], tp, suffix, "--verify-index-only") == [], tp
        said = [
            line
            for tp in results.ends
            for line in dump(results.judge, results.folders[1], tp, suffix, "--index-sanity-check")
        ]
        assert said and all(line.endswith(" passed sanity check.") for line in said), said


def test_the_dump_tool_prints_the_same_aborted_transactions(results: Seen) -> None:
    told = 0
    for tp in results.ends:
        theirs, ours = (dump(results.judge, folder, tp, ".txnindex") for folder in results.folders)
        assert ours == theirs, tp
        told += len(ours)
    assert told
