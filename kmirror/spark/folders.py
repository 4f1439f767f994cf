"""Partitions under a path, and the splitting of their logs into pieces of work.

A path is a `log.dirs` folder, a partition's folder, a segment file, or a glob of these; a `file:` URI works as well.
Nothing is decoded here, only names, sizes and, for a large segment, its offset index, whose entries point at batches.
Without an index the headers are read one after the other.
"""

from __future__ import annotations

import glob
import mmap
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from urllib.parse import unquote, urlparse

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.index import OFFSET_ROW
from kmirror.log.state_files import INDEX_SUFFIX, LOG_SUFFIX
from kmirror.logdir.checkpoints import FolderFacts, read_folder_facts
from kmirror.logdir.names import partition_of
from kmirror.logdir.partition import (
    PartitionFolder,
    has_partition_files,
    partition_paths,
    read_partition,
    suggestion,
)
from kmirror.logdir.segments import is_segment_name
from kmirror.records import layout
from kmirror.spec.topics import SYSTEM_TOPICS

SPLIT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class FolderSegment:
    """One segment file, with an absolute path; `end_offset` is the next segment's base offset, None for the last."""

    tp: TopicPartition
    path: str
    base_offset: int
    size: int
    log_start_offset: int
    end_offset: int | None


@dataclass(frozen=True, slots=True)
class Split:
    """The bytes [start, end) of a segment."""

    segment: FolderSegment
    start: int
    end: int


def find_segments(paths: str, *, topics: Collection[str] | None = None, internal: bool = False) -> list[FolderSegment]:
    """Return the segments under `paths` (several are joined by commas); raises `UsageError` if there are none."""
    found: list[FolderSegment] = []
    reasons: list[str] = []
    tops: dict[Path, FolderFacts] = {}
    for path in _expand(paths):
        found_before = len(found)
        for folder in _partition_folders(path):
            tp = partition_of(folder.name)
            if tp is None:
                reasons.append(f"{folder.name} is not named TOPIC-PARTITION")
            elif tp.topic in SYSTEM_TOPICS and not internal:
                reasons.append(f"{tp.topic} is internal (option includeInternal)")
            elif topics is None or tp.topic in topics:
                facts = tops[folder.parent] = tops.get(folder.parent) or read_folder_facts(folder.parent)
                start = facts.log_start_offsets.get(tp, 0)
                found += _segments(read_partition(folder, facts), start, path if path.is_file() else None)
        if len(found) == found_before and not path.exists():
            reasons.append(f"{path} does not exist")
        elif len(found) == found_before and topics is None:
            hint = suggestion(path).removeprefix("; ")
            reasons += [hint] if hint else []
    if not found and topics is None:
        hint = f" ({'; '.join(dict.fromkeys(reasons))})" if reasons else ""
        raise UsageError(f"{paths}: no segment of a Kafka log there{hint}")
    return found


def check_topics(paths: str, topics: Collection[str], found: Collection[FolderSegment]) -> None:
    """Raise `UsageError` for a topic of `topics` without a segment."""
    found_topics = {segment.tp.topic for segment in found}
    for topic in topics:
        if topic not in found_topics:
            hint = " (internal: option includeInternal)" if topic in SYSTEM_TOPICS else ""
            raise UsageError(f"{paths}: no segment of topic {topic!r} there{hint}")


def _expand(paths: str) -> Iterator[Path]:
    for text in paths.split(","):
        pattern = text.strip()
        if pattern.startswith("file:"):
            pattern = unquote(urlparse(pattern).path)
        elif "://" in pattern:
            raise UsageError(f"{pattern}: log folders are read from a file system that every executor sees, not by URL")
        if glob.has_magic(pattern) and not Path(pattern).exists():
            matches = sorted(glob.glob(pattern))
            if not matches:
                raise UsageError(f"{pattern}: the pattern matches nothing")
            yield from (_absolute(match) for match in matches)
        else:
            yield _absolute(pattern)


def _absolute(path: str) -> Path:
    """Return the absolute path, which is the same for every executor; links are not resolved."""
    return Path(os.path.abspath(path))


def _partition_folders(path: Path) -> Iterator[Path]:
    if path.is_file():
        if is_segment_name(path.name):
            yield path.parent
        return
    if not path.is_dir():
        raise UsageError(f"{path}: does not exist; give a log.dirs folder, a partition's folder, or a pattern")
    if has_partition_files(path):
        yield path
        return
    yield from sorted(partition_paths(path))


def _segments(partition: PartitionFolder, start: int, segment_file: Path | None) -> Iterator[FolderSegment]:
    files = partition.segments
    for file, next_file in zip_longest(files, files[1:]):
        if segment_file is None or file.path.name == segment_file.name:
            end = None if next_file is None else next_file.base_offset
            yield FolderSegment(partition.tp, str(file.path), file.base_offset, file.size, start, end)


def split(segment: FolderSegment, split_bytes: int = SPLIT_BYTES) -> list[Split]:
    """Return the segment in pieces of about `split_bytes`; each begins at a batch."""
    if segment.size <= split_bytes:
        return [Split(segment, 0, segment.size)]
    cuts = [0]
    for position in _index_positions(segment):
        if position - cuts[-1] >= split_bytes:
            cuts.append(position)
    if len(cuts) == 1:
        cuts = _split_by_headers(segment, split_bytes)
    return [Split(segment, a, b) for a, b in zip(cuts, [*cuts[1:], segment.size], strict=True)]


def index_position(segment: FolderSegment, offset: int) -> int:
    """Return the position of an indexed batch that begins at or below `offset`; 0 if none is known."""
    best = 0
    with open(segment.path, "rb") as log:
        for position in _index_positions(segment):
            log.seek(position)
            if layout.OVERHEAD.unpack(log.read(layout.LOG_OVERHEAD))[0] > offset:
                break
            best = position
    return best


def first_offset(part: Split) -> int:
    """Return the first offset in the header of a split's first batch; in formats 0 and 1 the last one of a wrapper."""
    with open(part.segment.path, "rb") as log:
        log.seek(part.start)
        head = log.read(layout.LOG_OVERHEAD)
    offset: int = layout.OVERHEAD.unpack(head)[0] if len(head) == layout.LOG_OVERHEAD else part.segment.base_offset
    return offset


def _index_positions(segment: FolderSegment) -> Iterator[int]:
    """Yield the positions in the offset index, up to the first one that does not match the log."""
    path = Path(segment.path)
    if not path.name.endswith(LOG_SUFFIX):
        return
    try:
        data = path.with_name(path.name.removesuffix(LOG_SUFFIX) + INDEX_SUFFIX).read_bytes()
    except OSError:
        return
    usable = len(data) - len(data) % OFFSET_ROW.size
    with path.open("rb") as log:
        for relative, position in OFFSET_ROW.iter_unpack(data[:usable]):
            if position <= 0:
                continue  # The zeros of a file that was preallocated and never trimmed.
            log.seek(position)
            head = log.read(layout.ATTRIBUTES_AT)
            if len(head) < layout.ATTRIBUTES_AT:
                return
            offset, length = layout.OVERHEAD.unpack_from(head)
            is_within = segment.base_offset <= offset <= segment.base_offset + relative
            if not is_within or length < layout.LEGACY_LENGTH_MIN or head[layout.MAGIC_AT] > layout.MAGIC_V2:
                return  # The index does not belong to this log: later entries are no better.
            yield position


def _split_by_headers(segment: FolderSegment, split_bytes: int) -> list[int]:
    """Return the positions at which to split a segment without an index, by reading all headers."""
    cuts, position = [0], 0
    with open(segment.path, "rb") as log, mmap.mmap(log.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while position + layout.LOG_OVERHEAD <= len(data):
            length = layout.OVERHEAD.unpack_from(data, position)[1]
            if length < layout.LEGACY_LENGTH_MIN:
                break
            if position - cuts[-1] >= split_bytes:
                cuts.append(position)
            position += layout.LOG_OVERHEAD + length
    return cuts
