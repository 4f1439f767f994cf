"""Logs that a Kafka broker wrote, and the records that a Kafka consumer read from them.

`tests/data/records` holds a sample, `tests/recorded.py` all runs. Both have the same layout: a folder per run, with
`offsets.json`, `records/T-P.jsonl` and log directories.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmirror.records import ControlType, Record
from kmirror.records.legacy import AnyBatch
from tests.recorded import recorded_runs

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "tests" / "data" / "records"
WHOLE = recorded_runs()

TIMESTAMP_TYPES = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}
VALUE_SHOWN_MAX = 1024  # Longer values are recorded as length and digest.


@dataclass(frozen=True)
class Partition:
    """One partition directory of a run and its recorded data."""

    run: Path
    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    def __str__(self) -> str:
        return str(self.folder.relative_to(self.run.parent))

    def segments(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def offsets(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run / "offsets.json").read_text())[self.name]
        return found

    def consumed(self, suffix: str = ".jsonl") -> list[dict[str, Any]] | None:
        """Return the consumer's records; None if they were not recorded separately."""
        path = self.run / "records" / f"{self.name}{suffix}"
        if not path.exists():
            return None
        return [json.loads(line) for line in path.read_text().splitlines()]


def partitions(root: Path) -> list[Partition]:
    """Return the partitions that are both on disk and in the broker's description, a folder per replica."""
    found = []
    for run in sorted(path.parent for path in root.glob("*/offsets.json")):
        known = json.loads((run / "offsets.json").read_text())
        for folder in sorted([*run.glob("data/*"), *run.glob("broker-*/data/*")]):
            if folder.name in known:
                found.append(Partition(run, folder))
    return found


def every_log(root: Path) -> list[Path]:
    """Return every segment file, including those of the metadata log and of damaged copies."""
    return sorted(path for path in root.glob("**/*.log") if path.stat().st_size)


def as_consumed(record: Record) -> dict[str, Any]:
    """Return the record in the form of the recorded lines."""
    value = record.value
    shown: Any = None if value is None else base64.b64encode(value).decode()
    if value is not None and len(value) > VALUE_SHOWN_MAX:
        shown = {"sha256": hashlib.sha256(value).hexdigest(), "length": len(value)}
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": TIMESTAMP_TYPES[record.timestamp_type],
        "leader_epoch": None if record.leader_epoch < 0 else record.leader_epoch,
        "key": None if record.key is None else base64.b64encode(record.key).decode(),
        "value": shown,
        "headers": [
            [name, None if content is None else base64.b64encode(content).decode()] for name, content in record.headers
        ],
    }


def read_uncommitted(batches: list[AnyBatch], start: int) -> Iterator[Record]:
    """Yield the records of a consumer that starts at `start`: no control records."""
    for batch in batches:
        if not batch.is_control:
            yield from (record for record in batch.records() if record.offset >= start)


def read_committed(batches: list[AnyBatch], start: int, last_stable_offset: int) -> Iterator[Record]:
    """Yield the same without aborted transactions, up to the last stable offset (exclusive)."""
    aborted: set[int] = set()  # Base offsets of the batches of aborted transactions.
    pending: dict[int, list[int]] = {}
    for batch in batches:
        control = batch.control()
        if control is not None and control.type in (ControlType.ABORT, ControlType.COMMIT):
            mine = pending.pop(batch.producer_id, [])
            if control.type is ControlType.ABORT:
                aborted.update(mine)
        elif batch.is_transactional:
            pending.setdefault(batch.producer_id, []).append(batch.base_offset)
    kept = [batch for batch in batches if batch.base_offset not in aborted]
    for record in read_uncommitted(kept, start):
        if record.offset < last_stable_offset:
            yield record
