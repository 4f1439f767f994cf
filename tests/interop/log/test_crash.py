"""A folder after a crash, with damage of every kind: a broker and kmirror repair it in the same way.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import RECOVERY_POINT
from kmirror.logdir.store import LogFolder
from kmirror.records import RecordData, build_batch
from tests.interop.log.cluster import CLEAN_SHUTDOWN_FILE
from tests.interop.log.judge import Judge
from tests.interop.log.restarts import (
    ISOLATIONS,
    Run,
    different,
    files,
    live,
    offsets_by_us,
    producers_by_us,
    read_by_us,
)
from tests.interop.log.written import FAILED_OVER, Written

KINDS = ("nothing", "torn batch", "wrong checksum", "zeros", "bit in an old segment")


def damage(kind: str, folder: Path, log: PartitionLog) -> bool:
    """Damage the files like a crash; return True if bytes of the log are lost."""
    bases = log.segment_base_offsets
    active = folder / f"{bases[-1]:020}.log"
    for suffix, row in ((".index", 8), (".timeindex", 12)):
        with active.with_suffix(suffix).open("ab") as index:
            index.write(bytes(100 * row))  # While a segment is active, its indexes have their full length.
    batch = build_batch(
        [RecordData(b"key", b"x" * 200, (), log.now_ms)] * 3,
        base_offset=log.log_end_offset,
        partition_leader_epoch=max(log.latest_epoch, 0),
    )
    tail = {"torn batch": batch[:-100], "wrong checksum": batch[:-1] + b"?", "zeros": bytes(300)}
    if kind in tail:
        with active.open("ab") as file:
            file.write(tail[kind])
    elif kind == "bit in an old segment" and len(bases) > 2:
        old = folder / f"{bases[-3]:020}.log"
        data = bytearray(old.read_bytes())
        data[-1] ^= 4
        old.write_bytes(data)
        return True
    return kind in tail


@dataclass(frozen=True, slots=True)
class Crash:
    """The life of a broker after the crash, and whether each partition's damage loses data."""

    run: Run
    damaged: dict[TopicPartition, bool]


@pytest.fixture(scope="module")
def crash(judge: Judge, written: Written, tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """Only half of the segments are known to be flushed."""
    before = tmp_path_factory.mktemp("crashed") / "before"
    shutil.copytree(written.path, before)
    (before / CLEAN_SHUTDOWN_FILE).unlink()
    folder = LogFolder(before)
    damaged = {}
    for tp, kind in zip(written.partitions, cycle(KINDS), strict=False):
        log = written.open(tp, folder, is_clean=True)
        bases = log.segment_base_offsets
        folder.open(tp).write_file(RECOVERY_POINT, b"%d" % bases[max(0, len(bases) // 2 - 1)])
        damaged[tp] = damage(kind, before / str(tp), log)
    folder.close()
    return Crash(live(judge, written.at(before), before.with_name("after")), damaged)


def test_kafka_and_kmirror_repair_a_folder_equally(crash: Crash, tmp_path: Path) -> None:
    crashed = crash.run
    shutil.copytree(crashed.before.path, tmp_path / "data")
    folder = LogFolder(tmp_path / "data")
    for tp, is_damaged in crash.damaged.items():
        log = crashed.open(tp, folder)
        assert (log.repair is not None) == is_damaged, tp
        log.close()
        found = different(files(crashed.after.path, tp), files(folder.path, tp))
        if producers_by_us(log) != sorted(crashed.producers[str(tp)]):
            assert tp.topic.startswith(FAILED_OVER), tp  # Kafka does not know producer resets.
            found.remove(f"{log.log_end_offset:020}.snapshot")
        assert found == [], (tp, log.repair)
        for isolation in ISOLATIONS:
            assert crashed.records[isolation][str(tp)] == read_by_us(folder.path, tp, isolation), tp
        log = crashed.open(tp, folder)
        told = crashed.offsets[str(tp)]
        assert offsets_by_us(log, told) == told, tp


def test_a_broker_warns_only_of_damaged_partitions(crash: Crash) -> None:
    for tp, is_damaged in crash.damaged.items():
        assert any(f"partition={tp}," in line for line in crash.run.warnings) == is_damaged, tp
