"""The JVM's log classes and kmirror's leave the same files: opened, repaired, truncated, emptied, cleaned, repeatedly.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import random
from pathlib import Path

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import DAY_MS, LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import AppendOrigin, LogAppendError, PartitionLog
from kmirror.log.state_files import SNAPSHOT_SUFFIX, encode_snapshot
from kmirror.log.store import RECOVERY_POINT
from kmirror.records import Batch, Compression, RecordData, build_batch, iter_batches, layout
from kmirror.records.control import end_txn_marker
from tests.golden.log.folders import Folder, sample
from tests.interop.cleaner.jvm_logs import Files, Job, by_jvm, by_us, differing, segments_alone

NOW_MS = 1_700_000_000_000
CONFIG = LogConfig(
    segment_bytes=2_000, index_interval_bytes=200, segment_index_bytes=16_384, compact=True, delete=False
)
EMPTY = (b"", encode_snapshot([]))
# A folder of Kafka 2.1 has old messages; the current JVM code indexes fewer of them than 2.1 did.
FOLDERS = [folder for folder in sample() if not folder.name.startswith("__cluster_metadata")]


def written(seed: int, *, keys: int, batches: int, config: LogConfig = CONFIG) -> tuple[MemoryStore, PartitionLog]:
    """Return a log with plain, idempotent and transactional batches of several producers, some still open."""
    draw = random.Random(seed)
    store = MemoryStore()
    log = PartitionLog.open(TopicPartition("t", 0), store, config, now_ms=NOW_MS)
    sequences: dict[int, int] = {}
    open_transactions: set[int] = set()
    epoch = 0
    for number in range(batches):
        now = NOW_MS + number
        epoch += draw.random() < 0.05
        pid = draw.choice([-1, -1, 7, 1_000_000_007, *range(16, 16 + batches // 8)])
        if pid in open_transactions and draw.random() < 0.4:
            end = end_txn_marker(
                base_offset=0,
                leader_epoch=0,
                timestamp_ms=now,
                producer_id=pid,
                producer_epoch=0,
                commit=draw.random() < 0.5,
                coordinator_epoch=0,
            )
            log.append_as_leader(end, leader_epoch=epoch, now_ms=now, origin=AppendOrigin.COORDINATOR)
            open_transactions.discard(pid)
            continue
        records = [
            RecordData(
                b"k%d" % draw.randrange(keys),
                draw.choice([None, b"v" * draw.randrange(60), b"v" * draw.randrange(60)]),
                [("h", None)] * draw.randrange(2),
                NOW_MS - draw.randrange(5_000),
            )
            for _ in range(draw.randrange(1, 6))
        ]
        transactional = pid > 0 and (pid in open_transactions or draw.random() < 0.4)
        batch = build_batch(
            records,
            compression=draw.choice(list(Compression)),
            producer_id=pid,
            producer_epoch=0 if pid >= 0 else -1,
            base_sequence=sequences.get(pid, 0) if pid >= 0 else -1,
            is_transactional=transactional,
        )
        try:
            log.append_as_leader(batch, leader_epoch=epoch, now_ms=now)
        except LogAppendError as error:
            raise AssertionError(f"batch {number} of producer {pid}") from error
        sequences[pid] = sequences.get(pid, 0) + len(records)
        if transactional:
            open_transactions.add(pid)
    log.update_high_watermark(log.log_end_offset)
    log.close()
    return store, log


def compare(jobs: list[Job], folder: Path, class_path: str) -> list[tuple[str, Files]]:
    """Assert that both leave the same files; return the results."""
    left = []
    for job, (answer, theirs) in zip(jobs, by_jvm(jobs, folder, class_path), strict=True):
        ours = by_us(job)
        assert ours[0] == answer, job.tp
        assert differing(ours[1], theirs) == [], job.tp
        left.append(ours)
    return left


def job_of(folder: Folder) -> Job:
    files = {name: data for name, data in folder.files().items() if not name.endswith("partition.metadata")}
    store = MemoryStore.from_files({int(path.stem): path.read_bytes() for path in folder.path.glob("*.log")}, files)
    config = folder.config(segment_index_bytes=16_384)
    return Job(folder.tp, store, config, folder.opened_ms, log_start=folder.log_start or 0)


def test_a_broker_s_folders_opened_as_after_each_kind_of_shutdown(tmp_path: Path, log_class_path: str) -> None:
    jobs = [job_of(folder) for folder in FOLDERS]
    jobs += [job.fork(clean_shutdown=True) for job in jobs if job.log_start < max(job.store.segments())]
    jobs += [job.fork(store=segments_alone(job.store)) for job in jobs if not job.clean_shutdown]
    compare(jobs, tmp_path, log_class_path)


def test_a_damaged_segment_costs_both_the_same(tmp_path: Path, log_class_path: str) -> None:
    draw = random.Random(4)
    stores = [written(seed, keys=30, batches=80)[0] for seed in range(4)]
    jobs = []
    for _ in range(150):
        store = draw.choice(stores)
        segments = {base: bytearray(store.view(base)) for base in store.segments()}
        data = segments[draw.choice(sorted(segments))]
        match draw.randrange(4):
            case 0:
                del data[draw.randrange(len(data)) :]
            case 1:
                data += bytes(draw.randrange(1, 90))
            case 2:
                data += draw.randbytes(draw.randrange(1, 90))
            case 3:
                batch = draw.choice(list(iter_batches(data)))
                # Only kmirror detects an offset that does not ascend: the checksum does not cover it.
                at = draw.randrange(layout.BATCH_LENGTH_AT, batch.size_in_bytes)
                position = batch.position + draw.choice([at, at % layout.HEADER_SIZE or layout.BATCH_LENGTH_AT])
                position = max(position, batch.position + layout.BATCH_LENGTH_AT)
                del batch
                data[position] ^= 1 << draw.randrange(8)
        files = {name: store.read_file(name) or b"" for name in store.files() if name != RECOVERY_POINT}
        jobs.append(Job(TopicPartition("t", 0), MemoryStore.from_files(segments, files), CONFIG, NOW_MS))
    compare(jobs, tmp_path, log_class_path)


def test_the_cleaner_run_after_run(tmp_path: Path, log_class_path: str) -> None:
    jobs = []
    for seed, retention, size in ((1, 0, 2_000), (2, 1_500, 2_000), (3, DAY_MS, 4_000), (4, 1_500, 1 << 20)):
        store, _ = written(seed, keys=12, batches=150)
        config = LogConfig(
            segment_bytes=size,
            index_interval_bytes=200,
            segment_index_bytes=16_384,
            delete_retention_ms=retention,
            compact=True,
            delete=False,
        )
        jobs.append(Job(TopicPartition("t", 0), store, config, NOW_MS, clean_shutdown=True, compacts=True))
    sizes: list[list[int]] = [[] for _ in jobs]
    for number, waited in enumerate((1_000, 2_000, 4_000, DAY_MS, 3 * DAY_MS)):
        # As if the cleaner had lost its checkpoint, so that it reads the whole log each time.
        jobs = [job.fork(now_ms=NOW_MS + waited) for job in jobs]
        for job in jobs:
            job.store.delete_file("cleaner-offset")
        for size, (_, files) in zip(sizes, compare(jobs, tmp_path / str(number), log_class_path), strict=True):
            size.append(sum(len(data) for name, data in files.items() if name.endswith(".log")))
    assert all(size[0] > size[-1] for size in sizes), "each had something to drop in later runs"


def deeds(draw: random.Random, start: int, ends: list[int], *, clean_shutdown: bool) -> list[str]:
    """Draw changes in one life of a log whose batches end at `ends`, while retention may delete all of it.

    Batches are truncated as a whole: after a truncation inside one Kafka has another log end until the log is opened
    again (D47). Truncations are only drawn for logs that were read completely: for segments opened by their indexes
    Kafka forgets the maximum timestamp when a truncation removes the last row, and keeps a table without producers if
    none was known.
    """
    found: list[str] = []
    end = max([start, *ends])
    for _ in range(draw.randrange(3)):
        kind = draw.choice(["cut", "restart", "start", "start", "retain"])
        offset = draw.choice([start, end, draw.randint(start, end)])
        if kind == "restart":
            start = end = offset = draw.choice([0, end + 10, draw.randint(0, end)])
            ends = []
        elif kind == "cut":
            if clean_shutdown:
                continue
            offset = draw.choice([end, *(e for e in ends if e <= end)])
            start, end = min(start, offset), offset
        start = max(start, offset) if kind == "start" else start
        found.append(kind if kind == "retain" else f"{kind} {offset}")
    return found


def test_logs_that_are_cut_and_emptied_life_after_life(tmp_path: Path, log_class_path: str) -> None:
    draw, tp = random.Random(1), TopicPartition("t", 0)
    config = LogConfig(segment_bytes=2_000, index_interval_bytes=200, segment_index_bytes=16_384)
    jobs = [Job(tp, MemoryStore(), config, NOW_MS) for _ in range(3)]
    jobs += [Job(tp, written(seed, keys=30, batches=60, config=config)[0], config, NOW_MS) for seed in range(21)]
    starts = [0] * len(jobs)
    empty: set[str] = set()
    for life in range(5):
        lives = []
        for job, start in zip(jobs, starts, strict=True):
            store, is_clean = job.store.fork(), draw.random() < 0.6
            ends = [batch.next_offset for batch in batches_of(store)]
            if draw.random() < 0.3:
                for name in [name for name in store.files() if name.endswith(SNAPSHOT_SUFFIX)]:
                    store.delete_file(name)
            now_ms = NOW_MS + draw.choice([0, 0, 0, 8 * DAY_MS])
            done = tuple(deeds(draw, start, ends, clean_shutdown=is_clean))
            lives.append(job.fork(store=store, now_ms=now_ms, log_start=start, clean_shutdown=is_clean, deeds=done))
        left = compare(lives, tmp_path / str(life), log_class_path)
        jobs, starts = lives, [int(answer.split()[0]) for answer, _ in left]
        empty |= {name.split(".")[-1] for _, files in left for name, data in files.items() if data in EMPTY}
    assert empty == {"index", "leader-epoch-checkpoint", "log", "snapshot", "timeindex", "txnindex"}


def batches_of(store: MemoryStore) -> list[Batch]:
    return [batch for base in store.segments() for batch in iter_batches(store.view(base))]
