"""The expected final state of a topic, and permitted waits: derived from orders and responses alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.histories.account import UNAWARE, Account, ObservedState, Order, TopicChange
from kmirror.histories.convergence import NOT_IN_A_MIRROR, ExpectedState, expected_states, waiting_topics
from kmirror.histories.orders import NOBODY
from kmirror.histories.plan import ClusterPlan, Plan, Step, Value
from kmirror.kernel.ids import TopicPartition

CLUSTERS = tuple(ClusterPlan(name, 1, 1) for name in "abc")
TP = TopicPartition("t", 0)


class OrderSequence:
    """A sequence of orders, as in the plan and with their responses."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.account = Account(topic_ids=[("a", "t", "id"), ("b", "t", "id")])
        for cluster in "abc":
            self.created(cluster, at=-1)

    def order(self, action: str, source: str, destination: str, *, error: str = "NONE", **more: Value) -> OrderSequence:
        number = len(self.steps)
        args: dict[str, Value] = {"mirror": "m", "source": source, "destination": destination, **more}
        self.steps.append(Step(number, action, args))
        topics = ("t",) if action in ("add", "remove", "pause", "resume", "delete_topic") else ()
        self.account.orders.append(
            Order(
                number, action, str(args["mirror"]), source, destination, topics, number, number if error else -1, error
            )
        )
        return self

    def state(self, cluster: str, state: str, epoch: int, *, at: int = 0) -> OrderSequence:
        self.account.states.append(ObservedState(cluster, "m", TP, 1, state, epoch, 0, "", at))
        return self

    def deleted(self, cluster: str, topic_id: str = "id", *, at: int = 10) -> OrderSequence:
        self.account.topics.append(TopicChange(cluster, "t", topic_id, False, at))
        return self

    def created(self, cluster: str, topic_id: str = "id", *, at: int) -> OrderSequence:
        self.account.topics.append(TopicChange(cluster, "t", topic_id, True, at))
        return self

    def expected_states(self, *clusters: ClusterPlan) -> dict[str, ExpectedState]:
        plan = Plan(0, "", clusters or CLUSTERS, {}, (), tuple(self.steps), 0, 0)
        return {row.cluster: row for row in expected_states(plan, self.account)}


def mirrored(error: str = "NONE") -> OrderSequence:
    return OrderSequence().order("create_mirror", "a", "b").order("add", "a", "b", error=error)


def test_added_topics_expect_mirroring_and_removed_ones_stopped() -> None:
    assert mirrored().expected_states()["b"] == ExpectedState("b", "t", "m", "a", ("MIRRORING",), "")
    assert mirrored().order("remove", "a", "b").expected_states()["b"].states == ("STOPPED",)
    assert mirrored().order("remove", "a", "b").order("add", "a", "b").expected_states()["b"].states == ("MIRRORING",)


@pytest.mark.decision("D50")
def test_paused_topics_expect_paused_and_resumed_ones_mirroring() -> None:
    assert mirrored().order("pause", "a", "b").expected_states()["b"] == ExpectedState(
        "b", "t", "m", "a", ("PAUSED",), ""
    )
    assert mirrored().order("pause", "a", "b", error="").expected_states()["b"].states == ("MIRRORING", "PAUSED")
    assert mirrored().order("pause", "a", "b").order("resume", "a", "b").expected_states()["b"].states == ("MIRRORING",)
    assert mirrored().order("pause", "a", "b").order("remove", "a", "b").expected_states()["b"].states == ("STOPPED",)


@pytest.mark.decision("D51")
def test_topics_of_a_deleted_mirror_are_in_none_until_added_again() -> None:
    told = mirrored().order("remove", "a", "b").order("delete_mirror", "a", "b")
    assert told.expected_states()["b"].states == (NOT_IN_A_MIRROR,)
    told.order("create_mirror", "c", "b").order("add", "c", "b")
    told.account.topic_ids.append(("c", "t", "id"))
    assert told.expected_states()["b"] == ExpectedState("b", "t", "m", "c", ("MIRRORING",), ""), (
        "what it pointed to before counts no more"
    )


@pytest.mark.decision("D51")
def test_a_deletion_that_was_not_answered_may_have_been_carried_out() -> None:
    told = mirrored().order("remove", "a", "b").order("delete_mirror", "a", "b", error="")
    assert told.expected_states()["b"].states == ("STOPPED", NOT_IN_A_MIRROR)


def test_a_paused_topic_waits_with_its_open_transactions() -> None:
    assert waiting_topics(list(mirrored().order("pause", "a", "b").expected_states().values())) == {("b", "t"): None}


def test_failed_orders_expect_nothing_and_unanswered_ones_either_state() -> None:
    assert mirrored(error="UNKNOWN_MIRROR").expected_states() == {}
    assert mirrored(error="").expected_states() == {}
    assert mirrored().order("remove", "a", "b", error="UNKNOWN_MIRROR").expected_states()["b"].states == ("MIRRORING",)
    assert mirrored().order("remove", "a", "b", error="").expected_states()["b"].states == ("MIRRORING", "STOPPED")


def test_of_two_concurrent_orders_either_may_be_the_last() -> None:
    told = mirrored().order("remove", "a", "b")
    add, remove = told.account.orders[-2:]
    told.account.orders[-2:] = [replace(add, answered_at=remove.sent_at + 1), remove]
    assert told.expected_states()["b"].states == ("MIRRORING", "STOPPED")


def test_invalid_servers_are_an_excuse_until_they_are_corrected() -> None:
    told = OrderSequence().order("create_mirror", "a", "b", servers=NOBODY).order("add", "a", "b")
    assert told.expected_states()["b"].excuse == "the mirror has no valid bootstrap.servers"
    assert told.order("point_mirror", "a", "b", servers="a").expected_states()["b"].excuse == ""


@pytest.mark.decision("D16")
def test_another_cluster_that_was_pointed_to_first_is_an_excuse_for_ever() -> None:
    told = OrderSequence().order("create_mirror", "a", "b", servers="c").order("add", "a", "b")
    told.account.topic_ids.append(("c", "t", "id"))
    assert told.expected_states()["b"].excuse == ""
    told.order("point_mirror", "a", "b", servers="a")
    assert told.expected_states()["b"].excuse == "the mirror had another source cluster before"
    assert told.order("remove", "a", "b").expected_states()["b"].excuse == "", "a stop needs no source"


@pytest.mark.decision("D16")
def test_another_id_expects_failed_and_a_topic_missing_here_mirroring() -> None:
    told = mirrored()
    told.account.topic_ids = [("a", "t", "one"), ("b", "t", "other")]
    assert told.expected_states()["b"] == ExpectedState("b", "t", "m", "a", ("FAILED", "STOPPED"), "")
    assert told.order("pause", "a", "b").expected_states()["b"].states == ("PAUSED", "FAILED", "STOPPED")
    told = mirrored()
    told.account.topic_ids = [("a", "t", "one")]
    assert told.expected_states()["b"].excuse == "", "the mirror creates it"


@pytest.mark.decision("D16")
def test_a_topic_missing_at_the_source_expects_stopped() -> None:
    told = mirrored()
    told.account.topic_ids = [("b", "t", "id")]
    assert told.expected_states()["b"] == ExpectedState("b", "t", "m", "a", ("STOPPED",), "")
    paused = told.order("pause", "a", "b").expected_states()["b"]
    assert paused.states == ("PAUSED", "STOPPED") and paused.until_mirroring, "a paused topic is left alone"
    told.account.topic_ids = []
    assert told.order("resume", "a", "b").expected_states()["b"].excuse == "the source has no such topic", (
        "nor is it here (D26)"
    )


@pytest.mark.decision("D16")
def test_an_add_without_a_response_may_not_have_been_executed() -> None:
    told = mirrored().order("remove", "a", "b").order("delete_mirror", "a", "b")
    told.order("create_mirror", "a", "b").order("add", "a", "b", error="")
    told.account.topic_ids = [("b", "t", "id")]
    assert told.expected_states()["b"].states == (NOT_IN_A_MIRROR, "STOPPED")


@pytest.mark.decision("D16")
def test_a_topic_missing_at_the_source_at_first_may_have_been_stopped() -> None:
    told = mirrored()
    told.account.topics.append(TopicChange("a", "t", "id", True, 9))
    assert told.expected_states()["b"].states == ("MIRRORING", "STOPPED")


@pytest.mark.decision("D16")
def test_a_topic_recreated_at_the_source_expects_failed_or_stopped() -> None:
    told = mirrored().state("b", "MIRRORING", -1, at=5).deleted("a")
    told.account.topic_ids = [("a", "t", "another"), ("b", "t", "id")]
    assert told.expected_states()["b"] == ExpectedState("b", "t", "m", "a", ("FAILED", "STOPPED"), "")
    assert told.order("remove", "a", "b").expected_states()["b"].states == ("STOPPED",)


@pytest.mark.decision("D49")
def test_a_source_that_is_a_mirror_itself_may_have_the_same_id_again() -> None:
    told = mirrored().state("b", "MIRRORING", -1, at=5).deleted("a")
    assert told.expected_states()["b"].states == ("MIRRORING", "STOPPED")


def had_another_between(topic_id: str = "another") -> OrderSequence:
    """Return orders: b mirrors a, whose topic has another id from 12 to 20 and then the former one again."""
    told = mirrored().state("b", "MIRRORING", -1, at=5).deleted("a", at=10)
    return told.created("a", topic_id, at=12).deleted("a", topic_id, at=20).created("a", at=22)


@pytest.mark.decision("D16")
@pytest.mark.decision("D49")
def test_a_failure_by_another_source_topic_stays_when_the_former_id_returns() -> None:
    told = had_another_between()
    assert told.expected_states()["b"].states == ("MIRRORING", "STOPPED"), "it may have been too short to be noticed"
    assert told.state("b", "FAILED", -1, at=13).expected_states()["b"].states == ("MIRRORING", "STOPPED", "FAILED")
    assert told.order("pause", "a", "b").expected_states()["b"].states == ("PAUSED", "STOPPED", "FAILED")
    assert told.order("remove", "a", "b").expected_states()["b"].states == ("STOPPED",)


@pytest.mark.decision("D16")
def test_a_failure_at_another_time_is_not_excused_by_another_topic() -> None:
    late = 20 + UNAWARE + 1
    before = had_another_between().state("b", "FAILED", -1, at=11).state("b", "UNKNOWN", -1, at=13)
    assert "FAILED" not in before.state("b", "FAILED", -1, at=14).expected_states()["b"].states, (
        "a new leader says it again"
    )
    assert "FAILED" not in had_another_between().state("b", "FAILED", -1, at=late).expected_states()["b"].states
    assert "FAILED" not in had_another_between("id").state("b", "FAILED", -1, at=13).expected_states()["b"].states
    again = had_another_between().state("b", "FAILED", -1, at=13)
    again.steps += [Step(number, "", {}) for number in range(2, 30)]
    assert "FAILED" not in again.order("remove", "a", "b").order("add", "a", "b").expected_states()["b"].states


@pytest.mark.decision("D53")
def test_a_recreated_topic_without_an_id_is_an_excuse() -> None:
    told = mirrored().state("b", "MIRRORING", -1, at=5).deleted("a")
    old = replace(CLUSTERS[0], release="2.1")
    assert told.expected_states(old, *CLUSTERS[1:])["b"].excuse.endswith("created again, and has no id")
    before = OrderSequence().order("create_mirror", "a", "b").deleted("a", at=-1).order("add", "a", "b")
    assert before.expected_states(old, *CLUSTERS[1:])["b"].excuse == "", "what was there before the mirror is no matter"


@pytest.mark.decision("D49")
def test_a_topic_deleted_here_is_in_no_mirror_until_it_is_added_again() -> None:
    told = mirrored().order("remove", "a", "b").order("delete_topic", "", "b")
    assert told.expected_states()["b"].states == (NOT_IN_A_MIRROR,)
    assert told.order("add", "a", "b").expected_states()["b"].states == ("MIRRORING",)
    assert mirrored().order("delete_topic", "", "a").expected_states().keys() == {"b"}, "the source's was in no mirror"


@pytest.mark.decision("D34")
def test_a_topic_removed_before_it_was_created_may_be_in_no_mirror() -> None:
    assert mirrored().order("remove", "a", "b").created("b", at=3).expected_states()["b"].states == (
        "STOPPED",
        NOT_IN_A_MIRROR,
    )
    assert mirrored().created("b", at=1).order("remove", "a", "b").expected_states()["b"].states == ("STOPPED",)


def chain_of_three(**more: Value) -> OrderSequence:
    """Return orders: c mirrors b, which mirrors a, and a mirrors c; `more` applies to the mirror from a to b."""
    told = OrderSequence().order("create_mirror", "a", "b", **more).order("add", "a", "b")
    told.order("create_mirror", "b", "c").order("add", "b", "c").order("create_mirror", "c", "a").order("add", "c", "a")
    told.account.topic_ids.append(("c", "t", "id"))
    return told


@pytest.mark.decision("D58")
def test_each_cluster_of_a_ring_may_wait_until_one_leaves_it() -> None:
    told = chain_of_three()
    assert {row.excuse for row in told.expected_states().values()} == {"the topic would be mirrored in a ring"}
    assert all(row.until_mirroring for row in told.expected_states().values()), "who is MIRRORING must catch up"
    told.order("remove", "a", "b").state("b", "STOPPED", 0)
    assert {row.excuse for row in told.expected_states().values()} == {""}
    unanswered = chain_of_three().order("remove", "b", "c", error="").expected_states()["a"]
    assert unanswered.excuse, "it may not have been carried out"


@pytest.mark.decision("D58")
def test_a_source_that_cannot_reach_its_own_source_is_an_excuse() -> None:
    told = chain_of_three(servers=NOBODY)
    assert told.expected_states()["a"].excuse.endswith("cannot check whether that is this cluster")
    assert told.order("point_mirror", "a", "b", servers="c").expected_states()["a"].excuse == ""


@pytest.mark.decision("D25")
def test_state_deleted_with_its_topic_excuses_nothing() -> None:
    told = mirrored().order("remove", "a", "b").order("create_mirror", "b", "a").state("b", "STOPPED", -2)
    told.deleted("b", at=20).order("add", "b", "a")
    assert told.expected_states()["a"].excuse == ""


@pytest.mark.decision("D25")
def test_mirrors_in_both_directions_are_an_excuse_until_one_is_removed() -> None:
    told = mirrored().state("b", "MIRRORING", -1).order("create_mirror", "b", "a").order("add", "b", "a")
    excuse = "each of two clusters mirrors the topic from the other"
    assert {row.excuse for row in told.expected_states().values()} == {excuse}
    told.order("remove", "a", "b").state("b", "STOPPED", 4)
    assert told.expected_states()["a"] == ExpectedState("a", "t", "m", "b", ("MIRRORING",), "")
    assert told.expected_states()["b"].states == ("STOPPED",)


@pytest.mark.decision("D25")
def test_the_only_copy_is_an_excuse_unless_the_other_mirror_had_records() -> None:
    told = mirrored().order("remove", "a", "b").order("create_mirror", "b", "a").order("add", "b", "a")
    told.state("b", "STOPPED", -2)
    assert told.expected_states()["a"].excuse.endswith("ours is the only copy")
    assert told.state("b", "STOPPED", 3).expected_states()["a"].excuse == ""


@pytest.mark.decision("D25")
def test_the_only_copy_is_no_excuse_once_the_topic_is_in_another_mirror_there() -> None:
    told = mirrored().order("remove", "a", "b").state("b", "STOPPED", -2)
    told.order("create_mirror", "c", "b", mirror="n").order("add", "c", "b", error="", mirror="n")
    told.order("create_mirror", "b", "a").order("add", "b", "a")
    assert told.expected_states()["a"].excuse.endswith("ours is the only copy"), "it may not have been carried out"
    told.order("add", "c", "b", mirror="n")
    assert told.expected_states()["a"].excuse == ""


def test_a_chain_is_no_excuse() -> None:
    told = mirrored().order("create_mirror", "b", "c").order("add", "b", "c")
    assert [row.excuse for row in told.expected_states().values()] == ["", ""]


@pytest.mark.decision("D25")
@pytest.mark.parametrize("came_at", [None, 9], ids=["never", "later"])
def test_a_mirror_that_found_no_topic_may_belong_to_any_source(came_at: int | None) -> None:
    """b was ordered to follow a, which had no such topic, and c is ordered to follow b."""
    told = mirrored().state("b", "STOPPED", -2).order("create_mirror", "b", "c").order("add", "b", "c")
    assert told.expected_states()["c"].excuse == ""
    told.account.topics = [] if came_at is None else [replace(told.account.topics[0], at=came_at)]
    assert told.expected_states()["c"].excuse.endswith("ours is the only copy")


@pytest.mark.decision("D25")
def test_a_mirror_that_never_reached_its_source_may_belong_to_any() -> None:
    told = mirrored().order("remove", "a", "b").state("b", "STOPPED", -2).order("create_mirror", "b", "c")
    told.account.topic_ids.append(("c", "t", "id"))
    assert (
        told.order("add", "b", "c").expected_states()["c"].excuse.startswith("the source's mirror of that name stopped")
    )


def test_a_mirror_behind_one_that_waits_waits_for_open_transactions_too() -> None:
    """The waiting topic gets no markers, so its mirrors do not pass the transactions that are open there."""
    waits = ExpectedState("a", "t", "m", "b", ("MIRRORING",), "each mirrors the other")
    behind = ExpectedState("b", "t", "m", "a", ("MIRRORING",), "")
    chain = ExpectedState("c", "t", "n", "b", ("MIRRORING",), "")
    other = ExpectedState("c", "u", "n", "b", ("MIRRORING",), "")
    assert sorted(waiting_topics([chain, waits, other, behind])) == [("a", "t"), ("b", "t"), ("c", "t")]
