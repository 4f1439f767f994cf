"""Can this plan be run? A file may say anything; here it is asked before a cluster is built."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from difflib import get_close_matches
from itertools import chain
from typing import Any

from kmirror.sim.history.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.sim.network import NetworkOptions

NETWORK = tuple(field.name for field in fields(NetworkOptions))


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_mapping_to(*kinds: type) -> Callable[[object], bool]:
    def is_such(value: object) -> bool:
        if not isinstance(value, Mapping):
            return False
        return all(type(key) is str and type(item) in kinds for key, item in value.items())

    return is_such


# By the words of the annotation: what a field has to be, and what it is called.
TYPES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "int": (_is_int, "a whole number"),
    "str": (lambda value: isinstance(value, str), "a text"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, tuple) and all(isinstance(item, str) for item in value), "a list of texts",
    ),
    "Mapping[str, str]": (_is_mapping_to(str), "an object of texts"),
    "Mapping[str, int]": (_is_mapping_to(int), "an object of whole numbers"),
    "Mapping[str, Value]": (_is_mapping_to(str, int, bool), "an object of texts, whole numbers and booleans"),
}  # fmt: skip


def problem(plan: Plan, *, actions: Collection[str], kinds: Collection[str]) -> str | None:
    """Return in one line what keeps this plan from being run, or None.

    `actions` are the names that steps may have, `kinds` those of clients.
    """
    rows: list[tuple[str, Any]] = [("the plan", plan)]
    for what, group in (("clusters", plan.clusters), ("clients", plan.clients), ("steps", plan.steps)):
        rows += [(f"{what}[{number}]", row) for number, row in enumerate(group)]
    wrong = next((text for text in (_types(where, row) for where, row in rows) if text), None)
    return wrong or next((text for text in _names(plan, actions, kinds) if text), None)


def _types(where: str, row: Any) -> str:
    for field in fields(row):
        is_right, told = TYPES.get(str(field.type), (None, ""))
        value = getattr(row, field.name)
        if is_right is not None and not is_right(value):
            return f"{where}: {field.name} is {told}, not {value!r}"
        if field.type == "int" and value < 0:
            return f"{where}: {field.name} is not below 0, as {value} is"
    return ""


def _names(plan: Plan, actions: Collection[str], kinds: Collection[str]) -> chain[str]:
    clusters = [row.name for row in plan.clusters]
    return chain(
        ["" if clusters else "the plan has no cluster"],
        ["" if len(clusters) == len(set(clusters)) else "two clusters have the same name"],
        (_cluster(row) for row in plan.clusters),
        (_unknown("the network's field", name, NETWORK) for name in plan.network),
        (_topic(topic, told, clusters) for topic, told in plan.topics.items()),
        (_client(row, clusters, kinds) for row in plan.clients),
        (_step(number, row, actions) for number, row in enumerate(plan.steps)),
    )


def _cluster(row: ClusterPlan) -> str:
    if not 1 <= row.replication_factor <= row.brokers:
        return f"cluster {row.name}: {row.brokers} brokers cannot have replication factor {row.replication_factor}"
    return ""


def _topic(topic: str, told: str, clusters: Collection[str]) -> str:
    count, _, cluster = told.partition("@")
    if not count.isdecimal() or int(count) == 0:
        return f"topic {topic}: partitions and cluster are written as 2@a, not {told!r}"
    return _unknown(f"topic {topic}: the cluster", cluster, clusters)


def _client(row: ClientPlan, clusters: Collection[str], kinds: Collection[str]) -> str:
    known = _unknown(f"client {row.name}: the cluster", row.cluster, clusters)
    return known or _unknown(f"client {row.name}: the kind", row.kind, kinds)


def _step(number: int, row: Step, actions: Collection[str]) -> str:
    return _unknown(f"steps[{number}]: the action", row.action, actions)


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    """Say that a name is not known, with one that is near; nothing if it is."""
    if name in known:
        return ""
    near = get_close_matches(name, list(known), 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"{what} {name!r} is not known: {hint}"
