"""Whole histories: fixed seeds, and kept plans. KMIRROR_HISTORIES=n adds n new full ones.

The kept plans run as far as KMIRROR_HISTORY_SECONDS of CPU time go (tests/sim/histories/kept.py).
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kmirror.histories.coverage.table import ROWS, unlisted
from kmirror.histories.plan import Plan
from kmirror.testing.histories import assert_history_clean
from tests.sim.histories import kept

PLANS = Path(__file__).parents[2] / "data" / "histories"
KEPT = kept.first_within(kept.SECONDS)
SEEDS = (
    *(("smoke", seed) for seed in range(20)),
    *(("full", seed) for seed in range(500, 505)),
    ("transactions", 0),
    ("control", 0),
    ("replicas", 0),
    ("operators", 0),
    ("topologies", 0),
    ("power", 0),
    ("site_power", 0),
    ("site_power_unflushed", 0),
)
REACHED: list[dict[str, int]] = []
"""Coverage of each history with a fixed seed or plan."""
FAILED: list[str] = []
"""Those of them that were not clean."""


def run_fixed(*, seed: int = 0, profile: str = "full", plan: Plan | None = None) -> None:
    """Run a history that is the same every time, and store its coverage."""
    name = f"{plan.profile}-{plan.seed}" if plan else f"{profile}-{seed}"
    FAILED.append(name)  # Until it is known to be clean.
    REACHED.append(assert_history_clean(seed=seed, profile=profile, plan=plan, coverage=True).coverage)
    FAILED.remove(name)


def new_seeds() -> list[tuple[str, int]]:
    """Return as many new seeds as KMIRROR_HISTORIES requests, with their profile."""
    first = time.time_ns()
    return [("full", first + number) for number in range(int(os.environ.get("KMIRROR_HISTORIES", "0")))]


@pytest.mark.parametrize(("profile", "seed"), [*SEEDS, *new_seeds()])
def test_histories_of_seeds(profile: str, seed: int) -> None:
    if (profile, seed) in SEEDS:
        run_fixed(seed=seed, profile=profile)
    else:  # It differs each time: its coverage does not count.
        assert_history_clean(seed=seed, profile=profile)


@pytest.mark.parametrize("name", KEPT)
def test_kept_histories(name: str) -> None:
    run_fixed(plan=KEPT[name])


def test_these_histories_reach_every_row_of_coverage() -> None:
    """Every row of coverage is reached, except for marked ones; this needs the tests before."""
    assert FAILED == [], "what is reached is not known: these histories failed"
    fixed = len(SEEDS) + len(KEPT)
    if len(REACHED) < fixed:
        pytest.skip(f"{len(REACHED)} of {fixed} fixed histories were run; all are needed to say what they reach")
    reached = {name for counts in REACHED for name in counts}
    assert unlisted(reached) == [], "give each a row, or find out why it happens"
    assert [row.name for row in ROWS.values() if row.unreachable and row.name in reached] == []
    wanted = [row.name for row in ROWS.values() if not row.unreachable]
    missing = [name for name in wanted if name not in reached]
    assert missing == [], (
        "reached no more: python -m tests.sim.histories.covering PROFILE SEED COUNT finds histories that do"
    )


@pytest.mark.decision("D45")
def test_a_mirror_of_a_cluster_that_fails_back() -> None:
    """The source truncates, and gets another cluster's records under an epoch number that it had used itself."""
    assert_history_clean(plan=PLANS / "mirror-of-a-failback.json")


def test_a_partition_that_the_source_lacks_waits_with_its_open_transactions() -> None:
    """It was added while its topic was not mirrored; read-only again, it gets no markers."""
    assert_history_clean(plan=PLANS / "partition-that-the-source-lacks.json")


@pytest.mark.decision("D36")
def test_a_stop_that_finds_the_producer_reset_of_the_one_before() -> None:
    """It bumps the leader epoch nevertheless: otherwise the writers of the log are not reported any more."""
    assert_history_clean(plan=PLANS / "stop-finds-older-reset.json")
