"""Applications with consumer groups, and the cluster configs that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kmirror.histories.mixed_commits import OPTION
from kmirror.histories.plan import ClientPlan, ClusterPlan, Value
from kmirror.histories.plan_draft import Line
from kmirror.kernel.rng import Rng

SHORT_REBALANCE_MS = 800
"""Rebalance timeout of half of all groups, shorter than most of their sessions."""
OUTPUT = "o0"
"""Topic that transforming applications write to."""


def with_groups(rng: Rng, clusters: tuple[ClusterPlan, ...]) -> tuple[ClusterPlan, ...]:
    """Return the clusters with coordinators that rebalance quickly."""
    configs = {
        "group.initial.rebalance.delay.ms": str(rng.choice((0, 100, 500))),
        "group.min.session.timeout.ms": "500",
        "offsets.topic.num.partitions": str(rng.between(1, 2)),
    }
    return tuple(replace(cluster, configs={**cluster.configs, **configs}) for cluster in clusters)


def group_clients(
    rng: Rng, clusters: tuple[ClusterPlan, ...], lines: list[Line], topics: dict[str, str]
) -> list[ClientPlan]:
    """Return one or two applications; the output topic is added to `topics` and to the first line."""
    first = lines[0]
    inputs = tuple(first.topics.split(","))
    has_both = rng.chance(1, 3)
    found = []
    if has_both or rng.chance(1, 2):
        topics[OUTPUT] = f"{rng.between(1, 2)}@{first.source}"
        first.topics += f",{OUTPUT}"
        found.append(_transform(rng.split("transform"), clusters, first.source, inputs))
    if has_both or not found:
        own_rng = rng.split("members")
        start_cluster = first.source if own_rng.chance(3, 4) else first.destination
        topics_read = (*inputs, OUTPUT) if found and own_rng.chance(1, 2) else inputs
        found.append(
            ClientPlan("g0", "members", start_cluster, topics_read, own_rng.between(400, 900), _members(own_rng, "gm"))
        )
    return found


def _transform(rng: Rng, clusters: tuple[ClusterPlan, ...], start_cluster: str, inputs: tuple[str, ...]) -> ClientPlan:
    options = _members(rng, "gx")
    del options["deletes"]
    if any(cluster.release for cluster in clusters):
        options["members"] = 1  # An early TxnOffsetCommit has no generation, so two members could not be distinguished.
    options["output"] = OUTPUT
    options["transaction_version"] = rng.choice((0, 2))
    return ClientPlan("x0", "transform", start_cluster, inputs, rng.between(400, 900), options)


def _members(rng: Rng, group: str) -> dict[str, Value]:
    options: Mapping[str, Value] = {
        "group": group,
        "members": rng.between(1, 3),
        "static": rng.chance(1, 3),
        "session_ms": rng.between(1_500, 4_000),
        "deletes": rng.chance(1, 3),
        "answers_lost_ppm": rng.choice((0, 0, 20_000, 100_000)),
    }
    found = dict(options)
    if rng.split("rebalances").chance(1, 2):
        found["rebalance_ms"] = SHORT_REBALANCE_MS
    if rng.split("both ways").chance(1, 2):
        found[OPTION] = True
    return found
