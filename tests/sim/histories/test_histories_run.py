"""Runs of histories: equal plans give equal runs, shrunk plans run too, and the account is correct."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.histories.draw import draw
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.run import play
from kmirror.histories.verdict import Outcome
from kmirror.kernel.ids import TopicPartition

SCRIPT = """
import json, sys
from kmirror.histories.draw import draw
from kmirror.histories.plan import Plan
from kmirror.histories.run import play
found = {}
for seed, profile in ((1, "full"), (2, "smoke"), (3, "topologies")):
    plan = Plan.from_json(draw(seed, profile).to_json())
    outcome = play(plan)
    found[profile] = [outcome.digest, repr(outcome.account), repr(outcome.story)]
json.dump(found, sys.stdout)
"""
CONFIGS = draw(0, "smoke").clusters[0].configs
TP = TopicPartition("t", 0)


def run(root: Path, hash_seed: str) -> dict[str, list[str]]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=root, capture_output=True, check=True, timeout=300
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_a_plan_names_a_run_under_any_hash_seed(root: Path) -> None:
    first, second = run(root, "1"), run(root, "4242")
    assert first == second
    assert len({digest for digest, _, _ in first.values()}) == 3


def plan(*steps: tuple[int, str, dict[str, Value]], brokers: int = 1, clients: tuple[ClientPlan, ...] = ()) -> Plan:
    """Return a plan of clusters a and b, in which topic t of a exists."""
    configs = {**CONFIGS, "min.insync.replicas": "1", "transaction.state.log.min.isr": "1"}
    clusters = tuple(ClusterPlan(name, brokers, brokers, configs) for name in "ab")
    done = tuple(Step(at_ms, action, args) for at_ms, action, args in steps)
    return Plan(7, "test", clusters, {}, clients, done, max(at for at, _, _ in steps) + 2_000, 30_000, {"t": "1@a"})


AB: dict[str, Value] = {"mirror": "m", "source": "a", "destination": "b"}
BA: dict[str, Value] = {"mirror": "m", "source": "b", "destination": "a"}
BEGIN = ((300, "create_mirror", AB), (500, "add", {**AB, "topics": "t"}))
PRODUCER = ClientPlan("p", "idempotent", "a", ("t",), 200)
READERS = tuple(ClientPlan(f"c-{name}", "read_committed", name, ("t",), 200) for name in "ab")


def states(outcome: Outcome, cluster: str) -> list[str]:
    """Return the states of a cluster's partition, without repetitions."""
    found: list[str] = []
    for seen in outcome.account.states:
        if seen.cluster == cluster and seen.tp == TP and found[-1:] != [seen.state]:
            found.append(seen.state)
    return found


def story(outcome: Outcome) -> str:
    return "\n".join(text for _, text in outcome.story)


@pytest.fixture(scope="module")
def there_and_back() -> Outcome:
    return play(
        plan(
            *BEGIN,
            (4_000, "remove", {**AB, "topics": "t"}),
            (5_000, "turn", {"clients": "p", "cluster": "b"}),
            (7_000, "create_mirror", BA),
            (7_300, "add", {**BA, "topics": "t"}),
            clients=(PRODUCER, *READERS),
        )
    )


def test_a_quiet_failover_and_failback_converges(there_and_back: Outcome) -> None:
    outcome = there_and_back
    assert outcome.account.crash == "" and outcome.account.unsettled == []
    assert states(outcome, "b")[-3:] == ["MIRRORING", "STOPPING", "STOPPED"]
    assert states(outcome, "a")[-1] == "MIRRORING"
    assert [(o.action, o.error) for o in outcome.account.orders] == [
        ("create_mirror", "NONE"),
        ("add", "NONE"),
        ("remove", "NONE"),
        ("create_mirror", "NONE"),
        ("add", "NONE"),
    ]
    account = outcome.account
    assert account.final_logs["a", TP].rows == account.final_logs["b", TP].rows
    assert account.differing_replicas == [] and len({topic_id for _, _, topic_id in account.topic_ids}) == 1


def test_records_acknowledged_after_the_failover_are_in_both_logs(there_and_back: Outcome) -> None:
    account = there_and_back.account
    wanted = {ack.value: ack.offset for ack in account.acks if ack.cluster == "b"}
    assert len(wanted) > 5
    for cluster in "ab":
        found = {row.value: row.offset for row in account.final_logs[cluster, TP].rows}
        assert wanted.items() <= found.items()
        assert all(row.visible for row in account.final_logs[cluster, TP].rows if not row.value.startswith("<"))
    read = {r.value: r.offset for r in account.reads if r.client == "c-b"}
    assert wanted.items() <= read.items()
    assert [w for w in account.writes if account.writes[w].cluster == "a"], "before the turn a was written to"


def test_logs_are_observed_before_each_add_and_remove_and_at_the_end_of_sessions(there_and_back: Outcome) -> None:
    account = there_and_back.account
    looked = {(seen.cluster, seen.at) for seen in account.logs}
    for order in account.orders:
        if order.action in ("add", "remove"):
            assert ("a", order.sent_at) in looked
    for seen in account.states:
        if seen.state in ("MIRRORING", "STOPPED"):
            assert any(log.cluster == seen.cluster and 0 <= log.at - seen.at < 1_000 for log in account.logs)


def test_faults_end_by_themselves_and_at_the_end_at_the_latest() -> None:
    outcome = play(
        plan(
            *BEGIN,
            (1_000, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 700}),
            (1_200, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 700}),
            (1_300, "kill_controller", {"cluster": "b"}),
            (1_400, "line_down", {"one": "a", "other": "b", "one_way": True}),
            (1_500, "line_slow", {"one": "a", "other": "b", "ms": 100, "for_ms": 300}),
            (2_000, "line_lossy", {"one": "a", "other": "b", "ppm": 100_000}),
            clients=(PRODUCER,),
        )
    )
    spans = {(span.kind, span.subject): (span.begin // 1000, span.end // 1000) for span in outcome.account.spans}
    assert spans == {
        ("broker", "a-1"): (1_000, 1_700),
        ("controller", "b-100"): (1_300, 4_000),
        ("line", "a>b"): (1_400, 4_000),
        ("slow", "a|b"): (1_500, 1_800),
        ("lossy", "a|b"): (2_000, 4_000),
    }
    assert "step 3 skipped: a-1 is down" in story(outcome)
    assert outcome.account.unsettled == [] and states(outcome, "b")[-1] == "MIRRORING"


def test_a_trap_kills_in_the_event_after_the_state() -> None:
    trap: dict[str, Value] = {
        "cluster": "b",
        "source": "a",
        "topic": "t",
        "on": "STOPPING",
        "victim": "leader",
        "for_ms": 500,
    }
    outcome = play(plan(*BEGIN, (3_000, "kill_when", trap), (3_100, "remove", {**AB, "topics": "t"}), brokers=2))
    [span] = outcome.account.spans
    [first] = [seen for seen in outcome.account.states if seen.state == "STOPPING"][:1]
    assert (span.kind, span.begin) == ("broker", first.at) and span.subject == f"b-{first.broker}"
    assert states(outcome, "b")[-1] == "STOPPED" and outcome.account.unsettled == []


def test_an_unclean_election_is_seen_as_one() -> None:
    replica: dict[str, Value] = {"cluster": "a", "topic": "t", "partition": 0}
    unclean = "unclean.leader.election.enable"
    outcome = play(
        plan(
            (300, "alter_topic", {"cluster": "a", "topic": "t", "name": unclean, "value": "true"}),
            (500, "kill_replica", {**replica, "victim": "follower", "for_ms": 5_000}),
            (5_200, "kill_replica", {**replica, "victim": "leader", "for_ms": 5_000}),
            (8_500, "turn", {"clients": "p", "cluster": "a"}),
            brokers=2,
            clients=(PRODUCER,),
        )
    )
    assert [election.unclean for election in outcome.account.elections].count(True) == 1
    assert outcome.account.unsettled == []


def test_a_history_that_never_converges_is_reported_with_the_reason() -> None:
    steps = (*BEGIN, (700, "remove", {**AB, "topics": "t"}))
    hurried = replace(plan(*steps), converge_ms=0)
    assert play(plan(*steps)).account.unsettled == []
    outcome = play(replace(hurried, clients=(ClientPlan("p", "abandoned", "a", ("t",), 100, {"timeout_ms": 9_000}),)))
    assert any("transactions are open" in why for _, _, why in outcome.account.unsettled)


def test_an_order_about_two_topics_is_answered_for_each() -> None:
    """Cluster b has its own topic u, which is refused; t is mirrored nevertheless, and stays."""
    both: dict[str, Value] = {**AB, "topics": "t,u"}
    made = [(200, "create_topic", {"cluster": name, "topic": "u", "partitions": 1}) for name in "ab"]
    outcome = play(
        plan(*made, (300, "create_mirror", AB), (500, "add", both), (3_000, "remove", {**AB, "topics": "u"}))
    )
    assert [(o.action, o.topics, o.error) for o in outcome.account.orders if o.action in ("add", "remove")] == [
        ("add", ("t",), "NONE"),
        ("add", ("u",), "INCONSISTENT_TOPIC_ID"),
        ("remove", ("u",), "UNKNOWN_MIRROR"),
    ]
    assert outcome.account.unsettled == [] and states(outcome, "b")[-1] == "MIRRORING"
    assert "answered: t NONE, u INCONSISTENT_TOPIC_ID" in story(outcome)


def test_a_crash_of_a_node_is_the_outcome_and_not_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    from kmirror.mirror.fetchers import MirrorFetchers

    def fail(*_: object) -> None:
        raise AssertionError("planted")

    monkeypatch.setattr(MirrorFetchers, "assign", fail)
    outcome = play(plan(*BEGIN))
    assert "AssertionError: planted" in outcome.account.crash
    assert outcome.exit.name == "CRASH"


@pytest.mark.parametrize("seed", [3, 8, 12])
def test_a_plan_with_removed_steps_and_clients_still_runs(seed: int) -> None:
    whole = draw(seed)
    for part in (0, 1):
        steps = tuple(step for n, step in enumerate(whole.steps) if n % 2 == part)
        clients = tuple(client for n, client in enumerate(whole.clients) if n % 2 == part)
        assert play(replace(whole, steps=steps, clients=clients)).account.crash == ""


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (Step(0, "dance"), "step 0: unknown action 'dance'"),
        (Step(0, "kill_broker", {"cluster": "a"}), "step 0: kill_broker needs broker"),
        (Step(0, "kill_cluster", {"cluster": "a", "for": 5}), "step 0: kill_cluster has no argument for"),
        (Step(0, "kill_broker", {"cluster": "a", "broker": 4}), "step 0: unknown node or site 'a-4'"),
        (Step(0, "kill_controller", {"cluster": "z"}), "step 0: unknown cluster 'z'"),
        (Step(0, "line_down", {"one": "a", "other": "b-x"}), "step 0: unknown node or site 'b-x'"),
        (Step(0, "line_down", {"one": "a-1", "other": "a-1"}), "step 0: there is no line between 'a-1' and itself"),
        (Step(0, "create_mirror", {**AB, "servers": "q"}), "step 0: servers must be a cluster or nobody, not 'q'"),
    ],
)
def test_a_plan_that_cannot_be_executed_has_a_reason(step: Step, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        play(replace(plan(*BEGIN), steps=(step,)))
