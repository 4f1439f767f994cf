"""Which partition does a folder of `log.dirs` belong to, by its name?

    orders-0                   the partition's log
    orders-0.<id>-delete       what a broker has renamed: `SET_ASIDE` says why; <id> is 32 hex digits of its own

A name counts if a broker writes it: the topic is legal (Kafka's Topic.validate) and the partition is an int32 in plain
decimal, after the last dash. A broker that finds a folder of another name does not start; only what `Integer.parseInt`
is lenient about does it take for a partition's (`t-01` and `t-+1` for `t-1`), and a topic that nobody can create.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import problem_with_name

# Why a broker has renamed a folder, by what the new name ends in.
SET_ASIDE: Final = {
    "delete": "the broker was deleting this folder",
    "stray": "the broker found no such partition in its metadata",
    "future": "a move between disks was not finished",
}
NAME_MAX: Final = 255
"""Of a file's name on the file systems that Kafka runs on."""
_PARTITION_MAX: Final = 2**31 - 1
_NAME: Final = re.compile(rf"(.+)-(0|[1-9][0-9]{{0,9}})(?:\.[^\s.]+-({'|'.join(SET_ASIDE)}))?")


class FolderName(NamedTuple):
    """Whose log is in a folder; `set_aside` is None, or a key of `SET_ASIDE`.

    To delete a log of a long topic name a broker cuts the name, so then `tp` may name no topic that there was.
    """

    tp: TopicPartition
    set_aside: str | None


def parse_folder_name(name: str) -> FolderName | None:
    """Return what the name of a folder says, None for a name that no broker gives one."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    topic, partition, set_aside = match.groups()
    if problem_with_name(topic) is not None or int(partition) > _PARTITION_MAX:
        return None
    return FolderName(TopicPartition(topic, int(partition)), set_aside)


def partition_of(name: str) -> TopicPartition | None:
    """Return the partition whose log a broker keeps under this name now, None for other folders."""
    found = parse_folder_name(name)
    return None if found is None or found.set_aside is not None else found.tp


def name_aside(tp: TopicPartition, unique: str, why: str) -> str:
    """Return the name of the partition's folder once it is set aside; a long topic name is cut (logDeleteDirName).

    `why` is a key of SET_ASIDE.
    """
    end = f"-{tp.partition}.{unique}-{why}"
    return tp.topic[: NAME_MAX - len(end)] + end
