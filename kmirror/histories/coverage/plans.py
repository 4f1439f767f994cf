"""Rows of a plan's properties, and of its steps that were carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kmirror.histories.actions import ACTIONS
from kmirror.histories.coverage.row import Origin, Row
from kmirror.histories.plan import Plan
from kmirror.histories.workloads import KINDS


def _edges(plan: Plan) -> dict[tuple[str, str], None]:
    """Return (source, destination) of all mirrors to which the steps add topics."""
    found: dict[tuple[str, str], None] = {}
    for step in plan.steps:
        if step.action == "add":
            found[str(step.args["source"]), str(step.args["destination"])] = None
    return found


def _topic_edges(plan: Plan) -> dict[str, dict[tuple[str, str], None]]:
    found: dict[str, dict[tuple[str, str], None]] = {}
    for step in plan.steps:
        if step.action == "add":
            edge = str(step.args["source"]), str(step.args["destination"])
            for topic in str(step.args["topics"]).split(","):
                found.setdefault(topic, {})[edge] = None
    return found


def _has_ring(plan: Plan) -> bool:
    """Return whether mirrors of one topic form a ring of three clusters or more."""
    for edges in _topic_edges(plan).values():
        following: dict[str, list[str]] = {}
        for source, destination in edges:
            following.setdefault(source, []).append(destination)
        if any(_closes_ring(following, start, start, ()) for start in following):
            return True
    return False


def _closes_ring(following: Mapping[str, list[str]], start: str, current: str, passed: tuple[str, ...]) -> bool:
    if current == start and len(passed) >= 3:
        return True
    return any(
        _closes_ring(following, start, one, (*passed, one)) for one in following.get(current, []) if one not in passed
    )


def _has_chain(plan: Plan) -> bool:
    edges = list(_edges(plan))
    return any(one[1] == other[0] and one[0] != other[1] for one in edges for other in edges)


def _has_fan_out(plan: Plan) -> bool:
    edges = list(_edges(plan))
    return any(one[0] == other[0] and one[1] != other[1] for one in edges for other in edges)


def _has_fan_in(plan: Plan) -> bool:
    edges = list(_edges(plan))
    return any(one[1] == other[1] and one[0] != other[0] for one in edges for other in edges)


def _is_both_ways(plan: Plan) -> bool:
    edges = _edges(plan)
    return any((destination, source) in edges for source, destination in edges)


def _is_mesh(plan: Plan) -> bool:
    names, edges = [row.name for row in plan.clusters], _edges(plan)
    return len(names) > 2 and all((one, other) in edges for one in names for other in names if one != other)


_SHAPES: tuple[tuple[str, str, Callable[[Plan], bool]], ...] = (
    ("two-clusters", "Two clusters.", lambda plan: len(plan.clusters) == 2),
    ("three-clusters", "Three clusters.", lambda plan: len(plan.clusters) == 3),
    ("four-clusters", "Four clusters.", lambda plan: len(plan.clusters) == 4),
    ("chain", "Topics mirrored to a cluster are mirrored from there too.", _has_chain),
    ("fan-out", "One source has several destinations.", _has_fan_out),
    ("fan-in", "One destination has several sources.", _has_fan_in),
    ("both-ways", "Two clusters mirror from each other, at once or in turn.", _is_both_ways),
    ("ring", "Mirrors of one topic form a ring of three clusters or more.", _has_ring),
    ("mesh", "Each of three clusters or more mirrors from every other one, at once or in turn.", _is_mesh),
    ("old-source", "A cluster imitates an earlier release.", lambda plan: any(row.release for row in plan.clusters)),
    ("no-feature", "A cluster does not have mirror.version.", lambda plan: any(
        row.mirror_version == 0 and not row.release for row in plan.clusters)),
    ("one-broker", "A cluster has one broker.", lambda plan: any(row.brokers == 1 for row in plan.clusters)),
    ("fewer-replicas", "A cluster has fewer replicas than brokers.", lambda plan: any(
        row.replication_factor < row.brokers for row in plan.clusters)),
    ("small-segments", "A cluster whose segments are rolled after seconds: they hold a few batches.", lambda plan: any(
        "log.roll.ms" in row.configs for row in plan.clusters)),
    ("lossy-network", "Frames are lost, and sent again.", lambda plan: plan.network.get("loss_ppm", 0) > 0),
    ("reordering-network", "Frames overtake others.", lambda plan: plan.network.get("reorder_ppm", 0) > 0),
)  # fmt: skip

ROWS: tuple[Row, ...] = (
    *(Row(f"shape.{name}", doc, Origin.PLAN, test) for name, doc, test in _SHAPES),
    *(Row(f"client.{name}", f"A client of kind {name} runs.", Origin.PLAN) for name in KINDS),
    *(Row(f"step.{name}", f"The step {name} is carried out.", Origin.PLAN) for name in ACTIONS),
)


def count_rows(plan: Plan, story: list[tuple[int, str]], count: Callable[[str], None]) -> None:
    """Count the properties of a plan, and its steps except skipped ones."""
    for row in ROWS:
        if row.test is not None and row.test(plan):
            count(row.name)
    for client in plan.clients:
        count(f"client.{client.kind}")
    skipped = {text.split()[1] for _, text in story if text.startswith("step ") and " skipped: " in text}
    for number, step in enumerate(plan.steps):
        if str(number) not in skipped:
            count(f"step.{step.action}")
