"""Choice of partitions by the folders, topics and numbers of a command line.

Rule 1: a folder is that of a partition, or with `--topic` a log folder (one of a broker's `log.dirs`).
Rule 2: partitions are taken by topic and number, in any order of the command line: orders-2 precedes orders-10.
Rule 3: a name or a number that matches nothing is an error, and so is a partition that occurs twice, because two
replicas in a row would look like one log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kmirror.errors import UsageError, did_you_mean
from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.checkpoints import FolderFacts, read_folder_facts
from kmirror.logdir.names import partition_of
from kmirror.logdir.partition import (
    PartitionFolder,
    has_partition_files,
    is_log_dirs,
    open_partition,
    partition_paths,
)

_SHOWN_MAX = 5


class Candidate(NamedTuple):
    """A partition that may be chosen; `facts` are those of the log folder in which it was found."""

    tp: TopicPartition
    path: Path
    facts: FolderFacts | None = None  # None for a folder given directly.

    def open(self) -> PartitionFolder:
        return open_partition(self.path, self.facts, may_be_empty=self.facts is not None)


def choose_partitions(
    folders: Sequence[Path], topics: Sequence[str] = (), numbers: Sequence[int] = ()
) -> list[PartitionFolder]:
    """Return the chosen partitions, by topic and number.

    Raise UsageError as the rules say; raise Unreadable and FileFault for problems of the files.
    """
    candidates = [candidate for folder in folders for candidate in _candidates(folder, has_topics=bool(topics))]
    folder_names = ", ".join(str(folder) for folder in folders)
    names = list(dict.fromkeys(candidate.tp.topic for candidate in candidates))
    for topic in topics:
        if topic not in names:
            raise UsageError(f"{folder_names}: no partitions of topic {topic}; {_hint(topic, names)}")
    candidates = [candidate for candidate in candidates if not topics or candidate.tp.topic in topics]
    available = sorted({candidate.tp.partition for candidate in candidates})
    for number in numbers:
        if number not in available:
            raise UsageError(f"{folder_names}: no partition {number}; available: {_names_text(available)}")
    candidates = [candidate for candidate in candidates if not numbers or candidate.tp.partition in numbers]
    candidates.sort(key=lambda candidate: candidate.tp)
    for one, other in pairwise(candidates):
        if one.tp == other.tp:
            raise UsageError(f"{one.path} and {other.path} are both {one.tp}: give only one of them")
    return [candidate.open() for candidate in candidates]


def _candidates(folder: Path, *, has_topics: bool) -> Iterator[Candidate]:
    """Yield the partition of the folder, or those of a log folder."""
    if has_partition_files(folder) or not is_log_dirs(folder):
        yield Candidate(open_partition(folder).tp, folder)
        return
    paths = partition_paths(folder)
    if not paths:
        raise UsageError(f"{folder}: a log folder without partitions")
    if not has_topics:
        names = _names_text(dict.fromkeys(tp.topic for tp in map(_tp_of, paths)))
        raise UsageError(f"{folder}: a log folder with {names}: select a topic with --topic, or give {paths[0]}")
    facts = read_folder_facts(folder)
    for path in paths:
        yield Candidate(_tp_of(path), path, facts)


def _tp_of(path: Path) -> TopicPartition:
    tp = partition_of(path.name)
    assert tp is not None, f"{path} is no partition's"
    return tp


def _hint(topic: str, names: Sequence[str]) -> str:
    return did_you_mean(topic, names) or f"available topics: {_names_text(names)}"


def _names_text(names: Iterable[object]) -> str:
    texts = [str(name) for name in names]
    return ", ".join(texts[:_SHOWN_MAX]) + (" and more" if len(texts) > _SHOWN_MAX else "")
