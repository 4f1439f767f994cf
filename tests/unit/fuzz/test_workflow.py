"""The models of fetch sessions and of mirrors agree with Kafka and with kmirror's decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.fuzz.sessions.fetch_model import (
    NOTHING,
    WIDE,
    Asked,
    Broker,
    Cache,
    Key,
    Log,
    Phase,
    all_rows,
    fetched,
    news,
)
from kmirror.fuzz.sessions.machine import ANYTHING, Call, Names, Outcome, Step, Symbol
from kmirror.fuzz.sessions.mirror_answers import ANSWERS
from kmirror.fuzz.sessions.mirror_model import (
    RESET,
    Batch,
    Content,
    Pair,
    Side,
    Wish,
    added,
    closed,
    contents,
    ordered,
    rested,
)
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


def broker(log: Log, told: tuple[int, int] = NOTHING, *, epoch: int = 1, slots: int = 5) -> Broker:
    cache = Cache(epoch, False, Table({KEY: Asked(0, WIDE)}), Table({KEY: told}))
    return Broker(Table(), Table({KEY: log}), Table({"t": Phase()}), Table({SESSION: cache}), (), slots)


def outcomes(state: Broker, request: FetchRequest, version: int = 12) -> list[Outcome[Broker]]:
    return list(fetched(state, Call(2, Step("one", request, version)), NoNames()))


def answers(found: list[Outcome[Broker]]) -> list[dict[str, object]]:
    return [dict(told.places) for outcome in found for told in outcome.answers.values()]


def going_on(epoch: int = 1, **fields: object) -> FetchRequest:
    return FetchRequest(session_id=7, session_epoch=epoch, max_bytes=WIDE, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "version", "error"),
    [
        (going_on(2), 12, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (going_on(-2), 12, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (FetchRequest(session_id=8, session_epoch=1), 12, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (going_on(), 13, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_a_request_that_does_not_fit_its_session(request_: FetchRequest, version: int, error: ErrorCode) -> None:
    state = broker(Log())
    (outcome,) = outcomes(state, request_, version)
    assert outcome.state == state
    assert answers([outcome]) == [{"error": error, "session": 0, "rows": ()}]


def test_a_session_response_has_only_changed_partitions() -> None:
    log = Log().appended(1, 70, 5)
    (first,) = answers(outcomes(broker(log), going_on()))
    assert first["rows"] == ((KEY, 0, 1, 1, 0, None, ((0, 5),)),)
    quiet = replace(log, batches=())
    assert answers(outcomes(broker(quiet, (1, 0)), going_on())) == [{"error": 0, "session": SESSION, "rows": ()}]
    (cut,) = answers(outcomes(broker(replace(quiet, start=1), (1, 0)), going_on()))
    assert cut["rows"] == ((KEY, ErrorCode.OFFSET_OUT_OF_RANGE, -1, -1, -1, None, ()),)


def test_a_partition_named_and_forgotten_is_forgotten() -> None:
    row = FetchPartition(partition=0, partition_max_bytes=WIDE)
    request = going_on(
        topics=[FetchTopic(topic="t", partitions=[row])],
        forgotten_topics_data=[ForgottenTopic(topic="t", partitions=[0])],
    )
    (outcome,) = outcomes(broker(Log(), (0, 0)), request)
    assert not outcome.state.sessions
    assert answers([outcome]) == [{"error": 0, "session": 0, "rows": ((KEY, 0, 0, 0, 0, None, ()),)}]


def test_a_full_cache_evicts_one_or_opens_none() -> None:
    row = FetchPartition(partition=0, partition_max_bytes=WIDE)
    request = FetchRequest(session_epoch=0, topics=[FetchTopic(topic="t", partitions=[row])])
    full = {frozenset(one.state.sessions) for one in outcomes(broker(Log(), slots=1), request)}
    made = Symbol(2, "session")
    assert full == {frozenset({SESSION}), frozenset({SESSION, made}), frozenset({made})}
    assert len(outcomes(broker(Log()), request)) == 2, "with room nobody is evicted"


def test_a_session_fetch_may_only_be_overtaken_by_a_concurrent_one() -> None:
    step = Step("one", going_on(), 12)
    first = Call(2, step)
    state = news(broker(Log().appended(1, 70, 5)), 2, SESSION, (), 12).state
    cache = state.sessions[SESSION]
    state = replace(state, sessions=state.sessions.put(SESSION, replace(cache, epoch=2)))
    next_step = Step("one", going_on(2), 12)
    alone = list(fetched(state, Call(3, next_step), NoNames()))
    both = list(fetched(state, Call(3, next_step, (first,)), NoNames()))
    assert [set(one.answers) for one in alone] == [{3}]
    assert [set(one.answers) for one in both] == [{3}, {2, 3}]
    assert dict(both[1].answers[2].places)["error"] == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_one_partition_gets_a_batch_despite_all_limits() -> None:
    log = Log().appended(1, 70, 5).appended(1, 70, 6)
    state = replace(broker(log), logs=Table({("t", 0): log, ("t", 1): log}), phases=Table({"t": Phase()}))
    asked: Table[Key, Asked] = Table({("t", 0): Asked(0, 0), ("t", 1): Asked(0, WIDE)})
    batches = [tuple(row[-1] for row in rows) for rows in all_rows(state, asked, WIDE, 12)]
    assert batches == [(((0, 5),), ((0, 5), (1, 6))), ((), ((0, 5), (1, 6)))]
    tight = [tuple(row[-1] for row in rows) for rows in all_rows(state, asked, 0, 12)]
    assert tight == [(((0, 5),), ()), ((), ((0, 5),))]


# -- mirrors ------------------------------------------------------------------------------------

FIRST, SECOND = Batch(0, 1, 5), Batch(1, 1, 6)


def pair(wish: Wish, *states: str, log: Content = (), **of_b: object) -> Pair:
    """Return cluster b with this wish and these states, and cluster a with two batches."""
    fields: dict[str, object] = {"exists": True, "is_settled": False, "has_own": bool(log), "was_free": True, **of_b}
    b = Side(mirrors=frozenset({"m"}), wish=wish, states=frozenset(states), log=log, **fields)  # type: ignore[arg-type]
    return Pair(Side(exists=True, log=(FIRST, SECOND)), b)


def logs(state: Pair, name: str = "b") -> set[Content]:
    return {content for content, _ in contents(closed(state), name)}


@pytest.mark.parametrize("wish", list(OurWish))
@pytest.mark.parametrize("state", [state for state in MirrorState if state is not MirrorState.FAILED])
def test_kmirror_makes_only_transitions_of_the_model(wish: OurWish, state: MirrorState) -> None:
    wishes = {OurWish.MIRROR: Wish.MIRROR, OurWish.PAUSE: Wish.PAUSE, OurWish.REMOVE: Wish.REMOVE}
    after = closed(pair(wishes[wish], state.name)).b.states
    assert NEXT_STATE[wish, state].name in after


def test_a_mirror_has_a_prefix_of_its_source_and_a_paused_one_does_not_grow() -> None:
    assert logs(pair(Wish.MIRROR, "MIRRORING")) == {(), (FIRST,), (FIRST, SECOND)}
    assert logs(pair(Wish.MIRROR, "MIRRORING", seen=1)) == {(FIRST,), (FIRST, SECOND)}
    assert logs(pair(Wish.PAUSE, "PAUSED", seen=1, is_still=True)) == {(FIRST,)}


def test_a_stop_keeps_the_observed_records_and_ends_in_a_reset() -> None:
    stopped = pair(Wish.REMOVE, "STOPPED", seen=1)
    assert logs(stopped) == {
        (FIRST,), (FIRST, SECOND), (FIRST, Batch(1, 1, RESET)), (FIRST, SECOND, Batch(2, 1, RESET))
    }  # fmt: skip


def test_two_that_mirror_each_other_wait() -> None:
    state = pair(Wish.MIRROR, "MIRRORING")
    (both,) = added(closed(state._replace(a=replace(state.a, mirrors=frozenset({"m"})))), "a")
    assert "MIRRORING" not in closed(both).a.states
    assert logs(both, "a") == {(FIRST, SECOND)}, "nothing is cut"
    ((_, removed),) = ordered(closed(both), "b", "RemoveTopicsFromMirror")
    assert "MIRRORING" in closed(both.put("b", removed)).a.states


def test_an_existing_mirror_continues_after_a_pause() -> None:
    state = pair(Wish.PAUSE, "PAUSED", seen=2, has_own=False)
    (both,) = added(closed(state._replace(a=replace(state.a, mirrors=frozenset({"m"})))), "a")
    both = both.put("a", replace(both.a, states=frozenset({"PREPARING"})))
    ((_, resumed),) = ordered(closed(both), "b", "ResumeMirrorTopics")
    after = closed(both.put("b", resumed))
    assert after.b.states == {"PAUSED", "MIRRORING"} and "MIRRORING" not in after.a.states


def test_a_mirror_waiting_for_the_other_stays_in_preparing() -> None:
    waiting = pair(Wish.PAUSE, "PREPARING", "MIRRORING", "PAUSED", log=(FIRST,), has_own=True)
    other = Side(frozenset({"m"}), exists=True, wish=Wish.PAUSE, states=frozenset({"PAUSED"}), was_fed=True)
    (state,) = rested(waiting._replace(a=other))
    assert state.b.states == {"PREPARING", "PAUSED"}


def test_a_source_being_removed_has_its_own_log_until_it_is_truncated() -> None:
    removed = pair(Wish.REMOVE, "PREPARING", "STOPPING", log=(FIRST, SECOND), has_own=True, was_free=False)
    other = Side(
        frozenset({"m"}), exists=True, wish=Wish.MIRROR, states=frozenset({"MIRRORING"}), has_own=False,
        is_settled=False, was_free=True,
    )  # fmt: skip
    found = [after for content, after in contents(closed(removed._replace(a=other)), "a") if content == (FIRST, SECOND)]
    assert any("PREPARING" in after.b.states for after in found)


def test_the_last_mirrored_epoch_is_that_of_the_last_batch_before_the_reset() -> None:
    reset, own = Batch(1, 1, RESET), Batch(2, 1, 7)
    state = pair(Wish.REMOVE, "STOPPED", log=(FIRST, reset, own), is_settled=True, was_fed=True, has_own=False)
    state = state.put("b", replace(state.b, described=frozenset({("b1", "m")})))
    question = Step("admin", DescribeMirrorsRequest(mirror_names=["m"]), 0, "b1")
    described = [dict(told.places) for _, told in ANSWERS[DescribeMirrorsRequest](closed(state), question)]
    fetch = Step("consumer", FetchRequest(), 12, "b1")
    read = [dict(told.places) for _, told in ANSWERS[FetchRequest](closed(state), fetch)]
    (epoch,) = {places["last_mirrored"] for places in described if "last_mirrored" in places}
    (epochs,) = [places["epochs"] for places in read if "epochs" in places]
    assert epochs == (epoch, ANYTHING, epochs[2]) and epoch != epochs[2]


def test_symbols_of_leader_epochs_may_have_the_same_value() -> None:
    names = Config(NOTHING).names
    one, other = Symbol(0, "epoch of 5", is_unique=False), Symbol(1, "epoch of 6", is_unique=False)
    first = names.with_value(one, 3)
    assert first is not None and first.with_value(other, 3) is not None
    assert first.with_value(one, 4) is None
    taken = names.with_value(Symbol(0), 3)
    assert taken is not None and taken.with_value(Symbol(1), 3) is None


def test_after_a_long_time_a_mirror_has_everything() -> None:
    (state,) = rested(pair(Wish.MIRROR, "UNKNOWN"))
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
    assert [found for found, _ in ordered(closed(pair(wish, "PREPARING")), "b", order)] == [error]


def test_a_table_is_a_value() -> None:
    table = Table({"a": 1}).put("b", 2)
    assert table == Table({"b": 2, "a": 1}) and hash(table) == hash(Table({"b": 2, "a": 1}))
    assert dict(table.drop("a")) == {"b": 2} and len(table) == 2
    assert Table() != {}
