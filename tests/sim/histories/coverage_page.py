"""`python -m tests.sim.histories.coverage_page PROFILE FIRST COUNT`: renew the tables of docs/coverage.md.

It runs the seeds, and compares their coverage with that of CI's histories. The column `before` is not changed: it was
counted once, on the commit that the page names. Text outside of the marks is not touched.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from kmirror.histories.coverage.row import Row
from kmirror.histories.coverage.table import ROWS
from kmirror.histories.run import run_history
from tests.sim.histories.test_history_seeds import KEPT, SEEDS

PAGE = Path(__file__).parents[3] / "docs" / "coverage.md"
NAMED: tuple[tuple[str, str], ...] = (
    ("truncation of a log with more than one segment", "cut.many-segments"),
    ("the same by a follower", "cut.follower-many-segments"),
    ("a repeated batch answered as a duplicate", "produce.repeated-batch"),
    ("JoinGroup answered", "answered.JoinGroup"),
    ("SyncGroup answered", "answered.SyncGroup"),
    ("Heartbeat answered", "answered.Heartbeat"),
    ("LeaveGroup answered", "answered.LeaveGroup"),
    ("TxnOffsetCommit answered", "answered.TxnOffsetCommit"),
    ("compaction that removes a record", "log.compacted-records"),
    ("tombstones written", "produce.tombstone"),
    ("tombstones removed", "log.compacted-tombstones"),
    ("DeleteRecords answered", "answered.DeleteRecords"),
    ("a log directory fails", "disk.directory-offline"),
    ("throttled replicas", "config.throttled"),
    ("two batches in flight", "produce.two-in-flight"),
    ("a fetch session of a consumer", "fetch.client-incremental"),
    ("a fetch from a follower", "fetch.client-follower"),
    ("a ring", "shape.ring"),
)
"""The events named in issue 30, each with its row."""


def reachable() -> dict[str, list[Row]]:
    """Return the reachable rows, by group."""
    found: dict[str, list[Row]] = {}
    for row in ROWS.values():
        if not row.unreachable:
            found.setdefault(row.group, []).append(row)
    return found


def before(text: str, first: str) -> str:
    """Return the column `before` of the current page in the row that begins with `first`."""
    row = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    cells = [] if row is None else [cell.strip() for cell in row.group(1).split("|")]
    return cells[1] if len(cells) > 1 else "-"


def groups(text: str, seeds: Counter[str]) -> list[str]:
    """Return the table of groups."""
    told = ["| group | rows | before | these seeds |", "|---|--:|--:|--:|"]
    totals = [0, 0]
    for group, rows in reachable().items():
        counts = len(rows), sum(row.name in seeds for row in rows)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        told.append(f"| `{group}` | {counts[0]} | {before(text, f'`{group}`')} | {counts[1]} |")
    return [*told, f"| all | {totals[0]} | {before(text, 'all')} | {totals[1]} |"]


def events(text: str, histories: Counter[str], times: Counter[str]) -> list[str]:
    """Return the table of the named events."""
    told = ["| event | row | before | these seeds |", "|---|---|--:|--:|"]
    for what, name in NAMED:
        now = f"{histories[name]} ({times[name]})" if histories[name] else "0"
        told.append(f"| {what} | `{name}` | {before(text, what)} | {now} |")
    return told


def missed_rows(seeds: Counter[str]) -> list[str]:
    """Return the rows that the seeds did not reach, one line for each group."""
    told = []
    for group, rows in reachable().items():
        names = [f"`{row.name.partition('.')[2]}`" for row in rows if row.name not in seeds]
        if names and group != "received":  # Sent messages are mostly received.
            told.append(f"- `{group}`: {', '.join(names)}")
    return told


def unreachable_rows() -> list[str]:
    """Return the rows that no history can reach, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for row in ROWS.values():
        if row.unreachable:
            reasons.setdefault(row.unreachable, []).append(f"`{row.name}`")
    return ["| row | why |", "|---|---|", *(f"| {', '.join(names)} | {why} |" for why, names in reasons.items())]


def head(what: str, count: int, seeds: Counter[str]) -> list[str]:
    """Return the sentences about the counts."""
    can = [row.name for row in ROWS.values() if not row.unreachable]
    fixed = len(SEEDS) + len(KEPT)
    return [
        f"There are {len(ROWS)} rows; {len(ROWS) - len(can)} are out of reach. Of the {len(can)} others",
        f"the {fixed} histories of CI reach each one; {what} reach {sum(name in seeds for name in can)}.",
    ]


def main(arguments: list[str]) -> int:
    profile, first, count = arguments[0], int(arguments[1]), int(arguments[2])
    histories: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for seed in range(first, first + count):
        found = run_history(seed=seed, profile=profile, coverage=True).coverage
        histories.update(found.keys())
        times.update(found)
    text = PAGE.read_text(encoding="utf-8")
    what = f"seeds {first} to {first + count - 1} of `{profile}`"
    parts = {
        "counts": head(what, count, histories), "groups": groups(text, histories),
        "events": events(text, histories, times), "missed": missed_rows(histories), "barred": unreachable_rows(),
    }  # fmt: skip
    for name, told in parts.items():
        begin, end = f"<!-- counted: {name} -->", f"<!-- end of {name} -->"
        assert begin in text and end in text, f"the page lacks {begin}"
        head_, _, rest = text.partition(begin)
        text = f"{head_}{begin}\n\n" + "\n".join(told) + f"\n\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
