"""Partition folders that Kafka wrote: a sample in the repository, and all of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import DAY_MS, LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import LOG_START_OFFSET
from tests.recorded import recorded_runs

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "log"

# index.interval.bytes of topics with that config.
INTERVALS = {
    "clients": 100,
    "codecs": 256,
    "compacted": 150,
    "compacted-fast": 150,
    "idem": 128,
    "logappend": 256,
    "retention": 200,
    "txn": 200,
    "epochs": 100,
    "ule": 100,
    "crashed": 100,
    "mixed-012": 100,
    "v0": 200,
    "v1": 200,
}
# log.index.interval.bytes of these brokers; it applied to internal topics when their segments were written.
BROKER_INTERVAL = {"kraft-4.3": 256, "crash-4.3": 256}
ALTERED = ("__consumer_offsets-0", "__consumer_offsets-1")  # Except these: they rolled after the config was altered.
# The brokers of these runs were restarted a while after the records were written, so they forgot producers.
RESTARTED_MS = 1_795_248_000_000


@dataclass(frozen=True, slots=True)
class Folder:
    """One partition folder; `told` is the live broker's data about it, `run` the log directory."""

    run: str
    name: str
    path: Path
    log_start: int | None
    told: dict[str, Any] | None
    interval: int | None = None  # index.interval.bytes, if the cluster's own description has it.

    @property
    def tp(self) -> TopicPartition:
        topic, _, partition = self.name.rpartition("-")
        return TopicPartition(topic, int(partition))

    def config(self, **fields: Any) -> LogConfig:
        own = self.tp.topic.startswith("__") and self.name not in ALTERED
        default = 4096 if self.tp.topic == "__cluster_metadata" else BROKER_INTERVAL.get(self.run.split("/")[0], 4096)
        interval = INTERVALS.get(self.tp.topic, default) if self.interval is None or own else self.interval
        return LogConfig(index_interval_bytes=interval, producer_id_expiration_ms=DAY_MS, **fields)

    @property
    def opened_ms(self) -> int:
        return 0 if self.run.startswith("kraft") else RESTARTED_MS

    def files(self) -> dict[str, bytes]:
        """Return all files except segments, as they are on disk."""
        return {
            path.name: path.read_bytes()
            for path in sorted(self.path.iterdir())
            if path.suffix not in (".log", ".deleted", ".checkpoint") and path.name != "quorum-state"
        }

    def store(self, *, only_segments: bool = False) -> MemoryStore:
        segments = {int(path.stem): path.read_bytes() for path in self.path.glob("*.log")}
        files = {} if only_segments else self.files()
        if self.log_start is not None:
            files[LOG_START_OFFSET] = b"%d" % self.log_start
        return MemoryStore.from_files(segments, files)

    def open(self, store: MemoryStore | None = None, **options: Any) -> PartitionLog:
        return PartitionLog.open(self.tp, store or self.store(), self.config(), now_ms=self.opened_ms, **options)


def _checkpoint(path: Path) -> dict[str, int]:
    if not path.exists():
        return {}
    rows = (line.rsplit(" ", 2) for line in path.read_text().splitlines()[2:])
    return {f"{topic}-{partition}": int(offset) for topic, partition, offset in rows}


def _folders(run: str, directory: Path, told: dict[str, Any], topics: dict[str, Any] | None = None) -> list[Folder]:
    starts = _checkpoint(directory / "log-start-offset-checkpoint")
    return [
        Folder(run, path.name, path, starts.get(path.name), told.get(path.name), _interval(topics, path.name))
        for path in sorted(directory.iterdir())
        if path.is_dir() and any(path.glob("*.log")) and path.name.rpartition("-")[2].isdigit()
    ]


def _interval(topics: dict[str, Any] | None, name: str) -> int | None:
    topic = (topics or {}).get(name.rpartition("-")[0], {})
    value = topic.get("configs", {}).get("index.interval.bytes")
    return None if value is None else int(value)


@cache
def sample() -> tuple[Folder, ...]:
    told = json.loads((SAMPLE / "offsets.json").read_text())
    runs = [
        "kraft-4.3",
        "epochs-4.3/broker-1",
        "epochs-4.3/broker-2",
        "epochs-4.3/broker-3",
        "crash-4.3/data",
        "legacy-2.1",
    ]
    return tuple(folder for run in runs for folder in _folders(run, SAMPLE / run, told.get(run, {})))


@cache
def wide() -> tuple[Folder, ...]:
    """Return every folder of the recorded runs. A test must select those with format 2."""
    top = recorded_runs()
    found: list[Folder] = []
    for run in ("kraft-4.3", "epochs-4.3", "crash-4.3", "legacy-2.1"):
        told = json.loads((top / run / "offsets.json").read_text())
        topics = json.loads((top / run / "cluster.json").read_text())["topics"]
        directories = ["broker-1/data", "broker-2/data", "broker-3/data"] if run == "epochs-4.3" else ["data"]
        for directory in directories:
            mine = told if directory in ("data", "broker-1/data") else {}
            found.extend(_folders(f"{run}/{directory}", top / run / directory, mine, topics))
    return tuple(found)


def name_of(folder: Folder) -> str:
    return f"{folder.run}:{folder.name}"
