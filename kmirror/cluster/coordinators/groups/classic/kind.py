"""Classic groups as a kind: their record, their requests, their timers, and their loading from the shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from kmirror.cluster.coordinators.groups.classic import rebalance
from kmirror.cluster.coordinators.groups.classic.apis import heartbeat, join_group, leave_group, sync_group
from kmirror.cluster.coordinators.groups.classic.group import NO_TIME, ClassicGroup, Limits, Timer
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.cluster.coordinators.groups.classic.records import group_of, metadata_record
from kmirror.cluster.coordinators.groups.effects import SetTimer
from kmirror.cluster.coordinators.groups.kinds import GroupKind
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import Versioned
from kmirror.protocol.gen.group_metadata_key import GroupMetadataKey
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.join_group_request import JoinGroupRequest
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs

ROUTES: Mapping[type[Message], Callable[..., None]] = {
    JoinGroupRequest: join_group.handle,
    SyncGroupRequest: sync_group.handle,
    HeartbeatRequest: heartbeat.handle,
    LeaveGroupRequest: leave_group.handle,
}


class ClassicGroups(GroupKind[ClassicGroup]):
    """The classic groups of one shard."""

    name = ClassicGroup.kind
    record_types = (GroupMetadataKey.API_KEY,)
    routes = ROUTES

    def __init__(self) -> None:
        self.values: Versioned[str, GroupMetadataValue] = Versioned()
        super().__init__(self.values)

    # -- records ------------------------------------------------------------------------------

    def replay(self, key: Message, value: Message | None) -> str | None:
        assert isinstance(key, GroupMetadataKey)
        assert value is None or isinstance(value, GroupMetadataValue)
        self.values.put(key.group, value)
        return key.group if value is None else None

    def ids(self, *, committed: bool) -> Iterable[str]:
        return self.values.all_committed() if committed else self.values.keys()

    def load(self, group_id: str, *, committed: bool) -> ClassicGroup | None:
        value = self.values.committed(group_id) if committed else self.values.get(group_id)
        return None if value is None else group_of(group_id, value)

    def simple_group(self, group_id: str) -> ClassicGroup | None:
        return ClassicGroup(group_id, NO_TIME)

    def tombstones(self, group_id: str) -> list[KeyValue]:
        return [metadata_record(group_id, None)]

    # -- live groups --------------------------------------------------------------------------

    def begin(self, group: ClassicGroup, now_ms: int, configs: Configs) -> None:
        """Resume a group that was loaded from its records; the session timeout of each member starts now."""
        group.limits = Limits.from_configs(configs)
        for member in group.members.in_order():
            group.expect_heartbeat(member)
        if len(group.members) > group.limits.size_max:
            rebalance.prepare(group, now_ms)

    def on_timer(self, group: ClassicGroup, now_ms: int, timer: Enum, member_id: str) -> None:
        match timer:
            case Timer.JOIN:
                _on_join_timer(group, now_ms)
            case Timer.SYNC:
                _on_sync_timer(group, now_ms)
            case Timer.SESSION:
                _on_session_end(group, now_ms, member_id)


def _on_join_timer(group: ClassicGroup, now_ms: int) -> None:
    """Continue without the members that have not joined, unless the first rebalance may wait for more."""
    if group.state is not GroupState.PREPARING_REBALANCE:
        return
    if group.initial_delay is not None and group.has_new_member and group.initial_delay[1] > 0:
        delay_ms, left_ms = group.initial_delay
        group.has_new_member = False
        next_delay_ms = min(group.limits.initial_rebalance_delay_ms, left_ms)
        group.initial_delay = (next_delay_ms, max(left_ms - delay_ms, 0))
        group.effects.append(SetTimer(Timer.JOIN, "", next_delay_ms))
    else:
        rebalance.complete(group, now_ms)


def _on_sync_timer(group: ClassicGroup, now_ms: int) -> None:
    """Remove the members of this generation that have not sent SyncGroup."""
    if group.state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE) and group.pending_syncs:
        for member_id in list(group.pending_syncs):
            group.remove(member_id)
        rebalance.prepare(group, now_ms)


def _on_session_end(group: ClassicGroup, now_ms: int, member_id: str) -> None:
    """Remove a member whose session timed out, or one that did not join with the member id it was given."""
    member = group.members.get(member_id)
    if member is not None and member.is_alive_by_waiting:
        return
    if member is None and member_id not in group.pending_joins:
        return
    group.expel(member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        if group.all_have_joined:
            rebalance.complete(group, now_ms)
    elif member is not None:
        rebalance.prepare(group, now_ms)


KIND = ClassicGroups
