"""The log's append compared with the limit and with the peers: gates P1 to P4. P5 to P8 are in `pass_through`.

The limit is one CRC-32C over the whole run of bytes and one copy of it, into memory or into a file. With a ratio of 0.9
the append, including its checks and indexes, takes a ninth more than the limit. Memory and file pages are warm on both
sides.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.harness import Case, Run, no_runs, scratch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.logdir.store import LogFolder
from kmirror.records import RecordData, build_batch, set_base_offset_and_epoch
from kmirror.records.crc32c import crc32c_function

TP = TopicPartition("benchmark", 0)
RUN_BYTES = 16 << 20  # Bytes that a mirror appends while it catches up, in one call or in many.
FETCH_BYTES = 1 << 20  # Bytes of one fetch response, and of one call of a peer's reader.
KIB, MIB = 1 << 10, 1 << 20
IDEMPOTENT = 7  # A producer id: producers have one by default since Kafka 3.0.


def batches(size: int, total: int = RUN_BYTES, *, producer_id: int = -1) -> tuple[memoryview, int]:
    """Return `total` bytes of batches of `size`, and the number of batches."""
    epoch, sequence = (0, 0) if producer_id >= 0 else (-1, -1)
    record = RecordData(None, b"v" * (size - 80), (), 1_000)
    batch = bytearray(build_batch([record], producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence))
    count = max(1, total // len(batch))
    data = bytearray()
    for offset in range(count):
        set_base_offset_and_epoch(batch, offset, 1)
        data += batch
    return memoryview(bytes(data)), count


def warm_buffer(size: int) -> bytearray:
    buffer = bytearray(b"\1") * size
    return buffer


def memory_append(view: memoryview) -> Run:
    """Append the run to an empty log, into the same buffer each time, so that no new page is touched."""
    buffer = warm_buffer(len(view) + KIB)
    store = MemoryStore(allocate=lambda _: buffer)
    log = PartitionLog.open(TP, store, LogConfig(), now_ms=0)

    def run() -> None:
        empty_log(log)
        store._segment(0).size = 0
        log.append_as_mirror(view, source_epoch=1)

    return run


def empty_log(log: PartitionLog) -> None:
    """Empty the log, at a cost that is negligible beside the append."""
    log.segments[-1].reset()
    log.segments.end_offset = 0


def memory_limit(view: memoryview) -> Run:
    crc32c, buffer = crc32c_function(), memoryview(warm_buffer(len(view)))

    def run() -> None:
        crc32c(view)
        buffer[:] = view

    return run


def compare_with_limit(size: int, producer_id: int = -1) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        view, _ = batches(size, producer_id=producer_id)
        return memory_append(view), memory_limit(view)

    return prepare


def compare_with_peer(peer: str, size: int) -> Callable[[], tuple[Run, Run]]:
    """The peer splits the run into batches, checks each checksum, and adds each batch to a buffer."""

    def prepare() -> tuple[Run, Run]:
        view, count = batches(size, FETCH_BYTES)
        batch_size = len(view) // count
        package = {"kafka-python": "kafka", "aiokafka": "aiokafka"}[peer]
        memory_records: Any = import_module(f"{package}.record.memory_records").MemoryRecords
        data, buffer = bytes(view), memoryview(warm_buffer(len(view)))

        def run() -> None:
            reader = memory_records(data)
            position = 0
            while (next_batch := reader.next_batch()) is not None:
                assert next_batch.validate_crc()
                end = position + batch_size
                buffer[position:end] = view[position:end]
                position = end

        return memory_append(view), run

    return prepare


def file_pair(size: int) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        view, _ = batches(size)
        folder = scratch() / f"append-{size}"
        store = LogFolder(folder).open(TP)
        log = PartitionLog.open(TP, store, LogConfig(), now_ms=0)
        limit = os.open(folder / "limit", os.O_RDWR | os.O_CREAT)
        crc32c = crc32c_function()

        def ours() -> None:
            # The file keeps its pages: the append is measured, not the file system's allocation.
            empty_log(log)
            store._sizes[0] = 0
            log.append_as_mirror(view, source_epoch=1)

        def theirs() -> None:
            crc32c(view)
            os.pwrite(limit, view, 0)

        return ours, theirs

    return prepare


def cost_in_checksums(pairs: int) -> list[float]:
    """Return one small checksum call over the cost of a 1 KiB batch above the limit."""
    view, count = batches(KIB)
    ours, limit, crc32c = memory_append(view), memory_limit(view), crc32c_function()
    small = memoryview(bytes(100))
    ratios = []
    for _ in range(pairs):
        extra_time = statistics.median(_time(ours) - _time(limit) for _ in range(5)) / count
        call = min(_calls(lambda: crc32c(small[10:74]), 20_000) for _ in range(3))
        ratios.append(call / extra_time)
    return ratios


def _time(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _calls(run: Run, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def cases() -> list[Case]:
    found = [
        Case(gate, f"append / limit, batches of {name}", "kmirror", compare_with_limit(size), floor, reach)
        for gate, name, size, floor, reach in [
            ("P1", "16 KiB", 16 * KIB, 0.60, 0.72),
            ("P1", "64 KiB", 64 * KIB, 0.80, 0.90),
            ("P1", "1 MiB", MIB, 0.95, 0.99),
            ("P2", "1 KiB", KIB, 0.14, 0.20),
        ]
    ]
    found += [
        Case(gate, f"append / limit, idempotent batches of {name}", "kmirror", compare_with_limit(size, IDEMPOTENT))
        for gate, name, size in [("P1", "16 KiB", 16 * KIB), ("P2", "1 KiB", KIB)]
    ]
    found.append(
        Case("P2", "one checksum of 64 B / cost per 1 KiB batch", "kmirror", no_runs, 1 / 5, 1 / 3.5, cost_in_checksums)
    )
    found += [
        Case("P3", f"split, check, append, batches of {name}", peer, compare_with_peer(peer, size), floor, reach)
        for name, size, gates in [
            ("1 KiB", KIB, ((3.0, 4.5), (1.4, 2.0))),
            ("16 KiB", 16 * KIB, ((1.7, 2.2), (5.0, 6.5))),
            ("64 KiB", 64 * KIB, ((1.3, 1.5), (6.0, 8.0))),
        ]
        for peer, (floor, reach) in zip(("kafka-python", "aiokafka"), gates, strict=True)
    ]
    found += [
        Case("P4", f"file append / limit, batches of {name}", "kmirror", file_pair(size), floor, reach)
        for name, size, floor, reach in [("16 KiB", 16 * KIB, 0.75, 0.85), ("64 KiB", 64 * KIB, 0.85, 0.93)]
    ]
    return found
