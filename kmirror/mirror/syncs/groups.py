"""Which offsets of consumer groups are committed here? Pure (D17).

The offsets of the source are committed as they are, with leader epoch and metadata, forwards and backwards; they may
lie above the local log end, unless the mirror clamps them to what a stop would keep. A leader epoch above the local
one is left out: a consumer that begins at such an offset believes no Metadata with a lower epoch, and after a failover
would wait for ever.

Only for partitions that are MIRRORING: whoever paused or stopped a topic may have commits of their own here. A group
that the source does not have any more, or an offset that it has no more, stays here until it expires: it may be one of
this cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

EPOCH_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Offset:
    """What a group has committed for a partition."""

    offset: int
    leader_epoch: int = EPOCH_UNKNOWN
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class LocalLog:
    """The part of a log of this cluster that a stop keeps: from its beginning up to the last stable offset."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Local:
    """What is known here of a partition for which offsets are committed."""

    leader_epoch: int
    log: LocalLog | None = None
    """None if offsets are not clamped to it."""


Offsets = Mapping[TopicPartition, Offset]


def wanted(theirs: Offsets, mirroring: Mapping[TopicPartition, Local]) -> dict[TopicPartition, Offset]:
    """Return which offsets of a group are to be here.

    The leader epoch of an offset that is moved is not known, and one that has not come here yet is not told.
    """
    found = {}
    for tp, committed in theirs.items():
        local = mirroring.get(tp)
        if local is None:
            continue
        log = local.log
        inside = committed.offset if log is None else min(max(committed.offset, log.start), log.end)
        is_whole = inside == committed.offset and committed.leader_epoch <= local.leader_epoch
        found[tp] = committed if is_whole else Offset(inside, EPOCH_UNKNOWN, committed.metadata)
    return found


def plan(
    theirs: Mapping[str, Offsets],
    ours: Mapping[str, Offsets],
    mirroring: Mapping[TopicPartition, Local],
    topic_ids: Mapping[str, Uuid],
) -> list[OffsetCommitRequest]:
    """Return a commit for each group whose offsets here are not those of the source.

    A group that is not in `ours` is passed over: what it has here could not be asked. Who commits is no member, which a
    coordinator accepts only while the group is empty.
    """
    requests = []
    for group, offsets in theirs.items():
        if group not in ours:
            continue
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for tp, offset in wanted(offsets, mirroring).items():
            if ours[group].get(tp) == offset:
                continue
            topic = topics.setdefault(
                tp.topic, OffsetCommitRequestTopic(name=tp.topic, topic_id=topic_ids[tp.topic], partitions=[])
            )
            topic.partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=tp.partition,
                    committed_offset=offset.offset,
                    committed_leader_epoch=offset.leader_epoch,
                    committed_metadata=offset.metadata,
                )
            )
        if topics:
            requests.append(OffsetCommitRequest(group_id=group, topics=list(topics.values())))
    return requests
