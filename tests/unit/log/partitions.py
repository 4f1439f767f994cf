"""Partitions for the tests of the log, with options of LogConfig."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import AppendInfo, AppendOrigin, LogAppendError, PartitionLog
from kmirror.log.store import PartitionStore
from kmirror.spec.error_codes import ErrorCode
from tests.builders import NOW_MS

TP = TopicPartition("t", 0)


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


def lead(log: PartitionLog, data: bytes, *, epoch: int = 0, coordinator: bool = False) -> AppendInfo:
    origin = AppendOrigin.COORDINATOR if coordinator else AppendOrigin.CLIENT
    return log.append_as_leader(data, leader_epoch=epoch, now_ms=NOW_MS, origin=origin)


def follow(log: PartitionLog, *batches: bytes, max_epoch: int = 1_000) -> AppendInfo:
    return log.append_as_follower(b"".join(batches), max_epoch=max_epoch)


def content(log: PartitionLog) -> bytes:
    """Return all bytes of the log."""
    return b"".join(bytes(batch.view) for batch in log.batches())


def spans(log: PartitionLog) -> list[tuple[int, int]]:
    """Return first and last offset of each batch."""
    return [(batch.base_offset, batch.last_offset) for batch in log.batches()]


def refused(log: PartitionLog, data: bytes, *, coordinator: bool = False) -> ErrorCode:
    """Return the error of an append by a leader; checks that it changes nothing."""
    before = repr(log), repr(log.producers.entries)
    with pytest.raises(LogAppendError) as caught:
        lead(log, data, coordinator=coordinator)
    assert (repr(log), repr(log.producers.entries)) == before, "a refused append leaves no trace"
    return caught.value.code
