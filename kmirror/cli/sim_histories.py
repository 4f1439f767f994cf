"""Run and report of one or several histories, after the command line of `kmirror sim` is parsed."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from kmirror.cli.main import EXIT_INTERRUPTED
from kmirror.cli.output import write_stderr
from kmirror.cli.processes import in_processes
from kmirror.cli.screen import make_console
from kmirror.cli.sim_tally import HistoryTally
from kmirror.errors import UsageError
from kmirror.experiments.history_run import history_to_row
from kmirror.histories.coverage.table import lines as coverage_lines
from kmirror.histories.plan import Plan
from kmirror.histories.run import run_history
from kmirror.histories.shrink import Shrinker
from kmirror.histories.story import tell
from kmirror.histories.summary import as_row
from kmirror.histories.verdict import Exit, Outcome
from kmirror.kernel.names import counted
from kmirror.report.history_page import history_page


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """Parsed command line."""

    seeds: range
    profile: str
    plan: Plan | None
    repeat: str
    """Command line that repeats the run."""
    jobs: int
    is_json: bool
    shrink_runs: int
    save: Path | None
    html: Path | None
    coverage: bool = False
    """Count the rows of kmirror.histories.coverage that are reached."""


def runner() -> Callable[..., Outcome]:
    """Return `run_history`, which takes a plan, or a seed and a profile."""
    return run_history


def with_coverage(options: HistoryOptions, run: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Return `run`, with coverage counted if the options request it."""
    return partial(run, coverage=True) if options.coverage else run


def plan_command(file: Path) -> str:
    """Return the command line that runs the plan in a file."""
    return f"kmirror sim --plan {shlex.quote(str(file))}"


# -- one history ----------------------------------------------------------------------------------


def run_one(options: HistoryOptions) -> int:
    """Run and report one history; return the exit code."""
    run = runner()
    started_at = time.process_time()
    with progress("history") as (bar, task):
        bar.update(task, total=None)
        run_counted = with_coverage(options, run)
        outcome = (
            run_counted(options.plan)
            if options.plan is not None
            else run_counted(seed=options.seeds[0], profile=options.profile)
        )
    row = as_row(outcome) | {"cpu_seconds": round(time.process_time() - started_at, 3)}
    code = report_outcome(options, run, outcome, row)
    if options.coverage and not options.is_json:
        click.echo("\n" + "\n".join(coverage_lines(dict.fromkeys(outcome.coverage, 1), outcome.coverage)))
    return code


def report_outcome(
    options: HistoryOptions, run: Callable[..., Outcome], outcome: Outcome, row: dict[str, Any] | None
) -> int:
    """Shrink a failed history, save and report it; return the exit code. Without `row` no JSON is printed."""
    smallest, is_interrupted = outcome, False
    if outcome.exit is not Exit.CLEAN and options.shrink_runs:
        smallest, is_interrupted = shrink_outcome(options, run, outcome)
    repeat = options.repeat or f"kmirror sim --seed {outcome.plan.seed} --profile {outcome.plan.profile}"
    if options.save is not None:
        write_text_file(options.save, smallest.plan.to_json() + "\n")
        repeat = plan_command(options.save)
    if options.html is not None:
        write_text_file(options.html, history_page(smallest, repeat))
    if not options.is_json:
        click.echo(tell(smallest, repeat))
    elif row is not None:
        click.echo(json.dumps(row if smallest is outcome else row | {"shrunk": as_row(smallest)}))
    return EXIT_INTERRUPTED if is_interrupted else outcome.exit


def shrink_outcome(options: HistoryOptions, run: Callable[..., Outcome], outcome: Outcome) -> tuple[Outcome, bool]:
    """Return the smallest history that fails like `outcome`, and whether the search was interrupted."""
    with progress("shrinking") as (bar, task):
        bar.update(task, total=options.shrink_runs)

        def on_progress(runs: int, plan: Plan) -> None:
            left = f"{counted(len(plan.steps), 'step')}, {counted(len(plan.clients), 'client')} left"
            bar.update(task, completed=runs, description=f"shrinking: {left}")

        shrinker = Shrinker(outcome, run, runs_max=options.shrink_runs, on_progress=on_progress)
        try:
            shrinker.shrink()
        except KeyboardInterrupt:
            return shrinker.best, True
    return shrinker.best, False


def write_text_file(file: Path, text: str) -> None:
    """Write a whole file; raise UsageError if it cannot be written."""
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror or error}") from None


@contextmanager
def progress(title: str) -> Iterator[tuple[Progress, Any]]:
    """Show a bar on stderr if that is a terminal; it is removed at the end."""
    console = make_console(stderr=True)
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    bar = Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal, redirect_stdout=False,
        redirect_stderr=False,
    )  # fmt: skip
    with bar:
        yield bar, bar.add_task(title, total=None)


# -- several histories ----------------------------------------------------------------------------


def run_several(options: HistoryOptions) -> int:
    """Run several histories, print their table, and report the first of the worst; return the worst exit code."""
    tally = HistoryTally(options.profile, options.seeds[0], len(options.seeds))
    run, started_at, is_interrupted = runner(), time.monotonic(), False
    try:
        work = partial(history_to_row, with_coverage(options, run), profile=options.profile)
        with progress("histories") as (bar, task), in_processes(work, options.seeds, options.jobs) as rows:
            bar.update(task, total=len(options.seeds))
            for row in rows:
                tally.add(row)
                if options.is_json:
                    click.echo(json.dumps(row))
                rate = tally.done / max(time.monotonic() - started_at, 0.001)
                bar.update(task, completed=tally.done, description=f"{rate:.2f}/s, {tally.findings_text()}")
    except KeyboardInterrupt:
        is_interrupted = True
    return summarise(options, run, tally, time.monotonic() - started_at, is_interrupted)


def summarise(
    options: HistoryOptions,
    run: Callable[..., Outcome],
    tally: HistoryTally,
    seconds: float,
    is_interrupted: bool,
    skipped: int = 0,
) -> int:
    """Print the table of several histories and report the first of the worst; return the exit code."""
    if not options.is_json:
        click.echo("\n".join(tally.lines(seconds, skipped=skipped)))
        if options.coverage:
            click.echo("\n" + "\n".join(coverage_lines(tally.histories_by_event, tally.counts_by_event)))
    row = tally.worst_row
    if row is None or is_interrupted:
        for file in (options.save, options.html):
            if file is not None:
                reason = "the run was interrupted" if is_interrupted else "no history failed"
                write_stderr(f"{file}: not written, as {reason}; use --seed for a single history\n")
        return EXIT_INTERRUPTED if is_interrupted else tally.exit
    needs_report = not options.is_json or options.save is not None or options.html is not None
    if row["plan"] is None:  # The runner itself raised: there is nothing to shrink.
        write_stderr(f"{row['crash']}again: kmirror sim --seed {row['seed']} --profile {row['profile']}\n")
    elif needs_report:
        if not options.is_json:
            click.echo("")
        code = report_outcome(options, run, run(seed=row["seed"], profile=row["profile"]), None)
        if code == EXIT_INTERRUPTED:
            return EXIT_INTERRUPTED
    sys.stdout.flush()
    return tally.exit
