"""Builders of batches for tests: arguments that a test passes matter to it, the others have defaults."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kmirror.records.build import build_batch
from kmirror.records.control import end_txn_marker, mirror_pid_reset
from kmirror.records.record import RecordData

NOW_MS = 1_700_000_000_000


def batch(
    count: int = 1, *, offset: int = 0, epoch: int = 0, size: int = 20, timestamp: int = NOW_MS, **fields: Any
) -> bytes:
    """Return a batch of `count` equal records: a key, and a value of `size` bytes."""
    return batch_of(*[b"v" * size] * count, key=b"key", offset=offset, epoch=epoch, timestamp=timestamp, **fields)


def batch_of(
    *values: bytes,
    key: bytes | None = None,
    offset: int = 0,
    epoch: int = 0,
    timestamp: int = NOW_MS,
    **fields: Any,
) -> bytes:
    """Return a batch of records with these values; `fields` are passed to `build_batch`."""
    records = [RecordData(key, value, (), timestamp) for value in values]
    return build_batch(records, base_offset=offset, partition_leader_epoch=epoch, **fields)


def run(count: int, *, start: int = 0, epoch: int = 0, records: int = 1, **fields: Any) -> Iterable[bytes]:
    """Yield `count` consecutive batches of `records` records each."""
    for number in range(count):
        yield batch(records, offset=start + number * records, epoch=epoch, **fields)


def idempotent(
    sequence: int, count: int = 1, *, pid: int = 1, producer_epoch: int = 0, txn: bool = False, **fields: Any
) -> bytes:
    """Return a batch with a producer id, transactional if `txn`."""
    return batch(
        count,
        producer_id=pid,
        producer_epoch=producer_epoch,
        base_sequence=sequence,
        is_transactional=txn,
        **fields,
    )


def marker(
    *,
    commit: bool,
    pid: int = 1,
    producer_epoch: int = 0,
    coordinator_epoch: int = 0,
    offset: int = 0,
    epoch: int = 0,
    timestamp: int = NOW_MS,
) -> bytes:
    """Return the marker that ends a transaction."""
    return end_txn_marker(
        base_offset=offset,
        leader_epoch=epoch,
        timestamp_ms=timestamp,
        producer_id=pid,
        producer_epoch=producer_epoch,
        commit=commit,
        coordinator_epoch=coordinator_epoch,
    )


def reset(*, offset: int = 0, epoch: int = 0) -> bytes:
    """Return a MIRROR_PID_RESET control batch."""
    return mirror_pid_reset(base_offset=offset, leader_epoch=epoch, timestamp_ms=NOW_MS, source_cluster_id="source")


def write_segment(folder: Path, *batches: bytes, base_offset: int = 0) -> Path:
    """Write a segment with these batches into a partition's folder, and return its path."""
    path = folder / f"{base_offset:020d}.log"
    path.write_bytes(b"".join(batches))
    return path
