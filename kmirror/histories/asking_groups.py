"""Requests about groups, also from members that break the protocol, in groups that only this client uses."""

from __future__ import annotations

from kmirror.histories.asker import NO_GROUP, RequestClient, RequestKind
from kmirror.histories.scripts import Script, Sleep
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest, MemberIdentity
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kmirror.protocol.gen.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kmirror.protocol.message import Message
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.version_limits import NAMED_TOPICS_LAST
from kmirror.spec.wire_values import CoordinatorType

IDS_FROM = {"OffsetFetch": 10, "OffsetCommit": 10}
"""First versions that identify topics by id."""
MEMBERS_FROM = {"JoinGroup": 5, "LeaveGroup": 3, "TxnOffsetCommit": 3}
"""First versions that have static members."""
STALE = "a-member-of-before"
SESSION_MS = 6_000
REBALANCE_MS = 1_000
STAY_MS = 3_000


def _group(asker: RequestClient) -> str:
    """Return a group of this client, or one that does not exist."""
    return NO_GROUP if asker.rng.chance(1, 4) else asker.own("group")


def _at(asker: RequestClient, group: str) -> Endpoint:
    return asker.coordinator(GROUP_TOPIC, group)


def knows_static(asker: RequestClient) -> bool:
    """Return whether the cluster's brokers support static members in every request of MEMBERS_FROM."""
    last = asker.application.scene.last_version
    return all(last(asker.cluster, api) >= version for api, version in MEMBERS_FROM.items())


def _describe(asker: RequestClient) -> Script[None]:
    group = _group(asker)
    yield from asker.ask(DescribeGroupsRequest([group]), _at(asker, group))


def _list(asker: RequestClient) -> Script[None]:
    yield from asker.ask(ListGroupsRequest())


def _delete(asker: RequestClient) -> Script[None]:
    group = _group(asker)
    yield from asker.ask(DeleteGroupsRequest([group]), _at(asker, group))


def _delete_offset(asker: RequestClient) -> Script[None]:
    group, tp = _group(asker), asker.partition()
    row = OffsetDeleteRequestTopic(tp.topic, [OffsetDeleteRequestPartition(tp.partition)])
    yield from asker.ask(OffsetDeleteRequest(group, [row]), _at(asker, group))


def _offsets(asker: RequestClient) -> Script[None]:
    """Fetch a group's offsets of a topic identified by id."""
    group, topic = _group(asker), asker.topic()
    if asker.application.scene.last_version(asker.cluster, "OffsetFetch") < IDS_FROM["OffsetFetch"]:
        return
    row = OffsetFetchRequestTopics(topic_id=asker.topic_id(topic), partition_indexes=[0])
    yield from asker.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=[row])]), _at(asker, group))


def _commit(asker: RequestClient) -> Script[None]:
    """Commit without being a member; sometimes with an unknown generation, or for a topic identified by id."""
    group, tp, rng = asker.own("group"), asker.partition(), asker.rng
    row = OffsetCommitRequestPartition(
        partition_index=tp.partition, committed_offset=0, committed_metadata=asker.application.plan.name
    )
    request = OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1)
    version = NAMED_TOPICS_LAST[request.NAME]
    if (
        rng.chance(1, 3)
        and asker.application.scene.last_version(asker.cluster, "OffsetCommit") >= IDS_FROM["OffsetCommit"]
    ):
        request.topics = [OffsetCommitRequestTopic(topic_id=asker.topic_id(tp.topic), partitions=[row])]
        version += 1
    else:
        request.topics = [OffsetCommitRequestTopic(name=tp.topic, partitions=[row])]
        request.generation_id_or_member_epoch = rng.choice((-1, -1, 7))
    yield from asker.ask(request, _at(asker, group), version)


def _stranger(asker: RequestClient) -> Script[None]:
    """Send requests as a member that the group does not know, or no longer knows."""
    group = _group(asker)
    found: list[Message] = [
        HeartbeatRequest(group_id=group, generation_id=1, member_id=STALE),
        SyncGroupRequest(
            group_id=group, generation_id=1, member_id=STALE, protocol_type="consumer", protocol_name="range"
        ),
        _joining(group, STALE, ""),
    ]
    if knows_static(asker):
        found.append(LeaveGroupRequest(group_id=group, members=[MemberIdentity(STALE)]))
    yield from asker.ask(asker.rng.choice(found), _at(asker, group))


def _member(asker: RequestClient) -> Script[None]:
    """Act as a static member that starts twice, and send requests that are refused, as the first and as the second.

    It does not always send SyncGroup; it leaves, or its session ends.
    """
    group, rng = asker.own("group"), asker.rng
    at = _at(asker, group)
    twice = yield from joined_twice(asker, group, at)
    if twice is None:
        return
    first, second, instance = twice
    # No member may commit in COMPLETING_REBALANCE. The current member comes first, as it has not sent SyncGroup.
    for member, generation in (
        (second.member_id, second.generation_id), (first.member_id, first.generation_id),
        (second.member_id, second.generation_id - 1),
    ):  # fmt: skip
        for request, version in _said(asker, group, member, instance, generation):
            yield from asker.ask(request, at, version)
    yield from asker.ask(DeleteGroupsRequest([group]), at)
    wrong = _joining(group, second.member_id, instance)
    wrong.protocol_type = "another"
    yield from asker.ask(wrong, at)
    if rng.chance(1, 2):
        yield Sleep(rng.between(0, STAY_MS))
    yield from asker.ask(LeaveGroupRequest(group_id=group, members=[MemberIdentity(first.member_id, instance)]), at)
    yield from asker.ask(LeaveGroupRequest(group_id=group, members=[MemberIdentity(second.member_id, instance)]), at)


def joined_twice(
    asker: RequestClient, group: str, at: Endpoint
) -> Script[tuple[JoinGroupResponse, JoinGroupResponse, str] | None]:
    """Join twice as the same static member; return both responses and the instance id, or None if a join failed."""
    if not knows_static(asker):
        return None
    instance = f"{asker.application.plan.name}-instance"
    first = yield from asker.ask(_joining(group, "", instance), at)
    if not isinstance(first, JoinGroupResponse) or first.error_code:
        return None
    if asker.rng.chance(2, 3):
        yield from asker.ask(_syncing(group, first.member_id, instance, first.generation_id), at)
    second = yield from asker.ask(_joining(group, "", instance), at)
    if not isinstance(second, JoinGroupResponse) or second.error_code:
        return None
    return first, second, instance


def _said(
    asker: RequestClient, group: str, member: str, instance: str, generation: int
) -> list[tuple[Message, int | None]]:
    """Return requests of a member: OffsetCommit, Heartbeat, JoinGroup and SyncGroup."""
    tp = asker.partition()
    row = OffsetCommitRequestPartition(
        partition_index=tp.partition, committed_offset=0, committed_metadata=asker.application.plan.name
    )
    commit = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        group_instance_id=instance,
        topics=[OffsetCommitRequestTopic(name=tp.topic, partitions=[row])],
    )
    beat = HeartbeatRequest(group_id=group, generation_id=generation, member_id=member, group_instance_id=instance)
    return [
        (commit, NAMED_TOPICS_LAST[commit.NAME]), (beat, None), (_joining(group, member, instance), None),
        (_syncing(group, member, instance, generation), None),
    ]  # fmt: skip


def _joining(group: str, member: str, instance: str) -> JoinGroupRequest:
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=REBALANCE_MS,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b"")],
    )
    if instance:
        request.group_instance_id = instance
    return request


def _syncing(group: str, member: str, instance: str, generation: int) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        group_instance_id=instance,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member, b"")],
    )


def _find(asker: RequestClient) -> Script[None]:
    """Send FindCoordinator for a group; the first such request creates `__consumer_offsets`."""
    yield from asker.application.find_coordinator(asker.cluster, CoordinatorType.GROUP, asker.own("group"))


REQUEST_KINDS: tuple[RequestKind, ...] = (
    RequestKind("coordinator", "groups", _find, 1),
    RequestKind("describe groups", "groups", _describe, 3),
    RequestKind("list groups", "groups", _list, 1),
    RequestKind("delete a group", "groups", _delete, 4),
    RequestKind("delete an offset", "groups", _delete_offset, 4),
    RequestKind("offsets by topic id", "groups", _offsets, 2),
    RequestKind("commit", "groups", _commit, 4),
    RequestKind("stranger", "groups", _stranger, 10),
    RequestKind("member", "groups", _member, 4),
)
