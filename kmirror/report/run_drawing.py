"""Drawing of a run: lanes of orders, nodes, lines and partitions, and a table of waits.

Everything is drawn from typed facts of the run (`kmirror.sim.facts`), reported by a node or the world when they
happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from kmirror.kernel.names import counted
from kmirror.report.drawing import (
    HALF,
    LANE_STYLE,
    StateChange,
    bar,
    bar_text,
    lane,
    lane_y,
    legend,
    line,
    mark,
    state_bars,
    strip,
    ticks,
)
from kmirror.report.fact_texts import fact_text
from kmirror.report.page import table
from kmirror.report.periods import ClusterPartition, Period, Periods, overlapping, periods_of, seconds
from kmirror.sim.facts import LeaderElected, LogCut, ProducersReset, Seen, StateEntered
from kmirror.sim.simulation import Simulation
from kmirror.spec.topics import is_internal

HEIGHT = HALF + 4
PARTITIONS_MAX = 200
WAITS_MAX = 30
WAIT_MS_MIN = 100
"""Shorter waits are drawn, but not listed."""
FACTS_MAX = 5000
STYLE = LANE_STYLE + (
    ".away { fill: #d1495b; fill-opacity: .75; } .dead { fill: #000; fill-opacity: .55; } .order { fill: #1b6ca8; }"
    " .refused { fill: #c98a1b; } .set { fill: #c98a1b; fill-opacity: .6; }"
)
KEY = (
    "Red: node not running, or line down. Dark strip under it: the killed broker still counts as alive until its "
    "session ends, and others wait for it; pale: fenced. Dark strip under a state: the leader was waiting; hover for "
    "the reason. "
    "▲ leader elected, ▲! unclean election, ✂ log truncated, ⟲ producers reset. Hover over a mark or a bar for details."
)


@dataclass(slots=True)
class RunDrawing:
    """All data drawn for one run."""

    facts: Sequence[Seen[object]]
    end_ms: int
    periods: Periods
    grid: list[str]
    """Ticks and other lines through every lane."""
    states: dict[ClusterPartition, list[StateChange]] = field(default_factory=dict)
    marks: dict[ClusterPartition, list[tuple[str, int, str]]] = field(default_factory=dict)
    """(sign, time in ms, text) of each mark."""

    def mark(self, partition: ClusterPartition, sign: str, at_ms: int, text: str) -> None:
        """Add a sign at a time; `text` is its tooltip."""
        self.marks.setdefault(partition, []).append((sign, at_ms, text))


def draw_run(simulation: Simulation, *, stages: Iterable[int] = ()) -> RunDrawing:
    """Return the drawing of a run so far, with a dashed line through all lanes at each of `stages`, in ms."""
    facts = simulation.facts(object)
    end_ms = max(simulation.world.elapsed_us // 1000, 1)
    grid = [line("grid", at, end_ms) for at in ticks(end_ms)] + [line("stage", at, end_ms) for at in stages]
    drawing = RunDrawing(facts, end_ms, periods_of(facts, end_ms), grid)
    for seen in facts:
        match seen.fact:
            case StateEntered(tp, state=state):
                change = StateChange(seen.cluster, tp, seen.at_ms, state.name)
                drawing.states.setdefault((seen.cluster, tp), []).append(change)
            case LeaderElected(tp, leader_epoch=epoch, unclean=unclean) if epoch > 0 and not is_internal(tp.topic):
                drawing.mark((seen.cluster, tp), "▲!" if unclean else "▲", seen.at_ms, fact_text(seen.fact))
            case LogCut(tp):
                drawing.mark((seen.cluster, tp), "✂", seen.at_ms, f"{seen.node}: {fact_text(seen.fact)}")
            case ProducersReset(tp):
                drawing.mark((seen.cluster, tp), "⟲", seen.at_ms, f"{seen.node}: {fact_text(seen.fact)}")
    return drawing


def state_key(drawing: RunDrawing) -> str:
    """Return the legend of the colours of the states in the drawing."""
    return legend({change.state for changes in drawing.states.values() for change in changes})


# -- lanes ------------------------------------------------------------------------------------


def node_lanes(drawing: RunDrawing) -> Iterator[str]:
    """Yield the lanes of orders, of lines that were down or changed, and of nodes that were down or fenced."""
    periods, end = drawing.periods, drawing.end_ms
    if periods.orders:
        shapes = [shape for row in periods.orders for shape in _order(row, end)]
        yield lane("orders", "sent to answered", [*drawing.grid, *shapes], height=HEIGHT)
    lines = [("set", row) for row in periods.lines_set] + [("away", row) for row in periods.lines_down]
    for name in sorted({row.subject for _, row in lines}):
        shapes = [_bar(row, end, css_class) for css_class, row in lines if row.subject == name]
        yield lane(f"line {name}", "down, or changed", [*drawing.grid, *shapes], height=HEIGHT)
    nodes = [("idle", row) for row in periods.fenced] + [("away", row) for row in periods.down]
    for name in sorted({row.subject for _, row in nodes}):
        shapes = [_bar(row, end, css_class) for css_class, row in nodes if row.subject == name]
        shapes += [_session(row, end) for row in periods.killed_not_fenced if row.subject == name]
        yield lane(name, "away", [*drawing.grid, *shapes], height=HEIGHT)


def _order(row: Period[tuple[str, int]], end: int) -> list[str]:
    is_done = row.is_over and row.text.endswith(": NONE")
    text = f"{row.text} ({row.subject[0]}, {seconds(row.begin_ms)} to {seconds(row.end_ms)})"
    order_bar = bar(row.begin_ms, row.end_ms, lane_y(0), end, f'class="{"order" if is_done else "refused"}"', text)
    return [order_bar, bar_text(row.text.partition(" ")[0], row.begin_ms, row.end_ms, lane_y(0), end, "in")]


def _bar(row: Period[str], end: int, css_class: str) -> str:
    return bar(row.begin_ms, row.end_ms, lane_y(0), end, f'class="{css_class}"', row.text)


def _session(row: Period[str], end: int) -> str:
    return strip(row.begin_ms, row.end_ms, lane_y(0), end, 'class="dead"', row.text)


def partition_lanes(drawing: RunDrawing) -> Iterator[str]:
    """Yield a lane for each partition that was in a mirror or elected a leader, on each cluster."""
    partitions = sorted({*drawing.states, *drawing.marks}, key=lambda partition: (partition[1], partition[0]))
    for partition in partitions[:PARTITIONS_MAX]:
        shapes = [*drawing.grid, *partition_shapes(drawing, partition, 0)]
        yield lane(
            str(partition[1]), f"on {partition[0]}", shapes, partition=f"{partition[0]} {partition[1]}", height=HEIGHT
        )
    if len(partitions) > PARTITIONS_MAX:
        yield f"<p>... and {len(partitions) - PARTITIONS_MAX} more partitions; the facts below have them all.</p>"


def partition_shapes(
    drawing: RunDrawing, partition: ClusterPartition, half: int, texts_by_state: dict[str, str] | None = None
) -> Iterator[str]:
    """Yield states, waits and marks of a partition on a cluster, for one half of a lane."""
    end = drawing.end_ms
    texts = {state: state.lower() for state in ("MIRRORING", "STOPPED", "PAUSED", "FAILED", "PREPARING", "STOPPING")}
    yield from state_bars(drawing.states.get(partition, []), half, end, {**texts, **(texts_by_state or {})})
    for row in drawing.periods.waits:
        if row.subject == partition:
            text = f"{row.text} ({seconds(row.begin_ms)} to {seconds(row.end_ms)})"
            yield strip(row.begin_ms, row.end_ms, lane_y(half), end, 'class="dead"', text)
    last, offset = -1, 0
    for sign, at_ms, text in drawing.marks.get(partition, []):
        # Marks close together, such as a reset after a cut, are drawn side by side.
        offset = offset + 2 if last >= 0 and (at_ms - last) * 100 < end else 0
        last = at_ms
        yield mark(sign, at_ms, half, end, f"{text} ({seconds(at_ms)})", offset=offset)


# -- tables -----------------------------------------------------------------------------------


def waits_table(drawing: RunDrawing) -> str:
    """Return the table of the longest waits, with their reasons, and the sessions and lines that overlapped them.

    A reason that recurs in one state is one row.
    """
    groups: dict[tuple[ClusterPartition, str, str], list[Period[ClusterPartition]]] = {}
    for row in drawing.periods.waits:
        states = [change.state for change in drawing.states.get(row.subject, []) if change.at_ms <= row.begin_ms]
        groups.setdefault((row.subject, states[-1] if states else "", row.text), []).append(row)
    waits = sorted(groups.items(), key=lambda group: -_length_ms(group[1]))
    waits = [group for group in waits if _length_ms(group[1]) >= WAIT_MS_MIN]
    if not waits:
        return ""
    rows = [_wait(drawing, *group) for group in waits[:WAITS_MAX]]
    more = f"<p>... and {len(waits) - WAITS_MAX} shorter ones.</p>" if len(waits) > WAITS_MAX else ""
    head = ("cluster", "partition", "state", "from, s", "for, s", "times", "reason", "meanwhile")
    return f"<h2>Waits</h2>{table(head, rows, text=(0, 1, 2), prose=(6, 7))}{more}"


def _length_ms(rows: list[Period[ClusterPartition]]) -> int:
    return sum(row.end_ms - row.begin_ms for row in rows)


def _wait(
    drawing: RunDrawing, subject: tuple[ClusterPartition, str, str], rows: list[Period[ClusterPartition]]
) -> tuple[object, ...]:
    (cluster, tp), state, reason = subject
    others = [*drawing.periods.killed_not_fenced, *drawing.periods.lines_down]
    found = [each for row in rows for each in overlapping(others, row.begin_ms, row.end_ms)]
    meanwhile = "; ".join(dict.fromkeys(each.text for each in found))
    length = f"{_length_ms(rows) / 1000:.3f}"
    return (cluster, tp, state, f"{rows[0].begin_ms / 1000:.3f}", length, len(rows), reason, meanwhile)


def facts_list(drawing: RunDrawing) -> str:
    """Return the list of all facts of the run, except elections of internal topics, one per line."""
    lines = [
        f"{seen.at_ms:>8} ms  {seen.node:<14} {fact_text(seen.fact)}"
        for seen in drawing.facts
        if not (isinstance(seen.fact, LeaderElected) and is_internal(seen.fact.tp.topic))
    ]
    more = f"\n... and {len(lines) - FACTS_MAX} more" if len(lines) > FACTS_MAX else ""
    return (
        f'<h2>Facts</h2><details id="facts"><summary>{counted(len(lines), "fact")}</summary>'
        f"<pre>{escape(chr(10).join(lines[:FACTS_MAX]))}{more}</pre></details>"
    )
