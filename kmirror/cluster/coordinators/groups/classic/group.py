"""State of a classic group: its generation, its members, and the rules that need nothing else.

The effects of a change are added to `effects`. Requests, rebalances and timers are handled in requests.py, rebalance.py
and kind.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from kmirror.cluster.coordinators.groups.classic.group_states import PREDECESSORS, GroupState
from kmirror.cluster.coordinators.groups.effects import CancelTimer, Respond, SetTimer, Waiter, Write
from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.groups.offsets import OffsetKey, Offsets
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.errors import ProtocolError
from kmirror.kernel.java import hash_of_text, in_hash_order, wrap_int32
from kmirror.protocol.gen.consumer_protocol_subscription import ConsumerProtocolSubscription
from kmirror.protocol.gen.describe_groups_response import DescribedGroup, DescribedGroupMember
from kmirror.protocol.gen.join_group_response import JoinGroupResponse, JoinGroupResponseMember
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.spec.configs import Configs
from kmirror.spec.error_codes import ErrorCode

CONSUMER_PROTOCOL_TYPE = "consumer"
NO_TIME = -1

_S = GroupState


class Timer(Enum):
    """The timers of a group; each member has its own SESSION timer."""

    SESSION = "session"
    JOIN = "join"
    SYNC = "sync"


@dataclass(frozen=True, slots=True)
class Limits:
    """The broker configs that limit groups."""

    initial_rebalance_delay_ms: int = 3000
    size_max: int = 0x7FFF_FFFF

    @classmethod
    def from_configs(cls, configs: Configs) -> Limits:
        return cls(configs.integer("group.initial.rebalance.delay.ms"), configs.integer("group.max.size"))


@dataclass(slots=True, eq=False)
class Member:
    """One member of a group: its last join, its assignment, and its waiting requests."""

    member_id: str
    group_instance_id: str | None
    """The group instance id of a static member (KIP-345); None for a dynamic one."""
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Mapping[str, bytes]
    """Assignor name -> metadata of the member, in the order of the member's preference."""
    assignment: bytes = b""
    join_waiter: Waiter | None = None
    sync_waiter: Waiter | None = None
    is_new: bool = False
    """True until the first join of the member has ended; a join that waits does not keep such a member alive."""

    @property
    def has_waiting_join(self) -> bool:
        return self.join_waiter is not None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_alive_by_waiting(self) -> bool:
        """Whether a waiting request keeps the member alive: it cannot send heartbeats meanwhile."""
        return not self.is_new and (self.join_waiter is not None or self.sync_waiter is not None)

    def join_row(self, protocol: str) -> JoinGroupResponseMember:
        """Return the row for the leader, which computes an assignment for `protocol`."""
        return JoinGroupResponseMember(
            member_id=self.member_id, group_instance_id=self.group_instance_id, metadata=self.protocols[protocol]
        )

    def describe(self, protocol: str | None) -> DescribedGroupMember:
        """Return the row of DescribeGroups; `protocol` is None until the generation is stable."""
        return DescribedGroupMember(
            member_id=self.member_id,
            group_instance_id=self.group_instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            member_metadata=b"" if protocol is None else self.protocols[protocol],
            member_assignment=self.assignment,
        )


class Members(dict[str, Member]):
    """The members of a group by id, and the rules that need nothing else.

    Kafka keeps members in a hash map, whose order is visible in the member list for the leader, in records, and in the
    choice of the next leader. `in_order` returns the order of that map.
    """

    def __init__(self) -> None:
        super().__init__()
        self.static: dict[str, str] = {}
        """Group instance id -> member id."""
        self._max_count = 0
        """The largest number of members so far: a hash map does not shrink."""
        self._common_protocols: frozenset[str] | None = None
        """The result of `common_protocols`; None if it has to be made again."""

    def in_order(self) -> list[Member]:
        """Return the members in the order of Kafka's hash map."""
        return [self[member_id] for member_id in in_hash_order(self, hash_of_text, size_max=self._max_count)]

    def put(self, member: Member) -> None:
        if self._common_protocols is not None:  # Joins of a large group must not read every member each time.
            self._common_protocols = self._common_protocols.intersection(member.protocols) if self else None
        self[member.member_id] = member
        self._max_count = max(self._max_count, len(self))
        if member.group_instance_id is not None:
            self.static[member.group_instance_id] = member.member_id

    def remove_member(self, member_id: str) -> Member | None:
        """Remove a member; return it, or None."""
        member = self.pop(member_id, None)
        if member is not None:
            self._common_protocols = None
            if member.group_instance_id is not None:
                self.static.pop(member.group_instance_id, None)
        return member

    def set_protocols(self, member: Member, protocols: Mapping[str, bytes]) -> None:
        """Change the protocols that a member supports."""
        if member.protocols.keys() != protocols.keys():
            self._common_protocols = None
        member.protocols = protocols

    @property
    def common_protocols(self) -> frozenset[str]:
        """The protocols that every member supports."""
        if self._common_protocols is None:
            supported = [member.protocols.keys() for member in self.values()]
            self._common_protocols = frozenset(supported[0]).intersection(*supported) if supported else frozenset()
        return self._common_protocols

    @property
    def awaiting_join(self) -> int:
        """Number of members that have joined and wait for the others."""
        return sum(member.join_waiter is not None for member in self.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members in ms; 0 without members."""
        return max((member.rebalance_timeout_ms for member in self.values()), default=0)

    def error(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """Return NONE for a member, else UNKNOWN_MEMBER_ID; FENCED_INSTANCE_ID if another has its instance id."""
        if group_instance_id is not None:
            known = self.static.get(group_instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self else ErrorCode.UNKNOWN_MEMBER_ID

    def choose_protocol(self) -> str:
        """Return the protocol with the most votes; each member votes for its preferred one that all support."""
        members, votes = self.in_order(), dict[str, int]()
        candidates = self.common_protocols
        for member in members:
            name = next(name for name in member.protocols if name in candidates)
            votes[name] = votes.get(name, 0) + 1
        return max(in_hash_order(votes, hash_of_text), key=votes.__getitem__)

    def subscribed_topics(self, protocol: str | None) -> frozenset[str] | None:
        """Return the topics that members with this consumer protocol subscribe to; None if unknown."""
        if self and protocol is None:
            return None
        topics: set[str] = set()
        for member in self.values():
            try:
                # Newer versions begin with the fields of version 0.
                found, _ = ConsumerProtocolSubscription.decode_prefix(member.protocols[protocol or ""], 0, 2)
            except ProtocolError:
                return None
            assert isinstance(found, ConsumerProtocolSubscription)
            topics.update(found.topics)
        return frozenset(topics)


class ClassicGroup(Group):
    """The current state of one classic group."""

    kind = "classic"

    def __init__(self, group_id: str, now_ms: int) -> None:
        super().__init__(group_id)
        self.limits = Limits()
        self.is_new = False
        """True until the first record of the group is written."""
        self.state = GroupState.EMPTY
        self.previous_state = GroupState.DEAD
        self.state_since_ms = now_ms
        """When the state was entered, in ms since 1970; -1 if the record of the group has no such time."""
        self.generation = 0
        self.protocol: str | None = None
        """The protocol of all members in this generation."""
        self.leader: str | None = None
        self.members = Members()
        self.pending_joins: dict[str, None] = {}
        """Member ids that were returned with MEMBER_ID_REQUIRED and have not joined yet."""
        self.pending_syncs: dict[str, None] = {}
        """Members of this generation that have not sent SyncGroup yet."""
        self.subscribed_topics: frozenset[str] | None = None
        """Topics that the members of a consumer group subscribe to; None if unknown."""
        self.initial_delay: tuple[int, int] | None = None
        """(current wait, remaining wait) in ms while the first rebalance waits for more members; else None."""
        self.has_new_member = False
        """Whether a member has joined during the current wait of the first rebalance."""
        self.storing_generation: int | None = None
        """The generation whose assignment is being persisted."""

    # -- members ------------------------------------------------------------------------------

    def add(self, member: Member) -> None:
        """Add a member; the first one becomes the leader and sets the protocol type."""
        if not self.members:
            self.protocol_type = member.protocol_type or None
        self.leader = self.leader or member.member_id
        self.members.put(member)
        self.pending_joins.pop(member.member_id, None)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending one, and cancel its session; another member replaces a removed leader."""
        self.members.remove_member(member_id)
        if self.leader == member_id:
            self.leader = next((other.member_id for other in self.members.in_order()), None)
        self.pending_joins.pop(member_id, None)
        self.pending_syncs.pop(member_id, None)
        self.effects.append(CancelTimer(Timer.SESSION, member_id))

    def expel(self, member_id: str) -> None:
        """Remove a member or a pending one; its waiting requests fail with UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is not None:
            self.fail_waiting(member, ErrorCode.UNKNOWN_MEMBER_ID)
        self.remove(member_id)

    def replace(self, old: Member, member_id: str) -> Member:
        """Replace static member `old`, which has no waiting request, by a new one with another id; return it."""
        assert old.join_waiter is None and old.sync_waiter is None, "requests that wait are answered first"
        self.members.remove_member(old.member_id)
        new = dataclasses.replace(old, member_id=member_id, is_new=False)
        self.members.put(new)
        if self.leader == old.member_id:
            self.leader = member_id
        self.pending_syncs.pop(old.member_id, None)
        self.effects.append(CancelTimer(Timer.SESSION, old.member_id))
        self.expect_heartbeat(new)
        return new

    def supports(self, protocol_type: str, protocols: Collection[str]) -> bool:
        """Return whether a member with this protocol type and these protocols can be in the group."""
        if self.state is _S.EMPTY:
            return bool(protocol_type and protocols)
        return self.protocol_type == protocol_type and not self.members.common_protocols.isdisjoint(protocols)

    @property
    def all_have_joined(self) -> bool:
        return not self.pending_joins and all(member.join_waiter is not None for member in self.members.values())

    def expect_heartbeat(self, member: Member, *, within_ms: int | None = None) -> None:
        """End the session of the member after its session timeout, or `within_ms`, unless it is kept alive."""
        delay_ms = member.session_timeout_ms if within_ms is None else within_ms
        self.effects.append(SetTimer(Timer.SESSION, member.member_id, delay_ms))

    def keep_alive(self, member_id: str) -> None:
        """Restart the session timeout of a member; do nothing if it is unknown."""
        member = self.members.get(member_id)
        if member is not None:
            self.expect_heartbeat(member)

    # -- responses ----------------------------------------------------------------------------

    def respond_to_join(self, member: Member, body: JoinGroupResponse) -> None:
        """Respond to the waiting join of the member, if any."""
        waiter, member.join_waiter = member.join_waiter, None
        if waiter is not None:
            self.effects.append(Respond(waiter, body))

    def respond_to_sync(self, member: Member, body: SyncGroupResponse) -> bool:
        """Respond to the waiting SyncGroup of the member; return False if there is none."""
        waiter, member.sync_waiter = member.sync_waiter, None
        if waiter is not None:
            self.effects.append(Respond(waiter, body))
        return waiter is not None

    def fail_waiting(self, member: Member, error: ErrorCode, *, member_id: str = "") -> None:
        """Respond to the waiting requests of the member with an error."""
        self.respond_to_join(member, JoinGroupResponse(error_code=error, member_id=member_id))
        self.respond_to_sync(member, SyncGroupResponse(error_code=error))

    def join_response(
        self, member: Member, *, leader: str | None = None, skip_assignment: bool = False
    ) -> JoinGroupResponse:
        """Return the response to a join in the current generation; only the leader gets the members."""
        leads = leader is None and self.leader == member.member_id
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=(self.leader if leader is None else leader) or "",
            skip_assignment=skip_assignment,
            member_id=member.member_id,
            members=[other.join_row(self.protocol or "") for other in self.members.in_order()] if leads else [],
        )

    def sync_response(self, member: Member) -> SyncGroupResponse:
        """Return the response with a member's assignment."""
        return SyncGroupResponse(
            protocol_type=self.protocol_type, protocol_name=self.protocol, assignment=member.assignment
        )

    # -- generations --------------------------------------------------------------------------

    def move_to(self, state: GroupState, now_ms: int) -> None:
        """Enter another state, if the table of states allows it."""
        assert self.state in PREDECESSORS[state], f"group {self.group_id} cannot go from {self.state} to {state}"
        self.previous_state, self.state, self.state_since_ms = self.state, state, now_ms

    def ensure_joined_leader(self) -> bool:
        """Replace a leader that has not joined by a member that has; return False if no member has joined."""
        leader = self.members.get(self.leader or "")
        if leader is not None and leader.has_waiting_join:
            return True
        joined_id = next((member.member_id for member in self.members.in_order() if member.has_waiting_join), None)
        self.leader = joined_id or self.leader
        return joined_id is not None

    def begin_generation(self, now_ms: int) -> None:
        """Begin the next generation with the current members; without members the group becomes EMPTY."""
        self.generation = wrap_int32(self.generation + 1)
        self.protocol = self.members.choose_protocol() if self.members else None
        self.update_subscriptions()
        self.move_to(_S.COMPLETING_REBALANCE if self.members else _S.EMPTY, now_ms)
        self.pending_syncs.clear()

    def update_subscriptions(self) -> None:
        """Update the topics that the members of a consumer group subscribe to."""
        self.subscribed_topics = self.members.subscribed_topics(self.protocol) if self.is_consumer_group else None

    def write(self, record: KeyValue, on_written: Callable[[int, ErrorCode], None]) -> None:
        """Persist a record; `on_written` is not called if the group is DEAD by then."""

        def unless_dead(now_ms: int, error: ErrorCode) -> None:
            if self.state is not _S.DEAD:
                on_written(now_ms, error)

        self.effects.append(Write([record], unless_dead))

    def end(self, error: ErrorCode) -> None:
        """Move the group to DEAD on this broker: fail waiting requests with `error`, and cancel all timers."""
        for member in self.members.in_order():
            self.fail_waiting(member, error, member_id=member.member_id)
        self.effects += [CancelTimer(Timer.SESSION, member_id) for member_id in (*self.members, *self.pending_joins)]
        self.effects += [CancelTimer(Timer.JOIN, ""), CancelTimer(Timer.SYNC, "")]
        self.move_to(_S.DEAD, self.state_since_ms)

    # -- offsets ------------------------------------------------------------------------------

    @property
    def is_consumer_group(self) -> bool:
        """Whether its members use the consumer protocol."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def is_subscribed_to(self, topic: str) -> bool:
        """Return whether a member reads `topic`; True if the subscriptions of a consumer group are unknown."""
        return self.is_consumer_group if self.subscribed_topics is None else topic in self.subscribed_topics

    def commit_error(
        self, member_id: str, group_instance_id: str | None, generation: int, *, in_transaction: bool
    ) -> ErrorCode:
        """Return the error for a commit with this member id, instance id and generation, or NONE."""
        if generation < 0 and self.state is _S.EMPTY:
            return ErrorCode.NONE
        if generation >= 0 or member_id or group_instance_id is not None:
            error = self.members.error(member_id, group_instance_id)
            if error:
                return error
            if generation != self.generation:
                return ErrorCode.ILLEGAL_GENERATION
        elif not in_transaction and self.state is not _S.EMPTY:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if not in_transaction and self.state is _S.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def offset_delete_error(self) -> ErrorCode:
        """Return NON_EMPTY_GROUP if there are members without the consumer protocol, else NONE."""
        return ErrorCode.NONE if self.is_consumer_group else self.delete_error()

    def expired_keys(self, offsets: Offsets, now_ms: int, retention_ms: int) -> list[OffsetKey]:
        """Return the keys of the offsets that have expired.

        Offsets of a simple group, and of topics that no member reads, expire after their commit; those of a group whose
        members have left, after the group became empty.
        """
        since_ms: int | None = None
        if self.protocol_type is not None:
            if self.state is _S.EMPTY:
                since_ms = None if self.state_since_ms == NO_TIME else self.state_since_ms
            elif self.state is not _S.STABLE or self.subscribed_topics is None:
                return []
        return offsets.expired_keys(self.group_id, now_ms, retention_ms, since_ms, self.is_subscribed_to)

    # -- reported state -----------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is _S.EMPTY

    def describe(self) -> DescribedGroup:
        # Metadata of the members and the protocol are only reported for a stable generation.
        protocol = self.protocol if self.state is _S.STABLE else None
        return DescribedGroup(
            group_id=self.group_id,
            group_state=self.state_name,
            protocol_type=self.protocol_type or "",
            protocol_data=protocol or "",
            members=[member.describe(protocol) for member in self.members.in_order()],
        )
