"""Damage of a partition's folder by a kill or a power cut: applied equally to the files of both logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.scan import scan_batches
from kmirror.log.segment import SPAN_MAX, Segment
from kmirror.log.state_files import (
    INDEX_SUFFIX,
    LOG_SUFFIX,
    SNAPSHOT_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    decode_aborted,
    encode_aborted,
    file_name,
    offset_of,
)

SUFFIXES = (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX)
"""In the order in which a swap renames them."""


class Tail(NamedTuple):
    """Bytes after the last batch."""

    data: bytes


class Cut(NamedTuple):
    """The last `size` bytes of the last segment never reached the disk."""

    size: int


class Flip(NamedTuple):
    """One bit of a segment is changed."""

    segment: int
    position: int
    bit: int


class Lost(NamedTuple):
    """Files with this suffix are lost, for the segments that a recovery reads."""

    suffix: str


class Swap(NamedTuple):
    """The cleaner merged `count` segments, the first of them with this number, and was killed.

    After `swapped` of the new files were renamed from .cleaned to .swap; if all were, after some of the old ones were
    renamed to .deleted, and of the new ones to their final name, the log being the first each time.
    """

    segment: int
    count: int
    swapped: int
    gone: int
    named: int


def apply(folder: Path, what: NamedTuple, recovery_point: int) -> None:
    """Apply the damage, unless the folder has no such segment, or data that is safe on the disk would differ."""
    bases = sorted(base for path in folder.iterdir() if (base := offset_of(path.name, LOG_SUFFIX)) is not None)
    _DEEDS[type(what)](folder, what, bases, recovery_point)


def _tail(folder: Path, what: Tail, bases: list[int], recovery_point: int) -> None:
    with (folder / file_name(bases[-1], LOG_SUFFIX)).open("ab") as file:
        file.write(what.data)


def _cut(folder: Path, what: Cut, bases: list[int], recovery_point: int) -> None:
    path = folder / file_name(bases[-1], LOG_SUFFIX)
    if recovery_point <= bases[-1]:
        data = path.read_bytes()
        path.write_bytes(data[: max(len(data) - what.size, 0)])


def _flip(folder: Path, what: Flip, bases: list[int], recovery_point: int) -> None:
    following = [*bases[1:], recovery_point + 1]
    if what.segment >= len(bases) or following[what.segment] <= recovery_point:
        return
    path = folder / file_name(bases[what.segment], LOG_SUFFIX)
    data = bytearray(path.read_bytes())
    if what.position < len(data):
        data[what.position] ^= 1 << what.bit
        path.write_bytes(data)


def _lost(folder: Path, what: Lost, bases: list[int], recovery_point: int) -> None:
    for base, following in zip(bases, [*bases[1:], recovery_point + 1], strict=True):
        if following > recovery_point:
            (folder / file_name(base, what.suffix)).unlink(missing_ok=True)


def _swap(folder: Path, what: Swap, bases: list[int], recovery_point: int) -> None:
    old = bases[what.segment : what.segment + what.count]
    if not old or old[-1] == bases[-1] or bases[what.segment + len(old)] - old[0] > SPAN_MAX:
        return
    files = _cleaned(folder, old)
    gone = [folder / file_name(base, suffix) for base in old for suffix in SUFFIXES]
    gone += [folder / file_name(base, SNAPSHOT_SUFFIX) for base in old[1:]]
    if what.swapped >= len(files):
        for path in gone[: what.gone]:
            if path.exists():
                path.rename(path.with_name(path.name + ".deleted"))
    for number, (name, data) in enumerate(files.items()):
        ending = ".swap" if number < what.swapped else ".cleaned"
        if what.swapped >= len(files) and what.gone >= len(gone) and number < what.named:
            ending = ""
        (folder / (name + ending)).write_bytes(data)


def _cleaned(folder: Path, old: list[int]) -> dict[str, bytes]:
    """Return the files of one segment with the batches of all these."""
    logs = [(folder / file_name(base, LOG_SUFFIX)).read_bytes() for base in old]
    store = MemoryStore()
    store.create(old[0])
    segment = Segment(store, old[0], LogConfig(index_interval_bytes=200), created_ms=0)
    data = b"".join(logs)
    if data:
        scan = scan_batches(memoryview(data), segment, check_crc=False)
        store.append(old[0], data)
        segment.add(memoryview(data), scan)
    segment.close()
    for base in old:
        path = folder / file_name(base, TXN_INDEX_SUFFIX)
        if path.exists():
            segment.add_aborted(decode_aborted(path.read_bytes(), base_offset=base))
    contents = [data, segment.offsets.encode(), segment.times.encode(), encode_aborted(segment.aborted)]
    names = [file_name(old[0], suffix) for suffix in SUFFIXES]
    return dict(list(zip(names, contents, strict=True))[: 4 if segment.aborted else 3])


_DEEDS: dict[type, Callable[..., None]] = {Tail: _tail, Cut: _cut, Flip: _flip, Lost: _lost, Swap: _swap}
