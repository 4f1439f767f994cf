"""Shrinking a failed plan keeps exactly the parts that it needs to fail in the same way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.histories.plan import Plan, Step
from kmirror.histories.shrink import Shrinker, Target, first_anomaly, shrink
from kmirror.histories.verdict import Anomaly, Exit, Outcome
from tests.unit.histories.fake import OTHER, TP, TRACE, draw, run_history


def test_only_the_two_relevant_steps_are_left_with_minimal_sizes() -> None:
    best = shrink(run_history(seed=7), run_history)
    plan = best.plan
    assert [step.action for step in plan.steps] == ["kill_broker", "remove"]
    assert plan.steps[1].args["topics"] == "orders"
    assert [client.name for client in plan.clients] == ["p1"]
    assert plan.clients[0].topics == ("orders",)
    assert dict(plan.topics) == {"orders": "1@a"}
    assert [(row.name, row.brokers, row.replication_factor, dict(row.configs)) for row in plan.clusters] == [
        ("a", 1, 1, {}), ("b", 2, 1, {}),
    ], "broker 2 of b is killed, so b needs two"  # fmt: skip
    assert plan.network == {"loss_ppm": 0, "remote_min_us": 5}
    assert plan.steps[1].at_ms < 200 and plan.faults_end_ms < 400
    assert plan.converge_ms == 30_000
    found = first_anomaly(best)
    assert found is not None and (found.checker, found.tp) == ("acked-lost", TP)
    assert run_history(plan).digest == best.digest


def test_the_pace_of_mirrors_stays_since_a_plan_gives_no_time_for_the_default() -> None:
    plan = draw(7, "full")
    pace = {"mirror.metadata.refresh.interval.ms": "1500"}
    clusters = tuple(replace(cluster, configs={**pace, "log.roll.ms": "400"}) for cluster in plan.clusters)
    best = shrink(run_history(replace(plan, clusters=clusters)), run_history)
    assert [dict(cluster.configs) for cluster in best.plan.clusters] == [pace, pace]


def test_the_same_failure_shrinks_to_the_same_plan_and_no_plan_runs_twice() -> None:
    seen: list[str] = []

    def run(plan: Plan) -> Outcome:
        seen.append(plan.to_json())
        return run_history(plan)

    first = shrink(run_history(seed=7), run)
    assert len(seen) == len(set(seen))
    assert shrink(run_history(seed=7), run_history).plan == first.plan


def test_the_number_of_runs_is_limited_and_reported() -> None:
    told: list[tuple[int, int]] = []
    shrinker = Shrinker(
        run_history(), run_history, runs_max=9, on_progress=lambda runs, plan: told.append((runs, len(plan.steps)))
    )
    best = shrinker.shrink()
    assert shrinker.runs == 9 and shrinker.limit_reached
    assert [runs for runs, _ in told] == list(range(1, 10))
    assert told[-1][1] == len(best.plan.steps) < len(draw(0, "full").steps)
    assert Target.of(run_history()).is_hit(best)


def test_an_interrupt_returns_the_smallest_plan_so_far() -> None:
    runs = 0

    def run(plan: Plan) -> Outcome:
        nonlocal runs
        runs += 1
        if runs == 20:
            raise KeyboardInterrupt
        return run_history(plan)

    shrinker = Shrinker(run_history(), run)
    with pytest.raises(KeyboardInterrupt):
        shrinker.shrink()
    assert len(shrinker.best.plan.steps) < len(draw(0, "full").steps)
    assert shrinker.target.is_hit(shrinker.best)


def test_steps_that_cannot_be_removed_alone_are_removed_together() -> None:
    pair = (Step(10, "line_down", {"link": "a|b"}), Step(20, "line_up", {"link": "a|b"}))
    needed = Step(15, "remove", {"mirror": "m"})

    def run(plan: Plan) -> Outcome:
        lines = [step for step in plan.steps if step.action in ("line_down", "line_up")]
        outcome = Outcome(plan, "")
        if needed.action in [step.action for step in plan.steps] and len(lines) % 2 == 0:
            outcome.anomalies = [Anomaly("acked-lost", "b", TP, 1, "")]
        return outcome

    start = replace(draw(0, "full"), steps=(pair[0], needed, pair[1]))
    assert [step.action for step in shrink(run(start), run).plan.steps] == ["remove"]


@pytest.mark.parametrize(
    "other",
    [
        Anomaly("mirrored-lost", "b", TP, 17, ""),
        Anomaly("acked-lost", "a", TP, 17, ""),
        Anomaly("acked-lost", "b", None, -1, ""),
        Anomaly("acked-lost", "b", TP._replace(topic="__mirror_state"), 17, ""),
        Anomaly("stuck-state", "b", TP, -1, ""),
    ],
    ids=lambda row: f"{row.checker}-{row.cluster}-{row.tp}",
)
def test_another_checker_cluster_or_kind_of_partition_is_another_failure(other: Anomaly) -> None:
    failed = replace(run_history(), anomalies=[Anomaly("acked-lost", "b", TP, 17, "")])
    target = Target.of(failed)
    assert target.is_hit(replace(failed, anomalies=[Anomaly("acked-lost", "b", OTHER, 3, "another sentence")]))
    assert not target.is_hit(replace(failed, anomalies=[other]))
    assert not target.is_hit(replace(failed, anomalies=[]))


def test_another_rule_is_another_failure() -> None:
    failed = replace(run_history(), anomalies=[Anomaly("broken-invariant", "b", TP, -1, "", rule="own-epochs")])
    same = Anomaly("broken-invariant", "b", None, -1, "another place", rule="own-epochs")
    other = Anomaly("broken-invariant", "b", TP, -1, "", rule="answer-order")
    assert Target.of(failed).is_hit(replace(failed, anomalies=[other, same]))
    assert not Target.of(failed).is_hit(replace(failed, anomalies=[other]))


def test_a_smaller_plan_that_crashes_is_another_failure() -> None:
    failed = run_history()
    crashed = run_history(profile="crash")
    assert crashed.exit is Exit.CRASH and crashed.anomalies
    assert not Target.of(failed).is_hit(crashed)
    target = Target.of(crashed)
    assert target.kind == "KeyError in handle"
    assert target.is_hit(crashed) and not target.is_hit(failed)
    assert shrink(crashed, run_history).plan.steps == ()
    crashed.account.crash = TRACE.replace("KeyError: 5", "KeyError: 6").replace("line 7", "line 9")
    assert target.is_hit(crashed), "the same exception out of the same function, whatever its text"
    crashed.account.crash = TRACE.replace("in handle", "in other")
    assert not target.is_hit(crashed)


def test_steps_after_the_anomaly_are_removed_first() -> None:
    late = Step(60_000, "line_slow", {"one": "a", "other": "b"})
    failed = run_history(replace(draw(0, "full"), steps=(*draw(0, "full").steps, late)))
    seen: list[Plan] = []

    def run(plan: Plan) -> Outcome:
        seen.append(plan)
        return run_history(plan)

    shrink(failed, run, runs_max=1)
    assert late not in seen[0].steps and len(seen[0].steps) == len(failed.plan.steps) - 1


def test_faults_last_no_longer_than_they_must() -> None:
    steps = (Step(0, "kill_broker", {"broker": 1, "for_ms": 9_000}), Step(10, "remove", {"topics": "orders"}))

    def run(plan: Plan) -> Outcome:
        lasts = [int(step.args["for_ms"]) for step in plan.steps if step.action == "kill_broker"]
        found = [Anomaly("acked-lost", "b", TP, 1, "")] if lasts and lasts[0] >= 2_000 else []
        return Outcome(plan, "", anomalies=found)

    best = shrink(run(replace(draw(0, "full"), steps=steps)), run)
    assert [dict(step.args) for step in best.plan.steps] == [{"broker": 1, "for_ms": 2_250}]


def test_steps_out_of_the_order_of_time_are_shortened_too() -> None:
    steps = (Step(4_000, "kill_broker", {"cluster": "b", "broker": 1}), Step(0, "remove", {"topics": "orders"}))
    best = shrink(run_history(replace(draw(0, "full"), steps=steps)), run_history)
    assert [step.action for step in best.plan.steps] == ["kill_broker", "remove"]
    assert best.plan.steps[0].at_ms < 100 and best.plan.faults_end_ms >= best.plan.steps[0].at_ms
