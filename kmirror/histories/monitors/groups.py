"""Rules of classic groups: generations, removal of members, and assignments (KIP-345, KIP-62)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Member
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest, topic_by_id
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.join_group_request import JoinGroupRequest
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.protocol.gen.offset_commit_response import OffsetCommitResponse
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.protocol.gen.txn_offset_commit_request import TxnOffsetCommitRequest
from kmirror.protocol.gen.txn_offset_commit_response import TxnOffsetCommitResponse
from kmirror.spec.error_codes import ErrorCode

_S = GroupState
NEXT_STATES: dict[GroupState, tuple[GroupState, ...]] = {
    _S.EMPTY: (_S.PREPARING_REBALANCE,),
    _S.PREPARING_REBALANCE: (_S.COMPLETING_REBALANCE, _S.EMPTY),
    _S.COMPLETING_REBALANCE: (_S.STABLE, _S.PREPARING_REBALANCE),
    _S.STABLE: (_S.PREPARING_REBALANCE,),
}
"""Allowed next states of each state (Kafka's ClassicGroupState); from any of them a group may become DEAD."""
SESSION_CODES = (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
"""Error codes of heartbeats that restart the session of their member."""
Mark = tuple[GroupState, int, int, int, int]
"""Values that show a change: state, generation, and the numbers of members, of joined ones, and of pending syncs."""
Assignments = dict[str, bytes]
"""Assignments by member id."""
SEARCH_EVERY = 20
"""Number of a broker's events between two searches for its groups."""
NEW_MEMBER: Duration = 300_000 * MILLISECOND
"""Session timeout of a member that does not know its id yet, and so sends no heartbeats."""


@dataclass(slots=True)
class _MemberState:
    """A member after an event."""

    instance: str | None
    session: Duration
    """Shortest session timeout that it has requested, since that may apply; the same for `rebalance`."""
    rebalance: Duration
    has_waiting_join: bool
    awaits_sync: bool
    since: Instant
    """Earliest start of its session, by the state of the group alone."""


@dataclass(slots=True)
class _KnownGroup:
    """A group after an event."""

    group: ClassicGroup
    mark: Mark
    state: GroupState
    generation: int
    state_since: Instant
    generation_since: Instant
    members: dict[str, _MemberState] = field(default_factory=dict)


@dataclass(slots=True)
class _BrokerGroups:
    """The groups of one broker that have members; groups of simple consumers only store offsets."""

    groups: dict[str, _KnownGroup] = field(default_factory=dict)
    left: int = 0
    """Events until the next search for unknown groups."""
    searched_at: Instant = 0


class GroupMonitor(FrameMonitor, Monitor):
    """Judges the groups of coordinators, from their loading to their end, and the responses to their members."""

    APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "TxnOffsetCommit")

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._world = scene.simulation.world
        self._rules = rules
        self._places: dict[tuple[str, int], _BrokerGroups] = {}
        """Groups by cluster and broker."""
        self._heartbeats: dict[tuple[str, int, str, str], Instant] = {}
        """Newest heartbeat that restarted a session, by (cluster, broker, group, member)."""
        self._leavers: dict[tuple[str, str], dict[str, None]] = {}
        """Member ids and instance ids whose removal was requested, by (cluster, group)."""
        self._synced: dict[tuple[str, str, int], list[tuple[str, Assignments]]] = {}
        """(leader, assignments) of each SyncGroup, by (cluster, group, generation)."""
        self._refusal_reasons: dict[PendingRequest, str] = {}
        """Commits that must be refused, and the reason."""
        self._wrong_clocks = {
            (step.args.get("cluster"), step.args.get("broker")) for step in scene.plan.steps_that("set_clock")
        }
        """(cluster, broker) with clocks whose time spans differ from the world's."""

    # -- frames -------------------------------------------------------------------------------

    def on_request(self, pending: PendingRequest) -> None:
        """Record leaving members and assignments."""
        request = pending.body
        if isinstance(request, LeaveGroupRequest):
            left = self._leavers.setdefault((pending.cluster, request.group_id), {})
            left[request.member_id] = None
            for row in request.members:
                left[row.member_id] = None
                left[row.group_instance_id or ""] = None
        elif isinstance(request, SyncGroupRequest):
            sent = {row.member_id: bytes(row.assignment) for row in request.assignments}
            key = pending.cluster, request.group_id, request.generation_id
            self._synced.setdefault(key, []).append((request.member_id, sent))
        elif isinstance(request, JoinGroupRequest):
            self._places.setdefault((pending.cluster, pending.node_id), _BrokerGroups()).left = 0
        elif isinstance(request, (OffsetCommitRequest, TxnOffsetCommitRequest)):
            reason = self._refusal_reason(pending, request)
            if reason:
                self._refusal_reasons[pending] = reason
            if isinstance(request, OffsetCommitRequest) and self._is_node(pending.link.client):
                self._check_synced_epochs(pending, request)

    def on_response_sent(self, pending: PendingRequest) -> None:
        """Record heartbeats, and check the assignment of a member."""
        request, answer = pending.body, pending.answer
        if isinstance(request, HeartbeatRequest) and isinstance(answer, HeartbeatResponse):
            if answer.error_code in SESSION_CODES:
                self._heartbeats[pending.cluster, pending.node_id, request.group_id, request.member_id] = pending.at
        elif isinstance(request, SyncGroupRequest) and isinstance(answer, SyncGroupResponse) and not answer.error_code:
            self._check_assignment(pending, request, bytes(answer.assignment))
        elif isinstance(answer, (OffsetCommitResponse, TxnOffsetCommitResponse)):
            assert isinstance(request, (OffsetCommitRequest, TxnOffsetCommitRequest))
            reason = self._refusal_reasons.pop(pending, "")
            if not reason or all(row.error_code for topic in answer.topics for row in topic.partitions):
                return
            if self._refusal_reason(pending, request):  # The group may have changed before it handled the request.
                self._report(pending.cluster, pending.node_id, request.group_id, "commit-fenced", reason)

    def _refusal_reason(self, pending: PendingRequest, request: OffsetCommitRequest | TxnOffsetCommitRequest) -> str:
        """Return why the coordinator must refuse a commit now; empty if it need not."""
        broker = self._scene.clusters[pending.cluster].broker(pending.node_id)
        live = broker.parts.components.get(GroupCoordinator).live_groups(ClassicGroup)
        return "".join(_commit_refusal(group, request) for group in live if group.group_id == request.group_id)

    def _check_assignment(self, pending: PendingRequest, request: SyncGroupRequest, found: bytes) -> None:
        sent = [row for _, row in self._synced[pending.cluster, request.group_id, request.generation_id]]
        allowed = {row.get(request.member_id, b""): None for row in sent}
        if request.group_instance_id is not None:  # Its member id may have changed since the assignment was sent.
            allowed.update({some: None for row in sent for some in row.values()})
        if found not in allowed:
            text = f"member {request.member_id} received an assignment that was not sent for it"
            text += f" in generation {request.generation_id}"
            self._report(pending.cluster, pending.node_id, request.group_id, "assignment-response", text)

    def _is_node(self, client: str) -> bool:
        cluster, _, node_id = client.rpartition("-")
        return cluster in self._scene.clusters and node_id.isdigit()

    def _check_synced_epochs(self, pending: PendingRequest, request: OffsetCommitRequest) -> None:
        """Check the leader epochs of offsets that a mirror commits: consumers reject metadata of earlier epochs."""
        image = self._scene.image(pending.cluster)
        for topic in request.topics:
            name = topic.name or topic_by_id(image, str(topic.topic_id)) or ""
            partitions = image.topics[name].partitions if name in image.topics else {}
            for row in topic.partitions:
                known = partitions.get(row.partition_index)
                if known is not None and row.committed_leader_epoch > known.leader_epoch:
                    tp = TopicPartition(name, row.partition_index)
                    epoch, offset = row.committed_leader_epoch, row.committed_offset
                    text = (
                        f"offset {offset} of {tp} is synced with leader epoch {epoch}, but it is in "
                        f"{known.leader_epoch}"
                    )
                    self._report(pending.cluster, pending.node_id, request.group_id, "synced-epoch", text)

    # -- coordinators -------------------------------------------------------------------------

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        place = cluster, broker.context.node_id
        broker_groups = self._places.get(place)
        if broker_groups is None:
            broker_groups = self._places[place] = _BrokerGroups()
        broker_groups.left -= 1
        if broker_groups.left < 0:
            self._find(broker_groups, broker)
        for group_id, before in list(broker_groups.groups.items()) if broker_groups.groups else ():
            group = before.group
            mark = _mark(group)
            if before.mark == mark and group.members.keys() == before.members.keys():
                continue
            if group.state is _S.DEAD:
                del broker_groups.groups[group_id]
                continue
            now = broker_groups.groups[group_id] = _capture(group, mark, before, self._world.now)
            for rule, text in self._violations(place, before, now):
                self._report(*place, group_id, rule, text)
            if not _is_active(group):
                del broker_groups.groups[group_id]

    def _find(self, broker_groups: _BrokerGroups, broker: Broker) -> None:
        """Search for groups that have members, or may get some soon."""
        broker_groups.left = SEARCH_EVERY
        for group in broker.parts.components.get(GroupCoordinator).live_groups(ClassicGroup):
            known = broker_groups.groups.get(group.group_id)
            if (known is None or known.group is not group) and _is_active(group):
                broker_groups.groups[group.group_id] = _capture(group, _mark(group), None, broker_groups.searched_at)
        broker_groups.searched_at = self._world.now

    def _violations(self, place: tuple[str, int], before: _KnownGroup, after: _KnownGroup) -> Iterator[tuple[str, str]]:
        """Yield the rules that a group breaks."""
        group = after.group
        if after.generation < before.generation:
            yield "generation", f"generation {after.generation} comes after {before.generation}"
        if not _may_follow(before, group):
            yield "group-state", f"{after.state.value} comes after {before.state.value}"
        if after.generation != before.generation and group.members:
            lacking = [member.member_id for member in group.members.values() if group.protocol not in member.protocols]
            if lacking:
                yield "group-protocol", f"protocol {group.protocol} was chosen, which {lacking} do not support"
            if group.leader not in group.members:
                yield "group-leader", f"{group.leader} leads, but is not a member"
        if after.state is _S.STABLE and before.state is not _S.STABLE and not self._is_assigned(place[0], group):
            yield "assignment", f"generation {group.generation} has an assignment that its leader has not sent"
        if after.state is _S.EMPTY and group.members:
            yield "group-empty", f"Empty with members {list(group.members)}"
        removed = [member_id for member_id in before.members if member_id not in group.members]
        if removed and place not in self._wrong_clocks:
            for member_id in removed:
                reason = self._removal_violation(place, member_id, before, group)
                if reason:
                    yield "member-dropped", reason

    def _is_assigned(self, cluster: str, group: ClassicGroup) -> bool:
        sent = self._synced.get((cluster, group.group_id, group.generation), ())
        return any(
            all(member.assignment == row.get(member.member_id, b"") for member in group.members.values())
            for _, row in sent
        )

    def _removal_violation(
        self, place: tuple[str, int], member_id: str, before: _KnownGroup, group: ClassicGroup
    ) -> str:
        """Return why a removed member had to stay; empty if it had not."""
        member, now = before.members[member_id], self._world.now
        left = self._leavers.get((place[0], group.group_id), {})
        if member_id in left or (member.instance is not None and member.instance in left):
            return ""
        if member.instance is not None and member.instance in group.members.static:
            return ""
        silent = now - max(member.since, self._heartbeats.get((*place, group.group_id, member_id), 0))
        if silent >= member.session:
            return ""
        if member.awaits_sync and now - before.generation_since >= member.rebalance:
            return ""
        waited = now - before.state_since
        may_stay = member.instance is not None or member.has_waiting_join
        if before.state is _S.PREPARING_REBALANCE and not may_stay and waited >= member.rebalance:
            return ""
        kind = "dynamic" if member.instance is None else f"static ({member.instance})"
        return (
            f"{kind} member {member_id} was removed after {silent // MILLISECOND} ms of silence, its session "
            "timeout is "
            f"{member.session // MILLISECOND} ms, and {waited // MILLISECOND} ms of {before.state.value}"
        )

    def _report(self, cluster: str, broker_id: int, group_id: str, rule: str, text: str) -> None:
        shard_partition = (
            self._scene.clusters[cluster]
            .broker(broker_id)
            .parts.components.get(GroupCoordinator)
            .shard_partition(group_id)
        )
        self._rules.report(cluster, broker_id, shard_partition, rule, f"group {group_id}: {text}")


def _is_active(group: ClassicGroup) -> bool:
    """Return whether a group has members, or waits for some; a DEAD one does not count."""
    return group.state is not _S.DEAD and (bool(group.members) or group.state is not _S.EMPTY)


def _mark(group: ClassicGroup) -> Mark:
    return group.state, group.generation, len(group.members), group.members.awaiting_join, len(group.pending_syncs)


def _capture(group: ClassicGroup, mark: Mark, before: _KnownGroup | None, now: Instant) -> _KnownGroup:
    """Return the values to store of a group."""
    if before is None or before.group is not group:
        found = _KnownGroup(group, mark, group.state, group.generation, now, now)
    else:
        is_new_state, is_new_generation = before.state is not group.state, before.generation != group.generation
        found = _KnownGroup(
            group,
            mark,
            group.state,
            group.generation,
            now if is_new_state or is_new_generation else before.state_since,
            now if is_new_generation else before.generation_since,
        )
    for member in group.members.values():
        known = before.members.get(member.member_id) if before is not None and before.group is group else None
        found.members[member.member_id] = _member_state(
            group, member, known, now, is_new_generation=found.generation_since == now
        )
    return found


def _member_state(
    group: ClassicGroup, member: Member, known: _MemberState | None, now: Instant, *, is_new_generation: bool
) -> _MemberState:
    session = NEW_MEMBER if member.is_new else member.session_timeout_ms * MILLISECOND
    rebalance = member.rebalance_timeout_ms * MILLISECOND
    return _MemberState(
        member.group_instance_id,
        session if known is None else min(session, known.session),
        rebalance if known is None else min(rebalance, known.rebalance),
        member.has_waiting_join,
        member.member_id in group.pending_syncs,
        now if known is None or is_new_generation else known.since,
    )


def _may_follow(before: _KnownGroup, group: ClassicGroup) -> bool:
    """Return whether a group may have reached its state since it was last seen, with at most one state in between."""
    if group.state is before.state:
        return True
    last = group.previous_state
    return group.state in NEXT_STATES[last] and (last is before.state or last in NEXT_STATES[before.state])


def _commit_refusal(group: ClassicGroup, request: OffsetCommitRequest | TxnOffsetCommitRequest) -> str:
    """Return why a group rejects a commit; empty if it accepts it (Kafka's ClassicGroup.validateOffsetCommit)."""
    is_plain = isinstance(request, OffsetCommitRequest)
    if isinstance(request, OffsetCommitRequest):
        generation = request.generation_id_or_member_epoch
    else:
        generation = request.generation_id
    if generation < 0 and not group.members:
        return ""
    if generation < 0 and not request.member_id and request.group_instance_id is None:
        return "an offset was committed without a member id, but the group has members" if is_plain else ""
    if request.member_id not in group.members:
        return f"an offset was committed by {request.member_id!r}, which is not a member"
    if generation != group.generation:
        return f"an offset was committed in generation {generation}, but the group is in {group.generation}"
    return ""
