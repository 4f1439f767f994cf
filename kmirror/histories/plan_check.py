"""Validation of a plan before any cluster is built, as a plan may come from a file.

Types and sizes are checked here; names of actions, clusters, nodes and kinds by `actions.problem_with`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.actions import problem_with
from kmirror.histories.plan import Plan
from kmirror.histories.restarting import KILL, STOP
from kmirror.kernel.names import counted
from kmirror.sim.network import NetworkOptions
from kmirror.spec.releases import RELEASES

NETWORK = tuple(field.name for field in fields(NetworkOptions))


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _mapping_check(*kinds: type) -> Callable[[object], bool]:
    def is_valid(value: object) -> bool:
        if not isinstance(value, Mapping):
            return False
        return all(type(key) is str and type(item) in kinds for key, item in value.items())

    return is_valid


# Annotation of a field to its check and the name of the expected type.
TYPES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "int": (_is_int, "an integer"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "str": (lambda value: isinstance(value, str), "a string"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, tuple) and all(isinstance(item, str) for item in value), "a list of strings",
    ),
    "Mapping[str, str]": (_mapping_check(str), "an object of strings"),
    "Mapping[str, int]": (_mapping_check(int), "an object of integers"),
    "Mapping[str, Value]": (_mapping_check(str, int, bool), "an object of strings, integers and booleans"),
}  # fmt: skip


def problem(plan: Plan) -> str | None:
    """Return one line that says why this plan cannot be run, or None."""
    rows: list[tuple[str, Any]] = [("the plan", plan)]
    for list_name, group in (("clusters", plan.clusters), ("clients", plan.clients), ("steps", plan.steps)):
        rows += [(f"{list_name}[{number}]", row) for number, row in enumerate(group)]
    # Types first: the checks of names and sizes rely on them.
    wrong = next((text for text in (_types(place, row) for place, row in rows) if text), None)
    return wrong or _sizes(plan) or problem_with(plan)


def _types(place: str, row: Any) -> str:
    for field in fields(row):
        is_valid, type_name = TYPES.get(str(field.type), (None, ""))
        value = getattr(row, field.name)
        if is_valid is not None and not is_valid(value):
            return f"{place}: {field.name} must be {type_name}, not {value!r}"
        if field.type == "int" and value < 0:
            return f"{place}: {field.name} must be 0 or more, not {value}"
    return ""


def _sizes(plan: Plan) -> str | None:
    names = [row.name for row in plan.clusters]
    if not names:
        return "the plan has no cluster"
    if not (plan.clients or plan.steps):
        return "the plan has neither clients nor steps, so there is nothing to check"
    if len(names) > len(set(names)):
        return "two clusters have the same name"
    for row in plan.clusters:
        if not 1 <= row.replication_factor <= row.brokers:
            brokers = counted(row.brokers, "broker")
            return f"cluster {row.name}: {brokers} cannot have replication factor {row.replication_factor}"
        if not row.log_dirs:
            return f"cluster {row.name}: a broker needs at least one log directory"
        if row.release and row.release not in RELEASES:
            known = ", ".join(RELEASES)
            return f"cluster {row.name}: unknown release {row.release!r}; known: {known}"
        if row.release and row.mirror_version:
            return f"cluster {row.name}: brokers of {row.release} cannot mirror: mirror_version must be 0"
    nodes = [f"{row.name}-{node}" for row in plan.clusters for node in (CONTROLLER_ID, *range(1, row.brokers + 1))]
    for node, ending in plan.restart.items():
        if node not in nodes or ending not in (STOP, KILL):
            return f"restart: {node} to {ending}: it must map nodes such as {nodes[-1]} to {STOP} or {KILL}"
    for name in plan.network:
        if name not in NETWORK:
            near = get_close_matches(name, NETWORK, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NETWORK)}"
            return f"the network has no field {name!r}: {hint}"
    return None
