"""Partitions and batches for the tests of the log; every option a test sets means something."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import AppendInfo, AppendOrigin, PartitionLog
from kmirror.log.store import PartitionStore
from kmirror.records.build import build_batch
from kmirror.records.control import end_txn_marker, mirror_pid_reset
from kmirror.records.record import RecordData

TP = TopicPartition("t", 0)
NOW_MS = 1_700_000_000_000


def open_log(
    store: PartitionStore | None = None, *, repair: bool = False, recovery_point: int = 0, **config: Any
) -> PartitionLog:
    return PartitionLog.open(
        TP,
        MemoryStore() if store is None else store,
        LogConfig(**config),
        now_ms=NOW_MS,
        repair=repair,
        recovery_point=recovery_point,
    )


def batch(count: int = 1, *, offset: int = 0, epoch: int = 0, size: int = 20, **fields: Any) -> bytes:
    """A batch of `count` records of `size` bytes; `timestamp` is that of all records."""
    timestamp = fields.pop("timestamp", NOW_MS)
    records = [RecordData(b"key", b"v" * size, (), timestamp) for _ in range(count)]
    return build_batch(records, base_offset=offset, partition_leader_epoch=epoch, **fields)


def idempotent(
    sequence: int, count: int = 1, *, pid: int = 1, producer_epoch: int = 0, txn: bool = False, **fields: Any
) -> bytes:
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
    pid: int = 1,
    commit: bool,
    producer_epoch: int = 0,
    coordinator_epoch: int = 0,
    offset: int = 0,
    epoch: int = 0,
) -> bytes:
    return end_txn_marker(
        base_offset=offset,
        leader_epoch=epoch,
        timestamp_ms=NOW_MS,
        producer_id=pid,
        producer_epoch=producer_epoch,
        commit=commit,
        coordinator_epoch=coordinator_epoch,
    )


def reset(*, offset: int = 0, epoch: int = 0) -> bytes:
    return mirror_pid_reset(base_offset=offset, leader_epoch=epoch, timestamp_ms=NOW_MS, source_cluster_id="source")


def lead(log: PartitionLog, data: bytes, *, epoch: int = 0, coordinator: bool = False) -> AppendInfo:
    origin = AppendOrigin.COORDINATOR if coordinator else AppendOrigin.CLIENT
    return log.append_as_leader(data, leader_epoch=epoch, now_ms=NOW_MS, origin=origin)


def follow(log: PartitionLog, *batches: bytes, max_epoch: int = 1_000) -> AppendInfo:
    return log.append_as_follower(b"".join(batches), max_epoch=max_epoch)


def content(log: PartitionLog) -> bytes:
    """All bytes of the log."""
    return b"".join(bytes(batch.view) for batch in log.batches())


def spans(log: PartitionLog) -> list[tuple[int, int]]:
    """First and last offset of each batch."""
    return [(batch.base_offset, batch.last_offset) for batch in log.batches()]


def run(count: int, *, start: int = 0, epoch: int = 0, records: int = 1, **fields: Any) -> Iterable[bytes]:
    """`count` batches of `records` records, one behind the other."""
    for number in range(count):
        yield batch(records, offset=start + number * records, epoch=epoch, **fields)
