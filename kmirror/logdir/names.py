"""Folder names in `log.dirs`, and their partitions.

    orders-0                   the partition's log
    orders-0.<id>-delete       renamed by a broker: `RENAME_REASONS` has the reasons; <id> is 32 random hex digits

Only names that a broker writes are accepted: the topic is valid (Kafka's Topic.validate), and the partition, after the
last dash, is an int32 in plain decimal. A broker does not start if it finds a folder with another name. It accepts only
the variants that `Integer.parseInt` allows (`t-01` and `t-+1` for `t-1`), and topic names that cannot be created.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import problem_with_name

# Reasons why a broker has renamed a folder, by suffix of the new name.
RENAME_REASONS: Final = {
    "delete": "the broker was deleting this folder",
    "stray": "the broker found no such partition in its metadata",
    "future": "a move between disks was not finished",
}
NAME_MAX: Final = 255
"""Maximum length of a file name on the file systems that Kafka runs on."""
_PARTITION_MAX: Final = 2**31 - 1
_NAME: Final = re.compile(rf"(.+)-(0|[1-9][0-9]{{0,9}})(?:\.[^\s.]+-({'|'.join(RENAME_REASONS)}))?")


class FolderName(NamedTuple):
    """Partition of a folder; `rename_suffix` is None, or a key of `RENAME_REASONS`.

    For a log to be deleted, a broker truncates a long topic name, so `tp` may then have a topic that never existed.
    """

    tp: TopicPartition
    rename_suffix: str | None


def parse_folder_name(name: str) -> FolderName | None:
    """Return the parsed name of a folder, None for a name that no broker uses."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    topic, partition, rename_suffix = match.groups()
    if problem_with_name(topic) is not None or int(partition) > _PARTITION_MAX:
        return None
    return FolderName(TopicPartition(topic, int(partition)), rename_suffix)


def partition_of(name: str) -> TopicPartition | None:
    """Return the partition whose current log has this folder name, None for other folders."""
    found = parse_folder_name(name)
    return None if found is None or found.rename_suffix is not None else found.tp


def renamed_folder_name(tp: TopicPartition, unique: str, reason: str) -> str:
    """Return the name of the partition's folder after it is set aside; a long topic is truncated (logDeleteDirName).

    `reason` is a key of RENAME_REASONS.
    """
    end = f"-{tp.partition}.{unique}-{reason}"
    return tp.topic[: NAME_MAX - len(end)] + end
