"""Checkers find faults in histories in which an unclean election lost other records than the fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.histories.account import ReceivedRecord
from kmirror.histories.checkers import judge
from kmirror.histories.group_account import GroupOffsets, LostTransactions
from kmirror.histories.plan import Plan, Step
from kmirror.histories.run import run_history
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import TRANSACTION_TOPIC
from tests.sim.histories import test_planted_faults as plans
from tests.sim.histories.planted import planted

LATER_MS = 9_000
TP = TopicPartition("t0", 0)


def after_an_unclean_election(plan: Plan) -> Plan:
    """Let broker 2 of cluster a lead t0, without the records it missed, before the steps of `plan` begin."""
    t0 = {"cluster": "a", "topic": "t0"}
    election = (
        Step(300, "alter_topic", {**t0, "name": "unclean.leader.election.enable", "value": "true"}),
        Step(500, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 5_000}),
        Step(3_000, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 4_000}),
    )
    return replace(
        plan,
        clusters=(replace(plan.clusters[0], brokers=2, replication_factor=2), *plan.clusters[1:]),
        steps=(*election, *(_later(step) for step in plan.steps)),
        faults_end_ms=plan.faults_end_ms + LATER_MS,
    )


def _later(step: Step) -> Step:
    """Return the step of the plan after the election, in which the brokers of a have swapped roles."""
    args = dict(step.args)
    if args.get("cluster") == "a" and "broker" in args:
        args["broker"] = 3 - int(args["broker"])
    return replace(step, at_ms=step.at_ms + LATER_MS, args=args)


def failover() -> Plan:
    """Cluster b mirrors transactions that overlap, stops during them, and is written to."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = (
        Step(100, "create_mirror", there),
        Step(200, "add", there),
        Step(4_000, "remove", there),
        Step(5_000, "turn", {"cluster": "b", "clients": "p0,p1,p2,p3"}),
    )
    clients = [
        plans.client(f"p{number}", kind)
        for number, kind in enumerate(("overlapping", "abandoned", "long", "idempotent"))
    ]
    return plans.by_hand(steps, clients, clusters="ab", brokers=1)


PLANS = {**plans.PLANS, "failover": failover}
ROWS = {
    "marker_forgotten": ("stop_among_long_ones", "hanging-transaction"),
    "half_a_transaction_committed": ("stop_among_long_ones", "half-transaction"),
    "producer_reset_not_written": ("failover", "pid-collision"),
    "source_epoch_taken_without_ring_check": ("each_other", "acked-lost"),
    "source_read_uncommitted": ("stop_among_long_ones", "divergence"),
    "stop_cuts_an_untouched_log": ("orders_while_away", "acked-lost"),
    "high_watermark_falls": ("read_while_late", "hw-regression"),
    "paused_topics_are_fetched": ("paused_for_a_while", "pause-breach"),
}
"""Fault of FAULTS, the plan that shows it, and the checker that finds it."""


@pytest.mark.parametrize("fault", ROWS)
def test_a_fault_after_an_unclean_election_is_found(fault: str) -> None:
    name, checker = ROWS[fault]
    with planted(fault):
        outcome = run_history(after_an_unclean_election(PLANS[name]()))
    assert not outcome.account.crash
    assert any(heir.cluster == "a" for heir in outcome.account.unclean_leader_logs)
    assert checker in {anomaly.checker for anomaly in outcome.anomalies}


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in ROWS.values()))
def test_only_an_unclean_election_is_excused(name: str) -> None:
    outcome = run_history(after_an_unclean_election(PLANS[name]()))
    assert not outcome.account.crash and outcome.anomalies == []
    assert outcome.account.unclean_leader_logs


def test_an_aborted_record_is_excused_only_if_the_election_found_it_open() -> None:
    """A read_committed consumer gets a record of a transaction without a request to commit."""
    outcome = run_history(after_an_unclean_election(failover()))
    account, heir = outcome.account, outcome.account.unclean_leader_logs[0]
    aborted = [value for row in account.transactions.values() if row.requested_end != "commit" for value in row.values]
    rows = account.final_logs["a", heir.tp].rows
    markers = {row.producer_id: row.offset for row in rows if row.value.startswith("<")}
    row = next(row for row in rows if row.value in aborted and markers.get(row.producer_id, -1) > row.offset)
    given = ReceivedRecord("c", "a", heir.tp, True, row.offset, row.value, row.epoch, 10**7)
    for log, checkers in ((tuple(r for r in rows if r.offset <= row.offset), []), (rows, ["aborted-read"])):
        found, _ = judge(replace(account, reads=[given], unclean_leader_logs=[replace(heir, rows=log)]), outcome.plan)
        assert [anomaly.checker for anomaly in found if anomaly.checker == "aborted-read"] == checkers


def coordinator_without_the_latest() -> Plan:
    """Broker 2 misses the last records of coordinators of transactions, and leads their partition; t0 waits for 1."""
    topic = {"cluster": "a", "topic": TRANSACTION_TOPIC}
    steps = (
        Step(1_000, "alter_topic", {**topic, "name": "unclean.leader.election.enable", "value": "true"}),
        Step(1_500, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 6_000}),
        Step(6_500, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 4_000}),
    )
    kinds = "abandoned", "short", "long"
    clients = [replace(plans.client(f"p{n}", kind), options={"timeout_ms": 9_000}) for n, kind in enumerate(kinds)]
    plan = plans.by_hand(steps, clients)
    configs = {"transaction.state.log.num.partitions": "1", "transaction.state.log.min.isr": "1"}
    return replace(plan, clusters=tuple(replace(row, configs={**row.configs, **configs}) for row in plan.clusters))


def test_a_coordinator_that_lacked_records_excuses_only_their_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """No coordinator ends abandoned transactions; the new one lacked some of them, and had the others."""
    plan = coordinator_without_the_latest()
    right = run_history(plan)
    assert right.anomalies == [] and not right.account.crash and right.account.unclean_leader_logs == []
    monkeypatch.setattr(TransactionCoordinator, "abort_and_fence", lambda *_: None)
    outcome = run_history(plan)
    account = outcome.account
    (hanging,) = [anomaly for anomaly in outcome.anomalies if anomaly.checker == "hanging-transaction"]
    (open_one,) = [row for row in account.final_logs["a", TP].rows if row.offset == hanging.offset]
    lost = [producer for row in account.groups.transactions_lost for producer in row.producers]
    assert lost and open_one.producer_id not in lost
    sent_at = account.writes[open_one.value].sent_at
    for since, at, excused in ((sent_at, sent_at + 1, True), (0, sent_at - 1, False), (sent_at + 10**9, 10**10, False)):
        row = LostTransactions("a", {open_one.producer_id: since}, at)
        groups = replace(account.groups, transactions_lost=[*account.groups.transactions_lost, row])
        found, counted = judge(replace(account, groups=groups, unsettled=[]), outcome.plan)
        assert ("hanging-transaction" in {anomaly.checker for anomaly in found}) is not excused
        assert ("unclean election" in {accepted.decision for accepted in counted}) is excused


def test_a_commit_of_the_source_excuses_a_lost_offset_only_while_it_is_mirrored() -> None:
    """A consumer turns after the failover and commits once; then the group has an offset of the source again."""
    reader = replace(plans.client("c0", "read_committed"), options={"group": "g", "rests": True})
    plan = failover()
    turn = replace(plan.steps[-1], args={"cluster": "b", "clients": "p0,p1,p2,p3,c0"})
    plan = replace(plan, clients=(*plan.clients, reader), steps=(plans.OFTEN, *plan.steps[:-1], turn))
    outcome = run_history(plan)
    account = outcome.account
    assert outcome.anomalies == [] and not account.crash
    (stopped_at,) = [row.at for row in account.states if (row.cluster, row.state) == ("b", "STOPPED")]
    (rested,) = [row for row in account.groups.sent_offsets.values() if row.cluster == "b"]
    earlier = next(row for row in account.groups.sent_offsets.values() if row.cluster == "a")
    for at, excused in ((rested.answered_at + 1, False), (stopped_at, True)):
        late = GroupOffsets("g", "b", None, {TP: (earlier.offset, earlier.token)}, (), True, at, at)
        sent = {**account.groups.sent_offsets, rested.token: replace(rested, sent_at=at - 2, answered_at=at - 1)}
        groups = replace(account.groups, offsets=[late], sent_offsets=sent)
        found, _ = judge(replace(account, groups=groups), plan)
        assert ("offset-lost" in {anomaly.checker for anomaly in found}) is not excused
