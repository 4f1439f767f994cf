"""Histories kept as plans: those in which the engine or the judge was wrong, and those that reach rows of coverage.

A seed draws another plan when profiles change, hence the plans. `python -m tests.sim.histories.covering` orders the
file: first the histories that together reach every row of coverage, then the others, the shortest first. CI runs the
beginning of the file, as far as KMIRROR_HISTORY_SECONDS (CPU time) goes; the nightly profile runs all.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from kmirror.histories.plan import Plan

FILE: Final = Path(__file__).parents[2] / "data" / "histories" / "kept.jsonl"
SECONDS: Final = float(os.environ.get("KMIRROR_HISTORY_SECONDS", "200"))


@dataclass(frozen=True, slots=True)
class KeptHistory:
    plan: Plan
    seconds: float
    """CPU time of a run on the machine that ordered the file."""
    has_failed: bool
    """True if it once failed: it stays in the file even if it is not needed for coverage."""

    @property
    def name(self) -> str:
        return f"{self.plan.profile}-{self.plan.seed}"

    def to_line(self) -> str:
        fields = {"seconds": self.seconds, "has_failed": self.has_failed, "plan": json.loads(self.plan.to_json())}
        return json.dumps(fields, separators=(",", ":")) + "\n"


def read() -> dict[str, KeptHistory]:
    """Return the histories in the file, by profile and seed, in order."""
    rows = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    kept = (KeptHistory(Plan.from_json(json.dumps(row["plan"])), row["seconds"], row["has_failed"]) for row in rows)
    return {history.name: history for history in kept}


def first_within(seconds: float) -> dict[str, Plan]:
    """Return the first histories of the file, as many as run in this CPU time."""
    kept = read().values()
    end_times = accumulate(history.seconds for history in kept)
    return {history.name: history.plan for history, end in zip(kept, end_times, strict=True) if end <= seconds}
