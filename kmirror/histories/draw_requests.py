"""Addition of clients that send arbitrary requests, and of rare kinds of batches, to a drawn plan."""

from __future__ import annotations

from dataclasses import replace

from kmirror.histories.arbitrary_requests import CATEGORIES
from kmirror.histories.draw_keys import compacted
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.profiles import Profile
from kmirror.kernel.rng import Rng

SMALL, COMPACTED = "w", "kc"
"""Topics that are in no mirror: one that accepts only small batches, and a compacted one."""
SMALL_MAX = 1_000
LARGE = 3_000
CODECS = ("gzip", "snappy", "lz4", "zstd")
COORDINATORS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "offsets.topic.num.partitions": "3",
}
SHORTENED = {"metadata.log.max.record.bytes.between.snapshots": "3000", "metadata.max.retention.bytes": "6000"}
"""Short enough that the metadata log is truncated, and a broker that comes back may need a snapshot."""


def with_requests(rng: Rng, row: Profile, plan: Plan) -> Plan:
    """Return the plan with such clients, by chance of the profile."""
    if not rng.chance(row.arbitrary_requests, 100):
        return plan
    topic_cluster = rng.choice([cluster.name for cluster in plan.clusters if not cluster.release])
    clusters = tuple(_cluster(rng.split(f"cluster {cluster.name}"), cluster) for cluster in plan.clusters)
    return replace(
        plan,
        clusters=clusters,
        topics={**plan.topics, SMALL: f"1@{topic_cluster}", COMPACTED: f"1@{topic_cluster}"},
        clients=(*(_other(rng.split(f"client {client.name}"), client) for client in plan.clients),
                 *_writers(rng.split("writers"), topic_cluster), *_request_clients(rng.split("askers"), clusters)),
        steps=(_step("max.message.bytes", topic_cluster),
               *compacted(rng.split("compacted"), COMPACTED, topic_cluster), *plan.steps),
    )  # fmt: skip


def _cluster(rng: Rng, plan: ClusterPlan) -> ClusterPlan:
    configs = {**plan.configs, **COORDINATORS}
    return replace(plan, configs=configs | SHORTENED if rng.chance(1, 2) else configs)


def _step(name: str, cluster: str) -> Step:
    return Step(0, "alter_topic", {"cluster": cluster, "topic": SMALL, "name": name, "value": str(SMALL_MAX)})


def _other(rng: Rng, client: ClientPlan) -> ClientPlan:
    """Return the client, a producer possibly with compression, with acks other than all, or without some keys and
    values.
    """
    options: dict[str, Value] = dict(client.options)
    if client.kind in ("plain", "idempotent", "short", "overlapping", "long") and rng.chance(1, 2):
        options["compression"] = rng.choice(CODECS)
    if client.kind == "plain":
        if rng.chance(1, 2):
            options["acks"] = rng.choice((0, 1))
        if rng.chance(1, 2):
            options["nulls"] = rng.choice((10, 50))
    return replace(client, options=options)


def _writers(rng: Rng, topic_cluster: str) -> list[ClientPlan]:
    """Return producers whose batches are all refused: too large, without a key, or in no transaction."""
    unadded: dict[str, Value] = {"produce_version": 10} if rng.chance(1, 2) else {}
    return [
        ClientPlan("w0", "plain", topic_cluster, (SMALL,), 1_500, {"padding": LARGE}),
        ClientPlan("w1", "plain", topic_cluster, (COMPACTED,), 1_500, {"nulls": 100, "acks": 1}),
        ClientPlan("w2", "unadded", topic_cluster, (SMALL,), 900, unadded),
    ]


def _request_clients(rng: Rng, clusters: tuple[ClusterPlan, ...]) -> list[ClientPlan]:
    """Return one client per cluster that sends any request, and for one cluster some that send requests of one
    category.
    """
    new = [cluster.name for cluster in clusters if not cluster.release]
    found = [ClientPlan(f"q{n}", "asks", name, (), rng.between(60, 200)) for n, name in enumerate(new)]
    start_cluster = rng.choice(new)
    for category in CATEGORIES:
        if rng.chance(1, 2):
            found.append(
                ClientPlan(f"q-{category}", "asks", start_cluster, (), rng.between(30, 120), {"about": category})
            )
    return found
