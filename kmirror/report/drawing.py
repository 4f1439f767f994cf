"""SVG elements of lanes under a common time axis: bars, marks, ticks and the colours of states.

Times are in milliseconds, and `end` is the last one of the page; a lane is `WIDTH` units wide.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest

from kmirror.kernel.ids import TopicPartition

WIDTH = 1000
HALF = 19
STRIP = 4
GAP = 3
LANE = 2 * HALF + GAP + 4
AXIS = 34
LETTER = 6.2
"""Approximate width of a letter in a lane."""
DAY_MS = 86_400_000
TICKS_MS = (
    1000, 2000, 5000, 10_000, 20_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000,
    43_200_000,
)  # fmt: skip
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
.key { line-height: 1.9; }
.key span { padding: .1rem .5rem; margin-right: .4rem; color: #fff; border-radius: 4px; font-size: .8rem;
white-space: nowrap; } ol { padding-left: 1.6rem; } #facts pre { max-height: 34rem; overflow: auto; }
"""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change of a partition's state in a cluster."""

    cluster: str
    tp: TopicPartition
    at_ms: int
    state: str


def legend(states: Container[str]) -> str:
    """Return the legend of the colours of these states."""
    colors = [(state, color) for state, color in COLORS.items() if state in states]
    return "".join(f'<span style="background:{color}">{state}</span>' for state, color in colors)


def axis(title: str, small: str, steps: Sequence[tuple[int, str]], end: int) -> str:
    """Return the axis above all lanes, with seconds and the numbers of the steps."""
    shapes = []
    for at in ticks(end):
        shapes.append(
            f'<text class="ink" x="{time_to_x(at, end):.1f}" y="12" text-anchor="middle">{at // 1000} s</text>'
        )
    x = -9.0
    for number, (at, text) in enumerate(steps, start=1):
        x = min(max(time_to_x(at, end), x + 18), WIDTH - 9)
        shapes.append(
            f'<g><circle class="ink" cx="{x:.1f}" cy="24" r="8"/><text x="{x:.1f}" y="28" text-anchor="middle" '
            f'fill="Canvas">{number}</text><title>{escape(text)}</title></g>'
        )
    return (
        f'<div class="lane axis"><div><b>{escape(title)}</b><small>{escape(small)}</small></div>'
        f'<svg viewBox="0 0 {WIDTH} {AXIS}" role="img" aria-label="seconds">{"".join(shapes)}</svg></div>'
    )


def lane(title: str, small: str, shapes: Iterable[str], *, partition: str = "", height: int = LANE) -> str:
    """Return one lane with its title; `partition` identifies it for scripts and tests."""
    data = f' data-partition="{escape(partition)}"' if partition else ""
    return (
        f'<div class="lane"{data}><div><b>{escape(title)}</b><small>{escape(small)}</small></div>'
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">{"".join(shapes)}</svg></div>'
    )


def ticks(end_ms: int) -> range:
    """Return the positions of at most twelve ticks; for a run of more than six days they are whole days apart."""
    days = -(-end_ms // (TICKS_MAX * DAY_MS))
    step = next((step for step in TICKS_MS if end_ms / step <= TICKS_MAX), days * DAY_MS)
    return range(step, end_ms, step)


def time_to_x(at_ms: int, end_ms: int) -> float:
    return at_ms * WIDTH / end_ms


def lane_y(half: int) -> int:
    return 2 + half * (HALF + GAP)


def line(kind: str, at_ms: int, end: int) -> str:
    x = time_to_x(at_ms, end)
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{LANE}"/>'


def bar(start: int, until: int, y: int, end: int, attributes: str, title: str) -> str:
    """Return a bar with SVG `attributes` from `start` to `until`, in milliseconds of a run that ends at `end`."""
    left, width = time_to_x(start, end), max(time_to_x(until - start, end), 1)
    size = f'width="{width:.1f}" height="{HALF}"'
    return f'<rect x="{left:.1f}" y="{y}" {size} {attributes}><title>{escape(title)}</title></rect>'


def strip(start: int, until: int, y: int, end: int, attributes: str, title: str) -> str:
    """Return a strip along the lower edge of a bar, for something that happens at the same time."""
    left, width = time_to_x(start, end), max(time_to_x(until - start, end), 1)
    return (
        f'<rect x="{left:.1f}" y="{y + HALF - STRIP}" width="{width:.1f}" height="{STRIP}" {attributes}>'
        f"<title>{escape(title)}</title></rect>"
    )


def bar_text(text: str, start: int, until: int, y: int, end: int, kind: str) -> str:
    """Return the text of a bar, or nothing if the bar is too narrow."""
    if time_to_x(until - start, end) < len(text) * LETTER + 24:
        return ""
    middle = time_to_x((start + until) // 2, end)
    return f'<text class="{kind}" x="{middle:.1f}" y="{y + HALF - 5.5}" text-anchor="middle">{escape(text)}</text>'


def state_bars(changes: list[StateChange], half: int, end: int, texts_by_state: Mapping[str, str]) -> list[str]:
    """Return a bar for each period of one state; a new leader in the same state does not begin another one."""
    changed = [
        c for c, previous in zip(changes, [None, *changes], strict=False) if not previous or previous.state != c.state
    ]
    shapes = []
    for change, following in zip_longest(changed, changed[1:]):
        until = end if following is None else following.at_ms
        title = f"{change.cluster} {change.state} from {change.at_ms / 1000:.1f} s to {until / 1000:.1f} s"
        attributes = f'fill="{COLORS.get(change.state, "#999999")}"'
        shapes.append(bar(change.at_ms, until, lane_y(half), end, attributes, title))
        if change.state in texts_by_state:
            shapes.append(bar_text(texts_by_state[change.state], change.at_ms, until, lane_y(half), end, "in"))
    return shapes


def mark(sign: str, at_ms: int, half: int, end: int, text: str, offset: int) -> str:
    """Return a sign in a circle at `at_ms`; `offset` moves it if several marks are at the same place."""
    x = min(max(time_to_x(at_ms, end) + offset * 9, 9), WIDTH - 9)
    y = lane_y(half) + HALF / 2
    return (
        f'<g><circle cx="{x:.1f}" cy="{y}" r="8.5" fill="#fff" stroke="#222"/><text x="{x:.1f}" y="{y + 4.5}" '
        f'text-anchor="middle" style="font-size:13px" fill="#222">{sign}</text><title>{escape(text)}</title></g>'
    )
