"""How does a group come from one generation to the next? The half of a group that runs by joins, timers and commits.

A rebalance collects joins (PREPARING_REBALANCE), begins a generation (COMPLETING_REBALANCE) and persists what the
leader assigns (STABLE). What a group wants done is left in `effects`; nothing here knows of links, logs or clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kmirror.cluster.coordinators.groups.classic.effects import Answer, CancelTimer, Effect, SetTimer, Timer, Write
from kmirror.cluster.coordinators.groups.classic.group import Group
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.cluster.coordinators.groups.classic.member import Member
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.spec.error_codes import ErrorCode

_S = GroupState


@dataclass(frozen=True, slots=True)
class Limits:
    """What a broker's configs say of groups."""

    initial_rebalance_delay_ms: int = 3000
    size_max: int = 0x7FFF_FFFF


class Rebalance:
    """The rebalances of one group."""

    def __init__(self, group: Group, limits: Limits) -> None:
        self.group = group
        self.limits = limits
        self.effects: list[Effect] = []
        self.initial_delay: tuple[int, int] | None = None
        """While the first rebalance waits for more members: this wait, and how much longer it may take, in ms."""
        self.has_new_member = False
        """Has a member joined since the first rebalance's present wait began?"""
        self.storing_generation: int | None = None
        """The generation whose assignment is being persisted."""

    # -- answers and timers -------------------------------------------------------------------

    def answer_join(self, member: Member, body: JoinGroupResponse) -> None:
        """Answer the member's join, if one waits."""
        waiter = self.group.end_join(member)
        if waiter is not None:
            self.effects.append(Answer(waiter, body))

    def answer_sync(self, member: Member, body: SyncGroupResponse) -> bool:
        """Answer the member's SyncGroup, if one waits; return whether one did."""
        waiter, member.sync_waiter = member.sync_waiter, None
        if waiter is not None:
            self.effects.append(Answer(waiter, body))
        return waiter is not None

    def fail_waiting(self, member: Member, error: ErrorCode, *, member_id: str = "") -> None:
        """Answer whatever the member waits for with an error."""
        self.answer_join(member, JoinGroupResponse(error_code=error, member_id=member_id))
        self.answer_sync(member, SyncGroupResponse(error_code=error))

    def joined(self, member: Member, *, leader: str | None = None, skip_assignment: bool = False) -> JoinGroupResponse:
        """Return the answer to a join in the present generation; only the leader is given the members."""
        group = self.group
        leads = group.leader == member.member_id
        return JoinGroupResponse(
            generation_id=group.generation,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol,
            leader=(leader if leader is not None else group.leader) or "",
            skip_assignment=skip_assignment,
            member_id=member.member_id,
            members=group.rows() if leads and leader is None else [],
        )

    def expect_heartbeat(self, member: Member, *, within_ms: int | None = None) -> None:
        """Let the member's session end unless it is heard of in time: after its session timeout, or `within_ms`."""
        delay_ms = member.session_timeout_ms if within_ms is None else within_ms
        self.effects.append(SetTimer(Timer.SESSION, member.member_id, delay_ms))

    def forget_session(self, member_id: str) -> None:
        """End a member's session without consequences."""
        self.effects.append(CancelTimer(Timer.SESSION, member_id))

    # -- towards a generation -----------------------------------------------------------------

    def rebalance(self, now_ms: int) -> None:
        """Begin a rebalance; if one is under way, look whether it can go on."""
        if self.group.can_rebalance:
            self.prepare(now_ms)
        else:
            self.complete_if_all_joined(now_ms)

    def prepare(self, now_ms: int) -> None:
        """Begin a rebalance: the members have to join again."""
        group = self.group
        if group.state is _S.COMPLETING_REBALANCE:
            self.give_up_assignment(ErrorCode.REBALANCE_IN_PROGRESS)
        self._stop_waiting_for_syncs()
        is_initial = group.state is _S.EMPTY
        group.move_to(_S.PREPARING_REBALANCE, now_ms)
        if is_initial:
            delay_ms = self.limits.initial_rebalance_delay_ms
            self.initial_delay = (delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
            self._await_joins(delay_ms)
        elif group.all_have_joined:
            self.complete(now_ms)
        else:
            self._await_joins(group.rebalance_timeout_ms)

    def complete_if_all_joined(self, now_ms: int) -> None:
        """Begin the generation if nobody is missing; a group's first rebalance waits for its time all the same."""
        group = self.group
        is_first = group.previous_state is _S.EMPTY
        if group.state is _S.PREPARING_REBALANCE and not is_first and group.all_have_joined:
            self.complete(now_ms)

    def on_join_timer(self, now_ms: int) -> None:
        """Go on without those that have not joined, unless the first rebalance may wait for more."""
        if self.group.state is not _S.PREPARING_REBALANCE:
            return
        if self.initial_delay is not None and self.has_new_member and self.initial_delay[1] > 0:
            delay_ms, left_ms = self.initial_delay
            self.has_new_member = False
            following_ms = min(self.limits.initial_rebalance_delay_ms, left_ms)
            self.initial_delay = (following_ms, max(left_ms - delay_ms, 0))
            self._await_joins(following_ms)
        else:
            self.complete(now_ms)

    def complete(self, now_ms: int) -> None:
        """End the join phase: dynamic members that have not joined are out, the rest is the next generation."""
        group = self.group
        self.initial_delay = None
        self.effects.append(CancelTimer(Timer.JOIN, ""))
        for member in group.in_order():
            if not member.awaits_join and not member.is_static:
                group.remove(member.member_id)
                self.forget_session(member.member_id)
        if not group.has_joined_leader() and group.members:
            # Only static members are left, and none has joined: their sessions decide.
            self._await_joins(group.rebalance_timeout_ms)
            return
        group.begin_generation(now_ms)
        if group.state is _S.EMPTY:
            # If this is lost, the generation before is loaded again, and its members time out.
            self.write(group.value({}), lambda _now_ms, _error: None)
            return
        for member in group.in_order():
            self.answer_join(member, self.joined(member))
            self.expect_heartbeat(member)
            member.is_new = False
            group.pending_syncs[member.member_id] = None
        self.effects.append(SetTimer(Timer.SYNC, "", group.rebalance_timeout_ms))

    def _await_joins(self, delay_ms: int) -> None:
        self.effects.append(SetTimer(Timer.JOIN, "", delay_ms))

    # -- assignments --------------------------------------------------------------------------

    def store_assignment(self, assignments: Mapping[str, bytes]) -> None:
        """Persist what the leader assigns in this generation, then let all members know it."""
        group, generation = self.group, self.group.generation
        self.storing_generation = generation
        found = {member_id: assignments.get(member_id, b"") for member_id in group.members}

        def on_written(now_ms: int, error: ErrorCode) -> None:
            if self.storing_generation == generation:
                self.storing_generation = None
            if group.state is not _S.COMPLETING_REBALANCE or group.generation != generation:
                return  # Another rebalance has begun meanwhile, or the shard has moved.
            if error:
                self.give_up_assignment(error)
                self.prepare(now_ms)
                return
            for member in group.in_order():
                member.assignment = found.get(member.member_id, b"")
                if self.answer_sync(member, self.synced(member)):
                    self.expect_heartbeat(member)
            group.move_to(_S.STABLE, now_ms)

        self.write(group.value(found), on_written)

    def synced(self, member: Member) -> SyncGroupResponse:
        """Return the answer that gives a member its assignment."""
        group = self.group
        return SyncGroupResponse(
            protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
        )

    def give_up_assignment(self, error: ErrorCode) -> None:
        """Take back what is assigned in this generation, and answer every SyncGroup that waits with `error`."""
        for member in self.group.in_order():
            member.assignment = b""
            if self.answer_sync(member, SyncGroupResponse(error_code=error)):
                self.expect_heartbeat(member)

    def has_synced(self, member: Member) -> None:
        """Note that the member sent SyncGroup in this generation."""
        self.group.pending_syncs.pop(member.member_id, None)
        if not self.group.pending_syncs:
            self.effects.append(CancelTimer(Timer.SYNC, ""))

    def on_sync_timer(self, now_ms: int) -> None:
        """Remove the members of this generation that never sent SyncGroup."""
        group = self.group
        if group.state not in (_S.COMPLETING_REBALANCE, _S.STABLE) or not group.pending_syncs:
            return
        for member_id in list(group.pending_syncs):
            group.remove(member_id)
            self.forget_session(member_id)
        self.prepare(now_ms)

    def _stop_waiting_for_syncs(self) -> None:
        self.group.pending_syncs.clear()
        self.effects.append(CancelTimer(Timer.SYNC, ""))

    # -- records ------------------------------------------------------------------------------

    def write(self, value: GroupMetadataValue, on_written: Callable[[int, ErrorCode], None]) -> None:
        """Persist `value`; `on_written` is called unless the group is DEAD by then."""
        group = self.group

        def unless_dead(now_ms: int, error: ErrorCode) -> None:
            if group.state is not _S.DEAD:
                on_written(now_ms, error)

        self.effects.append(Write(value, unless_dead))
