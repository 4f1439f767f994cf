"""Nodes with folders on disk: killed, stopped and restarted, they have all acknowledged records, in valid folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk
from kmirror.logdir.checkpoints import CLEAN_SHUTDOWN
from kmirror.logdir.format import MetaProperties, format_folder
from kmirror.logdir.store import LogFolder
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.features import FORMAT_LEVELS, MIRROR_VERSION
from kmirror.spec.wire_values import IsolationLevel
from tests.folder_checks import assert_verified

ORDERS = TopicPartition("orders", 0)


class Folders:
    """The disks of a cluster, opened again for each life of a node. `combined` nodes share one folder."""

    def __init__(self, top: Path, *, combined: bool = False) -> None:
        self.top = top
        self.combined = combined
        self.opened: dict[int, LogFolder] = {}

    def path(self, node_id: int) -> Path:
        return self.top if self.combined else self.top / f"node-{node_id}"

    def __call__(self, node_id: int) -> list[Disk]:
        if node_id in self.opened:
            self.opened[node_id].close()
        is_broker = node_id != CONTROLLER_ID
        folder = LogFolder(self.path(node_id), shares_checkpoints=is_broker, flushes_in_jobs=True)
        self.opened[node_id] = folder
        return [folder]

    def close(self) -> None:
        for folder in self.opened.values():
            folder.close()


def values(cluster: Cluster, isolation: IsolationLevel = IsolationLevel.READ_COMMITTED) -> list[bytes | None]:
    return [record.value for record in cluster.read(ORDERS, isolation=isolation)]


def transact(cluster: Cluster, producer: Producer, value: bytes, *, commit: bool) -> None:
    producer.begin_transaction()
    producer.send({ORDERS: [RecordData(value=value)]})
    (producer.commit_transaction if commit else producer.abort_transaction)()


def test_nodes_killed_in_turn_keep_all_acknowledged_records(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    sent: list[bytes] = []
    with Simulation(seed=11) as simulation, Cluster(simulation, "a", disks=folders) as a:
        a.create_topic("orders")
        producer = Producer(a, transactional_id="till")
        for turn in range(9):
            value = b"committed %d" % turn
            transact(a, producer, value, commit=True)
            transact(a, producer, b"aborted", commit=False)
            sent.append(value)
            victim = (*a.broker_ids, CONTROLLER_ID)[turn % 4]
            (a.stop if turn % 3 else a.kill)(victim)
            simulation.run_for(span_s=15)
            a.restart(victim)
            simulation.run_for(span_s=15)
        assert values(a) == sent
        a.stop()
        a.start()
        assert values(a) == sent
        a.stop()
    folders.close()
    for broker_id in a.broker_ids:
        assert (folders.path(broker_id) / CLEAN_SHUTDOWN).is_file()
        assert_verified(folders.path(broker_id), "--deep")
    assert_verified(folders.path(CONTROLLER_ID))


def test_all_nodes_die_at_once_and_no_acknowledged_record_is_lost(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    simulation = Simulation(seed=12)
    a = Cluster(simulation, "a", disks=folders, configs={"log.segment.bytes": str(1 << 20)})
    a.start()
    a.create_topic("orders", configs={"segment.bytes": str(1 << 20)})
    sent = [b"%d" % number + bytes(200_000) for number in range(12)]
    for value in sent:
        a.produce("orders", 0, [value])
    for node_id in (*a.broker_ids, CONTROLLER_ID):
        a.kill(node_id)
    a.start()
    assert values(a) == sent
    a.stop()
    folders.close()
    for broker_id in a.broker_ids:
        assert len(list((folders.path(broker_id) / "orders-0").glob("*.log"))) > 1
        assert_verified(folders.path(broker_id), "--deep")


def formatted_cluster(folder: Path) -> Cluster:
    """Return a cluster of one broker, with its controller in the same folder."""
    simulation = Simulation(seed=13)
    cluster = Cluster(simulation, "a", brokers=1, disks=Folders(folder, combined=True), mirror_version=0)
    records = [FeatureLevelRecord(name=name, feature_level=level) for name, level in FORMAT_LEVELS.items()]
    ids = MetaProperties(cluster.cluster_id, 1, Uuid.from_ints(5, 6))
    format_folder(folder, ids, records, now_ms=1, controller=Endpoint("127.0.0.1", 9093))
    return cluster


def test_broker_and_controller_share_a_folder_as_in_kafka(tmp_path: Path) -> None:
    with formatted_cluster(tmp_path) as a:
        a.create_topic("orders")
        a.produce("orders", 0, [b"one"])
        a.kill(1)
        a.kill(CONTROLLER_ID)
        a.start()
        a.produce("orders", 0, [b"two"])
        a.stop()
    assert_verified(tmp_path, "--deep")
    assert "__cluster_metadata" not in "".join(path.read_text() for path in tmp_path.glob("*-offset-checkpoint"))
    assert (tmp_path / "__cluster_metadata-0" / "quorum-state").is_file()
    assert "topic_id: AAAAAAAAAAAAAAAAAAAAAQ" in (tmp_path / "__cluster_metadata-0/partition.metadata").read_text()


def test_a_formatted_folder_begins_with_its_own_feature_levels(tmp_path: Path) -> None:
    with formatted_cluster(tmp_path) as a:
        assert a.image.features == FORMAT_LEVELS and MIRROR_VERSION not in a.image.features
        assert a.image.configs.broker(1) == {"min.insync.replicas": "1"}
        a.stop()
        a.start()
        assert a.image.features == FORMAT_LEVELS


def test_a_topic_deleted_before_a_crash_leaves_no_folder(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    with Simulation(seed=14) as simulation, Cluster(simulation, "a", brokers=1, disks=folders) as a:
        aside = tmp_path / "node-1" / f"gone-0.{'0' * 32}-delete"
        aside.mkdir()
        (aside / "00000000000000000000.log").write_bytes(b"")
        a.kill(1)
        simulation.run_for(span_s=15)
        a.restart(1)
        assert aside.exists()
        simulation.run_for(span_s=90)
        assert not aside.exists()


def test_a_log_without_its_topic_id_after_a_power_cut_is_kept(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    with Simulation(seed=16) as simulation, Cluster(simulation, "a", brokers=1, disks=folders) as a:
        a.create_topic("orders")
        a.produce("orders", 0, [b"one"])
        a.kill(1)
        metadata = folders.path(1) / "orders-0" / "partition.metadata"
        metadata.write_bytes(b"")
        simulation.run_for(span_s=15)
        a.restart(1)
        simulation.run_for(span_s=5)
        assert values(a) == [b"one"]
        assert str(a.image.topics["orders"].topic_id) in metadata.read_text()


def test_a_topic_with_a_name_of_249_letters_can_be_set_aside(tmp_path: Path) -> None:
    with LogFolder(tmp_path) as folder:
        tp = TopicPartition("t" * 249, 1_000)
        folder.open(tp).create(0)
        name = folder.set_aside(tp)
        assert len(name) == 255 and folder.leftovers() == [name] and folder.partitions() == []
        folder.purge(name)
        assert folder.leftovers() == []


def test_a_power_cut_and_files_need_disks_in_memory(tmp_path: Path) -> None:
    with Simulation(seed=15) as simulation, Cluster(simulation, "a", brokers=1, disks=Folders(tmp_path)) as a:
        with pytest.raises(UsageError, match="power_cut works with disks in memory only"):
            a.kill(1, power_cut=True)
        with pytest.raises(UsageError, match="are folders already"):
            a.files()
