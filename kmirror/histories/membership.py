"""Member of a classic group: joining, assignment, heartbeats, and leaving.

The leader assigns all partitions of the group's topics by range or round robin, as the group has agreed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from kmirror.histories.group_account import OwnedPartitions
from kmirror.histories.group_requests import GroupClient, Sender
from kmirror.histories.scripts import Script, Sleep
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol import wire
from kmirror.protocol.gen.consumer_protocol_assignment import ConsumerProtocolAssignment
from kmirror.protocol.gen.consumer_protocol_assignment import TopicPartition as AssignedTopic
from kmirror.protocol.gen.consumer_protocol_subscription import ConsumerProtocolSubscription
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest, MemberIdentity
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.spec.error_codes import ErrorCode

PROTOCOL_TYPE = "consumer"
STATIC_MEMBERS_MIN_VERSION = 5
"""First version of JoinGroup with static members."""
SEVERAL_MEMBERS_MIN_VERSION = 3
"""First version of LeaveGroup with several members."""
REBALANCE_TIMEOUT_MS = 3_000
JOIN_TIMEOUT_MS = 8_000
"""A JoinGroup waits for the other members."""
RETRY_MS = 200
TRIES = 6
REJOIN_ERRORS = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)
"""Errors after which the member joins again without an id."""


class HeartbeatResult(Enum):
    """Result of a heartbeat."""

    CONTINUE = "continue"
    REJOIN = "rejoin"


class Member:
    """A member; `partitions` are those of its current generation."""

    def __init__(
        self,
        requests: GroupClient,
        instance: str,
        session_ms: int,
        protocols: Sequence[str],
        rebalance_ms: int = REBALANCE_TIMEOUT_MS,
    ) -> None:
        self.requests = requests
        self.instance = instance
        """Instance id of a static member, empty for a dynamic one."""
        self.partitions: tuple[TopicPartition, ...] = ()
        self.known: list[TopicPartition] = []
        """Partitions that existed at the last assignment."""
        self._session_ms = session_ms
        self._rebalance_ms = rebalance_ms
        self._protocols = protocols
        self._member_id = ""
        self._generation = -1

    @property
    def sender(self) -> Sender:
        """Return the member's identity for commits."""
        return Sender(self._member_id, self.instance, self._generation)

    def forget(self) -> None:
        """Act as a restarted process: it knows neither member id nor generation."""
        self._member_id, self._generation, self.partitions = "", -1, ()

    # -- joining ------------------------------------------------------------------------------

    def join(self, cluster: str) -> Script[bool]:
        """Join, and wait for the assignment; return False if some attempts failed."""
        for _ in range(TRIES):
            reply = yield from self.requests.send(cluster, self._join_request(cluster), timeout_ms=JOIN_TIMEOUT_MS)
            if isinstance(reply, JoinGroupResponse):
                error = ErrorCode(reply.error_code)
                if not error:
                    self._member_id, self._generation = reply.member_id, reply.generation_id
                    synced = yield from self._sync(cluster, reply)
                    if synced:
                        return True
                else:
                    self._on_error(cluster, error)
                    if error is ErrorCode.MEMBER_ID_REQUIRED:
                        self._member_id = reply.member_id
                        continue
            if self.requests.application.cluster != cluster:
                break
            yield Sleep(RETRY_MS)
        return False

    def _join_request(self, cluster: str) -> JoinGroupRequest:
        if self.instance and not self.requests.serves(cluster, "JoinGroup", STATIC_MEMBERS_MIN_VERSION):
            self.instance = ""
        topics = list(self.requests.application.plan.topics)
        metadata = wire.pack_int16(0) + ConsumerProtocolSubscription(topics=topics).encode(0)
        request = JoinGroupRequest(
            group_id=self.requests.group,
            session_timeout_ms=self._session_ms,
            rebalance_timeout_ms=self._rebalance_ms,
            member_id=self._member_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(name, metadata) for name in self._protocols],
        )
        if self.instance:
            request.group_instance_id = self.instance
        return request

    def _on_error(self, cluster: str, error: ErrorCode) -> None:
        self.requests.forget_coordinator(cluster, error)
        if error in REJOIN_ERRORS:
            self.forget()

    def _sync(self, cluster: str, joined: JoinGroupResponse) -> Script[bool]:
        application = self.requests.application
        request = SyncGroupRequest(
            group_id=self.requests.group,
            generation_id=self._generation,
            member_id=self._member_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=joined.protocol_name,
        )
        if self.instance:
            request.group_instance_id = self.instance
        self.known = application.partitions()
        if joined.leader == self._member_id and not joined.skip_assignment:
            ids = [row.member_id for row in joined.members]
            shares = assign(joined.protocol_name or "", ids, self.known)
            request.assignments = [SyncGroupRequestAssignment(one, _encode(shares[one])) for one in ids]
        reply = yield from self.requests.send(cluster, request, timeout_ms=JOIN_TIMEOUT_MS)
        if not isinstance(reply, SyncGroupResponse):
            return False
        if reply.error_code:
            self._on_error(cluster, ErrorCode(reply.error_code))
            return False
        self.partitions = _decode(bytes(reply.assignment))
        owned = OwnedPartitions(
            self.requests.group,
            cluster,
            self._generation,
            self._member_id,
            self.instance,
            self.partitions,
            application.scene.now,
        )
        application.scene.account.groups.assignments.append(owned)
        return True

    # -- being a member -----------------------------------------------------------------------

    def send_heartbeat(self, cluster: str) -> Script[HeartbeatResult]:
        """Send a heartbeat; a missing response changes nothing."""
        request = HeartbeatRequest(
            group_id=self.requests.group, generation_id=self._generation, member_id=self._member_id
        )
        if self.instance:
            request.group_instance_id = self.instance
        reply = yield from self.requests.send(cluster, request)
        if not isinstance(reply, HeartbeatResponse) or not reply.error_code:
            return HeartbeatResult.CONTINUE
        error = ErrorCode(reply.error_code)
        self._on_error(cluster, error)
        moved = error.retriable and error is not ErrorCode.REBALANCE_IN_PROGRESS
        return HeartbeatResult.CONTINUE if moved else HeartbeatResult.REJOIN

    def leave(self, cluster: str) -> Script[None]:
        """Send LeaveGroup once."""
        request = LeaveGroupRequest(group_id=self.requests.group)
        if self.requests.serves(cluster, "LeaveGroup", SEVERAL_MEMBERS_MIN_VERSION):
            request.members = [MemberIdentity(self._member_id, self.instance or None)]
            yield from self.requests.send(cluster, request)
        else:  # It is also the version for brokers that do not run, as their versions are unknown.
            request.member_id = self._member_id
            yield from self.requests.send(cluster, request, version_max=SEVERAL_MEMBERS_MIN_VERSION - 1)
        self.forget()


# -- assignments ------------------------------------------------------------------------------


def assign(
    protocol: str, members: Sequence[str], partitions: Sequence[TopicPartition]
) -> Mapping[str, list[TopicPartition]]:
    """Return the assignment: `range` assigns topic by topic, `roundrobin` distributes all partitions in turn."""
    ordered = sorted(members)
    found: dict[str, list[TopicPartition]] = {member: [] for member in ordered}
    if protocol == "roundrobin":
        for n, tp in enumerate(partitions):
            found[ordered[n % len(ordered)]].append(tp)
        return found
    topics: dict[str, list[TopicPartition]] = {}
    for tp in partitions:
        topics.setdefault(tp.topic, []).append(tp)
    for some in topics.values():
        for n, tp in enumerate(some):
            found[ordered[n * len(ordered) // len(some)]].append(tp)
    return found


def _encode(partitions: Sequence[TopicPartition]) -> bytes:
    topics: dict[str, list[int]] = {}
    for tp in partitions:
        topics.setdefault(tp.topic, []).append(tp.partition)
    rows = [AssignedTopic(topic=topic, partitions=some) for topic, some in topics.items()]
    return wire.pack_int16(0) + ConsumerProtocolAssignment(assigned_partitions=rows).encode(0)


def _decode(data: bytes) -> tuple[TopicPartition, ...]:
    if not data:
        return ()
    found, _ = ConsumerProtocolAssignment.decode_prefix(data, 0, 2)  # After the version.
    return tuple(TopicPartition(row.topic, index) for row in found.assigned_partitions for index in row.partitions)
