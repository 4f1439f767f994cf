"""A cluster on TCP ports keeps its logs under a folder: killed with -9 under load, stopped, or refused the folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.logdir.checkpoints import CLEAN_SHUTDOWN, META_PROPERTIES
from kmirror.logdir.lock import lock_folder
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from tests.folder_checks import assert_verified
from tests.net.wire import Wire

ORDERS = TopicPartition("orders", 0)
SESSIONS = {"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "100"}
VERSION = 9
ACKED_BEFORE_KILL = 150
NOT_LEADER = 6
TOO_FEW = (3, 7, 19, 20)
"""UNKNOWN_TOPIC_OR_PARTITION of a starting broker, REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS and _AFTER_APPEND."""
ROUNDS = int(os.environ.get("KMIRROR_KILL_ROUNDS", "3"))


class Writer(threading.Thread):
    """Writes records one by one with acks=all until the server is gone, and remembers the acknowledged ones.

    With `insists` it repeats each record until it is accepted, despite dying brokers, and ends when it `may_end`.
    """

    def __init__(self, servers: list[Endpoint], turn: int, *, insists: bool = False) -> None:
        super().__init__(daemon=True)
        self.may_end = threading.Event()
        self._insists = insists
        self.acked: list[bytes] = []
        self.enough = threading.Event()
        self._servers = servers
        self._turn = turn

    def run(self) -> None:
        try:
            for number in range(1_000_000):
                value = b"%d-%d " % (self._turn, number) + bytes(500)
                while not any(self._is_taken(server, value) for server in self._servers):
                    if self.may_end.is_set():
                        return
                self.acked.append(value)
                if len(self.acked) == ACKED_BEFORE_KILL:
                    self.enough.set()
                if self.may_end.is_set():
                    return
        except OSError:
            self.enough.set()

    def _is_taken(self, server: Endpoint, value: bytes) -> bool:
        try:
            return self._send(server, value) == 0
        except OSError:
            if self._insists:
                return False
            raise

    def _send(self, server: Endpoint, value: bytes) -> int:
        batch = build_batch([RecordData(value=value, timestamp=1)])
        rows = [TopicProduceData(name="orders", partition_data=[PartitionProduceData(index=0, records=batch)])]
        request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=rows)
        with Wire(str(server)) as wire:
            answer = wire.ask(request, VERSION)
        assert isinstance(answer, ProduceResponse)
        error: int = answer.responses[0].partition_responses[0].error_code
        assert error in (0, NOT_LEADER, *(TOO_FEW if self._insists else ())), error
        return error


@contextmanager
def served(data: Path, brokers: int) -> Iterator[tuple[subprocess.Popen[bytes], list[Endpoint]]]:
    """Start `kmirror serve` in a separate process."""
    properties = data.parent / "server.properties"
    properties.write_text(
        "".join(f"{key}={value}\n" for key, value in {**SESSIONS, "min.insync.replicas": "1"}.items())
    )
    words = ["serve", "--data", str(data), "--port", "0", "--brokers", str(brokers), "--config", str(properties)]
    process = subprocess.Popen([sys.executable, "-m", "kmirror", *words, "-o", "json"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        started = json.loads(process.stdout.readline())
        yield process, [Endpoint(row["host"], row["port"]) for row in started["brokers"]]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def opened(data: Path, brokers: int, **options: object) -> Iterator[TcpCluster]:
    """Start a cluster with the folder, and stop it in order."""
    with TcpCluster(brokers=brokers, data=data, configs=SESSIONS, **options) as cluster:  # type: ignore[arg-type]
        yield cluster
        cluster.stop()


@pytest.mark.parametrize("brokers", [1, 3])
def test_nothing_acknowledged_is_lost_by_a_process_that_is_killed_under_load(tmp_path: Path, brokers: int) -> None:
    data = tmp_path / "data"
    with opened(data, brokers) as cluster:
        cluster.create_topic("orders")
    acked: list[bytes] = []
    for turn in range(2):
        with served(data, brokers) as (process, servers):
            writer = Writer(servers, turn)
            writer.start()
            writer.enough.wait()
            process.send_signal(signal.SIGKILL)
            process.wait()
            writer.join()
        assert len(writer.acked) >= ACKED_BEFORE_KILL
        acked += writer.acked
        with opened(data, brokers) as cluster:
            values = [record.value for record in cluster.read(ORDERS)]
            assert [value for value in values if value in acked] == acked
            assert len(values) <= len(acked) + turn + 1, "at most the record under way is there besides, each time"
    for folder in [data] if brokers == 1 else sorted(data.glob("broker-*")):
        assert_verified(folder, "--deep")


def test_brokers_that_are_killed_in_turn_under_load_lose_nothing_acknowledged(tmp_path: Path) -> None:
    """50 rounds with KMIRROR_KILL_ROUNDS=50; a round takes some two seconds."""
    with opened(tmp_path, 3) as cluster:
        cluster.create_topic("orders", configs={"min.insync.replicas": "2"})
        writer = Writer([cluster.endpoint(broker_id) for broker_id in cluster.broker_ids], 0, insists=True)
        writer.start()
        for turn in range(ROUNDS):
            reached = len(writer.acked) + 20
            cluster.until(lambda reached=reached: len(writer.acked) >= reached)  # type: ignore[misc]
            leader = cluster.run_on_loop(lambda: cluster.leader(ORDERS))
            assert leader is not None
            victim = leader.broker_id if turn % 2 else leader.broker_id % 3 + 1
            cluster.kill(victim)
            reached = len(writer.acked) + 20
            cluster.until(lambda reached=reached: len(writer.acked) >= reached)  # type: ignore[misc]
            cluster.restart(victim)
            cluster.until(cluster.is_settled)
        writer.may_end.set()
        writer.join()
        values = [record.value for record in cluster.read(ORDERS)]
        assert set(writer.acked) <= set(values)
        submit = {value: at for at, value in reversed(list(enumerate(values)))}
        firsts = [submit[value] for value in writer.acked]
        assert firsts == sorted(firsts)
        assert cluster.failures == []
    for folder in sorted(tmp_path.glob("broker-*")):
        assert_verified(folder, "--deep")


def test_sigterm_closes_the_folder_cleanly_and_lets_others_open_it(tmp_path: Path) -> None:
    with served(tmp_path / "data", 1) as (process, _):
        with pytest.raises(UsageError, match="in use by a Kafka or kmirror broker"):
            lock_folder(tmp_path / "data")
        process.terminate()
        assert process.wait() == 0
    assert (tmp_path / "data" / CLEAN_SHUTDOWN).is_file()
    assert not (tmp_path / "data" / ".lock").exists()
    lock_folder(tmp_path / "data").release()


def test_a_cluster_does_not_open_a_folder_twice(tmp_path: Path) -> None:
    with opened(tmp_path, 1), pytest.raises(UsageError, match="in use by a Kafka or kmirror broker"):
        TcpCluster(brokers=1, data=tmp_path).start()


def test_the_folders_remember_the_cluster_and_its_topics(tmp_path: Path) -> None:
    with opened(tmp_path, 2, topics={"orders": 2}, cluster_id="5L6g3nShT-eMCtK--X86sw") as cluster:
        cluster.produce("orders", 1, [b"one"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broker-1", "broker-2", "controller"]
    with opened(tmp_path, 2) as cluster:
        assert cluster.cluster_id == "5L6g3nShT-eMCtK--X86sw"
        assert [record.value for record in cluster.read(TopicPartition("orders", 1))] == [b"one"]


def test_mirroring_is_enabled_only_on_request_and_then_permanently(tmp_path: Path) -> None:
    with opened(tmp_path, 1) as cluster:
        assert "mirror.version" not in cluster.image.features
    with opened(tmp_path, 1, mirror_version=1) as cluster:
        assert cluster.image.features["mirror.version"] == 1
    with opened(tmp_path, 1) as cluster:
        assert cluster.image.features["mirror.version"] == 1


def test_an_unreadable_metadata_log_ends_the_start_with_the_reason(tmp_path: Path) -> None:
    with opened(tmp_path, 1):
        pass
    value = encode_metadata_record(FeatureLevelRecord(name="metadata.version", feature_level=31), 0)
    [log] = (tmp_path / "__cluster_metadata-0").glob("*.log")
    batch = build_batch([RecordData(value=value, timestamp=1)], base_offset=1_000, partition_leader_epoch=9)
    log.write_bytes(log.read_bytes() + batch)
    with pytest.raises(
        KafkaError, match=r"ended: the metadata log is of metadata.version 31, and 7 to 30 are supported"
    ):
        TcpCluster(brokers=1, data=tmp_path).start()
    lock_folder(tmp_path).release()


@pytest.mark.parametrize(
    ("brokers", "files", "reason"),
    [
        (1, {"notes.txt": "x"}, "contains 'notes.txt' but no meta.properties"),
        (3, {"notes.txt": "x"}, "contains 'notes.txt', so it is not a cluster's folder"),
        (
            1,
            {META_PROPERTIES: "version=1\ncluster.id=x\nnode.id=100\n"},
            "belongs to node 100, which is the controller",
        ),
        (2, {f"broker-1/{META_PROPERTIES}": "version=1\ncluster.id=x\nnode.id=5\n"}, "brokers 1, but 2 are requested"),
        (
            3,
            {META_PROPERTIES: "version=1\ncluster.id=x\nnode.id=1\n"},
            "it is the folder of one broker, but 3 are requested",
        ),
        (
            2,
            {f"broker-{n}/{META_PROPERTIES}": f"version=1\ncluster.id=x\nnode.id={n}\n" for n in (1, 2, 3)},
            "2 are requested: use 3",
        ),
        (
            2,
            {f"broker-{n}/{META_PROPERTIES}": f"version=1\ncluster.id={n}\nnode.id={n}\n" for n in (1, 2)},
            "the folders belong to different clusters: 1 and 2",
        ),
    ],
)
def test_a_folder_of_another_cluster_is_refused_and_not_changed(
    tmp_path: Path, brokers: int, files: dict[str, str], reason: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match=reason):
        TcpCluster(brokers=brokers, data=tmp_path).start()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_of_a_broker_with_another_node_id_is_served_as_that_node(tmp_path: Path) -> None:
    (tmp_path / META_PROPERTIES).write_text("#\nnode.id=5\nversion=1\ncluster.id=5L6g3nShT-eMCtK--X86sw\n")
    with opened(tmp_path, 1, topics=["orders"]) as cluster:
        assert cluster.broker_ids == (5,) and cluster.cluster_id == "5L6g3nShT-eMCtK--X86sw"
        cluster.produce("orders", 0, [b"one"])
    with opened(tmp_path, 1) as cluster:
        assert cluster.image.topics["orders"].partitions[0].replicas == (5,)
        assert [record.value for record in cluster.read(ORDERS)] == [b"one"]


def test_a_format_that_was_interrupted_is_finished(tmp_path: Path) -> None:
    with opened(tmp_path, 2, cluster_id="5L6g3nShT-eMCtK--X86sw"):
        pass
    (tmp_path / "broker-2" / META_PROPERTIES).unlink()
    for path in [*(tmp_path / "broker-2").glob("*-checkpoint"), tmp_path / "broker-2" / CLEAN_SHUTDOWN]:
        path.unlink()
    with opened(tmp_path, 2) as cluster:
        assert cluster.living() == [1, 2]
