"""The models of fetch sessions and of mirrors agree with Kafka and with kmirror's decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.fuzz.sessions.fetch_model import (
    NOTHING_SENT,
    WIDE,
    Broker,
    FetchSession,
    Key,
    Log,
    PartitionRequest,
    Phase,
    all_rows,
    fetch_outcomes,
    incremental_response,
)
from kmirror.fuzz.sessions.machine import ANYTHING, Call, Names, Outcome, Step, Symbol
from kmirror.fuzz.sessions.mirror_model import (
    RESET,
    Batch,
    ClusterState,
    Content,
    Pair,
    Wish,
    add_topic,
    apply_order,
    contents,
    settle,
    with_reachable_states,
)
from kmirror.fuzz.sessions.mirror_responses import RESPONSES
from kmirror.fuzz.sessions.state_set import Config
from kmirror.fuzz.sessions.tables import Table
from kmirror.mirror.states import NEXT_STATE, MirrorState
from kmirror.mirror.states import Wish as OurWish
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.spec.error_codes import ErrorCode

# -- fetch sessions -----------------------------------------------------------------------------

KEY: Key = ("t", 0)
SESSION = Symbol(1, "session")


class NoNames(Names):
    """The session's id is 7."""

    def symbol(self, value: object) -> Symbol | None:
        """Return the session if this is its id."""
        return SESSION if value == 7 else None


def broker(log: Log, sent_offsets: tuple[int, int] = NOTHING_SENT, *, epoch: int = 1, slots: int = 5) -> Broker:
    session = FetchSession(epoch, False, Table({KEY: PartitionRequest(0, WIDE)}), Table({KEY: sent_offsets}))
    return Broker(Table(), Table({KEY: log}), Table({"t": Phase()}), Table({SESSION: session}), (), slots)


def outcomes(state: Broker, request: FetchRequest, version: int = 12) -> list[Outcome[Broker]]:
    return list(fetch_outcomes(state, Call(2, Step("one", request, version)), NoNames()))


def responses(found: list[Outcome[Broker]]) -> list[dict[str, object]]:
    return [dict(each.values) for outcome in found for each in outcome.responses.values()]


def incremental_fetch(epoch: int = 1, **fields: object) -> FetchRequest:
    return FetchRequest(session_id=7, session_epoch=epoch, max_bytes=WIDE, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "version", "error"),
    [
        (incremental_fetch(2), 12, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (incremental_fetch(-2), 12, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (FetchRequest(session_id=8, session_epoch=1), 12, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (incremental_fetch(), 13, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_a_request_that_does_not_fit_its_session(request_: FetchRequest, version: int, error: ErrorCode) -> None:
    state = broker(Log())
    (outcome,) = outcomes(state, request_, version)
    assert outcome.state == state
    assert responses([outcome]) == [{"error": error, "session": 0, "rows": ()}]


def test_a_session_response_has_only_changed_partitions() -> None:
    log = Log().append(1, 70, 5)
    (first,) = responses(outcomes(broker(log), incremental_fetch()))
    assert first["rows"] == ((KEY, 0, 1, 1, 0, None, ((0, 5),)),)
    empty_log = replace(log, batches=())
    assert responses(outcomes(broker(empty_log, (1, 0)), incremental_fetch())) == [
        {"error": 0, "session": SESSION, "rows": ()}
    ]
    (truncated,) = responses(outcomes(broker(replace(empty_log, start=1), (1, 0)), incremental_fetch()))
    assert truncated["rows"] == ((KEY, ErrorCode.OFFSET_OUT_OF_RANGE, -1, -1, -1, None, ()),)


def test_a_partition_named_and_forgotten_is_forgotten() -> None:
    row = FetchPartition(partition=0, partition_max_bytes=WIDE)
    request = incremental_fetch(
        topics=[FetchTopic(topic="t", partitions=[row])],
        forgotten_topics_data=[ForgottenTopic(topic="t", partitions=[0])],
    )
    (outcome,) = outcomes(broker(Log(), (0, 0)), request)
    assert not outcome.state.sessions
    assert responses([outcome]) == [{"error": 0, "session": 0, "rows": ((KEY, 0, 0, 0, 0, None, ()),)}]


def test_a_full_cache_evicts_one_or_opens_none() -> None:
    row = FetchPartition(partition=0, partition_max_bytes=WIDE)
    request = FetchRequest(session_epoch=0, topics=[FetchTopic(topic="t", partitions=[row])])
    session_ids = {frozenset(one.state.sessions) for one in outcomes(broker(Log(), slots=1), request)}
    new_session = Symbol(2, "session")
    assert session_ids == {frozenset({SESSION}), frozenset({SESSION, new_session}), frozenset({new_session})}
    assert len(outcomes(broker(Log()), request)) == 2, "with a free slot no session is evicted"


def test_a_session_fetch_may_only_be_overtaken_by_a_concurrent_one() -> None:
    step = Step("one", incremental_fetch(), 12)
    first = Call(2, step)
    state = incremental_response(broker(Log().append(1, 70, 5)), 2, SESSION, (), 12).state
    session = state.sessions[SESSION]
    state = replace(state, sessions=state.sessions.put(SESSION, replace(session, epoch=2)))
    next_step = Step("one", incremental_fetch(2), 12)
    after_first = list(fetch_outcomes(state, Call(3, next_step), NoNames()))
    concurrent = list(fetch_outcomes(state, Call(3, next_step, (first,)), NoNames()))
    assert [set(one.responses) for one in after_first] == [{3}]
    assert [set(one.responses) for one in concurrent] == [{3}, {2, 3}]
    assert dict(concurrent[1].responses[2].values)["error"] == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_one_partition_gets_a_batch_despite_all_limits() -> None:
    log = Log().append(1, 70, 5).append(1, 70, 6)
    state = replace(broker(log), logs=Table({("t", 0): log, ("t", 1): log}), phases=Table({"t": Phase()}))
    requested: Table[Key, PartitionRequest] = Table(
        {("t", 0): PartitionRequest(0, 0), ("t", 1): PartitionRequest(0, WIDE)}
    )
    batches = [tuple(row[-1] for row in rows) for rows in all_rows(state, requested, WIDE, 12)]
    assert batches == [(((0, 5),), ((0, 5), (1, 6))), ((), ((0, 5), (1, 6)))]
    limited = [tuple(row[-1] for row in rows) for rows in all_rows(state, requested, 0, 12)]
    assert limited == [(((0, 5),), ()), ((), ((0, 5),))]


# -- mirrors ------------------------------------------------------------------------------------

FIRST, SECOND = Batch(0, 1, 5), Batch(1, 1, 6)


def pair(wish: Wish, *states: str, log: Content = (), **fields_of_b: object) -> Pair:
    """Return cluster b with this wish and these states, and cluster a with two batches."""
    fields: dict[str, object] = {
        "exists": True,
        "is_log_known": False,
        "has_own_log": bool(log),
        "was_unblocked": True,
        **fields_of_b,
    }
    b = ClusterState(mirrors=frozenset({"m"}), wish=wish, states=frozenset(states), log=log, **fields)  # type: ignore[arg-type]
    return Pair(ClusterState(exists=True, log=(FIRST, SECOND)), b)


def logs(state: Pair, name: str = "b") -> set[Content]:
    return {content for content, _ in contents(with_reachable_states(state), name)}


@pytest.mark.parametrize("wish", list(OurWish))
@pytest.mark.parametrize("state", [state for state in MirrorState if state is not MirrorState.FAILED])
def test_kmirror_makes_only_transitions_of_the_model(wish: OurWish, state: MirrorState) -> None:
    wishes = {OurWish.MIRROR: Wish.MIRROR, OurWish.PAUSE: Wish.PAUSE, OurWish.REMOVE: Wish.REMOVE}
    after = with_reachable_states(pair(wishes[wish], state.name)).b.states
    assert NEXT_STATE[wish, state].name in after


def test_a_mirror_has_a_prefix_of_its_source_and_a_paused_one_does_not_grow() -> None:
    assert logs(pair(Wish.MIRROR, "MIRRORING")) == {(), (FIRST,), (FIRST, SECOND)}
    assert logs(pair(Wish.MIRROR, "MIRRORING", min_batches=1)) == {(FIRST,), (FIRST, SECOND)}
    assert logs(pair(Wish.PAUSE, "PAUSED", min_batches=1, is_paused=True)) == {(FIRST,)}


def test_a_stop_keeps_the_observed_records_and_ends_in_a_reset() -> None:
    stopped = pair(Wish.REMOVE, "STOPPED", min_batches=1)
    assert logs(stopped) == {
        (FIRST,), (FIRST, SECOND), (FIRST, Batch(1, 1, RESET)), (FIRST, SECOND, Batch(2, 1, RESET))
    }  # fmt: skip


def test_two_that_mirror_each_other_wait() -> None:
    state = pair(Wish.MIRROR, "MIRRORING")
    (mutual,) = add_topic(with_reachable_states(state._replace(a=replace(state.a, mirrors=frozenset({"m"})))), "a")
    assert "MIRRORING" not in with_reachable_states(mutual).a.states
    assert logs(mutual, "a") == {(FIRST, SECOND)}, "nothing is cut"
    ((_, removed),) = apply_order(with_reachable_states(mutual), "b", "RemoveTopicsFromMirror")
    assert "MIRRORING" in with_reachable_states(mutual.put("b", removed)).a.states


def test_an_existing_mirror_continues_after_a_pause() -> None:
    state = pair(Wish.PAUSE, "PAUSED", min_batches=2, has_own_log=False)
    (mutual,) = add_topic(with_reachable_states(state._replace(a=replace(state.a, mirrors=frozenset({"m"})))), "a")
    mutual = mutual.put("a", replace(mutual.a, states=frozenset({"PREPARING"})))
    ((_, resumed),) = apply_order(with_reachable_states(mutual), "b", "ResumeMirrorTopics")
    after = with_reachable_states(mutual.put("b", resumed))
    assert after.b.states == {"PAUSED", "MIRRORING"} and "MIRRORING" not in after.a.states


def test_a_mirror_waiting_for_the_other_stays_in_preparing() -> None:
    waiting = pair(Wish.PAUSE, "PREPARING", "MIRRORING", "PAUSED", log=(FIRST,), has_own_log=True)
    other = ClusterState(
        frozenset({"m"}), exists=True, wish=Wish.PAUSE, states=frozenset({"PAUSED"}), has_mirrored=True
    )
    (state,) = settle(waiting._replace(a=other))
    assert state.b.states == {"PREPARING", "PAUSED"}


def test_a_source_being_removed_has_its_own_log_until_it_is_truncated() -> None:
    removed = pair(Wish.REMOVE, "PREPARING", "STOPPING", log=(FIRST, SECOND), has_own_log=True, was_unblocked=False)
    other = ClusterState(
        frozenset({"m"}), exists=True, wish=Wish.MIRROR, states=frozenset({"MIRRORING"}), has_own_log=False,
        is_log_known=False, was_unblocked=True,
    )  # fmt: skip
    found = [
        after
        for content, after in contents(with_reachable_states(removed._replace(a=other)), "a")
        if content == (FIRST, SECOND)
    ]
    assert any("PREPARING" in after.b.states for after in found)


def test_the_last_mirrored_epoch_is_that_of_the_last_batch_before_the_reset() -> None:
    reset, own = Batch(1, 1, RESET), Batch(2, 1, 7)
    state = pair(
        Wish.REMOVE, "STOPPED", log=(FIRST, reset, own), is_log_known=True, has_mirrored=True, has_own_log=False
    )
    state = state.put("b", replace(state.b, described=frozenset({("b1", "m")})))
    describe = Step("admin", DescribeMirrorsRequest(mirror_names=["m"]), 0, "b1")
    described = [
        dict(each.values) for _, each in RESPONSES[DescribeMirrorsRequest](with_reachable_states(state), describe)
    ]
    fetch = Step("consumer", FetchRequest(), 12, "b1")
    fetched = [dict(each.values) for _, each in RESPONSES[FetchRequest](with_reachable_states(state), fetch)]
    (epoch,) = {values["last_mirrored"] for values in described if "last_mirrored" in values}
    (epochs,) = [values["epochs"] for values in fetched if "epochs" in values]
    assert epochs == (epoch, ANYTHING, epochs[2]) and epoch != epochs[2]


def test_symbols_of_leader_epochs_may_have_the_same_value() -> None:
    names = Config(NOTHING_SENT).names
    one, other = Symbol(0, "epoch of 5", is_unique=False), Symbol(1, "epoch of 6", is_unique=False)
    first = names.with_value(one, 3)
    assert first is not None and first.with_value(other, 3) is not None
    assert first.with_value(one, 4) is None
    named = names.with_value(Symbol(0), 3)
    assert named is not None and named.with_value(Symbol(1), 3) is None


def test_after_a_long_time_a_mirror_has_everything() -> None:
    (state,) = settle(pair(Wish.MIRROR, "UNKNOWN"))
    assert state.b.states == {"MIRRORING"}
    assert logs(state) == {(FIRST, SECOND)}


@pytest.mark.parametrize(
    ("wish", "order", "error"),
    [
        (Wish.PAUSE, "PauseMirrorTopics", ErrorCode.MIRROR_TOPIC_ALREADY_PAUSED),
        (Wish.REMOVE, "PauseMirrorTopics", ErrorCode.MIRROR_TOPIC_BEING_REMOVED),
        (Wish.MIRROR, "ResumeMirrorTopics", ErrorCode.MIRROR_TOPIC_NOT_PAUSED),
        (Wish.REMOVE, "RemoveTopicsFromMirror", ErrorCode.NONE),
    ],
)
def test_orders(wish: Wish, order: str, error: ErrorCode) -> None:
    assert [found for found, _ in apply_order(with_reachable_states(pair(wish, "PREPARING")), "b", order)] == [error]


def test_a_table_is_a_value() -> None:
    table = Table({"a": 1}).put("b", 2)
    assert table == Table({"b": 2, "a": 1}) and hash(table) == hash(Table({"b": 2, "a": 1}))
    assert dict(table.drop("a")) == {"b": 2} and len(table) == 2
    assert Table() != {}
