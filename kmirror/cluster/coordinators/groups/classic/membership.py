"""Who is a member of a classic group? Joins, syncs, heartbeats, leaves, and sessions that end.

Each call says what a client or the clock has done, and leaves what follows from it in `drain`. The rules are those of
Kafka 4.3.1, with one addition: whatever waits is answered. Kafka forgets a JoinGroup or SyncGroup whose member
sends another, and the SyncGroup of a member that is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmirror.cluster.coordinators.groups.classic.effects import (
    Answer,
    CancelTimer,
    Effect,
    Forget,
    SetTimer,
    Timer,
    Write,
)
from kmirror.cluster.coordinators.groups.classic.group import Group
from kmirror.cluster.coordinators.groups.classic.group_states import HEARTBEAT_ANSWER, GroupState
from kmirror.cluster.coordinators.groups.classic.member import Member, Protocols, Waiter, protocols_of
from kmirror.cluster.coordinators.groups.classic.rebalance import Limits, Rebalance
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.join_group_request import JoinGroupRequest
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.protocol.gen.leave_group_request import MemberIdentity
from kmirror.protocol.gen.leave_group_response import LeaveGroupResponse, MemberResponse
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.spec.error_codes import ErrorCode

UNKNOWN_MEMBER = ""
MEMBER_ID_REQUIRED_FROM = 4
"""First version of JoinGroup in which a dynamic member has to come again with the id that it is given (KIP-394)."""
SKIP_ASSIGNMENT_FROM = 9
"""First version in which a static leader that comes back can be told so, and not to assign again (KIP-814)."""
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""How long a join of somebody who does not know his member id yet, and so sends no heartbeats, may wait."""

_S = GroupState


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a JoinGroup, in which version, and the member id that it gets if it has none."""

    client_id: str
    client_host: str
    version: int
    new_member_id: str


class Membership:
    """One group, and what its members may do."""

    def __init__(self, group: Group, limits: Limits, *, is_written: bool) -> None:
        self.group = group
        self._rebalance = Rebalance(group, limits)
        self._is_written = is_written
        """Is there, or will there be, a record of this group?"""

    def drain(self) -> list[Effect]:
        """Return what the group wants done since the last call, in that order."""
        effects, self._rebalance.effects = self._rebalance.effects, []
        return effects

    # -- joining ------------------------------------------------------------------------------

    def join(self, now_ms: int, request: JoinGroupRequest, caller: Caller, waiter: Waiter) -> None:
        """Take up a JoinGroup; `waiter` is answered now or when the join phase ends, once."""
        group = self.group
        if not self._has_room(request.member_id):
            if request.member_id:
                self._remove(request.member_id)
            self._refuse_join(waiter, ErrorCode.GROUP_MAX_SIZE_REACHED)
        elif not group.supports(request.protocol_type, [row.name for row in request.protocols]):
            self._refuse_join(waiter, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
        elif request.member_id == UNKNOWN_MEMBER:
            self._join_new(now_ms, request, caller, waiter)
        elif request.member_id in group.pending_joins and request.group_instance_id is None:
            self._add(now_ms, request, caller, request.member_id, waiter)
        elif error := group.member_error(request.member_id, request.group_instance_id):
            self._refuse_join(waiter, error, request.member_id)
        else:
            self._join_again(now_ms, request, group.members[request.member_id], waiter)
        if not self._is_written:
            self._is_written = True
            self._write_new_group()

    def _join_new(self, now_ms: int, request: JoinGroupRequest, caller: Caller, waiter: Waiter) -> None:
        group, instance = self.group, request.group_instance_id
        if instance is not None and instance in group.static_members:
            self._replace_static(now_ms, request, caller, waiter)
        elif instance is None and caller.version >= MEMBER_ID_REQUIRED_FROM:
            group.pending_joins[caller.new_member_id] = None
            session = SetTimer(Timer.SESSION, caller.new_member_id, request.session_timeout_ms)
            self._rebalance.effects.append(session)
            self._refuse_join(waiter, ErrorCode.MEMBER_ID_REQUIRED, caller.new_member_id)
        else:
            self._add(now_ms, request, caller, caller.new_member_id, waiter)

    def _join_again(self, now_ms: int, request: JoinGroupRequest, member: Member, waiter: Waiter) -> None:
        group, protocols = self.group, _protocols(request)
        is_settled = group.state is _S.COMPLETING_REBALANCE or (
            group.state is _S.STABLE and group.leader != member.member_id
        )
        if is_settled and member.protocols == protocols:
            # It may have missed the answer to its join. A leader's join in STABLE means that it wants to assign anew.
            self._rebalance.effects.append(Answer(waiter, self._rebalance.joined(member)))
        else:
            self._await_join(member, request, protocols, waiter)
            self._rebalance.rebalance(now_ms)

    def _add(self, now_ms: int, request: JoinGroupRequest, caller: Caller, member_id: str, waiter: Waiter) -> None:
        group = self.group
        member = Member(
            member_id,
            request.group_instance_id,
            caller.client_id,
            caller.client_host,
            request.rebalance_timeout_ms,
            request.session_timeout_ms,
            request.protocol_type,
            _protocols(request),
            join_waiter=waiter,
            is_new=True,
        )
        if group.state is _S.PREPARING_REBALANCE and group.previous_state is _S.EMPTY:
            self._rebalance.has_new_member = True
        group.add(member)
        self._rebalance.expect_heartbeat(member, within_ms=NEW_MEMBER_JOIN_TIMEOUT_MS)
        self._rebalance.rebalance(now_ms)

    def _await_join(self, member: Member, request: JoinGroupRequest, protocols: Protocols, waiter: Waiter) -> None:
        """Let a member's join wait, with what it says now; one that waited is told that there is a rebalance."""
        self._rebalance.answer_join(
            member, JoinGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.member_id)
        )
        self.group.update(member, protocols)
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        self.group.await_join(member, waiter)

    def _has_room(self, member_id: str) -> bool:
        """Return whether the group takes this join, as far as its size goes."""
        group, size_max = self.group, self._rebalance.limits.size_max
        if group.state is _S.EMPTY or len(group.members) < size_max:
            return True
        if group.state is _S.PREPARING_REBALANCE:
            # Whoever is first to come again may stay: so a group above its size gets rid of the last ones.
            member = group.members.get(member_id)
            return (member is not None and member.awaits_join) or group.awaiting_join < size_max
        return member_id in group.members

    def _refuse_join(self, waiter: Waiter, error: ErrorCode, member_id: str = UNKNOWN_MEMBER) -> None:
        self._rebalance.effects.append(Answer(waiter, JoinGroupResponse(error_code=error, member_id=member_id)))

    def _write_new_group(self) -> None:
        """Persist that there is a group, before anything else is known of it."""
        group = self.group

        def on_written(_: int, error: ErrorCode) -> None:
            if error:
                self.end(error)
                self._rebalance.effects.append(Forget())

        self._rebalance.write(
            GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=group.state_since_ms), on_written
        )

    # -- static members -----------------------------------------------------------------------

    def _replace_static(self, now_ms: int, request: JoinGroupRequest, caller: Caller, waiter: Waiter) -> None:
        """Put a static member that was started again, and knows no member id, in the place of the former one."""
        group, rebalance = self.group, self._rebalance
        instance = request.group_instance_id
        assert instance is not None, "only a static member is replaced"
        old, former_leader = group.members[group.static_members[instance]], group.leader
        rebalance.fail_waiting(old, ErrorCode.FENCED_INSTANCE_ID, member_id=old.member_id)
        member = group.replace(old, caller.new_member_id)
        rebalance.forget_session(old.member_id)
        rebalance.expect_heartbeat(member)
        self._await_join(member, request, _protocols(request), waiter)
        if group.state is _S.STABLE and group.choose_protocol() == group.protocol:
            self._write_replaced(old, member, former_leader, caller.version)
        else:
            # In COMPLETING_REBALANCE the leader may be assigning to the id that is gone.
            rebalance.rebalance(now_ms)

    def _write_replaced(self, old: Member, member: Member, former_leader: str | None, version: int) -> None:
        """Persist the new member id; the generation goes on, so that nobody else has to join again."""
        group, rebalance, generation = self.group, self._rebalance, self.group.generation

        def on_written(_: int, error: ErrorCode) -> None:
            if group.state is not _S.STABLE or group.generation != generation or member.join_waiter is None:
                return  # A rebalance has begun meanwhile, and answers the join; or another took the member's place.
            if error:
                body = rebalance.joined(member, leader=former_leader)
                body.member_id, body.error_code = UNKNOWN_MEMBER, error
                rebalance.answer_join(member, body)
                self._take_back(old, member)
                return
            # Were an older client told that it leads, it would assign anew, and nobody would be given that.
            skips = version >= SKIP_ASSIGNMENT_FROM and group.leader == member.member_id
            told = None if version >= SKIP_ASSIGNMENT_FROM else former_leader
            rebalance.answer_join(member, rebalance.joined(member, leader=told, skip_assignment=skips))
            rebalance.expect_heartbeat(member)

        rebalance.write(group.value({one.member_id: one.assignment for one in group.members.values()}), on_written)

    def _take_back(self, old: Member, member: Member) -> None:
        """Let the former static member be one again: its successor could not be persisted."""
        restored = self.group.replace(member, old.member_id)
        self.group.update(restored, old.protocols)
        restored.rebalance_timeout_ms, restored.session_timeout_ms = old.rebalance_timeout_ms, old.session_timeout_ms
        self._rebalance.forget_session(member.member_id)
        self._rebalance.expect_heartbeat(restored)

    # -- members of a generation --------------------------------------------------------------

    def sync(self, request: SyncGroupRequest, waiter: Waiter) -> None:
        """Take up a SyncGroup; `waiter` is answered now or when the leader's assignment is persisted, once."""
        group, rebalance = self.group, self._rebalance
        error = self._sync_error(request)
        if error:
            rebalance.effects.append(Answer(waiter, SyncGroupResponse(error_code=error)))
            return
        member = group.members[request.member_id]
        rebalance.has_synced(member)
        if group.state is _S.STABLE:
            rebalance.effects.append(Answer(waiter, rebalance.synced(member)))
            return
        rebalance.answer_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_waiter = waiter
        # A leader that asks again must not change what is on its way into the log.
        if group.leader == member.member_id and rebalance.storing_generation != group.generation:
            rebalance.store_assignment({row.member_id: bytes(row.assignment) for row in request.assignments})

    def _sync_error(self, request: SyncGroupRequest) -> ErrorCode:
        group = self.group
        if group.state is _S.EMPTY:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = group.member_error(request.member_id, request.group_instance_id)
        if error:
            return error
        if request.generation_id != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        said = ((request.protocol_type, group.protocol_type), (request.protocol_name, group.protocol))
        if any(None not in pair and pair[0] != pair[1] for pair in said):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return ErrorCode.REBALANCE_IN_PROGRESS if group.state is _S.PREPARING_REBALANCE else ErrorCode.NONE

    def heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        """Return what a member is told that says it is alive."""
        group = self.group
        error = group.member_error(request.member_id, request.group_instance_id)
        if error:
            return error
        if request.generation_id != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        self.keep_alive(request.member_id)
        return HEARTBEAT_ANSWER[group.state]

    def keep_alive(self, member_id: str) -> None:
        """Begin a member's session timeout anew; nothing happens if it is no member."""
        member = self.group.members.get(member_id)
        if member is not None:
            self._rebalance.expect_heartbeat(member)

    # -- leaving ------------------------------------------------------------------------------

    def leave(self, now_ms: int, members: Sequence[MemberIdentity], waiter: Waiter) -> None:
        """Remove members, each with an error of its own; `waiter` is answered once what follows is persisted."""
        rows = [
            MemberResponse(
                member_id=row.member_id, group_instance_id=row.group_instance_id, error_code=self._leave(row)
            )
            for row in members
        ]
        answer = Answer(waiter, LeaveGroupResponse(members=rows))
        before = len(self._rebalance.effects)
        if any(not row.error_code for row in rows) and self.group.state is not _S.EMPTY:
            self._rebalance.rebalance(now_ms)
        write = next((effect for effect in self._rebalance.effects[before:] if isinstance(effect, Write)), None)
        if write is None:
            self._rebalance.effects.append(answer)
            return

        def on_written(_: int, error: ErrorCode) -> None:
            self._rebalance.effects.append(Answer(waiter, LeaveGroupResponse(error_code=error)) if error else answer)

        write.on_written = on_written

    def _leave(self, row: MemberIdentity) -> ErrorCode:
        group, member_id = self.group, row.member_id
        if member_id == UNKNOWN_MEMBER:  # An administrator removes a static member by the name that he knows.
            found = group.static_members.get(row.group_instance_id or "")
            if row.group_instance_id is None or found is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            member_id = found
        elif member_id not in group.pending_joins:
            error = group.member_error(member_id, row.group_instance_id)
            if error:
                return error
        self._remove(member_id)
        return ErrorCode.NONE

    def _remove(self, member_id: str) -> None:
        """Remove a member, or one that was to join; what waits is told that the member is not known."""
        member = self.group.members.get(member_id)
        if member is not None:
            self._rebalance.fail_waiting(member, ErrorCode.UNKNOWN_MEMBER_ID)
        self.group.remove(member_id)
        self._rebalance.forget_session(member_id)

    # -- the clock ----------------------------------------------------------------------------

    def on_timer(self, now_ms: int, timer: Timer, member_id: str) -> None:
        """Do what is to be done when a timer of the group fires."""
        match timer:
            case Timer.JOIN:
                self._rebalance.on_join_timer(now_ms)
            case Timer.SYNC:
                self._rebalance.on_sync_timer(now_ms)
            case Timer.SESSION:
                self._on_session_end(now_ms, member_id)

    def _on_session_end(self, now_ms: int, member_id: str) -> None:
        group = self.group
        member = group.members.get(member_id)
        if member is not None and member.is_alive_by_waiting:
            return
        if member is None and member_id not in group.pending_joins:
            return
        self._remove(member_id)
        if group.state is _S.PREPARING_REBALANCE:
            if group.all_have_joined:
                self._rebalance.complete(now_ms)
        elif member is not None:
            self._rebalance.prepare(now_ms)

    # -- the shard's leadership ---------------------------------------------------------------

    def begin(self, now_ms: int) -> None:
        """Go on with a group that was loaded: its members have a session timeout each to be heard of."""
        for member in self.group.in_order():
            self._rebalance.expect_heartbeat(member)
        if len(self.group.members) > self._rebalance.limits.size_max:
            self._rebalance.prepare(now_ms)

    def end(self, error: ErrorCode) -> None:
        """Let the group be DEAD here: whatever waits is answered with `error`, and no timer is left."""
        group, effects = self.group, self._rebalance.effects
        for member in group.in_order():
            self._rebalance.fail_waiting(member, error, member_id=member.member_id)
        for member_id in (*group.members, *group.pending_joins):
            self._rebalance.forget_session(member_id)
        effects += [CancelTimer(Timer.JOIN, ""), CancelTimer(Timer.SYNC, "")]
        group.move_to(_S.DEAD, group.state_since_ms)


def _protocols(request: JoinGroupRequest) -> Protocols:
    return protocols_of([(row.name, bytes(row.metadata)) for row in request.protocols])
