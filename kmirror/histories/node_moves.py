"""Moves with slow, stopping or too few nodes, so that clients get rare responses."""

from __future__ import annotations

from itertools import combinations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.plan_draft import Move, PlanDraft

SLOW_MS = (3_000, 7_000)
AWAY_MS = (3_000, 6_000)


def _stop_broker(draft: PlanDraft) -> bool:
    """Stop a broker cleanly and start it again, sometimes with a slow line to its controller."""
    cluster = draft.cluster()
    broker, rng = draft.broker(cluster), draft.rng
    if rng.chance(1, 3):
        node, controller = f"{cluster}-{draft.broker(cluster)}", f"{cluster}-{CONTROLLER_ID}"
        draft.step("line_slow", one=node, other=controller, ms=rng.between(200, 900), for_ms=draft.draw_ms(SLOW_MS))
        draft.wait(50, 500)
    draft.step("stop_broker", cluster=cluster, broker=broker, for_ms=rng.between(600, 3_000))
    return True


def _slow_disk(draft: PlanDraft) -> bool:
    """Make a broker's disks slow, sometimes with a loss of power meanwhile."""
    cluster, rng = draft.cluster(), draft.rng
    broker = draft.broker(cluster)
    draft.step("slow_disk", cluster=cluster, broker=broker, ms=rng.between(50, 2_500), for_ms=draft.draw_ms(SLOW_MS))
    if rng.chance(1, 3):
        draft.wait(500, 3_000)
        draft.step("lose_power", cluster=cluster, broker=broker, for_ms=rng.between(200, 2_000))
    return True


def _slow_replica(draft: PlanDraft) -> bool:
    """Make the lines between brokers slow, and kill one: the next leaders learn late how much is committed."""
    cluster, rng = draft.cluster(), draft.rng
    brokers = draft.clusters[cluster].brokers
    if brokers < 2:
        return False
    for one, other in combinations(range(1, brokers + 1), 2):
        ms = rng.between(100, 500)
        draft.step(
            "line_slow", one=f"{cluster}-{one}", other=f"{cluster}-{other}", ms=ms, for_ms=draft.draw_ms(SLOW_MS)
        )
    draft.wait(200, 2_000)
    draft.step("kill_broker", cluster=cluster, broker=draft.broker(cluster), for_ms=draft.draw_ms(AWAY_MS))
    return True


def _few_replicas(draft: PlanDraft) -> bool:
    """Kill all brokers of a cluster except one, possibly leaving fewer than `min.insync.replicas`."""
    cluster = draft.cluster()
    brokers = draft.clusters[cluster].brokers
    if brokers < 2:
        return False
    survivor = draft.broker(cluster)
    for broker in range(1, brokers + 1):
        if broker != survivor:
            draft.step("kill_broker", cluster=cluster, broker=broker, for_ms=draft.draw_ms(AWAY_MS))
    return True


def _broker_config(draft: PlanDraft) -> bool:
    """Set a config of all brokers, and reset it."""
    config_args = {"cluster": draft.cluster(), "name": "follower.replication.throttled.rate"}
    draft.step("alter_cluster", **config_args, value="1000000")
    draft.wait(200, 2_000)
    draft.step("reset_cluster", **config_args)
    return True


NODE_MOVES: dict[str, Move] = {
    "stop_broker": _stop_broker,
    "slow_disk": _slow_disk,
    "slow_replica": _slow_replica,
    "few_replicas": _few_replicas,
    "broker_config": _broker_config,
}
