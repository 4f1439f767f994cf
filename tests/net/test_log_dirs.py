"""A broker on TCP ports with several log directories: one is full, cannot be opened, or has duplicates."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.state_files import encode_partition_metadata
from kmirror.logdir.checkpoints import META_PROPERTIES
from kmirror.logdir.format import read_meta_properties
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.describe_log_dirs_request import DescribeLogDirsRequest
from kmirror.protocol.gen.describe_log_dirs_response import DescribeLogDirsResponse
from kmirror.spec.error_codes import ErrorCode
from tests.folder_checks import assert_verified
from tests.net.wire import Wire

SMALL = {"log.segment.bytes": str(1 << 20)}
VALUE = bytes(range(256)) * 400


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four MiB."""
    disk = tmp_path / "small"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"only root mounts a small disk: {mounted.stderr!r}")
    yield disk
    subprocess.run(["umount", disk], check=True)


def lies_in(folder: Path, tp: TopicPartition) -> bool:
    return (folder / str(tp)).is_dir()


def described(cluster: TcpCluster) -> dict[str, int]:
    with Wire(str(cluster.endpoint(1))) as wire:
        reply = wire.ask(DescribeLogDirsRequest(topics=None), 4)
    assert isinstance(reply, DescribeLogDirsResponse)
    return {row.log_dir: row.error_code for row in reply.results}


def test_a_full_disk_refuses_and_the_other_one_serves_on(small_disk: Path, tmp_path: Path) -> None:
    wide = tmp_path / "wide"
    tps = [TopicPartition("orders", number) for number in range(4)]
    refused: dict[int, str] = {}
    taken: dict[int, list[bytes]] = {tp.partition: [] for tp in tps}
    with TcpCluster(brokers=1, data=[wide, small_disk], configs=SMALL, topics={"orders": 4}) as cluster:
        full = [tp.partition for tp in tps if lies_in(small_disk, tp)]
        assert len(full) == 2 and not any(lies_in(wide, tps[number]) for number in full)
        config = {"bootstrap.servers": cluster.bootstrap_servers, "retries": 0, "message.timeout.ms": 20_000}
        producer = Producer(config)

        def on_delivery(error: object, message: object, value: bytes, partition: int) -> None:
            if error is None:
                taken[partition].append(value)
            else:
                refused.setdefault(partition, str(error.name()))  # type: ignore[attr-defined]

        for number in range(60):
            for tp in tps:
                if tp.partition in refused:
                    continue
                value = b"%d " % number + VALUE
                on_partition_delivery = lambda e, m, v=value, p=tp.partition: on_delivery(e, m, v, p)  # noqa: E731
                producer.produce(tp.topic, value, partition=tp.partition, on_delivery=on_partition_delivery)
                producer.flush(30)
        assert set(refused) == set(full), refused
        assert "KAFKA_STORAGE_ERROR" in refused.values() or "_MSG_TIMED_OUT" in refused.values(), refused
        assert cluster.runs(1) and not cluster.ended_nodes
        assert described(cluster) == {
            str(wide): ErrorCode.NONE,
            str(small_disk): ErrorCode.KAFKA_STORAGE_ERROR,
        }
        for number in taken:
            if number not in full:
                assert [record.value for record in cluster.read(tps[number])] == taken[number]
                assert len(taken[number]) == 60
        cluster.stop()
    assert_verified(wide, "--deep")
    assert_verified(small_disk, "--deep")
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    with TcpCluster(brokers=1, data=[wide, small_disk], configs=SMALL) as cluster:
        for number in full:  # All acknowledged records, and no partial ones.
            found = [record.value for record in cluster.read(tps[number])]
            assert found[: len(taken[number])] == taken[number] and len(found) <= len(taken[number]) + 1
            cluster.produce("orders", number, [b"there is room again"])
        cluster.stop()
    assert_verified(small_disk, "--deep")


def test_a_directory_that_cannot_be_opened_is_offline_until_it_can(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "disk" / "two"
    with TcpCluster(brokers=1, data=[one, two], topics={"orders": 4}) as cluster:
        tps = cluster.partitions(["orders"])
        for tp in tps:
            cluster.produce("orders", tp.partition, [b"one"])
        cluster.stop()
    readable = [tp for tp in tps if lies_in(one, tp)]
    assert len(readable) == 2
    away = tmp_path / "away"
    two.parent.rename(away)
    two.parent.write_text("no folder can be made below a file")
    with TcpCluster(brokers=1, data=[one, two]) as cluster:
        assert described(cluster) == {str(one): ErrorCode.NONE, str(two): ErrorCode.KAFKA_STORAGE_ERROR}
        assert [len(cluster.read(tp)) for tp in readable] == [1, 1]
        assert all(cluster.leader(tp) is None for tp in tps if tp not in readable)
        cluster.stop()
    two.parent.unlink()
    away.rename(two.parent)
    with TcpCluster(brokers=1, data=[one, two]) as again:
        assert [len(again.read(tp)) for tp in tps] == [1] * 4


@pytest.mark.decision("D49")
def test_of_two_directories_the_one_known_to_the_controller_is_used(tmp_path: Path) -> None:
    tp, folders = TopicPartition("orders", 0), [tmp_path / name for name in ("one", "two", "three")]
    with TcpCluster(brokers=1, data=folders, topics={"orders": 1}) as cluster:
        cluster.produce("orders", 0, [b"first"])
        cluster.stop()
    here, there, third = sorted(folders, key=lambda folder: not lies_in(folder, tp))
    shutil.copytree(here / "orders-0", there / "orders-0")
    with TcpCluster(brokers=1, data=folders) as cluster:
        cluster.produce("orders", 0, [b"second"])
        cluster.stop()
    assert lies_in(here, tp) and not lies_in(there, tp)
    assert [path.name.endswith("-stray") for path in there.glob("orders-0*")] == [True]
    # If the controller knows neither, the newer one cannot be determined.
    shutil.copytree(here / "orders-0", there / "orders-0")
    (here / "orders-0").rename(third / "orders-0")
    with pytest.raises(KafkaError, match=r"orders-0 is in .* and in .*: delete one of the two"):
        TcpCluster(brokers=1, data=folders).start()
    shutil.rmtree(there / "orders-0")
    with TcpCluster(brokers=1, data=folders) as cluster:
        assert [row.value for row in cluster.read(tp)] == [b"first", b"second"]


def test_the_log_of_an_earlier_topic_is_set_aside(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with TcpCluster(brokers=1, data=[one, two], topics={"orders": 1}) as cluster:
        cluster.stop()
    here, there = (one, two) if lies_in(one, TopicPartition("orders", 0)) else (two, one)
    (there / "orders-0").mkdir()
    topic_id = read_meta_properties(here)
    assert topic_id is not None
    (there / "orders-0" / "partition.metadata").write_bytes(encode_partition_metadata(topic_id.directory_id))
    with TcpCluster(brokers=1, data=[one, two]) as cluster:
        assert cluster.read(TopicPartition("orders", 0)) == []
    assert any(path.name.endswith("-stray") for path in there.iterdir())


def test_directories_have_ids_of_their_own_and_belong_to_one_node(tmp_path: Path) -> None:
    one, two, other = tmp_path / "one", tmp_path / "two", tmp_path / "other"
    with TcpCluster(brokers=1, data=[one, two]) as cluster:
        directory_ids = cluster.image.brokers[1].directories
        cluster.stop()
    ids = [read_meta_properties(folder) for folder in (one, two)]
    assert [each.directory_id for each in ids if each is not None] == list(directory_ids)
    assert (one / "__cluster_metadata-0").is_dir() and not (two / "__cluster_metadata-0").exists()
    with TcpCluster(brokers=1, data=other) as cluster:
        cluster.stop()
    with pytest.raises(UsageError, match="the folders belong to different clusters"):
        TcpCluster(brokers=1, data=[one, other]).start()
    shutil.copy(one / META_PROPERTIES, two / META_PROPERTIES)
    with pytest.raises(UsageError, match=r"has the same directory\.id as"):
        TcpCluster(brokers=1, data=[one, two]).start()
    with pytest.raises(UsageError, match="Duplicate log directory found"):
        TcpCluster(brokers=1, data=[one, tmp_path / "two" / ".." / "one"]).start()


def test_each_of_several_brokers_has_a_folder_in_each(tmp_path: Path) -> None:
    tops = [tmp_path / "a", tmp_path / "b"]
    metadata = {"metadata.log.dir": str(tops[1])}
    for _ in range(2):
        with TcpCluster(brokers=3, data=tops, configs=metadata) as cluster:
            if "orders" not in cluster.topics():
                cluster.create_topic("orders", 6)
            for tp in cluster.partitions(["orders"]):
                cluster.produce("orders", tp.partition, [b"one"])
            cluster.stop()
    assert (tops[1] / "controller").is_dir() and not (tops[0] / "controller").exists()
    for broker_id in (1, 2, 3):
        held = [len(list((top / f"broker-{broker_id}").glob("orders-*"))) for top in tops]
        assert held == [3, 3]
        for top in tops:
            assert_verified(top / f"broker-{broker_id}", "--deep")
