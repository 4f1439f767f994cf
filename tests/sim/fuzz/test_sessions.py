"""Sessions: possible responses, the effect of disorder, and kmirror's agreement with the models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.sessions import session as sessions
from kmirror.fuzz.sessions.group_model import Group, Join, join
from kmirror.fuzz.sessions.machine import (
    ANYTHING,
    Bag,
    Call,
    Expected,
    Names,
    OneOf,
    Outcome,
    Rule,
    Step,
    Symbol,
    World,
    expected,
)
from kmirror.fuzz.sessions.rows import MACHINES
from kmirror.fuzz.sessions.session import Disorder, RandomChoices, Session
from kmirror.fuzz.sessions.state_set import Names as Known
from kmirror.fuzz.sessions.state_set import StateSet, unify
from kmirror.fuzz.sessions.transaction_model import Batch, Log, State, Transaction, Writer, may_be_out_of_order
from kmirror.fuzz.stream import BLOCK_FRAMES
from kmirror.fuzz.target import TAKEN
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.headers import encode_response_chunks
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.testing.machines import state_machine


class Counter:
    """A machine with one number: a Heartbeat adds one, and returns the sum; at 3 and above it waits."""

    name = "counter"
    stale_fields = frozenset({"generation_id"})

    def __init__(self) -> None:
        self.rules: tuple[Rule[list[int]], ...] = (Rule("beat", 1, lambda known, choose: beat(len(known) + 1)),)

    def begin(self, world: World) -> tuple[list[int], int]:
        return [], 0

    def outcomes(self, state: int, call: Call, names: Names) -> Iterable[Outcome[int]]:
        yield Outcome(state + 1, {call.number: expected(sum=state + 1)} if state < 3 else {})

    def autonomous_outcomes(self, state: int) -> Iterable[Outcome[int]]:
        return ()

    def read(self, known: list[int], step: Step, response: Message) -> Mapping[str, Any]:
        assert isinstance(response, HeartbeatResponse)
        return {"sum": response.error_code}

    def learn(self, known: list[int], step: Step, response: Message) -> None:
        known.append(0)

    def last_steps(self, known: list[int]) -> Iterator[Step]:
        yield beat(0)


def beat(generation: int) -> Step:
    return Step("one", HeartbeatRequest(group_id="g", generation_id=generation), 4)


class Scripted:
    """A broker with the test's responses, request by request; None is no response."""

    moves_time = False
    short_s = long_s = 0.0

    def __init__(self, *responses: int | None) -> None:
        self.responses = list(responses)
        self.sent: list[bytes] = []
        self.cuts: list[int] = []

    def send(self, frame: bytes, broker: str = "") -> int:
        self.sent.append(frame)
        return len(self.sent) - 1

    def take(self, ticket: int, within_s: float) -> bytes | None:
        response = self.responses[ticket]
        if response is None:
            return None
        correlation_id = int.from_bytes(self.sent[ticket][4:8], "big")
        return b"".join(
            encode_response_chunks(HeartbeatResponse(error_code=response), 4, correlation_id=correlation_id)
        )

    def cut(self, ticket: int) -> None:
        self.cuts.append(ticket)

    def pause(self, seconds: float) -> None:
        pass

    def wait_briefly(self) -> None:
        pass

    def close(self) -> None:
        pass


def make_session(*responses: int | None) -> Session:
    return Session(Counter(), Scripted(*responses), "s")


def follow(session: Session, disorder: Disorder) -> None:
    session.run_rule(session.machine.rules[0], disorder, RandomChoices(Random(1).random))


def test_responses_in_order_are_right() -> None:
    session = make_session(1, 2, 3)
    for _ in range(2):
        follow(session, Disorder.NONE)
    session.end()
    assert session.story[-1] == "   3 is answered: sum 3"


def test_a_wrong_response_is_reported_with_the_possible_ones() -> None:
    session = make_session(1, 3)
    follow(session, Disorder.NONE)
    with pytest.raises(Fault) as found:
        follow(session, Disorder.NONE)
    assert (found.value.kind, found.value.cause) == (FaultKind.DIFFERS, "counter: Heartbeat: sum")
    assert found.value.description == "one: Heartbeat v4: sum 3; it may be sum 2"
    assert found.value.story[0].startswith("1: one: Heartbeat v4")


def test_two_at_once_may_act_in_either_order_but_not_both_first() -> None:
    for responses, is_right in (((1, 2), True), ((2, 1), True), ((1, 1), False), ((2, 2), False)):
        session = make_session(*responses)
        if is_right:
            follow(session, Disorder.TWICE)
            continue
        with pytest.raises(Fault):
            follow(session, Disorder.TWICE)


def test_when_much_is_possible_requests_are_sent_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_session(1, 2, 3)
    follow(session, Disorder.LATE)
    monkeypatch.setattr(sessions, "_ONE_AT_A_TIME_FROM", 0)
    follow(session, Disorder.TWICE)
    follow(session, Disorder.LATE)
    lines = [line for line in session.story if "answered" in line]
    assert lines == [f"   {number} is answered: sum {number}" for number in (1, 2, 3)]


def test_an_interrupted_request_may_have_acted_or_not() -> None:
    for sum_ in (1, 2):
        session = make_session(None, sum_)
        follow(session, Disorder.CUT)
        follow(session, Disorder.NONE)
    session = make_session(None, 3)
    follow(session, Disorder.CUT)
    with pytest.raises(Fault):
        follow(session, Disorder.NONE)


def test_a_request_interrupted_long_ago_no_longer_acts() -> None:
    possible: StateSet[int] = StateSet.initial(Counter(), 0)
    possible.add_call(Call(1, beat(0)))
    possible.lose(1)
    possible.settle(1)
    assert sorted(config.state for config in possible.configs) == [0, 1]
    possible.add_call(Call(2, beat(0)))
    assert possible.apply_response(2, {"sum": 1}) is None
    possible.add_call(Call(3, beat(0)))
    assert possible.apply_response(3, {"sum": 3}) is not None


def test_a_missing_response_is_a_finding_unless_it_may_wait() -> None:
    session = make_session(1, None)
    follow(session, Disorder.NONE)
    with pytest.raises(Fault) as found:
        follow(session, Disorder.NONE)
    assert found.value.kind is FaultKind.SILENT
    session = make_session(1, 2, 3, None, None)
    for _ in range(4):
        follow(session, Disorder.NONE)  # The fourth waits for ever.
    session.end()


def test_a_field_is_made_old() -> None:
    session = make_session(1, 2, 3)
    follow(session, Disorder.NONE)
    follow(session, Disorder.NONE)
    follow(session, Disorder.STALE_FIELD)
    assert "(with an earlier value)" in session.story[4] and "generation_id=3" not in session.story[4]


NAMES = Known(frozenset({(Symbol(1), "m")}))


@pytest.mark.parametrize(
    ("allowed", "observed", "count"),
    [
        (ANYTHING, 5, 1),
        (OneOf(frozenset({1, 2})), 2, 1),
        (OneOf(frozenset({1, 2})), 3, 0),
        (Symbol(1), "m", 1),
        (Symbol(1), "n", 0),
        (Symbol(2), "m", 0),
        (Symbol(2), "n", 1),
        ((1, Symbol(2)), (1, "n"), 1),
        ((1, 2), (1,), 0),
        (Bag((1, 2)), (2, 1), 1),
        (Bag((Symbol(2), Symbol(3))), ("n", "o"), 2),
        (Bag((Symbol(1), Symbol(3))), ("n", "m"), 1),
        (Bag((1, 1)), (1, 2), 0),
    ],
)
def test_expectations_are_compared_field_by_field(allowed: object, observed: object, count: int) -> None:
    assert len(set(unify(Expected((("here", allowed),)), {"here": observed}, NAMES))) == count


@pytest.mark.parametrize("name", [row.name for row in MACHINES])
def test_kmirror_agrees_with_the_model(name: str) -> None:
    target, source = open_target("sessions", TargetOptions(seed=4, machines=(name,)))
    with closing(target):
        campaign = Campaign(target, source, shrinks=False)
        for frame in source.block(0)[:12]:
            campaign.put(frame)
    assert not campaign.tally.findings
    assert campaign.tally.taken == 12  # And none is lost.


@pytest.mark.parametrize(
    ("name", "numbers"), [("groups", (43, 76, 201)), ("transactions", (4, 15, 45)), ("fetches", (35,))]
)
def test_sessions_in_which_much_becomes_possible_are_judged_to_their_end(name: str, numbers: tuple[int, ...]) -> None:
    target, source = open_target("sessions", TargetOptions(seed=3, machines=(name,)))
    with closing(target):
        outcomes = [target.judge(source.block(number // BLOCK_FRAMES)[number % BLOCK_FRAMES]) for number in numbers]
    assert outcomes == [TAKEN] * len(numbers)


def test_the_order_of_two_joins_decides_only_the_leader() -> None:
    protocols = (("range", b"\0\0\0\0\0\0"),)
    joins = [Join(call, 3, None, True, None, "consumer", protocols) for call in (1, 2, 3)]
    (first,) = [group for group, _ in join(Group(), joins[0])]
    found = []
    for order in ((1, 2), (2, 1)):
        group = first
        for place in order:
            ((group, _),) = join(group, joins[place])
        found.append(group)
    assert found[0] == found[1] and len(found[0].members) == 3


def test_kafka_may_fail_for_an_assigned_member_id_with_an_instance_id() -> None:
    protocols = (("range", b"\0\0\0\0\0\0"),)
    group, reset = Group(), Symbol(2, "member id")
    for call, instance in ((1, "i"), (2, None)):
        ((group, _),) = join(group, Join(call, 6, None, True, instance, "consumer", protocols))
    for instance, error in (("i", ErrorCode.FENCED_INSTANCE_ID), ("j", ErrorCode.UNKNOWN_MEMBER_ID)):
        either = OneOf(frozenset({error, ErrorCode.UNKNOWN_SERVER_ERROR}))
        for id_, error_class in ((reset, either), (Symbol(9), error)):
            (outcome,) = join(group, Join(3, 6, id_, False, instance, "consumer", protocols))
            assert outcome == (group, {3: expected(error=error_class)})


def test_a_first_batch_may_be_rejected_while_an_earlier_one_may_arrive_again() -> None:
    producer = Symbol(1)
    batch = Batch("x", "0", producer, 0, adds_partition=False, sequence=3)
    for is_open in (False, True):
        log = Log("0", (Writer(producer, 0, (1, 2), is_open=is_open),))
        state = State((("x", Transaction(producer)),), (("0", log),), bumps_epoch=False)
        assert may_be_out_of_order(state, batch) is not is_open


def test_a_session_is_named_by_its_bytes() -> None:
    target, source = open_target("sessions", TargetOptions(seed=4, machines=("groups",)))
    frame = source.block(0)[1]
    assert source.block(0)[1] == frame and len(frame.data) % 8 == 0
    assert target.judge(frame) == target.judge(frame)
    assert target.judge(frame._replace(data=b"")) == "taken"


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean groups"):
        open_target("sessions", TargetOptions(machines=("group",)))
    with pytest.raises(UsageError, match="not loopback"):
        state_machine("groups", bootstrap_server="8.8.8.8:9092")


@pytest.mark.parametrize("name", ["groups", "transactions"])
def test_hypothesis_holds_sessions(name: str) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run = settings(max_examples=4, stateful_step_count=8, deadline=None, suppress_health_check=checks, database=None)
    run_state_machine_as_test(state_machine(name), settings=run)
