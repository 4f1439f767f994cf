"""All rows of coverage by name, and the printed table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmirror.histories.coverage import codes, facts, messages, planned, replayed, told, transitions, written
from kmirror.histories.coverage.row import Row

TABLES: tuple[tuple[Row, ...], ...] = (
    planned.ROWS, told.ROWS, facts.ROWS, messages.ROWS, replayed.ROWS, written.ROWS, transitions.ROWS, codes.ROWS,
)  # fmt: skip


def _by_name(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        assert row.name not in found, f"two rows of coverage are named {row.name}"
        found[row.name] = row
    return found


ROWS: Mapping[str, Row] = _by_name(row for table in TABLES for row in table)
"""Every row, in the order of the tables."""


def lines(histories: Mapping[str, int], times: Mapping[str, int]) -> list[str]:
    """Return the table as text: each row with the number of histories that reached it, and the total count.

    Rows that were not reached come last with their descriptions, followed by unreachable rows.
    """
    width = max(len(name) for name in ROWS)
    found = [name for name in ROWS if times.get(name)]
    missed = [row for row in ROWS.values() if not times.get(row.name) and not row.unreachable]
    barred = [row for row in ROWS.values() if row.unreachable]
    told = [f"{'COVERAGE':<{width}} {'HISTORIES':>10} {'TIMES':>10}"]
    told += [f"{name:<{width}} {histories[name]:>10} {times[name]:>10}" for name in found]
    told += [f"no row: {name:<{width - 8}} {histories[name]:>10} {times[name]:>10}" for name in unlisted(times)]
    told += ["", f"{len(found)} of {len(ROWS) - len(barred)} rows were reached, {len(missed)} were not:"]
    told += [f"{row.name:<{width}} {row.doc}" for row in missed]
    told += ["", f"{len(barred)} rows cannot be reached:"]
    told += [f"{row.name:<{width}} {row.unreachable}" for row in barred]
    return told


def unlisted(counts: Iterable[str]) -> list[str]:
    """Return the counted names without a row: error codes or transitions that the tables lack."""
    return sorted(name for name in counts if name not in ROWS)
