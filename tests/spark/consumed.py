"""Records of a Kafka consumer, as rows to compare with."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/data/spark/consumed.jsonl.gz"
TIMESTAMP_TYPES = {0: "CreateTime", 1: "LogAppendTime", -1: "NoTimestampType"}


def consumed() -> dict[tuple[str, str], dict[str, list[dict[str, Any]]]]:
    """Return the recorded records by (folder, isolation) and partition."""
    found: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(RECORDED, "rt") as lines:
        for line in lines:
            folder, name, isolation, record = json.loads(line)
            if record["leader_epoch"] is None:
                record["leader_epoch"] = -1
            found[folder, isolation][name].append(record)
    return found


def as_consumed(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return rows of the format `kafka-log`, with `timestamp` in microseconds, in the recorded form."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[f"{row['topic']}-{row['partition']}"].append(
            {
                "offset": row["offset"],
                "timestamp": row["timestamp"] // 1000,
                "timestamp_type": TIMESTAMP_TYPES[row["timestampType"]],
                "leader_epoch": row["leaderEpoch"],
                "key": _to_json(row["key"]),
                "value": _to_json(row["value"]),
                "headers": [[header["key"], _to_json(header["value"])] for header in row["headers"] or ()],
            }
        )
    return {name: sorted(records, key=lambda record: record["offset"]) for name, records in found.items()}


def _to_json(data: bytes | None) -> object:
    if data is None:
        return None
    if len(data) > 1024:
        return {"sha256": hashlib.sha256(data).hexdigest(), "length": len(data)}
    return base64.b64encode(data).decode()
