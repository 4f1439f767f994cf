"""A cluster's log folders are written completely or not at all, and agree with the cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import kmirror
from kmirror import Cluster, Simulation, TopicPartition, UsageError, read_log_dirs, read_sample, write_log_dirs
from kmirror.cli.diff import command as diff
from kmirror.cli.verify import command as verify
from kmirror.logdir import write
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.keyed_records import decode_metadata_record
from kmirror.records.batch import iter_batches
from kmirror.sim.files import ClusterFiles

ORDERS = TopicPartition("orders", 0)
FEW = {"transaction.state.log.num.partitions": "2", "mirror.topic.num.partitions": "2"}


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """A cluster with two partitions, a transaction, a mirror's states, and a dead broker."""
    simulation = Simulation(seed=11)
    a, b = Cluster(simulation, "a"), Cluster(simulation, "b", configs=FEW)
    for each in (a, b):
        each.start()
    a.create_topic("mirrored")
    a.produce("mirrored", 0, [b"from a"])
    mirror = kmirror.Mirror("dr", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["mirrored"])
    mirror.catch_up()
    b.create_topic("orders", 2, configs={"segment.bytes": "1048576"})
    producer = kmirror.Producer(b, transactional_id="till")
    producer.begin_transaction()
    producer.send({ORDERS: [kmirror.RecordData(None, b"kept")]})
    producer.commit_transaction()
    b.produce("orders", 0, [b"two", b"three"])
    simulation.run_for(span_s=1)
    b.kill(3)
    b.produce("orders", 1, [b"without broker 3"])
    return b


def ran(command: Any, *arguments: object) -> str:
    ended = CliRunner().invoke(command, [str(one) for one in arguments], standalone_mode=False)
    assert ended.exception is None and ended.return_value == 0, ended.output
    return ended.output


def metadata(files: ClusterFiles, number: int = 0) -> list[Any]:
    store = files.brokers[number].metadata
    data = b"".join(bytes(store.view(base)) for base in store.segments())
    values = [record.value for batch in iter_batches(data) for record in batch.records()]
    return [decode_metadata_record(value)[0] for value in values if value is not None]


def test_every_folder_is_sound_and_replicas_are_equal(cluster: Cluster, tmp_path: Path) -> None:
    found = write_log_dirs(cluster.files(), tmp_path / "b")
    assert found == {number: tmp_path / "b" / f"broker-{number}" for number in (1, 2, 3)}
    for folder in found.values():
        assert ran(verify, folder, "--deep").startswith("no fault in ")
    assert ran(diff, found[1], found[2]).startswith("equal: ")
    logs = read_log_dirs(found[2])
    leader = cluster.leader(ORDERS)
    assert leader is not None and logs.topic_id("orders") == cluster.image.topics["orders"].topic_id
    assert logs.partitions[ORDERS].log_end_offset == leader.log.log_end_offset == 4
    assert logs.cluster_id == cluster.cluster_id
    assert read_log_dirs(found[3]).partitions[TopicPartition("orders", 1)].log_end_offset == 0, "it was dead by then"


def test_a_cluster_continues_from_the_written_files(cluster: Cluster, tmp_path: Path) -> None:
    folder = write_log_dirs(cluster.files(brokers=[1]), tmp_path / "b")[1]
    with Simulation(seed=1) as simulation, Cluster(simulation, "c", logs=read_log_dirs(folder)) as again:
        assert [record.value for record in again.read(ORDERS)] == [b"kept", b"two", b"three"]


def test_reading_the_files_changes_nothing(cluster: Cluster) -> None:
    before = cluster.simulation.digest, {tp: str(cluster.leader(tp)) for tp in cluster.partitions()}
    sizes = [sorted(disk.open(ORDERS).files()) for (disk, *_) in cluster.log_dirs.values()]
    one, other = cluster.files(), cluster.files()
    assert (cluster.simulation.digest, {tp: str(cluster.leader(tp)) for tp in cluster.partitions()}) == before
    assert sizes == [sorted(disk.open(ORDERS).files()) for (disk, *_) in cluster.log_dirs.values()]
    assert metadata(one, 2) == metadata(other, 2)
    assert [broker.directory_id for broker in one.brokers] == [broker.directory_id for broker in other.brokers]


def test_metadata_contain_the_state_of_a_kafka_controller(cluster: Cluster) -> None:
    files = cluster.files()
    records = metadata(files)
    features = [record.name for record in records if isinstance(record, FeatureLevelRecord)]
    assert features == ["metadata.version", "transaction.version"]
    configs = {(r.resource_name, r.name): r.value for r in records if isinstance(r, ConfigRecord)}
    assert configs["orders", "segment.bytes"] == "1048576"
    assert configs["orders", "retention.ms"] == "-1", "a broker's clock is not the simulation's"
    assert not any(name.startswith("mirror.") for _, name in configs)
    topic_id = cluster.image.topics["orders"].topic_id
    for number in range(3):
        records, own = metadata(files, number), files.brokers[number]
        for record in (r for r in records if isinstance(r, PartitionRecord) and r.topic_id == topic_id):
            assert record.replicas == record.isr == [own.broker_id], "a leader without its followers serves nothing"
            assert (record.directories, record.leader) == ([own.directory_id], -1)
            assert record.leader_epoch >= cluster.image.topics["orders"].partitions[record.partition_id].leader_epoch


def test_metadata_name_only_the_selected_topics(cluster: Cluster) -> None:
    files = cluster.files(brokers=[2], partitions=[ORDERS])
    assert [(broker.broker_id, list(broker.partitions)) for broker in files.brokers] == [(2, [ORDERS])]
    (record,) = (record for record in metadata(files) if isinstance(record, PartitionRecord))
    assert (record.partition_id, record.replicas, record.isr) == (0, [2], [2])


def test_a_torn_log_of_a_dead_broker_is_truncated_as_by_the_broker(cluster: Cluster, tmp_path: Path) -> None:
    store = cluster.log_dirs[3][0].open(ORDERS)
    size = store.size(0)
    cluster.log_dirs[3][0].put(ORDERS, store.fork())
    cluster.log_dirs[3][0].open(ORDERS).truncate(0, size - 1)
    folder = write_log_dirs(cluster.files(brokers=[3]), tmp_path / "b")[3]
    cluster.log_dirs[3][0].put(ORDERS, store)
    assert ran(verify, folder).startswith("no fault in ")
    assert read_log_dirs(folder).partitions[ORDERS].log_end_offset == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"brokers": [1, 7]}, "cluster b has no broker 7: it has 1, 2, 3"),
        ({"partitions": [TopicPartition("orders", 9)]}, "cluster b has no partition orders-9"),
        ({"brokers": 1}, "brokers must be a list of broker ids, not 1"),
        ({"brokers": []}, "no brokers are selected: name at least one, or leave brokers out for all"),
        ({"partitions": []}, "no partitions are selected: name at least one, or leave partitions out for all"),
        (
            {"partitions": ["orders"]},
            "a partition must be a TopicPartition, such as TopicPartition('orders', 0), not 'orders'",
        ),
        (
            {"partitions": ORDERS},
            "partitions must be a list of TopicPartition, not TopicPartition(topic='orders', partition=0)",
        ),
    ],
)
def test_missing_topics_are_named(cluster: Cluster, words: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        cluster.files(**words)
    assert str(caught.value) == told


def test_a_partition_that_no_chosen_broker_has_is_named_with_those_that_have_it() -> None:
    with Simulation(seed=1) as simulation, Cluster(simulation, "a", replication_factor=1) as a:
        a.create_topic("orders")
        leader = a.image.topics["orders"].partitions[0].leader
        other = next(broker for broker in a.broker_ids if broker != leader)
        with pytest.raises(
            UsageError, match=f"no chosen broker of cluster a has orders-0: its replicas are on {leader}"
        ):
            a.files(brokers=[other], partitions=[ORDERS])


def test_a_cluster_never_started_has_nothing_to_write() -> None:
    with pytest.raises(UsageError, match=r"cluster a was never started: call start\(\) first"):
        Cluster(Simulation(seed=1), "a").files()


def test_an_empty_folder_is_used_and_any_other_is_not_changed(cluster: Cluster, tmp_path: Path) -> None:
    files, empty, full, file = cluster.files(brokers=[1], partitions=[ORDERS]), *(tmp_path / n for n in "abc")
    empty.mkdir()
    assert write_log_dirs(files, empty)[1] == empty / "broker-1"
    full.mkdir()
    (full / "mine").write_text("precious")
    file.write_text("precious")
    for taken, reason in ((full, "is not empty"), (file, "is not a folder"), (empty, "is not empty")):
        with pytest.raises(UsageError, match=reason):
            write_log_dirs(files, taken)
    assert [path.name for path in full.iterdir()] == ["mine"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


@pytest.mark.parametrize("stops", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupt_leaves_no_files(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: BaseException
) -> None:
    whole, written = write._write, 0

    def _write(path: Path, data: bytes | memoryview) -> None:
        nonlocal written
        written += 1
        if written > 9:
            raise stops
        whole(path, data)

    monkeypatch.setattr(write, "_write", _write)
    with pytest.raises(type(stops)):
        write_log_dirs(cluster.files(), tmp_path / "b")
    assert (written, os.listdir(tmp_path)) == (10, [])


def test_until_all_is_written_the_folder_is_not_there(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, seen = write._write, dict[str, None]()

    def _write(path: Path, data: bytes | memoryview) -> None:
        whole(path, data)
        seen.update(dict.fromkeys(os.listdir(tmp_path)))

    monkeypatch.setattr(write, "_write", _write)
    write_log_dirs(cluster.files(brokers=[1]), tmp_path / "b")
    (beside,) = seen
    assert beside.startswith(".b.") and beside.endswith(".part")


def test_only_a_cluster_with_given_logs_keeps_them_at_any_age() -> None:
    simulation, logs = Simulation(seed=1), read_sample()
    kept, plain = Cluster(simulation, "kept", logs=logs), Cluster(simulation, "plain")
    asked = Cluster(simulation, "asked", logs=logs, configs={"log.retention.ms": "5"})
    assert [one.configs.get("log.retention.ms") for one in (kept, plain, asked)] == ["-1", None, "5"]
