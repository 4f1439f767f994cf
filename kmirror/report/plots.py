"""The plots of a sweep, as PNG bytes by name."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from kmirror.report.results import FIGURES, SweepResults
from kmirror.sim.statistics import percentile

SIZE = (7.2, 4.0)
DPI = 110
COLORS = ("#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6a4c93", "#00798c", "#8d5524", "#444444")
DRAWN = ("rpo_records", "rpo_ms", "rto_ms", "failback_cut_records", "failback_ms", "lag_max")
LINES_MAX = 8
STATES = ("PREPARING", "MIRRORING", "STOPPING", "STOPPED", "PAUSED", "FAILED", "UNKNOWN")


def plots(results: SweepResults) -> dict[str, bytes]:
    """Return every plot that these results can give."""
    made: dict[str, bytes] = {}
    for axis in results.numeric_axes:
        others = [other for other in results.axes if other != axis]
        hue = min(others, key=lambda name: len({row[name] for row in results.rows}), default=None)
        for other in others if len(results.axes) <= 3 else [hue]:
            made[f"by-{axis}-and-{other}"] = _against(results, axis, other)
        if not others:
            made[f"by-{axis}"] = _against(results, axis, None)
    if results.good:
        made["distribution"] = _distribution(results)
        made["lag"] = _lag(results)
        made["states"] = _states(results)
    return made


def _against(results: SweepResults, axis: str, hue: str | None) -> bytes:
    """Draw six figures over one axis, a line for each value of another: mean and 95 % interval."""
    figure = Figure(figsize=(11, 6.4), layout="constrained")
    panels = figure.subplots(2, 3).flatten()
    values = sorted({row[hue] for row in results.good}) if hue else [None]
    many = len({row[axis] for row in results.good}) > 30
    for panel, name in zip(panels, DRAWN, strict=True):
        for number, value in enumerate(values[:LINES_MAX]):
            rows = [row for row in results.good if hue is None or row[hue] == value]
            part = SweepResults(rows, results.location)
            color = COLORS[number % len(COLORS)]
            label = None if hue is None else f"{hue}={value}"
            if many:
                panel.plot([r[axis] for r in rows], [r[name] for r in rows], ".", ms=3, color=color, label=label)
                continue
            groups = part.groups([axis])
            told = [group.estimate(name) for group in groups]
            panel.errorbar(
                [group.point[0] for group in groups], [t.mean for t in told], [t.half or 0 for t in told],
                color=color, label=label, marker="o", ms=3, lw=1.4, capsize=3,
            )  # fmt: skip
        panel.set_title(FIGURES[name], fontsize=8.5)
        panel.set_xlabel(axis, fontsize=8)
        panel.tick_params(labelsize=7.5)
        panel.set_ylim(0, panel.get_ylim()[1] * 1.05)
        panel.grid(alpha=0.25)
    if hue is not None:
        panels[0].legend(fontsize=7.5)
    return _png(figure)


def _distribution(results: SweepResults) -> bytes:
    """Draw which share of runs stays below a figure."""
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    names = ("rpo_records", "rto_ms", "failback_cut_records")
    for panel, name in zip(figure.subplots(1, 3), names, strict=True):
        values = sorted(row[name] for row in results.good)
        shares = [(index + 1) / len(values) for index in range(len(values))]
        panel.step([0, *values], [0, *shares], where="post", color=COLORS[0], lw=1.5)
        panel.set_title(f"share of runs up to: {FIGURES[name]}", fontsize=8.5)
        panel.tick_params(labelsize=7.5)
        panel.set_ylim(0, 1.02)
        panel.grid(alpha=0.25)
    return _png(figure)


def _lag(results: SweepResults) -> bytes:
    """Draw the lag over the time before the failure: the middle run, and where nine of ten are."""
    figure = Figure(figsize=SIZE, layout="constrained")
    panel = figure.subplots()
    times: Sequence[int] = sorted({row["failure_ms"] for row in results.good})
    for number, failure_ms in enumerate(times[-3:]):
        at: dict[int, list[int]] = {}
        for row in results.good:
            if row["failure_ms"] == failure_ms:
                for sample in row["lag"]:
                    at.setdefault(sample["ms"], []).append(sample["records"])
        moments = sorted(at)
        color = COLORS[number]
        panel.plot(moments, [percentile(at[m], 0.5) for m in moments], color=color, label=f"failure_ms={failure_ms}")
        low, high = ([percentile(at[m], share) for m in moments] for share in (0.05, 0.95))
        panel.fill_between(moments, low, high, color=color, alpha=0.15, lw=0)
    panel.set_title("lag over time: median, and 5th to 95th percentile", fontsize=9)
    panel.set_xlabel("ms since the load began", fontsize=8)
    panel.set_ylabel("records", fontsize=8)
    panel.legend(fontsize=7.5)
    panel.grid(alpha=0.25)
    return _png(figure)


def _states(results: SweepResults) -> bytes:
    """Draw how long a partition spent in each state, on average over runs."""
    figure = Figure(figsize=SIZE, layout="constrained")
    panel = figure.subplots()
    axis = results.axes[0] if results.axes else "seed"
    groups = results.groups([axis])[:20]
    left = [0.0] * len(groups)
    for number, state in enumerate(STATES):
        width = [
            sum(dict(row["state_ms"]).get(state, 0) / row["partitions"] for row in group.rows) / len(group.rows)
            for group in groups
        ]
        if any(width):
            names = [f"{axis}={group.point[0]}" for group in groups]
            panel.barh(names, width, left=left, color=COLORS[number], label=state)
            left = [a + b for a, b in zip(left, width, strict=True)]
    panel.set_title("time in each state, of one partition, both mirrors together (ms)", fontsize=9)
    panel.tick_params(labelsize=7.5)
    panel.legend(fontsize=7.5)
    return _png(figure)


def _png(figure: Any) -> bytes:
    out = io.BytesIO()
    # Without the version of matplotlib in it, equal results give equal files.
    figure.savefig(out, format="png", dpi=DPI, metadata={"Software": None})
    return out.getvalue()
