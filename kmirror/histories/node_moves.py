"""Moves with slow, stopping or too few nodes, so that clients get rare responses."""

from __future__ import annotations

from itertools import combinations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.step_drawing import Move, PlanDraft

SLOW_MS = (3_000, 7_000)
AWAY_MS = (3_000, 6_000)


def _stop_broker(story: PlanDraft) -> bool:
    """Stop a broker cleanly and start it again, sometimes with a slow line to its controller."""
    cluster = story.cluster()
    broker, rng = story.broker(cluster), story.rng
    if rng.chance(1, 3):
        node, controller = f"{cluster}-{story.broker(cluster)}", f"{cluster}-{CONTROLLER_ID}"
        story.step("line_slow", one=node, other=controller, ms=rng.between(200, 900), for_ms=story.drawn(SLOW_MS))
        story.wait(50, 500)
    story.step("stop_broker", cluster=cluster, broker=broker, for_ms=rng.between(600, 3_000))
    return True


def _slow_disk(story: PlanDraft) -> bool:
    """Make a broker's disks slow, sometimes with a loss of power meanwhile."""
    cluster, rng = story.cluster(), story.rng
    broker = story.broker(cluster)
    story.step("slow_disk", cluster=cluster, broker=broker, ms=rng.between(50, 2_500), for_ms=story.drawn(SLOW_MS))
    if rng.chance(1, 3):
        story.wait(500, 3_000)
        story.step("lose_power", cluster=cluster, broker=broker, for_ms=rng.between(200, 2_000))
    return True


def _slow_replica(story: PlanDraft) -> bool:
    """Make the lines between brokers slow, and kill one: the next leaders learn late how much is committed."""
    cluster, rng = story.cluster(), story.rng
    brokers = story.clusters[cluster].brokers
    if brokers < 2:
        return False
    for one, other in combinations(range(1, brokers + 1), 2):
        ms = rng.between(100, 500)
        story.step("line_slow", one=f"{cluster}-{one}", other=f"{cluster}-{other}", ms=ms, for_ms=story.drawn(SLOW_MS))
    story.wait(200, 2_000)
    story.step("kill_broker", cluster=cluster, broker=story.broker(cluster), for_ms=story.drawn(AWAY_MS))
    return True


def _few_replicas(story: PlanDraft) -> bool:
    """Kill all brokers of a cluster except one, possibly leaving fewer than `min.insync.replicas`."""
    cluster = story.cluster()
    brokers = story.clusters[cluster].brokers
    if brokers < 2:
        return False
    stays = story.broker(cluster)
    for broker in range(1, brokers + 1):
        if broker != stays:
            story.step("kill_broker", cluster=cluster, broker=broker, for_ms=story.drawn(AWAY_MS))
    return True


def _broker_config(story: PlanDraft) -> bool:
    """Set a config of all brokers, and reset it."""
    where = {"cluster": story.cluster(), "name": "follower.replication.throttled.rate"}
    story.step("alter_cluster", **where, value="1000000")
    story.wait(200, 2_000)
    story.step("reset_cluster", **where)
    return True


NODE_MOVES: dict[str, Move] = {
    "stop_broker": _stop_broker,
    "slow_disk": _slow_disk,
    "slow_replica": _slow_replica,
    "few_replicas": _few_replicas,
    "broker_config": _broker_config,
}
