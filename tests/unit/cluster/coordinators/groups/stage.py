"""A single group: pending and answered requests, its timers, and records that are being written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Limits, Timer
from kmirror.cluster.coordinators.groups.classic.kind import ClassicGroups
from kmirror.cluster.coordinators.groups.classic.records import group_of
from kmirror.cluster.coordinators.groups.effects import CancelTimer, RemoveGroup, Respond, SetTimer, Write
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.protocol.gen.leave_group_request import MemberIdentity
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kmirror.protocol.keyed_records import decode_record
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC

GROUP = "g"
SESSION_MS, REBALANCE_MS = 10_000, 60_000


@dataclass(eq=False)
class Call:
    """A request, and all its responses: exactly one is expected."""

    what: str
    answers: list[Any] = field(default_factory=list)

    @property
    def is_waiting(self) -> bool:
        return not self.answers

    @property
    def answer(self) -> Any:
        [answer] = self.answers
        return answer

    @property
    def error(self) -> ErrorCode:
        return ErrorCode(self.answer.error_code)


class Stage:
    """A group whose clock, timers and log are controlled by a test."""

    def __init__(self, limits: Limits | None = None, *, loaded: GroupMetadataValue | None = None) -> None:
        self.now_ms = 1000
        self.calls: list[Call] = []
        self.timers: dict[tuple[Timer, str], int] = {}
        self.writes: list[Write] = []
        self.log: list[GroupMetadataValue] = []
        """Written records, committed or not."""
        self.is_forgotten = False
        self.group = ClassicGroup(GROUP, self.now_ms) if loaded is None else group_of(GROUP, loaded)
        self._ids = 0
        self.group.is_new = loaded is None
        self.kind = ClassicGroups()
        limits = limits or Limits(0)
        values = {
            "group.initial.rebalance.delay.ms": str(limits.initial_rebalance_delay_ms),
            "group.max.size": str(limits.size_max),
        }
        self.kind.begin(self.group, self.now_ms, Configs(Scope.BROKER, values))
        self._perform()

    # -- requests -----------------------------------------------------------------------------

    def _call(self, what: str) -> tuple[Call, Callable[[Message], None]]:
        call = Call(what)
        self.calls.append(call)
        return call, call.answers.append

    def join(
        self,
        member_id: str = "",
        *,
        instance: str | None = None,
        protocols: tuple[str, ...] = ("range",),
        version: int = 9,
        metadata: bytes = b"",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
    ) -> Call:
        call, waiter = self._call(f"join of {member_id or instance}")
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type="test",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata) for name in protocols],
        )
        self._ids += 1
        new_member_id = f"{instance or 'client'}-{self._ids}"
        asked = requests.Join(request, "client", "/host", version, new_member_id, waiter)
        requests.join(self.group, self.now_ms, asked)
        self._perform()
        return call

    def enter(self, **options: Any) -> Call:
        """Join as a new dynamic member: the first response contains the member id."""
        return self.join(self.join(**options).answer.member_id, **options)

    def sync(self, member_id: str, assignments: dict[str, bytes] | None = None, **options: Any) -> Call:
        call, waiter = self._call(f"sync of {member_id}")
        rows = [
            SyncGroupRequestAssignment(member_id=name, assignment=data) for name, data in (assignments or {}).items()
        ]
        fields = {"generation_id": self.group.generation, "member_id": member_id, "assignments": rows, **options}
        requests.sync(self.group, SyncGroupRequest(group_id=GROUP, **fields), waiter)
        self._perform()
        return call

    def beat(self, member_id: str, generation: int | None = None, instance: str | None = None) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=GROUP,
            member_id=member_id,
            group_instance_id=instance,
            generation_id=self.group.generation if generation is None else generation,
        )
        error = requests.heartbeat(self.group, request)
        self._perform()
        return error

    def leave(self, *members: MemberIdentity | str) -> Call:
        call, waiter = self._call("leave")
        rows = [MemberIdentity(member_id=one) if isinstance(one, str) else one for one in members]
        requests.leave(self.group, self.now_ms, rows, waiter)
        self._perform()
        return call

    # -- events ---------------------------------------------------------------------------------

    def pass_time(self, ms: int) -> None:
        """Let time pass, and fire the due timers in order."""
        end_ms = self.now_ms + ms
        while True:
            due = [(at, timer.value, member_id) for (timer, member_id), at in self.timers.items() if at <= end_ms]
            if not due:
                break
            at, timer, member_id = min(due)
            del self.timers[Timer(timer), member_id]
            self.now_ms = max(self.now_ms, at)
            self.kind.on_timer(self.group, self.now_ms, Timer(timer), member_id)
            self._perform()
        self.now_ms = end_ms

    def commit(self, error: ErrorCode = ErrorCode.NONE) -> None:
        """Commit the oldest pending record, or let it fail."""
        self.writes.pop(0).on_written(self.now_ms, error)
        self._perform()

    def commit_all(self) -> None:
        while self.writes:
            self.commit()

    def end(self) -> None:
        """Move the leader of the shard to another broker."""
        self.group.end(ErrorCode.NOT_COORDINATOR)
        self._perform()

    def _perform(self) -> None:
        effects, self.group.effects = self.group.effects, []
        for effect in effects:
            match effect:
                case Respond(waiter, body):
                    waiter(body)
                case SetTimer(timer, member_id, delay_ms):
                    self.timers[timer, member_id] = self.now_ms + max(0, delay_ms)
                case CancelTimer(timer, member_id):
                    self.timers.pop((timer, member_id), None)
                case Write():
                    self.writes.append(effect)
                    self.log.append(value_of(effect))
                case RemoveGroup():
                    self.is_forgotten = True


def value_of(write: Write) -> GroupMetadataValue:
    """Return the one record of a group that is written."""
    [(key, value)] = write.records
    found = decode_record(GROUP_TOPIC, key, value).value
    assert isinstance(found, GroupMetadataValue)
    return found


def stable(count: int, **options: Any) -> tuple[Stage, list[str]]:
    """Return a STABLE group of `count` dynamic members, and their ids, the leader's first."""
    stage = Stage()
    ids = [stage.join(version=3, **options) for _ in range(count)]
    stage.pass_time(0)
    members = [call.answer.member_id for call in ids]
    assign(stage, members)
    return stage, members


def assign(stage: Stage, members: list[str]) -> None:
    """Let all members sync, the leader with an assignment for each: its number in the list."""
    rows = {member_id: str(index).encode() for index, member_id in enumerate(members)}
    for member_id in members:
        stage.sync(member_id, rows if member_id == stage.group.leader else None)
    stage.commit_all()


def join_response(call: Call) -> JoinGroupResponse:
    """Return the response to a join that succeeded."""
    answer = call.answer
    assert isinstance(answer, JoinGroupResponse) and not answer.error_code, answer
    return answer
