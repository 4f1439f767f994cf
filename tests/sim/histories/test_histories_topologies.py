"""Histories of three and four clusters: drawn plans, and orders that operators do not give."""

from __future__ import annotations

import json
from dataclasses import replace

from kmirror.histories.draw import draw
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.run import run_history
from kmirror.histories.shapes import ALL_SHAPES, SHAPES
from kmirror.histories.verdict import Exit
from kmirror.kernel.clock import SECOND
from tests.sim.histories import kept

CONFIGS = {"min.insync.replicas": "1", "broker.session.timeout.ms": "1500", "replica.lag.time.max.ms": "1500"}


def order(mirror: str, source: str, destination: str) -> dict[str, Value]:
    return {"mirror": mirror, "source": source, "destination": destination, "topics": "t0"}


def plan(*steps: Step, clusters: str = "abc", until_ms: int = 12_000) -> Plan:
    """Return a plan of single brokers with one topic `t0` of cluster a, and a client that writes to it."""
    rows = tuple(ClusterPlan(name, 1, 1, CONFIGS) for name in clusters)
    writer = ClientPlan("p0", "plain", "a", ("t0",), 100)
    return Plan(0, "by hand", rows, {}, (writer,), steps, until_ms, 20_000, {"t0": "1@a"}, closes_rings=False)


def created(*orders: dict[str, Value]) -> tuple[Step, ...]:
    return tuple(Step(100 + number, "create_mirror", order) for number, order in enumerate(orders))


def test_every_shape_is_drawn_and_has_lines_between_all_its_clusters() -> None:
    assert sorted(ALL_SHAPES) == sorted(SHAPES)
    for shape in SHAPES.values():
        ends = {end for link in (*shape.links, "m * a>b") for end in link.split()[2].split(">")}
        assert ends == set("abcd"[: shape.clusters]), shape.name
    assert {len(draw(seed, "topologies").clusters) for seed in range(20)} == {3, 4}


def test_operators_close_rings_only_if_the_profile_allows_it() -> None:
    assert not draw(0, "full").closes_rings
    assert draw(0, "rings").closes_rings
    ring = next(history.plan for history in kept.read().values() if history.plan.profile == "ring-of-three")
    outcome = run_history(replace(ring, closes_rings=False))
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
    refused = [text for _, text in outcome.story if "is not given" in text]
    assert len(refused) == 1
    assert refused[0].endswith("t0 would be mirrored in a ring: a from c from b from a")


def test_a_plan_without_an_option_for_rings_closes_them() -> None:
    raw = json.loads(draw(0, "full").to_json())
    del raw["closes_rings"]
    assert Plan.from_json(json.dumps(raw)).closes_rings


def test_a_link_that_stopped_closes_no_ring() -> None:
    """Through b and c the topic returns to a, with every link stopped before the next one begins."""
    there, on, back = order("m", "a", "b"), order("m2", "b", "c"), order("m3", "c", "a")
    outcome = run_history(
        plan(
            *created(there, on, back),
            Step(300, "add", there),
            Step(2_000, "remove", there),
            Step(2_500, "turn", {"clients": "p0", "cluster": "b"}),
            Step(3_500, "add", on),
            Step(5_500, "remove", on),
            Step(6_000, "turn", {"clients": "p0", "cluster": "c"}),
            Step(7_500, "add", back),
        )
    )
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
    assert not [text for _, text in outcome.story if "is not given" in text]
    logs = {cluster: log for (cluster, tp), log in outcome.account.final_logs.items() if tp.topic == "t0"}
    assert logs["a"].rows == logs["c"].rows
    assert {row.value.split(".")[0] for row in logs["a"].rows if row.visible} == {"p0"}


def test_the_second_of_two_mirrors_is_refused_until_the_first_has_stopped() -> None:
    first, to_c, second = order("m", "a", "b"), order("m2", "a", "c"), order("m3", "c", "b")
    outcome = run_history(
        plan(
            *created(first, to_c, second),
            Step(300, "add", first),
            Step(400, "add", to_c),
            Step(3_000, "add", second),
            Step(3_500, "remove", first),
            Step(5_500, "add", second),
        )
    )
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
    answers = [row.error for row in outcome.account.orders if row.action == "add" and row.mirror == "m3"]
    assert answers == ["TOPIC_ALREADY_IN_MIRROR", "NONE"]


def test_clients_rest_and_the_pause_costs_few_events() -> None:
    there = order("m", "a", "b")
    short = plan(*created(there), Step(300, "add", there), clusters="ab", until_ms=4_000)
    rest = Step(2_000, "rest", {"for_ms": 60_000})
    pause = replace(short, steps=(*short.steps, rest), faults_end_ms=64_000)
    one, other = run_history(short), run_history(pause)
    assert other.exit is Exit.CLEAN, other.anomalies
    assert not [w for w in other.account.writes.values() if 2.5 * SECOND < w.sent_at < 61.9 * SECOND]
    assert other.events - one.events < 100 * 60, "a second of rest"
