"""Rule machine of classic groups: members that join, sync, heartbeat, commit and leave, and administrators.

Timeouts are longer than a session takes; where time can be moved, a pause lets all of them expire. A Kafka broker needs
`group.initial.rebalance.delay.ms=0`, otherwise each first rebalance takes three seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kmirror.fuzz.sessions import group_model as model
from kmirror.fuzz.sessions.group_model import Group
from kmirror.fuzz.sessions.links import SimulatedLink
from kmirror.fuzz.sessions.machine import (
    Call,
    Choose,
    Expected,
    Names,
    Outcome,
    Pause,
    Rule,
    Step,
    Symbol,
    World,
    expected,
)
from kmirror.fuzz.sessions.preparing import TOPIC, await_coordinator, prepare_topic, simulated_broker
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest, MemberIdentity
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_groups_response import ListGroupsResponse
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CoordinatorType

_PARTITIONS = (0, 1)
_TIMEOUT_MS = 60_000
"""Longer than a session takes, so nothing expires during it."""
_LONG_S = 300
_INSTANCE_FROM = {"JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3, "OffsetCommit": 7}
_TYPE_FROM = 5  # In SyncGroup.
_MANY_FROM = 3  # In LeaveGroup.
_STATES_FROM = 4  # In ListGroups.
_TYPE = "consumer"
_RANGE, _STICKY = "range", "sticky"


# -- knowledge of the clients -------------------------------------------------------------------


@dataclass
class Client:
    """A member, or a client that may become one."""

    name: str
    instance: str | None
    group: str
    member_id: str = ""
    generation: int = -1
    protocol: str = _RANGE
    members: tuple[str, ...] = ()
    """The members that it assigns to, if it leads."""


@dataclass
class Knowledge:
    """Knowledge of all clients."""

    prefix: str
    clients: list[Client]
    groups: tuple[str, ...]
    moves_time: bool
    offset: int = 0
    """The last committed offset: each is committed once."""

    def next_offset(self) -> int:
        """Return an offset that was not committed yet."""
        self.offset += 1
        return self.offset


def _draw_client(known: Knowledge, choose: Choose, *, joined: bool = False) -> Client | None:
    candidates = [one for one in known.clients if not joined or one.generation >= 0]
    return choose.pick(candidates) if candidates else None


def _instance(client: Client, name: str, version: int) -> str | None:
    return client.instance if version >= _INSTANCE_FROM[name] else None


def _draw_version(message: type[Message], choose: Choose, client: Client | None = None, min_version: int = 0) -> int:
    """Return a version; for a static member one that supports those."""
    name = message.NAME.removesuffix("Request")
    if client is not None and client.instance is not None:
        min_version = max(min_version, _INSTANCE_FROM.get(name, min_version))
    return choose.pick(range(max(min_version, message.MIN_VERSION), message.MAX_VERSION + 1))


# -- rules --------------------------------------------------------------------------------------


def _subscription(user_data: bytes, *, reads: bool) -> bytes:
    """Return the subscription of a consumer that joins, in version 0 of its protocol."""
    topics = len(TOPIC).to_bytes(2, "big") + TOPIC.encode() if reads else b""
    return b"\0\0" + int(reads).to_bytes(4, "big") + topics + len(user_data).to_bytes(4, "big") + user_data


def _join(known: Knowledge, choose: Choose) -> Step | None:
    client = _draw_client(known, choose)
    assert client is not None, "there are always clients"
    version = _draw_version(JoinGroupRequest, choose, client)
    user_data = f"{client.name}{choose.pick(('', '', '', '+'))}".encode()
    names = choose.pick(((_RANGE,), (_RANGE, _STICKY), (_RANGE, _STICKY), (_STICKY, _RANGE)))
    reads = choose.chance(0.6)
    body = JoinGroupRequest(
        group_id=client.group,
        session_timeout_ms=_TIMEOUT_MS,
        rebalance_timeout_ms=_TIMEOUT_MS,
        member_id=client.member_id if choose.chance(0.9) else "",
        group_instance_id=_instance(client, "JoinGroup", version),
        protocol_type=_TYPE if choose.chance(0.97) else "connect",
        protocols=[
            JoinGroupRequestProtocol(name=name, metadata=_subscription(user_data, reads=reads)) for name in names
        ],
    )
    return Step(client.name, body, version)


def _sync(known: Knowledge, choose: Choose) -> Step | None:
    client = _draw_client(known, choose, joined=True)
    if client is None:
        return None
    version = _draw_version(SyncGroupRequest, choose, client)
    body = SyncGroupRequest(
        group_id=client.group,
        generation_id=client.generation,
        member_id=client.member_id,
        group_instance_id=_instance(client, "SyncGroup", version),
        protocol_type=_TYPE if version >= _TYPE_FROM else None,
        protocol_name=client.protocol if version >= _TYPE_FROM else None,
        assignments=[
            SyncGroupRequestAssignment(member_id=one, assignment=f"{one} in {client.generation}".encode())
            for one in client.members
        ],
    )
    return Step(client.name, body, version)


def _heartbeat(known: Knowledge, choose: Choose) -> Step | None:
    client = _draw_client(known, choose, joined=True)
    if client is None:
        return None
    version = _draw_version(HeartbeatRequest, choose, client)
    body = HeartbeatRequest(
        group_id=client.group,
        generation_id=client.generation,
        member_id=client.member_id,
        group_instance_id=_instance(client, "Heartbeat", version),
    )
    return Step(client.name, body, version)


def _leave(known: Knowledge, choose: Choose) -> Step | None:
    client = _draw_client(known, choose)
    if client is None or not client.member_id:
        return None
    version = _draw_version(LeaveGroupRequest, choose)
    if version < _MANY_FROM:
        return Step(client.name, LeaveGroupRequest(group_id=client.group, member_id=client.member_id), version)
    row = MemberIdentity(member_id=client.member_id, group_instance_id=client.instance)
    return Step(client.name, LeaveGroupRequest(group_id=client.group, members=[row]), version)


def _remove(known: Knowledge, choose: Choose) -> Step | None:
    """Draw an administrator's removal of several members, static ones by their instance ids."""
    group = choose.pick(known.groups)
    candidates = [one for one in known.clients if one.group == group and choose.chance(0.6)]
    if not candidates:
        return None
    rows = [
        MemberIdentity(member_id="" if one.instance else one.member_id, group_instance_id=one.instance)
        for one in candidates
    ]
    return Step(
        "admin",
        LeaveGroupRequest(group_id=group, members=rows),
        _draw_version(LeaveGroupRequest, choose, min_version=3),
    )


_COMMIT_MAX = 9
"""The last version with topic names."""


def _commit(known: Knowledge, choose: Choose) -> Step | None:
    """Draw a commit of a member, or of a client that is not a member."""
    client = _draw_client(known, choose, joined=choose.chance(0.8))
    if client is None:
        return None
    version = min(_draw_version(OffsetCommitRequest, choose, client), _COMMIT_MAX)
    chosen = [index for index in _PARTITIONS if choose.chance(0.6)] or [0]
    rows = [OffsetCommitRequestPartition(partition_index=p, committed_offset=known.next_offset()) for p in chosen]
    body = OffsetCommitRequest(group_id=client.group, topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=rows)])
    if choose.chance(0.85):
        body.member_id, body.generation_id_or_member_epoch = client.member_id, client.generation
        body.group_instance_id = _instance(client, "OffsetCommit", version)
    return Step(client.name, body, version)


_ONE_GROUP_MAX = 7


def _fetch_offsets(known: Knowledge, choose: Choose) -> Step | None:
    return _offset_fetch_step(choose.pick(known.groups), choose.pick(range(1, _ONE_GROUP_MAX + 1)))


def _offset_fetch_step(group: str, version: int) -> Step:
    topics = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=list(_PARTITIONS))]
    return Step("admin", OffsetFetchRequest(group_id=group, topics=topics), version)


def _delete_offsets(known: Knowledge, choose: Choose) -> Step | None:
    rows = [OffsetDeleteRequestPartition(partition_index=choose.pick(_PARTITIONS))]
    topics = [OffsetDeleteRequestTopic(name=TOPIC, partitions=rows)]
    return Step("admin", OffsetDeleteRequest(group_id=choose.pick(known.groups), topics=topics), 0)


def _describe(known: Knowledge, choose: Choose) -> Step | None:
    body = DescribeGroupsRequest(groups=[choose.pick(known.groups)])
    return Step("admin", body, _draw_version(DescribeGroupsRequest, choose))


def _list(known: Knowledge, choose: Choose) -> Step | None:
    return Step("admin", ListGroupsRequest(), _draw_version(ListGroupsRequest, choose))


def _delete(known: Knowledge, choose: Choose) -> Step | None:
    body = DeleteGroupsRequest(groups_names=[choose.pick(known.groups)])
    return Step("admin", body, _draw_version(DeleteGroupsRequest, choose))


def _pause(known: Knowledge, choose: Choose) -> Pause | None:
    return Pause(_LONG_S) if known.moves_time and choose.chance(0.3) else None


RULES: tuple[Rule[Knowledge], ...] = (
    Rule("join", 12, _join),
    Rule("sync", 10, _sync),
    Rule("heartbeat", 4, _heartbeat),
    Rule("leave", 2, _leave),
    Rule("remove members", 1, _remove),
    Rule("commit", 5, _commit),
    Rule("fetch offsets", 3, _fetch_offsets),
    Rule("delete offsets", 1, _delete_offsets),
    Rule("describe", 3, _describe),
    Rule("list", 1, _list),
    Rule("delete", 1, _delete),
    Rule("pause", 1, _pause),
)


# -- the model ----------------------------------------------------------------------------------

Groups = tuple[tuple[str, Group], ...]


@dataclass(frozen=True)
class _GroupRequest:
    """A request about one group, with the member and generation that it claims."""

    call: int
    version: int
    names: Names
    body: Any
    member_id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "member_id", getattr(self.body, "member_id", ""))

    @property
    def id(self) -> Symbol | None:
        """Return the symbol of the request's member id; None if it is no member of this session."""
        return self.names.symbol(self.member_id)

    @property
    def instance(self) -> str | None:
        found: str | None = getattr(self.body, "group_instance_id", None)
        return found


def _transitions(group: Group, request: _GroupRequest) -> model.Transitions:
    """Yield the possible outcomes of a request about one group."""
    body, call, version = request.body, request.call, request.version
    match body:
        case JoinGroupRequest():
            protocols = tuple((row.name, bytes(row.metadata)) for row in body.protocols)
            protocol_type = body.protocol_type
            join = model.Join(call, version, request.id, not body.member_id, request.instance, protocol_type, protocols)
            yield from model.join(group, join)
        case SyncGroupRequest():
            rows = {request.names.symbol(row.member_id): bytes(row.assignment) for row in body.assignments}
            known = {symbol: value for symbol, value in rows.items() if symbol is not None}
            yield from _sync_transitions(group, request, body, known)
        case HeartbeatRequest():
            error = model.heartbeat(group, request.id, request.instance, body.generation_id)
            yield group, {call: expected(error=error)}
        case LeaveGroupRequest():
            members = body.members if version >= _MANY_FROM else [MemberIdentity(member_id=body.member_id)]
            leaving = [(row.member_id, request.names.symbol(row.member_id), row.group_instance_id) for row in members]
            yield from model.leave(group, call, leaving, version)
        case OffsetCommitRequest():
            yield from _commit_transitions(group, request, body)
        case OffsetFetchRequest():
            offsets = dict(group.offsets)
            yield group, {call: expected(error=ErrorCode.NONE, offsets=tuple(offsets.get(p, -1) for p in _PARTITIONS))}
        case OffsetDeleteRequest():
            yield from _delete_offsets_transitions(group, call, body)
        case DescribeGroupsRequest():
            for allowed in model.describe_responses(group, version):
                yield group, {call: allowed}
        case DeleteGroupsRequest():
            yield from _delete_group_transitions(group, call)
        case _:
            raise AssertionError(f"no rule sends {body.NAME}")


def _sync_transitions(
    group: Group, request: _GroupRequest, body: SyncGroupRequest, rows: dict[Symbol, bytes]
) -> model.Transitions:
    pairs = ((body.protocol_name, group.protocol), (body.protocol_type, group.type))
    is_inconsistent = group.phase != model.EMPTY and any(None not in pair and pair[0] != pair[1] for pair in pairs)
    transitions = model.sync(group, request.call, request.id, request.instance, body.generation_id, rows)
    for after, responses in transitions:
        allowed = responses.get(request.call)
        is_accepted = allowed is None or dict(allowed.values)["error"] in (
            ErrorCode.NONE,
            ErrorCode.REBALANCE_IN_PROGRESS,
        )
        if is_inconsistent and is_accepted:
            yield group, {request.call: expected(error=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)}
        else:
            yield after, responses


def _commit_transitions(group: Group, request: _GroupRequest, body: OffsetCommitRequest) -> model.Transitions:
    rows = tuple((row.partition_index, row.committed_offset) for topic in body.topics for row in topic.partitions)
    generation = body.generation_id_or_member_epoch
    error = model.commit_error(group, request.member_id, request.id, request.instance, generation, request.version)
    if error:
        yield group, {request.call: expected(rows_error=(error,) * len(rows))}
    else:
        existing = group if group.exists else Group(exists=True, offsets=group.offsets)
        yield replace(existing, pending_commits=(*existing.pending_commits, (request.call, rows))), model.NO_RESPONSES


def _delete_offsets_transitions(group: Group, call: int, body: OffsetDeleteRequest) -> model.Transitions:
    partitions = [row.partition_index for topic in body.topics for row in topic.partitions]
    if not group.exists:
        yield group, {call: expected(error=ErrorCode.GROUP_ID_NOT_FOUND, rows_error=())}
        return
    if group.type != _TYPE and group.phase != model.EMPTY:
        yield group, {call: expected(error=ErrorCode.NON_EMPTY_GROUP, rows_error=())}
        return
    is_subscribed = group.type == _TYPE if group.subscribed_topics is None else TOPIC in group.subscribed_topics
    error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_subscribed else ErrorCode.NONE
    responses = {call: expected(error=ErrorCode.NONE, rows_error=(error,) * len(partitions))}
    if error:
        yield group, responses
        return
    # Pending commits are deleted too, as they come first.
    pending_commits = tuple(
        (other, tuple((p, -1 if p in partitions else o) for p, o in rows)) for other, rows in group.pending_commits
    )
    yield model.with_offsets(replace(group, pending_commits=pending_commits), [(p, -1) for p in partitions]), responses


def _delete_group_transitions(group: Group, call: int) -> model.Transitions:
    if not group.exists:
        yield group, {call: expected(rows_error=(ErrorCode.GROUP_ID_NOT_FOUND,))}
    elif group.phase != model.EMPTY:
        yield group, {call: expected(rows_error=(ErrorCode.NON_EMPTY_GROUP,))}
    else:
        pending_commits = tuple((other, tuple((p, -1) for p, _ in rows)) for other, rows in group.pending_commits)
        yield Group(pending_commits=pending_commits), {call: expected(rows_error=(ErrorCode.NONE,))}


class GroupMachine:
    """Some clients, dynamic and static ones, and two groups."""

    name = "groups"
    rules = RULES
    stale_fields = frozenset({"generation_id", "generation_id_or_member_epoch", "member_id"})

    def begin(self, world: World) -> tuple[Knowledge, Groups]:
        """Return clients without knowledge, and unused groups."""
        prepare_topic(world, len(_PARTITIONS))
        groups = (f"{world.prefix}-a", f"{world.prefix}-b")
        for name in groups:
            await_coordinator(world, CoordinatorType.GROUP, name)
        clients = [Client(name, None, groups[0]) for name in ("one", "two", "three")]
        clients += [Client("four", "i", groups[0]), Client("five", "i", groups[0]), Client("six", None, groups[1])]
        return Knowledge(world.prefix, clients, groups, world.moves_time), tuple((name, Group()) for name in groups)

    def outcomes(self, state: Groups, call: Call, names: Names) -> Iterable[Outcome[Groups]]:
        """Yield the possible outcomes of a request about a group, or of a pause."""
        if isinstance(call.step, Pause):
            yield from self._pause_outcomes(state)
            return
        body: Any = call.step.body
        if isinstance(body, ListGroupsRequest):
            for listed in _list_responses(state, call.step.version):
                yield Outcome(state, {call.number: listed})
            return
        name = _group_of(body)
        group = dict(state)[name]
        for after, responses in _transitions(group, _GroupRequest(call.number, call.step.version, names, body)):
            yield Outcome(_with_group(state, name, after), responses)

    def _pause_outcomes(self, state: Groups) -> Iterator[Outcome[Groups]]:
        results: list[tuple[Groups, dict[int, Expected]]] = [((), {})]
        for name, group in state:
            results = [
                ((*before, (name, after)), {**responses, **more})
                for before, responses in results
                for after, more in model.expire_all(group)
            ]
        for after_all, responses in results:
            yield Outcome(after_all, responses)

    def autonomous_outcomes(self, state: Groups) -> Iterable[Outcome[Groups]]:
        """Yield the changes that the coordinator completes by itself."""
        for name, group in state:
            for after, responses in model.autonomous_changes(group):
                yield Outcome(_with_group(state, name, after), responses)

    def read(self, known: Knowledge, step: Step, response: Message) -> Mapping[str, Any]:
        """Return the compared values of a response."""
        if isinstance(response, ListGroupsResponse):
            rows = sorted((row.group_id, row.protocol_type, row.group_state) for row in response.groups)
            return {"error": response.error_code, "groups": tuple(row for row in rows if row[0] in known.groups)}
        return _read(step, response)

    def learn(self, known: Knowledge, step: Step, response: Message) -> None:
        """Record the member id and generation of a client, and the members if it leads."""
        client = next((one for one in known.clients if one.name == step.actor), None)
        found: Any = response
        if client is None:
            return
        if isinstance(step.body, JoinGroupRequest):
            if found.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
                client.member_id, client.generation = found.member_id, found.generation_id
                client.protocol = found.protocol_name or client.protocol
                client.members = tuple(row.member_id for row in found.members)
            elif found.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
                client.member_id, client.generation = "", -1
        elif isinstance(step.body, LeaveGroupRequest) and not found.error_code:
            client.member_id, client.generation = "", -1

    def last_steps(self, known: Knowledge) -> Iterator[Step]:
        """Yield a DescribeGroups and an OffsetFetch for every group."""
        for group in known.groups:
            yield Step("admin", DescribeGroupsRequest(groups=[group]), 5)
            yield _offset_fetch_step(group, _ONE_GROUP_MAX)


def _group_of(body: Any) -> str:
    match body:
        case DescribeGroupsRequest():
            return body.groups[0]
        case DeleteGroupsRequest():
            return body.groups_names[0]
        case _:
            found: str = body.group_id
            return found


def _with_group(state: Groups, name: str, group: Group) -> Groups:
    return tuple((other, group if other == name else kept) for other, kept in state)


def _list_responses(state: Groups, version: int) -> Iterator[Expected]:
    """Yield the possible responses to ListGroups: a group may be missing until its first record is committed."""
    results: list[tuple[tuple[str, str, str], ...]] = [()]
    for name, group in state:
        row = (name, group.type or "", group.phase if version >= _STATES_FROM else "")
        if group.exists:
            results = [(*before, row) for before in results] + ([] if group.is_visible else results)
    for rows in results:
        yield expected(error=ErrorCode.NONE, groups=rows)


def _read(step: Step, response: Any) -> Mapping[str, Any]:
    match step.body:
        case JoinGroupRequest():
            rows = tuple((row.member_id, bytes(row.metadata)) for row in response.members)
            return {
                "error": response.error_code,
                "member": response.member_id,
                "generation": response.generation_id,
                "leader": response.leader,
                "protocol": response.protocol_name,
                "members": rows,
            }
        case SyncGroupRequest():
            return {"error": response.error_code, "assignment": bytes(response.assignment)}
        case LeaveGroupRequest():
            return {"error": response.error_code, "rows_error": tuple(row.error_code for row in response.members)}
        case OffsetCommitRequest():
            return {"rows_error": tuple(row.error_code for topic in response.topics for row in topic.partitions)}
        case OffsetFetchRequest():
            found = {row.partition_index: row.committed_offset for topic in response.topics for row in topic.partitions}
            return {"error": response.error_code, "offsets": tuple(found.get(p) for p in _PARTITIONS)}
        case OffsetDeleteRequest():
            errors = tuple(row.error_code for topic in response.topics for row in topic.partitions)
            return {"error": response.error_code, "rows_error": errors}
        case DescribeGroupsRequest():
            return _read_described(response.groups[0])
        case DeleteGroupsRequest():
            return {"rows_error": tuple(row.error_code for row in response.results)}
        case _:
            return {"error": response.error_code}


def _read_described(row: Any) -> Mapping[str, Any]:
    members = tuple(
        (one.member_id, one.group_instance_id, bytes(one.member_metadata), bytes(one.member_assignment))
        for one in row.members
    )
    return {
        "error": row.error_code,
        "state": row.group_state,
        "type": row.protocol_type,
        "protocol": row.protocol_data,
        "members": members,
    }


MACHINE = GroupMachine()


def open_simulated_link(seed: int, choose: Choose) -> SimulatedLink:
    """Return a kmirror broker with a group coordinator."""
    return simulated_broker(seed, {"group.initial.rebalance.delay.ms": choose.pick(("0", "0", "3000"))})
