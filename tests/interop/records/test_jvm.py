"""The JVM client reads kmirror's bytes like kmirror; kmirror reads broken ones that it accepts the same, or refuses.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import gzip
import random
import struct
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path

import cramjam
import lz4.frame
import zstandard

from kmirror.errors import CorruptBatch
from kmirror.records import Compression, RecordData, build_batch
from kmirror.records.build import frame_batch
from kmirror.records.codecs import LEVELS, compress
from kmirror.records.control import end_txn_marker, mirror_pid_reset
from kmirror.records.legacy import build_message, build_message_set, iter_any_batches
from tests.interop.jvm import java

PROGRAM = Path(__file__).with_name("ReadRecords.java")
TIMESTAMP_TYPES = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}


def read_by_jvm(datas: Sequence[bytes], folder: Path, class_path: str) -> list[list[str]]:
    """Return the lines that the JVM prints for each of `datas`."""
    for number, data in enumerate(datas):
        (folder / f"{number:05}.bin").write_bytes(data)
    command = [*java(class_path, PROGRAM), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [part.splitlines() for part in done.stdout.split("F\n")[1:]]
    assert len(found) == len(datas)
    return found


def shown(data: bytes | None) -> str:
    return "null" if data is None else data.hex()


def read_by_us(data: bytes) -> list[str]:
    lines: list[str] = []
    try:
        for batch in iter_any_batches(data, check_crc=True):
            lines.append(
                f"B {batch.base_offset} {batch.last_offset} {batch.compression.name.lower()} "
                f"{TIMESTAMP_TYPES[batch.timestamp_type]} {batch.max_timestamp} {batch.producer_id} "
                f"{str(batch.is_control).lower()}"
            )
            for record in batch.records():
                line = f"R {record.offset} {record.timestamp} {shown(record.key)} {shown(record.value)}"
                headers = [f" {shown(name.encode())}={shown(value)}" for name, value in record.headers]
                lines.append(line + "".join(headers))
    except CorruptBatch as error:
        lines.append(f"E {error}")
    return lines


def some_records(draw: random.Random, count: int, *, size: int, headers: bool = True) -> list[RecordData]:
    return [
        RecordData(
            draw.choice([None, b"", draw.randbytes(draw.randrange(20))]),
            draw.choice([None, b"x" * draw.randrange(size), draw.randbytes(draw.randrange(300))]),
            [(draw.choice(["a", "é", ""]), draw.choice([None, b"v"]))] * (draw.randrange(3) if headers else 0),
            draw.choice([5, 1_700_000_000_000 + draw.randrange(10**6)]),
        )
        for _ in range(count)
    ]


def test_batches_of_every_codec_and_level_decode_on_the_jvm(tmp_path: Path, kafka_class_path: str) -> None:
    draw = random.Random(1)
    datas = []
    for codec in Compression:
        levels: list[int | None] = [None]
        if codec in LEVELS:
            levels += [level for level in (-5, 1, 4, 9, 17, 22) if LEVELS[codec][1] <= level <= LEVELS[codec][2]]
        datas += [
            build_batch(
                some_records(draw, count, size=70_000),
                base_offset=draw.randrange(2**40),
                partition_leader_epoch=3,
                compression=codec,
                level=level,
                timestamp_type=kind,
                timestamp_ms=99,
                producer_id=draw.choice([-1, 7]),
                producer_epoch=1,
                base_sequence=2,
            )
            for level in levels
            for count in (1, 3, 40)
            for kind in (0, 1)
        ]
    assert [read_by_us(data) for data in datas] == read_by_jvm(datas, tmp_path, kafka_class_path)


def test_old_message_sets_and_control_batches_decode_on_the_jvm(tmp_path: Path, kafka_class_path: str) -> None:
    draw = random.Random(2)
    datas = [
        build_message_set(
            some_records(draw, count, size=70_000, headers=False),
            magic=magic,
            base_offset=1000,
            compression=codec,
            timestamp_type=kind,
            timestamp_ms=77,
        )
        for magic in (0, 1)
        for codec in Compression
        if codec is not Compression.ZSTD
        for count in (1, 5, 60)
        for kind in (0, 1)
    ]
    datas.append(
        mirror_pid_reset(base_offset=5, leader_epoch=1, timestamp_ms=9, source_cluster_id="abc")
        + end_txn_marker(
            base_offset=6,
            leader_epoch=1,
            timestamp_ms=9,
            producer_id=3,
            producer_epoch=1,
            commit=True,
            coordinator_epoch=2,
        )
        + build_batch([], base_offset=7, last_offset_delta=3, producer_id=4, compression=Compression.GZIP)
    )
    assert [read_by_us(data) for data in datas] == read_by_jvm(datas, tmp_path, kafka_class_path)


def mutate(draw: random.Random, data: bytes) -> bytes:
    """Return `data` with a few bits or bytes changed, dropped or doubled, mostly near its start."""
    broken = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 4])):
        at = draw.randrange(min(len(broken), draw.choice([8, 40, len(broken)])))
        match draw.randrange(3):
            case 0:
                broken[at] ^= 1 << draw.randrange(8)
            case 1:
                broken[at] = draw.choice([0, 1, 2, 127, 128, 255, draw.randrange(256)])
            case 2:
                broken[at : at + 1] = broken[at : at + 1] * draw.choice([0, 2])
        if not broken:
            break
    return bytes(broken)


def broken_batch(draw: random.Random) -> bytes:
    """Return a batch with a valid checksum over invalid records or compressed bytes."""
    codec = draw.choice(list(Compression))
    sound = build_batch(
        some_records(draw, draw.choice([1, 2, 5]), size=300), timestamp_type=draw.choice([0, 1]), timestamp_ms=99
    )
    head, body = bytearray(sound[21:61]), sound[61:]
    if draw.random() < 0.6:
        body = compress(codec, mutate(draw, body))
    else:
        body = mutate(draw, compress(codec, body))
    head[1] = head[1] & ~7 | codec
    if draw.random() < 0.1:
        struct.pack_into(">i", head, 36, draw.choice([0, 1, 2, 3, -1, 6, 2**31 - 1]))
    return frame_batch(bytes(head) + body, base_offset=100, partition_leader_epoch=3)


def broken_message(draw: random.Random) -> bytes:
    magic, codec = draw.choice([0, 1]), draw.choice(list(Compression)[:4])
    records = some_records(draw, draw.choice([1, 2, 4]), size=300, headers=False)
    if codec is Compression.NONE:
        message = bytearray(mutate(draw, build_message(records[0], magic=magic, offset=5)))
        if len(message) > 20:
            struct.pack_into(">i", message, 8, len(message) - 12)
            struct.pack_into(">I", message, 12, zlib.crc32(bytes(message[16:])))
        return bytes(message)
    inside = build_message_set(records, magic=magic)
    packed = compress(codec, mutate(draw, inside) if draw.random() < 0.5 else inside)
    if draw.random() < 0.5:
        packed = mutate(draw, packed)
    return build_message(
        RecordData(None, packed, (), 55),
        magic=magic,
        offset=draw.choice([0, 1, 2, 3, 100]),
        attributes=codec | draw.choice([0, 8]),
    )


def test_broken_bytes_are_read_as_the_jvm_reads_them_or_refused(tmp_path: Path, kafka_class_path: str) -> None:
    draw = random.Random(3)
    datas = [broken_batch(draw) if draw.random() < 0.7 else broken_message(draw) for _ in range(2000)]
    accepted = 0
    for data, theirs in zip(datas, read_by_jvm(datas, tmp_path, kafka_class_path), strict=True):
        ours = read_by_us(data)
        if not ours or not ours[-1].startswith("E"):
            assert ours == theirs, data.hex()
            accepted += 1
    assert accepted > 50


def foreign(raw: bytes) -> list[tuple[Compression, bytes]]:
    """Return `raw` compressed like other clients may, and in ways that are nearly valid."""
    half = len(raw) // 2
    ended = gzip.compress(b"")
    found = [(Compression.GZIP, gzip.compress(raw[:half]) + ended + gzip.compress(raw[half:]))]
    sound = gzip.compress(raw)
    found += [(Compression.GZIP, sound + tail) for tail in (b"", b"junk", b"\x1f\x8b\x08", ended[:-1], bytes(30))]
    sound = compress(Compression.SNAPPY, raw)
    block = bytes(cramjam.snappy.compress_raw(raw))
    found.append((Compression.SNAPPY, block))
    found += [(Compression.SNAPPY, sound + tail) for tail in (sound[:16], sound[:9], b"\0\0", bytes(4), b"\0\0\0\1\0")]
    found.append((Compression.SNAPPY, sound[:16] + bytes(4) + sound[16:]))
    for flags in ({"block_checksum": True}, {"content_checksum": True}, {"store_size": False}, {"block_linked": True}):
        packed = lz4.frame.compress(raw, **{"block_linked": False, **flags})
        found += [(Compression.LZ4, packed), (Compression.LZ4, packed + packed), (Compression.LZ4, packed[:-1])]
    sound = compress(Compression.LZ4, raw)
    found.append((Compression.LZ4, sound[:4] + bytes.fromhex("6140 01020304 fd") + sound[7:]))  # Names a dictionary.
    sound = zstandard.compress(raw)
    skipped = bytes.fromhex("502a4d18 03000000 aabbcc")
    parts = zstandard.compress(raw[:half]) + compress(Compression.ZSTD, raw[half:])
    found += [
        (Compression.ZSTD, packed) for packed in (sound, parts, skipped + sound + skipped, sound + b"\0", sound[:-1])
    ]
    return found


def test_data_of_other_compressors_is_read_as_in_the_jvm_or_refused(tmp_path: Path, kafka_class_path: str) -> None:
    draw = random.Random(4)
    datas = []
    for magic in (0, 1, 2):
        records = some_records(draw, 5, size=300, headers=False)
        sound = build_batch(records) if magic == 2 else build_message_set(records, magic=magic)
        for codec, packed in foreign(sound[61:] if magic == 2 else sound):
            if magic == 2:
                head = bytearray(sound[21:61])
                head[1] |= codec
                datas.append(frame_batch(bytes(head) + packed, base_offset=7, partition_leader_epoch=3))
            elif codec is not Compression.ZSTD:
                datas.append(build_message(RecordData(None, packed), magic=magic, offset=50, attributes=codec))
    read = 0
    for data, theirs in zip(datas, read_by_jvm(datas, tmp_path, kafka_class_path), strict=True):
        ours = read_by_us(data)
        if not ours[-1].startswith("E"):
            assert ours == theirs, data.hex()
            read += 1
    assert read > len(datas) // 3
