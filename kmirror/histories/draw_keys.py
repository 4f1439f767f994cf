"""Addition of repeated keys, tombstones and compacted topics to a drawn plan.

Cleaners act within seconds: segments are short, logs become dirty soon, and `delete.retention.ms` ends before the
history.
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.histories.plan import ClientPlan, Plan, Step, Value
from kmirror.histories.profiles import Profile
from kmirror.kernel.rng import Rng

TOPIC = "k0"
"""A compacted topic that is in no mirror."""
KINDS = ("plain", "idempotent", "short", "overlapping", "abandoned")


def with_keys(rng: Rng, row: Profile, plan: Plan) -> Plan:
    """Return the plan with a compacted topic in no mirror, and with compacted mirrored topics, each by chance of the
    profile.
    """
    if rng.chance(row.compacted, 100):
        plan = _with_compacted_mirrors(rng.split("mirrors"), plan)
    if rng.chance(row.keyed, 100):
        plan = _with_a_topic(rng.split("topic"), plan)
    return plan


def _with_a_topic(rng: Rng, plan: Plan) -> Plan:
    topic_cluster = rng.choice([cluster.name for cluster in plan.clusters if not cluster.release])
    clients = [
        ClientPlan(f"k{n}", rng.choice(KINDS), topic_cluster, (TOPIC,), rng.between(200, 600), _keys(rng))
        for n in range(rng.between(1, 2))
    ]
    clients.append(ClientPlan("ck", "read_committed", topic_cluster, (TOPIC,), rng.between(250, 600)))
    return replace(
        _with_cleaner(rng, plan),
        topics={**plan.topics, TOPIC: f"{rng.between(1, 2)}@{topic_cluster}"},
        clients=(*plan.clients, *clients),
        steps=(*compacted(rng, TOPIC, topic_cluster), *plan.steps),
    )


def _with_compacted_mirrors(rng: Rng, plan: Plan) -> Plan:
    steps = [step for topic, text in plan.topics.items() for step in compacted(rng, topic, text.partition("@")[2])]
    clients = [
        client if client.kind.startswith("read_") else replace(client, options={**client.options, **_keys(rng)})
        for client in plan.clients
    ]
    return replace(_with_cleaner(rng, plan), clients=tuple(clients), steps=(*steps, *plan.steps))


def _with_cleaner(rng: Rng, plan: Plan) -> Plan:
    """Return the plan with cleaners that run about once a second."""
    clusters = (
        replace(row, configs={**row.configs, "log.cleaner.backoff.ms": str(rng.between(300, 1_500))})
        for row in plan.clusters
    )
    return replace(plan, clusters=tuple(clusters))


def _keys(rng: Rng) -> dict[str, Value]:
    return {"keys": rng.between(2, 6), "tombstones": rng.choice((0, 15, 40)), "timeout_ms": rng.between(2_500, 6_000)}


def compacted(rng: Rng, topic: str, cluster: str) -> list[Step]:
    """Return the orders that make a topic compacted from the beginning."""
    configs = {
        "min.compaction.lag.ms": "0",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": str(rng.between(300, 1_500)),
        "delete.retention.ms": str(rng.between(500, 5_000)),
        "cleanup.policy": rng.choice(("compact", "compact", "compact,delete")),
    }
    topic_args: dict[str, Value] = {"cluster": cluster, "topic": topic}
    return [Step(0, "alter_topic", {**topic_args, "name": name, "value": value}) for name, value in configs.items()]
