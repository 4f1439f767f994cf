"""Checkers of a single log: findings, and cases that are not findings."""

from __future__ import annotations

import pytest

from kmirror.histories.group_account import LostTransactions
from kmirror.histories.plan import Value
from kmirror.kernel.clock import SECOND
from tests.unit.histories.hand import TP, Hand, row, rows

X0, X1 = rows("x0", "x1")
DUPLICATE = ["duplicate-at-offset"]


# -- divergence -----------------------------------------------------------------------------------


def at_rest() -> Hand:
    return Hand().stay("a", "b", began=5, mirroring=6).final("a", [X0, X1])


def test_a_differing_replica_in_the_isr_is_reported() -> None:
    hand = Hand()
    hand.account.differing_replicas.append(("a", TP, 2, "offset 5: other bytes"))
    assert hand.found() == ["divergence"]


@pytest.mark.parametrize(
    ("content", "offset"),
    [
        ([X0, row(1, "y1")], 1),
        ([X0, row(1, "x1", epoch=1)], 1),
        ([X0, row(2, "x1")], 1),
        ([X0], 1),
        ([X0, X1, row(2, "x2")], 2),
        ([row(0, "x0", pid=3), X1], 0),
    ],
)
def test_a_differing_mirror_at_rest_is_reported_with_the_offset(content: list, offset: int) -> None:  # type: ignore[type-arg]
    anomalies = [row for row in at_rest().final("b", content).judged()[0] if row.checker == "divergence"]
    assert anomalies and min(anomaly.offset for anomaly in anomalies) == offset


def test_an_equal_mirror_at_rest_is_not_reported() -> None:
    assert at_rest().final("b", [X0, X1]).found() == []


def test_undecided_records_of_the_source_are_not_expected() -> None:
    hand = Hand().stay("a", "b", began=5, mirroring=6).final("a", [X0, X1], stable=1).final("b", [X0])
    assert "divergence" not in hand.found()


def test_a_mirror_that_still_waits_is_not_compared() -> None:
    hand = at_rest().final("b", [X0])
    hand.account.unsettled.append(("b", TP, "MIRRORING: behind"))
    assert hand.found() == ["stuck-state"]


@pytest.mark.parametrize(("mirroring", "expected"), [(99, ["divergence"]), (101, [])])
def test_a_mirror_that_starts_after_the_last_observation_is_not_compared(mirroring: float, expected: list[str]) -> None:
    hand = Hand().stay("a", "b", began=5, mirroring=mirroring).final("a", [X0, X1], at=100).final("b", [X0], at=100)
    assert hand.found() == expected


@pytest.mark.parametrize(("mirroring", "expected"), [(False, []), (True, ["divergence"])])
def test_a_recreated_topic_is_compared_once_it_is_mirrored(mirroring: bool, expected: list[str]) -> None:
    hand = Hand().topic("b", "id", at=1).stay("a", "b", began=5, mirroring=6)
    hand.topic("b", "id", at=10, exists=False).topic("b", "another", at=11)
    hand.order("add", "a", "b", at=12, error="")
    if mirroring:
        hand.state("b", "PREPARING", at=13).state("b", "MIRRORING", at=14)
    hand.final("a", [X0, X1]).final("b", [row(0, "y0")])
    assert [name for name in hand.found() if name == "divergence"] == expected


def test_a_mirror_must_not_have_undecided_records_of_its_source() -> None:
    t0 = row(1, "t0", pid=7, visible=False)
    hand = Hand().stay("a", "b", began=5, mirroring=6).look("a", [X0, t0], at=10, stable=1)
    assert hand.look("b", [X0], at=10).found() == []
    assert hand.look("b", [X0, t0], at=10, stable=1).found() == ["divergence"]
    assert hand.elected(2, 3, at=8).found() == []


def stopped(*content: object, epoch: int = 0) -> Hand:
    hand = Hand().stay("a", "b", began=5, mirroring=6, removed=20, stopped=22, epoch=epoch).final("a", [X0, X1])
    return hand.look("b", content, at=22).final("b", content)  # type: ignore[arg-type]


def test_a_stopped_log_is_a_prefix_of_the_sources_log() -> None:
    assert stopped(X0, row(1, "<MIRROR_PID_RESET -1>", epoch=1), row(2, "z", epoch=1)).found() == []


def test_another_record_below_the_last_mirrored_epoch_is_reported() -> None:
    assert stopped(row(0, "y0"), row(1, "<MIRROR_PID_RESET -1>", epoch=1)).found() == ["divergence"]
    assert stopped(X0, row(2, "x1"), row(3, "<MIRROR_PID_RESET -1>", epoch=1)).found() == ["divergence"]


def test_either_log_may_continue_an_epoch_in_which_the_other_ends() -> None:
    own = row(2, "<MIRROR_PID_RESET -1>", epoch=1)
    assert stopped(X0, X1, own).found() == []
    longer = Hand().stay("b", "a", began=5, mirroring=6, removed=20, stopped=22, epoch=0)
    longer.look("a", [X0, X1, own], at=22).final("a", [X0, X1, own])
    assert longer.final("b", [X0, row(1, "<ABORT 7>", epoch=1)]).found() == []


def test_an_unclean_election_explains_no_other_record_in_a_common_epoch() -> None:
    hand = stopped(row(0, "y0"), row(1, "<MIRROR_PID_RESET -1>", epoch=1)).elected(2, 1, at=50, unclean=True)
    assert hand.found() == ["divergence"]


# -- duplicate-at-offset --------------------------------------------------------------------------


def test_an_idempotent_value_must_not_occur_twice_in_a_log() -> None:
    assert Hand().final("a", [row(0, "x", pid=4), row(1, "x", pid=4)]).found() == ["duplicate-at-offset"]


def test_a_plain_producer_may_write_a_value_twice() -> None:
    assert Hand().final("a", [row(0, "x"), row(1, "x")]).found() == []


def test_a_producer_reset_clears_the_producer_state() -> None:
    hand = Hand().final("a", [row(0, "x", pid=4), row(1, "<MIRROR_PID_RESET -1>"), row(2, "x", pid=4)])
    assert hand.found() == []


@pytest.mark.parametrize(
    ("broker", "ahead_ms", "epoch", "expected"),
    [
        (1, 86_400_000, 7, []),  # 24 hours, producer.id.expiration.ms by default.
        (1, 80_000_000, 7, ["duplicate-at-offset"]),
        (2, 86_400_000, 7, ["duplicate-at-offset"]),
        (1, 86_400_000, 6, ["duplicate-at-offset"]),
    ],
)
def test_a_leader_with_a_clock_ahead_expires_producers(
    broker: int, ahead_ms: int, epoch: int, expected: list[str]
) -> None:
    hand = Hand().wrote("x", 0, pid=4).elected(2, 6, at=2).elected(1, 7, at=3)
    hand.order("set_clock", "", "a", at=1, args={"ahead_ms": ahead_ms, "cluster": "a", "broker": broker})
    assert hand.final("a", [row(0, "x", pid=4, epoch=6), row(1, "x", pid=4, epoch=epoch)]).found() == expected


@pytest.mark.parametrize(("broker", "expected"), [(1, []), (2, ["duplicate-at-offset"])])
def test_the_first_leader_may_forget_producers_too(broker: int, expected: list[str]) -> None:
    """The account has no row of its election; an observation shows that broker 1 led."""
    hand = Hand().wrote("x", 0, pid=4)
    hand.order("set_clock", "", "a", at=1, args={"ahead_ms": 86_400_000, "cluster": "a", "broker": broker})
    assert hand.final("a", [row(0, "x", pid=4), row(1, "x", pid=4)], leader_epoch=0).found() == expected


@pytest.mark.parametrize(("ahead_ms", "expected"), [(86_400_000, []), (80_000_000, ["duplicate-at-offset"])])
def test_an_unobserved_first_leader_may_have_had_the_clock_of_any_broker(ahead_ms: int, expected: list[str]) -> None:
    hand = Hand().wrote("x", 0, pid=4).elected(1, 7, at=3)
    hand.order("set_clock", "", "a", at=1, args={"ahead_ms": ahead_ms, "cluster": "a", "broker": 2})
    assert hand.final("a", [row(0, "x", pid=4), row(1, "x", pid=4)], leader_epoch=7).found() == expected


def test_two_values_read_at_one_offset_are_reported() -> None:
    hand = Hand().read("x0", 0, at=5).read("y0", 0, at=6).final("a", [row(0, "y0")])
    assert hand.found() == ["duplicate-at-offset"]


def test_two_values_acknowledged_for_one_offset_are_reported() -> None:
    hand = Hand().wrote("x0", 0, at=5).wrote("y0", 0, at=6).final("a", [row(0, "y0")])
    assert hand.found() == ["acked-lost", "duplicate-at-offset"]


def test_a_mirror_in_between_may_have_truncated_the_first() -> None:
    hand = Hand().read("x0", 0, at=5).stay("b", "a", began=7, mirroring=8, removed=9, stopped=10)
    hand.read("y0", 0, at=16).final("a", [row(0, "y0", epoch=1)]).final("b", [])
    assert hand.found() == []


@pytest.mark.decision("D46")
@pytest.mark.parametrize(("retention", "expected"), [(3_000, []), (30_000, ["acked-lost"])])
def test_a_log_of_expired_records_restarts_as_a_mirror(retention: int, expected: list[str]) -> None:
    """The source's mirror of it has settled nothing, so it must not be truncated (D25); but no records are left."""
    hand = Hand().wrote("x0", 0, at=2).look("a", [X0], at=3).wrote("y0", 0, at=12, cluster="b")
    hand.stay("a", "b", began=5, removed=6, stopped=7, epoch=-2)
    hand.order("alter_topic", "", "a", at=4, args={"name": "retention.ms", "value": str(retention)})
    hand.look("a", [], at=8, start=1, stable=1, high=1, end=1).stay("b", "a", began=9, mirroring=10)
    hand.final("a", [row(0, "y0")]).final("b", [row(0, "y0")])
    assert hand.found() == expected


def test_reads_and_log_contents_are_compared() -> None:
    assert Hand().read("x0", 0, at=5).final("a", [row(0, "y0")]).found() == ["duplicate-at-offset"]
    assert Hand().read("x0", 0, at=5).final("a", [X0]).found() == []


def cut_by_a_failback() -> Hand:
    """Cluster a had x0, and has y0 of cluster b since it follows b; an observation at 5 s shows it."""
    hand = Hand().wrote("x0", 0, at=1).wrote("y0", 0, at=1, cluster="b").stay("b", "a", began=2, mirroring=3)
    hand.look("b", [row(0, "y0")], at=1.5).look("a", [row(0, "y0")], at=5)
    return hand.final("a", [row(0, "y0")]).final("b", [row(0, "y0")])


def test_a_truncated_value_must_not_be_read_any_more() -> None:
    assert cut_by_a_failback().read("x0", 0, at=8.1).found() == ["duplicate-at-offset"]
    assert cut_by_a_failback().read("x0", 0, at=7.9).found() == [], "the answer may have been three seconds on its way"
    assert cut_by_a_failback().read("y0", 0, at=8.1).found() == []


def test_a_broker_may_serve_truncated_records_until_it_learns_of_the_truncation() -> None:
    for kind, subject in (("line", "a-2|a-100"), ("slow", "a-100|a-1"), ("controller", "a-100")):
        assert cut_by_a_failback().away(kind, subject, 4, 4.5).read("x0", 0, at=8.1).found() == [], kind
    for kind, subject in (("line", "a-1|a-2"), ("line", "a|b"), ("controller", "b-100")):
        hand = cut_by_a_failback().away(kind, subject, 4, 4.5).read("x0", 0, at=8.1)
        assert hand.found() == ["duplicate-at-offset"], subject


@pytest.mark.decision("D46")
@pytest.mark.parametrize(
    ("offset", "sent_at", "crash", "expected"),
    [
        (2, 4, ("broker", "a-1"), []),
        (-1, 4, ("broker", "a-1"), []),
        (1, 4, ("broker", "a-1"), ["divergence"]),
        (2, 6.5, ("broker", "a-1"), ["divergence"]),
        (2, 6.5, ("disk", "a-1"), []),
        (2, 7.5, ("disk", "a-1"), ["divergence"]),
        (2, 4, ("broker", "b-1"), ["divergence"]),
        (2, 4, None, ["divergence"]),
    ],
    ids=[
        "deleted, then a crash", "all deleted", "deleted less", "deleted after it", "deleted before it is mended",
        "deleted after that", "of the mirror", "no crash",
    ],
)  # fmt: skip
def test_a_source_may_forget_in_a_crash_where_its_log_begins(
    offset: int, sent_at: float, crash: tuple[str, str] | None, expected: list[str]
) -> None:
    """A broker writes log starts at intervals: a mirror may know of a DeleteRecords that its source forgot."""
    content = rows("x0", "x1", "x2")
    hand = Hand().stay("a", "b", began=1, mirroring=2)
    for name in "ab":
        hand.look(name, content, at=3)
    where: dict[str, Value] = {"cluster": "a", "topic": TP.topic, "partition": TP.partition, "offset": offset}
    hand.order("delete_records", "", "a", at=sent_at, args=where)
    if crash:
        hand.away(*crash, 6, 7)
    hand.look("a", content, at=8).look("b", content[2:], at=8, start=2)
    hand.final("a", content).final("b", content[2:], start=2)
    assert [name for name in hand.found() if name == "divergence"] == expected


@pytest.mark.parametrize(
    ("lost", "other", "expected"), [(7, 7, []), (8, 7, DUPLICATE), (7, 8, DUPLICATE), (None, 7, DUPLICATE)]
)
def test_an_epoch_assigned_twice_has_two_values_of_one_sequence(
    lost: int | None, other: int, expected: list[str]
) -> None:
    """An unclean election lost the newest epoch of a producer, so the leader takes a batch for a duplicate."""
    hand = Hand().wrote("x0", 0, at=5, pid=7).wrote("y0", 0, at=9, pid=other)
    if lost is not None:
        hand.account.groups.transactions_lost.append(LostTransactions("a", {lost: 6 * SECOND}, 7 * SECOND))
    hand.look("a", rows("x0"), at=6)
    assert [name for name in hand.final("a", rows("x0")).found() if name in DUPLICATE] == expected


# -- epoch-regression -----------------------------------------------------------------------------


def test_decreasing_epochs_in_a_log_are_reported() -> None:
    assert Hand().final("a", [row(0, "x0", epoch=2), row(1, "x1", epoch=1)]).found() == ["epoch-regression"]
    assert Hand().final("a", [row(0, "x0", epoch=1), row(1, "x1", epoch=2)]).found() == []


@pytest.mark.decision("D14")
def test_a_batch_above_its_leaders_epoch_is_reported() -> None:
    assert Hand().final("a", [row(0, "x0", epoch=6)], leader_epoch=5).found() == ["epoch-regression"]
    assert Hand().final("a", [row(0, "x0", epoch=5)], leader_epoch=5).found() == []


def test_decreasing_leader_epochs_at_the_controller_are_reported() -> None:
    assert Hand().elected(1, 5, at=1).elected(2, 4, at=2).found() == ["epoch-regression"]
    assert Hand().elected(1, 4, at=1).elected(2, 5, at=2).found() == []


@pytest.mark.decision("D49")
@pytest.mark.parametrize(("again", "epoch", "expected"), [
    ("id", 6, []), ("id", 5, ["epoch-regression"]), ("another", 0, []),
])  # fmt: skip
def test_leader_epochs_of_a_topic_recreated_with_its_id_continue(again: str, epoch: int, expected: list[str]) -> None:
    hand = Hand().topic("a", "id", at=0).elected(1, 5, at=1).topic("a", "id", at=2, exists=False)
    assert hand.topic("a", again, at=3).elected(1, epoch, at=3).found() == expected


# -- hw-regression --------------------------------------------------------------------------------


def test_a_high_watermark_that_falls_in_one_leader_epoch_is_reported() -> None:
    assert Hand().marks(10, at=1).marks(9, at=2).found() == ["hw-regression"]
    assert Hand().marks(9, at=1).marks(10, at=2).found() == []


def test_a_new_leaders_high_watermark_may_lag() -> None:
    assert Hand().marks(10, at=1).marks(9, at=2, epoch=2, broker=2).found() == []


def test_a_followers_high_watermark_may_fall_to_its_leaders_only_temporarily() -> None:
    hand = Hand().marks(2, at=1, broker=2, leads=False).marks(1, at=2, broker=2, leads=False)
    assert hand.final("a", rows("x0", "x1")).found() == []
    assert Hand().marks(2, at=1, broker=2, leads=False).final("a", [X0]).found() == ["hw-regression"]


def test_a_broker_that_was_started_again_begins_at_its_checkpoint() -> None:
    assert Hand().marks(10, at=1).away("broker", "a-1", 1.2, 1.4).marks(9, at=2).found() == []
    assert Hand().marks(10, at=1).away("broker", "a-2", 1.2, 1.4).marks(9, at=2).found() == ["hw-regression"]


def test_a_stay_in_a_mirror_may_shorten_the_log() -> None:
    hand = Hand().marks(10, at=1).stay("b", "a", began=2, mirroring=3).marks(4, at=4)
    assert hand.final("a", rows("x0", "x1", "x2", "x3")).final("b", rows("x0", "x1", "x2", "x3")).found() == []


def test_a_high_watermark_that_is_lower_at_the_end_is_reported() -> None:
    assert Hand().marks(2, at=1, broker=2).final("a", [X0]).found() == ["hw-regression"]
    assert Hand().marks(1, at=1, broker=2).final("a", [X0]).found() == []


def test_a_committed_unacknowledged_record_must_not_be_lost() -> None:
    hand = Hand().wrote("x0", 0, acked=False).look("a", [X0], at=5).final("a", [])
    assert hand.found() == ["hw-regression"]
    assert Hand().wrote("x0", 0, acked=False).final("a", []).found() == []


def test_a_high_watermark_falls_with_a_topic_that_is_deleted() -> None:
    hand = Hand().marks(10, at=1).topic("a", "id", at=2, exists=False).topic("a", "another", at=3)
    assert hand.marks(4, at=4).final("a", [X0]).found() == []
