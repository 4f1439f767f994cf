"""One partition's log, kept by kmirror and by the JVM in separate folders, and the comparison of both."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LONG_MAX, LogConfig
from kmirror.log.partition_log import (
    CLEAN_SHUTDOWN,
    AppendOrigin,
    LogAppendError,
    OffsetOutOfRange,
    OffsetsOutOfOrder,
    PartitionLog,
    UnexpectedAppendOffset,
)
from kmirror.log.producer_entry import ProducerEntry
from kmirror.log.segment import place_at
from kmirror.log.state_files import (
    INDEX_SUFFIX,
    LOG_SUFFIX,
    SNAPSHOT_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    encode_aborted,
    file_name,
)
from kmirror.log.store import (
    CLEANER_OFFSET,
    HIGH_WATERMARK,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_OFFSET,
    RECOVERY_POINT,
)
from kmirror.logdir.store import FileStore, LogFolder
from kmirror.records import Compression
from kmirror.records.layout import LEGACY_LENGTH_MIN, LOG_OVERHEAD, TimestampType
from kmirror.records.legacy import iter_any_batches
from tests.interop.jvm import java
from tests.interop.sequences.damage import apply

PROGRAM = Path(__file__).with_name("LogSteps.java")
TP = TopicPartition("t", 0)
EPOCHS_ASKED = 40
EPOCHS_PART = 5  # Field of a response to "ask".
NAMED_TIMES = (-1, -2, -3, -4, -5, -6)
ISOLATIONS = ("LOG_END", "HIGH_WATERMARK", "TXN_COMMITTED")
_DELETED_SUFFIX = ".deleted"


class Step(NamedTuple):
    """A deed and its time; it can be done to any log, in any state.

    lead (epoch, origin, transaction version, batch)     append as leader; follow (epoch, batches), as follower
    elect (epoch)     mark (high watermark)     start (offset)     cut (offset)     restart (offset)
    retain     expire     config (LogConfig)     flush     keep (the checkpoints)     clean (keys that it has room for)
    reopen ("clean" or "unclean", suffixes of the lost files, and of those with a changed last byte,
            damage of the files by an unclean end, see damage.py)
    """

    now_ms: int
    deed: str
    words: tuple[Any, ...] = ()


class Jvm:
    """A JVM that keeps one log at a time."""

    def __init__(self, class_path: str, folder: Path) -> None:
        quiet = folder / "log4j2.xml"
        quiet.write_text('<Configuration><Loggers><Root level="OFF"/></Loggers></Configuration>')
        command = java(class_path, PROGRAM, "-Xmx512m", f"-Dlog4j2.configurationFile={quiet}")
        self._errors = (folder / "stderr").open("wb")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )

    def ask(self, now_ms: int, *words: object) -> str:
        """Return the answer to one line."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write("\t".join(map(str, (now_ms, *words))) + "\n")
        stdin.flush()
        answer = stdout.readline()
        assert answer, Path(self._errors.name).read_text("utf-8", "replace")[-3000:]
        return answer[:-1]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()


class Unreadable(Exception):
    """Neither of the two can read the folder, so the sequence cannot continue."""


class Difference(AssertionError):
    """The logs differ."""


def properties(config: LogConfig) -> str:
    """Return the config with Kafka's names."""
    codec = config.compression_type
    name = "producer" if codec is None else "uncompressed" if codec is Compression.NONE else codec.name.lower()
    stamps = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
    configs = {
        "internal.segment.bytes": config.segment_bytes,
        "segment.ms": config.segment_ms,
        "segment.jitter.ms": 0,
        "segment.index.bytes": config.segment_index_bytes,
        "index.interval.bytes": config.index_interval_bytes,
        "max.message.bytes": config.max_message_bytes,
        "compression.type": name,
        "message.timestamp.type": "LogAppendTime" if stamps else "CreateTime",
        "message.timestamp.before.max.ms": config.message_timestamp_before_max_ms,
        "message.timestamp.after.max.ms": config.message_timestamp_after_max_ms,
        "cleanup.policy": ",".join(["compact"] * config.compact + ["delete"] * config.delete),
        "retention.ms": config.retention_ms,
        "retention.bytes": config.retention_bytes,
        "delete.retention.ms": config.delete_retention_ms,
        "min.compaction.lag.ms": config.min_compaction_lag_ms,
    }
    return ";".join(f"{key}={value}" for key, value in configs.items())


class BothLogs:
    """Does every step to both, and compares their states."""

    def __init__(self, jvm: Jvm, folder: Path, config: LogConfig, now_ms: int) -> None:
        self._jvm = jvm
        self._folder = folder
        self._config = config
        self._has_other_transactions = self._has_crashed = False
        self._theirs = folder / "theirs" / str(TP)
        self._theirs.parent.mkdir(parents=True)
        self.log = self._open(now_ms, "clean")
        self.compare(now_ms)

    @property
    def _ours(self) -> Path:
        return self._folder / "ours" / str(TP)

    def _open(self, now_ms: int, shutdown: str) -> PartitionLog:
        self._shared = LogFolder(self._folder / "ours")
        store = self._shared.open(TP)
        starts = [_offset(store, name) for name in (LOG_START_OFFSET, RECOVERY_POINT, HIGH_WATERMARK)]
        theirs = self._jvm.ask(
            now_ms,
            "open",
            self._theirs,
            properties(self._config),
            *starts,
            shutdown,
            self._config.producer_id_expiration_ms,
        )
        for path in self._ours.glob("*" + LOG_SUFFIX):  # LogSteps.java does the same: the files are as old as the log.
            os.utime(path, ns=(now_ms * 1_000_000, now_ms * 1_000_000))
        recovery_point = CLEAN_SHUTDOWN if shutdown == "clean" else starts[1]
        repair = shutdown == "unclean"
        try:
            log = PartitionLog.open(
                TP, store, self._config, now_ms=now_ms, repair=repair, recovery_point=recovery_point
            )
        except CorruptBatch as error:
            if theirs.startswith("!"):
                raise Unreadable from error
            raise Difference(f"open: {error}") from error
        _same("open", "done", theirs)
        return log

    def do(self, step: Step) -> str:
        """Do the step to both and return the result; raises Difference."""
        # By a truncation or in a new life the JVM forgets offsets that are decided but not replicated, and until the
        # high watermark moves next it treats replicated ones as not replicated.
        is_settled = step.deed == "mark" and not self.log.producers.unreplicated
        self._has_other_transactions = step.deed in ("cut", "reopen") or (
            self._has_other_transactions and not is_settled
        )
        if step.deed == "reopen":
            self._reopen(step)
            outcome = "done"
        else:
            outcome = self._do(step)
        self.compare(step.now_ms)
        return outcome

    def _do(self, step: Step) -> str:
        words = list(step.words)
        if step.deed == "clean" and self._has_other_transactions:
            return "the cleaner gets less far here"
        if step.deed == "config":
            self._config = words[0]
            words = [properties(words[0])]
        elif step.deed in ("lead", "follow"):
            words[-1] = base64.b64encode(words[-1]).decode()
        elif step.deed == "clean":
            known = self.log.store.read_file(CLEANER_OFFSET)
            words.insert(0, "" if known is None else known.decode())
        self.log.now_ms = step.now_ms
        if step.deed == "cut":
            theirs = self._cut(step.now_ms, words[0])
        else:
            theirs = self._jvm.ask(step.now_ms, step.deed, *words)
        try:
            ours = _DEEDS[step.deed](self.log, step)
        except LogAppendError as error:
            ours = f"!{error.code.name}"
        except OffsetOutOfRange:
            ours = "!OFFSET_OUT_OF_RANGE"
        except OffsetsOutOfOrder:
            ours = "!OffsetsOutOfOrderException"
        except UnexpectedAppendOffset:
            ours = "!UnexpectedAppendOffsetException"
        except CorruptBatch as error:
            ours = f"!CORRUPT_MESSAGE\t{error}"
        if theirs.startswith("!") and ours.startswith("!"):
            name = theirs.split("\t")[0]
            if step.deed == "follow" and name in ("!INVALID_TXN_STATE", "!INVALID_RECORD"):
                name = "!CORRUPT_MESSAGE"  # For any fault in a leader's batches, the sender is at fault.
            if step.deed == "lead" and name == "!IllegalArgumentException":
                name = "!UNKNOWN_SERVER_ERROR"  # The error that a client gets.
            if step.deed not in ("lead", "follow", "start"):
                raise Unreadable(f"{ours} {theirs}")
            _same("refusal", ours.split("\t")[0], name)
            return ours
        if step.deed == "clean" and "Empty batches are only supported for magic v2" in theirs:
            raise Unreadable(theirs)  # A cleaner of the JVM that ends its run with an old message stops there for ever.
        _same("outcome", ours, theirs)
        return ours

    def _cut(self, now_ms: int, offset: int) -> str:
        """Truncate the JVM's log where kmirror's ends then (D47): where a batch begins, or at the name of a segment."""
        log, start = self.log, min(self.log.log_start_offset, offset)
        end, kept = offset, 0
        if log.segment_base_offsets[0] <= offset < log.log_end_offset:
            for batch in (batch for segment in log.segments for batch in iter_any_batches(segment.view())):
                if batch.last_offset >= offset:
                    end = max(kept, min(batch.base_offset, offset))
                    break
                kept = batch.next_offset
            kept = max(kept, *(base for base in log.segment_base_offsets if base <= end))
        if end < start:
            _same("restart", "done", self._jvm.ask(now_ms, "restart", start))
            return "true"
        theirs = self._jvm.ask(now_ms, "cut", end)
        if kept < end < log.log_end_offset and log.segment_base_offsets[0] <= end:
            _same("roll", "done", self._jvm.ask(now_ms, "roll", end))
        return theirs

    def _reopen(self, step: Step) -> None:
        shutdown, lost, damaged, damages = step.words
        is_clean = shutdown == "clean"
        _same("end", "done", self._jvm.ask(step.now_ms, "close" if is_clean else "crash"))
        self.log.now_ms = step.now_ms
        if is_clean:
            self.log.close()
        else:
            self._has_crashed = True
            # kmirror's finds the lower epochs that the JVM has lost if the log start was not checkpointed.
            self.log.store.write_file(LOG_START_OFFSET, b"%d" % self.log.log_start_offset)
        self._shared.close()
        if is_clean:
            self._compare_folders()
        recovery_point = _offset(self.log.store, RECOVERY_POINT)
        for folder in (self._ours, self._theirs):
            for path in list(folder.iterdir()):
                if path.name.endswith(lost):
                    path.unlink()
                elif path.name.endswith(damaged):
                    data = path.read_bytes()
                    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
            for damage in () if is_clean else damages:
                apply(folder, damage, recovery_point)
        self.log = self._open(step.now_ms, shutdown)
        if not is_clean:
            self._forget_epochs(step.now_ms)

    def _forget_epochs(self, now_ms: int) -> None:
        """kmirror's reads early epochs from the batches, which the JVM may have lost."""
        answer = self._jvm.ask(now_ms, "ask", 0).split("\t")[EPOCHS_PART]
        theirs = [(int(epoch), int(start)) for epoch, start in (pair.split(":") for pair in answer.split())]
        ours = self.log.epochs.entries[-len(theirs) :] if theirs else []
        if ours[1:] == theirs[1:] and [entry.epoch for entry in ours] == [epoch for epoch, _ in theirs]:
            self.log.epochs.replace(theirs)
            self.log.epochs.is_saved = True
            self.log.store.write_file(LEADER_EPOCH_CHECKPOINT, (self._theirs / LEADER_EPOCH_CHECKPOINT).read_bytes())

    # The comparison

    def compare(self, now_ms: int) -> None:
        """Raise Difference unless both have the same state."""
        log = self.log
        times = sorted({*NAMED_TIMES, 0, LONG_MAX, *_times(log)})
        answer = self._jvm.ask(now_ms, "ask", EPOCHS_ASKED, *times)
        assert not answer.startswith("!"), answer
        theirs = answer.split("\t")
        ours = list(_known(log, times))
        if not self._has_other_transactions:
            # If the cleaner removed the first batch of a transaction, the JVM returns the next one.
            stable = log.last_stable_offset
            if str(stable) != theirs[0]:
                stable = next((batch.base_offset for batch in log.any_batches(stable)), log.log_end_offset)
            _same("last stable offset", str(stable), theirs[0])
        for (what, known), other in zip(ours, theirs[1:], strict=True):
            _same(what, known, other)
        for path in self._theirs.iterdir():
            assert path.suffix != _DELETED_SUFFIX, path
        self._compare_segments()
        for name in self._names(SNAPSHOT_SUFFIX):
            _same(name, _bytes(self._ours / name), _bytes(self._theirs / name))
        self._compare_reads(now_ms)

    def _names(self, suffix: str) -> list[str]:
        names = [sorted(path.name for path in folder.glob("*" + suffix)) for folder in (self._ours, self._theirs)]
        _same(f"files {suffix}", *names)
        return names[0]

    def _compare_segments(self) -> None:
        """Index rows in memory here are in a map there; the active segment's has room to grow."""
        self._names(LOG_SUFFIX)
        for segment in self.log.segments:
            is_active = segment is self.log.segments[-1]
            for suffix, rows in (
                (LOG_SUFFIX, bytes(segment.view())),
                (INDEX_SUFFIX, segment.offsets.encode()),
                (TIME_INDEX_SUFFIX, segment.times.encode()),
                (TXN_INDEX_SUFFIX, encode_aborted(segment.aborted)),
            ):
                name = file_name(segment.base_offset, suffix)
                found = _bytes(self._theirs / name) or b""
                if is_active and suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX):
                    found = found[: len(rows)]  # The number of rows was compared before.
                _same(name, rows, found)
                if not is_active and suffix != LOG_SUFFIX:
                    _same(f"{name} in our folder", rows, _bytes(self._ours / name) or b"")

    def _compare_folders(self) -> None:
        """After a clean shutdown every file is the same."""
        if self._has_crashed:  # kmirror writes a transaction index later, so after a crash there may be none.
            for folder in (self._ours, self._theirs):
                for path in folder.glob("*" + TXN_INDEX_SUFFIX):
                    if not path.stat().st_size:
                        path.unlink()
        for name in self._names(""):
            _same(name, _bytes(self._ours / name), _bytes(self._theirs / name))

    def _compare_reads(self, now_ms: int) -> None:
        log, draw = self.log, now_ms
        span = log.log_end_offset - log.log_start_offset
        if span < 0:
            return
        if now_ms % 4 == 0:
            self._compare_read_outside(now_ms, (log.log_start_offset - 1, log.log_end_offset + 1)[now_ms // 4 % 2])
        # If no batch begins at the high watermark, the JVM moves it at the next read below it.
        mark = next((batch.base_offset for batch in log.any_batches(log.high_watermark)), log.log_end_offset)
        is_at_batch = mark == log.high_watermark
        count = 3 - self._has_other_transactions if is_at_batch else 1
        for number, isolation in enumerate(ISOLATIONS[:count]):
            draw = draw * 6364136223846793005 + 1442695040888963407 & 0xFFFF_FFFF_FFFF_FFFF
            offset = log.log_start_offset + (draw >> 20) % (span + 1)
            size, min_one = ((draw >> 8) % 1500, bool(draw >> 6 & 1)) if draw >> 5 & 1 else (1 << 20, True)
            if draw >> 5 & 6 == 6:
                size = self._size_at_border(offset, draw >> 30)
            ends = (log.log_end_offset, log.high_watermark, log.last_stable_offset)
            found = log.read(offset, max_bytes=size, end_offset=ends[number], min_one=min_one)
            theirs = self._jvm.ask(now_ms, "read", offset, size, isolation, str(min_one).lower())
            assert not theirs.startswith("!"), (offset, size, isolation, min_one, theirs)
            text, aborted = theirs.split("\t")
            records = _complete_batches(base64.b64decode(text))
            _same(f"read {offset} {size} {isolation} {min_one}", bytes(found.records), records)
            if isolation == "TXN_COMMITTED" and found.records:
                rows = log.aborted_transactions(offset, found.end_offset)
                ours = [f"{row.producer_id}:{row.first_offset}" for row in rows]
                pairs = [pair for pair in aborted.split(",") if pair]
                near = [pair for pair in pairs if int(pair.split(":")[1]) < found.end_offset]
                _same(f"aborted transactions from {offset} to {found.end_offset}", ours, near)

    def _compare_read_outside(self, now_ms: int, offset: int) -> None:
        theirs = self._jvm.ask(now_ms, "read", offset, 1, ISOLATIONS[0], "true").split("\t")[0]
        try:
            ours = bytes(self.log.read(offset, max_bytes=1, end_offset=self.log.log_end_offset).records).hex()
        except OffsetOutOfRange:
            ours = "!OFFSET_OUT_OF_RANGE"
        _same(f"read {offset}", ours, theirs)

    def _size_at_border(self, offset: int, draw: int) -> int:
        """Return the size of some batches from `offset` on, or one byte more or less."""
        batches = islice(self.log.any_batches(offset), 1 + draw % 4)
        return max(sum(batch.size_in_bytes for batch in batches) + draw // 4 % 3 - 1, 0)


def _lead(log: PartitionLog, step: Step) -> str:
    epoch, origin, version, data = step.words
    info = log.append_as_leader(
        data,
        leader_epoch=epoch,
        now_ms=step.now_ms,
        origin=AppendOrigin[origin],
        transaction_version=max(version, 0),
    )
    return f"{info.first_offset}\t{info.last_offset}\t{info.log_append_time}"


def _follow(log: PartitionLog, step: Step) -> str:
    epoch, data = step.words
    info = log.append_as_follower(data, max_epoch=epoch, now_ms=step.now_ms)
    return f"{info.first_offset}\t{info.last_offset}\t{info.max_timestamp}\t{info.bytes}"


def _quiet(done: object) -> str:
    return "done"


def _config(log: PartitionLog, step: Step) -> str:
    log.config = step.words[0]
    return "done"


def _clean(log: PartitionLog, step: Step) -> str:
    done = log.compact(step.now_ms, keys_max=step.words[0])
    return "-1" if done is None else str(done.end_offset)


_DEEDS: dict[str, Callable[[PartitionLog, Step], str]] = {
    "lead": _lead,
    "follow": _follow,
    "elect": lambda log, step: _quiet(log.assign_epoch_start(step.words[0])),
    "mark": lambda log, step: str(log.update_high_watermark(step.words[0])),
    "start": lambda log, step: str(log.advance_log_start(step.words[0])).lower(),
    "cut": lambda log, step: str(log.truncate_to(step.words[0])).lower(),
    "restart": lambda log, step: _quiet(log.truncate_fully_and_start_at(step.words[0])),
    "retain": lambda log, step: str(log.delete_old_segments(step.now_ms)),
    "expire": lambda log, step: _quiet(log.remove_expired_producers(step.now_ms)),
    "config": _config,
    "flush": lambda log, step: _quiet(log.flush()),
    "keep": lambda log, step: _quiet(log.write_checkpoints()),
    "clean": _clean,
}


def _known(log: PartitionLog, times: Iterable[int]) -> Iterable[tuple[str, str]]:
    """Return the state of the log, with the order and names of LogSteps.java."""
    marks = [
        log.log_start_offset,
        log.high_watermark,
        log.log_end_offset,
        log.recovery_point,
    ]
    yield "start, high watermark, end, recovery point", " ".join(map(str, marks))
    yield (
        "segments",
        " ".join(
            f"{one.base_offset}:{one.size}:{len(one.offsets)}:{len(one.times)}:{one.max_timestamp}:{one.max_timestamp_offset}"
            for one in log.segments
        ),
    )
    yield "producers", " ".join(_producer(entry) for _, entry in sorted(log.producers.entries.items()))
    yield "end of the producers", str(log.producers.map_end_offset)
    yield "epochs", " ".join(f"{epoch}:{start}" for epoch, start in log.epochs.entries)
    ends = (log.end_offset_for_epoch(epoch) for epoch in range(-1, EPOCHS_ASKED + 1))
    yield "ends of epochs", " ".join(f"{end.epoch}:{end.end_offset}" for end in ends)
    found = ((time, log.offset_for_timestamp(time)) for time in times)
    answers = [f"{one.timestamp}:{one.offset}:{one.leader_epoch}" if one else "-" for _, one in found]
    yield f"offsets of times {times}", " ".join(answers)


def _producer(entry: ProducerEntry) -> str:
    batches = ",".join(f"{b.last_sequence}/{b.last_offset}/{b.offset_delta}/{b.timestamp}" for b in entry.batches)
    return (
        f"{entry.producer_id}:{entry.producer_epoch}:{entry.coordinator_epoch}:{entry.last_timestamp}:"
        f"{entry.txn_first_offset}:{batches}"
    )


def _times(log: PartitionLog) -> list[int]:
    """Return timestamps around those in the log."""
    found = [segment.max_timestamp for segment in log.segments[-3:]]
    found += [time for segment in log.segments[-2:] for time in segment.times.timestamps[-2:]]
    found += [segment.first_timestamp for segment in log.segments[:1]]
    return [min(time + delta, LONG_MAX) for time in found if time > 0 for delta in (-700, 0, 1)]


def _complete_batches(data: bytes) -> bytes:
    view, position = memoryview(data), 0
    while len(data) - position >= LOG_OVERHEAD + LEGACY_LENGTH_MIN:
        end = place_at(view, position).end_position
        if end > len(data):
            break
        position = end
    return data[:position]


def _offset(store: FileStore, name: str) -> int:
    return int(store.read_file(name) or b"0")


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _same(what: str, ours: object, theirs: object) -> None:
    if ours != theirs:
        raise Difference(f"{what}:\n  ours   {_short(ours)}\n  theirs {_short(theirs)}")


def _short(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) < 1200 else f"{text[:1200]}... ({len(text)})"
