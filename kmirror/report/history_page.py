"""Page of a history: orders, faults, the states of every partition, and the anomaly.

Time goes from left to right, under one axis for all lanes. The first lane has the operators' orders. Then follow a lane
for each broker or controller that was down and each line that was disturbed, and a lane for each mirrored partition of
each cluster, with the partition in question first. A red line through all lanes marks the time of the anomaly.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from kmirror.histories.account import Order
from kmirror.histories.diagram import side_by_side
from kmirror.histories.shrink import first_anomaly
from kmirror.histories.story import FOUND, headline, setting, story
from kmirror.histories.verdict import Anomaly, Exit, Outcome
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.report.drawing import (
    HALF,
    LANE_STYLE,
    StateChange,
    axis,
    bar,
    bar_text,
    lane,
    lane_y,
    legend,
    line,
    mark,
    state_bars,
    ticks,
)
from kmirror.report.page import page, table

HEIGHT = HALF + 4
SPAN_TEXTS = {
    "broker": "broker away",
    "controller": "controller away",
    "line": "line down",
    "slow": "line slow",
    "lossy": "line lossy",
}
STYLE = LANE_STYLE + (
    ".found { stroke: #d1495b; stroke-width: 2; } .away { fill: #d1495b; fill-opacity: .75; } .order { fill: #1b6ca8; }"
    " .refused { fill: #c98a1b; } li.found { color: #d1495b; font-weight: 600; stroke: none; }"
    " li.other { opacity: .55; } time { display: inline-block; min-width: 5.2rem; text-align: right; "
    "margin-right: .7rem; font-variant-numeric: tabular-nums; }"
)


def history_page(outcome: Outcome, repeat_command: str) -> str:
    """Return the page of a history; `repeat_command` is the command line that repeats it."""
    plan, anomaly = outcome.plan, first_anomaly(outcome)
    title = f"kmirror sim, seed {plan.seed}, profile {plan.profile}"
    title_lines = headline(outcome).partition("\n")
    css_class = "good" if outcome.exit is Exit.CLEAN else "bad"
    rows = setting(plan)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p><span class="{css_class}">{escape(title_lines[0])}</span> {escape(title_lines[2])}</p>',
        f"<p>{counted(len(plan.steps), 'step')}, {counted(len(outcome.account.acks), 'record')} acknowledged, "
        f"{counted(outcome.events, 'event')} in "
        f"{outcome.virtual_seconds:.1f} virtual seconds, digest <code>{escape(outcome.digest)}</code>. Repeat: "
        f"<code>{escape(repeat_command)}</code></p>",
        f"<ul>{''.join(f'<li>{escape(row.strip())}</li>' for row in rows)}</ul>",
        _lanes(outcome, anomaly),
    ]
    if outcome.account.crash:
        parts.append(f"<h2>Crash</h2><pre>{escape(outcome.account.crash)}</pre>")
    if outcome.anomalies:
        parts.append(f"<h2>Anomalies</h2>{_anomalies(outcome.anomalies)}")
    if anomaly is not None and anomaly.tp is not None:
        diagram = "\n".join(side_by_side(outcome.account, anomaly.tp, anomaly.offset, anomaly.at))
        parts.append(f'<h2>Logs</h2><pre id="logs">{escape(diagram)}</pre>')
    if outcome.accepted:
        accepted = [(row.decision, row.cluster, row.tp, row.records) for row in outcome.accepted]
        head = ("decision", "cluster", "partition", "records")
        parts.append(f"<h2>Accepted losses</h2>{table(head, accepted, text=(0, 1, 2))}")
    parts.append(f"<h2>Story</h2>{_story(outcome, anomaly)}")
    text = escape(plan.to_json())
    parts.append(f"<h2>Plan</h2><details><summary>for --plan</summary><pre>{text}</pre></details>")
    return page(title, "\n".join(parts), STYLE)


def _lanes(outcome: Outcome, anomaly: Anomaly | None) -> str:
    """Return all lanes under their axis."""
    end = _end_ms(outcome)
    grid = [line("grid", at, end) for at in ticks(end)]
    grid.append(line("stage", outcome.plan.faults_end_ms, end))
    if anomaly is not None:
        grid.append(line("found", _ms(anomaly.at) if anomaly.at >= 0 else end, end))
    account = outcome.account
    key = legend({row.state for row in account.states})
    steps = [(_ms(row.sent_at), _order(row)) for row in account.orders]
    lanes = [axis("virtual time", "circles: orders", steps, end)]
    orders = [shape for row in account.orders for shape in _order_bar(row, end)]
    lanes.append(lane("orders", "sent to answered", [*grid, *orders], height=HEIGHT))
    away: dict[tuple[str, str], list[str]] = {}
    for row in account.spans:
        until = end if row.end < 0 else _ms(row.end)
        text = f"{row.kind} {row.subject} from {_ms(row.begin) / 1000:.3f} s to {until / 1000:.3f} s"
        shape = bar(_ms(row.begin), until, lane_y(0), end, 'class="away"', text)
        away.setdefault((row.subject, row.kind), []).append(shape)
    for (subject, kind), shapes in sorted(away.items()):
        lanes.append(lane(subject, SPAN_TEXTS.get(kind, kind), [*grid, *shapes], height=HEIGHT))
    for cluster, tp in _lane_partitions(outcome, anomaly):
        shapes_of_partition = _partition(outcome, anomaly, cluster, tp, end)
        small = f"on {cluster}{' (in question)' if anomaly is not None and anomaly.tp == tp else ''}"
        lanes.append(lane(str(tp), small, [*grid, *shapes_of_partition], partition=f"{cluster} {tp}", height=HEIGHT))
    return (
        "<h2>Timeline</h2><p>Red bars: away or down. ▲ a leader was elected, ▲! uncleanly, ✂ a log was cut, ✖ the "
        "anomaly. Dashed: the end of the faults. Hover over a mark or a bar for details.</p>"
        f"<p class=key>{key}</p>{''.join(lanes)}"
    )


def _end_ms(outcome: Outcome) -> int:
    """Return the end of the page in ms: the latest time in the story, the final looks, the spans and the states."""
    account = outcome.account
    times = [at for at, _ in outcome.story] + [seen.at for seen in account.final_logs.values()]
    times += [row.end for row in account.spans] + [row.at for row in account.states]
    return max(_ms(max(times, default=0)), outcome.plan.faults_end_ms, 1)


def _ms(at: Instant) -> int:
    return max(at, 0) // MILLISECOND


def _order(row: Order) -> str:
    answer = row.error or "no answer"
    return f"{row.action} {', '.join(row.topics)} {row.mirror} {row.source}→{row.destination}: {answer}"


def _order_bar(row: Order, end: int) -> list[str]:
    """Return the bar of an order from request to response, in another colour if it failed or was not answered."""
    start = _ms(row.sent_at)
    until = end if row.answered_at < 0 else max(_ms(row.answered_at), start + 1)
    attributes = 'class="order"' if row.error == "NONE" else 'class="refused"'
    return [
        bar(start, until, lane_y(0), end, attributes, _order(row)),
        bar_text(row.action, start, until, lane_y(0), end, "in"),
    ]


def _lane_partitions(outcome: Outcome, anomaly: Anomaly | None) -> list[tuple[str, TopicPartition]]:
    """Return cluster and partition of each lane, with the partition in question first."""
    account = outcome.account
    partitions = dict.fromkeys((row.cluster, row.tp) for row in account.states)
    if anomaly is not None and anomaly.tp is not None:
        partitions |= dict.fromkeys(partition for partition in account.final_logs if partition[1] == anomaly.tp)
    own_partition = None if anomaly is None else anomaly.tp
    return sorted(partitions, key=lambda partition: (partition[1] != own_partition, partition[1], partition[0]))


def _partition(outcome: Outcome, anomaly: Anomaly | None, cluster: str, tp: TopicPartition, end: int) -> Iterable[str]:
    """Yield the states of a partition on one cluster, its elections and cuts, and the anomaly if it is there."""
    account = outcome.account
    own_states = [row for row in account.states if (row.cluster, row.tp) == (cluster, tp)]
    changes = [StateChange(cluster, tp, _ms(row.at), row.state) for row in own_states]
    texts_by_state = {
        state: state.lower() for state in ("MIRRORING", "STOPPED", "PAUSED", "FAILED", "PREPARING", "STOPPING")
    }
    yield from state_bars(changes, 0, end, texts_by_state)
    for row in account.elections:
        if (row.cluster, row.tp) == (cluster, tp):
            suffix = ", elected uncleanly" if row.unclean else ""
            text = f"{cluster}-{row.leader} leads in epoch {row.leader_epoch}{suffix}"
            yield mark("▲!" if row.unclean else "▲", _ms(row.at), 0, end, text, offset=0)
    for cut in account.cuts:
        if (cut.cluster, cut.tp) == (cluster, tp):
            yield mark("✂", _ms(cut.at), 0, end, str(cut), offset=0)
    if anomaly is not None and (anomaly.cluster, anomaly.tp) == (cluster, tp):
        yield mark("✖", _ms(anomaly.at) if anomaly.at >= 0 else end, 0, end, anomaly.text, offset=0)


def _anomalies(rows: list[Anomaly]) -> str:
    head = ("checker", "cluster", "partition", "offset", "time", "text")
    cells = [
        (
            row.checker, row.cluster, row.tp or "", row.offset if row.offset >= 0 else "",
            f"{row.at / 1_000_000:.3f} s" if row.at >= 0 else "the end", row.text,
        )
        for row in rows
    ]  # fmt: skip
    return table(head, cells, text=(0, 1, 2), prose=(5,))


def _story(outcome: Outcome, anomaly: Anomaly | None) -> str:
    """Return the whole story; lines about other partitions are paler."""
    own_story = story(outcome, anomaly)
    own_lines = dict.fromkeys(own_story)
    lines = sorted(dict.fromkeys([*outcome.story, *own_story]), key=lambda row: row[0])
    items = []
    for at, text in lines:
        kind = "found" if text.startswith(FOUND) else "" if (at, text) in own_lines else "other"
        items.append(
            f'<li class="{kind}"><time>{at / 1_000_000:.3f} s</time>{escape(text.removeprefix(FOUND).strip())}</li>'
        )
    return f'<ol id="story">{"".join(items)}</ol>'
