"""Files of a partition's log, and its start and end.

A partition folder is read alone or with the surrounding log folder, whose checkpoints have the log start and the high
watermark. Only names, sizes and checkpoints are read into memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import few
from kmirror.log.state_files import SNAPSHOT_SUFFIX, offset_of
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA
from kmirror.logdir.checkpoints import META_PROPERTIES, FolderFacts, read_folder_facts
from kmirror.logdir.faults import Unreadable, fault_of, read_error, reading
from kmirror.logdir.mapped import MappedFile, mapped
from kmirror.logdir.names import RENAME_REASONS, parse_folder_name, partition_of
from kmirror.logdir.segments import SegmentFile, is_segment_name, list_segments
from kmirror.records.legacy import AnyBatch, iter_any_batches

_ADVICE: Final = "give a partition's folder, such as DIR/orders-0"
_DEPTH_MAX: Final = 2


class PartitionFolder(NamedTuple):
    """A partition on disk; `high_watermark` is None if no checkpoint has it."""

    tp: TopicPartition
    path: Path
    segments: list[SegmentFile]
    log_start_offset: int
    high_watermark: int | None
    clean_shutdown: bool
    is_set_aside: bool  # True if the folder name shows that the broker was deleting or moving it.
    recovery_point: int | None = None  # After a kill: segments above it must be recovered.
    closed_at: int | None = None  # After a clean shutdown: the log end offset at that time.

    @property
    def size(self) -> int:
        """Total size of the segments in bytes."""
        return sum(segment.size for segment in self.segments)

    def segments_from(self, offset: int) -> list[SegmentFile]:
        """Return the segments that may contain `offset` or higher offsets."""
        bases = [segment.base_offset for segment in self.segments]
        count = sum(base <= offset for base in bases)
        return self.segments[max(0, count - 1) :]


def has_partition_files(folder: Path) -> bool:
    """Return whether `folder` is a partition folder."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
    except NotADirectoryError:
        raise UsageError(f"{folder}: is not a folder; {_ADVICE}") from None
    except FileNotFoundError:
        raise UsageError(f"{folder}: no such folder") from None
    except (OSError, ValueError) as error:
        raise read_error(error, folder) from None
    return any(name in (LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA) or is_segment_name(name) for name in names)


def open_partition(
    folder: str | os.PathLike[str], facts: FolderFacts | None = None, *, may_be_empty: bool = False
) -> PartitionFolder:
    """Return the partition in `folder`; `facts` are those of the surrounding folder, if already read.

    A broker treats a folder without files as an empty log, as after a kill right after creating the folder. Here that
    is an error unless `may_be_empty` is set.
    """
    folder = Path(folder)
    if not has_partition_files(folder):
        suggestions = [path.name for path in partition_paths(folder)]  # `kafka-1` may be a log folder.
        hint = f"; it has {few(suggestions, '')}" if suggestions else suggestion(folder)
        if suggestions or not may_be_empty:
            raise UsageError(f"{folder}: contains no segment files{hint}; {_ADVICE}")
    return read_partition(folder, facts)


def read_partition(folder: Path, facts: FolderFacts | None = None) -> PartitionFolder:
    """Return the partition with this folder name, with any files; for `facts` see `open_partition`.

    Raises `UsageError` for an invalid name, `FileFault` for a file of the surrounding folder or the name of a segment.
    """
    absolute = Path(os.path.abspath(folder))  # `.` is not the folder's name, and a link has its own.
    name = parse_folder_name(absolute.name)
    if name is None:
        raise UsageError(f"{folder}: the name is not TOPIC-PARTITION; {_ADVICE}")
    tp, is_set_aside = name.tp, name.rename_suffix is not None
    folder_facts = read_folder_facts(absolute.parent) if facts is None else facts
    if is_set_aside and (absolute.parent / str(tp)).is_dir():
        folder_facts = FolderFacts()  # The checkpoints refer to the folder without the suffix.
    is_closed = folder_facts.clean_shutdown and not is_set_aside  # A broker does not close a log that it is deleting.
    segments = list_segments(folder)
    bases = [segment.base_offset for segment in segments]
    start = folder_facts.log_start_offsets.get(tp, 0)
    return PartitionFolder(
        tp=tp,
        path=folder,
        segments=segments,
        log_start_offset=max(start, min(bases, default=start)),
        high_watermark=folder_facts.high_watermarks.get(tp),
        clean_shutdown=is_closed,
        is_set_aside=is_set_aside,
        recovery_point=_recovery_point(folder_facts, tp),
        closed_at=folder_facts.recovery_points.get(tp) if is_closed else None,
    )


def _recovery_point(folder_facts: FolderFacts, tp: TopicPartition) -> int | None:
    """Return the start of recovery after a kill: offset 0 if the broker has not recorded one yet."""
    if folder_facts.clean_shutdown or not folder_facts.has_meta_properties:
        return None
    return folder_facts.recovery_points.get(tp, 0)


def partition_paths(top: Path) -> list[Path]:
    """Return the folders of `top` that a broker would load as partitions, by topic and number."""
    found: list[tuple[TopicPartition, Path]] = []
    with reading(top), os.scandir(top) as entries:
        for entry in entries:
            tp = partition_of(entry.name) if entry.is_dir() else None
            if tp is not None:
                found.append((tp, top / entry.name))
    return [path for _, path in sorted(found)]


def list_renamed_folders(top: Path) -> list[tuple[str, str]]:
    """Return the folders of `top` that a broker renamed because they are no current partition, each with the reason."""
    found = []
    with reading(top), os.scandir(top) as entries:
        for entry in entries:
            name = parse_folder_name(entry.name)
            if name is not None and name.rename_suffix is not None and entry.is_dir():
                found.append((entry.name, RENAME_REASONS[name.rename_suffix]))
    return sorted(found)


def has_only_folders(folder: Path) -> bool:
    """Return whether `folder` is no partition folder in spite of its name: it has folders and no partition files."""
    if has_partition_files(folder):
        return False
    with reading(folder), os.scandir(folder) as entries:
        return any(entry.is_dir() for entry in entries)


def log_dirs_below(top: Path) -> list[Path]:
    """Return the log folders one or two levels below `top`, sorted, to suggest them to the user."""
    found: list[Path] = []
    level = [top]
    for _ in range(_DEPTH_MAX):
        subfolders = []
        for folder in level:
            with reading(folder), os.scandir(folder) as entries:
                subfolders += [folder / entry.name for entry in entries if entry.is_dir()]
        level = []
        for folder in subfolders:
            is_log = (folder / META_PROPERTIES).is_file() or any(map(has_partition_files, partition_paths(folder)))
            (found if is_log else level).append(folder)
    return sorted(found)


def suggestion(folder: Path) -> str:
    """Return "; did you mean" with the log folders below `folder`; "" if there are none or it is a file."""
    try:
        suggestions = log_dirs_below(folder)
    except Unreadable:
        return ""
    return f"; did you mean {few(suggestions, '')}?" if suggestions else ""


def snapshots_of(folder: Path) -> list[tuple[int, Path]]:
    """Return the producer snapshots in a partition folder with their offsets, in order."""
    with reading(folder):
        found = ((offset_of(name, SNAPSHOT_SUFFIX), folder / name) for name in os.listdir(folder))
        return sorted((offset, path) for offset, path in found if offset is not None)


def is_log_dirs(folder: Path) -> bool:
    """Return whether `folder` is a log folder and not a partition folder."""
    return not has_partition_files(folder) and bool(partition_paths(folder) or (folder / META_PROPERTIES).is_file())


def iter_batches(
    segments: list[SegmentFile], *, end: int | None = None, check_crc: bool = False
) -> Iterator[tuple[MappedFile, AnyBatch]]:
    """Yield the batches below offset `end`, each with its file; nothing from `end` on is read.

    A batch is valid until the next one is requested. Raises `FileFault` for bytes that are no batch.
    """
    if end is not None and end <= 0:
        return
    for segment in segments:
        if end is not None and segment.base_offset >= end:
            return
        with mapped(segment.path) as file:
            try:
                for batch in iter_any_batches(file.view, check_crc=check_crc):
                    if end is not None and batch.next_offset > end:
                        return
                    yield file, batch
                    file.release_before(batch.position)
                    if batch.next_offset == end:
                        return
            except CorruptBatch as error:
                raise fault_of(error, segment.path) from None
