"""The memory of a log is proportional to its content: a cluster has a hundred thousand logs, most nearly empty."""

from __future__ import annotations

import gc
import tracemalloc

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.disk import MemoryDisk
from kmirror.log.partition_log import PartitionLog
from tests.builders import NOW_MS, batch

LOGS = 300
CONFIG = LogConfig()
DATA = batch(size=100)


def make(disk: MemoryDisk, tp: TopicPartition, batches: int) -> PartitionLog:
    log = PartitionLog.open(tp, disk.open(tp), CONFIG, now_ms=NOW_MS)
    for _ in range(batches):
        log.append_as_leader(DATA, leader_epoch=0, now_ms=NOW_MS)
    log.update_high_watermark(log.log_end_offset)
    log.write_checkpoints()
    return log


def bytes_each(batches: int) -> float:
    """Return the memory of a log of `batches` batches, including its bytes on the simulator's disk."""
    disk, tps = MemoryDisk(), [TopicPartition("t", number) for number in range(LOGS)]
    logs = [make(disk, TopicPartition("warm", 0), batches)]
    gc.collect()
    tracemalloc.start()
    try:
        logs += [make(disk, tp, batches) for tp in tps]
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / LOGS
    finally:
        tracemalloc.stop()


def test_an_empty_log_is_small() -> None:
    assert bytes_each(0) < 1_600


def test_a_log_of_some_batches_is_near_its_bytes() -> None:
    assert bytes_each(10) < 1.6 * 10 * len(DATA) + 2_200
