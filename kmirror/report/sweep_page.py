"""Page of a sweep: varied options, results, failed runs, and the commands to repeat any of them."""

from __future__ import annotations

import base64
from html import escape

from kmirror.experiments.estimates import percentile
from kmirror.kernel.names import counted
from kmirror.report.page import page, table
from kmirror.report.plots import plots
from kmirror.report.results import FIGURES, GROUPS_MAX, SweepResults


def fragment(results: SweepResults) -> tuple[str, dict[str, bytes]]:
    """Return the report's content, and its plots by name."""
    plots_by_name = plots(results)
    parts = [f"<h1>Sweep {escape(results.name)}</h1>", _summary(results), _failed_or_broken(results)]
    parts += [_overview(results), "<h2>Plots</h2>"]
    for name, png in plots_by_name.items():
        data = base64.b64encode(png).decode()
        parts.append(f'<img alt="{escape(name)}" id="plot-{escape(name)}" src="data:image/png;base64,{data}">')
    parts += [_aggregates(results), _extreme_runs(results)]
    return "\n".join(parts), plots_by_name


def sweep_page(results: SweepResults) -> tuple[str, dict[str, bytes]]:
    """Return the page, and its plots by name."""
    body, plots_by_name = fragment(results)
    return page(f"kmirror sweep {results.name}", body), plots_by_name


def _summary(results: SweepResults) -> str:
    rows, failed_or_broken = results.rows, results.failed_or_broken
    versions = ", ".join(sorted({row["kmirror_version"] for row in rows}))
    pythons = ", ".join(sorted({row["python_version"] for row in rows}))
    seconds = sum(row["wall_ms"] for row in rows) / 1000
    verdict = (
        f'<span class="bad">{len(failed_or_broken)} of {counted(len(rows), "run")} failed or broke a rule</span>'
        if failed_or_broken
        else f'<span class="good">no rule was broken in {counted(len(rows), "run")}</span>'
    )
    varied = ", ".join(f"<code>{escape(axis)}</code>" for axis in results.axes) or "the seed alone"
    return (
        f"<p>{verdict}. Varied: {varied}. kmirror {escape(versions)}, Python {escape(pythons)}, {seconds:.0f} seconds "
        "of simulation on one core.</p><p>Cluster a is written to and mirrored to b; a fails, b takes over, a comes "
        "back and mirrors from b. Times are virtual. ± is half a 95 % confidence interval of the mean. A run is named "
        "by its options: <code>kmirror sweep FILE.toml --only RUN</code> gives the same digest again.</p>"
    )


def _overview(results: SweepResults) -> str:
    """Return the table of each figure over all runs."""
    if not results.completed:
        return ""
    (group,) = results.groups(())
    rows = []
    for name, label in FIGURES.items():
        found = group.estimate(name)
        median = percentile([row[name] for row in group.rows], 50)
        rows.append(
            (label.short, label.unit, found, f"{median:.0f}", f"{found.p95:.0f}", f"{found.maximum:.0f}", label.long)
        )
    head = ("figure", "unit", "mean", "median", "95 % of runs", "largest", "meaning")
    return f"<h2>Summary</h2>{table(head, rows, text=(0, 1), prose=(6,))}"


def _failed_or_broken(results: SweepResults) -> str:
    if not results.failed_or_broken:
        return ""
    rows = [
        (row["run_id"], row["status"], row["seed"], "; ".join(row["broken"] or ()), row["options_json"])
        for row in results.failed_or_broken[:100]
    ]
    traces = "".join(
        f"<details><summary>{escape(row['run_id'])}, seed {row['seed']}</summary><pre>{escape(row['error'])}</pre>"
        "</details>"
        for row in results.failed_or_broken[:20]
        if row["error"]
    )
    head = ("run", "status", "seed", "broken rules", "options")
    return f"<h2>Failed or broken</h2>{table(head, rows, text=(0, 1), prose=(3, 4))}{traces}"


def _aggregates(results: SweepResults) -> str:
    groups = results.groups(results.axes)
    if len(groups) > GROUPS_MAX:
        return f"<h2>Aggregates</h2><p>{len(groups)} points: <code>-o json</code> has them all.</p>"
    names = list(FIGURES)
    rows = [(*group.point, len(group.rows), *(str(group.estimate(name)) for name in names)) for group in groups]
    head = (*results.axes, "runs", *names)
    return f"<h2>Aggregates</h2>{table(head, rows)}"


def _extreme_runs(results: SweepResults) -> str:
    parts = ["<h2>Extreme runs</h2><p>The largest values, with the commands that repeat these runs.</p>"]
    for figure in ("rpo_records", "rto_ms", "failback_cut_records"):
        rows = [
            (row[figure], row["run_id"], row["seed"], *(row[axis] for axis in results.axes), row["digest"][:16])
            for row in results.largest(figure)
        ]
        head = (figure, "run", "seed", *results.axes, "digest")
        parts.append(table(head, rows, text=(1, len(head) - 1)))
    return "".join(parts)
