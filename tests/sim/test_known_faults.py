"""Faults of the engine that are known and not mended yet: the judge still reports each in the smallest plan kept of it.

A test that turns red here says that its fault is gone: the plan then goes to once-failed.jsonl, and the move that
provokes the fault into the profile `full`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.sim.history.plan import Plan
from kmirror.sim.history.run import run_history

PLANS = Path(__file__).parents[1] / "data" / "histories" / "known"
# By file: the checker that reports it, or what it is accepted as until it is mended; where it is told, and what is
# wrong in one sentence.
KNOWN: dict[str, tuple[str, str, str]] = {}


@pytest.mark.parametrize("name", KNOWN)
def test_the_judge_reports_a_known_fault(name: str) -> None:
    checker, where, sentence = KNOWN[name]
    outcome = run_history(Plan.from_json((PLANS / f"{name}.json").read_text()))
    assert not outcome.account.crash
    found = {anomaly.checker for anomaly in outcome.anomalies} | {row.decision for row in outcome.accepted}
    assert checker in found, f"mended? {where}: {sentence}"


def test_every_plan_that_is_kept_has_a_row() -> None:
    assert sorted(path.stem for path in PLANS.glob("*.json")) == sorted(KNOWN)
