"""Fixed seeds of whole histories, and plans that once failed. KMIRROR_HISTORIES=n adds n new full ones."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kmirror.sim.history.plan import Plan
from kmirror.testing.histories import assert_history_clean

PLANS = Path(__file__).parents[1] / "data" / "histories"
ONCE_FAILED = {
    f"{plan.profile}-{plan.seed}": plan
    for plan in map(Plan.from_json, (PLANS / "once-failed.jsonl").read_text().splitlines())
}
"""Histories in which the engine, or the judge, was wrong; kept as plans, for a seed draws another one as soon as
profiles change."""


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_small_histories(first: int) -> None:
    for seed in range(first, first + 20):
        assert_history_clean(seed=seed, profile="smoke")


def new_seeds() -> list[int]:
    """Return where the tens of new seeds begin that KMIRROR_HISTORIES asks for."""
    first = time.time_ns()
    return [first + ten for ten in range(0, int(os.environ.get("KMIRROR_HISTORIES", "0")), 10)]


@pytest.mark.parametrize("first", [*range(500, 530, 10), *new_seeds()])
def test_histories_of_every_kind(first: int) -> None:
    for seed in range(first, first + 10):
        assert_history_clean(seed=seed, profile="full")


@pytest.mark.parametrize("profile", ["transactions", "control", "replicas", "operators", "topologies", "power"])
def test_histories_of_one_kind(profile: str) -> None:
    for seed in range(4):
        assert_history_clean(seed=seed, profile=profile)


@pytest.mark.parametrize("name", ONCE_FAILED)
def test_histories_that_once_failed(name: str) -> None:
    assert_history_clean(plan=ONCE_FAILED[name])


@pytest.mark.decision("D45")
def test_a_mirror_of_a_cluster_that_fails_back() -> None:
    """The source is cut, and gets another cluster's records under an epoch number that it had used itself."""
    assert_history_clean(plan=PLANS / "mirror-of-a-failback.json")


def test_a_partition_that_the_source_lacks_waits_with_its_open_transactions() -> None:
    """It was added while its topic was not mirrored; read-only again, it takes no markers."""
    assert_history_clean(plan=PLANS / "partition-that-the-source-lacks.json")


@pytest.mark.decision("D36")
def test_a_stop_that_finds_the_producer_reset_of_the_one_before() -> None:
    """It bumps the leader epoch all the same: else nobody is told any more who wrote the log."""
    assert_history_clean(plan=PLANS / "stop-finds-older-reset.json")
