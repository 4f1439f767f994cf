"""Two log directories, served in turns by Kafka and by kmirror: each finds replicas where the other left them.

The metadata log is in the second one, by `metadata.log.dir`.
"""

from __future__ import annotations

from pathlib import Path

from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.format import read_meta_properties
from kmirror.net.cluster import TcpCluster
from tests.folder_checks import assert_verified
from tests.interop.log.judge import Judge
from tests.interop.log.test_one_folder import CLUSTER_ID, SMALL, read_values, stop

COUNT = 4
TPS = [TopicPartition("orders", number) for number in range(COUNT)]


def folder_numbers(folders: list[Path], topic: str = "orders") -> dict[str, int]:
    """Return the folder of each partition."""
    return {path.name: n for n, folder in enumerate(folders) for path in folder.glob(f"{topic}-*")}


def served(folders: list[Path]) -> TcpCluster:
    return TcpCluster(brokers=1, data=folders, configs={"metadata.log.dir": str(folders[1])}, mirror_version=0)


def assert_directories_known(folders: list[Path], cluster: TcpCluster) -> None:
    """The controller knows every replica's directory, and both folders by their ids."""
    ids = [found.directory_id for folder in folders if (found := read_meta_properties(folder)) is not None]
    assert set(cluster.image.brokers[1].directories) == set(ids)
    for tp in TPS:
        image = cluster.image.topics.partition(tp)
        assert image is not None and image.directories == (ids[folder_numbers(folders)[str(tp)]],), tp


def properties(folders: list[Path]) -> dict[str, str]:
    return {**SMALL, "log.dirs": ",".join(map(str, folders)), "metadata.log.dir": str(folders[1])}


def test_two_directories_of_a_kafka_broker_are_served_and_returned(judge: Judge, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    judge.start_formatted(tmp_path, CLUSTER_ID, **properties(folders))
    judge.ask("create", topic="orders", count=COUNT, configs={})
    for tp in TPS:
        judge.ask("produce", values=["one"], end="none", partitions=[tp], config={})
    stop(judge)
    before = folder_numbers(folders)
    assert sorted(before.values()) == [0, 0, 1, 1]
    with served(folders) as cluster:
        assert_directories_known(folders, cluster)
        for tp in TPS:
            assert [record.value for record in cluster.read(tp)] == [b"one"]
            cluster.produce("orders", tp.partition, [b"two"])
        cluster.create_topic("more", COUNT)
        assert cluster.failures == []
        cluster.stop()
    assert folder_numbers(folders) == before and sorted(folder_numbers(folders, "more").values()) == [0, 0, 1, 1]
    for folder in folders:
        assert_verified(folder, "--deep")

    judge.start_formatted(tmp_path, **properties(folders))
    assert [read_values(judge, tp) for tp in TPS] == [[b"one", b"two"]] * COUNT
    for tp in TPS:
        judge.ask("produce", values=["three"], end="none", partitions=[tp], config={})
    stop(judge)
    assert folder_numbers(folders) == before
    with served(folders) as cluster:
        assert_directories_known(folders, cluster)
        assert [[r.value for r in cluster.read(tp)] for tp in TPS] == [[b"one", b"two", b"three"]] * COUNT


def test_a_broker_of_kafka_starts_on_two_directories_that_were_made_here(judge: Judge, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    with served(folders) as cluster:
        cluster.create_topic("orders", COUNT)
        for tp in TPS:
            cluster.produce("orders", tp.partition, [b"one"])
        cluster.until(lambda: all(p.directories for p in cluster.image.topics["orders"].partitions.values()))
        cluster.stop()
    before = folder_numbers(folders)
    judge.start_formatted(tmp_path, **properties(folders))
    assert [read_values(judge, tp) for tp in TPS] == [[b"one"]] * COUNT
    stop(judge)
    assert folder_numbers(folders) == before
    with served(folders) as cluster:
        assert_directories_known(folders, cluster)
