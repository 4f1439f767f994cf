"""Partition folders that the JVM's own log classes open, clean and close, and the resulting files."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.state_files import LOG_SUFFIX, file_name
from kmirror.log.store import CLEANER_OFFSET, CLEANER_RUN, HIGH_WATERMARK, LOG_START_OFFSET, RECOVERY_POINT
from tests.interop.jvm import java

PROGRAM = Path(__file__).with_name("KafkaLogs.java")
NOT_IN_THE_FOLDER = {CLEANER_OFFSET, CLEANER_RUN, HIGH_WATERMARK, LOG_START_OFFSET, RECOVERY_POINT}
Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Job:
    """One partition to open, after a clean or an unclean shutdown, to change, and optionally to clean.

    Deeds are "cut" to an offset, "restart" at an offset, raise the log "start" to an offset, and "retain".
    """

    tp: TopicPartition
    store: MemoryStore
    config: LogConfig
    now_ms: int
    log_start: int = 0
    clean_shutdown: bool = False
    compacts: bool = False
    deeds: tuple[str, ...] = ()

    def fork(self, **changes: object) -> Job:
        return replace(self, **({"store": self.store.fork()} | changes))  # type: ignore[arg-type]


def files_of(store: MemoryStore) -> Files:
    """Return the files of the folder."""
    found = {name: store.read_file(name) or b"" for name in store.files() if name not in NOT_IN_THE_FOLDER}
    found |= {file_name(base, LOG_SUFFIX): bytes(store.view(base)) for base in store.segments()}
    return found


def by_us(job: Job) -> tuple[str, Files]:
    """Run the job; return log start, log end and the cleaner's offset, and the resulting files."""
    job.store.write_file(LOG_START_OFFSET, b"%d" % job.log_start)
    log = PartitionLog.open(
        job.tp,
        job.store,
        job.config,
        now_ms=job.now_ms,
        repair=not job.clean_shutdown,
        recovery_point=CLEAN_SHUTDOWN if job.clean_shutdown else 0,
    )
    log.update_high_watermark(log.log_end_offset)
    for deed in job.deeds:
        _do(log, deed, job.now_ms)
    end = -1
    if job.compacts:
        done = log.compact(job.now_ms)
        end = 0 if done is None else done.end_offset
    answer = f"{log.log_start_offset} {log.log_end_offset} {end}"
    log.close()
    return answer, files_of(job.store)


def _do(log: PartitionLog, deed: str, now_ms: int) -> None:
    match deed.split():
        case ["cut", offset]:
            log.truncate_to(int(offset))
        case ["restart", offset]:
            log.truncate_fully_and_start_at(int(offset))
        case ["start", offset]:
            log.advance_log_start(int(offset))
        case ["retain"]:
            log.delete_old_segments(now_ms)
        case _:
            raise AssertionError(deed)


def by_jvm(jobs: Sequence[Job], folder: Path, class_path: str) -> Iterator[tuple[str, Files]]:
    """Run the jobs; yield the same for each, or an exception in place of the offsets."""
    lines = [_line(job, folder / str(number)) for number, job in enumerate(jobs)]
    folder.mkdir(exist_ok=True)
    quiet = folder / "log4j2.xml"
    quiet.write_text('<Configuration><Loggers><Root level="OFF"/></Loggers></Configuration>')
    command = java(class_path, PROGRAM, "-Xmx512m", f"-Dlog4j2.configurationFile={quiet}")
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    answers = [line[2:] for line in done.stdout.splitlines() if line.startswith("A\t")]
    assert len(answers) == len(jobs), done.stderr[-2000:]
    for number, (job, answer) in enumerate(zip(jobs, answers, strict=True)):
        place = folder / str(number) / str(job.tp)
        left = {path.name: path.read_bytes() for path in place.iterdir() if path.suffix != ".deleted"}
        yield answer.replace("\t", " "), left


def _line(job: Job, folder: Path) -> str:
    place = folder / str(job.tp)
    place.mkdir(parents=True)
    for name, data in files_of(job.store).items():
        (place / name).write_bytes(data)
    config = job.config
    configs = {
        "internal.segment.bytes": config.segment_bytes,
        "segment.index.bytes": config.segment_index_bytes,
        "index.interval.bytes": config.index_interval_bytes,
        "delete.retention.ms": config.delete_retention_ms,
        "retention.ms": config.retention_ms,
        "min.compaction.lag.ms": config.min_compaction_lag_ms,
        "cleanup.policy": "compact" if config.compact else "delete",
        "producer.id.expiration.ms": config.producer_id_expiration_ms,
    }
    # Without an earlier run the cleaner begins at the log start.
    cleaner = (job.store.read_file(CLEANER_OFFSET) or b"").decode() if job.compacts else "-"
    shutdown = "clean" if job.clean_shutdown else "unclean"
    pairs = ";".join(f"{key}={value}" for key, value in configs.items())
    deeds = ";".join(job.deeds)
    return "\t".join([str(place), str(job.now_ms), "0", str(job.log_start), shutdown, pairs, cleaner, deeds])


def segments_alone(store: MemoryStore) -> MemoryStore:
    return MemoryStore.from_files({base: bytes(store.view(base)) for base in store.segments()}, {})


def differing(ours: Files, theirs: Files) -> list[str]:
    return [name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)]
