"""Checkers of mirrors, and the table of all: findings, and cases that are not findings."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest

from kmirror.histories import checkers
from kmirror.histories.checkers import CHECKERS
from kmirror.histories.group_account import LostCoordinatorLog
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import GROUP_TOPIC, MIRROR_STATE_TOPIC
from tests.unit.histories.hand import TP, Hand, rows

# -- lme-loss -------------------------------------------------------------------------------------


def stopped(epoch: int = 4) -> Hand:
    return Hand().stay("a", "b", began=5, mirroring=6, removed=10, stopped=12, epoch=epoch)


@pytest.mark.parametrize(("then", "expected"), [(4, []), (-1, ["lme-loss"]), (7, ["lme-loss"])])
def test_a_settled_epoch_stays(then: int, expected: list[str]) -> None:
    hand = stopped().elected(2, 9, at=20, cluster="b").state("b", "STOPPED", at=21, epoch=then, broker=2)
    assert hand.found() == expected


def test_two_values_for_nothing_mirrored_are_equal() -> None:
    assert stopped(-2).state("b", "STOPPED", at=21, epoch=-1).found() == []


def test_a_new_session_settles_its_own() -> None:
    hand = stopped().stay("a", "b", began=20, mirroring=21, removed=25, stopped=26, epoch=7)
    assert hand.found() == []


@pytest.mark.decision("D37")
def test_a_session_that_never_mirrored_settles_nothing() -> None:
    hand = stopped().stay("a", "b", began=20, removed=25, stopped=26, epoch=7)
    assert hand.found() == ["lme-loss"]


def test_a_deposed_leader_may_report_an_earlier_session() -> None:
    hand = stopped().elected(2, 9, at=20, cluster="b").state("b", "STOPPED", at=21, epoch=3, broker=1)
    assert hand.found() == []


def test_another_mirrors_epoch_is_another_matter() -> None:
    assert stopped().state("b", "STOPPED", at=21, epoch=9, mirror="n").found() == []


@pytest.mark.parametrize(("deleted_at", "expected"), [(20, []), (11, []), (8, ["lme-loss"])])
def test_settled_epochs_go_with_the_topic(deleted_at: float, expected: list[str]) -> None:
    """Its leader reports STOPPED at 12 s, and may not have received the deletion before."""
    hand = stopped().topic("b", "id", at=deleted_at, exists=False).state("b", "STOPPED", at=21, epoch=-1)
    assert hand.found() == expected


@pytest.mark.decision("D51")
@pytest.mark.parametrize(("answered_at", "expected"), [(20, []), (9, ["lme-loss"])])
def test_settled_epochs_go_with_the_mirror(answered_at: float, expected: list[str]) -> None:
    """The controller was down, so the mirror was deleted later than ordered: after the partition had stopped."""
    hand = stopped().order("delete_mirror", "", "b", at=8, answered_at=answered_at)
    assert hand.state("b", "STOPPED", at=21, epoch=-2).found() == expected


@pytest.mark.decision("D8")
@pytest.mark.parametrize(("cluster", "expected"), [("b", []), ("a", ["lme-loss"])])
def test_settled_epochs_go_with_the_topic_of_the_states(cluster: str, expected: list[str]) -> None:
    hand = stopped().state("b", "STOPPED", at=21, epoch=-1)
    deleted = LostCoordinatorLog(cluster, TopicPartition(MIRROR_STATE_TOPIC, 0), 20 * SECOND)
    hand.account.groups.lost_logs.append(deleted)
    assert hand.found() == expected


# -- read-only-breach -----------------------------------------------------------------------------


def written(at: float, *, seen: bool = True, removed: float = 50) -> Hand:
    hand = Hand().order("add", "a", "b", at=5)
    if seen:
        hand.state("b", "PREPARING", at=6)
    hand.order("remove", "a", "b", at=removed)
    return hand.wrote("x", 0, at=at, cluster="b").look("b", rows("x"), at=at + 0.5)


def test_a_write_into_a_mirrored_topic_is_reported() -> None:
    assert written(at=8).found() == ["read-only-breach"]


def test_a_write_before_or_after_the_session_is_not_reported() -> None:
    assert written(at=4).found() == []
    assert written(at=50.5).found() == []


def test_a_leader_may_learn_of_an_order_late() -> None:
    assert written(at=8, seen=False).found() == []
    assert written(at=20, seen=False).found() == ["read-only-breach"]


def test_a_leader_without_its_controller_may_not_learn_of_it() -> None:
    assert written(at=20, seen=False).away("controller", "b-100", 4, 30).found() == []
    assert written(at=20, seen=False).away("controller", "a-100", 4, 30).found() == ["read-only-breach"]


def test_a_session_ends_with_its_topic() -> None:
    hand = Hand().stay("a", "b", began=5, mirroring=6, removed=10).topic("b", "id", at=11, exists=False)
    hand.topic("b", "other", at=12).wrote("x", 0, at=13, cluster="b").stay("a", "b", began=20)
    assert hand.final("b", rows("x")).found() == []


# -- pause-breach ---------------------------------------------------------------------------------


def paused(*, end: int = 1) -> Hand:
    hand = Hand().wrote("x", 0).wrote("y", 1, at=2).order("add", "a", "b", at=3).state("b", "PREPARING", at=4)
    hand.state("b", "MIRRORING", at=5).order("pause", "a", "b", at=6)
    return hand.state("b", "PAUSED", at=7, end=end).look("a", rows("x", "y"), at=8)


@pytest.mark.decision("D50")
def test_a_log_that_grows_while_paused_is_reported() -> None:
    assert paused().look("b", rows("x", "y"), at=9).found() == ["pause-breach"]
    assert paused(end=2).look("b", rows("x", "y"), at=9).found() == []


@pytest.mark.parametrize("error", ["NONE", ""])
@pytest.mark.parametrize("action", ["resume", "remove"])
def test_a_failed_request_that_ends_a_pause_may_have_taken_effect(action: str, error: str) -> None:
    hand = paused().order(action, "a", "b", at=8.5, error=error)
    assert hand.look("b", rows("x", "y"), at=9).found() == []
    refused = paused().order(action, "a", "b", at=8.5, error="MIRROR_TOPIC_NOT_PAUSED")
    assert refused.look("b", rows("x", "y"), at=9).found() == ["pause-breach"]


def test_an_unclean_election_may_bring_a_longer_log() -> None:
    hand = paused().elected(2, 9, at=8, cluster="b", unclean=True).heir("b", rows("x", "y"), at=8, leader_epoch=9)
    assert hand.look("b", rows("x", "y"), at=9, leader_epoch=9).found() == []


def test_a_log_that_grows_after_an_unclean_election_is_still_reported() -> None:
    hand = paused().elected(2, 9, at=8, cluster="b", unclean=True).heir("b", rows("x"), at=8, leader_epoch=9)
    assert hand.look("b", rows("x", "y"), at=9, leader_epoch=9).found() == ["pause-breach"]


# -- stuck-state, topic-id-mismatch ---------------------------------------------------------------


def test_waiting_partitions_are_reported_with_their_reason() -> None:
    hand = Hand()
    hand.account.unsettled.append(("b", TP, "PREPARING: the source did not respond to DescribeMirrors"))
    (anomaly,) = hand.judged()[0]
    assert (anomaly.checker, anomaly.text) == (
        "stuck-state",
        "PREPARING: the source did not respond to DescribeMirrors",
    )


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([("a", "orders", "1"), ("b", "orders", "1")], []),
        ([("a", "orders", "1"), ("b", "orders", "2")], ["topic-id-mismatch"]),
        ([("a", "orders", "1"), ("b", "orders", "1"), ("b", "orders", "2")], ["topic-id-mismatch"]),
        ([("a", "orders", "1")], []),
    ],
)
def test_a_mirrored_topic_has_one_id(ids: list[tuple[str, str, str]], expected: list[str]) -> None:
    hand = stopped()
    hand.account.topic_ids.extend(ids)
    assert hand.found() == expected


def test_a_local_topic_of_the_same_name_may_have_another_id() -> None:
    hand = Hand().order("create_topic", "", "b", at=1).stay("a", "b", began=5)
    hand.account.topic_ids.extend([("a", "orders", "1"), ("b", "orders", "2")])
    assert hand.found() == []


def test_a_topic_that_a_mirror_created_may_not() -> None:
    hand = Hand().stay("a", "b", began=5)
    hand.account.topic_ids.extend([("a", "orders", "1"), ("b", "orders", "2")])
    assert hand.found() == ["topic-id-mismatch"]


def test_an_unanswered_and_unobserved_order_mirrors_nothing() -> None:
    hand = stopped().topic("a", "1", at=15, exists=False).topic("a", "3", at=16)
    hand.order("add", "a", "b", at=20, error="")
    hand.account.topic_ids.extend([("a", "orders", "3"), ("b", "orders", "1")])
    assert hand.found() == []


def test_a_recreated_topic_may_have_another_id() -> None:
    hand = stopped().topic("a", "1", at=15, exists=False).topic("a", "3", at=16)
    hand.account.topic_ids.extend([("a", "orders", "3"), ("b", "orders", "1")])
    assert hand.found() == []


# -- the table ------------------------------------------------------------------------------------


def test_every_checker_describes_its_findings() -> None:
    for name, checker in CHECKERS.items():
        assert checker.find.__name__ == name.replace("-", "_")
        assert checker.doc.endswith("."), name
        assert len(checker.doc.splitlines()[0]) > 20, name


def test_no_checker_was_left_out_of_the_table() -> None:
    """A checker is a public function of the package that takes the facts and yields findings."""
    modules = [import_module(f"{checkers.__name__}.{row.name}") for row in iter_modules(checkers.__path__)]
    written = {
        name
        for module in modules
        for name, function in vars(module).items()
        if not name.startswith("_")
        and getattr(function, "__annotations__", None) == {"facts": "Facts", "return": "Iterator[Finding]"}
    }
    assert {checker.find.__name__ for checker in CHECKERS.values()} == written


def test_an_empty_account_is_clean() -> None:
    assert Hand().judged() == ([], [])


def added_while_it_stops() -> Hand:
    """A broker without the removal forwarded an order to add, so the topic is wanted while it stops."""
    hand = Hand().topic("a", "id", at=0).topic("b", "id", at=1)
    hand.stay("a", "b", began=5, mirroring=6, removed=20).order("add", "a", "b", at=20.2)
    return hand.state("b", "STOPPING", at=23).state("b", "STOPPING", at=24).state("b", "STOPPED", at=25)


def test_a_stop_continues_although_the_topic_was_added_again() -> None:
    assert "unordered-stop" not in added_while_it_stops().found()


def test_a_stop_after_mirroring_resumed_is_unordered() -> None:
    hand = added_while_it_stops().state("b", "PREPARING", at=26).state("b", "MIRRORING", at=27)
    assert "unordered-stop" in hand.state("b", "STOPPING", at=30).found()


@pytest.mark.parametrize(("added", "is_told"), [(20.2, False), (40, True)])
def test_a_leader_may_learn_of_an_add_before_it_has_executed_the_removal(added: float, is_told: bool) -> None:
    hand = Hand().topic("a", "id", at=0).topic("b", "id", at=1).order("add", "a", "b", at=5)
    hand.state("b", "PREPARING", at=5.5).state("b", "MIRRORING", at=6).order("remove", "a", "b", at=20)
    hand.order("add", "a", "b", at=added).state("b", "MIRRORING", at=added + 0.3, broker=2)
    assert ("unordered-stop" in hand.state("b", "STOPPING", at=added + 2, broker=2).found()) is is_told


@pytest.mark.parametrize(
    ("cluster", "topic", "at", "is_told"),
    [
        ("b", MIRROR_STATE_TOPIC, 32, False),
        ("a", MIRROR_STATE_TOPIC, 32, True),
        ("b", GROUP_TOPIC, 32, True),
        ("b", MIRROR_STATE_TOPIC, 36, True),
    ],
)
def test_an_earlier_stop_may_be_read_again_after_an_unclean_election_of_states(
    cluster: str, topic: str, at: int, is_told: bool
) -> None:
    hand = Hand().topic("a", "id", at=0).topic("b", "id", at=1).order("add", "a", "b", at=30)
    hand.state("b", "PREPARING", at=30.5).state("b", "MIRRORING", at=31).state("b", "STOPPED", at=35, broker=2)
    hand.account.groups.lost_logs.append(LostCoordinatorLog(cluster, TopicPartition(topic, 0), at * SECOND))
    assert ("unordered-stop" in hand.found()) is is_told
