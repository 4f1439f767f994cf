"""Partition folders of any size as a broker writes them: log, indexes, leader epoch checkpoint.

The batches are of an idempotent producer and hold records of 1000 bytes, with words that a codec compresses to half.
One batch is built and written repeatedly, with changed offset, sequence and timestamps.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from benchmarks.harness import scratch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.partition_log import PartitionLog
from kmirror.logdir.store import LogFolder
from kmirror.records import Compression, RecordData, build_batch, layout, set_base_offset_and_epoch
from kmirror.records.crc32c import crc32c

RECORD_BYTES = 1000
APPEND_BYTES = 1 << 20
START_MS = 1_700_000_000_000
# A segment of Kafka's default size may exceed it by one batch.
SEGMENT_BYTES = 1 << 30

_TIMESTAMPS = Struct(">qq")
_INT32, _UINT32 = Struct(">i"), Struct(">I")


class Shape(NamedTuple):
    """Shape of a log; `batch` is the stored size of a batch in bytes."""

    name: str
    batch: int
    codec: Compression = Compression.NONE


@cache
def partition(shape: Shape, size: int) -> Path:
    """Return the folder of a partition with about `size` bytes, at least one batch; it is deleted on exit."""
    tp = TopicPartition(f"{shape.name.replace(' ', '-')}-{size}", 0)
    top = scratch() / "logs" / tp.topic
    log_folder = LogFolder(top)
    log = PartitionLog.open(tp, log_folder.open(tp), LogConfig(segment_bytes=SEGMENT_BYTES), now_ms=0)
    batch, count = _batch(shape)
    written = offset = 0
    while written == 0 or written + len(batch) <= size:
        chunk = bytearray()
        while not chunk or (len(chunk) < APPEND_BYTES and written + len(chunk) + len(batch) <= size):
            _set_position(batch, offset, count)
            chunk += batch
            offset += count
        log.append_as_mirror(bytes(chunk), source_epoch=1)
        written += len(chunk)
    log.close()
    log_folder.close()
    return top / str(tp)


def _set_position(batch: bytearray, offset: int, count: int) -> None:
    _TIMESTAMPS.pack_into(batch, layout.BASE_TIMESTAMP_AT, START_MS + offset, START_MS + offset + count - 1)
    _INT32.pack_into(batch, layout.BASE_SEQUENCE_AT, offset)
    _UINT32.pack_into(batch, layout.CRC_AT, crc32c(memoryview(batch)[layout.ATTRIBUTES_AT :]))
    set_base_offset_and_epoch(batch, offset, 1)


def _batch(shape: Shape) -> tuple[bytearray, int]:
    """Return a batch of about the requested size, and its number of records."""
    count = max(1, shape.batch // RECORD_BYTES)
    if shape.codec:
        sample = len(_build(64, shape.codec))
        count = max(1, 64 * shape.batch // sample)
    return _build(count, shape.codec), count


def _build(count: int, codec: Compression) -> bytearray:
    draw = random.Random(5)
    words = [draw.randbytes(6).hex().encode() for _ in range(2000)]
    records = []
    for number in range(count):
        value = b" ".join(draw.choices(words, k=RECORD_BYTES // 13 + 1))[: RECORD_BYTES - 20]
        records.append(RecordData(b"key-%08d" % number, value, (), START_MS + number))
    return bytearray(build_batch(records, compression=codec, producer_id=1000, producer_epoch=0, base_sequence=0))


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.log"))
