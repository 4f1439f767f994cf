"""Page of a demo run: a lane for each partition, and the faults of nodes and lines.

Time goes from left to right, under one axis for all lanes. The upper half of a partition's lane is the copy on b
(mirrored from a, then stopped and written to), the lower half is a (the source, then unreachable, then mirrored back).
Lost records are marked where a was unreachable. Everything is drawn from the facts of the run, as on any timeline.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kmirror.experiments.demo import DemoReport, Failback, Failover
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.report.drawing import axis, bar, bar_text, lane, lane_y
from kmirror.report.page import page, table
from kmirror.report.run_drawing import (
    KEY,
    STYLE,
    RunDrawing,
    draw_run,
    facts_list,
    node_lanes,
    partition_shapes,
    state_key,
    waits_table,
)
from kmirror.sim.simulation import Simulation

LINE = "a|b"


def demo_page(report: DemoReport, simulation: Simulation) -> str:
    """Return the page of a finished demo."""
    drawing = draw_run(simulation, stages=[stage.began_ms for stage in report.stages])
    failback = {row.tp: row for row in report.failback}
    lanes = "".join(_lane(drawing, row, failback.get(row.tp)) for row in report.failover)
    stages = "".join(f"<li>{stage.began_ms / 1000:.1f} s: {escape(stage.title)}</li>" for stage in report.stages)
    body = (
        f"<h1>kmirror demo, seed {report.seed}</h1>"
        f"<p>{counted(report.topics, 'topic')}, {counted(report.mirrored.partitions, 'partition')}, "
        f"{counted(report.mirrored.bytes, 'byte')} equal "
        f"after mirroring, {counted(report.final.batches, 'batch')} equal after failback; "
        f"{counted(report.events, 'event')} in "
        f"{report.virtual_seconds:.1f} virtual seconds, digest <code>{report.digest}</code>.</p><ol>{stages}</ol>"
        "<h2>Timeline</h2><p>Of a partition, upper half: the copy on b. Lower half: a, the source, out of reach while "
        "the line is down, then mirrored back from b; red: records that only a had, and lost.</p>"
        f"<p>{KEY}</p><p class=key>{state_key(drawing)}</p>"
        f"{axis('virtual time', 'circles: the steps above', report.stages, drawing.end_ms)}"
        f"{''.join(node_lanes(drawing))}{lanes}{waits_table(drawing)}<h2>Table</h2>{_table(report)}"
        f"{facts_list(drawing)}"
    )
    return page(f"kmirror demo, seed {report.seed}", body, STYLE)


def _lane(drawing: RunDrawing, failover: Failover, failback: Failback | None) -> str:
    tp = failover.tp
    copy = {
        "MIRRORING": f"mirrored to {failover.cut_offset}, epoch {failover.last_mirrored_epoch}",
        "STOPPED": f"writable, epoch {failover.leader_epoch}",
    }
    shapes = [
        *drawing.grid,
        *_source(drawing, tp, failback),
        *partition_shapes(drawing, ("b", tp), 0, copy),
        *partition_shapes(drawing, ("a", tp), 1, {"MIRRORING": "mirrors b"}),
    ]
    return lane(str(tp), _summary(failover, failback), shapes, partition=str(tp))


def _source(drawing: RunDrawing, tp: TopicPartition, failback: Failback | None) -> Iterator[str]:
    """Yield the bars of a before it mirrors b: the source, unreachable while the line is down."""
    states, end, y = drawing.states.get(("a", tp), []), drawing.end_ms, lane_y(1)
    until = states[0].at_ms if states else end
    yield bar(0, until, y, end, 'class="idle"', "a is the source")
    lost, source_until = _lost_offsets(failback), until
    for row in drawing.periods.lines_down:
        if row.subject != LINE or row.begin_ms >= until:
            continue
        source_until = min(source_until, row.begin_ms)
        up_ms = min(row.end_ms, until)
        title = row.text if lost is None else f"a lost offsets {lost}, written meanwhile; {row.text}"
        yield bar(row.begin_ms, up_ms, y, end, f'class="{"idle" if lost is None else "gone"}"', title)
        text = "line down" if lost is None else f"line down; lost {lost}"
        yield bar_text(text, row.begin_ms, up_ms, y, end, "ink" if lost is None else "loss")
    yield bar_text("source", 0, source_until, y, end, "ink")


def _lost_offsets(failback: Failback | None) -> str | None:
    if failback is None or failback.lost_first_offset >= failback.lost_end_offset:
        return None
    return f"{failback.lost_first_offset}-{failback.lost_end_offset - 1}"


def _summary(failover: Failover, failback: Failback | None) -> str:
    text = f"mirrored to {failover.cut_offset}, epoch {failover.last_mirrored_epoch} → {failover.leader_epoch}"
    if failover.cut_offset < failover.log_end_offset:
        text += f"; b cut undecided {failover.cut_offset}-{failover.log_end_offset - 1}"
    if (lost := _lost_offsets(failback)) is not None:
        text += f"; a lost {lost}"
    return text


def _table(report: DemoReport) -> str:
    failback = {row.tp: row for row in report.failback}
    head = ("topic", "partition", "end on b", "cut at", "last mirrored epoch", "new epoch", "pid reset", "lost on a")
    rows = []
    for row in report.failover:
        lost = _lost_offsets(failback.get(row.tp)) or "none"
        rows.append(
            (
                row.tp.topic, row.tp.partition, row.log_end_offset, row.cut_offset, row.last_mirrored_epoch,
                row.leader_epoch, row.reset_offset, lost,
            )
        )  # fmt: skip
    return table(head, rows, text=(0,))
