"""`python -m tests.sim.histories.covering`: choose histories for rows of coverage that those of CI do not reach.

    python -m tests.sim.histories.covering full 20000 500 rings 30000 50     search among these seeds
    python -m tests.sim.histories.covering                                   print the missing rows

Clean histories that reach a missing row are added to tests/data/histories/covering.jsonl as plans, the cheapest for its
rows first. Seeds are not stored, as a seed draws another plan when profiles change.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from kmirror.histories.coverage.table import ROWS
from kmirror.histories.draw import draw
from kmirror.histories.plan import Plan
from kmirror.histories.run import run_history
from tests.sim.histories.test_history_seeds import COVERING, COVERING_FILE, ONCE_FAILED, seeded


@dataclass(frozen=True, slots=True)
class Candidate:
    plan: Plan
    reached: frozenset[str]
    cpu_seconds: float


def run_plan(plan: Plan) -> Candidate:
    """Run a plan; a history that is not clean reaches nothing."""
    began = time.process_time()
    outcome = run_history(plan, coverage=True)
    is_clean = not outcome.anomalies and not outcome.account.crash and not outcome.account.unsettled
    return Candidate(plan, frozenset(outcome.coverage) if is_clean else frozenset(), time.process_time() - began)


def chosen(candidates: list[Candidate], missing: set[str]) -> Iterator[Candidate]:
    """Yield candidates until they reach the rows of all: those with the most rows per second first."""
    missing = missing & {name for one in candidates for name in one.reached}
    while missing:
        best = max(candidates, key=lambda one: len(one.reached & missing) / one.cpu_seconds)
        missing -= best.reached
        yield best


def main(arguments: list[str]) -> int:
    wanted = {row.name for row in ROWS.values() if not row.unreachable}
    fixed = [*(draw(seed, profile) for profile, seed in seeded()), *ONCE_FAILED.values(), *COVERING.values()]
    missing = wanted.difference(*(run_plan(plan).reached for plan in fixed))
    print(f"{len(fixed)} histories reach {len(wanted) - len(missing)} of {len(wanted)} rows", flush=True)
    candidates = []
    for profile, first, count in zip(*[iter(arguments)] * 3, strict=True):
        for seed in range(int(first), int(first) + int(count)):
            one = run_plan(draw(seed, profile))
            if one.reached & missing:
                candidates.append(one)
    added = list(chosen(candidates, missing))
    with COVERING_FILE.open("a", encoding="utf-8") as file:
        for one in added:
            file.write(json.dumps(json.loads(one.plan.to_json()), separators=(",", ":")) + "\n")
            missing -= one.reached
    print(f"{len(added)} histories added; missing: {', '.join(sorted(missing)) or 'no row'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
