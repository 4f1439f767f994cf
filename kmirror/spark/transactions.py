"""Which records of a log does a committed reader not see?

Aborted data, and everything from the last stable offset on. Both are facts of a whole partition, so they are
found once, while the work is planned, by a walk over its headers; a task gets the few ranges that touch it.
The walk needs no file but the segments: transaction indexes lag behind after a crash and are rebuilt from
the log anyway.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.state_files import SNAPSHOT_SUFFIX, decode_snapshot, offset_of
from kmirror.records.control import ControlType
from kmirror.records.legacy import AnyBatch, LegacyBatch, iter_any_batches
from kmirror.spark.folders import Segment

CLEANER_OFFSETS = "cleaner-offset-checkpoint"


@dataclass(frozen=True, slots=True)
class Aborted:
    """The records of `producer_id` in [first, last] were rolled back."""

    producer_id: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Committed:
    """What a committed reader leaves out of a partition."""

    aborted: tuple[Aborted, ...] = ()
    last_stable_offset: int | None = None

    def between(self, first: int, end: int | None) -> Committed:
        """Return the part that touches offsets [first, end)."""
        kept = tuple(a for a in self.aborted if a.last >= first and (end is None or a.first < end))
        return Committed(kept, self.last_stable_offset)

    def hides(self, batch: AnyBatch) -> bool:
        """Is this batch of data one that a committed reader does not see?"""
        if self.last_stable_offset is not None and batch.last_offset >= self.last_stable_offset:
            return True
        if not batch.is_transactional:
            return False
        first = batch.base_offset
        return any(a.producer_id == batch.producer_id and a.first <= first <= a.last for a in self.aborted)


def map_file(path: str | Path) -> memoryview:
    """Return a file's bytes, mapped; the mapping goes when the last view of it does."""
    with open(path, "rb") as opened:
        if not opened.seek(0, 2):
            return memoryview(b"")
        return memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))


def find_transactions(segments: Sequence[Segment], *, tolerant: bool = False) -> Committed:
    """Walk one partition's segments in order; what cannot be read raises `CorruptBatch`, or is passed over."""
    ongoing: dict[int, int] = {}
    aborted: list[Aborted] = []
    for segment in segments:
        try:
            _walk_segment(segment, ongoing, aborted)
        except CorruptBatch as error:
            if not tolerant:
                text = f"{segment.path}: {error.reason}"
                raise CorruptBatch(text, position=error.position, offset=error.offset) from None
    undecided = _still_open(segments, ongoing)
    return Committed(tuple(aborted), min(undecided.values(), default=None))


def _walk_segment(segment: Segment, ongoing: dict[int, int], aborted: list[Aborted]) -> None:
    for batch in iter_any_batches(map_file(segment.path)):
        if isinstance(batch, LegacyBatch) or not batch.is_transactional:
            continue
        if not batch.is_control:
            ongoing.setdefault(batch.producer_id, batch.base_offset)
            continue
        first = ongoing.pop(batch.producer_id, None)
        control = batch.control()
        if first is not None and control is not None and control.type is ControlType.ABORT:
            aborted.append(Aborted(batch.producer_id, first, batch.last_offset))


def _still_open(segments: Sequence[Segment], ongoing: dict[int, int]) -> dict[int, int]:
    """Return the transactions that are open indeed.

    The cleaner takes markers away in time and leaves committed records. It never cleans what is undecided, so
    what lies below its checkpoint, or below a producer snapshot that does not know of it, is committed.
    """
    if not ongoing:
        return {}
    folder = Path(segments[0].path).parent
    cleaned = read_offsets(folder.parent / CLEANER_OFFSETS).get(segments[0].tp, 0)
    ongoing = {producer: first for producer, first in ongoing.items() if first >= cleaned}
    snapshots = [(offset_of(path.name, SNAPSHOT_SUFFIX), path) for path in folder.glob(f"*{SNAPSHOT_SUFFIX}")]
    for offset, path in sorted((offset, path) for offset, path in snapshots if offset is not None):
        try:
            open_then = {e.producer_id for e in decode_snapshot(path.read_bytes()) if e.txn_first_offset >= 0}
        except CorruptBatch:
            continue
        ongoing = {p: first for p, first in ongoing.items() if first >= offset or p in open_then}
    return ongoing


def read_offsets(path: Path) -> dict[TopicPartition, int]:
    """Return the rows `topic partition offset` of a checkpoint; one that is missing or odd has none."""
    try:
        lines = path.read_text("utf-8").splitlines()[2:]
        rows = [line.split() for line in lines]
        return {TopicPartition(row[0], int(row[1])): int(row[2]) for row in rows}
    except (OSError, ValueError, IndexError):
        return {}
