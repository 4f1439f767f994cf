"""Diagram of a partition's logs: the leaders' logs side by side, a few rows around an offset.

Each cluster has one column for the end of the history, and one before it if an earlier observation had other rows
there. A cell has the epoch, the value, and `~` if a read_committed consumer does not receive the record.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from kmirror.histories.account import Account, LogRow, ObservedLog
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.ids import TopicPartition

WIDTH = 80
AROUND = 4
"""Number of rows above and below the offset in question."""
VALUE_MAX = 14
SHORT = {"<MIRROR_PID_RESET -1>": "<PID_RESET>"}
"""Short forms of values that occur in many logs."""
MARK = ">"
HIDDEN = "~"
BELOW, NONE, TAIL, END = "(below start)", "", "(above HW)", "(log end)"


class Column(NamedTuple):
    title: str
    log: ObservedLog
    cells: Sequence[str]


def side_by_side(account: Account, tp: TopicPartition, offset: int, at: Instant = -1) -> list[str]:
    """Return the lines of the diagram, at most 80 columns wide.

    Without an offset (-1) it is centred on the first offset at which two leaders differ, or else on the smallest last
    stable offset. `at` is the time of the anomaly: observations before it are shown beside the end; -1 for the end
    itself.
    """
    logs = [(cluster, log) for (cluster, other), log in account.final_logs.items() if other == tp]
    if not logs:
        return [f"{tp}: no log was observed at the end"]
    centre = offset if offset >= 0 else first_difference([log for _, log in logs])
    offsets = range(max(centre - AROUND, 0), centre + AROUND + 1)
    columns = []
    for cluster, log in logs:
        before = _before(account, cluster, log, offsets, at)
        if before is not None:
            columns.append(_column(f"{cluster} at {before.at / SECOND:.3f} s", before, offsets))
        columns.append(_column(f"{cluster} at the end", log, offsets))
    lines = [f"Logs of {tp} around offset {centre} (leader epoch, value; {HIDDEN} not visible)"]
    for group in _groups(columns):
        lines += _table(group, offsets, centre)
    lines += [_bounds(cluster, log) for cluster, log in logs]
    own_differences = [
        (cluster, broker, text) for cluster, other, broker, text in account.differing_replicas if other == tp
    ]
    for cluster, broker, text in own_differences:
        text = f"{cluster}-{broker} is in the ISR but differs from its leader: {text}"
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    if not own_differences:
        lines.append("  in-sync replicas are equal to their leaders")
    return lines


def first_difference(logs: Sequence[ObservedLog]) -> int:
    """Return the first offset at which these logs have different rows, or else their smallest last stable offset."""
    end = max(log.log_end_offset for log in logs)
    tables = [{row.offset: (row.epoch, row.value) for row in log.rows} for log in logs]
    start = max(log.log_start_offset for log in logs)
    for offset in range(start, end):
        if any(table.get(offset) != tables[0].get(offset) for table in tables):
            return offset
    return min(log.last_stable_offset for log in logs)


def _before(account: Account, cluster: str, final: ObservedLog, offsets: range, at: Instant) -> ObservedLog | None:
    """Return the last earlier observation of the same log that has other rows, or None."""
    now = _cells(final, offsets)
    for log in reversed(account.logs):
        if (log.cluster, log.tp) == (cluster, final.tp) and (at < 0 or log.at <= at):
            cells = _cells(log, offsets)
            if any(cells) and _contradict(cells, now):
                return log
    return None


def _contradict(before: Sequence[str], now: Sequence[str]) -> bool:
    """Return whether a row that existed before is now different, hidden or gone.

    A log that only grew does not contradict, nor does a row that has become visible.
    """
    placeholders = (BELOW, NONE, TAIL, END)
    return any(old not in (*placeholders, new, f"{new} {HIDDEN}") for old, new in zip(before, now, strict=True))


def _column(title: str, log: ObservedLog, offsets: range) -> Column:
    return Column(title, log, _cells(log, offsets))


def _cells(log: ObservedLog, offsets: range) -> list[str]:
    rows = {row.offset: row for row in log.rows}
    cells = []
    for offset in offsets:
        if offset in rows:
            cells.append(_cell(rows[offset]))
        elif offset < log.log_start_offset:
            cells.append(BELOW)
        elif offset >= log.log_end_offset:
            cells.append(END if offset == log.log_end_offset else NONE)
        else:
            cells.append(TAIL if offset >= log.high_watermark else "-")
    return cells


def _cell(row: LogRow) -> str:
    value = SHORT.get(row.value, row.value)
    if len(value) > VALUE_MAX:
        value = f"{value[: VALUE_MAX - 6]}..{value[-4:]}"
    return f"{row.epoch:>3} {value}{'' if row.visible else ' ' + HIDDEN}"


def _groups(columns: Sequence[Column]) -> list[list[Column]]:
    """Return the columns in groups that fit the width beside the offsets."""
    groups: list[list[Column]] = []
    free_width = 0
    for column in columns:
        needed = _width(column) + 3
        if not groups or needed > free_width:
            groups.append([])
            free_width = WIDTH - 10
        groups[-1].append(column)
        free_width -= needed
    return groups


def _width(column: Column) -> int:
    return max(len(column.title), *(len(cell) for cell in column.cells))


def _table(columns: Sequence[Column], offsets: range, centre: int) -> list[str]:
    widths = [_width(column) for column in columns]
    head = " | ".join(column.title.ljust(width) for column, width in zip(columns, widths, strict=True))
    lines = [f"  {'offset':>7} | {head}".rstrip(), f"  {'-' * 7}-+-{'-+-'.join('-' * width for width in widths)}"]
    for index, offset in enumerate(offsets):
        cells = " | ".join(column.cells[index].ljust(width) for column, width in zip(columns, widths, strict=True))
        lines.append(f"{MARK if offset == centre else ' '} {offset:>7} | {cells}".rstrip())
    return lines


def _bounds(cluster: str, log: ObservedLog) -> str:
    return (
        f"  {cluster}-{log.broker} leads in epoch {log.leader_epoch}: start {log.log_start_offset}, "
        f"LSO {log.last_stable_offset}, HW {log.high_watermark}, end {log.log_end_offset}"
    )
