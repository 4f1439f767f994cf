"""A run of the demo as a page: a swim lane for each partition, and the trace of what happened.

Time goes from left to right. The upper half of a lane is the copy on b (mirrored from a, then stopped and
written to), the lower half is a (mirrored back). Marks tell where logs were cut, where producers were reset,
and which records were lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from kmirror.kernel.ids import TopicPartition
from kmirror.report.page import page, table
from kmirror.report.recorder import Recording, StateChange
from kmirror.sim.demo import DemoReport, Failback, Failover

WIDTH = 900
HALF = 16
COLORS = {
    "UNKNOWN": "#cccccc",
    "PREPARING": "#edae49",
    "MIRRORING": "#1b6ca8",
    "PAUSING": "#9d8ec7",
    "PAUSED": "#6a4c93",
    "STOPPING": "#d1495b",
    "STOPPED": "#3a7d44",
    "FAILED": "#000000",
}
LANE_STYLE = """
.lane { display: grid; grid-template-columns: 13rem 1fr; align-items: center; border-bottom: 1px solid var(--line); }
.lane b { font-weight: 600; } .lane small { display: block; opacity: .8; line-height: 1.3; }
svg { width: 100%; height: auto; display: block; } .key span { padding: .1rem .5rem; margin-right: .4rem; color: #fff;
border-radius: 4px; font-size: .8rem; } #trace { max-height: 34rem; overflow: auto; }
"""


def demo_page(report: DemoReport, recording: Recording) -> str:
    """Return the page of a finished demo."""
    failover = {row.tp: row for row in report.failover}
    failback = {row.tp: row for row in report.failback}
    key = "".join(f'<span style="background:{color}">{state}</span>' for state, color in COLORS.items())
    lanes = "".join(_lane(tp, recording, failover, failback) for tp in failover)
    stages = "".join(f"<li>{at / 1000:.1f} s: {escape(title)}</li>" for at, title in recording.stages)
    more = f"\n... and {recording.untold} more lines" if recording.untold else ""
    body = (
        f"<h1>kmirror demo, seed {report.seed}</h1>"
        f"<p>{report.topics} topics, {report.mirrored.partitions} partitions, {report.mirrored.bytes} bytes equal "
        f"after mirroring, {report.final.batches} batches equal after failback; {report.events} events in "
        f"{report.virtual_seconds:.1f} virtual seconds, digest <code>{report.digest}</code>.</p><ol>{stages}</ol>"
        "<h2>Partitions</h2><p class=key>Upper half: the copy on b. Lower half: a, mirrored back from b. "
        "✂ a log was cut, ⟲ producers were reset (MIRROR_PID_RESET), ✗ records of a were lost. Point at a mark for "
        f"offsets.</p><p class=key>{key}</p>{lanes}<h2>Table</h2>{_table(report)}"
        f'<h2>Trace</h2><details id="trace"><summary>{len(recording.trace)} events of mirroring</summary>'
        f"<pre>{escape(chr(10).join(recording.trace))}{more}</pre></details>"
    )
    return page(f"kmirror demo, seed {report.seed}", body, LANE_STYLE)


def _lane(
    tp: TopicPartition, recording: Recording, failover: Mapping[TopicPartition, Failover],
    failback: Mapping[TopicPartition, Failback],
) -> str:
    over, back = failover[tp], failback.get(tp)
    end = max(recording.end_ms, 1)
    shapes = []
    for half, cluster in enumerate(("b", "a")):
        changes = [c for c in recording.states if c.tp == tp and c.cluster == cluster]
        shapes += _spans(changes, half, end)
        for cut in recording.cuts:
            if cut.cluster == cluster and cut.cut.tp == tp:
                text = f"{cluster} cut offsets {cut.cut.offset}-{cut.cut.end - 1}: {cut.cut.why}"
                shapes.append(_mark("✂", cut.at_ms, half, end, text, "#d1495b"))
    stopped = [c.at_ms for c in recording.states if (c.tp, c.cluster, c.state) == (tp, "b", "STOPPED")]
    if stopped:
        text = f"MIRROR_PID_RESET at offset {over.reset_offset}, leader epoch {over.leader_epoch}"
        shapes.append(_mark("⟲", stopped[0], 0, end, text, "#ffffff"))
    if back is not None and back.lost_first_offset < back.lost_end_offset:
        text = f"a lost offsets {back.lost_first_offset}-{back.lost_end_offset - 1}"
        shapes.append(_mark("✗", end, 1, end, text, "#d1495b"))
    told = _told(over, back)
    return (
        f'<div class="lane" data-partition="{escape(str(tp))}"><div><b>{escape(str(tp))}</b><small>{told}</small></div>'
        f'<svg viewBox="0 0 {WIDTH} {2 * HALF + 6}" role="img" aria-label="{escape(str(tp))}">{"".join(shapes)}</svg>'
        "</div>"
    )


def _told(over: Failover, back: Failback | None) -> str:
    text = f"mirrored to {over.cut_offset}, epoch {over.last_mirrored_epoch} → {over.leader_epoch}"
    if over.cut_offset < over.log_end_offset:
        text += f", undecided {over.cut_offset}-{over.log_end_offset - 1} cut"
    if back is not None and back.lost_first_offset < back.lost_end_offset:
        text += f", a lost {back.lost_first_offset}-{back.lost_end_offset - 1}"
    return text


def _spans(changes: list[StateChange], half: int, end: int) -> list[str]:
    """Return a bar for each stretch of one state."""
    shapes = []
    for change, after in zip(changes, [*changes[1:], None], strict=True):
        until = end if after is None else after.at_ms
        left, width = change.at_ms * WIDTH / end, max((until - change.at_ms) * WIDTH / end, 1)
        title = f"{change.cluster} {change.state} from {change.at_ms / 1000:.1f} s to {until / 1000:.1f} s"
        shapes.append(
            f'<rect x="{left:.1f}" y="{2 + half * (HALF + 2)}" width="{width:.1f}" height="{HALF}" '
            f'fill="{COLORS.get(change.state, "#999999")}"><title>{title}</title></rect>'
        )
    return shapes


def _mark(sign: str, at_ms: int, half: int, end: int, text: str, color: str) -> str:
    x = min(max(at_ms * WIDTH / end, 8), WIDTH - 8)
    return (
        f'<text x="{x:.1f}" y="{2 + half * (HALF + 2) + HALF - 3}" font-size="14" text-anchor="middle" fill="{color}" '
        f'stroke="#000" stroke-width=".3">{sign}<title>{escape(text)}</title></text>'
    )


def _table(report: DemoReport) -> str:
    back = {row.tp: row for row in report.failback}
    head = ("topic", "partition", "end on b", "cut at", "last mirrored epoch", "new epoch", "pid reset", "lost on a")
    rows = []
    for row in report.failover:
        lost = back.get(row.tp)
        gone = "none"
        if lost is not None and lost.lost_first_offset < lost.lost_end_offset:
            gone = f"{lost.lost_first_offset}-{lost.lost_end_offset - 1}"
        rows.append(
            (
                row.tp.topic, row.tp.partition, row.log_end_offset, row.cut_offset, row.last_mirrored_epoch,
                row.leader_epoch, row.reset_offset, gone,
            )
        )  # fmt: skip
    return table(head, rows, text=(0,))
