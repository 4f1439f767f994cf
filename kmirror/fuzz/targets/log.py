"""Our recovery of a partition's log as a target: one of its files is broken, and the log is opened.

The partitions are those of the sample, which Kafka 4.3.1 wrote; a frame is one file of one of them. Whatever stands in
it, opening the log takes it or raises `CorruptBatch`. With repair, as after a crash, the log is cut where the fault is:
what is left then opens without repair, and another repair changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from kmirror.errors import CorruptBatch
from kmirror.fuzz.findings import Fault, Kind, raised
from kmirror.fuzz.mutations import Step, mutate
from kmirror.fuzz.spots import Kind as SpotKind
from kmirror.fuzz.spots import RawSpot
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame
from kmirror.fuzz.target import TAKEN, Stateless
from kmirror.fuzz.targets.rows import Wanted
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.log.state_files import LOG_SUFFIX, file_name
from kmirror.logdir.load import PartitionFiles, read_sample
from kmirror.records import layout
from kmirror.records.crc32c import crc32c
from kmirror.records.legacy import iter_any_batches

_NOW_MS = 1_800_000_000_000
_MENDED_SHARE = 0.6
_SEGMENT_SHARE = 0.8
_LARGEST = 1 << 14
"""Only files up to this size are broken: a frame is to be quick."""


@dataclass(frozen=True)
class _File:
    """A file of the sample; `base_offset` is that of a segment, None for any other file."""

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
        if 0 < len(data) <= _LARGEST
    ]
    return {f"{file.tp}/{file.name}": file for file in found}


class LogTarget(Stateless):
    """`PartitionLog.open` of a partition with a broken file."""

    name = "log"

    def __init__(self) -> None:
        self._partitions = read_sample().partitions
        self._files = _files()

    def judge(self, frame: Frame) -> str:
        """Return "taken", "cut" or what was wrong, without numbers; raises `Fault`."""
        try:
            self._open(self._store(frame), self._files[frame.name].tp)
            outcome = TAKEN
        except CorruptBatch as error:
            if frame.is_valid:
                raise Fault(Kind.REFUSED, f"what Kafka wrote: {error}", "a valid file", "taken") from None
            outcome = " ".join(word for word in error.reason.split()[:8] if word.isalpha())
        except Exception as error:
            raise raised(error) from error
        self._repaired(frame)
        return outcome

    def _repaired(self, frame: Frame) -> None:
        store, tp = self._store(frame), self._files[frame.name].tp
        try:
            end = self._open(store, tp, repair=True)
        except CorruptBatch:
            return  # Of a checkpoint or a snapshot: nothing is cut for those.
        except Exception as error:
            raise raised(error) from error
        before = _content(store)
        try:
            ends = self._open(store.fork(), tp), self._open(store, tp, repair=True)
        except Exception as error:
            told = f"a repaired log does not open: {type(error).__name__}: {error}"
            raise Fault(Kind.DIFFERS, told, "repaired log refused", "taken") from error
        if ends != (end, end) or _content(store) != before:
            told = f"the log ended at {end} when it was repaired, and then at {ends[0]} and {ends[1]}"
            raise Fault(Kind.DIFFERS, told, "repaired twice", "the same log")

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


class LogStream:
    """The files of a seed: those of the sample, valid and broken."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._files = _files()
        self._spots = {name: _spots(file) for name, file in self._files.items()}
        self._segments = [name for name, file in self._files.items() if file.base_offset is not None]
        self._others = [name for name, file in self._files.items() if file.base_offset is None]

    def block(self, number: int) -> list[Frame]:
        """Return a file of the sample, and what became of it."""
        random = Random(f"{self.seed}/log/{number}").random
        some = self._segments if random() < _SEGMENT_SHARE else self._others
        name = some[int(random() * len(some))]
        data, spots = self._files[name].data, self._spots[name]
        first = number * BLOCK_FRAMES
        found = [Frame(first, name, 0, data, (), False)]
        for place in range(first + 1, first + BLOCK_FRAMES):
            broken, steps = self._broken(random, name, bytearray(data), spots)
            found.append(Frame(place, name, 0, bytes(broken), steps, False))
        return found

    def further(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the file with more of it broken."""
        spots: list[RawSpot] = [(SpotKind.BYTES, at, at + 1, None) for at in range(len(parent.data))]
        data, steps = mutate(random, bytearray(parent.data), spots)
        return parent._replace(data=bytes(data), steps=[*parent.steps, *steps])

    def _broken(
        self, random: Callable[[], float], name: str, data: bytearray, spots: list[RawSpot]
    ) -> tuple[bytearray, Sequence[Step | str]]:
        broken, steps = mutate(random, data, spots)
        if self._files[name].base_offset is None or random() >= _MENDED_SHARE:
            return broken, steps
        _mend(broken)
        return broken, [*steps, "checksums mended"]


def _spots(file: _File) -> list[RawSpot]:
    """Return each byte of the file, and each field of a batch's header as often as it has a few bytes."""
    found: list[RawSpot] = [(SpotKind.BYTES, at, at + 1, None) for at in range(0, len(file.data), 8)]
    if file.base_offset is None:
        return found
    for batch in iter_any_batches(file.data):
        start = batch.position
        found.append((SpotKind.ELEMENT, start, start + batch.size_in_bytes, None))
        for field in layout.HEADER_FIELDS:
            at, size = layout.field_range(field)
            found += [(SpotKind.NUMBER, start + at, start + at + size, None)] * 4
    return found


def _mend(data: bytearray) -> None:
    """Mend the checksum of each batch of format 2 up to the first that is none."""
    at = 0
    while at + layout.RECORDS_AT <= len(data) and data[at + layout.MAGIC_AT] == layout.MAGIC_V2:
        size = layout.LOG_OVERHEAD + int.from_bytes(data[at + 8 : at + layout.LOG_OVERHEAD], "big", signed=True)
        if size < layout.RECORDS_AT or at + size > len(data):
            return
        checked = bytes(data[at + layout.ATTRIBUTES_AT : at + size])
        data[at + layout.CRC_AT : at + layout.ATTRIBUTES_AT] = crc32c(checked).to_bytes(4, "big")
        at += size


def open_target(wanted: Wanted) -> tuple[LogTarget, LogStream]:
    """Return the target and the files of the seed."""
    return LogTarget(), LogStream(wanted.seed)
