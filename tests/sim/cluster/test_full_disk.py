"""A full disk: appends that do not fit are refused, nothing is torn, and other brokers continue."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import KafkaError
from kmirror.kernel.failures import GaveUp
from kmirror.kernel.ids import TopicPartition
from kmirror.log.store import Chunk
from kmirror.logdir import files
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.folder_checks import assert_verified
from tests.sim.runner.test_folders import Folders

ORDERS = TopicPartition("orders", 0)
CONFIGS = {"min.insync.replicas": "2", "log.segment.bytes": str(1 << 20)}


class Disks(Folders):
    """Folders whose disks have room for some more bytes each, without a limit by default."""

    def __init__(self, top: Path) -> None:
        super().__init__(top)
        self.room: dict[Path, int] = {}

    def take(self, path: Path, size: int) -> int:
        """Return the number of the `size` bytes that still fit; raises OSError if none does."""
        for folder, room in self.room.items():
            if folder in path.parents:
                fits = min(room, size)
                self.room[folder] -= fits
                if size and not fits:
                    raise OSError(errno.ENOSPC, "No space left on device", str(path))
                return fits
        return size


@pytest.fixture
def disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disks]:
    found = Disks(tmp_path)
    pwrite: Callable[[int, Chunk, int], int] = os.pwrite
    write_new = files.write_new

    def write_what_fits(descriptor: int, data: Chunk, position: int) -> int:
        fits = found.take(Path(os.readlink(f"/proc/self/fd/{descriptor}")), len(data))
        return pwrite(descriptor, memoryview(data)[:fits], position)

    def all_or_part(path: Path, data: Chunk) -> None:
        fits = found.take(path, len(data))
        write_new(path, memoryview(data)[:fits])
        if fits < len(data):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(os, "pwrite", write_what_fits)
    monkeypatch.setattr(files, "write_new", all_or_part)
    yield found
    found.close()


def watch_give_ups(simulation: Simulation) -> list[str]:
    found: list[str] = []
    simulation.on(GaveUp, lambda seen: found.append(f"{seen.node}: {seen.fact.reason}"))
    return found


@pytest.mark.parametrize("room", [0, 1, 500, 5_000, 300_000, 1_100_000])
def test_a_broker_with_a_full_disk_hands_over_and_the_others_continue(disks: Disks, room: int) -> None:
    with Simulation(seed=21) as simulation, Cluster(simulation, "a", disks=disks, configs=CONFIGS) as a:
        ended = watch_give_ups(simulation)
        a.create_topic("orders")
        leader = a.leader(ORDERS)
        assert leader is not None
        full = leader.broker_id
        sent = [b"before"]
        a.produce("orders", 0, sent)
        disks.room[disks.path(full)] = room
        for number in range(12):
            value = b"%d " % number + bytes(200_000)
            a.produce("orders", 0, [value])
            sent.append(value)
        simulation.run_for(span_s=60)
        assert not a.runs(full) and any(text.startswith(f"a-{full}: ") and "No space left" in text for text in ended)
        assert [record.value for record in a.read(ORDERS)] == sent
        disks.room.clear()
        a.restart(full)
        simulation.run_for(span_s=60)
        a.produce("orders", 0, [b"after"])
        assert [record.value for record in a.read(ORDERS)] == [*sent, b"after"]
        assert len(a.replicas(ORDERS)) == 3 and len(a.image.topics["orders"].partitions[0].isr) == 3
        a.stop()
    for broker_id in a.broker_ids:
        assert_verified(disks.path(broker_id), "--deep")


@pytest.mark.parametrize("room", [0, 100, 2_000])
def test_a_follower_with_a_full_disk_does_not_hold_up_the_rest(disks: Disks, room: int) -> None:
    with Simulation(seed=22) as simulation, Cluster(simulation, "a", disks=disks, configs=CONFIGS) as a:
        a.create_topic("orders")
        leader = a.leader(ORDERS)
        assert leader is not None
        full = next(broker_id for broker_id in a.broker_ids if broker_id != leader.broker_id)
        disks.room[disks.path(full)] = room
        values = [b"%d" % number + bytes(50_000) for number in range(6)]
        for value in values:
            a.produce("orders", 0, [value])
        simulation.run_for(span_s=60)
        assert not a.runs(full) and [record.value for record in a.read(ORDERS)] == values


def test_new_topics_are_placed_on_brokers_with_room(disks: Disks) -> None:
    with Simulation(seed=23) as simulation, Cluster(simulation, "a", disks=disks, replication_factor=2) as a:
        disks.room[disks.path(1)] = 0
        for number in range(3):
            a.create_topic(f"t{number}")
            a.produce(f"t{number}", 0, [b"one"])
        simulation.run_for(span_s=60)
        assert not a.runs(1)
        assert [len(a.read(TopicPartition(f"t{number}", 0))) for number in range(3)] == [1, 1, 1]


def test_a_single_broker_refuses_with_kafkas_error_and_loses_nothing(disks: Disks) -> None:
    with Simulation(seed=24) as simulation, Cluster(simulation, "a", brokers=1, disks=disks) as a:
        a.create_topic("orders")
        a.produce("orders", 0, [b"one"])
        disks.room[disks.path(1)] = 100
        with pytest.raises(KafkaError) as refused:
            a.produce("orders", 0, [b"two" + bytes(1_000)])
        assert refused.value.code in (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.REQUEST_TIMED_OUT)
        disks.room.clear()
        simulation.run_for(span_s=10)
        a.restart(1)
        simulation.run_for(span_s=20)
        assert [record.value for record in a.read(ORDERS)] == [b"one"]
        a.stop()
    assert_verified(disks.path(1), "--deep")


def test_a_controller_that_cannot_write_ends_without_a_wrong_response(disks: Disks) -> None:
    with Simulation(seed=25) as simulation, Cluster(simulation, "a", disks=disks) as a:
        ended = watch_give_ups(simulation)
        a.create_topic("orders")
        disks.room[disks.path(CONTROLLER_ID)] = 10
        with pytest.raises(KafkaError):
            a.create_topic("more")
        assert not a.runs(CONTROLLER_ID)
        assert any("a-controller: the metadata log cannot be written" in text for text in ended)
        a.produce("orders", 0, [b"served all the same"])
        disks.room.clear()
        a.restart(CONTROLLER_ID)
        simulation.run_for(span_s=20)
        assert a.topics() == ["orders"]
        a.create_topic("more")
