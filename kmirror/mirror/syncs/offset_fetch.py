"""Committed offsets of groups, at the source and here: OffsetFetch, in the versions of Kafka 2.1 and later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kmirror.client.remote_cluster import code_of
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.syncs.batches import in_batches
from kmirror.mirror.syncs.groups import Offset
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kmirror.protocol.gen.offset_fetch_response import OffsetFetchResponse, OffsetFetchResponseGroup
from kmirror.spec.error_codes import ErrorCode

GROUPS_MAX = 100
"""Groups in one request."""
MANY_GROUPS_VERSION = 8
"""First version with several groups in a request."""
NAMES_VERSION_MAX = 9
"""Last version with topic names, which identify the source's topics here."""


class OffsetRequest(NamedTuple):
    """A request, and the groups that it is about."""

    groups: Sequence[str]
    request: OffsetFetchRequest


class GroupOffsets(NamedTuple):
    """The committed offsets of one group, or the error for the whole group."""

    offsets: dict[TopicPartition, Offset]
    error: ErrorCode


def requests(groups: Sequence[str], version: int) -> list[OffsetRequest]:
    """Return the requests for all offsets of `groups` in `version`: one for each group below version 8."""
    if version < MANY_GROUPS_VERSION:
        return [OffsetRequest([group], OffsetFetchRequest(group_id=group, topics=None)) for group in groups]
    return [
        OffsetRequest(
            batch, OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=g, topics=None) for g in batch])
        )
        for batch in in_batches(groups, GROUPS_MAX)
    ]


def read(sent: OffsetRequest, reply: object, names: Mapping[Uuid, str]) -> dict[str, GroupOffsets]:
    """Return the result for each group; `names` maps topic ids to names, for versions with topic ids.

    A partition with an error has no offset. COORDINATOR_NOT_AVAILABLE for all groups if there was no response.
    """
    if not isinstance(reply, OffsetFetchResponse):
        return {group: GroupOffsets({}, ErrorCode.COORDINATOR_NOT_AVAILABLE) for group in sent.groups}
    if not sent.request.groups:
        offsets = {
            TopicPartition(topic.name, row.partition_index): Offset(
                row.committed_offset, row.committed_leader_epoch, row.metadata or ""
            )
            for topic in reply.topics
            for row in topic.partitions
            if not row.error_code and row.committed_offset >= 0
        }
        return {sent.groups[0]: GroupOffsets(offsets, code_of(reply.error_code))}
    return {group.group_id: GroupOffsets(_offsets(group, names), code_of(group.error_code)) for group in reply.groups}


def _offsets(group: OffsetFetchResponseGroup, names: Mapping[Uuid, str]) -> dict[TopicPartition, Offset]:
    return {
        TopicPartition(topic.name or names.get(topic.topic_id, ""), row.partition_index): Offset(
            row.committed_offset, row.committed_leader_epoch, row.metadata or ""
        )
        for topic in group.topics
        for row in topic.partitions
        if not row.error_code and row.committed_offset >= 0
    }
