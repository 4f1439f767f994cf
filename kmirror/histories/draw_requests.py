"""Which clients does a seed draw that ask whatever can be asked, and batches that are written in rare ways?"""

from __future__ import annotations

from dataclasses import replace

from kmirror.histories.asking import ABOUT
from kmirror.histories.draw_keys import compacted
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.profiles import Profile
from kmirror.kernel.rng import Rng

SMALL, COMPACTED = "w", "kc"
"""Topics that no mirror has: one that takes only small batches, and a compacted one."""
SMALL_MAX = 1_000
LARGE = 3_000
CODECS = ("gzip", "snappy", "lz4", "zstd")
COORDINATORS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "offsets.topic.num.partitions": "3",
}
SHORTENED = {"metadata.log.max.record.bytes.between.snapshots": "3000", "metadata.max.retention.bytes": "6000"}
"""So that the metadata log is shortened, and a broker that comes back may need a snapshot."""


def with_requests(rng: Rng, row: Profile, plan: Plan) -> Plan:
    """Return the plan with such clients, as often as the row says."""
    if not rng.chance(row.asks, 100):
        return plan
    home = rng.choice([cluster.name for cluster in plan.clusters if not cluster.release])
    clusters = tuple(_cluster(rng.split(f"cluster {cluster.name}"), cluster) for cluster in plan.clusters)
    return replace(
        plan,
        clusters=clusters,
        topics={**plan.topics, SMALL: f"1@{home}", COMPACTED: f"1@{home}"},
        clients=(*(_other(rng.split(f"client {client.name}"), client) for client in plan.clients),
                 *_writers(rng.split("writers"), home), *_askers(rng.split("askers"), clusters)),
        steps=(_step("max.message.bytes", home), *compacted(rng.split("compacted"), COMPACTED, home), *plan.steps),
    )  # fmt: skip


def _cluster(rng: Rng, plan: ClusterPlan) -> ClusterPlan:
    configs = {**plan.configs, **COORDINATORS}
    return replace(plan, configs=configs | SHORTENED if rng.chance(1, 2) else configs)


def _step(name: str, cluster: str) -> Step:
    return Step(0, "alter_topic", {"cluster": cluster, "topic": SMALL, "name": name, "value": str(SMALL_MAX)})


def _other(rng: Rng, client: ClientPlan) -> ClientPlan:
    """Return a producer that compresses, that does not wait for all replicas, or that leaves out keys and values."""
    options: dict[str, Value] = dict(client.options)
    if client.kind in ("plain", "idempotent", "short", "overlapping", "long") and rng.chance(1, 2):
        options["compression"] = rng.choice(CODECS)
    if client.kind == "plain":
        if rng.chance(1, 2):
            options["acks"] = rng.choice((0, 1))
        if rng.chance(1, 2):
            options["nulls"] = rng.choice((10, 50))
    return replace(client, options=options)


def _writers(rng: Rng, home: str) -> list[ClientPlan]:
    """Return producers whose every batch is refused: it is too large, has no key, or is in no transaction."""
    unadded: dict[str, Value] = {"produce_version": 10} if rng.chance(1, 2) else {}
    return [
        ClientPlan("w0", "plain", home, (SMALL,), 1_500, {"padding": LARGE}),
        ClientPlan("w1", "plain", home, (COMPACTED,), 1_500, {"nulls": 100, "acks": 1}),
        ClientPlan("w2", "unadded", home, (SMALL,), 900, unadded),
    ]


def _askers(rng: Rng, clusters: tuple[ClusterPlan, ...]) -> list[ClientPlan]:
    """Return for each cluster one client that asks anything, and for one of them some that ask about one thing."""
    new = [cluster.name for cluster in clusters if not cluster.release]
    found = [ClientPlan(f"q{n}", "asks", name, (), rng.between(60, 200)) for n, name in enumerate(new)]
    where = rng.choice(new)
    for about in ABOUT:
        if rng.chance(1, 2):
            found.append(ClientPlan(f"q-{about}", "asks", where, (), rng.between(30, 120), {"about": about}))
    return found
