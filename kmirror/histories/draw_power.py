"""Final loss of power in clusters with eligible leader replicas: all three replicas are lost, one after the other.

One broker is down, a second one loses its power and its unflushed data, then the last one dies. The second one comes
back first: it may not lead, because it lacks records of the last one (KIP-966).
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.histories.plan import Plan, Step, Value
from kmirror.histories.profiles import Profile
from kmirror.kernel.rng import Rng

MIN_ISR = "min.insync.replicas"


def with_eligible_losses(rng: Rng, row: Profile, plan: Plan) -> Plan:
    """Return the plan with such an end for each cluster with three replicas and min.insync.replicas 2."""
    found = [
        cluster.name
        for cluster in plan.clusters
        if cluster.eligible_version and (cluster.replication_factor, cluster.configs[MIN_ISR]) == (3, "2")
    ]
    if not found or not rng.chance(row.eligible_losses, 100):
        return plan
    steps: list[Step] = []
    at_ms = plan.faults_end_ms + rng.between(1_000, 3_000)
    for cluster in found:
        order = [1, 2, 3]
        rng.shuffle(order)
        killed, powerless, last = order
        steps.append(Step(at_ms, "kill_broker", {"cluster": cluster, "broker": killed, "for_ms": 18_000}))
        at_ms += rng.between(4_000, 5_000)
        back_ms = rng.between(5_000, 6_500)
        loss: dict[str, Value] = {"cluster": cluster, "broker": powerless, "for_ms": back_ms, "short": True}
        steps.append(Step(at_ms, "lose_power", loss))
        steps.append(Step(at_ms + 4_500, "kill_broker", {"cluster": cluster, "broker": last, "for_ms": 8_000}))
    steps.sort(key=lambda step: step.at_ms)
    return replace(plan, steps=(*plan.steps, *steps), faults_end_ms=at_ms + 13_500)
