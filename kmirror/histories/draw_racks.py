"""Addition of racks to a drawn plan, so that consumers read from followers (KIP-392)."""

from __future__ import annotations

from dataclasses import replace

from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Value
from kmirror.histories.profiles import Profile
from kmirror.kernel.rng import Rng

READERS = ("read_committed", "read_uncommitted", "library_read", "session_read", "members", "transform")
SELECTOR = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


def with_racks(rng: Rng, row: Profile, plan: Plan) -> Plan:
    """Return the plan with racks, by chance of the profile."""
    if not rng.chance(row.racks, 100):
        return plan
    clusters = tuple(_cluster_in_racks(rng.split(f"cluster {cluster.name}"), cluster) for cluster in plan.clusters)
    clients = tuple(_client_in_rack(rng.split(f"client {client.name}"), client) for client in plan.clients)
    return replace(plan, clusters=clusters, clients=clients)


def _cluster_in_racks(rng: Rng, cluster: ClusterPlan) -> ClusterPlan:
    """Return the cluster with as many racks as brokers, or one less, so that two brokers share a rack."""
    racks = max(1, cluster.brokers - (1 if rng.chance(1, 4) else 0))
    return replace(cluster, racks=racks, configs={**cluster.configs, **SELECTOR})


def _client_in_rack(rng: Rng, client: ClientPlan) -> ClientPlan:
    """Return the client in a rack; some consumers read slowly, or send no leader epoch in their fetches."""
    if client.kind not in READERS or not rng.chance(4, 5):
        return client
    options: dict[str, Value] = {**client.options, "rack": f"r{rng.between(1, 3)}"}
    if client.kind.startswith(("read_", "session_")):
        if rng.chance(1, 4):
            options["names_epochs"] = False
        if rng.chance(1, 4):
            options["bytes_max"] = 1
    return replace(client, options=options)
