"""A single group: membership, rebalances, and its records."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from kmirror.cluster.coordinators.groups.classic.group import Limits, Timer
from kmirror.cluster.coordinators.groups.classic.group_states import PREDECESSORS, GroupState
from kmirror.cluster.coordinators.groups.classic.records import group_of
from kmirror.protocol.gen.leave_group_request import MemberIdentity
from kmirror.spec.error_codes import ErrorCode as E
from tests.call_counts import count_calls
from tests.unit.cluster.coordinators.groups.stage import (
    REBALANCE_MS,
    SESSION_MS,
    Stage,
    assign,
    join_response,
    stable,
)

S = GroupState
FOLLOWS = {
    (S.EMPTY, S.PREPARING_REBALANCE),
    (S.PREPARING_REBALANCE, S.EMPTY),
    (S.PREPARING_REBALANCE, S.COMPLETING_REBALANCE),
    (S.COMPLETING_REBALANCE, S.PREPARING_REBALANCE),
    (S.COMPLETING_REBALANCE, S.STABLE),
    (S.STABLE, S.PREPARING_REBALANCE),
    *((state, S.DEAD) for state in S),
}


@pytest.mark.parametrize(("before", "after"), list(product(S, S)))
def test_which_state_follows_which(before: GroupState, after: GroupState) -> None:
    assert (before in PREDECESSORS[after]) == ((before, after) in FOLLOWS)


# -- joining --------------------------------------------------------------------------------------


def test_a_dynamic_member_joins_again_with_its_assigned_id() -> None:
    stage = Stage()
    first = stage.join()
    assert first.error is E.MEMBER_ID_REQUIRED and stage.group.state is S.EMPTY
    second = stage.join(first.answer.member_id)
    assert second.is_waiting and stage.group.state is S.PREPARING_REBALANCE
    stage.pass_time(0)
    answer = join_response(second)
    assert (answer.generation_id, answer.leader) == (1, answer.member_id)


def test_a_join_costs_the_same_among_few_and_among_many() -> None:
    stage = Stage()
    for _ in range(10):
        stage.join(version=3)
    among_few = count_calls(lambda: stage.join(version=3))
    for _ in range(300):
        stage.join(version=3)
    assert count_calls(lambda: stage.join(version=3)) <= among_few + 10


@pytest.mark.parametrize("version", [2, 3])
def test_before_version_4_a_member_joins_immediately(version: int) -> None:
    stage = Stage()
    call = stage.join(version=version)
    stage.pass_time(0)
    assert join_response(call).generation_id == 1


def test_a_new_group_is_written_before_it_has_members() -> None:
    stage = Stage()
    stage.join()
    [value] = stage.log
    assert (value.generation, value.protocol_type, value.protocol, value.leader, value.members) == (
        0,
        "",
        None,
        None,
        [],
    )
    stage.join()
    assert len(stage.log) == 1


def test_members_get_an_error_if_their_group_cannot_be_written() -> None:
    stage = Stage(Limits(3000))
    call = stage.enter()
    stage.commit(E.COORDINATOR_NOT_AVAILABLE)
    assert stage.is_forgotten and call.error is E.COORDINATOR_NOT_AVAILABLE and not stage.timers


def test_an_unused_member_id_expires_with_its_session() -> None:
    stage = Stage()
    member_id = stage.join(session_ms=500).answer.member_id
    stage.pass_time(499)
    assert stage.group.pending_joins
    stage.pass_time(1)
    assert not stage.group.pending_joins
    assert stage.join(member_id).error is E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("name", "code"), [("a", E.FENCED_INSTANCE_ID), ("b", E.UNKNOWN_MEMBER_ID)])
def test_an_assigned_member_id_cannot_be_used_by_a_static_member(name: str, code: E) -> None:
    stage = Stage()
    stage.join(instance="a")
    member_id = stage.join().answer.member_id
    assert stage.join(member_id, instance=name).error is code
    assert member_id in stage.group.pending_joins


@pytest.mark.parametrize("protocols", [(), ("other",)])
def test_a_member_without_a_common_protocol_is_refused(protocols: tuple[str, ...]) -> None:
    stage, _ = stable(1)
    assert stage.join(protocols=protocols).error is E.INCONSISTENT_GROUP_PROTOCOL
    assert stage.group.state is S.STABLE


def test_a_full_group_accepts_no_more_members() -> None:
    stage = Stage(Limits(0, size_max=2))
    first, second = stage.join(version=3), stage.join(version=3)
    assert stage.join(version=3).error is E.GROUP_MAX_SIZE_REACHED
    stage.pass_time(0)
    assign(stage, [first.answer.member_id, second.answer.member_id])
    assert stage.join().error is E.GROUP_MAX_SIZE_REACHED
    assert stage.join(second.answer.member_id).answer.generation_id == 1


def test_a_full_group_keeps_the_first_members() -> None:
    before, ids = stable(3)
    stage = Stage(Limits(0, size_max=2), loaded=before.log[-1])
    assert stage.group.state is S.PREPARING_REBALANCE
    calls = [stage.join(member_id) for member_id in ids]
    assert calls[2].error is E.GROUP_MAX_SIZE_REACHED
    stage.pass_time(REBALANCE_MS)
    assert [join_response(call).generation_id for call in calls[:2]] == [2, 2]


# -- the initial delay ----------------------------------------------------------------------------


def test_the_first_rebalance_is_extended_by_new_members() -> None:
    stage = Stage(Limits(3000))
    calls = [stage.join(version=3, rebalance_ms=7000)]
    for _ in range(3):
        stage.pass_time(2000)
        calls.append(stage.join(version=3, rebalance_ms=7000))
    # Extended at 3 s and at 6 s, the last time by the rest of 7 s.
    stage.pass_time(999)
    assert all(call.is_waiting for call in calls)
    stage.pass_time(1)
    assert {join_response(call).generation_id for call in calls} == {1}


def test_without_more_members_the_first_rebalance_takes_the_delay() -> None:
    stage = Stage(Limits(3000))
    call = stage.join(version=3)
    stage.pass_time(2999)
    assert call.is_waiting
    stage.pass_time(1)
    assert join_response(call)


# -- rebalances -----------------------------------------------------------------------------------


def test_a_second_member_begins_a_rebalance_that_waits_for_the_first() -> None:
    stage, [first] = stable(1)
    second = stage.enter()
    assert second.is_waiting and stage.beat(first) is E.REBALANCE_IN_PROGRESS
    again = stage.join(first)
    assert {join_response(again).generation_id, join_response(second).generation_id} == {2}
    assert len(again.answer.members) == 2 and not second.answer.members


def test_a_member_that_misses_the_rebalance_timeout_is_removed() -> None:
    stage, [first] = stable(1)
    second = stage.enter()
    for _ in range(REBALANCE_MS // 5000):
        assert stage.beat(first) is E.REBALANCE_IN_PROGRESS, "it is alive"
        stage.pass_time(5000)
    assert join_response(second).leader == second.answer.member_id
    assert stage.beat(first) is E.UNKNOWN_MEMBER_ID


def test_silent_members_are_removed_after_their_session() -> None:
    stage, [first, _] = stable(2)
    stage.pass_time(SESSION_MS - 1)
    stage.beat(first)
    stage.pass_time(1)
    assert stage.group.state is S.PREPARING_REBALANCE and list(stage.group.members) == [first]


def test_a_waiting_join_keeps_a_member_alive_but_not_a_new_one() -> None:
    stage, [first] = stable(1, rebalance_ms=1_000_000)
    stage.enter(rebalance_ms=1_000_000)
    new = stage.enter(rebalance_ms=1_000_000)
    for _ in range(300_000 // SESSION_MS):
        assert new.is_waiting
        stage.beat(first)
        stage.pass_time(SESSION_MS - 1)
    stage.beat(first)
    stage.pass_time(SESSION_MS - 1)
    assert new.error is E.UNKNOWN_MEMBER_ID, "after five minutes nobody may be there any more"


def test_a_member_that_never_syncs_is_out_after_the_rebalance_timeout() -> None:
    stage, [first, second] = stable(2)
    stage.join(first, metadata=b"new")
    stage.join(second)
    stage.sync(first, {first: b"all"})
    stage.commit_all()
    for _ in range(REBALANCE_MS // 5000):
        stage.beat(first)
        stage.beat(second)
        stage.pass_time(5000)
    assert stage.group.state is S.PREPARING_REBALANCE and list(stage.group.members) == [first]


def test_a_follower_that_joins_with_nothing_new_gets_the_present_generation() -> None:
    stage, [leader, follower] = stable(2)
    assert join_response(stage.join(follower)).generation_id == 1
    assert stage.group.state is S.STABLE
    assert stage.join(leader).is_waiting, "the leader requests a new assignment"


def test_a_member_that_missed_the_response_to_its_join_gets_it_again() -> None:
    stage, [leader, follower] = stable(2)
    stage.join(leader)
    stage.join(follower)
    assert stage.group.state is S.COMPLETING_REBALANCE
    assert len(join_response(stage.join(leader)).members) == 2
    assert join_response(stage.join(follower)).generation_id == 2
    assert stage.join(follower, metadata=b"new").is_waiting, "this one wants something else"


def test_the_protocol_with_most_votes_among_common_ones_is_chosen() -> None:
    stage = Stage()
    calls = [
        stage.join(version=3, protocols=names) for names in (("x", "a", "b"), ("b", "a"), ("a", "b"), ("c", "a", "b"))
    ]
    stage.pass_time(0)
    assert {join_response(call).protocol_name for call in calls} == {"a"}, "a has three votes of four"


@pytest.mark.parametrize("first", [("range", "cooperative-sticky"), ("cooperative-sticky", "range")])
def test_among_equal_votes_the_order_of_a_java_map_decides(first: tuple[str, ...]) -> None:
    stage = Stage()
    calls = [stage.join(version=3, protocols=names) for names in (first, first[::-1])]
    stage.pass_time(0)
    assert {join_response(call).protocol_name for call in calls} == {"range"}, "it lies in an earlier bucket"


# -- assignments ----------------------------------------------------------------------------------


def test_assignments_are_returned_when_they_are_committed() -> None:
    stage, [leader, follower] = stable(2)
    stage.join(leader)
    stage.join(follower)
    waiting = stage.sync(follower)
    led = stage.sync(leader, {leader: b"1", follower: b"2"})
    assert waiting.is_waiting and led.is_waiting and stage.group.state is S.COMPLETING_REBALANCE
    value = stage.log[-1]
    assert (value.generation, {row.member_id: row.assignment for row in value.members}) == (
        2,
        {leader: b"1", follower: b"2"},
    )
    stage.commit()
    assert (led.answer.assignment, waiting.answer.assignment) == (b"1", b"2")
    assert stage.group.state is S.STABLE
    assert stage.sync(follower).answer.assignment == b"2"


def test_an_assignment_that_cannot_be_written_causes_another_rebalance() -> None:
    stage, [leader, follower] = stable(2)
    stage.join(leader)
    stage.join(follower)
    calls = [stage.sync(follower), stage.sync(leader, {leader: b"1"})]
    stage.commit(E.COORDINATOR_NOT_AVAILABLE)
    assert [call.error for call in calls] == [E.COORDINATOR_NOT_AVAILABLE] * 2
    assert stage.group.state is S.PREPARING_REBALANCE


def test_an_assignment_overtaken_by_a_rebalance_is_not_returned() -> None:
    stage, [leader] = stable(1)
    stage.join(leader)
    call = stage.sync(leader, {leader: b"late"})
    stage.enter()
    assert call.error is E.REBALANCE_IN_PROGRESS
    stage.commit_all()
    assert stage.group.state is S.PREPARING_REBALANCE
    assert [member.assignment for member in stage.group.members.in_order()] == [b"", b""]


def test_a_second_sync_does_not_change_the_pending_assignment() -> None:
    stage, [leader, follower] = stable(2)
    stage.join(leader)
    stage.join(follower)
    first = stage.sync(leader, {leader: b"1", follower: b"2"})
    second = stage.sync(leader, {leader: b"2", follower: b"1"})
    assert first.error is E.REBALANCE_IN_PROGRESS, "its client is not there any more, but is answered"
    stage.commit_all()
    assert second.answer.assignment == b"1"
    assert {row.member_id: row.assignment for row in stage.log[-1].members} == {leader: b"1", follower: b"2"}


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"generation_id": 7}, E.ILLEGAL_GENERATION),
        ({"member_id": "nobody"}, E.UNKNOWN_MEMBER_ID),
        ({"group_instance_id": "i"}, E.UNKNOWN_MEMBER_ID),
        ({"protocol_type": "consumer"}, E.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "sticky"}, E.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_a_sync_that_is_wrong_is_refused(wrong: dict[str, Any], error: E) -> None:
    stage, [leader] = stable(1)
    assert stage.sync(**{"member_id": leader, **wrong}).error is error


def test_a_request_of_an_old_generation_gets_an_error() -> None:
    stage, [first] = stable(1)
    second = stage.enter()
    stage.join(first)
    assert stage.beat(first, generation=1) is E.ILLEGAL_GENERATION
    assert stage.sync(first, None, generation_id=1).error is E.ILLEGAL_GENERATION
    assert stage.group.commit_error(first, None, 1, in_transaction=False) is E.ILLEGAL_GENERATION
    assert join_response(second)


def test_an_assignment_of_an_earlier_generation_is_not_returned() -> None:
    stage, [leader] = stable(1)
    stage.join(leader)
    stage.sync(leader, {leader: b"late"})
    stage.enter()
    stage.join(leader)
    assert (stage.group.state, stage.group.generation) == (S.COMPLETING_REBALANCE, 3)
    call = stage.sync(leader, {leader: b"new"})
    stage.commit()
    assert call.is_waiting and stage.group.state is S.COMPLETING_REBALANCE
    stage.commit()
    assert call.answer.assignment == b"new"


def test_a_silent_member_after_its_join_is_removed_after_its_session() -> None:
    stage = Stage()
    joined_but_gone = stage.join(version=3)
    stage.pass_time(0)
    assert join_response(joined_but_gone)
    stage.pass_time(SESSION_MS)
    assert stage.group.state is S.EMPTY


def test_a_session_starts_again_after_a_long_sync() -> None:
    stage, [leader] = stable(1)
    stage.join(leader)
    stage.sync(leader, {leader: b"1"})
    stage.pass_time(2 * SESSION_MS)
    assert stage.group.members, "its request waits, so it is alive"
    stage.commit()
    stage.pass_time(SESSION_MS)
    assert stage.group.state is S.EMPTY


# -- leaving --------------------------------------------------------------------------------------


def test_when_the_leader_leaves_another_member_becomes_leader() -> None:
    stage, [leader, *others] = stable(3)
    stage.leave(leader)
    calls = [stage.join(member_id) for member_id in others]
    assert {join_response(call).leader for call in calls} <= set(others) and len(
        {call.answer.leader for call in calls}
    ) == 1


def test_the_last_leave_is_answered_when_it_is_written() -> None:
    stage, [member] = stable(1)
    call = stage.leave(member)
    assert call.is_waiting and stage.group.state is S.EMPTY
    assert (stage.log[-1].generation, stage.log[-1].protocol, stage.log[-1].members) == (2, None, [])
    stage.commit()
    assert call.error is E.NONE and call.answer.members[0].error_code == 0


def test_a_leave_that_cannot_be_written_is_an_error() -> None:
    stage, [member] = stable(1)
    call = stage.leave(member)
    stage.commit(E.NOT_COORDINATOR)
    assert call.error is E.NOT_COORDINATOR


def test_a_member_removed_while_it_waits_gets_a_response() -> None:
    stage = Stage()
    calls = [stage.join(instance=name) for name in ("a", "b", "c")]
    stage.pass_time(0)
    leader = join_response(calls[0]).leader
    waiting = next(call for call in calls if call.answer.member_id != leader)
    name = str(waiting.answer.member_id).partition("-")[0]
    sync = stage.sync(waiting.answer.member_id, None, group_instance_id=name)
    assert sync.is_waiting
    stage.leave(MemberIdentity(member_id="", group_instance_id=name))
    assert sync.error is E.UNKNOWN_MEMBER_ID, "Kafka forgets this one"
    stage.join(instance="d")
    rejoin = stage.join(calls[0].answer.member_id, instance="a")
    stage.leave(calls[0].answer.member_id)
    assert rejoin.error is E.UNKNOWN_MEMBER_ID


def test_members_leave_each_with_its_own_error() -> None:
    stage, [first, second] = stable(2)
    call = stage.leave(first, "nobody", MemberIdentity(member_id="", group_instance_id="i"))
    assert [row.error_code for row in call.answer.members] == [E.NONE, E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID]
    assert list(stage.group.members) == [second]


# -- static members -------------------------------------------------------------------------------


def statics(*names: str) -> tuple[Stage, dict[str, str]]:
    """Return a STABLE group of static members, and their member ids; the first one leads."""
    stage = Stage()
    calls = {name: stage.join(instance=name) for name in names}
    stage.pass_time(0)
    ids = {name: call.answer.member_id for name, call in calls.items()}
    assign(stage, list(ids.values()))
    return stage, ids


@pytest.mark.parametrize("version", [5, 8, 9])
def test_a_returning_static_member_takes_its_place_without_a_rebalance(version: int) -> None:
    stage, ids = statics("a", "b")
    call = stage.join(instance="b", version=version)
    assert call.is_waiting, "until its new member id is committed"
    stage.commit()
    answer = join_response(call)
    assert (answer.generation_id, stage.group.state) == (1, S.STABLE) and answer.member_id != ids["b"]
    assert stage.beat(ids["b"], instance="b") is E.FENCED_INSTANCE_ID
    assert stage.sync(ids["b"], None, group_instance_id="b").error is E.FENCED_INSTANCE_ID
    assert stage.sync(answer.member_id, None, group_instance_id="b").answer.assignment == b"1"
    assert answer.member_id in {row.member_id for row in stage.log[-1].members}


@pytest.mark.parametrize(("version", "skips"), [(8, False), (9, True)])
def test_a_returning_static_leader_does_not_assign(version: int, skips: bool) -> None:
    stage, ids = statics("a", "b")
    call = stage.join(instance="a", version=version)
    stage.commit()
    answer = join_response(call)
    assert answer.skip_assignment == skips and bool(answer.members) == skips
    assert answer.leader == (answer.member_id if skips else ids["a"])
    assert stage.group.leader == answer.member_id


def test_a_static_member_is_unchanged_if_its_replacement_is_not_written() -> None:
    stage, ids = statics("a", "b")
    call = stage.join(instance="b", protocols=("range", "new"))
    stage.commit(E.COORDINATOR_NOT_AVAILABLE)
    assert call.error is E.COORDINATOR_NOT_AVAILABLE
    assert stage.beat(ids["b"], instance="b") is E.NONE
    assert stage.group.members[ids["b"]].protocols.keys() == {"range"}
    assert (Timer.SESSION, ids["b"]) in stage.timers and len(stage.timers) == 2


def test_pending_requests_of_a_fenced_member_are_answered() -> None:
    stage, ids = statics("a", "b")
    stage.join(ids["a"], instance="a")
    rejoin = stage.join(ids["b"], instance="b", metadata=b"new")
    sync = stage.sync(ids["b"], None, group_instance_id="b")
    stage.join(instance="b")
    assert join_response(rejoin) and sync.error is E.FENCED_INSTANCE_ID
    assert stage.group.state is S.PREPARING_REBALANCE, "the leader may be assigning to the id that is gone"


def test_static_members_are_not_removed_for_being_late() -> None:
    stage, ids = statics("a", "b")
    stage.join(ids["a"], instance="a")
    for _ in range(REBALANCE_MS // 5000):
        stage.beat(ids["b"], instance="b")
        stage.pass_time(5000)
    assert stage.group.state is S.COMPLETING_REBALANCE and set(stage.group.members) == set(ids.values())


def test_a_rebalance_in_which_no_static_member_joins_waits_for_their_sessions() -> None:
    stage, ids = statics("a", "b")
    dynamic = stage.enter()
    for member in list(stage.group.members.values()):
        if not member.is_static:
            stage.leave(member.member_id)
    assert dynamic.error is E.UNKNOWN_MEMBER_ID and stage.group.state is S.PREPARING_REBALANCE
    stage.pass_time(SESSION_MS)
    assert stage.group.state is S.EMPTY and not stage.group.members and ids


# -- a shard that moves ---------------------------------------------------------------------------


def test_a_group_is_loaded_as_persisted_and_continues() -> None:
    before, [leader, follower] = stable(2, protocols=("range", "sticky"), metadata=b"said")
    stage = Stage(loaded=before.log[-1])
    assert (stage.group.state, stage.group.generation, stage.group.leader) == (S.STABLE, 1, leader)
    assert stage.beat(leader) is E.NONE and stage.beat(follower) is E.NONE
    assert stage.sync(follower).answer.assignment == b"1"
    assert stage.group.members[follower].protocols["range"] == b"said"
    stage.pass_time(SESSION_MS - 1)
    assert stage.group.state is S.STABLE
    stage.pass_time(1)
    assert stage.group.state is S.EMPTY


def test_pending_requests_are_answered_when_the_shard_moves() -> None:
    stage, [leader, follower] = stable(2)
    stage.join(follower, metadata=b"new")
    stage.join(leader)
    call, late = stage.sync(follower), stage.sync(leader, {leader: b"1"})
    pending = stage.join()
    stage.end()
    assert {call.error, late.error} == {E.NOT_COORDINATOR} and pending.error is E.MEMBER_ID_REQUIRED
    assert stage.group.state is S.DEAD and not stage.timers
    stage.commit_all()
    assert all(len(one.answers) == 1 for one in stage.calls)


def test_a_record_without_a_rebalance_timeout_uses_the_session_timeout() -> None:
    before, _ = stable(1)
    value = before.log[-1]
    value.members[0].rebalance_timeout = -1
    assert group_of("g", value).members.rebalance_timeout_ms == SESSION_MS


def test_a_record_whose_leader_is_no_member_still_loads_a_group() -> None:
    before, ids = stable(2)
    value = before.log[-1]
    value.leader = "nobody"
    stage = Stage(loaded=value)
    assert stage.group.leader in ids
    stage.leave(*ids)
    assert stage.group.leader is None
