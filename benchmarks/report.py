"""Output of measured rows: a table for people, a table in docs/benchmarks.md, a comparison with older rows.

Rows are kept in `benchmarks/recorded`, a file for each group and a line of JSON for each row. The tables of the docs
are between two marks, and are generated from these files alone, so that both always agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from benchmarks.harness import Row
from benchmarks.headlines import HEADLINES, Headline
from kmirror.kernel.names import counted

FOLDER = Path(__file__).resolve().parent
RECORDED = FOLDER / "recorded"
DOCS = FOLDER.parent / "docs" / "benchmark-tables.md"
FRONT_PAGE = FOLDER.parent / "docs" / "benchmarks.md"

# Difference between runs of the same commit, independent of the quartiles.
NOISE = 0.05
COLUMNS = "{:<4} {:<64} {:<14} {:>8} {:>8} {:>8} {:>7} {:>7}  {}"
_HEADLINES = re.compile(r"(<!-- headlines -->\n).*?(<!-- end -->)", re.DOTALL)
_MARKED = re.compile(r"(<!-- rows: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

Key = tuple[str, str, str]


def key(row: Row) -> Key:
    return row.id, row.case, row.peer


# -- Lines --------------------------------------------------------------------------------------


def header() -> str:
    return COLUMNS.format("id", "case", "peer", "ratio", "low", "high", "floor", "reach", "").rstrip()


def verdict(row: Row) -> str:
    if row.is_below_floor:
        return "BELOW THE FLOOR"
    return "reached" if row.reach is not None and row.ratio >= row.reach else ""


def line(row: Row) -> str:
    gates = ("-" if gate is None else f"{gate:g}" for gate in (row.floor, row.reach))
    numbers = (f"{number:.2f}" for number in (row.ratio, row.low, row.high))
    return COLUMNS.format(row.id, row.case, row.peer, *numbers, *gates, verdict(row)).rstrip()


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Return the rows of recorded files; raises `ValueError` for an invalid line."""
    found = []
    names = {field.name for field in fields(Row)}
    for path in paths:
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                values = json.loads(text)
            except ValueError:
                values = None
            if not isinstance(values, dict) or set(values) != names:
                raise ValueError(f"{path}, line {number}: not a row as `-o json` prints it")
            found.append(Row(**values))
    return found


# -- Markdown -----------------------------------------------------------------------------------


def markdown(rows: Sequence[Row]) -> str:
    """Return the machine, commit and peers of the measurement, and a table of the rows."""
    if not rows:
        return "Not measured yet.\n"
    lines = []
    for commit, machine in dict.fromkeys((row.commit, row.machine) for row in rows):
        peers = {
            row.peer: row.peer_version
            for row in rows
            if (row.commit, row.machine) == (commit, machine) and row.peer_version not in ("", "-")
        }
        versions = ", ".join(f"{peer} {version}" for peer, version in sorted(peers.items()))
        lines.append(f"Commit {commit}; {machine}{'; ' if versions else ''}{versions}.")
    lines += [
        "",
        "| id | case | beside | ratio | low | high | floor | reach | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        gates = ["" if gate is None else f"{gate:.3g}" for gate in (row.floor, row.reach)]
        numbers = [_three_digits(number) for number in (row.ratio, row.low, row.high)]
        verdict_text = verdict(row).lower()
        lines.append(f"| {' | '.join([row.id, row.case, row.peer, *numbers, *gates, verdict_text])} |")
    return "\n".join(lines) + "\n"


def _three_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def with_tables(text: str) -> str:
    """Return the docs with tables of the recorded rows."""

    def table(match: re.Match[str]) -> str:
        path = RECORDED / f"{match[2]}.jsonl"
        return match[1] + markdown(read_rows([path]) if path.exists() else []) + match[3]

    return _MARKED.sub(table, text)


def headline_table(headlines: Sequence[Headline] = HEADLINES) -> str:
    """Return the table of docs/benchmarks.md; KeyError for a headline whose row is not recorded."""
    lines = ["| measured | beside | ratio | meaning |", "|---|---|---|---|"]
    for each in headlines:
        row = {key(row): row for row in read_rows([RECORDED / f"{each.group}.jsonl"])}[each.row]
        lines.append(
            f"| {each.subject} ({row.id}) | {each.compared_with} | {_three_digits(row.ratio)} | {each.meaning} |"
        )
    return "\n".join(lines) + "\n"


def with_headlines(text: str) -> str:
    """Return the front page with the ratios that are recorded now."""
    return _HEADLINES.sub(lambda match: match[1] + headline_table() + match[2], text)


def record(group: str, rows: Sequence[Row]) -> None:
    """Record the rows of a whole group, and renew its table."""
    RECORDED.mkdir(exist_ok=True)
    text = "".join(row.to_json() + "\n" for row in rows)
    (RECORDED / f"{group}.jsonl").write_text(text, encoding="utf-8")
    DOCS.write_text(with_tables(DOCS.read_text(encoding="utf-8")), encoding="utf-8")
    FRONT_PAGE.write_text(with_headlines(FRONT_PAGE.read_text(encoding="utf-8")), encoding="utf-8")


# -- Then and now -------------------------------------------------------------------------------


def has_fallen(then: Row, now: Row) -> bool:
    """Return whether the new quartiles are below the old ones, and the ratio fell by more than the noise."""
    return now.high < then.low and now.ratio < then.ratio * (1 - NOISE)


def comparison(then: Iterable[Row], now: Iterable[Row]) -> tuple[list[str], int]:
    """Return a line for each row in both sets, lines for those in one only, and the number of rows that have fallen."""
    old_by_key = {key(row): row for row in then}
    lines = ["{:<4} {:<64} {:<14} {:>8} {:>8} {:>8}".format("id", "case", "peer", "then", "now", "change")]
    fallen = compared = new = 0
    for row in now:
        old = old_by_key.get(key(row))
        if old is None:
            new += 1
            continue
        compared += 1
        change = (row.ratio / old.ratio - 1) * 100
        text = f"{row.id:<4} {row.case:<64} {row.peer:<14} {old.ratio:>8.2f} {row.ratio:>8.2f} {change:>+7.1f}%"
        if has_fallen(old, row):
            fallen += 1
            text += "  FALLEN"
        if row.peer_version != old.peer_version:
            text += f"  ({row.peer} was {old.peer_version}, is {row.peer_version})"
        if row.machine != old.machine:
            text += "  (another machine)"
        lines.append(text)
    missing = len(old_by_key) - compared
    lines.append(f"{counted(compared, 'row')} compared, {fallen} fallen, {new} new, {missing} not measured now")
    return lines, fallen
