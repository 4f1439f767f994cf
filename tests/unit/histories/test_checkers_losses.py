"""Checkers of lost records: each real loss is found, each near miss is not."""

from __future__ import annotations

import pytest

from kmirror.histories.checkers.reasons import may_cut
from kmirror.histories.group_account import LostTransactions
from kmirror.kernel.clock import SECOND
from tests.unit.histories.hand import TP, Hand, row, rows

X0, X1 = rows("x0", "x1")


def two_written() -> Hand:
    return Hand().wrote("x0", 0).wrote("x1", 1)


# -- acked-lost -----------------------------------------------------------------------------------


def test_a_missing_acknowledged_record_is_a_loss() -> None:
    hand = two_written().final("a", [X0])
    assert hand.found() == ["acked-lost"]
    (anomaly,) = hand.judged()[0]
    assert (anomaly.cluster, anomaly.offset) == ("a", 1)
    assert "'x1' at offset 1" in anomaly.text


@pytest.mark.parametrize(("release", "stays"), [("", 1), ("3.6", 0)])
def test_an_order_without_an_answer_begins_a_stay_in_clusters_that_know_mirrors_alone(release: str, stays: int) -> None:
    hand = Hand().order("add", "b", "a", at=5, error="")
    if release:
        hand.plays("a", release)
    assert len(hand.facts().sessions(("a", TP))) == stays


def test_acknowledged_records_that_are_there_are_no_loss() -> None:
    assert two_written().final("a", [X0, X1]).found() == []


def test_records_above_a_leaders_high_watermark_are_not_called_lost() -> None:
    assert two_written().final("a", [X0], high=1, end=2).found() == []


def test_an_unclean_election_excuses_a_loss() -> None:
    hand = two_written().elected(2, 1, at=5, unclean=True).final("a", [X0])
    assert hand.found() == []
    assert hand.accepted() == {"unclean election": 1}


def test_a_clean_election_excuses_nothing() -> None:
    assert two_written().elected(2, 1, at=5).final("a", [X0]).found() == ["acked-lost"]


def test_an_unclean_election_after_the_loss_excuses_nothing() -> None:
    hand = two_written().look("a", [X0], at=5).elected(2, 1, at=50, unclean=True)
    assert hand.final("a", [X0]).found() == ["acked-lost"]


@pytest.mark.parametrize(
    ("lost", "first_at", "first_pid", "excused"),
    [
        (7, 5, 7, True),
        (8, 5, 7, False),  # The election lost another producer's epoch.
        (None, 5, 7, False),
        (7, 12, 7, False),  # The record that is there now was written later.
        (7, 5, 8, False),  # It is another producer's.
    ],
)
def test_a_record_taken_for_a_duplicate_is_lost_by_a_reused_epoch(
    lost: int | None, first_at: int, first_pid: int, excused: bool
) -> None:
    """An unclean election lost the newest epoch of a producer, which begins again with its first sequence number."""
    hand = Hand().wrote("x0", 0, at=first_at, pid=first_pid).wrote("y0", 0, at=9, pid=7)
    if lost is not None:
        hand.account.groups.transactions_lost.append(LostTransactions("a", {lost: 6 * SECOND}, 7 * SECOND))
    hand.final("a", [row(0, "x0", pid=first_pid)])
    assert ("acked-lost" in hand.found()) is not excused


def test_a_mirror_may_remove_records_that_its_source_lacks() -> None:
    hand = two_written().stay("b", "a", began=10, mirroring=12).final("a", [X0]).final("b", [X0])
    assert hand.found() == []
    assert hand.accepted() == {"KIP: asynchronous": 1}


@pytest.mark.decision("D33")
def test_a_mirror_whose_source_was_always_unreachable_may_remove_nothing() -> None:
    hand = two_written().stay("b", "a", began=10, removed=20, stopped=21, epoch=-1)
    hand.away("line", "a|b", 5, 60).final("a", [X0]).final("b", [])
    assert hand.found() == ["acked-lost"]


@pytest.mark.decision("D33")
def test_brokers_that_are_all_down_are_as_unreachable_as_a_line_that_is_down() -> None:
    hand = two_written().stay("b", "a", began=10, removed=20, stopped=21, epoch=-1)
    for number in (1, 2, 3):
        hand.away("broker", f"b-{number}", 5, 60)
    assert hand.final("a", [X0]).final("b", []).found() == ["acked-lost"]


def test_a_source_that_returned_in_the_meantime_was_reachable() -> None:
    hand = two_written().stay("b", "a", began=10, removed=20, stopped=21, epoch=-1)
    hand.away("line", "a>b", 5, 15).final("a", [X0]).final("b", [])
    assert hand.found() == []


def test_a_response_of_the_source_may_take_effect_after_it_was_disconnected() -> None:
    """The list of replicas that must truncate is persisted first (D30), and a coordinator may be down."""
    hand = two_written().stay("b", "a", began=10, mirroring=20, removed=20, stopped=21)
    hand.away("line", "a>b", 12, 60).look("a", [X0, X1], at=19).look("a", [X0], at=20)
    assert hand.final("a", [X0]).final("b", []).found() == []


@pytest.mark.decision("D25")
def test_a_failback_to_a_mirror_without_records_may_remove_nothing() -> None:
    hand = two_written().stay("a", "b", began=5, removed=6, stopped=7, epoch=-1).stay("b", "a", began=10, mirroring=12)
    assert hand.final("a", []).final("b", []).found() == ["acked-lost"]


@pytest.mark.decision("D25")
def test_deleting_that_mirror_is_how_an_operator_insists() -> None:
    hand = two_written().stay("a", "b", began=5, removed=6, stopped=7, epoch=-1).order("delete_mirror", "a", "b", at=8)
    assert hand.stay("b", "a", began=10, mirroring=12).final("a", []).final("b", []).found() == []


@pytest.mark.decision("D25")
@pytest.mark.parametrize(
    ("name", "at", "found"),
    [
        ("n", 8, []),
        ("n", 6.9, []),
        ("n", 11, []),
        ("m", 8, ["acked-lost"]),
        ("n", 4, ["acked-lost"]),
        ("n", 13, ["acked-lost"]),
    ],
    ids=["before it", "sent while it stops", "while it prepares", "the same mirror", "before that mirror", "too late"],
)
def test_a_topic_in_another_mirror_at_the_source_no_longer_counts(name: str, at: float, found: list[str]) -> None:
    hand = two_written().stay("a", "b", began=5, removed=6, stopped=7, epoch=-1)
    hand.stay("c", "b", began=at, removed=at + 0.3, stopped=at + 0.5, epoch=-1, mirror=name)
    hand.stay("b", "a", began=10, mirroring=12)
    assert hand.final("a", []).final("b", []).final("c", []).found() == found


@pytest.mark.decision("D25")
def test_a_failback_before_the_failover_may_remove_nothing() -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6).stay("b", "a", began=10, mirroring=12)
    assert hand.final("a", []).final("b", []).found() == ["acked-lost"]


@pytest.mark.decision("D32")
def test_a_copy_from_scratch_must_not_remove_records_with_a_settled_epoch() -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6, removed=8, stopped=9, epoch=0)
    hand.look("a", [X0, X1], at=9.5).look("b", [X0, X1], at=9.5).stay("b", "a", began=10, removed=11, stopped=12)
    hand.look("a", [], at=12).final("a", []).final("b", [X0, X1])
    assert hand.found() == ["acked-lost"]


@pytest.mark.decision("D32")
def test_a_truncation_to_the_settled_epoch_removes_records_above_it() -> None:
    newer = row(1, "x1", epoch=2)
    hand = two_written().stay("a", "b", began=5, mirroring=6, removed=8, stopped=9, epoch=0)
    hand.look("a", [X0, newer], at=9.5).look("b", [X0], at=9.5).stay("b", "a", began=10, mirroring=11)
    assert hand.final("a", [X0]).final("b", [X0]).found() == []


def through_b_to_c(*, removed: float = -1) -> Hand:
    """Return a history in which c mirrors b, which mirrors a, and then a mirrors c and lacks its last record."""
    hand = two_written().stay("a", "b", began=5, mirroring=6, removed=removed, stopped=removed + 1, mirror="m1")
    return hand.stay("b", "c", began=7, mirroring=8, mirror="m2").stay("c", "a", began=20, mirroring=40, mirror="m3")


@pytest.mark.decision("D58")
def test_a_truncation_for_a_source_fed_by_this_cluster_is_not_permitted() -> None:
    hand = through_b_to_c().final("a", [X0]).final("b", [X0]).final("c", [X0])
    assert hand.found() == ["acked-lost"]


@pytest.mark.decision("D58")
@pytest.mark.parametrize("removed", [15, 30], ids=["before the order", "while it waits"])
def test_a_ring_opened_before_the_truncation_forbids_nothing(removed: float) -> None:
    hand = through_b_to_c(removed=removed).final("a", [X0]).final("b", [X0]).final("c", [X0])
    assert hand.found() == []


@pytest.mark.decision("D25")
@pytest.mark.parametrize(("end", "expected"), [(0, True), (1, False)])
def test_a_log_that_retention_has_emptied_is_no_only_copy(end: int, expected: bool) -> None:
    hand = two_written().stay("b", "a", began=5, mirroring=6, removed=7, stopped=8, epoch=-2)
    hand.order("add", "a", "b", at=10).state("b", "PREPARING", at=11, end=2).state("b", "MIRRORING", at=12, end=end)
    facts = hand.facts()
    assert may_cut(facts, facts.sessions(("b", TP))[-1]) is expected


@pytest.mark.decision("D58")
def test_a_failed_link_feeds_no_cluster() -> None:
    hand = through_b_to_c().state("b", "FAILED", at=12, mirror="m1")
    assert "acked-lost" not in hand.final("a", [X0]).final("b", [X0]).final("c", [X0]).found()


@pytest.mark.decision("D58")
def test_a_mirror_that_pointed_elsewhere_may_feed_no_cluster() -> None:
    hand = through_b_to_c().order("create_mirror", "a", "b", at=2, mirror="m1")
    assert hand.final("a", [X0]).final("b", [X0]).final("c", [X0]).found() == ["acked-lost"]
    hand = through_b_to_c().order("create_mirror", "a", "b", at=2, mirror="m1")
    hand.order("point_mirror", "a", "b", at=9, mirror="m1", args={"servers": "nobody"})
    assert hand.final("a", [X0]).final("b", [X0]).final("c", [X0]).found() == []


def test_a_record_of_an_uncommitted_transaction_may_be_missing() -> None:
    hand = Hand().wrote("t0", 0, transaction="t/1", pid=7).transaction("t/1", "t0", asked="abort")
    assert hand.final("a", []).found() == []


def test_a_record_of_a_committed_transaction_must_not_be_missing() -> None:
    hand = Hand().wrote("t0", 0, transaction="t/1", pid=7).transaction("t/1", "t0")
    assert hand.final("a", []).found() == ["acked-lost"]


def test_an_order_that_was_refused_excuses_nothing() -> None:
    hand = two_written().order("add", "b", "a", at=10, error="INVALID_REQUEST").final("a", [X0]).final("b", [X0])
    assert hand.found() == ["acked-lost"]


def test_an_order_without_a_response_may_have_been_executed() -> None:
    hand = two_written().order("add", "b", "a", at=10, error="").final("a", [X0]).final("b", [X0])
    assert hand.found() == []


def test_a_stop_that_comes_between_an_order_and_its_answer_ends_the_stay_before() -> None:
    hand = two_written().stay("b", "a", began=10, mirroring=11, removed=19, stopped=20.05)
    hand.look("a", [X0, X1], at=20.05).order("add", "b", "a", at=20)
    hand.state("a", "PREPARING", at=20.3).state("a", "MIRRORING", at=30)
    assert hand.final("a", [X0]).final("b", [X0]).found() == []


def test_so_does_a_stop_of_a_new_leader_that_goes_through_its_states_in_one_instant() -> None:
    hand = two_written().stay("b", "a", began=10, removed=19)
    for state in ("PREPARING", "STOPPING", "STOPPED"):
        hand.state("a", state, at=20.05)
    hand.look("a", [X0, X1], at=20.2).order("add", "b", "a", at=20)
    hand.state("a", "PREPARING", at=20.3).state("a", "MIRRORING", at=30)
    assert hand.final("a", [X0]).final("b", [X0]).found() == []


# -- mirrored-lost --------------------------------------------------------------------------------


@pytest.mark.parametrize(("lacks", "expected"), [(True, []), (False, ["mirrored-lost"])])
def test_an_unclean_election_may_bring_back_records_that_another_one_lost(lacks: bool, expected: list[str]) -> None:
    """The mirror follows both; observations of the source before the first and after the second show the record."""
    hand = two_written().stay("a", "b", began=2, mirroring=3).look("a", [X0, X1], at=9).look("b", [X0, X1], at=9)
    hand.elected(2, 1, at=10, unclean=True).heir("a", [X0] if lacks else [X0, X1], at=10.1, leader_epoch=1)
    hand.look("b", [X0], at=12).elected(1, 2, at=13, unclean=True).heir("a", [X0, X1], at=13.1, leader_epoch=2)
    assert hand.final("a", [X0, X1]).final("b", [X0, X1]).found() == expected


def mirrored_and_stopped() -> Hand:
    """Two records mirrored from a to b, decided there when RemoveTopics was sent."""
    return two_written().stay("a", "b", began=5, mirroring=6, removed=20, stopped=22).final("a", [X0, X1])


def test_a_stop_keeps_records_decided_before_it() -> None:
    hand = mirrored_and_stopped().look("b", [X0, X1], at=20).look("b", [X0, X1], at=22).final("b", [X0, X1])
    assert hand.found() == []


def test_a_stop_that_drops_decided_records_is_a_loss() -> None:
    hand = mirrored_and_stopped().look("b", [X0, X1], at=20).look("b", [X0], at=22).final("b", [X0])
    assert hand.found() == ["mirrored-lost"]


def test_a_stop_may_drop_undecided_records() -> None:
    hand = mirrored_and_stopped().look("b", [X0, X1], at=20, stable=1).look("b", [X0], at=22).final("b", [X0])
    assert hand.found() == []


def test_the_loss_is_found_when_the_source_is_dead() -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6, removed=20, stopped=22).away("line", "a|b", 15, 60)
    hand.look("b", [X0, X1], at=20).look("b", [X0], at=22).final("a", [X0]).final("b", [X0])
    hand.elected(2, 1, at=70, cluster="a", unclean=True)
    assert hand.found() == ["mirrored-lost"]


def test_a_mirror_follows_a_source_that_lost_it_in_an_unclean_election() -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6).elected(2, 1, at=20, unclean=True)
    hand.look("a", [X0, X1], at=15).look("b", [X0, X1], at=15).final("a", [X0]).final("b", [X0])
    assert hand.found() == []
    assert hand.accepted()["unclean election"] == 2


def test_a_link_of_a_chain_may_drop_records_that_it_fetches_again() -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6, mirror="ab").stay("b", "c", began=7, mirroring=8)
    hand.look("b", [X0, X1], at=10).look("c", [X0, X1], at=10)
    hand.order("remove", "a", "b", at=11, mirror="ab").state("b", "STOPPED", at=12, mirror="ab")
    hand.stay("a", "b", began=13, mirroring=14, mirror="ab").look("c", [], at=14)
    hand.final("a", [X0, X1]).final("b", [X0, X1]).final("c", [X0, X1])
    assert hand.found() == []


BEFORE = [row(0, "t0", pid=7), row(1, "u0", pid=8), row(2, "t1", pid=7), row(3, "<COMMIT 7>", pid=7)]
"""u is open from 1 on; t has a record below and one above."""


def overlapping(*after: str) -> Hand:
    hand = Hand().transaction("t/1", "t0", "t1").transaction("u/1", "u0", asked="")
    hand.wrote("t0", 0, transaction="t/1", pid=7).wrote("u0", 1, transaction="u/1", pid=8)
    hand.wrote("t1", 2, transaction="t/1", pid=7).stay("a", "b", began=5, mirroring=6, removed=20, stopped=22)
    return hand.look("b", BEFORE, at=20, stable=1).look("a", BEFORE, at=60, stable=1)


@pytest.mark.decision("D29")
def test_a_transaction_with_lost_records_in_the_tail_is_aborted_completely() -> None:
    after = [row(0, "t0", pid=7, visible=False), row(1, "<ABORT 7>", pid=7, epoch=1)]
    hand = overlapping().look("b", after, at=22).final("b", after)
    assert hand.found() == []
    assert hand.accepted() == {"D29": 1}


@pytest.mark.decision("D29")
def test_a_transaction_that_lost_only_its_marker_keeps_its_outcome() -> None:
    before = [row(0, "t0", pid=7), row(1, "u0", pid=8), row(2, "<COMMIT 7>", pid=7)]
    after = [row(0, "t0", pid=7, visible=False), row(1, "<ABORT 7>", pid=7, epoch=1)]
    hand = Hand().transaction("t/1", "t0").wrote("t0", 0, transaction="t/1", pid=7)
    hand.transaction("u/1", "u0", asked="").wrote("u0", 1, transaction="u/1", pid=8)
    hand.stay("a", "b", began=5, mirroring=6, removed=20, stopped=22).look("b", before, at=20, stable=1)
    hand.look("a", before, at=60, stable=1)
    assert hand.look("b", after, at=22).final("b", after).found() == ["mirrored-lost"]
    assert hand.elected(1, 3, at=1, cluster="b").elected(2, 4, at=21, cluster="b").found() == []


def test_a_transaction_below_the_truncation_must_not_be_removed() -> None:
    assert overlapping().look("b", [], at=22).final("b", []).found() == ["mirrored-lost"]


def reopened() -> Hand:
    """Cluster b truncates from the first record of a transaction on; the session's truncation removed its marker."""
    before = [row(0, "t0", pid=7), row(1, "x1"), row(2, "<COMMIT 7>", pid=7)]
    hand = Hand().transaction("t/1", "t0").wrote("t0", 0, transaction="t/1", pid=7).wrote("x1", 1)
    hand.stay("a", "b", began=5, mirroring=6, removed=20, stopped=22, epoch=0)
    hand.look("b", before, at=10).look("a", before, at=10).look("a", before, at=60)
    return hand.look("b", [], at=22).final("b", []).final("a", before)


@pytest.mark.parametrize(("stop", "expected"), [(True, []), (False, ["mirrored-lost"])])
def test_a_stop_truncates_a_transaction_left_open_by_an_unclean_election(stop: bool, expected: list[str]) -> None:
    """The election loses the marker of a transaction, and the stop truncates its record, above the LSO."""
    before = [row(0, "t0", pid=7), row(1, "<COMMIT 7>", pid=7)]
    hand = Hand().transaction("t/1", "t0").wrote("t0", 0, transaction="t/1", pid=7).look("b", before, at=20)
    hand.stay("a", "b", began=5, mirroring=6, removed=20 if stop else -1, stopped=24 if stop else -1)
    hand.elected(2, 60, at=22, cluster="b", unclean=True).heir("b", before[:1], at=22, leader_epoch=60)
    hand.look("a", before, at=10).look("a", before, at=60).final("a", before)
    found = hand.look("b", [], at=24, leader_epoch=60).final("b", [], leader_epoch=60).found()
    assert [name for name in found if name == "mirrored-lost"] == expected


@pytest.mark.parametrize(("ended", "expected"), [(False, []), (True, ["acked-lost"])])
def test_a_stop_truncates_records_above_a_reopened_transaction(ended: bool, expected: list[str]) -> None:
    """The record above it was acknowledged, and was never stable here."""
    log, end = [row(0, "t0", pid=7, visible=False), row(1, "x1", visible=False)], row(2, "<COMMIT 7>", pid=7)
    whole = [row(0, "t0", pid=7), X1, end]
    hand = Hand().transaction("t/1", "t0").wrote("t0", 0, transaction="t/1", pid=7, acked=False).wrote("x1", 1, at=9)
    hand.elected(2, 60, at=12, unclean=True).heir("a", [*log, end] if ended else log, at=12.5, leader_epoch=60)
    hand.stay("a", "b", began=2, mirroring=3, removed=13, stopped=13.5).look("b", whole, at=14)
    hand.stay("b", "a", began=15, mirroring=16, removed=20, stopped=24).look("a", log, at=14, stable=0, leader_epoch=60)
    hand.look("a", log, at=20, stable=0, leader_epoch=60).look("a", [], at=24, leader_epoch=60)
    assert hand.final("b", whole).final("a", [], leader_epoch=60).found() == expected


@pytest.mark.decision("D42")
def test_a_leader_that_does_not_know_a_reopened_transaction_stops_below_it() -> None:
    hand = reopened().elected(1, 3, at=1, cluster="b").elected(2, 4, at=15, cluster="b")
    assert hand.found() == []
    assert hand.accepted() == {"D42": 2}


@pytest.mark.decision("D42")
def test_a_leader_that_truncated_must_not_stop_below_a_reopened_transaction() -> None:
    assert reopened().found() == ["mirrored-lost"]


@pytest.mark.decision("D42")
@pytest.mark.parametrize(("leader", "expected"), [(2, []), (1, ["mirrored-lost"])])
def test_the_first_leader_is_known_by_observations(leader: int, expected: list[str]) -> None:
    """Broker 1 led at 10 seconds; the account has no row of its election."""
    assert reopened().elected(leader, 4, at=15, cluster="b").found() == expected


@pytest.mark.decision("D42")
def test_a_transaction_that_had_ended_below_the_record_excuses_no_loss() -> None:
    """The producer's next transaction, which ends above the record, is another one."""
    before = [row(0, "t0", pid=7), row(1, "<COMMIT 7>", pid=7), row(2, "x1"), row(3, "t1", pid=7)]
    before.append(row(4, "<COMMIT 7>", pid=7))
    hand = Hand().transaction("t/1", "t0").wrote("t0", 0, transaction="t/1", pid=7).wrote("x1", 2)
    hand.transaction("t/2", "t1").wrote("t1", 3, transaction="t/2", pid=7)
    hand.stay("a", "b", began=5, mirroring=6, removed=20, stopped=22, epoch=0)
    hand.look("b", before, at=10).look("a", before, at=10).look("a", before, at=60)
    hand.elected(1, 3, at=1, cluster="b").elected(2, 4, at=15, cluster="b")
    assert hand.look("b", [], at=22).final("b", []).final("a", before).found() == ["mirrored-lost"]


# -- retention ------------------------------------------------------------------------------------


def begins_later(name: str) -> Hand:
    hand = two_written().look("a", [X0, X1], at=10)
    hand.order("alter_topic", "", "a", at=11, args={"name": name, "value": "3000"})
    return hand.final("a", [X1], start=1)


@pytest.mark.decision("D46")
def test_records_below_the_log_start_may_be_gone_by_configured_retention() -> None:
    assert begins_later("retention.ms").found() == [] and begins_later("retention.ms").accepted() == {"retention": 1}
    assert begins_later("segment.ms").found() == ["acked-lost"]
    assert two_written().look("a", [X0, X1], at=10).final("a", [X1], start=1).found() == ["acked-lost"]


def test_retention_removes_nothing_from_the_end_of_a_log() -> None:
    hand = two_written().look("a", [X0, X1], at=10)
    hand.order("alter_topic", "", "a", at=11, args={"name": "retention.ms", "value": "3000"})
    assert hand.final("a", [X0]).found() == ["acked-lost"]


def emptied(retention_ms: int) -> Hand:
    """The log of a is empty when its topic is failed back, so it starts from scratch with b's records."""
    hand = two_written().look("a", [X0, X1], at=10)
    hand.order("alter_topic", "", "a", at=2, args={"name": "retention.ms", "value": str(retention_ms)})
    return hand.stay("b", "a", began=11, mirroring=13).final("a", [row(0, "b0")]).final("b", [row(0, "b0")])


def test_a_log_emptied_by_retention_may_start_from_scratch() -> None:
    hand = emptied(5_000)
    hand.away("line", "a|b", 5, -1)
    assert "acked-lost" not in hand.found()
    younger = emptied(500_000)
    younger.away("line", "a|b", 5, -1)
    assert "acked-lost" in younger.found()


@pytest.mark.decision("D46")
@pytest.mark.parametrize(("start", "expected"), [(0, ["divergence"]), (1, [])])
def test_a_mirror_begins_no_later_than_its_source(start: int, expected: list[str]) -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6)
    hand.order("alter_topic", "", "b", at=8, args={"name": "retention.ms", "value": "3000"})
    hand.look("b", [X0, X1], at=6)
    hand.look("a", [X0, X1][start:], at=12, start=start).look("b", [X1], at=12, start=1)
    hand.final("a", [X0, X1][start:], start=start).final("b", [X1], start=1)
    assert hand.found() == expected


@pytest.mark.decision("D46")
def test_a_log_that_began_later_before_its_failback_stays_as_it_is() -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6)
    hand.order("alter_topic", "", "b", at=4, args={"name": "retention.ms", "value": "3000"})
    for at in (6, 12):
        hand.look("a", [X0, X1], at=at).look("b", [X1], at=at, start=1)
    assert hand.final("a", [X0, X1]).final("b", [X1], start=1).found() == []


# -- deleted topics -------------------------------------------------------------------------------


def test_records_are_deleted_with_their_topic() -> None:
    hand = two_written().look("a", [X0, X1], at=10).topic("a", "old", at=11, exists=False)
    hand.topic("a", "new", at=12).final("a", [])
    assert hand.found() == [] and hand.accepted() == {"topic deleted": 2}


def test_records_lost_before_the_topics_deletion_are_a_loss() -> None:
    hand = two_written().look("a", [X0, X1], at=8).look("a", [X0], at=10)
    hand.topic("a", "old", at=11, exists=False).topic("a", "new", at=12)
    assert hand.final("a", []).found() == ["acked-lost"]


def mirrored_and_deleted_there() -> Hand:
    hand = two_written().topic("a", "old", at=0).topic("b", "old", at=5).stay("a", "b", began=5, mirroring=6)
    hand.look("a", [X0, X1], at=10).look("b", [X0, X1], at=10)
    return hand.topic("a", "old", at=11, exists=False)


@pytest.mark.decision("D16")
def test_a_mirror_keeps_its_records_of_a_topic_that_its_source_deleted() -> None:
    assert mirrored_and_deleted_there().final("b", [X0, X1]).found() == []
    assert mirrored_and_deleted_there().final("b", [X0]).found() == ["mirrored-lost"]


@pytest.mark.decision("D16")
def test_a_mirror_must_not_follow_a_recreated_topic() -> None:
    hand = mirrored_and_deleted_there().topic("a", "new", at=12)
    hand.look("a", [], at=15).look("b", [X0, X1], at=15)
    assert "mirrored-lost" in hand.final("a", []).final("b", []).found()


@pytest.mark.decision("D16")
def test_records_missing_in_a_deleted_topic_may_be_truncated_after_its_deletion() -> None:
    hand = two_written().topic("a", "old", at=0).topic("b", "old", at=0).stay("a", "b", began=5, mirroring=14)
    hand.look("a", [X0], at=8).look("b", [X0, X1], at=8).topic("a", "old", at=9, exists=False)
    hand.look("b", [X0, X1], at=12)
    assert "mirrored-lost" not in hand.final("b", [X0]).found()


@pytest.mark.decision("D53")
def test_a_topic_without_an_id_passes_for_the_one_before() -> None:
    hand = mirrored_and_deleted_there().topic("a", "old", at=12)
    hand.look("a", [], at=15).look("b", [X0, X1], at=15)
    assert "mirrored-lost" not in hand.final("a", []).final("b", []).found()


@pytest.mark.decision("D25")
@pytest.mark.parametrize(("before", "expected"), [(0, []), (1, ["mirrored-lost"])])
def test_an_empty_log_follows_a_source_whose_stop_settled_no_epoch(before: int, expected: list[str]) -> None:
    """Cluster b was in the mirror from a, and its stop settled nothing; then a is in the mirror of that name from b."""
    hand = Hand().wrote("x0", 0, cluster="b").stay("a", "b", began=2, removed=3, stopped=4, epoch=-2)
    hand.look("a", rows("y0")[:before], at=9).look("b", [X0], at=9).stay("b", "a", began=10, mirroring=12)
    hand.look("a", [X0], at=20).look("b", [X0], at=20).elected(2, 60, at=25, cluster="b", unclean=True)
    found = hand.heir("b", [], at=25, leader_epoch=60).final("a", []).final("b", [], leader_epoch=60).found()
    assert [name for name in found if name == "mirrored-lost"] == expected


# -- last-copy-lost -------------------------------------------------------------------------------


def test_a_copy_that_an_operator_deletes_is_given_up() -> None:
    hand = two_written().look("a", [X0, X1], at=10).look("b", [X0, X1], at=10).order("remove", "a", "b", at=10)
    hand.topic("a", "old", at=11, exists=False).topic("b", "old", at=12, exists=False)
    assert hand.topic("a", "new", at=13).topic("b", "other", at=13).final("a", []).final("b", []).found() == []


@pytest.mark.decision("D29")
def test_a_stop_and_a_failback_that_leave_no_copy_are_reported() -> None:
    hand = two_written().stay("a", "b", began=5, mirroring=6, removed=20, stopped=22, epoch=-1)
    hand.look("a", [X0, X1], at=20).look("b", [X0, X1], at=20).look("b", [], at=22)
    hand.stay("b", "a", began=30, mirroring=32, mirror="n").look("a", [X0, X1], at=30).look("b", [], at=30)
    assert hand.final("a", []).final("b", []).found() == ["mirrored-lost", "last-copy-lost"]


def test_two_clusters_that_each_truncate_the_others_only_copy_leave_none() -> None:
    hand = two_written().look("a", [X0, X1], at=10).look("b", [X0, X1], at=10)
    hand.stay("a", "b", began=10, mirroring=12, mirror="there").stay("b", "a", began=10.1, mirroring=12, mirror="back")
    assert "last-copy-lost" in hand.final("a", []).final("b", []).found()


def test_a_copy_given_up_and_its_follower_are_no_loss() -> None:
    """Cluster b is added and removed before it has fetched a's records again; then a follows b."""
    hand = two_written().look("a", [X0, X1], at=10).look("b", [X0, X1], at=10)
    hand.stay("a", "b", began=10, mirroring=11, removed=11.5, stopped=12, epoch=0, mirror="there")
    hand.look("a", [X0, X1], at=11).look("b", [], at=11).look("a", [X0, X1], at=20).look("b", [], at=20)
    hand.stay("b", "a", began=20, mirroring=21, mirror="back")
    assert hand.final("a", []).final("b", []).found() == []


@pytest.mark.parametrize(("removed", "given_up"), [(13.5, True), (12.5, False), (-1, False)])
def test_stopping_a_cluster_that_has_dropped_a_copy_gives_it_up(removed: float, given_up: bool) -> None:
    """Cluster b drops its log for a's, and stops before it has fetched that; c follows b, and a has to follow c."""
    both = [X0, X1]
    hand = two_written().look("a", both, at=10).look("b", both, at=10).look("c", both, at=10)
    hand.stay("b", "c", began=5, mirroring=6, mirror="on")
    hand.stay("a", "b", began=10, mirroring=13, removed=removed, stopped=14 if removed > 0 else -1, epoch=-1)
    hand.stay("c", "a", began=12, mirroring=16, mirror="back").look("b", [], at=13.2).look("a", both, at=13.2)
    hand.look("c", both, at=13.2).look("c", [], at=15).look("a", both, at=15)
    assert ("last-copy-lost" in hand.final("a", []).final("b", []).final("c", []).found()) is not given_up


@pytest.mark.decision("D58")
@pytest.mark.parametrize(("stable", "found"), [(1, False), (2, True)], ids=["undecided", "decided"])
def test_stopping_a_cluster_before_it_decided_a_record_gives_it_up(stable: int, found: bool) -> None:
    """Cluster a was ordered to follow c, which it feeds through b, and waited for the stop of c."""
    both = [X0, X1]
    hand = two_written().stay("a", "b", began=2, mirroring=3).look("a", both, at=10).look("b", both, at=10)
    hand.stay("b", "c", began=5, mirroring=6, removed=12, stopped=13, epoch=0, mirror="on")
    hand.look("c", both, at=10, stable=stable).stay("c", "a", began=10, mirroring=15, mirror="back")
    hand.look("c", both, at=12, stable=stable).look("c", [X0], at=13).look("a", [X0], at=15).look("b", both, at=15)
    assert ("last-copy-lost" in hand.final("a", [X0]).final("b", [X0]).final("c", [X0]).found()) is found


def test_a_copy_that_is_left_in_a_third_cluster_is_a_copy() -> None:
    hand = two_written().look("a", [X0, X1], at=10).look("b", [X0, X1], at=10)
    hand.stay("a", "b", began=10, mirroring=12, mirror="there").stay("b", "a", began=10.1, mirroring=12, mirror="back")
    assert hand.final("a", []).final("b", []).final("c", [X0, X1]).found() == []


@pytest.mark.parametrize("same_leader", [True, False])
def test_a_record_above_the_high_watermark_is_judged_by_the_next_observation(same_leader: bool) -> None:
    """Cluster a is ordered to follow b, whose own record at that offset is not committed yet."""
    own, *_ = rows("own")
    hand = two_written().look("a", [X0], at=10).look("c", [X0], at=10).look("b", [], at=9, high=0, end=1)
    hand.stay("a", "c", began=2, mirroring=3, mirror="on").stay("b", "a", began=10, mirroring=12, mirror="back")
    hand.look("b", [own], at=11, leader_epoch=50 if same_leader else 51)
    found = hand.order("add", "b", "a", at=10).final("a", [own]).final("b", [own]).final("c", [own]).found()
    assert ("last-copy-lost" in found) is not same_leader
