"""Mistakes that kmirror once had: each is planted again, and histories are run until one of them finds it.

Rows of findings.toml name a profile made for them, which is run in addition to `full`. Results are stored one by one.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.faults.campaign import Result, commit, copy_project, plant_fault, read_results
from benchmarks.faults.finders import FIRST_SEED, run_histories
from benchmarks.faults.rows import FINDINGS, read_faults

RESULTS = FINDINGS.with_suffix(".jsonl")
FULL = "full"


def run_findings(*, count: int, only: str = "", results: Path = RESULTS) -> None:
    """Run up to `count` histories of each profile for each fault, unless it was found or had that number already."""
    known = {(row.fault, row.finder): row for row in read_results(results)}
    with tempfile.TemporaryDirectory(prefix="kmirror-faults-") as folder:
        copy = Path(folder)
        copy_project(copy)
        for fault in read_faults((FINDINGS,)):
            for profile in (fault.profile, FULL):
                row = known.get((fault.name, profile))
                if only not in fault.name or (row is not None and (row.found or row.after >= count)):
                    continue
                first, started_at = 0 if row is None else row.after, time.monotonic()
                with plant_fault(copy, fault):
                    runs = run_histories(copy, range(FIRST_SEED + first, FIRST_SEED + count), profile)
                found, seconds = runs[-1].found, round(time.monotonic() - started_at, 1)
                row = Result(fault.name, profile, found, first + len(runs), seconds, commit())
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
                print(
                    f"{fault.name}: {profile}: {found or 'not found'} after {row.after} ({seconds:.0f} s)", flush=True
                )


def table(results: Path = RESULTS) -> str:
    """Return a table with a row for each fault: the number of histories until it was found, and the checkers."""
    known = {(row.fault, row.finder): row for row in read_results(results)}
    lines = ["| mistake | its profile | found after | in `full` after | by |", "|---|---|--:|--:|---|"]
    for fault in read_faults((FINDINGS,)):
        own_row, full_row = known.get((fault.name, fault.profile)), known.get((fault.name, FULL))
        found = next((row.found for row in (own_row, full_row) if row is not None and row.found), "")
        lines.append(
            f"| {fault.about} | `{fault.profile}` | {_cell(own_row)} | {_cell(full_row)} | {found.replace('|', '/')} |"
        )
    return "\n".join(lines)


def _cell(row: Result | None) -> str:
    if row is None:
        return ""
    return str(row.after) if row.found else f"not in {row.after}"
