"""A classic group: its state, its generation, its members, and the rules that look at nothing else.

Kafka keeps members in a hash map, and the map's order shows: in the member list that a leader is given, in records, and
in who becomes the leader when the leader goes. So members are walked in that order here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmirror.cluster.coordinators.groups.classic.group_states import GroupState, may_follow
from kmirror.cluster.coordinators.groups.classic.member import Member, Waiter
from kmirror.errors import ProtocolError
from kmirror.kernel.java import hash_of_text, in_hash_order, wrap_int32
from kmirror.protocol.gen.consumer_protocol_subscription import ConsumerProtocolSubscription
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue, MemberMetadata
from kmirror.protocol.gen.join_group_response import JoinGroupResponseMember
from kmirror.spec.error_codes import ErrorCode

CONSUMER_PROTOCOL_TYPE = "consumer"
NO_TIME = -1


class Group:
    """One group, as its coordinator sees it now."""

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.previous_state = GroupState.DEAD
        self.state_since_ms = now_ms
        """When the state was entered; -1 if the record that the group was loaded from does not say."""
        self.generation = 0
        self.protocol_type: str | None = None
        """None as long as no member has joined: the group of a simple consumer, which only keeps offsets here."""
        self.protocol: str | None = None
        """The protocol that all members of this generation use."""
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}
        """Group instance id to member id."""
        self.pending_joins: dict[str, None] = {}
        """Member ids that were handed out with MEMBER_ID_REQUIRED, and have not joined yet."""
        self.pending_syncs: dict[str, None] = {}
        """Members of this generation that have not sent SyncGroup yet."""
        self.subscribed_topics: frozenset[str] | None = None
        """Topics that a consumer group's members read; None if that cannot be told."""
        self._supporters: dict[str, int] = {}
        """Protocol to the number of members that support it."""
        self.awaiting_join = 0
        """How many members have joined and wait for the others."""
        self._members_max = 0
        """How many members there were at once: a hash map does not shrink."""

    @classmethod
    def loaded(cls, group_id: str, value: GroupMetadataValue) -> Group:
        """Return the group that a record describes: STABLE if it has members, of whom none waits."""
        group = cls(group_id, value.current_state_timestamp)
        group.state = GroupState.STABLE if value.members else GroupState.EMPTY
        group.generation = value.generation
        group.protocol_type = value.protocol_type or None
        group.protocol, group.leader = value.protocol, value.leader
        for row in value.members:
            group.add(
                Member(
                    row.member_id,
                    row.group_instance_id,
                    row.client_id,
                    row.client_host,
                    row.session_timeout if row.rebalance_timeout == NO_TIME else row.rebalance_timeout,
                    row.session_timeout,
                    value.protocol_type,
                    ((value.protocol or "", bytes(row.subscription)),),
                    bytes(row.assignment),
                )
            )
        if group.leader not in group.members:  # Kafka writes no such record.
            group.leader = next((member.member_id for member in group.in_order()), None)
        group.subscribed_topics = group._subscriptions()
        return group

    # -- members ------------------------------------------------------------------------------

    def in_order(self) -> list[Member]:
        """Return the members in the order of Kafka's hash map."""
        ids = in_hash_order(self.members, hash_of_text, most=self._members_max)
        return [self.members[member_id] for member_id in ids]

    def add(self, member: Member) -> None:
        """Add a member; the first one becomes the leader, and brings the protocol type."""
        if not self.members:
            self.protocol_type = member.protocol_type or None
        self.leader = self.leader or member.member_id
        self.members[member.member_id] = member
        self._members_max = max(self._members_max, len(self.members))
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        self._count(member, 1)
        self.awaiting_join += member.awaits_join
        self.pending_joins.pop(member.member_id, None)

    def remove(self, member_id: str) -> None:
        """Forget a member, or one that was to join; another member takes over from a leader."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count(member, -1)
            self.awaiting_join -= member.awaits_join
            if member.group_instance_id is not None:
                self.static_members.pop(member.group_instance_id, None)
        if self.leader == member_id:
            self.leader = next((other.member_id for other in self.in_order()), None)
        self.pending_joins.pop(member_id, None)
        self.pending_syncs.pop(member_id, None)

    def replace(self, old: Member, member_id: str) -> Member:
        """Return a member in the place of static member `old`, of which nothing waits, with another id."""
        assert old.join_waiter is None and old.sync_waiter is None, "what waits is to be answered"
        del self.members[old.member_id]
        new = Member(
            member_id,
            old.group_instance_id,
            old.client_id,
            old.client_host,
            old.rebalance_timeout_ms,
            old.session_timeout_ms,
            old.protocol_type,
            old.protocols,
            old.assignment,
        )
        self.members[member_id] = new
        if self.leader == old.member_id:
            self.leader = member_id
        assert old.group_instance_id is not None, "only a static member is replaced"
        self.static_members[old.group_instance_id] = member_id
        self.pending_syncs.pop(old.member_id, None)
        return new

    def update(self, member: Member, protocols: tuple[tuple[str, bytes], ...]) -> None:
        """Let a member support other protocols than before."""
        self._count(member, -1)
        member.protocols = protocols
        self._count(member, 1)

    def _count(self, member: Member, change: int) -> None:
        for name in member.names():
            self._supporters[name] = self._supporters.get(name, 0) + change
            if not self._supporters[name]:
                del self._supporters[name]

    def await_join(self, member: Member, waiter: Waiter) -> None:
        """Note that the member has joined; `waiter` is to be answered."""
        self.awaiting_join += not member.awaits_join
        member.join_waiter = waiter

    def end_join(self, member: Member) -> Waiter | None:
        """Return what waits for the answer to the member's join, which waits no more."""
        self.awaiting_join -= member.awaits_join
        waiter, member.join_waiter = member.join_waiter, None
        return waiter

    @property
    def all_have_joined(self) -> bool:
        return not self.pending_joins and self.awaiting_join == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """Return the longest that any member wants to be waited for."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def member_error(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """Return NONE for a member, else UNKNOWN_MEMBER_ID; FENCED_INSTANCE_ID if another has its instance id."""
        if group_instance_id is not None:
            known = self.static_members.get(group_instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    # -- generations --------------------------------------------------------------------------

    def move_to(self, state: GroupState, now_ms: int) -> None:
        """Enter another state, along the table."""
        assert may_follow(self.state, state), f"group {self.group_id} cannot go from {self.state} to {state}"
        self.previous_state, self.state, self.state_since_ms = self.state, state, now_ms

    @property
    def can_rebalance(self) -> bool:
        return may_follow(self.state, GroupState.PREPARING_REBALANCE)

    def has_joined_leader(self) -> bool:
        """Return whether the leader is a member that has joined, after another was made leader if need be."""
        leader = self.members.get(self.leader or "")
        if leader is not None and leader.awaits_join:
            return True
        joined = next((member.member_id for member in self.in_order() if member.awaits_join), None)
        self.leader = joined or self.leader
        return joined is not None

    def begin_generation(self, now_ms: int) -> None:
        """Enter the next generation with the members that there are; without members the group is EMPTY."""
        self.generation = wrap_int32(self.generation + 1)
        self.protocol = self.choose_protocol() if self.members else None
        self.subscribed_topics = self._subscriptions()
        self.move_to(GroupState.COMPLETING_REBALANCE if self.members else GroupState.EMPTY, now_ms)
        self.pending_syncs.clear()

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Return whether a member of this protocol type and with these protocols can be in the group."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and any(True for _ in names)
        count = len(self.members)
        return self.protocol_type == protocol_type and any(self._supporters.get(name, 0) == count for name in names)

    def choose_protocol(self) -> str:
        """Return the protocol with the most votes: each member's is for the one it likes best of those all support."""
        count = len(self.members)
        candidates = {name for name, supporters in self._supporters.items() if supporters == count}
        votes: dict[str, int] = {}
        for member in self.in_order():
            name = member.vote(candidates)
            votes[name] = votes.get(name, 0) + 1
        return max(in_hash_order(votes, hash_of_text), key=votes.__getitem__)

    # -- what others are told -----------------------------------------------------------------

    def rows(self) -> list[JoinGroupResponseMember]:
        """Return the members as the leader is given them, to make an assignment."""
        assert self.protocol is not None, "a generation with members has a protocol"
        return [
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.metadata(self.protocol),
            )
            for member in self.in_order()
        ]

    def value(self, assignments: Mapping[str, bytes]) -> GroupMetadataValue:
        """Return what is persisted of the group, if its members have `assignments`."""
        return GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=self.protocol,
            leader=self.leader,
            current_state_timestamp=self.state_since_ms,
            members=[
                MemberMetadata(
                    member_id=member.member_id,
                    group_instance_id=member.group_instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout=member.rebalance_timeout_ms,
                    session_timeout=member.session_timeout_ms,
                    subscription=member.metadata(self.protocol or ""),
                    assignment=assignments.get(member.member_id, b""),
                )
                for member in self.in_order()
            ],
        )

    # -- offsets ------------------------------------------------------------------------------

    @property
    def is_consumer_group(self) -> bool:
        """Return whether its members speak the protocol of consumers."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def reads(self, topic: str) -> bool:
        """Return whether a member reads `topic`; True if a consumer group's subscriptions cannot be told."""
        return self.is_consumer_group if self.subscribed_topics is None else topic in self.subscribed_topics

    def commit_error(
        self, member_id: str, group_instance_id: str | None, generation: int, *, in_transaction: bool
    ) -> ErrorCode:
        """Return why whoever says this of itself may not commit offsets now, or NONE."""
        if generation < 0 and self.state is GroupState.EMPTY:
            return ErrorCode.NONE
        if generation >= 0 or member_id or group_instance_id is not None:
            error = self.member_error(member_id, group_instance_id)
            if error:
                return error
            if generation != self.generation:
                return ErrorCode.ILLEGAL_GENERATION
        elif not in_transaction and self.state is not GroupState.EMPTY:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if not in_transaction and self.state is GroupState.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def delete_error(self) -> ErrorCode:
        """Return NON_EMPTY_GROUP if the group has members or is about to, else NONE."""
        return ErrorCode.NONE if self.state is GroupState.EMPTY else ErrorCode.NON_EMPTY_GROUP

    def _subscriptions(self) -> frozenset[str] | None:
        if not self.is_consumer_group:
            return None
        if not self.members:
            return frozenset()
        if self.protocol is None:
            return None
        topics: set[str] = set()
        for member in self.members.values():
            try:
                # Newer versions begin like version 0.
                found, _ = ConsumerProtocolSubscription.decode_prefix(member.metadata(self.protocol), 0, 2)
            except ProtocolError:
                return None
            assert isinstance(found, ConsumerProtocolSubscription)
            topics.update(found.topics)
        return frozenset(topics)
