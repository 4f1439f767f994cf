"""Detection of missing segments.

A broker names a rolled segment by the log end, so segments follow each other without a hole until the cleaner removes
batches. Two signs distinguish a lost segment from a compacted one:

1. An index without its `.log`. A broker that deletes a segment renames its files to `.deleted`, the `.log` first, so a
   kill may leave an index beside a `.log.deleted` until the next start. A clean shutdown leaves none.
2. A hole in a log that was never compacted. The cleaner's checkpoint, the configs in the metadata log and the remaining
   batches show whether it may have been compacted: a replica of a compacted log has holes that its own cleaner did not
   make. A hole below an empty last segment is no fault: a truncation to an offset without a batch leaves this (D47).

No other sign excludes the cleaner. The records of a producer's sequence, a marker, a row of a transaction index or an
epoch may all have been compacted away, and a transaction may have a marker and no record. A snapshot may be in a hole,
since each clean shutdown leaves one at the log end; and a producer in it may have expired since, so that its last batch
was removed too. In a log that was never compacted, the hole itself is sufficient evidence.

Everything below the first segment may have been deleted by retention. Above the last batch, snapshots and epochs show
how far the log went, unless the broker was killed during a truncation.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kmirror.log.epochs import EpochEntry
from kmirror.log.index import OFFSET_ROW, TIME_ROW
from kmirror.log.state_files import (
    INDEX_SUFFIX,
    LOG_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    file_name,
    offset_in,
    offset_of,
)
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT
from kmirror.logdir.faults import Gap, Tally, offsets_in_words, reading
from kmirror.logdir.partition import PartitionFolder, snapshots_of
from kmirror.logdir.segments import DELETED_SUFFIX, SWAP_SUFFIX
from kmirror.logdir.verify.indexes import last_row

_INDEX_SUFFIXES: Final = (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX)


class MissingSegments:
    """Evidence in a partition folder for segments that are not there; `tally` receives faults and gaps.

    The folder is listed on creation, before the walk, so files that a running broker adds later are ignored.
    """

    def __init__(self, folder: PartitionFolder, tally: Tally) -> None:
        self._folder, self._tally = folder, tally
        self._orphans = _orphans_of(folder)
        self._snapshots = snapshots_of(folder.path)
        self._is_killed = folder.recovery_point is not None
        self._compaction_evidence: str | None = None
        self._is_compaction_known = False

    def check_below(self, base_offset: int, epochs: list[EpochEntry]) -> None:
        """Check for missing segments below `base_offset`, the start of the first segment."""
        orphan = self._orphan(0, base_offset)
        if orphan is not None:
            self._report_missing_log(*orphan, orphan[0], base_offset)
        elif epochs and epochs[0].start_offset < base_offset:
            first = epochs[0]
            cause = "retention may have deleted the first segment"
            reason = f"{LEADER_EPOCH_CHECKPOINT} begins epoch {first.epoch} there; {cause}"
            self._gap(first.start_offset, base_offset, reason)

    def check_between(self, path: Path, position: int, end_offset: int, base_offset: int) -> None:
        """Check the offsets from `end_offset`, where the segment at `path` ends, to the next segment's base offset."""
        orphan = self._orphan(end_offset, base_offset)
        if orphan is not None:
            self._report_missing_log(*orphan, end_offset, base_offset)
            return
        if not self._is_compaction_known:
            from kmirror.logdir.verify.compacted import compaction_evidence  # Imported late: most logs have no hole.

            self._is_compaction_known, self._compaction_evidence = True, compaction_evidence(self._folder)
        if self._compaction_evidence is not None:
            self._gap(end_offset, base_offset, self._compaction_evidence)
            return
        last = self._folder.segments[-1]
        if last.base_offset == base_offset and not last.size:
            self._gap(
                end_offset, base_offset, "the log was truncated between two batches and ends with an empty segment"
            )
            return
        reason = (
            f"no segment contains {offsets_in_words(end_offset, base_offset - 1)}, and nothing shows that the log was "
            "ever compacted: a segment is missing"
        )
        self._tally.add_fault(path, reason, position, end_offset)

    def check_above(self, end_offset: int, epochs: list[EpochEntry]) -> None:
        """Check for missing data from `end_offset`, the log end, on."""
        orphan = self._orphan(end_offset, None)
        if orphan is not None:
            path = self._folder.path / orphan[1]
            reason = f"there is no {file_name(orphan[0], LOG_SUFFIX)}, but the log ends at {end_offset}"
            self._tally.add_fault(path, reason, offset=orphan[0])
        for offset, path in self._snapshots:
            if offset > end_offset:
                self._report_beyond_end(path, offset, end_offset, f"a snapshot at offset {offset}")
        # The epoch file may be stale if the log was truncated right before the shutdown.
        is_whole = self._folder.closed_at == end_offset
        if epochs and epochs[-1].start_offset > end_offset and not is_whole:
            epoch, start = epochs[-1]
            self._report_beyond_end(
                self._folder.path / LEADER_EPOCH_CHECKPOINT, start, end_offset, f"epoch {epoch} begins at {start}"
            )
        if orphan is None and not is_whole and self._was_rolled(end_offset):
            reason = "the last segment was closed by a roll, but the next one is missing"
            self._tally.gaps.append(Gap(self._folder.path, end_offset, None, reason))

    def _was_rolled(self, end_offset: int) -> bool:
        """Return whether a broker closed the last segment other than by a clean shutdown.

        The indexes of the active segment are preallocated. A clean shutdown trims them like a roll, but takes a
        snapshot at the log end first. A kill in the middle of a roll leaves the same state.
        """
        offsets = [offset for offset, _ in self._snapshots]
        if not offsets or offsets[-1] >= end_offset or not self._folder.segments:
            return False
        last = self._folder.segments[-1]
        times, offset_index = last_row(last.sibling(TIME_INDEX_SUFFIX), TIME_ROW), last.sibling(INDEX_SUFFIX)
        row = last_row(offset_index, OFFSET_ROW)
        return times is not None and any(times) and offset_index.exists() and (row is None or any(row))

    def _report_beyond_end(self, path: Path, offset: int, end_offset: int, evidence: str) -> None:
        if self._is_killed:
            reason = f"{path.name}: {evidence}, as left by a broker that was killed while it truncated the log"
            self._gap(end_offset, offset, reason)
        else:
            self._tally.add_fault(path, f"{evidence}, but the log ends at {end_offset}", offset=end_offset)

    def _report_missing_log(self, orphan_offset: int, name: str, start: int, end: int) -> None:
        log, offsets = file_name(orphan_offset, LOG_SUFFIX), offsets_in_words(start, end - 1)
        reason = f"there is no {log}, and no segment contains {offsets}"
        self._tally.add_fault(self._folder.path / name, reason, offset=start)

    def _gap(self, start: int, end: int, reason: str) -> None:
        self._tally.gaps.append(Gap(self._folder.path, start, end - 1, reason))

    def _orphan(self, start: int, end: int | None) -> tuple[int, str] | None:
        """Return the offset and name of the first index without a `.log` from offset `start` to `end` (exclusive)."""
        for offset, name in self._orphans:
            if start <= offset and (end is None or offset < end) and self._is_orphan(offset, name):
                return offset, name
        return None

    def _is_orphan(self, offset: int, name: str) -> bool:
        """Check again: a running broker may have been deleting the segment while the folder was listed."""
        log = self._folder.path / file_name(offset, LOG_SUFFIX)
        is_missing = (self._folder.path / name).exists() and not log.exists()
        is_deleted = not self._folder.clean_shutdown and log.with_name(log.name + DELETED_SUFFIX).exists()
        return is_missing and not is_deleted


def _orphans_of(folder: PartitionFolder) -> list[tuple[int, str]]:
    """Return the base offsets with an index but no `.log`, each with the name of one index, in order."""
    logs: set[int] = set()
    indexes: dict[int, str] = {}
    with reading(folder.path):
        names = sorted(os.listdir(folder.path))
    for name in names:
        offset = offset_in(name)
        if offset is None:
            continue
        if name.endswith((LOG_SUFFIX, LOG_SUFFIX + SWAP_SUFFIX)):
            logs.add(offset)
        elif any(offset_of(name, suffix) is not None for suffix in _INDEX_SUFFIXES):
            indexes.setdefault(offset, name)
    # A killed start may have deleted the `.log` of a segment that swap files replace, but not yet the rest.
    swaps = [segment.base_offset for segment in folder.segments if segment.path.suffix == SWAP_SUFFIX] or [0]
    swapped = range(swaps[0], swaps[-1])
    return [found for found in sorted(indexes.items()) if found[0] not in logs and found[0] not in swapped]
