"""Each planted fault is found by the checkers that exist for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest

from kmirror.sim.history.checkers import CHECKERS
from kmirror.sim.history.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.sim.history.run import run_history
from kmirror.sim.history.verdict import Outcome
from tests.sim.planted import FAULTS, planted


def by_hand(steps: Iterable[Step], clients: Iterable[ClientPlan], *, clusters: str = "a", brokers: int = 2) -> Plan:
    """One topic `t0` with one partition, at first in cluster a."""
    configs = {
        "min.insync.replicas": "1",
        "broker.heartbeat.interval.ms": "300",
        "broker.session.timeout.ms": "1500",
        "replica.lag.time.max.ms": "1500",
    }
    return Plan(
        seed=0,
        profile="by hand",
        clusters=tuple(ClusterPlan(name, brokers, brokers, configs) for name in clusters),
        network={},
        clients=tuple(clients),
        steps=tuple(steps),
        faults_end_ms=12_000,
        converge_ms=20_000,
        topics={"t0": "1@a"},
    )


def client(name: str, kind: str, cluster: str = "a") -> ClientPlan:
    return ClientPlan(name, kind, cluster, ("t0",), 100)


BROKER_2_AWAY = Step(500, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 4_000})
BROKER_2_FAR = Step(4_000, "slow_link", {"one": "a-1", "other": "a-2", "ms": 800, "for_ms": 3_000})


def late_joiner() -> Plan:
    """Broker 2 comes back over a slow line; broker 1 dies before broker 2 has what it missed."""
    dies = Step(LATE_MS, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 4_000})
    return by_hand((BROKER_2_AWAY, BROKER_2_FAR, dies), [client("p0", "plain")])


def read_while_late() -> Plan:
    """Broker 2 comes back over a slow line, and a consumer reads from broker 1 all the while."""
    return by_hand((BROKER_2_AWAY, BROKER_2_FAR), [client("p0", "plain"), client("c0", "read_uncommitted")])


def late_answer() -> Plan:
    """The brokers do not reach each other for longer than a producer waits for an answer."""
    cut = Step(1_000, "cut_link", {"one": "a-1", "other": "a-2", "for_ms": 4_000})
    return by_hand((cut,), [client("p0", "idempotent")])


def power_lost() -> Plan:
    """Each broker in turn loses power, with a slow line between them, so that each has what the other has not yet."""
    steps = [Step(500, "slow_link", {"one": "a-1", "other": "a-2", "ms": 400, "for_ms": 9_000})]
    steps += [
        Step(at, "cut_power", {"cluster": "a", "broker": broker, "for_ms": 300})
        for at, broker in ((2_000, 1), (2_100, 2), (7_000, 1), (7_100, 2))
    ]
    return by_hand(steps, [client("p0", "plain"), client("p1", "plain")])


def each_other() -> Plan:
    """Cluster b has mirrored from a; then each is ordered to mirror from the other, and b is away for a moment."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    back = {"mirror": "m", "source": "b", "destination": "a", "topics": "t0"}
    return by_hand(
        (
            Step(100, "create_mirror", there),
            Step(150, "create_mirror", back),
            Step(200, "add", there),
            Step(4_000, "remove", there),
            Step(5_900, "slow_link", {"one": "a", "other": "b", "ms": 400, "for_ms": 6_000}),
            Step(6_000, "add", there),
            Step(6_050, "add", back),
            Step(6_300, "kill_broker", {"cluster": "b", "broker": 1, "for_ms": 1_000}),
        ),
        [client("p0", "plain")],
        clusters="ab",
        brokers=1,
    )


def stop_among_long_ones() -> Plan:
    """Cluster b mirrors long transactions that overlap, and stops amid them."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = Step(100, "create_mirror", there), Step(200, "add", there), Step(STOP_MS, "remove", there)
    return by_hand(steps, [client(f"p{number}", "long") for number in range(5)], clusters="ab", brokers=1)


def orders_while_away() -> Plan:
    """Cluster a writes; its topic is added to a mirror and removed again while the source is out of reach."""
    order = {"mirror": "m", "source": "b", "destination": "a", "topics": "t0"}
    away = Step(800, "cut_link", {"one": "a", "other": "b", "for_ms": 5_000})
    steps = Step(300, "create_mirror", order), away, Step(1_500, "add", order), Step(2_500, "remove", order)
    return by_hand(steps, [client("p0", "long"), client("p1", "plain")], clusters="ab", brokers=1)


def mirror_of_a_failback() -> Plan:
    """Cluster c mirrors a; a fails back from b, in an epoch that it had used itself, while c does not reach it."""
    there, again, back = (
        {"mirror": "m", "source": source, "destination": destination, "topics": "t0"}
        for source, destination in ("ab", "ac", "ba")
    )
    return by_hand(
        (
            *(Step(100 + n, "create_mirror", order) for n, order in enumerate((there, again, back))),
            Step(300, "add", there),
            Step(2_000, "remove", there),
            Step(2_500, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 1_000}),
            Step(3_500, "add", again),
            Step(6_500, "cut_link", {"one": "a", "other": "c", "for_ms": 4_000}),
            Step(6_700, "add", back),
        ),
        [client("p0", "plain"), client("p1", "plain", "b")],
        clusters="abc",
    )


LATE_MS = 5_600
STOP_MS = 9_000
PLANS: dict[str, Callable[[], Plan]] = {
    plan.__name__: plan
    for plan in (
        late_joiner,
        read_while_late,
        late_answer,
        power_lost,
        each_other,
        mirror_of_a_failback,
        stop_among_long_ones,
        orders_while_away,
    )
}


@dataclass(frozen=True, slots=True)
class Row:
    """What finds a fault: the checkers, and where they see it first."""

    fault: str
    checkers: tuple[str, ...]
    """Any of them will do."""
    profile: str
    """Of a seed, or a plan of PLANS."""
    seed: int
    seeds: int
    """How many seeds from 0 on it takes to see it first, when this was written."""


FOUND = (
    Row("cut_off_by_one", ("mirrored-lost",), "smoke", 1, 2),
    Row("epoch_off_by_one", ("divergence",), "replicas", 8, 9),
    Row("stop_does_not_cut", ("aborted-read",), "smoke", 1, 2),
    Row("reopened_transactions_left_open", ("aborted-read",), "smoke", 1, 2),
    Row("stop_cuts_what_it_never_touched", ("acked-lost",), "orders_while_away", 0, 1),
    Row("half_a_transaction_committed", ("half-transaction",), "stop_among_long_ones", 0, 1),
    Row("source_taken_at_its_word", ("last-copy-lost",), "each_other", 0, 1),
    Row("silence_believed", ("acked-lost",), "smoke", 2, 3),
    Row("preparing_does_not_wait", ("divergence", "stuck-state"), "replicas", 16, 17),
    Row("owed_cuts_forgotten", ("divergence",), "replicas", 45, 46),
    Row("numbers_believed", ("divergence",), "mirror_of_a_failback", 0, 1),
    Row("reset_before_the_epoch_is_settled", ("divergence",), "smoke", 1, 2),
    Row("last_mirrored_epoch_recomputed", ("lme-loss",), "smoke", 1, 2),
    Row("last_mirrored_epoch_not_persisted", ("lme-loss",), "smoke", 1, 2),
    Row("bump_skipped", ("divergence",), "smoke", 2, 3),
    Row("first_epoch_stamped_for_ever", ("epoch-regression",), "smoke", 2, 3),
    Row("epochs_begin_anew", ("epoch-regression",), "smoke", 0, 1),
    Row("acknowledged_by_the_leader_alone", ("acked-lost",), "power_lost", 0, 1),
    Row("high_watermark_raised_early", ("acked-lost",), "replicas", 42, 43),
    Row("high_watermark_falls", ("hw-regression",), "read_while_late", 0, 1),
    Row("divergence_ignored", ("stuck-state",), "smoke", 2, 3),
    Row("isr_joined_too_early", ("acked-lost",), "late_joiner", 0, 1),
    Row("batch_skipped", ("divergence",), "smoke", 2, 3),
    Row("byte_flipped", ("divergence",), "smoke", 0, 1),
    Row("wrong_epoch_copied", ("divergence",), "smoke", 2, 3),
    Row("source_read_uncommitted", ("divergence",), "smoke", 8, 9),
    Row("marker_forgotten", ("hanging-transaction",), "smoke", 1, 2),
    Row("retries_not_recognized", ("duplicate-at-offset",), "late_answer", 0, 1),
    Row("producer_reset_not_written", ("pid-collision",), "smoke", 0, 1),
    Row("read_only_not_enforced", ("read-only-breach",), "transactions", 0, 1),
    Row("stop_never_finishes", ("stuck-state",), "smoke", 0, 1),
    Row("another_topic_id", ("topic-id-mismatch",), "smoke", 0, 1),
)
QUICK = "smoke", *PLANS


def run(row: Row) -> Outcome:
    plan = PLANS.get(row.profile)
    return run_history(seed=row.seed, profile=row.profile) if plan is None else run_history(plan())


def found(outcome: Outcome) -> set[str]:
    return {anomaly.checker for anomaly in outcome.anomalies}


@pytest.mark.parametrize("row", FOUND, ids=lambda row: row.fault)
def test_a_planted_fault_is_found(row: Row) -> None:
    with planted(row.fault):
        outcome = run(row)
    assert not outcome.account.crash
    assert found(outcome) & set(row.checkers), found(outcome)


@pytest.mark.parametrize("row", FOUND, ids=lambda row: row.fault)
def test_without_the_fault_its_checker_is_silent(row: Row) -> None:
    assert not found(run(row)) & set(row.checkers)


def test_every_fault_has_its_row() -> None:
    assert [row.fault for row in FOUND] == list(FAULTS)
    assert len(FAULTS) >= 20
    assert all(fault.doc.endswith(".") or fault.doc.endswith(").") for fault in FAULTS.values())
    assert 2 * sum(row.profile in QUICK for row in FOUND) > len(FOUND)


def test_every_checker_has_a_fault_that_it_alone_is_there_for() -> None:
    judges = {row.checkers[0] for row in FOUND if len(row.checkers) == 1}
    assert [name for name in CHECKERS if name not in judges] == []
    assert [name for row in FOUND for name in row.checkers if name not in CHECKERS] == []
