"""What would a consumer get from this partition?

Rule 1: nothing below the log start offset, nothing at or above the high watermark, and no control records.
Rule 2: read_committed ends at the last stable offset, the first offset of the first transaction that has no end below
the high watermark, and leaves out what belongs to an aborted transaction (`kmirror.log.committed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.committed import Committed
from kmirror.logdir.faults import fault_of
from kmirror.logdir.partition import PartitionFolder, iter_batches
from kmirror.logdir.producer_snapshots import committed_walk
from kmirror.records.record import Record


class CommittedPart(NamedTuple):
    """What a committed reader gets of a partition: all below the last stable offset but what `committed` hides."""

    last_stable_offset: int
    committed: Committed


def read_transactions(folder: PartitionFolder, *, end: int | None) -> CommittedPart:
    """Return what the transactions below offset `end` came to; raises `FileFault`."""
    start = folder.log_start_offset
    if not folder.segments:
        return CommittedPart(start, Committed())
    walk = committed_walk(folder.path, folder.tp, base_offset=folder.segments[0].base_offset)
    next_offset = start
    for file, batch in iter_batches(folder.segments, end=end):
        next_offset = batch.next_offset
        try:
            walk.add(batch)
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None
    log_end = max(next_offset, folder.segments[-1].base_offset)
    committed = walk.finish(log_end if end is None else min(end, log_end))
    stable = committed.first_undecided_offset
    return CommittedPart(max(next_offset if stable is None else stable, start), committed)


@dataclass(frozen=True, slots=True)
class ConsumeQuery:
    """Which records to read; `timestamp`, in milliseconds, asks for the first that is not older and all that follow."""

    from_offset: int = 0
    timestamp: int | None = None
    read_committed: bool = False
    to_end: bool = False  # Also what is at or above the high watermark.


def consume(folder: PartitionFolder, wanted: ConsumeQuery) -> Iterator[Record]:
    """Yield the records in offset order; raises `FileFault` at bytes that are no batch or fail their checksum."""
    end = None if wanted.to_end else folder.high_watermark
    start = max(wanted.from_offset, folder.log_start_offset)
    committed = Committed()
    if wanted.read_committed:
        end, committed = read_transactions(folder, end=end)
    return _records(folder, start, end, wanted.timestamp, committed)


def _records(
    folder: PartitionFolder, start: int, end: int | None, since: int | None, committed: Committed
) -> Iterator[Record]:
    """Yield the records from `start` on, from the first one that is not older than `since`.

    As for ListOffsets that first one may be a control record or of an aborted transaction, which are not yielded.
    """
    for file, batch in iter_batches(folder.segments_from(start), end=end):
        is_hidden = batch.is_control or committed.hides(batch)
        if batch.next_offset <= start or (since is not None and batch.max_timestamp < since):
            continue
        if is_hidden and since is None:
            continue
        try:
            batch.verify_crc()
            for record in batch.records():
                if record.offset < start:
                    continue
                if since is not None and record.timestamp >= since:
                    since = None
                if since is None and not is_hidden:
                    yield record
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None
