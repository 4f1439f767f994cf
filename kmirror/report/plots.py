"""Plots of a sweep, as PNG bytes by name."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from kmirror.experiments.estimates import percentile
from kmirror.report.axis_positions import axis_positions
from kmirror.report.results import AXES, FIGURES, FigureLabel, SweepResults

WIDE = (11.5, 6.8)
DPI = 110
COLORS = ("#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6a4c93", "#00798c", "#8d5524", "#444444")
STATE_COLORS = {
    "PREPARING": "#c98a1b", "MIRRORING": "#1b6ca8", "STOPPING": "#d1495b", "STOPPED": "#3a7d44", "PAUSING": "#9d8ec7",
    "PAUSED": "#6a4c93", "FAILED": "#000000", "UNKNOWN": "#999999",
}  # fmt: skip
DEFAULT_FIGURES = ("rpo_records", "rpo_ms", "rto_ms", "failback_cut_records", "failback_ms", "lag_max")
TRANSACTION_FIGURES = (
    "rpo_records",
    "rpo_ms",
    "rto_ms",
    "failback_cut_records",
    "lost_transactions",
    "torn_transactions",
)
LINES_MAX = 8
PANEL_CHARACTERS = 42
"""Number of tick label characters that fit side by side below one of six panels."""
TICKS_MAX = 5
"""Most ticks on an axis with matplotlib's own ticks, below one of three panels."""
POINTS_MAX = 30
TITLE, LABEL, SMALL = 10, 9, 8
LOAD = "virtual time since the load began (ms)"


def plots(results: SweepResults) -> dict[str, bytes]:
    """Return all plots that these results allow."""
    plots_by_name: dict[str, bytes] = {}
    if not results.completed:
        return plots_by_name
    for axis in results.axes:
        others = [other for other in results.axes if other != axis]
        hue = min(others, key=lambda name: len({row[name] for row in results.rows}), default=None)
        for other in others if len(results.axes) <= 3 else [hue]:
            plots_by_name[f"by-{axis}-and-{other}"] = _plot_over(results, axis, other)
        if not others:
            plots_by_name[f"by-{axis}"] = _plot_over(results, axis, None)
    plots_by_name["distribution"] = _distribution(results)
    plots_by_name["lag"] = _lag(results)
    plots_by_name["states"] = _states(results)
    return plots_by_name


def _plot_over(results: SweepResults, axis: str, hue: str | None) -> bytes:
    """Draw six figures over one axis, with a line for each value of another: mean and 95 % interval."""
    figure = Figure(figsize=WIDE, layout="constrained")
    panels = figure.subplots(2, 3).flatten()
    points = sorted({row[axis] for row in results.completed})
    lines = sorted({row[hue] for row in results.completed}) if hue else [None]
    x_axis = axis_positions(points, PANEL_CHARACTERS)
    axis_name = f"{AXES[axis]}, logarithmic" if x_axis.is_log else AXES[axis]
    figure_names = TRANSACTION_FIGURES if any(row["transaction_ms"] for row in results.completed) else DEFAULT_FIGURES
    for panel, name in zip(panels, figure_names, strict=True):
        for number, value in enumerate(lines[:LINES_MAX]):
            rows = [row for row in results.completed if hue is None or row[hue] == value]
            color = COLORS[number % len(COLORS)]
            label = None if hue is None else str(value)
            if len(points) > POINTS_MAX:
                positions = [x_axis.positions[row[axis]] for row in rows]
                panel.plot(positions, [row[name] for row in rows], ".", ms=3, color=color, label=label)
                continue
            groups = SweepResults(rows, results.location).groups([axis])
            found = [group.estimate(name) for group in groups]
            # Error bars of adjacent lines would hide each other.
            offset = (number - (min(len(lines), LINES_MAX) - 1) / 2) * 0.008
            panel.errorbar(
                [x_axis.positions[group.point[0]] + offset for group in groups], [e.mean for e in found],
                [e.half or 0 for e in found], color=color, label=label, marker="o", ms=3.5, lw=1.4, capsize=2.5,
            )  # fmt: skip
        _label_axes(panel, FIGURES[name], axis_name)
        panel.set_xticks(
            [x_axis.positions[point] for point in x_axis.labelled], [str(point) for point in x_axis.labelled]
        )
        if x_axis.is_rotated:
            panel.tick_params(axis="x", labelrotation=20)
    title = f"Mean and 95 % confidence interval over {AXES[axis]}"
    if hue is not None:
        title += f"; lines: {AXES[hue]}"
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, title=AXES[hue], loc="outside lower center", ncols=len(labels), fontsize=LABEL)
    figure.suptitle(title, fontsize=TITLE + 1)
    return _png(figure)


def _label_axes(panel: Any, label: FigureLabel, axis: str) -> None:
    """Set the title of a panel and the names of its axes."""
    panel.set_title(label.short, fontsize=TITLE)
    panel.set_xlabel(axis, fontsize=LABEL)
    panel.set_ylabel(label.unit, fontsize=LABEL)
    panel.tick_params(labelsize=SMALL)
    panel.set_ylim(0, max(panel.get_ylim()[1] * 1.05, 1))
    panel.grid(alpha=0.25)


def _distribution(results: SweepResults) -> bytes:
    """Draw the cumulative distribution of three figures over the runs."""
    figure = Figure(figsize=(WIDE[0], 3.6), layout="constrained")
    names = ("rpo_records", "rto_ms", "failback_cut_records")
    for panel, name in zip(figure.subplots(1, 3), names, strict=True):
        values = sorted(row[name] for row in results.completed)
        shares = [100 * (index + 1) / len(values) for index in range(len(values))]
        panel.step([values[0], *values], [0, *shares], where="post", color=COLORS[0], lw=1.6)
        panel.set_title(FIGURES[name].short, fontsize=TITLE)
        panel.set_xlabel(FIGURES[name].unit, fontsize=LABEL)
        panel.tick_params(labelsize=SMALL)
        panel.set_ylim(0, 102)
        room = max((values[-1] - values[0]) * 0.05, 1)
        panel.set_xlim(values[0] - room, values[-1] + room)
        panel.ticklabel_format(axis="x", useOffset=False)
        panel.locator_params(axis="x", nbins=TICKS_MAX)
        panel.grid(alpha=0.25)
    figure.supylabel("% of runs at or below", fontsize=LABEL)
    figure.suptitle("Distribution of the runs", fontsize=TITLE + 1)
    return _png(figure)


def _lag(results: SweepResults) -> bytes:
    """Draw the lag before the failure: the median, and the 5th to 95th percentile."""
    figure = Figure(figsize=(WIDE[0], 4.2), layout="constrained")
    panel = figure.subplots()
    times: Sequence[int] = sorted({row["failure_ms"] for row in results.completed})
    for number, failure_ms in enumerate(times[-3:]):
        records_by_time: dict[int, list[int]] = {}
        for row in results.completed:
            if row["failure_ms"] == failure_ms:
                for sample in row["lag"]:
                    records_by_time.setdefault(sample["ms"], []).append(sample["records"])
        sampled_times = sorted(records_by_time)
        color = COLORS[number]
        panel.plot(
            sampled_times,
            [percentile(records_by_time[m], 50) for m in sampled_times],
            color=color,
            label=f"{failure_ms} ms",
        )
        low, high = ([percentile(records_by_time[m], percent) for m in sampled_times] for percent in (5, 95))
        panel.fill_between(sampled_times, low, high, color=color, alpha=0.15, lw=0)
    title = "Lag until the failure: median run, and from the 5th to the 95th percentile"
    _label_axes(panel, FigureLabel(title, "records"), LOAD)
    panel.legend(title=AXES["failure_ms"], fontsize=LABEL, title_fontsize=LABEL, loc="upper left")
    return _png(figure)


def _states(results: SweepResults) -> bytes:
    """Draw the mean time that a partition spent in each state."""
    axis = results.axes[0] if results.axes else "seed"
    groups = results.groups([axis])[:20]
    figure = Figure(figsize=(WIDE[0], 1.8 + 0.42 * len(groups)), layout="constrained")
    panel = figure.subplots()
    left = [0.0] * len(groups)
    for state, color in STATE_COLORS.items():
        width = [
            sum(dict(row["state_ms"]).get(state, 0) / row["partitions"] for row in group.rows) / len(group.rows)
            for group in groups
        ]
        if any(width):
            panel.barh([str(group.point[0]) for group in groups], width, left=left, color=color, label=state)
            left = [a + b for a, b in zip(left, width, strict=True)]
    panel.set_title("Time that a partition spends in each state, both mirrors together, mean", fontsize=TITLE)
    panel.set_xlabel("virtual time (ms)", fontsize=LABEL)
    panel.set_ylabel(AXES[axis], fontsize=LABEL)
    panel.invert_yaxis()
    panel.tick_params(labelsize=SMALL)
    figure.legend(loc="outside lower center", ncols=8, fontsize=LABEL)
    return _png(figure)


def _png(figure: Any) -> bytes:
    out = io.BytesIO()
    # Without matplotlib's version in the file, equal results give equal files.
    figure.savefig(out, format="png", dpi=DPI, metadata={"Software": None})
    return out.getvalue()
