"""Model of a classic group in its coordinator: an immutable value, and functions that yield the next ones.

Where the coordinator may choose, as for a new leader or between protocols with equal votes, every choice is yielded.
Where Kafka drops a waiting request, and other brokers answer it, both are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kmirror.fuzz.sessions.machine import ANYTHING, Bag, Expected, OneOf, Symbol, expected
from kmirror.spec.error_codes import ErrorCode

EMPTY, PREPARING, COMPLETING, STABLE = "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"
Protocols = tuple[tuple[str, bytes], ...]
Responses = Mapping[int, Expected]
NO_RESPONSES: Responses = {}
_MORE_GENERATIONS = 5
"""Maximum number of generations that may begin and end while all sessions expire."""


@dataclass(frozen=True)
class Member:
    """A member, with its waiting calls."""

    id: Symbol
    instance: str | None
    protocols: Protocols
    assignment: bytes = b""
    join: int | None = None
    sync: int | None = None


@dataclass(frozen=True)
class Group:
    """A group in its coordinator."""

    exists: bool = False
    is_visible: bool = False
    """Whether a DescribeGroups or ListGroups sees it: its first record is committed."""
    phase: str = EMPTY
    is_first: bool = False
    """In PREPARING: the group was empty, so the rebalance ends by a delay, and not when all have joined."""
    is_hurried: bool = False
    """In PREPARING: the rebalance began with pending member ids only, so its timeout is 0."""
    generation: int = 0
    type: str | None = None
    protocol: str | None = None
    leader: Symbol | None = None
    members: tuple[Member, ...] = ()
    pending: frozenset[Symbol] = frozenset()
    """Member ids that were assigned and have not joined yet."""
    pending_assignment: tuple[tuple[Symbol, bytes], ...] | None = None
    """Assignment of the leader that is not persisted yet."""
    pending_rejoins: tuple[tuple[Symbol, int, Symbol | None], ...] = ()
    """In STABLE: returning static members, their calls, and the leader to report; not persisted yet."""
    subscribed_topics: frozenset[str] | None = None
    """Topics subscribed by the members of this generation; None before the first."""
    offsets: tuple[tuple[int, int], ...] = ()
    """Partition and committed offset."""
    pending_commits: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()
    """Commits that are not persisted yet: the call and its offsets."""

    def find_member(self, id_: Symbol | None) -> Member | None:
        """Return the member with this id."""
        return next((member for member in self.members if member.id == id_), None)

    def find_static(self, instance: str | None) -> Member | None:
        """Return the static member with this instance id."""
        return next((member for member in self.members if instance is not None and member.instance == instance), None)

    def with_member(self, member: Member) -> Group:
        """Return the group with a changed member."""
        return replace(self, members=tuple(member if other.id == member.id else other for other in self.members))

    @property
    def all_have_joined(self) -> bool:
        """Return whether no join is awaited."""
        return not self.pending and all(member.join is not None for member in self.members)

    def member_error(self, id_: Symbol | None, instance: str | None) -> ErrorCode:
        """Return the error for a request that claims this member id, or NONE."""
        if instance is not None:
            found = self.find_static(instance)
            if found is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if found.id != id_:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.UNKNOWN_MEMBER_ID if self.find_member(id_) is None else ErrorCode.NONE


def _sorted_by_id(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Return the members sorted by id: their order of joining shows only in the leader."""
    return tuple(sorted(members, key=lambda member: member.id))


Transitions = Iterator[tuple[Group, Responses]]


# -- from one generation to the next ------------------------------------------------------------


def rebalance(group: Group, responses: Responses) -> Transitions:
    """Yield the group after an event that starts a rebalance, or may complete the current one."""
    if group.phase == PREPARING:
        if not group.is_first and group.all_have_joined:
            yield from complete_rebalance(group, responses)
        else:
            yield group, responses
        return
    all_responses = dict(responses)
    members = group.members
    if group.phase == COMPLETING:
        for member in members:
            if member.sync is not None:
                all_responses[member.sync] = expected(error=ErrorCode.REBALANCE_IN_PROGRESS)
        members = tuple(replace(member, sync=None, assignment=b"") for member in members)
    is_first = group.phase == EMPTY
    started = replace(
        group,
        phase=PREPARING,
        is_first=is_first,
        is_hurried=not members,
        pending_assignment=None,
        pending_rejoins=(),
        members=members,
    )
    if not is_first and started.all_have_joined:
        yield from complete_rebalance(started, all_responses)
    else:
        yield started, all_responses


def complete_rebalance(group: Group, responses: Responses) -> Transitions:
    """Yield the group in its next generation, with the members that have joined."""
    generation = group.generation + 1
    members = tuple(member for member in group.members if member.join is not None or member.instance is not None)
    group = replace(group, generation=generation, is_first=False, is_hurried=False, members=members)
    if not members:
        no_topics: frozenset[str] | None = frozenset() if group.type == "consumer" else None
        yield replace(group, phase=EMPTY, protocol=None, leader=None, subscribed_topics=no_topics), responses
        return
    current = group.find_member(group.leader)
    leaders = [current] if current is not None and current.join is not None else [m for m in members if m.join]
    for leader in leaders:
        for protocol in _most_voted(members):
            started = replace(
                group,
                phase=COMPLETING,
                leader=leader.id,
                protocol=protocol,
                subscribed_topics=_subscriptions(members, protocol),
            )
            all_responses = dict(responses)
            for member in members:
                if member.join is not None:
                    all_responses[member.join] = join_response(started, member)
            yield replace(started, members=tuple(replace(member, join=None) for member in members)), all_responses


def _most_voted(members: tuple[Member, ...]) -> list[str]:
    """Return the protocols with the most votes, among those that all members support."""
    common = set.intersection(*({name for name, _ in member.protocols} for member in members))
    votes: dict[str, int] = {}
    for member in members:
        preferred = next(name for name, _ in member.protocols if name in common)
        votes[preferred] = votes.get(preferred, 0) + 1
    return [name for name, count in votes.items() if count == max(votes.values())]


def _subscriptions(members: Iterable[Member], protocol: str) -> frozenset[str]:
    return frozenset(topic for member in members for topic in subscription_topics(dict(member.protocols)[protocol]))


def subscription_topics(metadata: bytes) -> tuple[str, ...]:
    """Return the topics in a subscription of version 0."""
    count, at = int.from_bytes(metadata[2:6], "big"), 6
    found = []
    for _ in range(count):
        end = at + 2 + int.from_bytes(metadata[at : at + 2], "big")
        found.append(metadata[at + 2 : end].decode())
        at = end
    return tuple(found)


def join_response(group: Group, member: Member, *, leader: Symbol | None = None) -> Expected:
    """Return the response to a join in the current generation; only its leader gets the members.

    `leader` is another leader to report, which leaves the members out.
    """
    protocol = group.protocol or ""
    rows = tuple((member.id, dict(member.protocols)[protocol]) for member in group.members)
    leads = leader is None and group.leader == member.id
    return expected(
        error=ErrorCode.NONE,
        member=member.id,
        generation=group.generation,
        leader=leader or group.leader,
        protocol=protocol,
        members=Bag(rows) if leads else (),
    )


# -- requests of members ------------------------------------------------------------------------


@dataclass(frozen=True)
class Join:
    """A JoinGroup; `id` is None for a new member (then `is_new` is set), and for an id that was never assigned."""

    call: int
    version: int
    id: Symbol | None
    is_new: bool
    instance: str | None
    type: str
    protocols: Protocols


_ID_REQUIRED_FROM = 4
_SKIP_FROM = 9


def join(group: Group, request: Join) -> Transitions:
    """Yield the possible outcomes of a JoinGroup."""
    call = request.call
    if not group.exists and not request.is_new:
        yield group, {call: expected(error=ErrorCode.UNKNOWN_MEMBER_ID)}
        return
    if not group.exists:
        group = Group(exists=True, offsets=group.offsets, pending_commits=group.pending_commits)
    if group.phase != EMPTY and not _supports(group, request):
        yield group, {call: expected(error=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)}
    elif request.is_new:
        yield from _join_new(group, request)
    elif request.id in group.pending and request.instance is None:
        assert request.id is not None, "a pending member has an id"
        yield from _add_member(group, request, request.id)
    elif error := group.member_error(request.id, request.instance):
        if request.id in group.pending:
            # With an instance id Kafka's coordinator throws an exception (see the findings).
            yield group, {call: expected(error=OneOf(frozenset({error, ErrorCode.UNKNOWN_SERVER_ERROR})))}
        else:
            yield group, {call: expected(error=error)}
    else:
        member = group.find_member(request.id)
        assert member is not None, "there is no error"
        yield from _join_again(group, request, member)


def _supports(group: Group, request: Join) -> bool:
    names = {name for name, _ in request.protocols}
    return group.type == request.type and bool(
        names.intersection(*(dict(member.protocols) for member in group.members))
    )


def _join_new(group: Group, request: Join) -> Transitions:
    new_id = Symbol(request.call, "member id")
    static_member = group.find_static(request.instance)
    if static_member is not None:
        yield from _replace_member(group, request, static_member, new_id)
    elif request.instance is None and request.version >= _ID_REQUIRED_FROM:
        response = expected(error=ErrorCode.MEMBER_ID_REQUIRED, member=new_id)
        yield replace(group, pending=group.pending | {new_id}), {request.call: response}
    else:
        yield from _add_member(group, request, new_id)


def _add_member(group: Group, request: Join, id_: Symbol) -> Transitions:
    member = Member(id_, request.instance, request.protocols, join=request.call)
    changed = replace(
        group,
        type=group.type if group.members else request.type,
        leader=group.leader or id_,
        members=_sorted_by_id((*group.members, member)),
        pending=group.pending - {id_},
    )
    yield from rebalance(changed, NO_RESPONSES)


def _join_again(group: Group, request: Join, member: Member) -> Transitions:
    is_settled = group.phase == COMPLETING or (group.phase == STABLE and group.leader != member.id)
    if is_settled and member.protocols == request.protocols:
        yield group, {request.call: join_response(group, member)}
        return
    responses = {} if member.join is None else {member.join: _optional_error(ErrorCode.REBALANCE_IN_PROGRESS)}
    yield from rebalance(group.with_member(replace(member, protocols=request.protocols, join=request.call)), responses)


def _replace_member(group: Group, request: Join, replaced: Member, new_id: Symbol) -> Transitions:
    """Yield the group with a static member that was restarted and replaces its former id."""
    responses = {}
    if replaced.join is not None:
        responses[replaced.join] = expected(error=ErrorCode.FENCED_INSTANCE_ID)
    if replaced.sync is not None:
        responses[replaced.sync] = expected(error=ErrorCode.FENCED_INSTANCE_ID)
    member = replace(replaced, id=new_id, protocols=request.protocols, join=request.call, sync=None)
    members = tuple(member if other.id == replaced.id else other for other in group.members)
    was_leader = group.leader == replaced.id
    changed = replace(group, members=_sorted_by_id(members), leader=new_id if was_leader else group.leader)
    if group.phase != STABLE or group.protocol not in _most_voted(members):
        yield from rebalance(changed, responses)
        return
    if len(_most_voted(members)) > 1:  # The coordinator may choose a different one of them now.
        yield from rebalance(changed, responses)
    # An older client that is reported as the leader would assign again.
    reported_leader = group.leader if was_leader and request.version < _SKIP_FROM else None
    yield replace(changed, pending_rejoins=(*group.pending_rejoins, (new_id, request.call, reported_leader))), responses


def _optional_error(error: ErrorCode) -> Expected:
    return expected(error=error, is_optional=True)


def sync(
    group: Group, call: int, id_: Symbol | None, instance: str | None, generation: int, rows: dict[Symbol, bytes]
) -> Transitions:
    """Yield the possible outcomes of a SyncGroup."""
    error = _generation_error(group, id_, instance, generation)
    if not error and group.phase == PREPARING:
        error = ErrorCode.REBALANCE_IN_PROGRESS
    if error:
        yield group, {call: expected(error=error)}
        return
    member = group.find_member(id_)
    assert member is not None, "there is no error"
    if group.phase == STABLE:
        yield group, {call: expected(error=ErrorCode.NONE, assignment=member.assignment)}
        return
    responses = {} if member.sync is None else {member.sync: _optional_error(ErrorCode.REBALANCE_IN_PROGRESS)}
    waiting = group.with_member(replace(member, sync=call))
    if group.leader == id_ and group.pending_assignment is None:
        waiting = replace(
            waiting, pending_assignment=tuple((other.id, rows.get(other.id, b"")) for other in group.members)
        )
    yield waiting, responses


def _generation_error(group: Group, id_: Symbol | None, instance: str | None, generation: int) -> ErrorCode:
    if not group.exists or group.phase == EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.member_error(id_, instance)
    if not error and generation != group.generation:
        error = ErrorCode.ILLEGAL_GENERATION
    return error


def heartbeat(group: Group, id_: Symbol | None, instance: str | None, generation: int) -> ErrorCode:
    """Return the error code of a Heartbeat."""
    error = _generation_error(group, id_, instance, generation)
    return error or (ErrorCode.REBALANCE_IN_PROGRESS if group.phase == PREPARING else ErrorCode.NONE)


def leave(group: Group, call: int, rows: list[tuple[str, Symbol | None, str | None]], version: int) -> Transitions:
    """Yield the possible outcomes of a LeaveGroup; a row is the member id as sent, its symbol, and the instance id."""
    results: list[tuple[Group, Responses, tuple[ErrorCode, ...]]] = [(group, NO_RESPONSES, ())]
    for member_id, id_, instance in rows:
        results = [
            (after, responses, (*errors, error))
            for before, earlier_responses, errors in results
            for after, responses, error in _leave_member(before, earlier_responses, member_id, id_, instance)
        ]
    for after, earlier_responses, errors in results:
        responses = {**earlier_responses, call: _leave_response(errors, version)}
        if ErrorCode.NONE in errors and after.phase != EMPTY:
            yield from rebalance(after, responses)
        else:
            yield after, responses


_MANY_FROM = 3


def _leave_response(errors: tuple[ErrorCode, ...], version: int) -> Expected:
    if version < _MANY_FROM:
        return expected(error=errors[0])
    return expected(error=ErrorCode.NONE, rows_error=errors)


def _leave_member(
    group: Group, responses: Responses, member_id: str, id_: Symbol | None, instance: str | None
) -> Iterator[tuple[Group, Responses, ErrorCode]]:
    if not member_id:
        found = group.find_static(instance)
        id_ = None if found is None else found.id
    elif id_ not in group.pending:
        error = group.member_error(id_, instance)
        if error:
            yield group, responses, error
            return
    if id_ is None:
        yield group, responses, ErrorCode.UNKNOWN_MEMBER_ID
        return
    for after, new_responses in remove_member(group, id_):
        yield after, {**responses, **new_responses}, ErrorCode.NONE


def remove_member(group: Group, id_: Symbol) -> Transitions:
    """Yield the group without a member, or without a pending member id; any remaining member may become the leader."""
    member = group.find_member(id_)
    if member is None:
        yield replace(group, pending=group.pending - {id_}), NO_RESPONSES
        return
    responses = {}
    if member.join is not None:
        responses[member.join] = expected(error=ErrorCode.UNKNOWN_MEMBER_ID)
    if member.sync is not None:
        responses[member.sync] = _optional_error(ErrorCode.UNKNOWN_MEMBER_ID)
    remaining = tuple(other for other in group.members if other.id != id_)
    leaders: list[Symbol | None] = [other.id for other in remaining] or [None]
    leaders = leaders if group.leader == id_ else [group.leader]
    for leader in leaders:
        yield replace(group, members=remaining, leader=leader), responses


# -- offsets ------------------------------------------------------------------------------------

_NOT_FOUND_FROM = 9


def commit_error(
    group: Group, member_id: str, id_: Symbol | None, instance: str | None, generation: int, version: int
) -> ErrorCode:
    """Return the error of an OffsetCommit, or NONE."""
    if not group.exists:
        missing = ErrorCode.GROUP_ID_NOT_FOUND if version >= _NOT_FOUND_FROM else ErrorCode.ILLEGAL_GENERATION
        return missing if generation >= 0 else ErrorCode.NONE
    if generation < 0 and group.phase == EMPTY:
        return ErrorCode.NONE
    if generation >= 0 or member_id or instance is not None:
        error = group.member_error(id_, instance)
        if error or generation != group.generation:
            return error or ErrorCode.ILLEGAL_GENERATION
    elif group.phase != EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.REBALANCE_IN_PROGRESS if group.phase == COMPLETING else ErrorCode.NONE


def with_offsets(group: Group, offsets: Iterable[tuple[int, int]]) -> Group:
    """Return the group with committed offsets; -1 removes one."""
    all_offsets = {**dict(group.offsets), **dict(offsets)}
    return replace(group, offsets=tuple(sorted((p, offset) for p, offset in all_offsets.items() if offset >= 0)))


def autonomous_changes(group: Group) -> Transitions:
    """Yield the next autonomous changes: a write is persisted, or a delay ends."""
    if group.exists and not group.is_visible:
        yield replace(group, is_visible=True), NO_RESPONSES
    if group.phase == PREPARING and (group.is_first or group.is_hurried):
        yield from complete_rebalance(group, NO_RESPONSES)
    if group.pending_assignment is not None:
        assignments = dict(group.pending_assignment)
        responses = {
            each.sync: expected(error=ErrorCode.NONE, assignment=assignments[each.id])
            for each in group.members
            if each.sync is not None
        }
        members = tuple(replace(each, sync=None, assignment=assignments[each.id]) for each in group.members)
        yield replace(group, phase=STABLE, pending_assignment=None, members=members), responses
    if group.pending_rejoins:
        (id_, call, reported_leader), *others = group.pending_rejoins
        changed = replace(group, pending_rejoins=tuple(others))
        member = group.find_member(id_)
        if member is None or member.join != call:
            yield changed, NO_RESPONSES
        else:
            response = join_response(changed, member, leader=reported_leader)
            yield changed.with_member(replace(member, join=None)), {call: response}
    if group.pending_commits:
        (call, offsets), *later = group.pending_commits
        written = with_offsets(replace(group, pending_commits=tuple(later)), offsets)
        yield written, {call: expected(rows_error=(ErrorCode.NONE,) * len(offsets))}


def expire_all(group: Group) -> Transitions:
    """Yield the group after every session and every rebalance has timed out."""
    if not group.exists:
        yield group, NO_RESPONSES
        return
    if group.phase == EMPTY and not group.pending:
        generations = range(group.generation, group.generation + 1)
    else:
        generations = range(group.generation, group.generation + _MORE_GENERATIONS)
    possible_errors = OneOf(
        frozenset(
            {ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.FENCED_INSTANCE_ID}
        )
    )
    responses: dict[int, Expected] = {}
    for member in group.members:
        responses.update(
            {
                call: Expected((("error", possible_errors),), True)
                for call in (member.join, member.sync)
                if call is not None
            }
        )
    subscribed_topics: Any = frozenset() if group.type == "consumer" else None
    for generation in generations:
        yield (
            replace(
                group, phase=EMPTY, is_first=False, is_hurried=False, is_visible=True, generation=generation,
                protocol=None, leader=None, members=(), pending=frozenset(), pending_assignment=None,
                pending_rejoins=(), subscribed_topics=subscribed_topics,
            ),
            responses,
        )  # fmt: skip
    if not group.offsets:  # A group that is empty and has no offsets is removed.
        yield Group(), responses


# -- requests of observers ----------------------------------------------------------------------

_DEAD_FROM = 6
_INSTANCES_FROM = 4


def describe_responses(group: Group, version: int) -> list[Expected]:
    """Return the possible responses to a DescribeGroups."""
    error = ErrorCode.GROUP_ID_NOT_FOUND if version >= _DEAD_FROM else ErrorCode.NONE
    missing = expected(error=error, state="Dead", type="", protocol="", members=())
    if not group.exists:
        return [missing]
    rows = tuple(
        (
            member.id,
            member.instance if version >= _INSTANCES_FROM else None,
            dict(member.protocols)[group.protocol or ""] if group.phase == STABLE else b"",
            member.assignment if group.phase == STABLE else ANYTHING,
        )
        for member in group.members
    )
    found = expected(
        error=ErrorCode.NONE,
        state=group.phase,
        type=group.type or "",
        protocol=(group.protocol or "") if group.phase == STABLE else "",
        members=Bag(rows),
    )
    return [found] if group.is_visible else [found, missing]
