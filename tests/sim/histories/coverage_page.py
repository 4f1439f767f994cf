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
NAMED_EVENTS: tuple[tuple[str, str], ...] = (
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


def reachable_rows() -> dict[str, list[Row]]:
    """Return the reachable rows, by group."""
    found: dict[str, list[Row]] = {}
    for row in ROWS.values():
        if not row.unreachable:
            found.setdefault(row.group, []).append(row)
    return found


def before_cell(text: str, first: str) -> str:
    """Return the column `before` of the current page in the row that begins with `first`."""
    row = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    cells = [] if row is None else [cell.strip() for cell in row.group(1).split("|")]
    return cells[1] if len(cells) > 1 else "-"


def group_table(text: str, seeds: Counter[str]) -> list[str]:
    """Return the table of groups."""
    lines = ["| group | rows | before | these seeds |", "|---|--:|--:|--:|"]
    totals = [0, 0]
    for group, rows in reachable_rows().items():
        counts = len(rows), sum(row.name in seeds for row in rows)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        lines.append(f"| `{group}` | {counts[0]} | {before_cell(text, f'`{group}`')} | {counts[1]} |")
    return [*lines, f"| all | {totals[0]} | {before_cell(text, 'all')} | {totals[1]} |"]


def event_table(text: str, histories: Counter[str], times: Counter[str]) -> list[str]:
    """Return the table of the named events."""
    lines = ["| event | row | before | these seeds |", "|---|---|--:|--:|"]
    for event, name in NAMED_EVENTS:
        count = f"{histories[name]} ({times[name]})" if histories[name] else "0"
        lines.append(f"| {event} | `{name}` | {before_cell(text, event)} | {count} |")
    return lines


def missed_rows(seeds: Counter[str]) -> list[str]:
    """Return the rows that the seeds did not reach, one line for each group."""
    lines = []
    for group, rows in reachable_rows().items():
        names = [f"`{row.name.partition('.')[2]}`" for row in rows if row.name not in seeds]
        if names and group != "received":  # Sent messages are mostly received.
            lines.append(f"- `{group}`: {', '.join(names)}")
    return lines


def unreachable_rows() -> list[str]:
    """Return the rows that no history can reach, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for row in ROWS.values():
        if row.unreachable:
            reasons.setdefault(row.unreachable, []).append(f"`{row.name}`")
    return ["| row | why |", "|---|---|", *(f"| {', '.join(names)} | {reason} |" for reason, names in reasons.items())]


def count_sentences(seeds_range: str, seeds: Counter[str]) -> list[str]:
    """Return the sentences about the counts."""
    reachable = [row.name for row in ROWS.values() if not row.unreachable]
    fixed = len(SEEDS) + len(KEPT)
    return [
        f"There are {len(ROWS)} rows; {len(ROWS) - len(reachable)} are out of reach. Of the {len(reachable)} others",
        f"the {fixed} histories of CI reach each one; {seeds_range} reach {sum(name in seeds for name in reachable)}.",
    ]


def main(arguments: list[str]) -> int:
    profile, first, count = arguments[0], int(arguments[1]), int(arguments[2])
    histories: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for seed in range(first, first + count):
        coverage = run_history(seed=seed, profile=profile, coverage=True).coverage
        histories.update(coverage.keys())
        times.update(coverage)
    text = PAGE.read_text(encoding="utf-8")
    seeds_range = f"seeds {first} to {first + count - 1} of `{profile}`"
    parts = {
        "counts": count_sentences(seeds_range, histories), "groups": group_table(text, histories),
        "events": event_table(text, histories, times), "missed": missed_rows(histories), "barred": unreachable_rows(),
    }  # fmt: skip
    for name, lines in parts.items():
        begin, end = f"<!-- counted: {name} -->", f"<!-- end of {name} -->"
        assert begin in text and end in text, f"the page lacks {begin}"
        before_mark, _, rest = text.partition(begin)
        text = f"{before_mark}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
