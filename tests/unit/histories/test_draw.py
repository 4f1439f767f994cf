"""The plan of a seed: the same on every run, sensible, and unchanged by a round trip through JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pytest

from kmirror.histories.actions import ACTIONS, problem_with
from kmirror.histories.draw import draw, weighted
from kmirror.histories.draw_keys import TOPIC
from kmirror.histories.draw_requests import COMPACTED
from kmirror.histories.moves import MOVES
from kmirror.histories.node_moves import NODE_MOVES
from kmirror.histories.plan import Plan
from kmirror.histories.profiles import PROFILES
from kmirror.histories.workloads import KINDS
from kmirror.kernel.rng import Rng

SEEDS = range(150)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_plan_can_be_executed_and_survives_a_round_trip(profile: str) -> None:
    for seed in range(40):
        plan = draw(seed, profile)
        assert problem_with(plan) is None
        assert Plan.from_json(plan.to_json()) == plan == draw(seed, profile)
        assert [step.at_ms for step in plan.steps] == sorted(step.at_ms for step in plan.steps)
        assert plan.steps[-1].at_ms < plan.faults_end_ms
        assert 2 <= len(plan.clusters) <= 4


def test_a_full_history_has_at_least_twenty_steps_and_mostly_takes_less_than_a_minute() -> None:
    plans = [draw(seed) for seed in SEEDS]
    assert all(len(plan.steps) >= 20 for plan in plans)
    ends_ms = sorted(plan.faults_end_ms for plan in plans)
    assert ends_ms[len(plans) * 9 // 10] < 60_000
    assert ends_ms[-1] < 150_000, "a long pause, and not two"


def test_every_action_and_every_workload_is_drawn() -> None:
    actions: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for seed in SEEDS:
        for profile in ("full", "power", "syncs", "site_power", "requests"):
            plan = draw(seed, profile)
            actions.update(step.action for step in plan.steps)
            kinds.update(client.kind for client in plan.clients)
    assert set(actions) == set(ACTIONS)
    assert set(kinds) == set(KINDS)


def test_profiles_name_moves_and_workloads_that_there_are() -> None:
    for profile in PROFILES.values():
        assert set(profile.moves) <= set(MOVES)
        assert set(profile.workloads) <= {name for name, kind in KINDS.items() if kind.writes}
    # A power loss together with another death loses records, as in Kafka without KIP-966: it has its own profile.
    power = {"lose_power", "lose_site_power", "power_at"}
    # The moves of `requests` and lost states came later: in `full` they would change the plan of every seed. Stale
    # sources are drawn separately.
    stale = {"stale_source", "stale_for_long"}
    assert set(PROFILES["full"].moves) == set(MOVES) - power - stale - {"lose_states"} - set(NODE_MOVES)
    assert set(NODE_MOVES) <= set(PROFILES["requests"].moves)
    assert "lose_power" in PROFILES["power"].moves


def test_full_draws_compacted_mirrors_rings_and_stale_sources_without_changing_other_seeds() -> None:
    plain = PROFILES["full"]
    without = {**PROFILES, "full": replace(plain, compacted=0, rings=0, stale=0)}
    differ, counts = 0, Counter[str]()
    for seed in SEEDS:
        plan = draw(seed)
        with patch.dict(PROFILES, without):
            before = draw(seed)
        begins = [step.args for step in plan.steps if step.at_ms == 0]
        compacted = {row["topic"] for row in begins if row.get("name") == "cleanup.policy"}
        is_compacted = bool(compacted & set(plan.topics) - {TOPIC, COMPACTED})
        counts.update({"compacted": is_compacted, "rings": plan.closes_rings})
        differ += plan != before
        assert not plan.closes_rings or len(plan.clusters) > 2
    assert counts["compacted"] in range(len(SEEDS) // 20, len(SEEDS) // 4)
    assert counts["rings"] in range(len(SEEDS) // 50, len(SEEDS) // 7)
    assert len(SEEDS) // 4 < differ < len(SEEDS) // 2


def test_full_histories_have_operations_on_topics_and_all_others() -> None:
    found: Counter[str] = Counter()
    for seed in SEEDS:
        found.update({step.action for step in draw(seed).steps})
    often, now_and_then = 2 * len(SEEDS) // 3, len(SEEDS) // 10
    assert all(found[name] > often for name in ("add", "remove", "turn", "line_down", "kill_replica", "alter_topic"))
    orders = ("pause", "resume", "delete_mirror", "delete_topic", "grow_topic", "alter_mirror", "reset_topic")
    assert all(found[name] >= now_and_then for name in orders)


def test_the_profile_of_transactions_has_overlapping_ones_in_most_histories() -> None:
    found = sum(any(c.kind == "overlapping" for c in draw(seed, "transactions").clients) for seed in range(50))
    assert found > 25


def test_the_profile_of_topologies_has_three_or_four_clusters_always() -> None:
    assert {len(draw(seed, "topologies").clusters) for seed in range(20)} == {3, 4}


def test_histories_of_power_end_with_losses_in_clusters_that_keep_eligible_replicas() -> None:
    without = {**PROFILES, "power": replace(PROFILES["power"], eligible_losses=0)}
    ended = 0
    for seed in range(60):
        plan = draw(seed, "power")
        with patch.dict(PROFILES, without):
            before = draw(seed, "power")
        added = plan.steps[len(before.steps) :]
        short = {str(step.args["cluster"]) for step in added if step.args.get("short")}
        assert plan.steps[: len(before.steps)] == before.steps and plan.clusters == before.clusters
        assert short == {row.name for row in plan.clusters if row.eligible_version and row.replication_factor == 3
                         and row.configs["min.insync.replicas"] == "2"}  # fmt: skip
        assert {(step.args["cluster"], step.args["broker"]) for step in added} == {
            (name, broker) for name in short for broker in (1, 2, 3)
        }
        ended += bool(added)
    assert 10 < ended < 40


def test_most_histories_of_stale_sources_have_a_broker_that_is_stale_for_long() -> None:
    plans = [draw(seed, "stale") for seed in range(40)]
    assert sum(any(int(step.args.get("for_ms", 0)) >= 24_000 for step in plan.steps) for plan in plans) > 20
    topics = {str(step.args.get("topic")) for plan in plans for step in plan.steps if step.action == "create_topic"}
    assert sum(topic.startswith("n") for topic in topics) > 10


def test_another_seed_is_another_plan() -> None:
    assert draw(1).steps != draw(2).steps


def test_a_weight_is_a_share() -> None:
    rng = Rng(1)
    found = Counter(weighted(rng, {"a": 3, "b": 1, "never": 0}) for _ in range(4_000))
    assert set(found) == {"a", "b"}
    assert 2_850 < found["a"] < 3_150
