"""`kmirror sweep FILE.toml`: the cost of failovers, measured over thousands of runs on Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from kmirror.cli.commands import CONTEXT
from kmirror.cli.screen import fitting_tables, make_console
from kmirror.cli.spark_session import parse_confs, spark_session
from kmirror.errors import UsageError
from kmirror.experiments.sweep_file import Sweep, read_sweep
from kmirror.experiments.sweep_run import OK, run_to_row
from kmirror.kernel.names import counted

if TYPE_CHECKING:
    from kmirror.spark.sweep import SweepReport

RESUME_TEXT = "the same command continues from there"


@click.command("sweep", context_settings=CONTEXT)
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option("-o", "--output", metavar="DIR", help="Path or URI of the results; default: FILE.results.")
@click.option("--master", metavar="URL", help="Spark master; default: local[*].")
@click.option("--remote", metavar="URL", help="Spark Connect server, such as sc://host:15002.")
@click.option("--tasks", type=click.IntRange(min=1), help="Number of Spark tasks.")
@click.option("--conf", "confs", multiple=True, metavar="KEY=VALUE", help="Spark configuration property; repeatable.")
@click.option("--only", metavar="RUN", help="Run only this run, without Spark, and print its row.")
@click.option("--list", "is_list", is_flag=True, help="List the runs of the file and exit.")
@click.option(
    "--py-files",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write an archive of the kmirror package for spark-submit --py-files.",
)
def command(
    file: Path,
    output: str | None,
    master: str | None,
    remote: str | None,
    tasks: int | None,
    confs: tuple[str, ...],
    only: str | None,
    is_list: bool,
    py_files: Path | None,
) -> int:
    """Run every simulation in FILE, and save the figures, seed and digest of each.

    Runs that already have results are skipped: repeat the command after an interruption, or after adding runs to the
    file. The exit code is 1 if a run failed or broke a rule.
    """
    sweep = read_sweep(file)
    if py_files is not None:
        from kmirror.spark.archive import build_archive  # Needed for --py-files only.

        click.echo(str(build_archive(py_files)))
        return 0
    if is_list or only is not None:
        return _run_without_spark(sweep, only)
    location = output or str(file.with_suffix(".results").resolve())
    prepare(location, sweep)
    console, configs = make_console(stderr=True), parse_confs(confs)
    out = make_console()
    try:
        with spark_session(f"kmirror sweep {sweep.name}", master=master, remote=remote, configs=configs) as spark:
            report = _run(spark, sweep, location, tasks, console)
            tables = _aggregates(spark, sweep, location, out.width)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished results are kept in {location}, the same command continues from there"
        ) from None
    for table in tables:
        out.print(table)
    out.print(_summary(report, location), highlight=False, soft_wrap=True)
    return 1 if report.failed_or_broken else 0


def prepare(location: str, sweep: Sweep) -> None:
    """Raise an error for a folder that cannot be written, or with damaged results, before more of them are computed."""
    from kmirror.spark.sessions import require_pyspark

    require_pyspark()
    from kmirror.experiments.results import Results  # Arrow is installed with Spark.

    Results(location).prepare_if_missing([item.run_id for item in sweep.runs])


def _run_without_spark(sweep: Sweep, only: str | None) -> int:
    if only is None:
        for item in sweep.runs:
            values = " ".join(f"{axis}={getattr(item.options, axis)}" for axis in sweep.axes)
            click.echo(f"{item.run_id} {values} seed={item.options.seed}")
        return 0
    found = [item for item in sweep.runs if item.run_id == only]
    if not found:
        raise UsageError(f"the sweep has no run {only!r}; --list shows its runs")
    row = run_to_row(sweep.name, found[0])
    click.echo(json.dumps({name: value for name, value in row.items() if name != "options_json"}, default=str))
    return 0 if row["status"] == OK else 1


def _run(spark: Any, sweep: Sweep, location: str, tasks: int | None, console: Console) -> SweepReport:
    from kmirror.spark.sweep import run_sweep

    url = _ui_url(spark)
    if url and console.is_terminal:
        console.print(f"Spark UI: {url}", highlight=False)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        runs = bar.add_task(f"sweep {sweep.name}", total=len(sweep.runs))
        return run_sweep(
            spark, sweep, location, tasks=tasks, progress=lambda done, total: bar.update(runs, completed=done)
        )


def _ui_url(spark: Any) -> str | None:
    try:
        return str(spark.sparkContext.uiWebUrl or "") or None
    except Exception:
        return None  # Spark Connect: the UI is the server's.


def _aggregates(spark: Any, sweep: Sweep, location: str, width: int) -> list[Table]:
    from kmirror.spark.aggregates import DEFAULT_FIGURES, aggregate

    axes = sweep.axes if len(sweep.runs) > 1 else ()
    rows = aggregate(spark, location, axes).collect()
    if not rows or len(rows) > 200:
        return []  # Random points have no groups; the report draws them.
    cells_of_rows = []
    for row in rows:
        cells = [str(row[axis]) for axis in axes] + [str(row["runs"])]
        for name in DEFAULT_FIGURES:
            half = row[f"{name}_ci95"]
            cells.append(f"{row[name]:.1f}" + ("" if half is None else f" ± {half:.1f}"))
        cells_of_rows.append(cells)
    return list(fitting_tables((*axes, "runs"), DEFAULT_FIGURES, cells_of_rows, width, "mean ± 95 % confidence"))


def _summary(report: SweepReport, location: str) -> str:
    done = sum(report.statuses.values())
    counts = ", ".join(f"{count} {status}" for status, count in sorted(report.statuses.items()))
    text = f"{counted(report.total, 'run')}: {report.skipped} from earlier runs, {done} new"
    text += f" ({counts})" if counts else ""
    if report.failed_or_broken:
        text += f"\nfailed or broken, repeat one with --only RUN: {', '.join(report.failed_or_broken[:10])}"
    return f"{text}\nresults in {location}; kmirror report {location} -o report.html shows them"
