"""Loading a folder of a Kafka broker's `log.dirs`.

The folder is read into memory and never written. Parts that cannot be mirrored are skipped and listed in
`LogDirs.skipped`. A file that Kafka would not have written raises an error with file, byte position, offset and reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from kmirror.errors import UsageError
from kmirror.kernel.arguments import callback, shown, whole_number
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import as_names, counted, few
from kmirror.kernel.uuid import Uuid
from kmirror.log.store import HIGH_WATERMARK, LEADER_EPOCH_CHECKPOINT, LOG_START_OFFSET, PARTITION_METADATA
from kmirror.logdir.available_memory import allowed_bytes, size_in_words
from kmirror.logdir.checkpoints import (
    FolderFacts,
    parse_topic_id,
    read_folder_facts,
    read_if_present,
)
from kmirror.logdir.faults import Gap, read_error
from kmirror.logdir.load_segments import load_segments
from kmirror.logdir.names import RENAME_REASONS, parse_folder_name
from kmirror.logdir.partition import PartitionFolder, has_partition_files, read_partition, suggestion
from kmirror.spec.topics import SYSTEM_TOPICS

__all__ = ["LogDirs", "PartitionFiles", "SkippedFolder", "read_log_dirs", "read_sample"]

# Maximum number of copies of a log's bytes in a mirror run: the loaded one, and three replicas on each of two clusters.
# Replicas may share bytes.
COPIES = 7

_ADVICE = "give the folder that a broker's log.dirs names, or one partition's folder in it"

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the total."""


class SkippedFolder(NamedTuple):
    """A topic or folder that was skipped."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """Files of one partition on disk; all batches have been checked.

    `files` has the named files of a `PartitionStore`: the partition's own files, unchanged, and its values of the
    common checkpoints. `log_start_offset` and `high_watermark` are those that a broker would start with. `gaps` are the
    offsets below the first segment or between segments that no segment contains, as after a compaction.
    """

    segments: dict[int, bytes]
    files: dict[str, bytes]
    topic_id: Uuid | None
    log_start_offset: int
    log_end_offset: int
    high_watermark: int | None
    batches: int
    gaps: tuple[Gap, ...] = ()

    @property
    def size_in_bytes(self) -> int:
        """Total size of the segments in bytes."""
        return sum(len(data) for data in self.segments.values())


@dataclass(frozen=True, slots=True)
class LogDirs:
    """Content of a log folder; `partitions` is ordered by topic and partition."""

    path: Path
    cluster_id: str | None
    partitions: dict[TopicPartition, PartitionFiles]
    skipped: list[SkippedFolder] = field(default_factory=list)

    @property
    def topics(self) -> dict[str, list[int]]:
        """Partitions of each topic in this folder; other partitions may be on other brokers."""
        found: dict[str, list[int]] = {}
        for topic, partition in self.partitions:
            found.setdefault(topic, []).append(partition)
        return found

    def topic_id(self, topic: str) -> Uuid | None:
        """Return the topic's id, or None if it was written by a broker without topic ids."""
        return next((files.topic_id for tp, files in self.partitions.items() if tp.topic == topic), None)


def read_log_dirs(
    path: str | os.PathLike[str],
    *,
    topics: Collection[str] | None = None,
    progress: Progress | None = None,
    memory_limit: int | None = None,
) -> LogDirs:
    """Return the content of the log folder, or of the single partition folder, at `path`.

    `topics` selects topics; without it all mirrorable partitions are read. `memory_limit` (bytes) replaces the
    machine's free memory. Raises `UsageError`, `Unreadable`, and `FileFault` at the first fault in a file.
    """
    folder = _check_path(path)
    selected = None if topics is None else as_names(topics)
    if progress is not None:
        callback("progress", progress)
    if memory_limit is not None:
        whole_number("memory_limit", memory_limit, 0)
    names = _list_folder(folder)
    skipped: list[SkippedFolder] = []
    if has_partition_files(folder):
        folder = folder.resolve()  # The folder's name is that of the partition, so `.` must be resolved.
        facts = read_folder_facts(folder.parent)
        found = list(_find_partitions(folder.parent, [folder.name], facts, skipped))
    else:
        facts = read_folder_facts(folder)
        found = list(_find_partitions(folder, names, facts, skipped))
    if selected is not None:
        found = _select_topics(folder, found, selected, skipped)
        skipped.clear()  # With selected topics, other skipped folders are not reported.
    if not found:
        raise UsageError(_no_log_message(folder, skipped))
    _check_size(folder, found, memory_limit)
    partitions = _read_partitions(found, facts, progress)
    _check_topic_ids(folder, partitions)
    return LogDirs(folder, facts.cluster_id, partitions, skipped)


def read_sample(topics: Collection[str] | None = None) -> LogDirs:
    """Return the sample in this package: partitions that Apache Kafka 4.3.1 wrote.

    `topics` selects topics; raises `UsageError` if the sample lacks one of them.
    """
    with resources.as_file(resources.files("kmirror.logdir") / "sample") as folder:
        return read_log_dirs(folder, topics=topics)


def _check_path(path: object) -> Path:
    """Return the path; raises `UsageError` for other types and for an empty str, which would mean the folder `.`."""
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise UsageError(f"a folder must be a str or a path, not {shown(path)}; {_ADVICE}")
    return Path(path)


def _list_folder(folder: Path) -> list[str]:
    """Return the names of the folders in `folder`, sorted; raises `UsageError` if it is no folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except (FileNotFoundError, ValueError):  # ValueError: the path contains a null character.
        raise UsageError(f"{folder}: does not exist; {_ADVICE}") from None
    except NotADirectoryError:
        raise UsageError(f"{folder}: is not a folder; {_ADVICE}") from None
    except OSError as error:
        raise read_error(error, folder) from None


def _find_partitions(
    top: Path, names: list[str], facts: FolderFacts, skipped: list[SkippedFolder]
) -> Iterator[PartitionFolder]:
    """Yield the folders of `top` that a broker would load; the others are added to `skipped`."""
    internal = set()
    for name in names:
        found = parse_folder_name(name)
        if found is None:
            skipped.append(SkippedFolder(name, "the name is not TOPIC-PARTITION"))
            continue
        tp, rename_suffix = found
        if rename_suffix is not None:
            skipped.append(SkippedFolder(name, RENAME_REASONS[rename_suffix]))
        elif tp.topic in SYSTEM_TOPICS:
            if tp.topic not in internal:
                skipped.append(SkippedFolder(tp.topic, "internal topic"))
            internal.add(tp.topic)
        elif has_partition_files(top / name):
            yield read_partition(top / name, facts)
        else:
            skipped.append(SkippedFolder(name, "contains no segment file"))


def _select_topics(
    folder: Path, found: list[PartitionFolder], topics: Collection[str], skipped: list[SkippedFolder]
) -> list[PartitionFolder]:
    """Return the partitions of `topics`; raises `UsageError` for a missing topic."""
    reasons = dict(skipped)
    if not topics:
        raise UsageError(f"{folder}: the list of topics is empty; omit it to read all topics")
    present = sorted({item.tp.topic for item in found})
    for topic in topics:
        if topic not in present:
            reason = reasons.get(topic, f"it has {few(present, 'topics')}")
            raise UsageError(f"{folder}: no topic {topic!r} to mirror: {reason}")
    return [item for item in found if item.tp.topic in topics]


def _check_size(folder: Path, found: list[PartitionFolder], memory_limit: int | None) -> None:
    """Raise `UsageError` if mirroring these segments may need more memory than allowed."""
    total = sum(item.size for item in found)
    allowed = allowed_bytes() if memory_limit is None else memory_limit
    if allowed is not None and total * COPIES > allowed:
        raise UsageError(
            f"{folder}: mirroring {size_in_words(total)} of segments in {counted(len(found), 'partition')} takes up to "
            f"{size_in_words(total * COPIES)} of memory ({COPIES} copies), but the limit is "
            f"{size_in_words(allowed)}; choose fewer topics"
        )


def _read_partitions(
    found: list[PartitionFolder], facts: FolderFacts, progress: Progress | None
) -> dict[TopicPartition, PartitionFiles]:
    """Return all partitions, checked."""
    total, done = sum(item.size for item in found), 0
    partitions: dict[TopicPartition, PartitionFiles] = {}

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    for item in sorted(found, key=lambda item: item.tp):
        done_before = done
        partitions[item.tp] = _read_partition(item, facts, advance)
        advance(item.size - (done - done_before))
    return partitions


def _read_partition(item: PartitionFolder, facts: FolderFacts, on_read: Callable[[int], None]) -> PartitionFiles:
    files: dict[str, bytes] = {}
    for name in (LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA):
        data = read_if_present(item.path / name)
        if data is not None:
            files[name] = data
    metadata = files.get(PARTITION_METADATA)
    loaded = load_segments(item, facts.recovery_points.get(item.tp), on_read)
    start, high_watermark = item.log_start_offset, item.high_watermark
    if high_watermark is not None:
        high_watermark = min(max(high_watermark, start), loaded.end_offset)
        files[HIGH_WATERMARK] = b"%d" % high_watermark
    files[LOG_START_OFFSET] = b"%d" % start
    return PartitionFiles(
        segments=loaded.segments,
        files=files,
        topic_id=None if metadata is None else parse_topic_id(metadata, item.path / PARTITION_METADATA),
        log_start_offset=start,
        log_end_offset=loaded.end_offset,
        high_watermark=high_watermark,
        batches=loaded.batches,
        gaps=tuple(loaded.gaps),
    )


def _check_topic_ids(folder: Path, partitions: dict[TopicPartition, PartitionFiles]) -> None:
    """Raise `UsageError` if two partitions of a topic have different topic ids."""
    first: dict[str, tuple[TopicPartition, Uuid | None]] = {}
    for tp, files in partitions.items():
        other, topic_id = first.setdefault(tp.topic, (tp, files.topic_id))
        if topic_id != files.topic_id:
            raise UsageError(
                f"{folder}: {other} has the topic id {topic_id} and {tp} has {files.topic_id}; "
                "the topic was deleted and created again: remove the folders of the old topic"
            )


def _no_log_message(folder: Path, skipped: list[SkippedFolder]) -> str:
    """Return the error text for a folder with nothing to mirror, with a suggested path if there is one."""
    hint = suggestion(folder)
    if hint:
        return f"{folder}: contains no log{hint}"
    if skipped:
        listing = "; ".join(f"{name}: {reason}" for name, reason in skipped[:5])
        more = f"; and {len(skipped) - 5} more" if len(skipped) > 5 else ""
        return f"{folder}: contains no log to mirror ({listing}{more})"
    return f"{folder}: contains no log; {_ADVICE}"
