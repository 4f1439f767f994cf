"""Excuses of checkers, one at a time: each applies to its own case, and to no similar one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from kmirror.histories.account import Ack, LogRow, ObservedLog, Transaction
from kmirror.histories.checkers import logs
from kmirror.histories.checkers.elections import was_lost_by_election
from kmirror.histories.checkers.facts import Facts, LogView
from kmirror.histories.checkers.groups import may_have_lost_shard
from kmirror.histories.checkers.keyed_records import KeyedRecord
from kmirror.histories.checkers.keys import APPENDED_WITHIN, _last_required_record
from kmirror.histories.checkers.reasons import reverse_sessions
from kmirror.histories.checkers.sessions import NEVER, NOBODY, MirrorSession, ServersChange
from kmirror.histories.checkers.transactions import _spans_session
from kmirror.histories.group_account import GroupAccount, LostCoordinatorLog, LostTransactions, SentOffset
from kmirror.histories.plan import Step
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Exit
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import GROUP_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC
from tests.sim.histories.test_planted_faults import OFTEN, by_hand, client

T0 = TopicPartition("t0", 0)


def mirroring_period(destination: str, source: str, began: int, ended: int) -> MirrorSession:
    return MirrorSession("m", source, destination, T0, began, began, began, began, ended, ended, -1)


def log_seen(at: int, *rows: tuple[int, str]) -> LogView:
    seen = tuple(LogRow(offset, 0, value, -1, True) for offset, value in rows)
    return LogView(ObservedLog("a", T0, 1, 0, 0, 100, 100, 100, seen, at))


def row(offset: int, value: str, crc: int = 0) -> LogRow:
    return LogRow(offset, 0, value, -1, True, crc)


def ack(value: str, offset: int, at: int, broker: int = 1) -> Ack:
    return Ack(value, "a", T0, offset, at, at, broker)


def facts_of(**known: object) -> Facts:
    return cast(Facts, SimpleNamespace(**known))


@pytest.mark.parametrize(
    ("pointings", "deleted", "counts"),
    [
        ([("c", 1), ("b", 5)], NEVER, False),
        ([("b", 1), ("c", 5)], NEVER, True),
        ([(NOBODY, 1), ("b", 5)], NEVER, True),
        ([("c", 1), ("b", 5)], 3, True),
        ([("c", 1), ("b", 5)], 15, False),
        ([("c", 25)], NEVER, True),
        ([("b", 1)], NEVER, True),
        ([], NEVER, True),
    ],
)
def test_a_mirror_that_pointed_elsewhere_first_is_no_stay_back(
    pointings: list[tuple[str, int]], deleted: int, counts: bool
) -> None:
    """It belongs to the first cluster (D16), unless it was deleted since, or that one does not exist."""
    back = mirroring_period("a", "b", 10, 20)
    elsewhere = [
        ServersChange("a", "n", "c", 0, True),
        ServersChange("b", "m", "c", 0, True),
    ]  # Neither is this mirror.
    facts = facts_of(
        sessions=lambda place: [back] if place == ("a", T0) else [],
        servers_changes=[*elsewhere, *(ServersChange("a", "m", to, at, True) for to, at in pointings)],
        may_have_deleted_mirror=lambda cluster, mirror, begin, end: begin <= deleted <= end,
    )
    assert reverse_sessions(facts, mirroring_period("b", "a", 30, NEVER)) == ([back] if counts else [])


@pytest.mark.parametrize(
    ("lost_at", "readable_at", "written_to", "held_after", "spans"),
    [
        (15, 25, "a", False, True),
        (15, 25, "a", True, False),  # It was still there after the stay: another event removed it.
        (15, 18, "a", False, False),  # Both were written before the stay ended.
        (21, 25, "a", False, False),  # Both were written after it.
        (20, 25, "a", False, False),
        (15, 20, "a", False, True),
        (15, 25, "b", False, False),  # The stay is another cluster's.
    ],
)
def test_half_of_a_transaction_is_excused_if_a_stay_ended_between(
    lost_at: int, readable_at: int, written_to: str, held_after: bool, spans: bool
) -> None:
    after = log_seen(20, (5, "lost")) if held_after else log_seen(20, (9, "other"))
    facts = facts_of(
        writing_cluster=lambda value: written_to,
        first_acks={
            (written_to, "lost"): ack("lost", 5, lost_at),
            (written_to, "readable"): ack("readable", 7, readable_at),
        },
        sessions=lambda place: [mirroring_period("a", "b", 10, 20)] if place[0] == "a" else [],
        view_after=lambda place, at: after,
    )
    assert _spans_session(facts, T0, "readable", "lost") is spans


@pytest.mark.parametrize(
    ("acknowledged", "lost"),
    [
        (ack("v", 5, 30), False),
        (ack("v", 8, 30), True),  # Its second copy is elsewhere: the first one is lost.
        (ack("v", 5, 9), True),  # Before the election.
        (ack("v", 5, 30, broker=2), True),  # By a leader that was deposed.
    ],
)
def test_an_ack_after_an_unclean_election_shows_its_own_offset(acknowledged: Ack, lost: bool) -> None:
    place = ("a", T0)
    facts = facts_of(
        unclean_leader_views=lambda *_: iter([log_seen(10, (0, "other"))]),
        first_acks={("a", "v"): acknowledged},
        leader_at=lambda *_: 1,
        views={},
    )
    assert was_lost_by_election(facts, place, "v", 5, 40, 50) is lost


@pytest.mark.parametrize(
    ("offset", "sent_at", "counts"),
    [
        (-1, 100 - APPENDED_WITHIN, False),
        (-1, 99 - APPENDED_WITHIN, True),
        (6, 200, False),
        (4, 200, True),
    ],
)
def test_an_unconfirmed_tombstone_suppresses_findings_below_it(offset: int, sent_at: int, counts: bool) -> None:
    tombstone = KeyedRecord(offset, "gone", -1, True, sent_at, sent_at, is_certain=False)
    row = KeyedRecord(5, "v", 0, False, 100, 100, is_certain=True)
    found = _last_required_record(facts_of(), ("a", T0), log_seen(300, (5, "v")), sorted([tombstone, row]), [])
    assert found == (row if counts else None)


@pytest.mark.parametrize(
    ("here", "differs"),
    [
        ([row(0, "x"), row(1, "y"), row(2, "z")], False),
        ([row(0, "x"), row(1, "y", crc=9), row(2, "z")], False),  # The cleaner rewrote the batch.
        ([row(0, "x"), row(1, "other"), row(2, "z")], True),
        ([row(0, "x"), row(2, "other")], False),  # It was cleaned: the rest is no prefix.
        ([row(1, "other"), row(2, "z")], False),
    ],
)
def test_a_stop_is_judged_where_nothing_was_cleaned(
    here: list[LogRow], differs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "is_compacted", lambda *_: True)
    there = [row(0, "x"), row(1, "y"), row(2, "z")]
    ours, theirs = (LogView(ObservedLog("b", T0, 1, 0, 0, 3, 3, 3, tuple(rows), 20)) for rows in (here, there))
    stopped = replace(mirroring_period("b", "a", 10, 20), last_mirror_epoch=0)
    facts = facts_of(
        views={("b", T0): [ours]},
        view_after=lambda place, at: theirs,
        sessions=lambda place: [stopped] if place[0] == "b" else [],
        was_deleted=lambda *_: False,
    )
    assert [found.offset for found in logs._difference_at_stop(facts, ("b", T0), stopped)] == ([1] if differs else [])


@pytest.mark.parametrize(
    ("topic", "lost", "excused"),
    [
        (GROUP_TOPIC, [], True),
        (TRANSACTION_TOPIC, [], False),  # Its new leader lacked nothing.
        (TRANSACTION_TOPIC, [("a", {7: 50})], True),
        (TRANSACTION_TOPIC, [("a", {8: 50})], False),  # A producer that commits nothing for the group.
        (TRANSACTION_TOPIC, [("b", {7: 50})], False),
        (TRANSACTION_TOPIC, [("a", {7: 250})], False),  # The lost records are younger.
    ],
)
def test_an_election_of_a_coordinator_excuses_the_groups_that_it_lost(
    topic: str, lost: list[tuple[str, dict[int, int]]], excused: bool
) -> None:
    sent = SentOffset("token", "g", "a", T0, 5, "m", "", -1, "t/1", 10)
    groups = GroupAccount(
        sent_offsets={"token": sent},
        lost_logs=[LostCoordinatorLog("a", TopicPartition(topic, 0), 100)],
        transactions_lost=[LostTransactions(cluster, producers, 150) for cluster, producers in lost],
    )
    account = SimpleNamespace(
        groups=groups,
        transactions={"t/1": Transaction("t/1", "a", ["v"])},
        writes={"v": SimpleNamespace(producer_id=7)},
    )
    facts = facts_of(account=account, clocks_differ_by=0)
    assert may_have_lost_shard(facts, "a", "g", 90, 200) is excused
    assert not may_have_lost_shard(facts, "a", "other", 90, 200) or topic == GROUP_TOPIC


@pytest.mark.decision("D8")
@pytest.mark.decision("D45")
@pytest.mark.parametrize("is_stopped", [False, True])
def test_mirror_states_are_lost_with_their_topic(is_stopped: bool) -> None:
    """Restarted brokers find neither the last mirrored epochs nor the lineages."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = [OFTEN, Step(100, "create_mirror", there), Step(200, "add", there)]
    steps += [Step(4_000, "remove", there)] if is_stopped else []
    steps.append(Step(7_000, "delete_topic", {"cluster": "b", "topic": MIRROR_STATE_TOPIC}))
    steps.append(Step(9_500, "kill_broker", {"cluster": "b", "broker": 1, "for_ms": 700}))
    outcome = run_history(by_hand(steps, [client("p0", "plain")], clusters="ab", brokers=1))
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
