"""A run of the demo as a page: a swim lane for each partition, and the trace of what happened.

Time goes from left to right, under one axis for all lanes. The upper half of a lane is the copy on b (mirrored from a,
then stopped and written to), the lower half is a (the source, then out of reach, then mirrored back). Marks show where
logs were cut and where producers were reset; what was lost stands where a was out of reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from kmirror.experiments.demo import DemoReport, Failback, Failover
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.report.drawing import (
    LANE_STYLE,
    axis,
    bar,
    in_bar,
    key_of,
    lane,
    line,
    mark,
    spans,
    ticks,
    y_of,
)
from kmirror.report.page import page, table
from kmirror.report.recorder import Recording, StateChange


def demo_page(report: DemoReport, recording: Recording) -> str:
    """Return the page of a finished demo."""
    failover = {row.tp: row for row in report.failover}
    failback = {row.tp: row for row in report.failback}
    key = key_of({change.state for change in recording.states})
    lanes = "".join(_lane(tp, report, recording, failover, failback) for tp in failover)
    stages = "".join(f"<li>{stage.began_ms / 1000:.1f} s: {escape(stage.title)}</li>" for stage in report.stages)
    more = f"\n... and {counted(recording.left_out, 'more line')}" if recording.left_out else ""
    body = (
        f"<h1>kmirror demo, seed {report.seed}</h1>"
        f"<p>{counted(report.topics, 'topic')}, {counted(report.mirrored.partitions, 'partition')}, "
        f"{counted(report.mirrored.bytes, 'byte')} equal "
        f"after mirroring, {counted(report.final.batches, 'batch')} equal after failback; "
        f"{counted(report.events, 'event')} in "
        f"{report.virtual_seconds:.1f} virtual seconds, digest <code>{report.digest}</code>.</p><ol>{stages}</ol>"
        "<h2>Partitions</h2><p>Upper half: the copy on b. Lower half: a, the source, out of reach from the failover "
        "on, then mirrored back from b. ✂ a log was cut, ⟲ producers were reset (MIRROR_PID_RESET), red: records that "
        f"only a had, and lost. Point at a mark or a bar for offsets and times.</p><p class=key>{key}</p>"
        f"{axis('partition', 'virtual time; circles: the steps above', report.stages, max(recording.end_ms, 1))}"
        f"{lanes}<h2>Table</h2>{_table(report)}"
        f'<h2>Trace</h2><details id="trace"><summary>{counted(len(recording.trace), "event")} of mirroring</summary>'
        f"<pre>{escape(chr(10).join(recording.trace))}{more}</pre></details>"
    )
    return page(f"kmirror demo, seed {report.seed}", body, LANE_STYLE)


def _lane(
    tp: TopicPartition,
    report: DemoReport,
    recording: Recording,
    failover: Mapping[TopicPartition, Failover],
    failback: Mapping[TopicPartition, Failback],
) -> str:
    over, back = failover[tp], failback.get(tp)
    end = max(recording.end_ms, 1)
    shapes = [line("grid", at, end) for at in ticks(end)] + [line("stage", at, end) for at, _ in report.stages]
    changes = {name: [c for c in recording.states if (c.tp, c.cluster) == (tp, name)] for name in ("b", "a")}
    says = {
        "MIRRORING": f"mirrored to {over.cut_offset}, epoch {over.last_mirrored_epoch}",
        "STOPPED": f"writable, epoch {over.leader_epoch}",
    }
    shapes += spans(changes["b"], 0, end, says)
    shapes += _source(changes, back, end)
    shapes += spans(changes["a"], 1, end, {"MIRRORING": "mirrors b"})
    for half, cluster in enumerate(("b", "a")):
        for cut in recording.cuts:
            if cut.cluster == cluster and cut.cut.tp == tp:
                text = f"{cluster} cut offsets {cut.cut.offset}-{cut.cut.end - 1}: {cut.cut.why}"
                # The producers are reset right after b was cut: the marks stand side by side.
                shapes.append(mark("✂", cut.at_ms, half, end, text, aside=half - 1))
    stopped = [c.at_ms for c in changes["b"] if c.state == "STOPPED"]
    if stopped:
        text = f"MIRROR_PID_RESET at offset {over.reset_offset}, leader epoch {over.leader_epoch}"
        shapes.append(mark("⟲", stopped[0], 0, end, text, aside=1))
    return lane(str(tp), _summary(over, back), shapes, partition=str(tp))


def _lost(back: Failback | None) -> str | None:
    if back is None or back.lost_first_offset >= back.lost_end_offset:
        return None
    return f"{back.lost_first_offset}-{back.lost_end_offset - 1}"


def _summary(over: Failover, back: Failback | None) -> str:
    text = f"mirrored to {over.cut_offset}, epoch {over.last_mirrored_epoch} → {over.leader_epoch}"
    if over.cut_offset < over.log_end_offset:
        text += f"; b cut undecided {over.cut_offset}-{over.log_end_offset - 1}"
    if (lost := _lost(back)) is not None:
        text += f"; a lost {lost}"
    return text


def _source(changes: Mapping[str, list[StateChange]], back: Failback | None, end: int) -> list[str]:
    """Draw what a is before it is mirrored to: the source, then out of reach."""
    stop = next((c.at_ms for c in changes["b"] if c.state in ("STOPPING", "STOPPED")), end)
    until = changes["a"][0].at_ms if changes["a"] else end
    y = y_of(1)
    shapes = [bar(0, stop, y, end, 'class="idle"', "a is the source"), in_bar("source", 0, stop, y, end, "ink")]
    if until > stop:
        lost = _lost(back)
        title = "a is out of reach" if lost is None else f"a lost offsets {lost}: written while it was out of reach"
        shapes.append(bar(stop, until, y, end, f'class="{"idle" if lost is None else "gone"}"', title))
        text = "out of reach" if lost is None else f"out of reach; lost {lost}"
        shapes.append(in_bar(text, stop, until, y, end, "ink" if lost is None else "loss"))
    return shapes


def _table(report: DemoReport) -> str:
    back = {row.tp: row for row in report.failback}
    head = ("topic", "partition", "end on b", "cut at", "last mirrored epoch", "new epoch", "pid reset", "lost on a")
    rows = []
    for row in report.failover:
        gone = _lost(back.get(row.tp)) or "none"
        rows.append(
            (
                row.tp.topic, row.tp.partition, row.log_end_offset, row.cut_offset, row.last_mirrored_epoch,
                row.leader_epoch, row.reset_offset, gone,
            )
        )  # fmt: skip
    return table(head, rows, text=(0,))
