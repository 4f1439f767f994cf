"""Invariants of a classic group under any order of requests, timers, commits and moves of its shard.

Every request gets exactly one response; a generation never comes back; a member gets the assignment from the leader of
its own generation, or none; and after all clients are silent, the group becomes empty.
"""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

from kmirror.cluster.coordinators.groups.classic.group import Limits, Timer
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.leave_group_request import MemberIdentity
from kmirror.spec.error_codes import ErrorCode
from tests.unit.cluster.coordinators.groups.stage import Call, Stage, value_of

S = GroupState
INSTANCES = ("a", "b", "c")
PROTOCOLS = st.sampled_from((("x", "y"), ("y", "x"), ("x",), ("z", "y", "x")))
WAITS_MS = st.sampled_from((0, 1, 400, 1000, 3000, 6000, 20_000))
SESSION_MS, REBALANCE_MS = 6000, 3000


class Actor:
    """A client: its state of its membership, and the requests that it has sent."""

    def __init__(self, instance: str | None) -> None:
        self.instance = instance
        self.member_id = ""
        self.generation = -1
        self.synced = -1
        """The last generation in which it sent SyncGroup."""
        self.plan: dict[str, bytes] = {}
        """Its assignments as a leader, by member id."""
        self.join: Call | None = None
        self.syncs: list[tuple[int, str, Call]] = []

    @property
    def who(self) -> str:
        return self.instance or self.member_id

    def learn(self) -> None:
        """Process the response to the last join."""
        if self.join is None or self.join.is_waiting:
            return
        answer, self.join = self.join.answer, None
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        self.synced = -1
        if answer.error_code not in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            return
        self.member_id, self.generation = answer.member_id, answer.generation_id
        self.plan = {
            row.member_id: f"{answer.generation_id}.{row.group_instance_id or row.member_id}".encode()
            for row in answer.members
        }


class Groups(RuleBasedStateMachine):
    actors = Bundle("actors")

    def __init__(self) -> None:
        super().__init__()
        self.limits = Limits(1000, size_max=4)
        self.stage = Stage(self.limits)
        self.committed: GroupMetadataValue | None = None
        self.generation = 0
        self.known: list[Actor] = []

    # -- clients ------------------------------------------------------------------------------

    @rule(target=actors, instance=st.one_of(st.none(), st.sampled_from(INSTANCES)))
    def appear(self, instance: str | None) -> Actor:
        self.known.append(Actor(instance))
        return self.known[-1]

    @rule(
        actor=actors, protocols=PROTOCOLS, metadata=st.sampled_from((b"", b"new")), version=st.sampled_from((3, 5, 9))
    )
    def join(self, actor: Actor, protocols: tuple[str, ...], metadata: bytes, version: int) -> None:
        actor.learn()
        actor.join = self.stage.join(
            actor.member_id,
            instance=actor.instance,
            protocols=protocols,
            metadata=metadata,
            version=version,
            session_ms=SESSION_MS,
            rebalance_ms=REBALANCE_MS,
        )
        actor.learn()

    @rule(actor=actors)
    def sync(self, actor: Actor) -> None:
        actor.learn()
        call = self.stage.sync(
            actor.member_id, actor.plan, generation_id=actor.generation, group_instance_id=actor.instance
        )
        actor.syncs.append((actor.generation, actor.who, call))

    @rule(actor=actors)
    def beat(self, actor: Actor) -> None:
        actor.learn()
        error = self.stage.beat(actor.member_id, actor.generation, actor.instance)
        if error is ErrorCode.NONE:
            assert actor.generation == self.stage.group.generation

    @rule(actor=actors, by_name=st.booleans())
    def leave(self, actor: Actor, by_name: bool) -> None:
        actor.learn()
        member_id = "" if by_name and actor.instance else actor.member_id
        self.stage.leave(MemberIdentity(member_id=member_id, group_instance_id=actor.instance))

    @rule(moving=st.sets(st.integers(0, 4)), times=st.integers(1, 3))
    def behave(self, moving: set[int], times: int) -> None:
        """Let some of the clients take the next step of a client."""
        for _ in range(times):
            for index in moving:
                if index < len(self.known):
                    self._behave(self.known[index])

    def _behave(self, actor: Actor) -> None:
        actor.learn()
        if actor.join is not None or any(call.is_waiting for _, _, call in actor.syncs):
            return
        if actor.generation > actor.synced:
            actor.synced = actor.generation
            self.sync(actor)
        elif actor.generation < 0 or self.stage.beat(actor.member_id, actor.generation, actor.instance):
            self.join(actor, ("x", "y"), b"", 9)

    @rule(actor=consumes(actors))
    def vanish(self, actor: Actor) -> None:
        """A client stops sending."""

    # -- other events -------------------------------------------------------------------------

    @rule(ms=WAITS_MS)
    def pass_time(self, ms: int) -> None:
        self.stage.pass_time(ms)

    @rule(error=st.sampled_from((ErrorCode.NONE, ErrorCode.NONE, ErrorCode.NONE, ErrorCode.COORDINATOR_NOT_AVAILABLE)))
    def commit(self, error: ErrorCode) -> None:
        if not self.stage.writes:
            return
        value = value_of(self.stage.writes[0])
        if not error:
            self.committed = value
        self.stage.commit(error)
        if self.stage.is_forgotten:
            self.move(0)

    @rule(more=st.integers(0, 2))
    def move(self, more: int) -> None:
        """Move the shard to another broker, whose log has some records that this one could not confirm."""
        former = self.stage
        former.end()
        for write in former.writes[:more]:
            self.committed = value_of(write)
        while former.writes:
            former.commit(ErrorCode.NOT_COORDINATOR)
        self.check_answers(former)
        self.stage = Stage(self.limits, loaded=self.committed)
        self.stage.now_ms = former.now_ms
        self.stage._ids = former._ids
        self.stage.timers = {key: at + former.now_ms for key, at in self.stage.timers.items()}
        self.generation = self.stage.group.generation

    # -- invariants ---------------------------------------------------------------------------

    def check_answers(self, stage: Stage) -> None:
        for call in stage.calls:
            assert len(call.answers) == 1, f"{call.what} got {len(call.answers)} answers"

    @invariant()
    def nobody_waits_whom_the_group_does_not_know(self) -> None:
        waiting = [call.what.partition(" ")[0] for call in self.stage.calls if call.is_waiting]
        members = self.stage.group.members.values()
        assert (
            waiting.count("join")
            == self.stage.group.members.awaiting_join
            == sum(member.join_waiter is not None for member in members)
        )
        assert waiting.count("sync") == sum(member.sync_waiter is not None for member in members)
        assert waiting.count("leave") <= len(self.stage.writes)
        assert all(len(call.answers) <= 1 for call in self.stage.calls)

    @invariant()
    def generations_only_rise(self) -> None:
        assert self.stage.group.generation >= self.generation
        self.generation = self.stage.group.generation

    @invariant()
    def a_member_is_given_what_its_generations_leader_assigned_to_it(self) -> None:
        for actor in self.known:
            for generation, who, call in actor.syncs:
                if not call.is_waiting and not call.answer.error_code:
                    assert call.answer.assignment in (b"", f"{generation}.{who}".encode())
            actor.syncs = [row for row in actor.syncs if row[2].is_waiting]

    @invariant()
    def the_group_is_in_order(self) -> None:
        group, timers = self.stage.group, self.stage.timers
        assert set(group.pending_syncs) <= set(group.members)
        assert group.leader is None or group.leader in group.members
        assert (group.leader is None) == (not group.members)
        assert set(group.members.static.values()) <= set(group.members)
        assert not set(group.pending_joins) & set(group.members)
        watched = {member_id for timer, member_id in timers if timer is Timer.SESSION}
        assert watched <= {*group.members, *group.pending_joins} and set(group.pending_joins) <= watched
        assert all(member.member_id in watched or member.is_alive_by_waiting for member in group.members.in_order())
        if group.state is S.PREPARING_REBALANCE:
            assert (Timer.JOIN, "") in timers
        elif group.state is S.EMPTY:
            assert not group.members
        else:
            assert group.members and (bool(group.pending_syncs) == ((Timer.SYNC, "") in timers))
            assert all((group.protocol or "") in member.protocols for member in group.members.in_order())
            is_replaced = {member.member_id for member in group.members.in_order() if member.has_waiting_join}
            assert not is_replaced or (group.state is S.STABLE and self.stage.writes)
        if group.state is S.STABLE:
            assert not any(member.sync_waiter for member in group.members.in_order())

    def teardown(self) -> None:
        self.stage.commit_all()
        self.stage.pass_time(1_000_000)
        self.stage.commit_all()
        self.check_answers(self.stage)
        assert self.stage.group.state is S.EMPTY and not self.stage.group.members and not self.stage.timers


def test_any_order_of_requests_timers_commits_and_moves() -> None:
    run_state_machine_as_test(
        Groups, settings=settings(max_examples=max(200, settings().max_examples), stateful_step_count=40)
    )
