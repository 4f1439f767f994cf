"""Brokers with damaged folders serve the remaining records and report the loss, or end with the name of the file.

Kafka 4.3.1 had the same outcome for each of these damages (starts, or not; number of records), except that it has an
INVALID_RECORD for the segment of zeros.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kmirror.cluster.node.context import LogChanged
from kmirror.errors import KmirrorError
from kmirror.kernel.failures import GaveUp
from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.checkpoints import CLEAN_SHUTDOWN
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from tests.sim.runner.test_folders import Folders

ORDERS, PAYMENTS = TopicPartition("orders", 0), TopicPartition("payments", 0)
FIRST, SECOND, LAST = (f"orders-0/{offset:020d}" for offset in (0, 3, 9))
GARBAGE = bytes(range(7, 57))


def garbage(path: Path) -> None:
    path.write_bytes(GARBAGE)


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nonexistent/file")


def without_indexes(path: Path) -> None:
    """Damage a segment whose indexes are missing, so that it is read after a clean shutdown."""
    half(path)
    path.with_suffix(".index").unlink(missing_ok=True)
    path.with_suffix(".timeindex").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a broker that was shut down cleanly; `orders` has segments at offsets 0, 3, 6 and 9."""
    top = tmp_path_factory.mktemp("written")
    folders = Folders(top)
    with Simulation(seed=5) as simulation, Cluster(simulation, "a", brokers=1, disks=folders) as a:
        a.create_topic("orders", configs={"segment.bytes": "1048576"})
        a.create_topic("payments")
        producer = Producer(a)
        for number in range(12):
            producer.send({ORDERS: [RecordData(value=b"%d" % number + bytes(300_000))]})
        producer.send({PAYMENTS: [RecordData(value=b"%d" % number) for number in range(5)]})
        a.stop()
    folders.close()
    return top


class Outcome:
    """Records served of each topic, reports, and the reason why the broker ended."""

    def __init__(self, top: Path) -> None:
        self.changed: list[str] = []
        self.ended = ""
        self.served: dict[str, int] = {}
        folders = Folders(top)
        with Simulation(seed=6) as simulation:
            simulation.on(LogChanged, lambda seen: self.changed.append(seen.fact.text))
            simulation.on(GaveUp, lambda seen: setattr(self, "ended", seen.fact.reason))
            a = Cluster(simulation, "a", brokers=1, disks=folders)
            try:
                a.start()
                self.served = {tp.topic: len(a.read(tp)) for tp in (ORDERS, PAYMENTS)}
            except KmirrorError:
                assert self.ended
        folders.close()


@pytest.fixture
def top(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "top")


Damage = Callable[[Path], None]


@pytest.mark.parametrize(
    ("name", "damage", "orders", "report"),
    [
        (f"{FIRST}.log", without_indexes, 10, "segment 0"),
        (f"{SECOND}.log", without_indexes, 10, "segment 3"),
        (f"{LAST}.log", half, 10, "segment 9"),
        (f"{LAST}.log", garbage, 9, "truncated at byte 0 of segment 9, 50 bytes removed"),
        (f"{LAST}.log", zeros, 9, "segment 9"),
        (f"{FIRST}.log", folder, 9, ""),
        (f"{FIRST}.log", link, 9, ""),
        (f"{FIRST}.timeindex", garbage, 12, ""),
        ("orders-0/leader-epoch-checkpoint", Path.unlink, 12, ""),
    ],
)
def test_a_broker_serves_the_remaining_records_after_a_clean_shutdown(
    top: Path, name: str, damage: Damage, orders: int, report: str
) -> None:
    assert (top / "node-1" / CLEAN_SHUTDOWN).is_file()
    damage(top / "node-1" / name)
    outcome = Outcome(top)
    assert (outcome.served, outcome.ended) == ({"orders": orders, "payments": 5}, "")
    assert [report in text and "the log of orders-0" in text for text in outcome.changed] == [True] * bool(report)


def test_a_truncation_after_an_unclean_shutdown_is_reported(top: Path) -> None:
    (top / "node-1" / CLEAN_SHUTDOWN).unlink()
    (top / "node-1" / "recovery-point-offset-checkpoint").unlink()
    half(top / "node-1" / f"{SECOND}.log")
    outcome = Outcome(top)
    assert (outcome.served["orders"], len(outcome.changed)) == (4, 1)
    assert "of segment 3, " in outcome.changed[0] and "with 2 later segments" in outcome.changed[0]


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "unclean"])
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("leader-epoch-checkpoint", garbage),
        ("leader-epoch-checkpoint", zeros),
        ("leader-epoch-checkpoint", half),
        ("leader-epoch-checkpoint", folder),
        ("partition.metadata", garbage),
        ("partition.metadata", zeros),
        ("partition.metadata", folder),
        ("00000000000000000000.index", folder),
    ],
)
def test_a_file_that_is_not_readable_ends_the_broker(top: Path, name: str, damage: Damage, is_clean: bool) -> None:
    damage(top / "node-1" / "orders-0" / name)
    if not is_clean:
        (top / "node-1" / CLEAN_SHUTDOWN).unlink()
    outcome = Outcome(top)
    assert outcome.served == {}
    assert "orders-0" in outcome.ended and name in outcome.ended
    assert (top / "node-1" / "orders-0").is_dir()
