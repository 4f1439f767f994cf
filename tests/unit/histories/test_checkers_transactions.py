"""Checkers of transactions and producers: findings, and cases that are not findings."""

from __future__ import annotations

import pytest

from kmirror.histories.group_account import LostCoordinatorLog
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from tests.unit.histories.hand import Hand, row

T0, T1 = row(0, "t0", pid=7), row(1, "t1", pid=7)
COMMIT, ABORT = row(2, "<COMMIT 7>", pid=7, visible=False), row(2, "<ABORT 7>", pid=7, visible=False)


def transaction(asked: str = "commit", *, answered: bool = True) -> Hand:
    hand = Hand().transaction("t/1", "t0", "t1", asked=asked, answered=answered)
    return hand.wrote("t0", 0, transaction="t/1", pid=7).wrote("t1", 1, transaction="t/1", pid=7)


# -- half-transaction -----------------------------------------------------------------------------


def test_a_complete_transaction_is_not_reported() -> None:
    assert transaction().final("a", [T0, T1, COMMIT]).found() == []


def test_a_half_transaction_readable_in_a_mirror_is_reported() -> None:
    hand = transaction().final("a", [T0, T1, COMMIT]).look("b", [T0, row(1, "<MIRROR_PID_RESET -1>", epoch=1)], at=20)
    assert hand.found() == ["half-transaction"]


def test_an_aborted_half_is_not_reported() -> None:
    hand = transaction().final("a", [T0, T1, COMMIT])
    hand.look("b", [row(0, "t0", pid=7, visible=False), row(1, "<ABORT 7>", pid=7, epoch=1)], at=20)
    assert hand.found() == []


def test_a_partly_hidden_transaction_is_reported() -> None:
    hand = transaction(answered=False).final("a", [T0, row(1, "t1", pid=7, visible=False), COMMIT])
    assert hand.found() == ["half-transaction"]


def test_records_above_the_high_watermark_are_not_missing() -> None:
    assert transaction().look("a", [T0], at=5, high=1, end=3).final("a", [T0, T1, COMMIT]).found() == []


@pytest.mark.parametrize(("written_at", "expected"), [(1, []), (4, ["half-transaction"])])
def test_a_half_deleted_by_retention_is_not_reported(written_at: float, expected: list[str]) -> None:
    """Its age counts from the creation of the record, not from a late acknowledgement."""
    hand = Hand().transaction("t/1", "t0", "t1").wrote("t0", 0, transaction="t/1", pid=7, at=written_at, retried=6)
    hand.wrote("t1", 1, transaction="t/1", pid=7, at=6)
    hand.order("alter_topic", "", "a", at=0, args={"name": "retention.ms", "value": "5000"})
    hand.final("a", [row(1, "t1", pid=7), row(2, "<COMMIT 7>", pid=7, visible=False)], at=8, start=1)
    assert [name for name in hand.found() if name == "half-transaction"] == expected


def test_a_half_in_a_former_topic_is_not_reported() -> None:
    hand = Hand().transaction("t/1", "t0", "t1").wrote("t0", 0, transaction="t/1", pid=7, at=1)
    hand.topic("a", "old", at=5, exists=False).topic("a", "new", at=6).wrote("t1", 0, transaction="t/1", pid=7, at=8)
    hand.final("a", [row(0, "t1", pid=7), row(1, "<COMMIT 7>", pid=7, visible=False)])
    assert hand.found() == [] and hand.accepted() == {"topic deleted": 2}


def spanning() -> Hand:
    """t0 was written before a session in a mirror, t1 after it; the commit came at the end."""
    hand = Hand().transaction("t/1", "t0", "t1", asked="commit", answered=True)
    hand.wrote("t0", 0, transaction="t/1", pid=7, at=1).wrote("t1", 1, transaction="t/1", pid=7, at=30)
    return hand.stay("b", "a", began=10, removed=20, stopped=21)


@pytest.mark.decision("D44")
def test_a_transaction_that_spans_a_session_may_be_half() -> None:
    """Also if the session truncated and was stopped before it reached MIRRORING."""
    hand = spanning().look("a", [], at=22).final("a", [row(0, "<MIRROR_PID_RESET -1>", epoch=1), T1, COMMIT])
    assert "half-transaction" not in hand.found()
    assert hand.accepted()["D44"] == 1


@pytest.mark.decision("D44")
def test_a_half_transaction_after_the_session_is_reported() -> None:
    hand = spanning().look("a", [T0], at=22).final("a", [row(0, "else"), T1, COMMIT])
    assert "half-transaction" in hand.found()


def test_an_unclean_election_may_leave_a_half() -> None:
    hand = transaction(answered=False).elected(2, 1, at=4, unclean=True).final("a", [T0, row(1, "<COMMIT 7>", pid=7)])
    assert hand.found() == []
    assert hand.accepted()["unclean election"] >= 1


# -- aborted-read ---------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["abort", ""])
def test_a_consumer_that_reads_uncommitted_records_is_reported(asked: str) -> None:
    hand = transaction(asked).read("t0", 0, at=5)
    hidden = [row(0, "t0", pid=7, visible=False), row(1, "t1", pid=7, visible=False), ABORT]
    assert hand.final("a", hidden).found() == ["aborted-read"]


def test_a_read_uncommitted_consumer_may_see_it() -> None:
    hidden = [row(0, "t0", pid=7, visible=False), row(1, "t1", pid=7, visible=False), ABORT]
    assert transaction("abort").read("t0", 0, at=5, committed=False).final("a", hidden).found() == []


def test_a_log_that_shows_an_aborted_transaction_as_committed_is_reported() -> None:
    assert transaction("abort").final("a", [T0, T1, ABORT]).found() == ["aborted-read"]


@pytest.mark.parametrize(
    ("unclean", "elected_at", "line", "expected"),
    [
        (True, 0.5, "a-1|a-100", []),
        (True, 0.5, "a-1|a-2", ["aborted-read"]),
        (True, 1.5, "a-1|a-100", ["aborted-read"]),
        (False, 0.5, "a-1|a-100", ["aborted-read"]),
    ],
    ids=["unaware", "hears of it", "elected later", "elected cleanly"],
)
def test_an_uncleanly_deposed_leader_may_lose_the_marker(
    unclean: bool, elected_at: float, line: str, expected: list[str]
) -> None:
    """The producer's next transaction, which is committed, includes this one."""
    hand = transaction("abort").elected(2, 1, at=elected_at, unclean=unclean).away("line", line, 0, 3)
    assert hand.final("a", [T0, T1, COMMIT]).found() == expected


def test_a_transaction_whose_commit_got_no_response_may_be_seen() -> None:
    assert transaction(answered=False).read("t0", 0, at=5).final("a", [T0, T1, COMMIT]).found() == []


# -- hanging-transaction --------------------------------------------------------------------------


def test_a_stalled_last_stable_offset_is_reported() -> None:
    assert transaction("abort").final("a", [T0, T1], stable=0).found() == ["hanging-transaction"]


def test_a_mirror_is_not_blamed_for_open_transactions_of_its_source() -> None:
    hand = transaction("abort").stay("a", "b", began=5, mirroring=6)
    hidden = [row(0, "t0", pid=7, visible=False), row(1, "t1", pid=7, visible=False), ABORT]
    assert hand.final("a", hidden).final("b", hidden, stable=0).found() == []


def test_after_the_stop_it_is_this_clusters_own() -> None:
    hand = transaction("abort").stay("a", "b", began=5, mirroring=6, removed=7, stopped=8)
    assert hand.final("b", [T0, T1], stable=0).found() == ["hanging-transaction"]


@pytest.mark.decision("D8")
@pytest.mark.parametrize(("lost_at", "elected_at"), [(6, 7), (7, 6), (9, 10)], ids=["unknown", "known", "later"])
def test_a_stop_by_a_leader_elected_after_the_states_were_lost_reverts_nothing(lost_at: int, elected_at: int) -> None:
    hand = transaction("abort").stay("a", "b", began=1, mirroring=2, removed=7, stopped=8)
    hand.state("b", "STOPPED", at=8).elected(2, 3, at=elected_at, cluster="b")
    lost = LostCoordinatorLog("b", TopicPartition(MIRROR_STATE_TOPIC, 0), lost_at * SECOND)
    hand.account.groups.lost_logs.append(lost)
    hand.wrote("own", 3, at=12, cluster="b", pid=9)
    found = hand.final("b", [T0, T1, row(3, "own", pid=9)], stable=0).found()
    judged = [name for name in found if name != "lme-loss"]
    assert judged == ([] if (lost_at, elected_at) == (6, 7) else ["hanging-transaction", "pid-collision"])


# -- pid-collision --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "transactional", "first", "expected"),
    [
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", False, True, ["pid-collision"]),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", True, True, ["pid-collision"]),
        ("INVALID_PRODUCER_EPOCH", False, True, ["pid-collision"]),
        ("INVALID_PRODUCER_EPOCH", True, True, []),  # Fenced by a restart with the same id.
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", False, False, []),  # A gap of the producer itself.
        ("READ_ONLY_TOPIC", False, True, []),
    ],
)
def test_a_first_batch_that_is_refused(error: str, transactional: bool, first: bool, expected: list[str]) -> None:
    hand = Hand()
    if transactional:
        hand.transaction("t/1", "x", asked="")
    hand.wrote("x", -1, pid=7, transaction="t/1" if transactional else "", acked=False)
    assert hand.refused("x", error, first=first).found() == expected


def test_an_unclean_election_may_lose_the_producer_reset() -> None:
    hand = Hand().wrote("x", -1, pid=7, acked=False).refused("x", "OUT_OF_ORDER_SEQUENCE_NUMBER")
    assert hand.elected(2, 3, at=2, unclean=True).found() == []


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (["theirs", "plain", "ours"], ["pid-collision"]),
        (["theirs", "<MIRROR_PID_RESET -1>", "ours"], []),
        (["ours", "theirs", "plain"], []),
    ],
)
def test_between_foreign_and_own_producers_there_is_a_reset(log: list[str], expected: list[str]) -> None:
    hand = Hand().wrote("theirs", -1, pid=7, acked=False)
    hand.wrote("plain", -1, cluster="b", acked=False).wrote("ours", -1, cluster="b", pid=9, acked=False)
    ids = {"theirs": 7, "ours": 9}
    assert hand.final("b", [row(n, value, pid=ids.get(value, -1)) for n, value in enumerate(log)]).found() == expected


def test_an_ack_for_another_producers_record_is_reported() -> None:
    hand = Hand().look("a", [row(0, "foreign", pid=7)], at=2).wrote("mine", 0, at=5, pid=7)
    assert hand.final("a", [row(0, "foreign", pid=7)]).found() == ["acked-lost", "pid-collision", "duplicate-at-offset"]


def test_an_ack_where_a_stop_has_truncated_is_an_ack() -> None:
    hand = Hand().stay("b", "a", began=1, mirroring=1.5, removed=3, stopped=4).wrote("mine", 0, at=5, pid=7)
    hand.look("a", [row(0, "foreign", pid=7)], at=3, stable=0).look("b", [row(0, "foreign", pid=7)], at=3)
    assert hand.final("a", [row(0, "mine", pid=7)]).found() == []


def test_an_ack_of_a_retry_is_an_ack() -> None:
    hand = Hand().look("a", [row(0, "mine", pid=7)], at=2).wrote("mine", 0, at=5, pid=7)
    assert hand.final("a", [row(0, "mine", pid=7)]).found() == []
