"""An invalid plan file is refused with one line that names the place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kmirror.histories.plan import Plan
from kmirror.histories.plan_check import problem
from tests.unit.histories.fake import draw


def changed_plan(path: str, value: Any) -> Plan:
    """Return the fake plan with the value at `path`, such as `clusters/0/brokers`, set."""
    raw = json.loads(draw(0, "full").to_json())
    inner: Any = raw
    *way, last = path.split("/")
    for word in way:
        inner = inner[int(word) if word.isdecimal() else word]
    inner[last] = value
    return Plan.from_json(json.dumps(raw))


def test_a_drawn_plan_is_right_and_survives_json() -> None:
    plan = draw(3, "full")
    assert problem(plan) is None
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("seed", "x", "the plan: seed must be an integer, not 'x'"),
        ("seed", True, "the plan: seed must be an integer, not True"),
        ("converge_ms", -1, "the plan: converge_ms must be 0 or more, not -1"),
        ("clusters/0/brokers", 2, "cluster a: 2 brokers cannot have replication factor 3"),
        ("clusters/1/name", "a", "two clusters have the same name"),
        ("clusters/1/configs", {"x": 2}, "clusters[1]: configs must be an object of strings, not {'x': 2}"),
        ("clients/0/topics", [1], "clients[0]: topics must be a list of strings, not (1,)"),
        ("clients/0/kind", "plane", "client p1: unknown kind 'plane' or cluster 'a'"),
        ("steps/0/action", "kill_broke", "step 0: unknown action 'kill_broke'"),
        ("steps/1/at_ms", 1.5, "steps[1]: at_ms must be an integer, not 1.5"),
        ("steps/0/args", {"broker": None}, "steps[0]: args must be an object of strings, integers and booleans, not"),
        ("network", {"loss": 1}, "the network has no field 'loss': did you mean 'loss_ppm'?"),
        ("topics", {"orders": "a"}, "topic orders: 'a' is not a number of partitions and a cluster"),
        ("topics", {"orders": "2@z"}, "topic orders: '2@z' is not a number of partitions and a cluster"),
        ("topics", ["orders"], "the plan: topics must be an object of strings, not ['orders']"),
    ],
)
def test_faults_are_reported_with_their_place(path: str, value: Any, said: str) -> None:
    found = problem(changed_plan(path, value))
    assert found is not None and found.startswith(said)
    assert "\n" not in found


@pytest.mark.parametrize(
    ("action", "args", "said"),
    [
        ("set_clock", {"ahead_ms": 5, "ppm": 200_000}, "ppm must be an integer from -100000 to 100000, not 200000"),
        ("set_clock", {"ahead_ms": "5"}, "ahead_ms must be an integer from -1000000000000 to 1000000000000, not '5'"),
        ("kill_broker", {"for_ms": -1}, "for_ms must be an integer from 0 to 1000000000000, not -1"),
        ("kill_broker", {"for_ms": True}, "for_ms must be an integer from 0 to 1000000000000, not True"),
    ],
)
def test_a_number_of_a_step_is_in_its_limits(action: str, args: dict[str, Any], said: str) -> None:
    step = {"at_ms": 5, "action": action, "args": {"cluster": "a", "broker": 1, **args}}
    assert problem(changed_plan("steps", [step])) == f"step 0: {said}"


def test_a_plan_without_a_cluster_is_refused() -> None:
    raw = json.loads(draw(0, "full").to_json()) | {"clusters": [], "clients": [], "topics": {}}
    plan = Plan.from_json(json.dumps(raw))
    assert problem(plan) == "the plan has no cluster"


def test_a_plan_in_which_nothing_is_done_is_not_called_clean() -> None:
    raw = json.loads(draw(0, "full").to_json()) | {"clients": [], "steps": []}
    found = problem(Plan.from_json(json.dumps(raw)))
    assert found == "the plan has neither clients nor steps, so there is nothing to check"
