"""How does a group come from one generation to the next? What joins, timers and commits lead to.

A rebalance collects joins (PREPARING_REBALANCE), begins a generation (COMPLETING_REBALANCE) and persists the assignment
of its leader (STABLE). A function changes the group, and leaves answers, timers and records in the group's effects.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.coordinators.groups.classic.effects import CancelTimer, SetTimer, Timer
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Limits
from kmirror.cluster.coordinators.groups.classic.group_states import PREDECESSORS, GroupState
from kmirror.cluster.coordinators.groups.classic.records import value_of
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.spec.error_codes import ErrorCode

_S = GroupState


def rebalance(group: ClassicGroup, now_ms: int) -> None:
    """Begin a rebalance, or go on with the present one if all have joined; a first one waits for its time."""
    if group.state in PREDECESSORS[_S.PREPARING_REBALANCE]:
        prepare(group, now_ms)
    elif group.state is _S.PREPARING_REBALANCE and group.previous_state is not _S.EMPTY and group.all_have_joined:
        complete(group, now_ms)


def prepare(group: ClassicGroup, now_ms: int) -> None:
    """Begin a rebalance: the members have to join again."""
    if group.state is _S.COMPLETING_REBALANCE:
        give_up_assignment(group, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_syncs.clear()
    group.effects.append(CancelTimer(Timer.SYNC, ""))
    is_initial = group.state is _S.EMPTY
    group.move_to(_S.PREPARING_REBALANCE, now_ms)
    if is_initial:
        delay_ms = group.limits.initial_rebalance_delay_ms
        group.initial_delay = (delay_ms, max(group.members.rebalance_timeout_ms - delay_ms, 0))
        group.effects.append(SetTimer(Timer.JOIN, "", delay_ms))
    elif group.all_have_joined:
        complete(group, now_ms)
    else:
        group.effects.append(SetTimer(Timer.JOIN, "", group.members.rebalance_timeout_ms))


def complete(group: ClassicGroup, now_ms: int) -> None:
    """End the join phase: dynamic members that have not joined are out, the rest is the next generation."""
    group.initial_delay = None
    group.effects.append(CancelTimer(Timer.JOIN, ""))
    for member in group.members.in_order():
        if not member.awaits_join and not member.is_static:
            group.remove(member.member_id)
    if group.members and not group.has_joined_leader():
        # Only static members are left, and none has joined: their sessions decide.
        group.effects.append(SetTimer(Timer.JOIN, "", group.members.rebalance_timeout_ms))
        return
    group.begin_generation(now_ms)
    if group.state is _S.EMPTY:
        # If this is lost, the generation before is loaded again, and its members time out.
        group.write(value_of(group, {}), lambda _now_ms, _error: None)
        return
    for member in group.members.in_order():
        group.answer_join(member, group.joined(member))
        group.expect_heartbeat(member)
        member.is_new = False
        group.pending_syncs[member.member_id] = None
    group.effects.append(SetTimer(Timer.SYNC, "", group.members.rebalance_timeout_ms))


# -- assignments ------------------------------------------------------------------------------------


def store_assignment(group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
    """Persist the assignment of the leader in this generation, then answer the members with it."""
    generation = group.storing_generation = group.generation
    found = {member_id: assignments.get(member_id, b"") for member_id in group.members}

    def on_written(now_ms: int, error: ErrorCode) -> None:
        if group.storing_generation == generation:
            group.storing_generation = None
        if group.state is not _S.COMPLETING_REBALANCE or group.generation != generation:
            return  # Another rebalance has begun meanwhile, or the shard has moved.
        if error:
            give_up_assignment(group, error)
            prepare(group, now_ms)
            return
        for member in group.members.in_order():
            member.assignment = found.get(member.member_id, b"")
            if group.answer_sync(member, group.synced(member)):
                group.expect_heartbeat(member)
        group.move_to(_S.STABLE, now_ms)

    group.write(value_of(group, found), on_written)


def give_up_assignment(group: ClassicGroup, error: ErrorCode) -> None:
    """Take back the assignment of this generation, and answer every SyncGroup that waits with `error`."""
    for member in group.members.in_order():
        member.assignment = b""
        if group.answer_sync(member, SyncGroupResponse(error_code=error)):
            group.expect_heartbeat(member)


# -- the clock and the shard ------------------------------------------------------------------------


def on_timer(group: ClassicGroup, now_ms: int, timer: Timer, member_id: str) -> None:
    """Go on when a timer of the group fires."""
    match timer:
        case Timer.JOIN:
            _on_join_timer(group, now_ms)
        case Timer.SYNC:
            _on_sync_timer(group, now_ms)
        case Timer.SESSION:
            _on_session_end(group, now_ms, member_id)


def _on_join_timer(group: ClassicGroup, now_ms: int) -> None:
    """Go on without those that have not joined, unless the first rebalance may wait for more."""
    if group.state is not _S.PREPARING_REBALANCE:
        return
    if group.initial_delay is not None and group.has_new_member and group.initial_delay[1] > 0:
        delay_ms, left_ms = group.initial_delay
        group.has_new_member = False
        following_ms = min(group.limits.initial_rebalance_delay_ms, left_ms)
        group.initial_delay = (following_ms, max(left_ms - delay_ms, 0))
        group.effects.append(SetTimer(Timer.JOIN, "", following_ms))
    else:
        complete(group, now_ms)


def _on_sync_timer(group: ClassicGroup, now_ms: int) -> None:
    """Remove the members of this generation that never sent SyncGroup."""
    if group.state in (_S.COMPLETING_REBALANCE, _S.STABLE) and group.pending_syncs:
        for member_id in list(group.pending_syncs):
            group.remove(member_id)
        prepare(group, now_ms)


def _on_session_end(group: ClassicGroup, now_ms: int, member_id: str) -> None:
    """Remove a member that was not heard of, or one that did not come again with the id that it got."""
    member = group.members.get(member_id)
    if member is not None and member.is_alive_by_waiting:
        return
    if member is None and member_id not in group.pending_joins:
        return
    group.expel(member_id)
    if group.state is _S.PREPARING_REBALANCE:
        if group.all_have_joined:
            complete(group, now_ms)
    elif member is not None:
        prepare(group, now_ms)


def begin(group: ClassicGroup, now_ms: int, limits: Limits) -> None:
    """Go on with a group that was loaded: its members have a session timeout each to be heard of."""
    group.limits = limits
    for member in group.members.in_order():
        group.expect_heartbeat(member)
    if len(group.members) > limits.size_max:
        prepare(group, now_ms)


def end(group: ClassicGroup, error: ErrorCode) -> None:
    """Let the group be DEAD here: requests that wait are answered with `error`, and no timer is left."""
    for member in group.members.in_order():
        group.fail_waiting(member, error, member_id=member.member_id)
    group.effects += [CancelTimer(Timer.SESSION, one) for one in (*group.members, *group.pending_joins)]
    group.effects += [CancelTimer(Timer.JOIN, ""), CancelTimer(Timer.SYNC, "")]
    group.move_to(_S.DEAD, group.state_since_ms)
