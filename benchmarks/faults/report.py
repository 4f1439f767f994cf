"""Tables of the faults and their finders, generated from the recorded results alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.faults import findings
from benchmarks.faults.campaign import Result
from benchmarks.faults.finders import FINDERS
from benchmarks.faults.rows import ROOT, Fault

DOCS = ROOT / "docs" / "faults.md"
_MARKED = re.compile(r"(<!-- faults: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def summary(faults: Sequence[Fault], results: Sequence[Result]) -> str:
    """Return a table: for each finder, the number of faults that it ran on, and the number that it found."""
    lines = ["| found by | of written faults | of drawn faults | asked |", "|---|--:|--:|--:|"]
    judged = [fault for fault in faults if not fault.equivalent]
    for finder in FINDERS:
        rows = {row.fault: row for row in results if row.finder == finder}
        if not rows:
            continue
        counts = [_share(group, {name for name, row in rows.items() if row.found}) for group in _groups(judged)]
        lines.append(f"| {finder} | {' | '.join(counts)} | {sum(fault.name in rows for fault in judged)} |")
    found_by_any = {row.fault for row in results if row.found}
    counts = [_share(group, found_by_any) for group in _groups(judged)]
    lines.append(f"| **anything** | {' | '.join(counts)} | {len(judged)} |")
    return "\n".join(lines)


def table(faults: Sequence[Fault], results: Sequence[Result]) -> str:
    """Return a table with a row for each fault, and the result of each finder."""
    lines = ["| fault | file | mistake | " + " | ".join(FINDERS) + " |", "|---|---|---|" + "---|" * len(FINDERS)]
    known = {(row.fault, row.finder): row for row in results}
    for fault in faults:
        cells = [_cell(known.get((fault.name, finder))) for finder in FINDERS]
        about = f"{fault.about} Equivalent: {fault.equivalent}" if fault.equivalent else fault.about
        lines.append(f"| {fault.name} | {fault.file.removeprefix('kmirror/')} | {about} | {' | '.join(cells)} |")
    return "\n".join(lines)


def update_tables(faults: Sequence[Fault], results: Sequence[Result]) -> None:
    """Print the summary, and write the tables between their marks in the docs."""
    tables = {"summary": summary(faults, results), "table": table(faults, results), "findings": findings.table()}
    print(tables["summary"])
    text = DOCS.read_text(encoding="utf-8")
    DOCS.write_text(_MARKED.sub(lambda mark: f"{mark[1]}\n{tables[mark[2]]}\n\n{mark[3]}", text), encoding="utf-8")


def _groups(faults: Sequence[Fault]) -> tuple[list[Fault], list[Fault]]:
    """Return the faults written by hand, and the drawn ones."""
    drawn = [fault for fault in faults if fault.name.startswith("drawn-")]
    return [fault for fault in faults if fault not in drawn], drawn


def _share(faults: Sequence[Fault], found: set[str]) -> str:
    return f"{sum(fault.name in found for fault in faults)} of {len(faults)}"


def _cell(row: Result | None) -> str:
    if row is None:
        return ""
    if not row.found:
        return f"no ({row.after})" if row.after else "no"
    name = row.found.removeprefix("tests/").replace("|", "/")
    return f"{name} ({row.after})" if row.after else name
