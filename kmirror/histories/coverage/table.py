"""All rows of coverage by name, and the printed table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmirror.histories.coverage import (
    codes,
    facts,
    leader_logs,
    messages,
    metadata_log,
    plans,
    trace_lines,
    transitions,
)
from kmirror.histories.coverage.row import Row

TABLES: tuple[tuple[Row, ...], ...] = (
    plans.ROWS, trace_lines.ROWS, facts.ROWS, messages.ROWS, metadata_log.ROWS, leader_logs.ROWS,
    transitions.ROWS, codes.ROWS,
)  # fmt: skip


def _index_by_name(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        assert row.name not in found, f"two rows of coverage are named {row.name}"
        found[row.name] = row
    return found


ROWS: Mapping[str, Row] = _index_by_name(row for table in TABLES for row in table)
"""Every row, in the order of the tables."""


def lines(histories: Mapping[str, int], counts: Mapping[str, int]) -> list[str]:
    """Return the table as text: each row with the number of histories that reached it, and the total count.

    Rows that were not reached come last with their descriptions, followed by unreachable rows.
    """
    width = max(len(name) for name in ROWS)
    reached = [name for name in ROWS if counts.get(name)]
    missed = [row for row in ROWS.values() if not counts.get(row.name) and not row.unreachable]
    unreachable = [row for row in ROWS.values() if row.unreachable]
    text = [f"{'COVERAGE':<{width}} {'HISTORIES':>10} {'TIMES':>10}"]
    text += [f"{name:<{width}} {histories[name]:>10} {counts[name]:>10}" for name in reached]
    text += [f"no row: {name:<{width - 8}} {histories[name]:>10} {counts[name]:>10}" for name in unlisted(counts)]
    text += ["", f"{len(reached)} of {len(ROWS) - len(unreachable)} rows were reached, {len(missed)} were not:"]
    text += [f"{row.name:<{width}} {row.doc}" for row in missed]
    text += ["", f"{len(unreachable)} rows cannot be reached:"]
    text += [f"{row.name:<{width}} {row.unreachable}" for row in unreachable]
    return text


def unlisted(counts: Iterable[str]) -> list[str]:
    """Return the counted names without a row: error codes or transitions that the tables lack."""
    return sorted(name for name in counts if name not in ROWS)
