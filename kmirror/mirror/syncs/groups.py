"""Sync of consumer group offsets: which ones to commit here. Pure (D17).

The offsets of the source are committed unchanged, with leader epoch and metadata, forwards and backwards. They may be
above the local log end, unless the mirror clamps them to the part of the log that a stop would keep. A leader epoch
above the local one is left out: a consumer that begins at such an offset believes no Metadata with a lower epoch, and
after a failover would wait for ever.

Only partitions in MIRRORING are synced: users that paused or stopped a topic may have commits of their own here. A
group or an offset that the source no longer has stays here until it expires: it may belong to this cluster.
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
    """The committed offset of a group for a partition."""

    offset: int
    leader_epoch: int = EPOCH_UNKNOWN
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class LocalLog:
    """The part of a local log that a stop keeps: from its start up to the last stable offset."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LocalPartition:
    """The local facts about a partition for which offsets are committed."""

    leader_epoch: int
    log: LocalLog | None = None
    """None if offsets are not clamped to it."""


Offsets = Mapping[TopicPartition, Offset]


def offsets_to_commit(
    source_offsets: Offsets, mirroring: Mapping[TopicPartition, LocalPartition]
) -> dict[TopicPartition, Offset]:
    """Return the offsets of a group that must be committed here.

    The leader epoch is left out if the offset is moved, or if the epoch is not mirrored yet.
    """
    found = {}
    for tp, committed in source_offsets.items():
        local = mirroring.get(tp)
        if local is None:
            continue
        log = local.log
        clamped = committed.offset if log is None else min(max(committed.offset, log.start), log.end)
        is_whole = clamped == committed.offset and committed.leader_epoch <= local.leader_epoch
        found[tp] = committed if is_whole else Offset(clamped, EPOCH_UNKNOWN, committed.metadata)
    return found


def plan(
    source_offsets: Mapping[str, Offsets],
    local_offsets: Mapping[str, Offsets],
    mirroring: Mapping[TopicPartition, LocalPartition],
    topic_ids: Mapping[str, Uuid],
) -> list[OffsetCommitRequest]:
    """Return a commit for each group whose offsets here differ from the source's.

    A group that is not in `local_offsets` is skipped: its offsets here could not be fetched. The commit has no member
    id, which a coordinator accepts only while the group is empty.
    """
    requests = []
    for group, offsets in source_offsets.items():
        if group not in local_offsets:
            continue
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for tp, offset in offsets_to_commit(offsets, mirroring).items():
            if local_offsets[group].get(tp) == offset:
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
