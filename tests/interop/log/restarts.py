"""One life of a broker: started on a folder, queried about its contents, shut down; and the same queries to kmirror."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from kmirror.cli.cat import command as cat
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT
from kmirror.logdir.store import LogFolder
from tests.cat_output import as_recorded
from tests.interop.log.cluster import CLEAN_SHUTDOWN_FILE
from tests.interop.log.judge import Judge
from tests.interop.log.written import HOUR_MS, PRODUCER_EXPIRATION_MS, Written

NAMES = {"earliest": -2, "earliest_local": -4, "latest": -1, "max_timestamp": -3}
ISOLATIONS = ("read_uncommitted", "read_committed")
# Loggers about logs; others warn of slow machines, elections, and requests during a shutdown.
LEVELS = ("WARN ", "ERROR ", "FATAL ")
ABOUT_LOGS = ("org.apache.kafka.storage.", "kafka.log.", "kafka.cluster.", "kafka.server.ReplicaManager ")


@dataclass(frozen=True, slots=True)
class Run:
    """A broker's initial folder, its responses before the shutdown, and its final folder."""

    before: Written
    after: Written
    offsets: dict[str, Any]
    producers: dict[str, Any]
    records: dict[str, dict[str, Any]]  # By isolation level and partition.
    warnings: list[str]

    @property
    def is_clean(self) -> bool:
        return (self.before.path / CLEAN_SHUTDOWN_FILE).exists()

    def open(self, tp: TopicPartition, folder: LogFolder) -> PartitionLog:
        """Return kmirror's log of a copy of one of the folders, in the leader epoch of the broker."""
        log = self.before.open(tp, folder, is_clean=self.is_clean)
        log.assign_epoch_start(self.offsets[str(tp)]["latest"][2])
        return log


def live(judge: Judge, written: Written, after: Path, *, use: Callable[[], None] = lambda: None) -> Run:
    """Start a broker on a copy of the folder, `use` it, send all queries, shut it down."""
    shutil.copytree(written.path, after)
    judge.start(after, written.partitions, **{"producer.id.expiration.ms": str(PRODUCER_EXPIRATION_MS)})
    use()
    offsets = judge.about("offsets", timestamps=timestamps(written.now_ms))
    producers = judge.about("producers")
    records = {isolation: judge.about("read", isolation=isolation) for isolation in ISOLATIONS}
    warnings = [line for line in judge.stop() if line.startswith(LEVELS)]
    about_logs = tuple(level + name for level in LEVELS for name in ABOUT_LOGS)
    warnings = [line for line in warnings if line.startswith(about_logs) or str(after) in line]
    return Run(written, written.at(after), offsets, producers, records, warnings)


def timestamps(now_ms: int) -> list[int]:
    day_ago = now_ms - 24 * HOUR_MS
    return [0, 1_700_000_001_000, 1_795_247_780_000, *range(day_ago, day_ago + 400_000, 25_000), now_ms]


def read_by_us(folder: Path, tp: TopicPartition, isolation: str) -> list[dict[str, Any]]:
    """Return the records that `kmirror cat` prints."""
    flags = ["--read-committed"] * (isolation == "read_committed")
    result = CliRunner().invoke(cat, [str(folder / str(tp)), "-o", "json", *flags])
    assert result.exception is None, tp
    return [as_recorded(json.loads(line)) for line in result.stdout.splitlines()]


def offsets_by_us(log: PartitionLog, asked: dict[str, Any]) -> dict[str, list[int]]:
    """Return kmirror's results for the same queries: offset, timestamp, leader epoch."""
    ours = {}
    for name in asked:
        if name == "lso":
            ours[name] = [log.last_stable_offset, -1, log.latest_epoch]
            continue
        found = log.offset_for_timestamp(NAMES[name] if name in NAMES else int(name))
        ours[name] = [-1, -1, -1] if found is None else [found.offset, found.timestamp, found.leader_epoch]
    return ours


def producers_by_us(log: PartitionLog) -> list[list[int]]:
    return sorted(
        [
            entry.producer_id,
            entry.producer_epoch,
            entry.last_sequence,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.txn_first_offset,
        ]
        for entry in log.producers.entries.values()
    )


def files(folder: Path, tp: TopicPartition) -> dict[str, bytes]:
    """Return the contents of a partition's folder; files that Kafka deletes have another name for a minute."""
    found = {path.name: path.read_bytes() for path in sorted((folder / str(tp)).iterdir())}
    return {name: data for name, data in found.items() if not name.endswith(".deleted")}


def different(left: dict[str, bytes], right: dict[str, bytes]) -> list[str]:
    """Return the names of the files that differ, or exist only in one of both."""
    return [name for name in sorted({*left, *right}) if left.get(name) != right.get(name)]


def changed_files(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return the same without the epochs, as each leader adds one, and the snapshots that opening a log deletes.

    They are below its start, or not at the start of a segment: where it ended before, or was truncated.
    """
    names = [name for name in different(before, after) if name != LEADER_EPOCH_CHECKPOINT]
    return [name for name in names if name in after or not name.endswith(".snapshot")]
