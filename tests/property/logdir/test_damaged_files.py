"""Each file of a log folder, truncated or with a flipped bit: read, or refused in one line that names a file.

A sample of the damages; with KMIRROR_EVERY_DAMAGE=1 every length and every bit, which takes half an hour. Then
KMIRROR_DAMAGE_PART=N/M runs the N-th of M parts of them.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch, KmirrorError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.logdir.consume import ConsumeQuery, consume
from kmirror.logdir.faults import Tally
from kmirror.logdir.load import read_log_dirs
from kmirror.logdir.partition import open_partition
from kmirror.logdir.verify.partition import open_job, verify
from kmirror.records import Compression, RecordData, build_batch, iter_batches, layout
from kmirror.records.build import frame_batch
from tests.builders import NOW_MS
from tests.property.logdir.damaged import Damage, build_folder, every_damage, read_with_all_tools

EVERY = os.environ.get("KMIRROR_EVERY_DAMAGE") == "1"
PART, PARTS = map(int, os.environ.get("KMIRROR_DAMAGE_PART", "1/1").split("/"))
SAMPLED = 12
NAMES_A_FILE = re.compile(
    r"[0-9]{20}\.\w+|[-0-9]{31}\.checkpoint|bootstrap\.checkpoint|-checkpoint|partition\.metadata|meta\.properties"
)
DAMAGED_KINDS = {
    ".log",
    ".index",
    ".timeindex",
    ".txnindex",
    ".snapshot",
    ".checkpoint",
    ".metadata",
    ".properties",
    "leader-epoch-checkpoint",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
}


def chosen(path: Path) -> Iterator[Damage]:
    damages = list(every_damage(path))
    if EVERY:
        yield from damages[PART - 1 :: PARTS]
        return
    draw = random.Random(path.name)
    yield from draw.sample(damages, min(SAMPLED, len(damages)))


def test_every_file_is_checked_truncated_and_with_a_flipped_bit(tmp_path: Path) -> None:
    original = build_folder(tmp_path / "original")
    top = Path(shutil.copytree(original, tmp_path / "damaged"))
    paths = sorted(path for path in top.rglob("*") if path.is_file())
    assert {path.suffix or path.name for path in paths} == DAMAGED_KINDS
    assert set(read_with_all_tools(top, top / "txns-0" / f"{6:020d}.log", original).values()) == {""}
    refused = looked = 0
    nameless = []
    for path in paths:
        data = path.read_bytes()
        for damage in chosen(path):
            path.write_bytes(damage.apply(data))
            for how, told in read_with_all_tools(top, path, original).items():
                if told and not NAMES_A_FILE.search(told):
                    nameless.append((how, damage, told))
                refused += bool(told)
                looked += 1
        path.write_bytes(data)
    print(f"looked {looked} times, refused {refused} times")
    assert nameless == []
    assert 0 < refused < looked


# -- memory -----------------------------------------------------------------------------------


def peak_of(work: Callable[[], object]) -> int:
    """Return the peak of allocated bytes while `work` is run, or refused."""
    tracemalloc.start()
    try:
        work()
    except KmirrorError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


MIB = 1 << 20


def large_segment(codec: Compression = Compression.NONE) -> bytes:
    """Return a MiB of batches that no codec compresses much."""
    draw = random.Random(1)
    batches = []
    while sum(map(len, batches)) < MIB:
        records = [RecordData(b"k", draw.randbytes(1000), (), NOW_MS) for _ in range(30)]
        offset = 30 * len(batches)
        batches.append(build_batch(records, base_offset=offset, partition_leader_epoch=0, compression=codec))
    return b"".join(batches)


def readers(folder: Path) -> dict[str, Callable[[], object]]:
    tp = TopicPartition("t", 0)
    path = folder / f"{0:020d}.log"

    def open_log(repair: bool) -> None:
        store = MemoryStore.from_files({0: path.read_bytes()}, {})
        PartitionLog.open(tp, store, LogConfig(), now_ms=NOW_MS, repair=repair)

    def walk() -> None:
        tally = Tally(lambda fault: None)
        verify(open_job(folder, tally), tally, decodes=True)

    def cat() -> None:
        for _ in consume(open_partition(folder), ConsumeQuery(to_end=True)):
            pass

    return {
        "open": lambda: open_log(False),
        "repair": lambda: open_log(True),
        "verify": walk,
        "cat": cat,
        "read_log_dirs": lambda: read_log_dirs(folder.parent),
    }


def with_field(data: bytes, at: int, value: bytes, *, sealed: bool) -> bytes:
    """Put `value` at byte `at` of the first batch; `sealed` corrects the checksum."""
    first = next(iter_batches(data))
    head = bytearray(first.view)
    rest = data[len(head) :]
    head[at : at + len(value)] = value
    if not sealed:
        return bytes(head) + rest
    return frame_batch(bytes(head[layout.ATTRIBUTES_AT :]), base_offset=0, partition_leader_epoch=0) + rest


HUGE = (0x7FFF_FFFF).to_bytes(4, "big")
# A record's length, then the length of its key as a varint of two billion.
HUGE_VARINT = b"\xfe\xff\xff\xff\x0f"
HOSTILE = {
    "length": (layout.BATCH_LENGTH_AT, HUGE, False),
    "last offset delta": (layout.LAST_OFFSET_DELTA_AT, HUGE, True),
    "record count": (layout.RECORDS_AT - 4, HUGE, True),
    "record length": (layout.RECORDS_AT, HUGE_VARINT, True),
    "key length": (layout.RECORDS_AT + 5, HUGE_VARINT, True),
    "attributes": (layout.ATTRIBUTES_AT, b"\0\4", True),
}


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.ZSTD])
@pytest.mark.parametrize("field", [None, *HOSTILE])
def test_no_memory_beyond_four_times_the_segment(field: str | None, codec: Compression, tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    data = large_segment(codec)
    if field is not None:
        at, value, sealed = HOSTILE[field]
        data = with_field(data, at, value, sealed=sealed)
    (folder / f"{0:020d}.log").write_bytes(data)
    for work in readers(folder).values():
        work_quietly(work)  # Imports during the work do not count.
    for name, work in readers(folder).items():
        assert peak_of(work) < 4 * len(data), name


def work_quietly(work: Callable[[], object]) -> None:
    try:
        work()
    except KmirrorError:
        pass


@pytest.mark.parametrize("codec", [codec for codec in Compression if codec is not Compression.NONE])
def test_a_compression_bomb_is_refused_before_its_memory_is_allocated(codec: Compression) -> None:
    zeros = build_batch([RecordData(None, bytes(64 * MIB), (), NOW_MS)], compression=codec)
    batch = next(iter_batches(zeros))
    limit = 2 * MIB

    def inflate() -> None:
        with pytest.raises(CorruptBatch, match=f"limit of {limit} bytes"):
            batch.payload(limit=limit)

    assert peak_of(inflate) < 4 * limit
