"""Markers missing at a leader of a compacted topic: transactions that it treats as committed, aborted or open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.histories.account import LogRow, ObservedCut
from kmirror.histories.checkers.elections import POWER, UNCLEAN
from kmirror.histories.checkers.reasons import MARKERS_CLEANED
from tests.unit.histories.hand import TP, Hand, row

PRODUCER = 7
FIRST, SECOND = "t/1", "t/2"


def keyed(offset: int, value: str, key: str, *, visible: bool = True) -> LogRow:
    return replace(row(offset, value, pid=PRODUCER, visible=visible), key=key)


def two_transactions(first: str, second: str, *, key: str = "k0", policy: str = "compact") -> Hand:
    """Let a producer end two transactions of one record each, as given."""
    hand = Hand()
    for name, value in (("cleanup.policy", policy), ("delete.retention.ms", "20000")):
        hand.order("alter_topic", "", "a", at=0, args={"name": name, "value": value})
    hand.transaction(FIRST, "one", asked=first).transaction(SECOND, "two", asked=second)
    for value, offset, at, its_key in (("one", 1, 9, "k0"), ("two", 3, 45, key)):
        hand.wrote(value, offset, at=at, pid=PRODUCER, transaction=SECOND if offset == 3 else FIRST)
        hand.account.writes[value] = replace(hand.account.writes[value], key=its_key)
    return hand


END = {"commit": row(4, f"<COMMIT {PRODUCER}>", pid=PRODUCER), "abort": row(4, f"<ABORT {PRODUCER}>", pid=PRODUCER)}


@pytest.mark.parametrize(
    ("begin", "end", "leader", "policy", "expected"),
    [
        (10, 40, 2, "compact", []),
        (10, 29, 2, "compact", ["aborted-read"]),
        (10, 40, 3, "compact", ["aborted-read"]),
        (10, 40, 2, "delete", ["aborted-read"]),
    ],
    ids=["away", "not for long enough", "another leader", "not compacted"],
)
def test_a_leader_that_missed_an_abort_applies_the_producers_next_commit(
    begin: float, end: float, leader: int, policy: str, expected: list[str]
) -> None:
    hand = two_transactions("abort", "commit", key="k1", policy=policy).away("broker", "a-2", begin, end)
    hand.elected(leader, 1, at=50).read("one", 1, at=60)
    hand.final("a", [keyed(1, "one", "k0"), keyed(3, "two", "k1"), END["commit"]])
    assert hand.found() == expected
    assert hand.accepted().get(MARKERS_CLEANED, 0) == (not expected)


def test_a_leader_cannot_have_missed_ends_written_after_its_return() -> None:
    hand = two_transactions("abort", "commit", key="k1").away("broker", "a-2", 10, 40).elected(2, 1, at=50)
    hand.account.writes["one"] = replace(hand.account.writes["one"], sent_at=hand.account.writes["two"].sent_at)
    assert hand.read("one", 1, at=60).found() == ["aborted-read"]


@pytest.mark.parametrize(("key", "expected"), [("k0", []), ("k1", ["acked-lost"])])
def test_a_leader_that_missed_a_commit_may_hide_superseded_records_only(key: str, expected: list[str]) -> None:
    """A marker is removed once no record of its transaction is left."""
    hand = two_transactions("commit", "abort").away("broker", "a-2", 10, 40).wrote("later", 2, at=30)
    hand.account.writes["later"] = replace(hand.account.writes["later"], key=key)
    first, later = keyed(1, "one", "k0"), replace(row(2, "later"), key=key)
    hand.look("a", [first], at=9.5).elected(2, 1, at=50)
    hand.final("a", [replace(first, visible=False), later, keyed(3, "two", "k0", visible=False), END["abort"]])
    assert hand.found() == expected
    assert hand.accepted().get(MARKERS_CLEANED, 0) == (not expected)


@pytest.mark.parametrize(("first", "expected"), [(None, []), ("one", []), ("alien", ["hanging-transaction"])])
def test_a_transaction_whose_marker_was_missed_stays_open_without_its_first_record(
    first: str | None, expected: list[str]
) -> None:
    """Cleaned records were decided, so there was a marker."""
    hand = two_transactions("abort", "abort").away("broker", "a-1", 10, 40)
    hand.account.acks.clear()
    found = [] if first is None else [replace(row(1, first, visible=False), key="k0")]
    hand.final("a", [*found, replace(row(2, "more", visible=False), key="k2")], stable=1)
    assert hand.found() == expected


def left_open(heir: list[LogRow], *after: LogRow, policy: str = "compact", power: bool = False) -> Hand:
    """Let a leader begin with a log; later records come soon enough for a marker to be kept."""
    hand = two_transactions("commit", "abort", key="k1", policy=policy)
    if power:
        hand.power_lost(1, heir, at=31, end=3)
    else:
        hand.elected(2, 50, at=30, unclean=True).heir("a", heir, at=31)
    return hand.look("a", [row(0, "<COMMIT 7>", pid=PRODUCER), *after], at=48)


ONE, COMMIT = keyed(1, "one", "k0"), row(2, f"<COMMIT {PRODUCER}>", pid=PRODUCER)


@pytest.mark.parametrize("power", [False, True])
def test_records_committed_by_a_lost_marker_are_cleaned_after_the_next_abort(power: bool) -> None:
    hand = left_open([ONE], END["abort"], power=power)
    assert hand.final("a", [END["abort"]]).found() == []
    assert hand.accepted() == {POWER if power else UNCLEAN: 1}


@pytest.mark.parametrize(
    ("heir", "after", "policy", "expected"),
    [
        ([ONE, COMMIT], [END["abort"]], "compact", ["acked-lost", "key-lost"]),
        ([ONE], [END["commit"]], "compact", ["acked-lost", "key-lost"]),
        ([ONE], [], "compact", ["acked-lost", "key-lost"]),
        ([ONE], [END["abort"]], "delete", ["acked-lost"]),
        ([ONE], [row(1, "alien"), END["abort"]], "compact", ["acked-lost", "key-lost"]),
    ],
    ids=["marker kept", "committed again", "shorter", "not compacted", "overwritten"],
)
def test_a_lost_marker_does_not_explain_records_that_no_cleaner_may_remove(
    heir: list[LogRow], after: list[LogRow], policy: str, expected: list[str]
) -> None:
    hand = left_open(heir, *after, policy=policy).final("a", [END["abort"]])
    assert hand.found() == expected


def test_a_lost_marker_does_not_explain_truncated_records() -> None:
    hand = left_open([ONE], END["abort"])
    hand.account.cuts.append(ObservedCut("a", TP, 2, 1, 3, "", hand.account.logs[0].at - 1))
    assert hand.final("a", [END["abort"]]).found() == ["acked-lost", "key-lost"]


@pytest.mark.parametrize(("marker_due", "expected"), [(True, []), (False, ["acked-lost", "key-lost"])])
def test_a_marker_that_aborted_it_may_have_been_cleaned_too(marker_due: bool, expected: list[str]) -> None:
    hand = left_open([ONE], END["commit"])
    if marker_due:
        hand.account.logs.clear()
    assert hand.final("a", [END["commit"]]).found() == expected


def test_a_lost_marker_does_not_explain_records_that_were_readable_since() -> None:
    hand = left_open([ONE], END["abort"]).look("a", [ONE, COMMIT], at=32)
    assert hand.final("a", [END["abort"]]).found() == ["acked-lost", "key-lost"]
