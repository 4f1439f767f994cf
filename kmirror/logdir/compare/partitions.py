"""Comparison of two logs: the same batches byte for byte, or at least the same records.

Rule 1: LEFT is the reference. Both are compared from the higher of their log start offsets to their ends, or to the
last stable offset of LEFT. Segment boundaries are ignored. Rule 2: the first difference of a partition is described in
words; later ones are counted. Rule 3: if nothing was compared, the result is never equal. Rule 4: records are compared
(`compare.records`) from the first batch on that is not equal.

Both logs are mapped and read side by side. For equal bytes, only the batch lengths are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from kmirror.errors import UsageError
from kmirror.log.compare import Match, Step, parting, steps
from kmirror.log.first_difference import bytes_difference
from kmirror.logdir.compare.cursor import LogCursor
from kmirror.logdir.compare.pairs import Pairs
from kmirror.logdir.compare.records import compare_records
from kmirror.logdir.compare.results import ComparisonResult, Difference, PartitionResult, difference_of
from kmirror.logdir.consume import read_transactions
from kmirror.logdir.faults import FileFault, Progress
from kmirror.logdir.partition import PartitionFolder
from kmirror.records.legacy import AnyBatch

LOG_END: Final = "log end offset"
"""The field of a difference where one log ends."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """Options of a comparison of two logs.

    `until_lso`: up to the last stable offset of LEFT; when comparing records, up to each log's own. `logical`: compare
    records where batches differ. `common`: a partition that only one side has is no difference.
    """

    until_lso: bool = False
    logical: bool = False
    common: bool = False


def compare(
    pairs: Pairs,
    options: CompareOptions | None = None,
    *,
    progress: Progress = lambda count: None,
    on_result: Callable[[PartitionResult | Difference], None] = lambda result: None,
) -> ComparisonResult:
    """Compare everything; `on_result` receives each result as it is found.

    That is a `Difference` for each partition that only one side has, then a `PartitionResult` for each other. Raises
    `UsageError` if nothing could be compared and nothing differs, `Unreadable` if the system cannot read a file.
    """
    effective_options = options or CompareOptions()
    result = ComparisonResult(notes=list(pairs.notes))
    for folders, tps, presence in (
        (pairs.only_left, result.only_left, (True, False)),
        (pairs.only_right, result.only_right, (False, True)),
    ):
        for folder in folders:
            tps.append(folder.tp)
            if not effective_options.common:
                text = f"only {folder.path.parent} has this partition"
                result.differences.append(Difference(folder.tp, None, "partition", *presence, text))
                on_result(result.differences[-1])
    for left, right in pairs.both:
        processed = 0

        def advance(count: int) -> None:
            nonlocal processed
            processed += count
            progress(count)

        found = compare_partition(left, right, effective_options, progress=advance)
        progress(max(0, left.size - processed))  # Unreadable bytes count as done.
        result.partitions.append(found)
        result.differences += found.differences
        result.notes += found.notes
        on_result(found)
    if result.is_empty and not result.differences:
        raise UsageError(f"nothing was compared: {_reason_if_empty(result, effective_options)}")
    return result


def _reason_if_empty(result: ComparisonResult, options: CompareOptions) -> str:
    if not result.partitions:
        return "no partition exists on both sides"
    subject = "the partition has" if len(result.partitions) == 1 else f"the {len(result.partitions)} partitions have"
    bound = " below the last stable offset" if options.until_lso else ""
    return f"{subject} no batch{bound} on either side"


def compare_partition(
    left: PartitionFolder, right: PartitionFolder, options: CompareOptions, *, progress: Progress = lambda count: None
) -> PartitionResult:
    """Compare two logs; raises `Unreadable` if the system cannot read a file."""
    result = PartitionResult(left.tp)
    pair = _Pair(left, right, result, progress)
    try:
        pair.compare(options)
    except FileFault as error:
        text = f"cannot be read: {error}"
        result.differences.append(Difference(left.tp, error.offset, "file", None, None, text))
    finally:
        pair.close()
    return result


def _last_stable_offset(folder: PartitionFolder) -> int:
    return read_transactions(folder, end=folder.high_watermark).last_stable_offset


class _Pair:
    """Two logs side by side."""

    def __init__(
        self, left: PartitionFolder, right: PartitionFolder, result: PartitionResult, progress: Progress
    ) -> None:
        self._folders = left, right
        self._result = result
        self._progress = progress
        self._cursors: list[LogCursor] = []

    def compare(self, options: CompareOptions) -> None:
        left, right = self._folders
        starts = left.log_start_offset, right.log_start_offset
        end = _last_stable_offset(left) if options.until_lso else None
        if not options.logical:
            self._open((max(starts), max(starts)), (end, end))
            self._note_starts(f"from {max(starts)}")
            self._walk()
            return
        ends = end, _last_stable_offset(right) if options.until_lso else None
        self._open((max(starts), max(starts)), ends)
        self._skip_equal_runs()
        if self._result.shares.is_empty:
            self._open(starts, ends)  # No common batch: a copy need not have the offsets of its source.
            self._note_starts("each from its start")
        else:
            self._note_starts(f"from {max(starts)}")
        left_cursor, right_cursor = self._cursors
        compare_records(left_cursor, right_cursor, starts, self._result, self._progress)

    def _note_starts(self, compared: str) -> None:
        left, right = self._folders
        if left.log_start_offset != right.log_start_offset:
            starts = f"{left.log_start_offset} and {right.log_start_offset}"
            self._result.notes.append(f"{left.tp}: the logs start at {starts}; compared {compared}")

    def _open(self, starts: tuple[int, int], ends: tuple[int | None, int | None]) -> None:
        """Move both cursors to the start of the comparison."""
        self.close()
        for folder, start, end in zip(self._folders, starts, ends, strict=True):
            paths = [segment.path for segment in folder.segments_from(start)]
            self._cursors.append(LogCursor(paths, start=start, end=end))
            self._cursors[-1].skip_below(start)

    def close(self) -> None:
        for cursor in self._cursors:
            cursor.close()
        self._cursors.clear()

    def _walk(self) -> None:
        """Count every step, and keep the first difference."""
        left, right = self._cursors
        difference: Difference | None = None
        shares, tp = self._result.shares, self._result.tp
        try:
            for step in steps(self._expected(), right):
                shares.count(step, (right if step.match is Match.EXTRA else left).next_offset)
                if step.match is Match.EQUAL:
                    assert step.expected is not None, "both sides have it"
                    self._result.bytes += len(step.expected.view)
                elif difference is None:
                    if step.match is Match.FLIPPED and step.expected is not None:
                        difference = difference_of(tp, bytes_difference(step.expected, right.next_bytes(step.expected)))
                    elif step.expected is not None and step.found is not None:
                        difference = difference_of(tp, parting(step))
                    else:
                        difference = self._log_end_difference(step)
            if difference is not None and difference.field == LOG_END:
                difference = difference._replace(left=left.next_offset, right=right.next_offset)
        finally:
            if difference is not None:
                self._result.differences.append(difference)

    def _expected(self) -> Iterator[AnyBatch]:
        """Yield the left batches that are not in a run of equal bytes; the runs are counted directly."""
        left = self._cursors[0]
        while True:
            self._skip_equal_runs()
            batch = left.batch()
            if batch is None:
                return
            yield batch
            left.skip(batch)
            self._progress(len(batch.view))

    def _skip_equal_runs(self) -> None:
        """Pass and count equal runs."""
        left, right = self._cursors
        common = self._result.shares.common
        while (run := left.skip_equal(right)) is not None:
            common.batches += run.batches
            common.offsets += run.offsets
            self._result.bytes += run.size
            self._progress(run.size)

    def _log_end_difference(self, step: Step) -> Difference:
        """Return the difference for the end of one log; the caller sets its end offset after the comparison."""
        left, right = (folder.path for folder in self._folders)
        longer, shorter = (left, right) if step.found is None else (right, left)
        text = f"the log of {longer} continues, that of {shorter} ends before this offset"
        return Difference(self._result.tp, parting(step).offset, LOG_END, None, None, text)
