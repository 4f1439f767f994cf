"""Records of a log that a committed reader does not see.

These are aborted data, and everything from the last stable offset on. Both depend on a whole partition, so they are
found once, while the work is planned, by reading its headers; a task gets the few ranges that affect it. Transaction
indexes are not used: they lag after a crash and are rebuilt from the log anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kmirror.errors import CorruptBatch
from kmirror.log.committed import Committed, CommittedWalk
from kmirror.logdir.mapped import map_file
from kmirror.logdir.producer_snapshots import committed_walk
from kmirror.records.legacy import iter_any_batches
from kmirror.spark.folders import FolderSegment


def find_transactions(segments: Sequence[FolderSegment], *, tolerant: bool = False) -> Committed:
    """Read one partition's segments in order; unreadable batches raise `CorruptBatch`, or are skipped if `tolerant`."""
    if not segments:
        return Committed()
    first = segments[0]
    walk = committed_walk(Path(first.path).parent, first.tp, base_offset=first.base_offset)
    end_offset = first.base_offset
    for segment in segments:
        try:
            end_offset = max(_add_segment(walk, segment, tolerant), end_offset)
        except CorruptBatch as error:
            text = f"{segment.path}: {error.reason}"
            raise CorruptBatch(text, position=error.position, offset=error.offset) from None
    return walk.finish(end_offset)


def _add_segment(walk: CommittedWalk, segment: FolderSegment, tolerant: bool) -> int:
    """Add one segment, as far as it can be read, and return the offset after it."""
    end_offset = segment.base_offset
    try:
        for batch in iter_any_batches(map_file(segment.path)):
            end_offset = batch.next_offset
            try:
                walk.add(batch)
            except CorruptBatch:  # An invalid control record; the rest can still be read.
                if not tolerant:
                    raise
    except CorruptBatch:
        if not tolerant:
            raise
    return end_offset
