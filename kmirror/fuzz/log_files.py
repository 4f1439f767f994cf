"""Log files to break: those of a sample that Kafka 4.3.1 wrote, one broken in each frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from kmirror.fuzz.mutations import Step, mutate
from kmirror.fuzz.spots import RawSpot, SpotKind
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame
from kmirror.records import layout
from kmirror.records.crc32c import crc32c
from kmirror.records.legacy import iter_any_batches

CHECKSUMS_FIXED = "checksums mended"
FILE_BYTES_MAX = 1 << 14
"""Largest file that is broken, in bytes, so that a frame is fast."""
_FIXED_SHARE = 0.6


class LogFile(NamedTuple):
    """A file that may be broken; the batches of a segment are known."""

    data: bytes
    is_segment: bool
    weight: int = 1
    """Relative frequency among the files that are not segments."""


class LogFileStream:
    """The files of a seed, valid and broken, by the names in `files`.

    `label` names the stream beside the seed; `segment_share` is the share of blocks whose file is a segment.
    """

    def __init__(self, seed: int, label: str, files: Mapping[str, LogFile], *, segment_share: float = 0.8) -> None:
        self.seed = seed
        self._segment_share = segment_share
        self._label = label
        self._files = files
        self._spots = {name: _spots(file) for name, file in files.items()}
        self._segments = [name for name, file in files.items() if file.is_segment]
        self._others = [name for name, file in files.items() if not file.is_segment for _ in range(file.weight)]

    def block(self, number: int) -> list[Frame]:
        """Return a file and its broken variants."""
        random = Random(f"{self.seed}/{self._label}/{number}").random
        names = self._segments if random() < self._segment_share else self._others
        name = names[int(random() * len(names))]
        data, spots = self._files[name].data, self._spots[name]
        first = number * BLOCK_FRAMES
        found = [Frame(first, name, 0, data, (), False)]
        for frame_number in range(first + 1, first + BLOCK_FRAMES):
            broken, steps = self._break_file(random, name, bytearray(data), spots)
            found.append(Frame(frame_number, name, 0, bytes(broken), steps, False))
        return found

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the file with more of it broken."""
        spots: list[RawSpot] = [(SpotKind.BYTES, at, at + 1, None) for at in range(len(parent.data))]
        data, steps = mutate(random, bytearray(parent.data), spots)
        return parent._replace(data=bytes(data), steps=[*parent.steps, *steps])

    def _break_file(
        self, random: Callable[[], float], name: str, data: bytearray, spots: list[RawSpot]
    ) -> tuple[bytearray, Sequence[Step | str]]:
        broken, steps = mutate(random, data, spots)
        if not self._files[name].is_segment or random() >= _FIXED_SHARE:
            return broken, steps
        _fix_checksums(broken)
        return broken, [*steps, CHECKSUMS_FIXED]


def _spots(file: LogFile) -> list[RawSpot]:
    """Return every eighth byte of a file; of a segment also each batch, and each field of its header four times."""
    found: list[RawSpot] = [(SpotKind.BYTES, at, at + 1, None) for at in range(0, len(file.data), 8)]
    if not file.is_segment:
        return found
    for batch in iter_any_batches(file.data):
        start = batch.position
        found.append((SpotKind.ELEMENT, start, start + batch.size_in_bytes, None))
        for field in layout.HEADER_FIELDS:
            at, size = layout.field_range(field)
            found += [(SpotKind.NUMBER, start + at, start + at + size, None)] * 4
    return found


def _fix_checksums(data: bytearray) -> None:
    """Recompute the checksum of each batch of format 2, up to the first position that holds none."""
    at = 0
    while at + layout.RECORDS_AT <= len(data) and data[at + layout.MAGIC_AT] == layout.MAGIC_V2:
        size = layout.LOG_OVERHEAD + int.from_bytes(data[at + 8 : at + layout.LOG_OVERHEAD], "big", signed=True)
        if size < layout.RECORDS_AT or at + size > len(data):
            return
        checked = bytes(data[at + layout.ATTRIBUTES_AT : at + size])
        data[at + layout.CRC_AT : at + layout.ATTRIBUTES_AT] = crc32c(checked).to_bytes(4, "big")
        at += size


def whole_batches(data: bytes) -> set[bytes]:
    """Return the batches of a segment without the fields that a checksum does not cover: offset and leader epoch."""
    view = memoryview(data)
    return {_covered_bytes(view[b.position : b.position + b.size_in_bytes]) for b in iter_any_batches(data)}


def has_unknown_batches(data: bytes, known: set[bytes]) -> bool:
    """Return whether a segment holds anything but known batches, which a checksum shows to be broken."""
    at, view = 0, memoryview(data)
    while at < len(data):
        size = layout.LOG_OVERHEAD + int.from_bytes(data[at + 8 : at + layout.LOG_OVERHEAD], "big", signed=True)
        if size <= layout.MAGIC_AT or _covered_bytes(view[at : at + size]) not in known:
            return True
        at += size
    return False


def _covered_bytes(batch: memoryview) -> bytes:
    """Return the bytes of a batch that must not change: all but the offset, and in format 2 the leader epoch."""
    start = layout.LEADER_EPOCH_AT
    if len(batch) > layout.MAGIC_AT and batch[layout.MAGIC_AT] == layout.MAGIC_V2:
        return bytes(batch[8:start]) + bytes(batch[layout.MAGIC_AT :])
    return bytes(batch[8:])
