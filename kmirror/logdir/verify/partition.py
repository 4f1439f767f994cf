"""Verification of partition folders and log folders.

Rule 1: every batch is checked in the mapped file, including its checksum; records are decoded only on request. Rule 2:
checking continues after a fault, unless the next batch cannot be found; then the rest of the segment is skipped. Rule
3: files that a broker rebuilds at startup may be missing, but existing ones must be correct.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch, UsageError
from kmirror.kernel.uuid import Uuid
from kmirror.log.state_files import INDEX_SUFFIX, TIME_INDEX_SUFFIX
from kmirror.log.store import PARTITION_METADATA
from kmirror.logdir.checkpoints import (
    META_PROPERTIES,
    FolderFacts,
    parse_topic_id,
    read_folder_facts,
    read_if_present,
)
from kmirror.logdir.faults import FileFault, Tally, Unreadable
from kmirror.logdir.mapped import MappedFile, WholeFile, mapped
from kmirror.logdir.partition import (
    PartitionFolder,
    is_log_dirs,
    list_renamed_folders,
    open_partition,
    partition_paths,
    suggestion,
)
from kmirror.logdir.segments import SegmentFile
from kmirror.logdir.verify.checkpoints import check_folder_files, check_offsets
from kmirror.logdir.verify.indexes import OffsetRows, TimeRows
from kmirror.logdir.verify.log_walk import LogWalk
from kmirror.logdir.verify.producers import ProducerCheck
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import iter_any_batches

_KNOWN_ATTRIBUTES: Final = 0x7F


class PartitionCheck(LogWalk):
    """Log walk that also compares indexes, snapshots and the transaction index with the log."""

    def __init__(self, folder: PartitionFolder, tally: Tally, *, decodes: bool = False) -> None:
        self._producer_check = ProducerCheck(folder.path, tally)
        super().__init__(folder, tally, decodes=decodes, producers=self._producer_check)

    def _on_begin(self) -> None:
        segments, log_start = self._folder.segments, self._folder.log_start_offset
        if segments:
            first = None if self._epochs is None else self._epochs.first
            self._producer_check.start(
                segments[0].base_offset, log_start if first is None else max(log_start, first.start_offset)
            )

    def _on_end(self) -> None:
        self._producer_check.on_log_end(self._next_offset)

    def _on_segment(self, segment: SegmentFile, end: int | None) -> None:
        base, is_open = segment.base_offset, self._is_open(end)
        if base > self._next_offset:
            self._producer_check.has_gaps = True
        offsets, times = segment.sibling(INDEX_SUFFIX), segment.sibling(TIME_INDEX_SUFFIX)
        self._offset_rows = OffsetRows(offsets, base, self._tally, is_last=is_open) if offsets.exists() else None
        self._time_rows = TimeRows(times, base, self._tally, is_last=is_open) if times.exists() else None

    def _on_file(self, file: MappedFile | WholeFile) -> None:
        self._producer_check.view = file.view

    def _on_file_end(self, file: MappedFile | WholeFile) -> None:
        self._producer_check.leave_file()

    def _on_batch(self, batch: Batch) -> None:
        if batch.attributes & ~_KNOWN_ATTRIBUTES and batch.attributes & layout.COMPRESSION_MASK <= Compression.ZSTD:
            self._report_attributes(batch)
        if batch.base_offset >= self._producer_check.next_snapshot:
            self._producer_check.on_offset(batch.base_offset)
        self._producer_check.on_batch(batch)

    def _on_segment_end(self, segment: SegmentFile, end: int | None, position: int) -> None:
        if self._offset_rows is not None:
            self._offset_rows.on_end(position)
        if self._time_rows is not None:
            is_complete = not self._is_open(end) or self._folder.clean_shutdown
            self._time_rows.on_end(self._next_offset, self._max_timestamp if is_complete else None)
        self._producer_check.on_segment_end(segment, self._next_offset, is_complete=not self._is_unflushed(end))

    def _is_open(self, end: int | None) -> bool:
        """Return whether the indexes of a segment may be preallocated, so that they end with zeros.

        `end` is the offset at which the segment ends, None for the last segment.
        """
        return end is None or self._is_unflushed(end)

    def _is_unflushed(self, end: int | None) -> bool:
        """Return whether a broker recovers the segment before offset `end`, and may have been killed while doing so.

        Recovery rewrites the indexes from the start, in files preallocated like those of an active segment.
        """
        point = self._folder.recovery_point
        return point is not None and (end is None or end > point)


class Job(NamedTuple):
    """Folders to verify."""

    top: Path  # The log folder, also for a single partition.
    folders: list[PartitionFolder]
    facts: FolderFacts
    is_single: bool = False  # Of the log folder, only the values of this one partition are verified.

    @property
    def size(self) -> int:
        """Total size of the segments to check, in bytes."""
        return sum(folder.size for folder in self.folders)


def open_job(path: Path, tally: Tally) -> Job:
    """Return the job for `path`, a log folder or one of its partitions; raises `UsageError`."""
    is_single = not is_log_dirs(path)
    facts, top = FolderFacts(), Path(os.path.abspath(path)).parent if is_single else path
    try:
        facts = read_folder_facts(top)
    except (FileFault, Unreadable) as error:
        tally.report_error(error)
    folders = []
    for partition in [path] if is_single else partition_paths(path):
        try:
            folders.append(open_partition(partition, facts))
        except (FileFault, Unreadable) as error:
            tally.report_error(error)
        except UsageError as error:
            if is_single:
                raise
            tally.skipped.append(str(error))
    if not (is_single or folders or tally.faults or (path / META_PROPERTIES).is_file()):
        # Passing the parent of the log folders by mistake must not succeed.
        hint = suggestion(path) or "; give a folder of a broker's log.dirs"
        raise UsageError(f"{path}: none of its folders contains segment files{hint}")
    if not is_single:
        tally.skipped += [f"{path / name}: {reason}" for name, reason in list_renamed_folders(path)]
    return Job(top, folders, facts, is_single)


def verify(job: Job, tally: Tally, *, decodes: bool = False) -> None:
    """Verify everything; `tally` receives the faults. Raises `UsageError` if there is no log and no fault."""
    topic_ids: dict[str, tuple[Uuid, Path]] = {}
    for folder in job.folders:
        with _reporting(tally):
            end = PartitionCheck(folder, tally, decodes=decodes).run()
            _check_topic_id(folder, topic_ids, tally)
            for path in sorted(folder.path.glob("*.checkpoint")):
                _check_snapshot(path, tally)
            if not folder.is_set_aside:  # The checkpoints refer to the folder without the suffix.
                check_offsets(job.top, job.facts, folder, end, tally)
    if not job.is_single:
        with _reporting(tally):
            check_folder_files(job.top, tally)
        for path in sorted(job.top.glob("*.checkpoint")):
            with _reporting(tally):
                _check_snapshot(path, tally)
    if not (job.folders or tally.faults):
        raise UsageError(f"{job.top}: contains no partition yet, so there is no log to verify")


@contextmanager
def _reporting(tally: Tally) -> Iterator[None]:
    """Report a file that is unreadable or was just deleted by a broker, and continue."""
    try:
        yield
    except Unreadable as error:
        tally.report_error(error)


def _check_topic_id(folder: PartitionFolder, known: dict[str, tuple[Uuid, Path]], tally: Tally) -> None:
    path = folder.path / PARTITION_METADATA
    data = read_if_present(path)
    if data is None:
        return
    try:
        topic_id = parse_topic_id(data, path)
    except FileFault as error:
        tally.report_error(error)
        return
    first, first_path = known.setdefault(folder.tp.topic, (topic_id, path))
    if first != topic_id:
        tally.add_fault(path, f"the topic id is {topic_id}, but {first} in {first_path.parent.name}")


def _check_snapshot(path: Path, tally: Tally) -> None:
    """Check a snapshot of a metadata log: batches from offset 0 on without a gap, the last one a footer."""
    next_offset = 0
    batch: Batch | None = None
    with mapped(path) as file:
        try:
            for found in iter_any_batches(file.view, check_crc=True):
                if not isinstance(found, Batch):
                    tally.add_fault(path, "a message older than batches", found.position)
                    return
                batch = found
                if found.base_offset != next_offset:
                    tally.add_fault(
                        path,
                        f"the batch begins with offset {found.base_offset}, expected {next_offset}",
                        found.position,
                    )
                next_offset = found.next_offset
                tally.batches += 1
        except CorruptBatch as error:
            tally.add_fault(path, error.reason, error.position)
            return
        if batch is None or not batch.is_control:
            tally.add_fault(path, "it does not end with the footer of a snapshot", file.size)
        tally.snapshots += 1
        batch = None  # A view of the file would keep it open.
