"""Selection of the partitions of two folders to compare."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import as_names, few
from kmirror.logdir.checkpoints import read_folder_facts
from kmirror.logdir.partition import (
    PartitionFolder,
    has_only_folders,
    is_log_dirs,
    open_partition,
    partition_paths,
    suggestion,
)
from kmirror.spec.topics import SYSTEM_TOPICS


@dataclass(frozen=True, slots=True)
class Pairs:
    """Partitions to compare, those that only one side has, and notes about skipped folders."""

    both: list[tuple[PartitionFolder, PartitionFolder]]
    only_left: list[PartitionFolder]
    only_right: list[PartitionFolder]
    notes: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Total size in bytes of the left side's logs to compare."""
        return sum(left.size for left, _ in self.both)


def pair_folders(left: Path, right: Path, *, topics: Collection[str] | None = None, internal: bool = False) -> Pairs:
    """Return the partitions to compare in two partition folders or two log folders.

    `topics` selects topics; without it all are compared, internal ones only with `internal`. Raises `UsageError` if a
    side has nothing to compare or no such topic, `FileFault` and `Unreadable` for the files of a log folder.
    """
    selected_topics = None if topics is None else as_names(topics)
    are_logs = [is_log_dirs(path) for path in (left, right)]
    if not any(are_logs):
        return Pairs([(open_partition(left), open_partition(right))], [], [])
    notes: list[str] = []
    sides = []
    for path, is_log in zip((left, right), are_logs, strict=True):
        found = _partitions(path, notes) if is_log else {}
        if is_log and not found:
            raise UsageError(f"{path}: contains no log to compare{suggestion(path)}")
        sides.append(found)
    if are_logs[0] != are_logs[1]:
        one, other = (left, right) if are_logs[0] else (right, left)
        raise UsageError(f"{one} is a log folder, but {other} is not{suggestion(other)}: give two of the same kind")
    for topic in selected_topics or ():
        if not any(tp.topic == topic for side in sides for tp in side):
            topics_found = sorted({tp.topic for side in sides for tp in side})
            raise UsageError(
                f"neither {left} nor {right} has the topic {topic!r}: they have {few(topics_found, 'topics')}"
            )

    def is_selected(tp: TopicPartition) -> bool:
        return internal or tp.topic not in SYSTEM_TOPICS if selected_topics is None else tp.topic in selected_topics

    left_partitions, right_partitions = (_select(side, is_selected) for side in sides)
    if not (left_partitions or right_partitions):
        raise UsageError(f"{left} and {right} have internal topics only: compare them with --internal")
    both = sorted(left_partitions.keys() & right_partitions.keys())
    return Pairs(
        [(left_partitions[tp], right_partitions[tp]) for tp in both],
        [left_partitions[tp] for tp in sorted(left_partitions.keys() - right_partitions.keys())],
        [right_partitions[tp] for tp in sorted(right_partitions.keys() - left_partitions.keys())],
        notes,
    )


def _select(
    found: dict[TopicPartition, PartitionFolder], is_selected: Callable[[TopicPartition], bool]
) -> dict[TopicPartition, PartitionFolder]:
    return {tp: folder for tp, folder in found.items() if is_selected(tp)}


def _partitions(top: Path, notes: list[str]) -> dict[TopicPartition, PartitionFolder]:
    facts = read_folder_facts(top)
    found = {}
    for path in partition_paths(top):
        if has_only_folders(path):
            notes.append(f"{path}: skipped, because it contains folders and no log")
            continue
        folder = open_partition(path, facts, may_be_empty=True)
        found[folder.tp] = folder
    return found
