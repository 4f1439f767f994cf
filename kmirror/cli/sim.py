"""`kmirror sim`: histories of two or more clusters, drawn from seeds and judged.

Rule 1: stdout has the findings, or with `-o json` one object per line and nothing else; progress goes to stderr.
Rule 2: the exit codes are those of `kmirror.histories.verdict.Exit`, for several histories the worst. A plan that
cannot be run gives one line on stderr and exit code 2. Ctrl-C prints the findings so far, with exit code 130.
Rule 3: if several histories failed, the first seed of the worst kind is shrunk and reported.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from kmirror.cli.commands import CONTEXT
from kmirror.cli.sim_histories import HistoryOptions, plan_command, run_one, run_several
from kmirror.cli.sim_spark import run_on_spark
from kmirror.cli.usage_errors import as_usage_error
from kmirror.errors import UsageError
from kmirror.experiments.plan_file import read_plan
from kmirror.histories.profiles import PROFILES
from kmirror.histories.shrink import RUNS_MAX
from kmirror.histories.verdict import Exit
from kmirror.kernel.rng import SEED_MAX

PROFILE = "full"
RESULTS = "sim.results"


def profiles() -> dict[str, str]:
    """Return the profiles by name, each with its line of explanation."""
    return {name: row.doc for name, row in PROFILES.items()}


@click.command("sim", context_settings=CONTEXT)
@click.option("--seed", type=click.IntRange(0, SEED_MAX), help="Seed of the history.  [default: 0]")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    metavar="M",
    help="Run M histories, with the seeds from --seed on.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of worker processes.")
@click.option("--profile", metavar="NAME", help=f"Weights of steps and faults.  [default: {PROFILE}]")
@click.option("--profiles", "is_listing", is_flag=True, help="List the profiles and exit.")
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Run the plan in FILE instead of a random one.",
)
@click.option(
    "--save", type=click.Path(path_type=Path), metavar="FILE", help="Write the plan to FILE, shrunk if it failed."
)
@click.option(
    "--shrink/--no-shrink", "is_shrinking", default=True, help="Search for the smallest history that still fails."
)
@click.option(
    "--shrink-runs",
    type=click.IntRange(min=1),
    default=RUNS_MAX,
    show_default=True,
    help="Maximum number of runs for shrinking.",
)
@click.option("--coverage", "is_counting", is_flag=True, help="Count the coverage events that were reached.")
@click.option("-o", "--output", type=click.Choice(["json"]), help="Print one object per history and line.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write the timeline page of a history.")
@click.option("--spark", "is_spark", is_flag=True, help="Run on Spark; skip runs that already have results.")
@click.option("--results", metavar="DIR", help=f"Path or URI of the Spark results; default: {RESULTS}.")
@click.option("--master", metavar="URL", help="Spark master; default: local[*].")
@click.option("--remote", metavar="URL", help="Spark Connect server, such as sc://host:15002.")
@click.option("--tasks", type=click.IntRange(min=1), help="Number of Spark tasks.")
@click.option("--conf", "confs", multiple=True, metavar="KEY=VALUE", help="Spark configuration property; repeatable.")
def command(
    seed: int | None,
    seeds: int,
    jobs: int,
    profile: str | None,
    is_listing: bool,
    plan_file: Path | None,
    save: Path | None,
    is_shrinking: bool,
    shrink_runs: int,
    is_counting: bool,
    output: str | None,
    html: Path | None,
    is_spark: bool,
    results: str | None,
    master: str | None,
    remote: str | None,
    tasks: int | None,
    confs: tuple[str, ...],
) -> int:
    """Run random histories of two or three clusters, drawn from a seed, and check the observations of their clients.

    A history that fails is shrunk to the fewest steps and reported: the name of the anomaly, the story, the logs side
    by side, and the command that repeats it. The exit code is 0 if everything was correct, 3 after an exception inside
    a node, 4 if an anomaly was found, 5 if the clusters did not settle in time, 2 for an invalid command line. For many
    histories it is the worst: 3 before 4 before 5.

    An object of -o json has seed, profile, exit, verdict, anomalies, accepted, crash, steps, acked, read, digest,
    events, virtual_seconds, cpu_seconds and, if the history failed, its plan, which --plan accepts. If a single history
    failed, it also has shrunk: the same object for the smallest history that fails in the same way.

    With --coverage, a table shows how many histories reached each coverage event, how often, and which events were not
    reached. An object of -o json then has coverage: the events that its history reached, and how often.
    """
    if is_listing:
        for name, doc in profiles().items():
            click.echo("\n".join(textwrap.wrap(doc, 80, initial_indent=f"{name:<14} ", subsequent_indent=" " * 15)))
        return Exit.CLEAN
    with as_usage_error():
        spark_options = {
            "--results": results,
            "--master": master,
            "--remote": remote,
            "--tasks": tasks,
            "--conf": confs,
        }
        spark_names = [name for name, value in spark_options.items() if value]
        if spark_names and not is_spark:
            raise UsageError(f"{spark_names[0]} needs --spark")
        if is_spark and jobs > 1:
            raise UsageError("--jobs cannot be used with --spark, which has its own processes")
        if is_spark and is_counting:
            raise UsageError("--coverage cannot be used with --spark: use --jobs")
        if plan_file is not None and (seed is not None or profile is not None or seeds > 1 or is_spark):
            raise UsageError("--plan cannot be used with --seed, --seeds, --profile or --spark")
        for file in (save, html):
            check_writable(file)
        plan, repeat = (None, "") if plan_file is None else (read_plan(plan_file), plan_command(plan_file))
        name = PROFILE if profile is None else profile
        if plan is None and name not in profiles():
            raise UsageError(f"unknown profile {name!r}; available: {', '.join(profiles())}")
        options = HistoryOptions(
            seed_range(seed or 0, seeds), name, plan, repeat, jobs, output == "json",
            shrink_runs if is_shrinking else 0, save, html, is_counting,
        )  # fmt: skip
        if is_spark:
            return run_on_spark(options, results or RESULTS, master, remote, tasks, confs)
        return run_one(options) if len(options.seeds) == 1 else run_several(options)


def seed_range(first: int, count: int) -> range:
    """Return the seeds of `count` histories; raise UsageError if they exceed SEED_MAX."""
    if first + count - 1 > SEED_MAX:
        raise UsageError(f"the largest seed is {SEED_MAX}")
    return range(first, first + count)


def check_writable(file: Path | None) -> None:
    """Raise UsageError for a file that cannot be written, before time is spent on its contents."""
    if file is not None and file.is_dir():
        raise UsageError(f"{file}: is a folder")
    if file is not None and not file.absolute().parent.is_dir():
        raise UsageError(f"{file}: no folder {file.absolute().parent}")
