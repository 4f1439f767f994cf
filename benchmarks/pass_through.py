"""Savings of a mirror that does not open batches (P5, P6), cost of its whole path (P7), and scaling to two (P8).

P5's peer works like a mirror of records, with aiokafka's compiled reader and writer and the levels that it uses (gzip
9, LZ4-HC): check, decompress and decode each batch, build it again. P6's peer does only the part of that which no code
of kmirror could shorten: decompress and compress at Kafka's default levels, with the fastest installed library. On
kmirror's side the compressed batches are appended unchanged, with all checks.
"""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.harness import Case, Run, no_runs
from benchmarks.log import IDEMPOTENT, KIB, MIB, RUN_BYTES, batches, empty_log, memory_append, memory_limit, warm_buffer
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.headers import decode_response, encode_response
from kmirror.records import Compression, RecordData, build_batch, iter_batches, set_base_offset_and_epoch
from kmirror.records.codecs import compress

RAW_MAX = MIB  # Uncompressed bytes of the records appended in one call.
TOPIC_ID = Uuid.from_ints(1, 2)
FETCH_VERSION = 17


def text(draw: random.Random, size: int) -> bytes:
    """Return words that repeat, as in events and log lines: gzip compresses them to a third or a quarter."""
    words = [draw.randbytes(draw.randint(2, 7)).hex() for _ in range(600)]
    return " ".join(draw.choices(words, k=size // 4))[:size].encode()


def compressed_batch(codec: Compression, raw: int, size: int) -> bytes:
    """Return a batch with `raw` bytes of records of `size`, keys included."""
    draw = random.Random(7)
    value = text(draw, raw)
    records = [
        RecordData(b"key-%08d" % number, value[number * size : (number + 1) * size - 20], (), 1_000 + number)
        for number in range(raw // size)
    ]
    return build_batch(records, compression=codec)


def repeat_batch(batch: bytes, count: int) -> bytes:
    run = bytearray()
    batch_copy, span = bytearray(batch), next(iter_batches(batch)).next_offset
    for number in range(count):
        set_base_offset_and_epoch(batch_copy, number * span, 1)
        run += batch_copy
    return bytes(run)


# -- P5 -----------------------------------------------------------------------------------------


def compare_with_reencoding(codec: Compression, raw: int, size: int) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        data = repeat_batch(compressed_batch(codec, raw, size), RAW_MAX // raw)
        return memory_append(memoryview(data)), _reencode(data, codec)

    return prepare


def _reencode(data: bytes, codec: Compression) -> Run:
    memory_records: Any = import_module("aiokafka.record.memory_records").MemoryRecords
    builder: Any = import_module("aiokafka.record.default_records").DefaultRecordBatchBuilder
    buffer = memoryview(warm_buffer(4 * len(data)))
    kind = int(codec)

    def run() -> None:
        reader = memory_records(data)
        position = 0
        while (batch := reader.next_batch()) is not None:
            assert batch.validate_crc()
            built = builder(
                magic=2,
                compression_type=kind,
                is_transactional=False,
                producer_id=-1,
                producer_epoch=-1,
                base_sequence=-1,
                batch_size=MIB,
            )
            for number, record in enumerate(batch):
                built.append(number, record.timestamp, record.key, record.value, record.headers)
            encoded = built.build()
            buffer[position : position + len(encoded)] = encoded
            position += len(encoded)

    return run


# -- P6 -----------------------------------------------------------------------------------------


def compare_with_codec(codec: Compression, raw: int) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        batch = compressed_batch(codec, raw, KIB)
        count = RAW_MAX // raw
        plain = compressed_batch(Compression.NONE, raw, KIB)[61:]
        recode = _codec(codec, plain)

        def theirs() -> None:
            for _ in range(count):
                recode()

        return memory_append(memoryview(repeat_batch(batch, count))), theirs

    return prepare


def _codec(codec: Compression, plain: bytes) -> Run:
    """Decompress and compress the records of one batch."""
    packed = compress(codec, plain)
    if codec is Compression.GZIP:
        return lambda: zlib.compress(zlib.decompress(packed, wbits=31), 6, wbits=31)
    if codec is Compression.SNAPPY:
        snappy: Any = import_module("cramjam").snappy
        packed = bytes(snappy.compress_raw(plain))
        return lambda: snappy.compress_raw(snappy.decompress_raw(packed))
    if codec is Compression.LZ4:
        lz4: Any = import_module("lz4.frame")
        settings = {"block_size": lz4.BLOCKSIZE_MAX64KB, "block_linked": False, "store_size": False}
        return lambda: lz4.compress(lz4.decompress(packed), **settings)
    zstandard: Any = import_module("zstandard")
    compressor, decompressor = zstandard.ZstdCompressor(level=3), zstandard.ZstdDecompressor()
    return lambda: compressor.compress(decompressor.decompressobj().decompress(packed))


# -- P7 -----------------------------------------------------------------------------------------


def mirror_cycle(size: int, partitions: int, producer_id: int = -1) -> Callable[[], tuple[Run, Run]]:
    """Read, encode, decode and append `size` bytes of each partition, one fetch at a time until all are copied."""

    def prepare() -> tuple[Run, Run]:
        view, count = batches(size, RUN_BYTES // partitions, producer_id=producer_id)
        pairs = [_logs(view, number) for number in range(partitions)]

        def ours() -> None:
            for _, destination in pairs:
                empty_log(destination)
                destination.store._segment(0).size = 0  # type: ignore[attr-defined]  # a MemoryStore
            for offset in range(count):
                _fetch(pairs, offset, size)

        ours()
        assert all(
            destination.log_end_offset == count and bytes(destination.store.view(0, 0, len(view))) == view
            for _, destination in pairs
        )
        # The same number of bytes from the same number of pages: both sides use caches equally.
        return ours, memory_limit(memoryview(bytes(view) * partitions))

    return prepare


def _logs(view: memoryview, number: int) -> tuple[PartitionLog, PartitionLog]:
    tp = TopicPartition("benchmark", number)
    source = PartitionLog.open(tp, MemoryStore(), LogConfig(), now_ms=0)
    source.append_as_mirror(view, source_epoch=1)
    source.update_high_watermark(source.log_end_offset)
    buffer = warm_buffer(len(view) + KIB)
    destination = PartitionLog.open(tp, MemoryStore(allocate=lambda _: buffer), LogConfig(), now_ms=0)
    return source, destination


def _fetch(pairs: list[tuple[PartitionLog, PartitionLog]], offset: int, size: int) -> None:
    """One fetch of all partitions: the work of the source's broker, the bytes, and the work of the mirror."""
    answers = []
    for index, (source, _) in enumerate(pairs):
        found = source.read(offset, max_bytes=size, end_offset=source.high_watermark)
        watermark = source.high_watermark
        answers.append(PartitionData(index, 0, watermark, watermark, source.log_start_offset, records=found.records))
    topic = FetchableTopicResponse(topic_id=TOPIC_ID, partitions=answers)
    frame = encode_response(FetchResponse(responses=[topic]), FETCH_VERSION, correlation_id=offset)
    reply = decode_response(frame, 1, FETCH_VERSION).body
    assert isinstance(reply, FetchResponse)
    for data in reply.responses[0].partitions:
        records = data.records
        assert records is not None
        pairs[data.partition_index][1].append_as_mirror(records, source_epoch=1)


# -- P8 -----------------------------------------------------------------------------------------


def _worker(connection: Connection, size: int) -> None:
    """Append as often as each message says, and reply when it is done; a message of 0 ends it."""
    view, _ = batches(size)
    run = memory_append(view)
    while count := connection.recv():
        for _ in range(count):
            run()
        connection.send(count)


@contextmanager
def _workers(size: int) -> Iterator[list[Connection]]:
    context = get_context("spawn")
    connections, processes = [], []
    for _ in range(2):
        ours, theirs = context.Pipe()
        process = context.Process(target=_worker, args=(theirs, size), daemon=True)
        process.start()
        connections.append(ours)
        processes.append(process)
    try:
        yield connections
    finally:
        for connection, process in zip(connections, processes, strict=True):
            connection.send(0)
            process.join()


def two_processes(size: int) -> Callable[[int], list[float]]:
    def measure(pairs: int) -> list[float]:
        ratios = []
        with _workers(size) as (batch_copy, other):
            _time_together([batch_copy, other], 4)
            calls = max(4, int(4 * 0.1 / _time_together([batch_copy], 4)))
            for _ in range(pairs):
                # Alone in turns, so that disturbances of either core count for both sides.
                alone = (_time_together([batch_copy], calls) + _time_together([other], calls)) / 2
                ratios.append(2 * alone / _time_together([batch_copy, other], calls))
        return ratios

    return measure


def _time_together(workers: list[Connection], calls: int) -> float:
    start = time.perf_counter()
    for worker in workers:
        worker.send(calls)
    for worker in workers:
        worker.recv()
    return time.perf_counter() - start


def cases() -> list[Case]:
    kind = Compression
    none, snappy, lz4, zstd, gzip = kind.NONE, kind.SNAPPY, kind.LZ4, kind.ZSTD, kind.GZIP
    gates = {none: (25, 35), snappy: (50, 70), lz4: (90, 130), zstd: (100, 140), gzip: (300, 420)}
    found = [
        # The gates are for small records, which the other groups also use; large ones are shown without a gate.
        Case(
            "P5",
            f"append / re-encode, 16 kB raw, {name} records, {codec.name.lower()}",
            "aiokafka",
            compare_with_reencoding(codec, 16 * KIB, size),
            *(gate if size == 100 else (None, None)),
        )
        for name, size in [("100 B", 100), ("1 KiB", KIB)]
        for codec, gate in gates.items()
    ]
    found += [
        Case(
            "P6",
            f"append / inflate and compress, 130 kB raw, {codec.name.lower()}",
            library,
            compare_with_codec(codec, 128 * KIB),
            floor,
            reach,
            version=version,
        )
        for codec, library, floor, reach, version in [
            (lz4, "lz4", 18, 25, None),
            (snappy, "cramjam", 28, 37, None),
            (zstd, "zstandard", 75, 100, None),
            (gzip, "zlib", 500, 900, zlib.ZLIB_RUNTIME_VERSION),
        ]
    ]
    found += [
        Case(
            "P7", f"read, encode, decode, append / limit, {n} x {name} a fetch", "kmirror", mirror_cycle(size, n), *gate
        )
        for name, size, n, gate in [
            ("16 KiB", 16 * KIB, 50, (0.14, 0.25)),
            ("128 KiB", 128 * KIB, 4, (0.50, 0.75)),
        ]
    ]
    title = "read, encode, decode, append / limit, 50 x 16 KiB, idempotent, a fetch"
    found.append(Case("P7", title, "kmirror", mirror_cycle(16 * KIB, 50, IDEMPOTENT)))
    found += [
        Case("P8", f"two worker processes / one, {name}", "kmirror", no_runs, 1.8, 1.95, two_processes(size))
        for name, size in [("batches of 16 KiB", 16 * KIB), ("batches of 1 MiB", MIB)]
    ]
    return found
