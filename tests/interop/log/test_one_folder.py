"""One folder, served in turns by Kafka and by kmirror: each reads the other's files.

A node in combined mode, formatted like by `kafka-storage format --standalone`. The simulated cluster runs over the
folder itself, and its clock begins at the machine's time.
"""

from __future__ import annotations

import base64
import re
import shutil
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.dump_log import command
from kmirror.cluster.metadata.log import CONFIG, METADATA_PARTITION
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.log.state_files import BOOTSTRAP
from kmirror.logdir.format import (
    VOTERS_SNAPSHOT,
    MetaProperties,
    format_folder,
    random_uuid,
    read_meta_properties,
)
from kmirror.logdir.store import LogFolder
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.consumer import read
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.features import FORMAT_LEVELS
from kmirror.spec.wire_values import IsolationLevel
from tests.folder_checks import assert_verified
from tests.interop.log.judge import Judge
from tests.interop.log.restarts import ABOUT_LOGS, LEVELS
from tests.sim.runner.test_folders import Folders

CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
ORDERS = TopicPartition("orders", 0)
SMALL = {"offsets.topic.num.partitions": "2", "transaction.state.log.num.partitions": "2"}
# Loggers about the contents of the folder; others warn of early requests, or of slow machines.
ABOUT = (*ABOUT_LOGS, "kafka.raft.", "kafka.server.metadata.")
ABOUT += tuple(f"org.apache.kafka.{part}." for part in ("controller", "coordinator", "image", "metadata", "raft"))
ALWAYS = "Performing controller activation"


def served(folder: Path, **others: str) -> Cluster:
    simulation = Simulation(seed=3)
    simulation.world.now = time.time_ns() // 1000
    configs = {"transaction.state.log.num.partitions": "2", **others}
    return Cluster(simulation, "a", brokers=1, disks=Folders(folder, combined=True), mirror_version=0, configs=configs)


def format_here(folder: Path) -> MetaProperties:
    records = [FeatureLevelRecord(name=name, feature_level=level) for name, level in FORMAT_LEVELS.items()]
    ids = MetaProperties(CLUSTER_ID, 1, random_uuid())
    format_folder(folder, ids, records, now_ms=time.time_ns() // 1_000_000, controller=Endpoint("127.0.0.1", 9093))
    return ids


def values(cluster: Cluster, tp: TopicPartition = ORDERS) -> list[bytes | None]:
    return [record.value for record in read(cluster, tp, IsolationLevel.READ_COMMITTED)]


def read_values(judge: Judge, tp: TopicPartition = ORDERS) -> list[bytes]:
    rows = judge.ask("read", partitions=[tp], isolation="read_committed")[str(tp)]
    return [base64.b64decode(row["value"]) for row in rows]


def consume(judge: Judge, topic: str, count: int, group: str, protocol: str = "classic") -> list[str]:
    """Return the values that a new member of a group reads."""
    config = {"group.id": group, "group.protocol": protocol, "auto.offset.reset": "earliest"}
    found: list[str] = judge.ask("consume", topic=topic, count=count, config=config)
    return found


def stop(judge: Judge) -> None:
    """Shut the broker down; check that it logged no warnings."""
    about = tuple(level + name for level in LEVELS for name in ABOUT)
    lines = [line for line in judge.stop() if line.startswith(about) and ALWAYS not in line]
    assert lines == []


def transact(producer: Producer, value: bytes, *, commit: bool) -> None:
    producer.begin_transaction()
    producer.send({ORDERS: [RecordData(value=value)]})
    (producer.commit_transaction if commit else producer.abort_transaction)()


@pytest.fixture(scope="module")
def kafka_folder(judge: Judge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Kafka broker that was formatted, written to and shut down."""
    folder = tmp_path_factory.mktemp("kafka") / "data"
    judge.start_formatted(folder, CLUSTER_ID, **SMALL)
    judge.ask(
        "create", topic="orders", count=2, configs={"max.message.bytes": "2000000", "remote.log.copy.disable": "true"}
    )
    judge.ask("create", topic="states", count=1, configs={"cleanup.policy": "compact"})
    till = {"partitions": [ORDERS], "config": {"transactional.id": "till"}}
    judge.ask("produce", values=["one", "two"], end="commit", **till)
    judge.ask("produce", values=["never"], end="abort", **till)
    judge.ask("produce", values=["plain"], end="none", partitions=[("orders", 1)], config={"compression.type": "lz4"})
    judge.ask("produce", values=["state"], end="none", partitions=[("states", 0)], config={})
    judge.ask("commit", partitions=[ORDERS, ("orders", 1)], group="readers", offsets=[2, 1])
    for protocol in ("classic", "consumer"):  # The second one writes records that no classic group has.
        assert consume(judge, "states", 1, f"by-{protocol}", protocol) == ["state"]
    judge.stop()
    return folder


def test_a_folder_is_formatted_in_the_bytes_of_kafka_s_own_tool(
    kafka_folder: Path, judge: Judge, tmp_path: Path
) -> None:
    format_here(tmp_path / "ours")
    for name in (BOOTSTRAP, VOTERS_SNAPSHOT):
        dumps = []
        for top in (kafka_folder, tmp_path / "ours"):
            copy = tmp_path / "00000000000000000000-0000000000.checkpoint"
            copy.unlink(missing_ok=True)
            shutil.copy(top / name, copy)
            text = judge.dump("--cluster-metadata-decoder", "--files", str(copy))
            text = re.sub(r"\d{13}|crc: \d+|\"port\":\d+|\"voterDirectoryId\":\"[^\"]+\"", "_", text)
            dumps.append(text)
        assert dumps[1] == dumps[0], name
    theirs = read_meta_properties(kafka_folder)
    assert theirs is not None and (theirs.cluster_id, theirs.node_id) == (CLUSTER_ID, 1)


def test_a_folder_of_a_kafka_broker_is_served(kafka_folder: Path, judge: Judge, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(kafka_folder, folder)
    cluster = served(folder)
    cluster.start()
    assert cluster.topics() == ["orders", "states"] and len(cluster.partitions(["orders"])) == 2
    assert cluster.image.configs.topic("orders")["max.message.bytes"] == "2000000"
    assert cluster.image.configs.topic("states") == {"cleanup.policy": "compact"}
    assert values(cluster) == [b"one", b"two"]
    assert values(cluster, TopicPartition("orders", 1)) == [b"plain"]
    leader = cluster.leader(ORDERS)
    assert leader is not None and leader.log.config.max_message_bytes == 2_000_000
    [entry] = leader.log.producers.entries.values()
    known = entry.producer_id, entry.producer_epoch
    till = Producer(cluster, transactional_id="till")
    transact(till, b"three", commit=True)
    transact(till, b"nor this", commit=False)
    [continued] = leader.log.producers.entries.values()
    assert continued.producer_id == known[0] and continued.producer_epoch > known[1]
    other = Producer(cluster, transactional_id="other")
    transact(other, b"four", commit=True)
    assert len({*leader.log.producers.entries}) == 2, "producer ids go on above those that were given out"
    cluster.stop()
    assert_verified(folder, "--deep")

    judge.start_formatted(folder, **SMALL)
    assert read_values(judge) == [b"one", b"two", b"three", b"four"]
    assert judge.ask("topic", topic="orders")["configs"]["max.message.bytes"] == "2000000"
    assert judge.ask("committed", group="readers") == {"orders-0": [2, "by the judge"], "orders-1": [1, "by the judge"]}
    judge.ask("produce", values=["five"], end="commit", partitions=[ORDERS], config={"transactional.id": "till"})
    assert read_values(judge)[-1] == b"five"
    stop(judge)
    assert_verified(folder, "--deep")


def test_kafkas_clients_find_their_groups_and_transactions_on_tcp_ports(
    kafka_folder: Path, judge: Judge, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(kafka_folder, folder)
    with TcpCluster(brokers=1, data=folder, configs={"group.initial.rebalance.delay.ms": "0"}) as cluster:
        judge.ask("at", address=cluster.bootstrap_servers)
        assert read_values(judge) == [b"one", b"two"]
        assert judge.ask("committed", group="readers") == {
            "orders-0": [2, "by the judge"],
            "orders-1": [1, "by the judge"],
        }
        assert judge.ask("committed", group="by-classic") == {"states-0": [1, ""]}
        till = {"partitions": [ORDERS], "config": {"transactional.id": "till"}}
        judge.ask("produce", values=["three"], end="commit", **till)
        judge.ask("produce", values=["never"], end="abort", **till)
        judge.ask("produce", values=["four"], end="none", partitions=[ORDERS], config={"enable.idempotence": "true"})
        assert read_values(judge) == [b"one", b"two", b"three", b"four"]
        judge.ask("produce", values=["next"], end="none", partitions=[("states", 0)], config={})
        assert consume(judge, "states", 1, "by-classic") == ["next"]
        judge.ask("commit", partitions=[ORDERS], group="others", offsets=[1])
        assert cluster.failures == []
        cluster.stop()
    assert_verified(folder, "--deep")

    judge.start_formatted(folder, **SMALL)
    assert read_values(judge) == [b"one", b"two", b"three", b"four"]
    assert judge.ask("committed", group="others") == {"orders-0": [1, "by the judge"]}
    assert judge.ask("committed", group="by-classic") == {"states-0": [2, ""]}
    assert judge.ask("committed", group="by-consumer") == {"states-0": [1, ""]}
    stop(judge)


def test_kafka_starts_on_a_folder_created_and_closed_by_kmirror(judge: Judge, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    format_here(folder)
    cluster = served(folder)
    cluster.start()
    cluster.create_topic("orders", 2, configs={"segment.bytes": str(1 << 20)})
    cluster.create_topic("gone")
    till = Producer(cluster, transactional_id="till")
    for number in range(4):
        transact(till, b"%d" % number, commit=number % 2 == 0)
    cluster.produce("orders", 1, [b"plain"])
    topic_id = str(cluster.image.topics["orders"].topic_id)
    cluster.stop()
    assert_verified(folder, "--deep")
    segments = sorted(str(path) for path in folder.glob("*/*.log"))
    dumped = judge.dump("--files", ",".join(segments))
    assert dumped.count("Dumping ") == len(segments) and "isvalid: false" not in dumped
    metadata = judge.dump("--cluster-metadata-decoder", "--files", segments[0])
    assert '"type":"REGISTER_BROKER_RECORD"' in metadata and "Could not decode" not in metadata

    judge.start_formatted(folder, **SMALL)
    assert judge.ask("topic", topic="orders") == {
        "id": topic_id,
        "count": 2,
        "configs": {"segment.bytes": str(1 << 20)},
    }
    assert read_values(judge) == [b"0", b"2"] and read_values(judge, TopicPartition("orders", 1)) == [b"plain"]
    judge.ask("produce", values=["4"], end="commit", partitions=[ORDERS], config={"transactional.id": "till"})
    judge.ask("produce", values=["not"], end="abort", partitions=[ORDERS], config={"transactional.id": "till"})
    judge.ask("commit", partitions=[ORDERS], group="readers", offsets=[2])
    stop(judge)
    assert_verified(folder, "--deep")

    cluster.start()
    assert values(cluster) == [b"0", b"2", b"4"]
    transact(Producer(cluster, transactional_id="till"), b"5", commit=True)
    assert values(cluster) == [b"0", b"2", b"4", b"5"]
    cluster.stop()


def test_a_metadata_log_without_its_beginning_is_read_from_kafkas_snapshot(judge: Judge, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    often = {"metadata.log.max.record.bytes.between.snapshots": "1"}
    judge.start_formatted(folder, CLUSTER_ID, **SMALL, **often)
    judge.ask("create", topic="orders", count=2, configs={"segment.bytes": str(2 << 20)})
    judge.ask("produce", values=["one"], end="none", partitions=[ORDERS], config={})
    judge.stop()
    metadata = folder / "__cluster_metadata-0"
    newest = max(path.name for path in metadata.glob("*.checkpoint"))
    end_offset = int(newest[:20])
    assert end_offset > 0
    with LogFolder(folder, shares_checkpoints=False) as opened:
        log = PartitionLog.open(METADATA_PARTITION, opened.open(METADATA_PARTITION), CONFIG, now_ms=0, repair=True)
        rest = [bytes(batch.view) for batch in log.batches() if batch.base_offset >= end_offset]
        log.truncate_fully_and_start_at(end_offset)
        for data in rest:
            log.append_as_follower(data, max_epoch=2**31 - 1)
        log.close()
    cluster = served(folder)
    cluster.start()
    assert values(cluster) == [b"one"] and cluster.image.configs.topic("orders") == {"segment.bytes": str(2 << 20)}
    cluster.create_topic("new")
    cluster.stop()
    judge.start_formatted(folder, **SMALL)
    assert read_values(judge) == [b"one"] and judge.ask("topic", topic="new")["count"] == 1
    stop(judge)


def test_a_broker_of_kafka_starts_from_a_snapshot_that_was_written_here(judge: Judge, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    ids = format_here(folder)
    short = {
        "metadata.log.max.record.bytes.between.snapshots": "500",
        "internal.metadata.log.segment.bytes": "2000",
        "metadata.max.retention.bytes": "1",
    }
    cluster = served(folder, **short)
    cluster.start()
    cluster.create_topic("orders", 2, configs={"segment.bytes": str(1 << 20)})
    for number in range(12):
        cluster.create_topic(f"t{number}")
    till = Producer(cluster, transactional_id="till")
    transact(till, b"one", commit=True)
    topic_id = str(cluster.image.topics["orders"].topic_id)
    cluster.stop()
    metadata = folder / "__cluster_metadata-0"
    assert min(int(path.stem) for path in metadata.glob("*.log")) > 0 and not (folder / VOTERS_SNAPSHOT).exists()
    assert_verified(folder, "--deep")
    [newest] = metadata.glob("*.checkpoint")
    dumped = judge.dump("--cluster-metadata-decoder", "--files", str(newest))
    assert f"Snapshot end offset: {int(newest.name[:20])}" in dumped and "isvalid: false" not in dumped
    for told_there in ("SnapshotHeader", "KRaftVoters", str(ids.directory_id), "SnapshotFooter", '"t11"'):
        assert told_there in dumped, told_there
    ours = CliRunner().invoke(command, ["--cluster-metadata-decoder", "--files", str(newest)])
    assert ours.stdout == dumped

    judge.start_formatted(folder, **SMALL, **{"metadata.log.max.record.bytes.between.snapshots": "1"})
    assert judge.ask("topic", topic="orders")["id"] == topic_id and read_values(judge) == [b"one"]
    judge.ask("produce", values=["two"], end="commit", partitions=[ORDERS], config={"transactional.id": "till"})
    judge.ask("create", topic="later", count=1, configs={})
    stop(judge)
    assert len([*metadata.glob("*.checkpoint")]) > 1, "it goes on with snapshots of its own"
    assert_verified(folder, "--deep")

    cluster = served(folder, **short)
    cluster.start()
    assert values(cluster) == [b"one", b"two"] and cluster.topics()[-3:] == ["t7", "t8", "t9"]
    assert str(cluster.image.topics["orders"].topic_id) == topic_id and "later" in cluster.topics()
    cluster.stop()
    assert_verified(folder, "--deep")
