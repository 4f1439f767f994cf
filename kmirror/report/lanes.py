"""A run of the demo as a page: a swim lane for each partition, and the trace of what happened.

Time goes from left to right, under one axis for all lanes. The upper half of a lane is the copy on b (mirrored from a,
then stopped and written to), the lower half is a (the source, then cut off, then mirrored back). Marks tell where
logs were cut and where producers were reset; what was lost stands where a was cut off.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from kmirror.kernel.ids import TopicPartition
from kmirror.report.page import page, table
from kmirror.report.recorder import Recording, StateChange
from kmirror.sim.demo import DemoReport, Failback, Failover

WIDTH = 1000
HALF = 19
GAP = 3
LANE = 2 * HALF + GAP + 4
AXIS = 34
LETTER = 6.2
"""About the width of a letter in a lane."""
TICKS_MS = (1000, 2000, 5000, 10_000, 20_000, 60_000, 120_000, 300_000, 600_000)
TICKS_MAX = 12
RED = "#d1495b"
COLORS = {
    "UNKNOWN": "#999999",
    "PREPARING": "#c98a1b",
    "MIRRORING": "#1b6ca8",
    "PAUSING": "#9d8ec7",
    "PAUSED": "#6a4c93",
    "STOPPING": RED,
    "STOPPED": "#3a7d44",
    "FAILED": "#000000",
}
LANE_STYLE = """
.lane { display: grid; grid-template-columns: 11.5rem 1fr; gap: .8rem; align-items: center;
border-bottom: 1px solid var(--line); padding: .15rem 0; }
.lane b { font-weight: 600; font-size: .86rem; overflow-wrap: anywhere; }
.lane small { display: block; opacity: .75; line-height: 1.25; font-size: .72rem; }
.lane.axis { position: sticky; top: 0; background: Canvas; z-index: 1; }
svg { width: 100%; height: auto; display: block; } svg text { font: 11px system-ui, sans-serif; }
.ink { fill: CanvasText; } .grid { stroke: CanvasText; stroke-opacity: .18; } .stage { stroke: CanvasText;
stroke-opacity: .45; stroke-dasharray: 3 3; } .idle { fill: CanvasText; fill-opacity: .13; }
.gone { fill: #d1495b; fill-opacity: .28; } .in { fill: #fff; } .loss { fill: #d1495b; font-weight: 600; }
.key span { padding: .1rem .5rem; margin-right: .4rem; color: #fff; border-radius: 4px; font-size: .8rem;
white-space: nowrap; } ol { padding-left: 1.6rem; } #trace pre { max-height: 34rem; overflow: auto; }
"""


def demo_page(report: DemoReport, recording: Recording) -> str:
    """Return the page of a finished demo."""
    failover = {row.tp: row for row in report.failover}
    failback = {row.tp: row for row in report.failback}
    told = {change.state for change in recording.states}
    colors = [(state, color) for state, color in COLORS.items() if state in told]
    key = "".join(f'<span style="background:{color}">{state}</span>' for state, color in colors)
    lanes = "".join(_lane(tp, recording, failover, failback) for tp in failover)
    stages = "".join(f"<li>{at / 1000:.1f} s: {escape(title)}</li>" for at, title in recording.stages)
    more = f"\n... and {recording.untold} more lines" if recording.untold else ""
    body = (
        f"<h1>kmirror demo, seed {report.seed}</h1>"
        f"<p>{report.topics} topics, {report.mirrored.partitions} partitions, {report.mirrored.bytes} bytes equal "
        f"after mirroring, {report.final.batches} batches equal after failback; {report.events} events in "
        f"{report.virtual_seconds:.1f} virtual seconds, digest <code>{report.digest}</code>.</p><ol>{stages}</ol>"
        "<h2>Partitions</h2><p>Upper half: the copy on b. Lower half: a, the source, cut off from the failover on, "
        "then mirrored back from b. ✂ a log was cut, ⟲ producers were reset (MIRROR_PID_RESET), red: records that only "
        f"a had, and lost. Point at a mark or a bar for offsets and times.</p><p class=key>{key}</p>"
        f"{_axis(recording)}{lanes}<h2>Table</h2>{_table(report)}"
        f'<h2>Trace</h2><details id="trace"><summary>{len(recording.trace)} events of mirroring</summary>'
        f"<pre>{escape(chr(10).join(recording.trace))}{more}</pre></details>"
    )
    return page(f"kmirror demo, seed {report.seed}", body, LANE_STYLE)


def _axis(recording: Recording) -> str:
    """Draw the seconds, and the numbers of the stages, above all lanes."""
    end = max(recording.end_ms, 1)
    shapes = []
    for at in _ticks(end):
        shapes.append(f'<text class="ink" x="{_x(at, end):.1f}" y="12" text-anchor="middle">{at // 1000} s</text>')
    x = -9.0
    for number, (at, title) in enumerate(recording.stages, start=1):
        x = min(max(_x(at, end), x + 18), WIDTH - 9)
        shapes.append(
            f'<g><circle class="ink" cx="{x:.1f}" cy="24" r="8"/><text x="{x:.1f}" y="28" text-anchor="middle" '
            f'fill="Canvas">{number}</text><title>{escape(title)}</title></g>'
        )
    return (
        f'<div class="lane axis"><div><b>partition</b><small>virtual time; circles: the steps above</small></div>'
        f'<svg viewBox="0 0 {WIDTH} {AXIS}" role="img" aria-label="seconds">{"".join(shapes)}</svg></div>'
    )


def _ticks(end_ms: int) -> range:
    step = next((step for step in TICKS_MS if end_ms / step <= TICKS_MAX), TICKS_MS[-1])
    return range(step, end_ms, step)


def _x(at_ms: int, end_ms: int) -> float:
    return at_ms * WIDTH / end_ms


def _lane(
    tp: TopicPartition, recording: Recording, failover: Mapping[TopicPartition, Failover],
    failback: Mapping[TopicPartition, Failback],
) -> str:
    over, back = failover[tp], failback.get(tp)
    end = max(recording.end_ms, 1)
    shapes = [_line("grid", at, end) for at in _ticks(end)] + [_line("stage", at, end) for at, _ in recording.stages]
    changes = {name: [c for c in recording.states if (c.tp, c.cluster) == (tp, name)] for name in ("b", "a")}
    says = {
        "MIRRORING": f"mirrored to {over.cut_offset}, epoch {over.last_mirrored_epoch}",
        "STOPPED": f"writable, epoch {over.leader_epoch}",
    }
    shapes += _spans(changes["b"], 0, end, says)
    shapes += _source(changes, back, end)
    shapes += _spans(changes["a"], 1, end, {"MIRRORING": "mirrors b"})
    for half, cluster in enumerate(("b", "a")):
        for cut in recording.cuts:
            if cut.cluster == cluster and cut.cut.tp == tp:
                text = f"{cluster} cut offsets {cut.cut.offset}-{cut.cut.end - 1}: {cut.cut.why}"
                # The producers are reset right after b was cut: the marks stand side by side.
                shapes.append(_mark("✂", cut.at_ms, half, end, text, aside=half - 1))
    stopped = [c.at_ms for c in changes["b"] if c.state == "STOPPED"]
    if stopped:
        text = f"MIRROR_PID_RESET at offset {over.reset_offset}, leader epoch {over.leader_epoch}"
        shapes.append(_mark("⟲", stopped[0], 0, end, text, aside=1))
    return (
        f'<div class="lane" data-partition="{escape(str(tp))}"><div><b>{escape(str(tp))}</b>'
        f"<small>{_told(over, back)}</small></div>"
        f'<svg viewBox="0 0 {WIDTH} {LANE}" role="img" aria-label="{escape(str(tp))}">{"".join(shapes)}</svg>'
        "</div>"
    )


def _lost(back: Failback | None) -> str | None:
    if back is None or back.lost_first_offset >= back.lost_end_offset:
        return None
    return f"{back.lost_first_offset}-{back.lost_end_offset - 1}"


def _told(over: Failover, back: Failback | None) -> str:
    text = f"mirrored to {over.cut_offset}, epoch {over.last_mirrored_epoch} → {over.leader_epoch}"
    if over.cut_offset < over.log_end_offset:
        text += f"; b cut undecided {over.cut_offset}-{over.log_end_offset - 1}"
    if (lost := _lost(back)) is not None:
        text += f"; a lost {lost}"
    return text


def _source(changes: Mapping[str, list[StateChange]], back: Failback | None, end: int) -> list[str]:
    """Draw what a is before it is mirrored to: the source, then cut off."""
    stop = next((c.at_ms for c in changes["b"] if c.state in ("STOPPING", "STOPPED")), end)
    until = changes["a"][0].at_ms if changes["a"] else end
    y = _y(1)
    shapes = [_bar(0, stop, y, end, 'class="idle"', "a is the source"), _in_bar("source", 0, stop, y, end, "ink")]
    if until > stop:
        lost = _lost(back)
        told = "a is cut off" if lost is None else f"a lost offsets {lost}: written while it was cut off"
        shapes.append(_bar(stop, until, y, end, f'class="{"idle" if lost is None else "gone"}"', told))
        text = "cut off" if lost is None else f"cut off; lost {lost}"
        shapes.append(_in_bar(text, stop, until, y, end, "ink" if lost is None else "loss"))
    return shapes


def _y(half: int) -> int:
    return 2 + half * (HALF + GAP)


def _line(kind: str, at_ms: int, end: int) -> str:
    x = _x(at_ms, end)
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{LANE}"/>'


def _bar(start: int, until: int, y: int, end: int, look: str, title: str) -> str:
    left, width = _x(start, end), max(_x(until - start, end), 1)
    return (
        f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{HALF}" {look}><title>{escape(title)}</title></rect>'
    )


def _in_bar(text: str, start: int, until: int, y: int, end: int, kind: str) -> str:
    """Write into a bar, if it is wide enough."""
    if _x(until - start, end) < len(text) * LETTER + 24:
        return ""
    middle = _x((start + until) // 2, end)
    return f'<text class="{kind}" x="{middle:.1f}" y="{y + HALF - 5.5}" text-anchor="middle">{escape(text)}</text>'


def _spans(changes: list[StateChange], half: int, end: int, says: Mapping[str, str]) -> list[str]:
    """Return a bar for each stretch of one state; a new leader that tells the same state again makes no other."""
    news = [c for c, before in zip(changes, [None, *changes], strict=False) if not before or before.state != c.state]
    shapes = []
    for change, after in zip(news, [*news[1:], None], strict=True):
        until = end if after is None else after.at_ms
        title = f"{change.cluster} {change.state} from {change.at_ms / 1000:.1f} s to {until / 1000:.1f} s"
        look = f'fill="{COLORS.get(change.state, "#999999")}"'
        shapes.append(_bar(change.at_ms, until, _y(half), end, look, title))
        if change.state in says:
            shapes.append(_in_bar(says[change.state], change.at_ms, until, _y(half), end, "in"))
    return shapes


def _mark(sign: str, at_ms: int, half: int, end: int, text: str, aside: int) -> str:
    x = min(max(_x(at_ms, end) + aside * 9, 9), WIDTH - 9)
    y = _y(half) + HALF / 2
    return (
        f'<g><circle cx="{x:.1f}" cy="{y}" r="8.5" fill="#fff" stroke="#222"/><text x="{x:.1f}" y="{y + 4.5}" '
        f'text-anchor="middle" style="font-size:13px" fill="#222">{sign}</text><title>{escape(text)}</title></g>'
    )


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
