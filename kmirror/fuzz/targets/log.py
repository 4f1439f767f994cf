"""Target: our recovery of a partition's log, opened with one broken file.

The partitions are those of the sample that Kafka 4.3.1 wrote; a frame is one file of one of them. With any bytes in it,
opening the log succeeds or raises `CorruptBatch`. With repair, as after a crash, the log is truncated at the fault; the
rest then opens without repair, and another repair changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.errors import CorruptBatch
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.log_files import FILE_BYTES_MAX, LogFile, LogFileStream
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.target import TAKEN, Stateless, without_numbers
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.log.state_files import LOG_SUFFIX, file_name
from kmirror.logdir.load import PartitionFiles, read_sample

_NOW_MS = 1_800_000_000_000


@dataclass(frozen=True)
class _File:
    """A file of the sample; `base_offset` is that of a segment, None for other files."""

    tp: TopicPartition
    name: str
    data: bytes
    base_offset: int | None


def _files() -> dict[str, _File]:
    found = [
        _File(tp, name, data, base_offset)
        for tp, partition in read_sample().partitions.items()
        for base_offset, name, data in (
            *((base, file_name(base, LOG_SUFFIX), data) for base, data in partition.segments.items()),
            *((None, name, data) for name, data in partition.files.items()),
        )
        if 0 < len(data) <= FILE_BYTES_MAX
    ]
    return {f"{file.tp}/{file.name}": file for file in found}


class LogTarget(Stateless):
    """`PartitionLog.open` of a partition with a broken file."""

    name = "log"

    def __init__(self) -> None:
        self._partitions = read_sample().partitions
        self._files = _files()

    def judge(self, frame: Frame) -> str:
        """Return "taken" or the error, without numbers; raises `Fault`."""
        try:
            self._open(self._store(frame), self._files[frame.name].tp)
            outcome = TAKEN
        except CorruptBatch as error:
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"Kafka's own file: {error}", "a valid file", TAKEN) from None
            outcome = without_numbers(error.reason, words=8)
        except Exception as error:
            raise fault_of_exception(error) from error
        self._check_repair(frame)
        return outcome

    def _check_repair(self, frame: Frame) -> None:
        store, tp = self._store(frame), self._files[frame.name].tp
        try:
            end = self._open(store, tp, repair=True)
        except CorruptBatch:
            return  # In a checkpoint or a snapshot; the log is not truncated for those.
        except Exception as error:
            raise fault_of_exception(error) from error
        before = _content(store)
        try:
            ends = self._open(store.fork(), tp), self._open(store, tp, repair=True)
        except Exception as error:
            description = f"a repaired log does not open: {type(error).__name__}: {error}"
            raise Fault(FaultKind.DIFFERS, description, "repaired log refused", TAKEN) from error
        if ends != (end, end) or _content(store) != before:
            description = f"the log ended at {end} when it was repaired, and then at {ends[0]} and {ends[1]}"
            raise Fault(FaultKind.DIFFERS, description, "repaired twice", "the same log")

    def _store(self, frame: Frame) -> MemoryStore:
        file = self._files[frame.name]
        partition: PartitionFiles = self._partitions[file.tp]
        segments, files = dict(partition.segments), dict(partition.files)
        if file.base_offset is None:
            files[file.name] = frame.data
        else:
            segments[file.base_offset] = frame.data
        return MemoryStore.from_files(segments, files)

    def _open(self, store: MemoryStore, tp: TopicPartition, *, repair: bool = False) -> int:
        return PartitionLog.open(tp, store, LogConfig(), now_ms=_NOW_MS, repair=repair).log_end_offset


def _content(store: MemoryStore) -> list[bytes]:
    return [bytes(store.view(base_offset)) for base_offset in store.segments()]


def open_target(options: TargetOptions) -> tuple[LogTarget, LogFileStream]:
    """Return the target and the files of the seed."""
    files = {name: LogFile(file.data, file.base_offset is not None) for name, file in _files().items()}
    return LogTarget(), LogFileStream(options.seed, "log", files)
