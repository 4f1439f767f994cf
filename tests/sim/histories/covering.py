"""`python -m tests.sim.histories.covering`: order the kept histories, and search for those that reach missing rows.

    python -m tests.sim.histories.covering                                   order the file by coverage and CPU time
    python -m tests.sim.histories.covering full 20000 500 rings 30000 50     and search among these seeds first

Clean histories that reach a missing row are added as plans. Those that are not needed for coverage any more leave the
file, unless they once failed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

from kmirror.histories.coverage.table import ROWS
from kmirror.histories.draw import draw
from kmirror.histories.plan import Plan
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Exit
from tests.sim.histories import kept
from tests.sim.histories.kept import KeptHistory


@dataclass(frozen=True, slots=True)
class Candidate:
    history: KeptHistory
    reached: frozenset[str]


def run(plan: Plan, *, has_failed: bool = False) -> Candidate:
    """Run a plan; a history that is not clean reaches nothing."""
    started = time.process_time()
    outcome = run_history(plan, coverage=True)
    seconds = round(time.process_time() - started, 2)
    reached = frozenset(outcome.coverage) if outcome.exit is Exit.CLEAN else frozenset()
    return Candidate(KeptHistory(plan, seconds, has_failed), reached)


def cover(candidates: Iterable[Candidate], rows: set[str]) -> list[Candidate]:
    """Return candidates that together reach these rows: those with the most rows per second first, none needlessly."""
    remaining, missing, chosen = list(candidates), set(rows), list[Candidate]()
    while missing:
        best = max(
            remaining, key=lambda candidate: len(candidate.reached & missing) / (candidate.history.seconds + 0.1)
        )
        if not best.reached & missing:
            break
        missing -= best.reached
        chosen.append(best)
    for candidate in sorted(chosen, key=lambda candidate: candidate.history.seconds, reverse=True):
        others = set[str]().union(*(other.reached for other in chosen if other is not candidate))
        if candidate.reached & rows <= others:
            chosen.remove(candidate)
    return chosen


def main(arguments: list[str]) -> int:
    rows = {row.name for row in ROWS.values() if not row.unreachable}
    candidates = [run(history.plan, has_failed=history.has_failed) for history in kept.read().values()]
    missing = rows.difference(*(candidate.reached for candidate in candidates))
    print(f"{len(candidates)} histories reach {len(rows) - len(missing)} of {len(rows)} rows", flush=True)
    for profile, first, count in zip(*[iter(arguments)] * 3, strict=True):
        for seed in range(int(first), int(first) + int(count)):
            candidate = run(draw(seed, profile))
            if candidate.reached & missing:
                candidates.append(candidate)
    chosen = cover(candidates, rows)
    others = [candidate for candidate in candidates if candidate not in chosen and candidate.history.has_failed]
    others.sort(key=lambda candidate: candidate.history.seconds)
    kept.FILE.write_text("".join(candidate.history.to_line() for candidate in (*chosen, *others)), encoding="utf-8")
    needed = sum(candidate.history.seconds for candidate in chosen)
    missing = rows.difference(*(candidate.reached for candidate in chosen))
    print(f"{len(chosen)} histories of {needed:.0f} CPU seconds cover the rows; {len(others)} others once failed")
    print(f"missing: {', '.join(sorted(missing)) or 'no row'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
