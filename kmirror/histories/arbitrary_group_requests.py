"""Requests about groups, also from members that break the protocol, in groups that only this client uses."""

from __future__ import annotations

from kmirror.histories.request_client import NO_GROUP, RequestClient, RequestKind
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

TOPIC_IDS_MIN_VERSIONS = {"OffsetFetch": 10, "OffsetCommit": 10}
"""First versions that identify topics by id."""
STATIC_MEMBERS_MIN_VERSIONS = {"JoinGroup": 5, "LeaveGroup": 3, "TxnOffsetCommit": 3}
"""First versions that have static members."""
FORMER_MEMBER = "a-member-of-before"
SESSION_MS = 6_000
REBALANCE_MS = 1_000
STAY_MS = 3_000


def _group(client: RequestClient) -> str:
    """Return a group of this client, or one that does not exist."""
    return NO_GROUP if client.rng.chance(1, 4) else client.own_name("group")


def _coordinator(client: RequestClient, group: str) -> Endpoint:
    return client.coordinator(GROUP_TOPIC, group)


def knows_static(client: RequestClient) -> bool:
    """Return whether the cluster's brokers support static members in every request of MEMBERS_FROM."""
    last = client.application.scene.last_version
    return all(last(client.cluster, api) >= version for api, version in STATIC_MEMBERS_MIN_VERSIONS.items())


def _describe(client: RequestClient) -> Script[None]:
    group = _group(client)
    yield from client.send(DescribeGroupsRequest([group]), _coordinator(client, group))


def _list(client: RequestClient) -> Script[None]:
    yield from client.send(ListGroupsRequest())


def _delete(client: RequestClient) -> Script[None]:
    group = _group(client)
    yield from client.send(DeleteGroupsRequest([group]), _coordinator(client, group))


def _delete_offset(client: RequestClient) -> Script[None]:
    group, tp = _group(client), client.partition()
    row = OffsetDeleteRequestTopic(tp.topic, [OffsetDeleteRequestPartition(tp.partition)])
    yield from client.send(OffsetDeleteRequest(group, [row]), _coordinator(client, group))


def _offsets(client: RequestClient) -> Script[None]:
    """Fetch a group's offsets of a topic identified by id."""
    group, topic = _group(client), client.topic()
    if client.application.scene.last_version(client.cluster, "OffsetFetch") < TOPIC_IDS_MIN_VERSIONS["OffsetFetch"]:
        return
    row = OffsetFetchRequestTopics(topic_id=client.topic_id(topic), partition_indexes=[0])
    yield from client.send(
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=[row])]), _coordinator(client, group)
    )


def _commit(client: RequestClient) -> Script[None]:
    """Commit without being a member; sometimes with an unknown generation, or for a topic identified by id."""
    group, tp, rng = client.own_name("group"), client.partition(), client.rng
    row = OffsetCommitRequestPartition(
        partition_index=tp.partition, committed_offset=0, committed_metadata=client.application.plan.name
    )
    request = OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1)
    version = NAMED_TOPICS_LAST[request.NAME]
    if (
        rng.chance(1, 3)
        and client.application.scene.last_version(client.cluster, "OffsetCommit")
        >= TOPIC_IDS_MIN_VERSIONS["OffsetCommit"]
    ):
        request.topics = [OffsetCommitRequestTopic(topic_id=client.topic_id(tp.topic), partitions=[row])]
        version += 1
    else:
        request.topics = [OffsetCommitRequestTopic(name=tp.topic, partitions=[row])]
        request.generation_id_or_member_epoch = rng.choice((-1, -1, 7))
    yield from client.send(request, _coordinator(client, group), version)


def _stranger(client: RequestClient) -> Script[None]:
    """Send requests as a member that the group does not know, or no longer knows."""
    group = _group(client)
    found: list[Message] = [
        HeartbeatRequest(group_id=group, generation_id=1, member_id=FORMER_MEMBER),
        SyncGroupRequest(
            group_id=group, generation_id=1, member_id=FORMER_MEMBER, protocol_type="consumer", protocol_name="range"
        ),
        _join_request(group, FORMER_MEMBER, ""),
    ]
    if knows_static(client):
        found.append(LeaveGroupRequest(group_id=group, members=[MemberIdentity(FORMER_MEMBER)]))
    yield from client.send(client.rng.choice(found), _coordinator(client, group))


def _member(client: RequestClient) -> Script[None]:
    """Act as a static member that starts twice, and send requests that are refused, as the first and as the second.

    It does not always send SyncGroup; it leaves, or its session ends.
    """
    group, rng = client.own_name("group"), client.rng
    endpoint = _coordinator(client, group)
    twice = yield from join_twice(client, group, endpoint)
    if twice is None:
        return
    first, second, instance = twice
    # No member may commit in COMPLETING_REBALANCE. The current member comes first, as it has not sent SyncGroup.
    for member, generation in (
        (second.member_id, second.generation_id), (first.member_id, first.generation_id),
        (second.member_id, second.generation_id - 1),
    ):  # fmt: skip
        for request, version in _member_requests(client, group, member, instance, generation):
            yield from client.send(request, endpoint, version)
    yield from client.send(DeleteGroupsRequest([group]), endpoint)
    wrong = _join_request(group, second.member_id, instance)
    wrong.protocol_type = "another"
    yield from client.send(wrong, endpoint)
    if rng.chance(1, 2):
        yield Sleep(rng.between(0, STAY_MS))
    yield from client.send(
        LeaveGroupRequest(group_id=group, members=[MemberIdentity(first.member_id, instance)]), endpoint
    )
    yield from client.send(
        LeaveGroupRequest(group_id=group, members=[MemberIdentity(second.member_id, instance)]), endpoint
    )


def join_twice(
    client: RequestClient, group: str, endpoint: Endpoint
) -> Script[tuple[JoinGroupResponse, JoinGroupResponse, str] | None]:
    """Join twice as the same static member; return both responses and the instance id, or None if a join failed."""
    if not knows_static(client):
        return None
    instance = f"{client.application.plan.name}-instance"
    first = yield from client.send(_join_request(group, "", instance), endpoint)
    if not isinstance(first, JoinGroupResponse) or first.error_code:
        return None
    if client.rng.chance(2, 3):
        yield from client.send(_sync_request(group, first.member_id, instance, first.generation_id), endpoint)
    second = yield from client.send(_join_request(group, "", instance), endpoint)
    if not isinstance(second, JoinGroupResponse) or second.error_code:
        return None
    return first, second, instance


def _member_requests(
    client: RequestClient, group: str, member: str, instance: str, generation: int
) -> list[tuple[Message, int | None]]:
    """Return requests of a member: OffsetCommit, Heartbeat, JoinGroup and SyncGroup."""
    tp = client.partition()
    row = OffsetCommitRequestPartition(
        partition_index=tp.partition, committed_offset=0, committed_metadata=client.application.plan.name
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
        (commit, NAMED_TOPICS_LAST[commit.NAME]), (beat, None), (_join_request(group, member, instance), None),
        (_sync_request(group, member, instance, generation), None),
    ]  # fmt: skip


def _join_request(group: str, member: str, instance: str) -> JoinGroupRequest:
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


def _sync_request(group: str, member: str, instance: str, generation: int) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        group_instance_id=instance,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member, b"")],
    )


def _find_coordinator(client: RequestClient) -> Script[None]:
    """Send FindCoordinator for a group; the first such request creates `__consumer_offsets`."""
    yield from client.application.find_coordinator(client.cluster, CoordinatorType.GROUP, client.own_name("group"))


REQUEST_KINDS: tuple[RequestKind, ...] = (
    RequestKind("coordinator", "groups", _find_coordinator, 1),
    RequestKind("describe groups", "groups", _describe, 3),
    RequestKind("list groups", "groups", _list, 1),
    RequestKind("delete a group", "groups", _delete, 4),
    RequestKind("delete an offset", "groups", _delete_offset, 4),
    RequestKind("offsets by topic id", "groups", _offsets, 2),
    RequestKind("commit", "groups", _commit, 4),
    RequestKind("stranger", "groups", _stranger, 10),
    RequestKind("member", "groups", _member, 4),
)
