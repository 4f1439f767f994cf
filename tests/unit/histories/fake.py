"""A history that fails for known reasons, without any cluster: `run_history` for tests of its callers.

It fails if orders is removed from its mirror (`remove`) after a broker was killed (`kill_broker`), and the producer
`p1` exists. Profile `crash` crashes, `stuck` never converges, `clean` is clean, `slow` waits.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

from kmirror.errors import UsageError
from kmirror.histories.account import (
    Account,
    Ack,
    Election,
    LogRow,
    ObservedCut,
    ObservedLog,
    ObservedState,
    Order,
    ReceivedRecord,
    Span,
)  # fmt: skip
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.histories.verdict import Accepted, Anomaly, Outcome
from kmirror.kernel.ids import TopicPartition

TP = TopicPartition("orders", 0)
OTHER = TopicPartition("payments", 1)
SECOND = 1_000_000
TRACE = 'Traceback (most recent call last):\n  File "broker.py", line 7, in handle\n    x\nKeyError: 5\n'


def draw(seed: int, profile: str) -> Plan:
    """Return a plan of twenty steps; the two relevant ones are between others that come in pairs."""
    noise = [
        Step(300 * at + 100, action, {"one": "a", "other": "b", "for_ms": at, unit: 5})
        for at in range(9)
        for action, unit in (("line_slow", "ms"), ("line_lossy", "ppm"))
    ]
    steps = [*noise, Step(1_000, "kill_broker", {"cluster": "b", "broker": 2})]
    steps.append(Step(2_400, "remove", {"mirror": "m", "source": "a", "destination": "b", "topics": "orders,payments"}))
    return Plan(
        seed=seed, profile=profile,
        clusters=(ClusterPlan("a", 3, 3), ClusterPlan("b", 3, 3, {"min.insync.replicas": "2"}), ClusterPlan("c", 1, 1)),
        network={"loss_ppm": 100, "remote_min_us": 5},
        clients=tuple(
            ClientPlan(name, "plain", cluster, ("orders", "payments"), 10)
            for name, cluster in (("p1", "a"), ("p2", "a"), ("p3", "c"))
        ),
        steps=tuple(sorted(steps, key=lambda step: step.at_ms)), faults_end_ms=9_000, converge_ms=30_000,
        topics={"orders": "3@a", "payments": "2@a", "local": "1@b"},
    )  # fmt: skip


def run_history(plan: Plan | None = None, *, seed: int = 0, profile: str = "full", coverage: bool = False) -> Outcome:
    """Return the outcome of the fake history; raises `UsageError` for an unknown action."""
    plan = plan or draw(seed, profile)
    digest = hashlib.sha256(plan.to_json().encode()).hexdigest()
    outcome = Outcome(plan, digest, events=1000, virtual_seconds=12.5, account=account())
    if coverage:
        outcome.coverage = {"isr.shrink": 3}
    killed = None
    for step in plan.steps:
        if step.action not in ("line_slow", "line_lossy", "kill_broker", "remove"):
            raise UsageError(f"no action is called {step.action!r}")
        outcome.story.append((step.at_ms * 1000, f"{step.action} {dict(step.args)}"))
        if step.action == "kill_broker":
            broker = int(step.args["broker"])
            if broker > next(row.brokers for row in plan.clusters if row.name == step.args["cluster"]):
                raise UsageError(f"b has no broker {broker}")
            killed = step
        elif step.action == "remove" and killed is not None:
            is_orders = "orders" in str(step.args["topics"]).split(",")
            if is_orders and any(client.name == "p1" for client in plan.clients):
                outcome.anomalies = anomalies()
    outcome.story += [
        (5 * SECOND, "b orders-0 STOPPED"),
        (5 * SECOND, "b payments-1 STOPPED"),
        (6 * SECOND, "b-1 cuts orders-0 at 17 (was 20): stopping"),
    ]
    outcome.accepted = [Accepted("KIP: asynchronous", "b", TP, 3), Accepted("D29", "b", TP, 1)]
    return judged(outcome, profile if plan is None else plan.profile)


def judged(outcome: Outcome, profile: str) -> Outcome:
    """Return the outcome for the profile."""
    if profile == "slow":
        time.sleep(0.3)
    if profile in ("clean", "slow") or (profile == "mixed" and outcome.plan.seed % 3):
        return replace(outcome, anomalies=[])
    if profile == "stuck":
        outcome.anomalies = [Anomaly("stuck-state", "b", TP, -1, "b waits for ever", at=-1)]
    if profile == "crash":
        outcome.account.crash = TRACE
    return outcome


def anomalies() -> list[Anomaly]:
    return [
        Anomaly("stuck-state", "b", TP, -1, "b is STOPPING and waits for the ISR", at=8 * SECOND),
        Anomaly("acked-lost", "b", TP, 17, "p1:17 was acknowledged at 2.1 s, and b has x:1 there", at=7 * SECOND),
    ]


def log(cluster: str, values: list[str], epoch: int, at: int, tp: TopicPartition = TP) -> ObservedLog:
    rows = tuple(LogRow(offset, epoch, value, -1, offset != 16) for offset, value in enumerate(values))
    return ObservedLog(cluster, tp, 1, epoch, 0, len(rows), len(rows), len(rows) + 1, rows, at)


def account() -> Account:
    values = [f"p1:{n}" for n in range(20)]
    return Account(
        acks=[Ack("p1:17", "a", TP, 17, 2_100_000, 2_000_000, 1)],
        reads=[ReceivedRecord("c1", "a", TP, True, 17, "p1:17", 3, 2_200_000)],
        orders=[Order(1, "remove", "m", "a", "b", ("orders",), 2_400_000, 2_500_000, "NONE")],
        states=[
            ObservedState("b", "m", TP, 1, "MIRRORING", -1, 3, "", 1_000_000),
            ObservedState("b", "m", TP, 1, "STOPPED", 3, 17, "", 5_000_000),
            ObservedState("b", "m", OTHER, 1, "STOPPED", 3, 17, "", 5_000_000),
        ],
        spans=[Span("broker", "b-2", 1_000_000, -1), Span("line", "a|b", 2_000_000, 3_000_000)],
        elections=[Election("b", TP, 1, 4, True, 1_200_000)],
        cuts=[ObservedCut("b", TP, 1, 17, 20, "stopping", 6_000_000)],
        logs=[log("b", values, 3, 2_400_000), log("b", values, 3, 2_400_000, OTHER)],
        final_logs={
            ("a", TP): log("a", values, 3, 12_000_000),
            ("b", TP): log("b", [*values[:17], "x:1"], 4, 12_000_000),
            ("b", OTHER): log("b", values, 4, 12_000_000, OTHER),
        },
        differing_replicas=[("b", TP, 3, "offset 17: epoch 3 here, 4 there")],
    )


def raise_odd(plan: Plan | None = None, *, seed: int = 0, profile: str = "full") -> Outcome:
    """Raise for odd seeds, like a runner with a fault."""
    if seed % 2:
        raise ValueError("planted")
    return run_history(plan, seed=seed, profile=profile)
