"""Who may commit offsets for a group that may not be there, and how long may a commit's metadata be?

Whoever names no generation may commit for a group that nobody has used: that makes a simple group of it, which has no
members and only keeps offsets.
"""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.groups.offsets import OffsetKey
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.protocol.gen.txn_offset_commit_request import TxnOffsetCommitRequest
from kmirror.spec.configs import Configs
from kmirror.spec.error_codes import ErrorCode

GROUP_ID_NOT_FOUND_FROM = 9
"""First version of OffsetCommit in which a member learns that its group is gone; before, ILLEGAL_GENERATION says it."""


def commit_error(group: Group | None, request: OffsetCommitRequest, version: int) -> ErrorCode:
    """Return NONE if the sender may commit for `group`, else the error for each partition."""
    generation = request.generation_id_or_member_epoch
    if group is not None:
        return group.commit_error(request.member_id, request.group_instance_id, generation, in_transaction=False)
    if generation < 0:
        return ErrorCode.NONE
    return ErrorCode.GROUP_ID_NOT_FOUND if version >= GROUP_ID_NOT_FOUND_FROM else ErrorCode.ILLEGAL_GENERATION


def txn_commit_error(group: Group | None, request: TxnOffsetCommitRequest) -> ErrorCode:
    """Return NONE if the sender may commit for `group` in a transaction, else the error for each partition."""
    generation = request.generation_id
    if group is not None:
        return group.commit_error(request.member_id, request.group_instance_id, generation, in_transaction=True)
    return ErrorCode.NONE if generation < 0 else ErrorCode.ILLEGAL_GENERATION


def fits(metadata: str | None, configs: Configs) -> bool:
    """Return whether a commit's metadata may be as long as it is; Kafka counts UTF-16 code units, not bytes."""
    if not metadata:
        return True
    length = len(metadata) if metadata.isascii() else len(metadata.encode("utf-16-le", "surrogatepass")) // 2
    return length <= configs.integer("offset.metadata.max.bytes")


def partition_key(group_id: str, topic: str, partition: int) -> OffsetKey:
    """Return the key under which a group's offset for a partition is kept."""
    return OffsetKey(group_id, TopicPartition(topic, partition))
