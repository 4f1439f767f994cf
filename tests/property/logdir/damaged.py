"""A small log folder with every kind of file, its possible damages, and all of its readers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from click.testing import CliRunner

from kmirror.cli.commands import COMMANDS
from kmirror.cli.group import build
from kmirror.cli.usage_errors import CommandError
from kmirror.errors import KmirrorError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.state_files import encode_partition_metadata
from kmirror.log.store import PARTITION_METADATA
from kmirror.logdir.load import read_log_dirs
from kmirror.logdir.store import LogFolder
from kmirror.records import Compression, RecordData, build_batch
from kmirror.records.legacy import build_message_set
from tests.builders import NOW_MS, idempotent, marker
from tests.unit.log.partitions import follow, lead

SNAPSHOT = Path(__file__).parents[2] / "data/cli/kraft-4.3/data/bootstrap.checkpoint"
CONFIG = LogConfig(
    segment_bytes=800, index_interval_bytes=1, segment_index_bytes=400, producer_id_expiration_ms=1 << 60
)
SECONDS_MAX = 10
_COMMAND = build(COMMANDS)
CODECS = TopicPartition("codecs", 0)
TRANSACTIONS = TopicPartition("txns", 0)
OLD = TopicPartition("old", 0)
METADATA = TopicPartition("__cluster_metadata", 0)


def some_records(count: int = 3) -> list[RecordData]:
    return [
        RecordData(b"k%d" % n, b"some text, some text %d" % n, [("h", b"v"), ("", None)], NOW_MS + n)
        for n in range(count)
    ]


def build_folder(top: Path) -> Path:
    """Write the folder; segments are small, so that each partition has several."""
    folder = LogFolder(top)
    log = PartitionLog.open(CODECS, folder.open(CODECS), CONFIG, now_ms=NOW_MS)
    for codec in Compression:
        log.append_as_leader(build_batch(some_records(), compression=codec), leader_epoch=codec, now_ms=NOW_MS)
    _close(log)
    log = PartitionLog.open(TRANSACTIONS, folder.open(TRANSACTIONS), CONFIG, now_ms=NOW_MS)
    for number in range(4):
        lead(log, idempotent(2 * number, 2, txn=True, size=90))
        lead(log, idempotent(number, pid=20 + number, size=60))
        lead(log, marker(commit=number % 2 == 0), coordinator=True)
    lead(log, idempotent(8, txn=True))
    _close(log)
    log = PartitionLog.open(OLD, folder.open(OLD), CONFIG, now_ms=NOW_MS)
    offset = 0
    for magic in (0, 1):
        for codec in (Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4):
            plain = [RecordData(record.key, record.value, (), record.timestamp) for record in some_records(2)]
            follow(log, build_message_set(plain, magic=magic, base_offset=offset, compression=codec))
            offset = log.log_end_offset
    _close(log)
    (top / str(METADATA)).mkdir()
    (top / str(METADATA) / f"{5:020d}-{1:010d}.checkpoint").write_bytes(SNAPSHOT.read_bytes())
    (top / str(METADATA) / f"{0:020d}.log").write_bytes(SNAPSHOT.read_bytes())
    (top / SNAPSHOT.name).write_bytes(SNAPSHOT.read_bytes())
    lines = "version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\nnode.id=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAg\n"
    (top / "meta.properties").write_text(lines)
    (top / "cleaner-offset-checkpoint").write_text("0\n1\ncodecs 0 6\n")
    (top / "log-start-offset-checkpoint").write_text("0\n1\ncodecs 0 1\n")
    folder.close()
    return top


def _close(log: PartitionLog) -> None:
    log.update_high_watermark(log.log_end_offset)
    log.store.write_file(PARTITION_METADATA, encode_partition_metadata(Uuid.from_ints(7, len(log.tp.topic))))
    log.close()


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage of one file: truncated at byte `cut`, or with bit `bit` flipped."""

    path: Path
    cut: int = -1
    bit: int = -1

    def apply(self, data: bytes) -> bytes:
        if self.cut >= 0:
            return data[: self.cut]
        broken = bytearray(data)
        broken[self.bit >> 3] ^= 1 << (self.bit & 7)
        return bytes(broken)


def every_damage(path: Path) -> Iterator[Damage]:
    size = path.stat().st_size
    yield from (Damage(path, cut=size_left) for size_left in range(size))
    yield from (Damage(path, bit=bit) for bit in range(8 * size))


def read_with_all_tools(top: Path, path: Path, original: Path) -> dict[str, str]:
    """Read the folder with all readers; return the result of each: "" or the one line of its refusal.

    Raises AssertionError for any other end.
    """
    partition = path.parent if path.parent != top else top / str(TRANSACTIONS)
    found = {
        "verify": _command("verify", str(top), "--deep"),
        "diff": _command("diff", str(top), str(original), "--internal"),
        "read_log_dirs": _ended("read_log_dirs", lambda: read_log_dirs(top)),
    }
    if path.suffix in (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint"):
        others = (path.with_suffix(".index"), path.with_suffix(".timeindex"))
        names = [path, *(other for other in others if other.exists())]
        flags = ["--cluster-metadata-decoder"] if "metadata" in path.parent.name or path.parent == top else []
        for name in dict.fromkeys(names):
            found[f"dump {name.suffix}"] = _command("dump-log", "--print-data-log", *flags, "--files", str(name))
    if path.suffix != ".properties":
        found["dissect"] = _command("dissect", str(path))
    if partition.name != str(METADATA):
        for flags in ([], ["--read-committed"], ["--timestamp", str(NOW_MS + 1)]):
            found[f"cat {flags}"] = _command("cat", str(partition), "-o", "json", *flags)
        tp = TopicPartition(partition.name.rpartition("-")[0], 0)
        for recovery_point in (0, CLEAN_SHUTDOWN):
            for repair in (False, True):
                told = _ended("open", partial(_open, top, tp, repair, recovery_point))
                found[f"open {recovery_point} {repair}"] = told
    return found


def _open(top: Path, tp: TopicPartition, repair: bool, recovery_point: int) -> None:
    """Open the log in memory, so that the folder is not changed by a recovery; read all of it."""
    with closing(LogFolder(top)) as folder:
        on_disk = folder.open(tp)
        segments = {base: bytes(on_disk.view(base)) for base in on_disk.segments()}
        store = MemoryStore.from_files(segments, {name: on_disk.read_file(name) or b"" for name in on_disk.files()})
    log = PartitionLog.open(tp, store, CONFIG, now_ms=NOW_MS, repair=repair, recovery_point=recovery_point)
    log.update_high_watermark(log.log_end_offset)
    for batch in log.any_batches():
        assert batch.size_in_bytes > 0
    for timestamp in (-1, -2, -3, NOW_MS + 1):
        log.offset_for_timestamp(timestamp)
    log.aborted_transactions(log.log_start_offset, log.log_end_offset)
    log.read(log.log_start_offset, max_bytes=300, end_offset=log.log_end_offset)


def _ended(name: str, work: Callable[[], object]) -> str:
    started = time.monotonic()
    try:
        work()
        told = ""
    except KmirrorError as error:
        told = str(error)
        assert told and "\n" not in told, (name, told)
    assert time.monotonic() - started < SECONDS_MAX, name
    return told


def _command(name: str, *arguments: str) -> str:
    def run() -> None:
        done = CliRunner().invoke(_COMMAND, [name, *arguments], standalone_mode=False)
        if isinstance(done.exception, CommandError):
            raise KmirrorError(done.exception.message)
        if done.exception is not None:
            raise done.exception

    return _ended(name, run)
