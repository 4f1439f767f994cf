"""Requests of classic group members: joins, syncs, heartbeats, leaves.

Each function handles a request for a group, and adds the results to the effects of that group. The rules are those of
Kafka 4.3.1, with one addition: every waiting request gets a response. Kafka drops a JoinGroup or SyncGroup whose member
sends another one, and the SyncGroup of a member that is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmirror.cluster.coordinators.groups.classic import rebalance
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Member, Timer
from kmirror.cluster.coordinators.groups.classic.group_states import HEARTBEAT_ERRORS, GroupState
from kmirror.cluster.coordinators.groups.classic.records import metadata_record, record_of
from kmirror.cluster.coordinators.groups.effects import CancelTimer, RemoveGroup, Respond, SetTimer, Waiter, Write
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
"""First JoinGroup version in which a dynamic member must join again with the id that it is given (KIP-394)."""
SKIP_ASSIGNMENT_FROM = 9
"""First version in which a static leader that rejoins can be asked to skip the assignment (KIP-814)."""
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""Timeout of a new member's join: it does not know its member id yet, and so sends no heartbeats."""

_S = GroupState


@dataclass(frozen=True, slots=True)
class Join:
    """A JoinGroup, its sender, and its waiter for the response."""

    request: JoinGroupRequest
    client_id: str
    client_host: str
    version: int
    new_member_id: str
    """The member id that the sender gets if it has none."""
    waiter: Waiter

    @property
    def protocols(self) -> dict[str, bytes]:
        """Protocol name -> metadata; the first row wins if a name occurs twice."""
        found: dict[str, bytes] = {}
        for row in self.request.protocols:
            found.setdefault(row.name, bytes(row.metadata))
        return found


# -- joining ----------------------------------------------------------------------------------------


def join(group: ClassicGroup, now_ms: int, attempt: Join) -> None:
    """Handle a JoinGroup; the response is sent once, now or when the join phase ends."""
    request = attempt.request
    if not _has_room(group, request.member_id):
        if request.member_id:
            group.expel(request.member_id)
        _reject(group, attempt, ErrorCode.GROUP_MAX_SIZE_REACHED)
    elif not group.supports(request.protocol_type, [row.name for row in request.protocols]):
        _reject(group, attempt, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    elif request.member_id == UNKNOWN_MEMBER:
        _join_new(group, now_ms, attempt)
    elif request.member_id in group.pending_joins and request.group_instance_id is None:
        _add(group, now_ms, attempt, request.member_id)
    elif error := group.members.error(request.member_id, request.group_instance_id):
        _reject(group, attempt, error, request.member_id)
    else:
        _join_again(group, now_ms, attempt, group.members[request.member_id])
    if group.is_new:
        group.is_new = False
        _write_new_group(group)


def _has_room(group: ClassicGroup, member_id: str) -> bool:
    """Return whether the maximum size of the group allows this join."""
    size_max = group.limits.size_max
    if group.state is _S.EMPTY or len(group.members) < size_max:
        return True
    if group.state is _S.PREPARING_REBALANCE:
        # The first members to rejoin may stay, so a group above its maximum size loses the last ones.
        member = group.members.get(member_id)
        return (member is not None and member.has_waiting_join) or group.members.awaiting_join < size_max
    return member_id in group.members


def _reject(group: ClassicGroup, attempt: Join, error: ErrorCode, member_id: str = UNKNOWN_MEMBER) -> None:
    group.effects.append(Respond(attempt.waiter, JoinGroupResponse(error_code=error, member_id=member_id)))


def _join_new(group: ClassicGroup, now_ms: int, attempt: Join) -> None:
    instance = attempt.request.group_instance_id
    if instance is not None and instance in group.members.static:
        _replace_static(group, now_ms, attempt, group.members[group.members.static[instance]])
    elif instance is None and attempt.version >= MEMBER_ID_REQUIRED_FROM:
        group.pending_joins[attempt.new_member_id] = None
        group.effects.append(SetTimer(Timer.SESSION, attempt.new_member_id, attempt.request.session_timeout_ms))
        _reject(group, attempt, ErrorCode.MEMBER_ID_REQUIRED, attempt.new_member_id)
    else:
        _add(group, now_ms, attempt, attempt.new_member_id)


def _add(group: ClassicGroup, now_ms: int, attempt: Join, member_id: str) -> None:
    request = attempt.request
    member = Member(
        member_id,
        request.group_instance_id,
        attempt.client_id,
        attempt.client_host,
        request.rebalance_timeout_ms,
        request.session_timeout_ms,
        request.protocol_type,
        attempt.protocols,
        join_waiter=attempt.waiter,
        is_new=True,
    )
    if group.state is _S.PREPARING_REBALANCE and group.previous_state is _S.EMPTY:
        group.has_new_member = True
    group.add(member)
    group.expect_heartbeat(member, within_ms=NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance.rebalance(group, now_ms)


def _join_again(group: ClassicGroup, now_ms: int, attempt: Join, member: Member) -> None:
    leads = group.leader == member.member_id
    is_settled = group.state is _S.COMPLETING_REBALANCE or (group.state is _S.STABLE and not leads)
    if is_settled and [*member.protocols.items()] == [*attempt.protocols.items()]:
        # It may have missed the response to its join. A leader that joins in STABLE wants to assign again.
        group.effects.append(Respond(attempt.waiter, group.join_response(member)))
    else:
        _await_join(group, attempt, member)
        rebalance.rebalance(group, now_ms)


def _await_join(group: ClassicGroup, attempt: Join, member: Member) -> None:
    """Make the join of a member wait, with its new protocols; an earlier waiting join gets REBALANCE_IN_PROGRESS."""
    body = JoinGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.member_id)
    group.respond_to_join(member, body)
    group.members.set_protocols(member, attempt.protocols)
    member.rebalance_timeout_ms = attempt.request.rebalance_timeout_ms
    member.session_timeout_ms = attempt.request.session_timeout_ms
    member.join_waiter = attempt.waiter


def _write_new_group(group: ClassicGroup) -> None:
    """Persist the existence of the group, with a record without members."""

    def on_written(_: int, error: ErrorCode) -> None:
        if error:
            group.end(error)
            group.effects.append(RemoveGroup())

    value = GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=group.state_since_ms)
    group.write(metadata_record(group.group_id, value), on_written)


# -- static members ---------------------------------------------------------------------------------


def _replace_static(group: ClassicGroup, now_ms: int, attempt: Join, old: Member) -> None:
    """Replace the former static member by one that was restarted and does not know its member id."""
    former_leader = group.leader
    group.fail_waiting(old, ErrorCode.FENCED_INSTANCE_ID, member_id=old.member_id)
    member = group.replace(old, attempt.new_member_id)
    _await_join(group, attempt, member)
    if group.state is _S.STABLE and group.members.choose_protocol() == group.protocol:
        _write_replaced(group, old, member, former_leader, attempt.version)
    else:
        # In COMPLETING_REBALANCE the leader may be computing an assignment for the old member id.
        rebalance.rebalance(group, now_ms)


def _write_replaced(group: ClassicGroup, old: Member, member: Member, former_leader: str | None, version: int) -> None:
    """Persist the new member id; the generation continues, so that no other member must join again."""
    generation = group.generation

    def on_written(_: int, error: ErrorCode) -> None:
        if group.state is not _S.STABLE or group.generation != generation or member.join_waiter is None:
            return  # A rebalance has begun and will respond to the join, or another member has replaced this one.
        if error:
            body = group.join_response(member, leader=former_leader)
            body.member_id, body.error_code = UNKNOWN_MEMBER, error
            group.respond_to_join(member, body)
            _restore_static(group, old, member)
            return
        # An older client that is named as the leader would assign again, and no member would get that assignment.
        skips = version >= SKIP_ASSIGNMENT_FROM and group.leader == member.member_id
        leader = None if version >= SKIP_ASSIGNMENT_FROM else former_leader
        group.respond_to_join(member, group.join_response(member, leader=leader, skip_assignment=skips))
        group.expect_heartbeat(member)

    assignments = {one.member_id: one.assignment for one in group.members.values()}
    group.write(record_of(group, assignments), on_written)


def _restore_static(group: ClassicGroup, old: Member, member: Member) -> None:
    """Restore the former static member, because the record of its successor could not be written."""
    group.members.set_protocols(member, old.protocols)
    member.rebalance_timeout_ms, member.session_timeout_ms = old.rebalance_timeout_ms, old.session_timeout_ms
    group.replace(member, old.member_id)


# -- members of a generation ------------------------------------------------------------------------


def sync(group: ClassicGroup, request: SyncGroupRequest, waiter: Waiter) -> None:
    """Handle a SyncGroup; the response is sent once, now or when the leader's assignment is persisted."""
    error = _sync_error(group, request)
    if error:
        group.effects.append(Respond(waiter, SyncGroupResponse(error_code=error)))
        return
    member = group.members[request.member_id]
    group.pending_syncs.pop(member.member_id, None)
    if not group.pending_syncs:
        group.effects.append(CancelTimer(Timer.SYNC, ""))
    if group.state is _S.STABLE:
        group.effects.append(Respond(waiter, group.sync_response(member)))
        return
    group.respond_to_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
    member.sync_waiter = waiter
    # A repeated SyncGroup of the leader must not change an assignment that is being written.
    if group.leader == member.member_id and group.storing_generation != group.generation:
        assignments = {row.member_id: bytes(row.assignment) for row in request.assignments}
        rebalance.store_assignment(group, assignments)


def _sync_error(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
    if group.state is _S.EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.members.error(request.member_id, request.group_instance_id)
    if error:
        return error
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    protocol_pairs = ((request.protocol_type, group.protocol_type), (request.protocol_name, group.protocol))
    if any(None not in pair and pair[0] != pair[1] for pair in protocol_pairs):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state is _S.PREPARING_REBALANCE else ErrorCode.NONE


def heartbeat(group: ClassicGroup, request: HeartbeatRequest) -> ErrorCode:
    """Return the error for a heartbeat, or NONE."""
    error = group.members.error(request.member_id, request.group_instance_id)
    if error:
        return error
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    group.keep_alive(request.member_id)
    return HEARTBEAT_ERRORS[group.state]


# -- leaving ----------------------------------------------------------------------------------------


def leave(group: ClassicGroup, now_ms: int, members: Sequence[MemberIdentity], waiter: Waiter) -> None:
    """Remove members, each with its own error; the response is sent to `waiter` once the result is persisted."""
    rows = [
        MemberResponse(member_id=row.member_id, group_instance_id=row.group_instance_id, error_code=_leave(group, row))
        for row in members
    ]
    response = Respond(waiter, LeaveGroupResponse(members=rows))
    before = len(group.effects)
    if any(not row.error_code for row in rows) and group.state is not _S.EMPTY:
        rebalance.rebalance(group, now_ms)
    write = next((effect for effect in group.effects[before:] if isinstance(effect, Write)), None)
    if write is None:
        group.effects.append(response)
        return

    def on_written(_: int, error: ErrorCode) -> None:
        group.effects.append(Respond(waiter, LeaveGroupResponse(error_code=error)) if error else response)

    write.on_written = on_written


def _leave(group: ClassicGroup, row: MemberIdentity) -> ErrorCode:
    member_id = row.member_id
    if member_id == UNKNOWN_MEMBER:  # An administrator removes a static member by its instance id.
        found = group.members.static.get(row.group_instance_id or "")
        if row.group_instance_id is None or found is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        member_id = found
    elif member_id not in group.pending_joins:
        error = group.members.error(member_id, row.group_instance_id)
        if error:
            return error
    group.expel(member_id)
    return ErrorCode.NONE
