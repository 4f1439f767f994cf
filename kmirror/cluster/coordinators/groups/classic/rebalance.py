"""Rebalances of a classic group: the steps from one generation to the next.

A rebalance collects joins (PREPARING_REBALANCE), begins a generation (COMPLETING_REBALANCE) and persists the assignment
of its leader (STABLE). A function changes the group, and adds responses, timers and records to the group's effects.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Timer
from kmirror.cluster.coordinators.groups.classic.group_states import PREDECESSORS, GroupState
from kmirror.cluster.coordinators.groups.classic.records import record_of
from kmirror.cluster.coordinators.groups.effects import CancelTimer, SetTimer
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.spec.error_codes import ErrorCode

_S = GroupState


def rebalance(group: ClassicGroup, now_ms: int) -> None:
    """Begin a rebalance, or complete the current one if all have joined; an initial one waits for its delay."""
    if group.state in PREDECESSORS[_S.PREPARING_REBALANCE]:
        prepare(group, now_ms)
    elif group.state is _S.PREPARING_REBALANCE and group.previous_state is not _S.EMPTY and group.all_have_joined:
        complete(group, now_ms)


def prepare(group: ClassicGroup, now_ms: int) -> None:
    """Begin a rebalance: the members must join again."""
    if group.state is _S.COMPLETING_REBALANCE:
        drop_assignment(group, ErrorCode.REBALANCE_IN_PROGRESS)
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
    """End the join phase: remove dynamic members that have not joined, and begin the next generation."""
    group.initial_delay = None
    group.effects.append(CancelTimer(Timer.JOIN, ""))
    for member in group.members.in_order():
        if not member.has_waiting_join and not member.is_static:
            group.remove(member.member_id)
    if group.members and not group.ensure_joined_leader():
        # Only static members are left, and none has joined: they are removed when their sessions end.
        group.effects.append(SetTimer(Timer.JOIN, "", group.members.rebalance_timeout_ms))
        return
    group.begin_generation(now_ms)
    if group.state is _S.EMPTY:
        # If this record is lost, the previous generation is loaded again, and its members time out.
        group.write(record_of(group, {}), lambda _now_ms, _error: None)
        return
    for member in group.members.in_order():
        group.respond_to_join(member, group.join_response(member))
        group.expect_heartbeat(member)
        member.is_new = False
        group.pending_syncs[member.member_id] = None
    group.effects.append(SetTimer(Timer.SYNC, "", group.members.rebalance_timeout_ms))


# -- assignments ------------------------------------------------------------------------------------


def store_assignment(group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
    """Persist the assignment of this generation, then send it to the members."""
    generation = group.storing_generation = group.generation
    assignment = {member_id: assignments.get(member_id, b"") for member_id in group.members}

    def on_written(now_ms: int, error: ErrorCode) -> None:
        if group.storing_generation == generation:
            group.storing_generation = None
        if group.state is not _S.COMPLETING_REBALANCE or group.generation != generation:
            return  # Another rebalance has begun meanwhile, or the shard has moved.
        if error:
            drop_assignment(group, error)
            prepare(group, now_ms)
            return
        for member in group.members.in_order():
            member.assignment = assignment.get(member.member_id, b"")
            if group.respond_to_sync(member, group.sync_response(member)):
                group.expect_heartbeat(member)
        group.move_to(_S.STABLE, now_ms)

    group.write(record_of(group, assignment), on_written)


def drop_assignment(group: ClassicGroup, error: ErrorCode) -> None:
    """Drop the assignment of this generation, and fail every waiting SyncGroup with `error`."""
    for member in group.members.in_order():
        member.assignment = b""
        if group.respond_to_sync(member, SyncGroupResponse(error_code=error)):
            group.expect_heartbeat(member)
