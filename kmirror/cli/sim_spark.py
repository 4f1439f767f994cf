"""`kmirror sim --spark`: the same histories and the same table, run on Spark and stored."""

from __future__ import annotations

import json
import time

import click

from kmirror.cli.output import write_stderr
from kmirror.cli.sim_histories import HistoryOptions, progress, runner, summarise
from kmirror.cli.sim_tally import HistoryTally
from kmirror.cli.spark_session import parse_confs, spark_session
from kmirror.cli.sweep import RESUME_TEXT


def run_on_spark(
    options: HistoryOptions,
    location: str,
    master: str | None,
    remote: str | None,
    tasks: int | None,
    confs: tuple[str, ...],
) -> int:
    """Run the missing histories, then report all of them; return the worst exit code."""
    from kmirror.spark.sessions import require_pyspark

    require_pyspark()
    from kmirror.spark.histories import prepare, read_histories, run_histories  # Needs Arrow, as Spark does.

    configs, started_at, is_interrupted, skipped = parse_confs(confs), time.monotonic(), False, 0
    prepare(location, options.seeds, options.profile)
    try:
        with (
            spark_session("kmirror sim", master=master, remote=remote, configs=configs) as spark,
            progress("histories") as (bar, task),
        ):
            report = run_histories(
                spark, options.seeds, options.profile, location, tasks=tasks,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
            skipped = report.skipped
    except KeyboardInterrupt:
        is_interrupted = True
    tally = HistoryTally(options.profile, options.seeds[0], len(options.seeds))
    for row in read_histories(location, options.seeds, options.profile):
        tally.add(row)
        if options.is_json:
            click.echo(json.dumps(row))
    code = summarise(options, runner(), tally, time.monotonic() - started_at, is_interrupted, skipped)
    if is_interrupted:
        write_stderr(f"kmirror: interrupted; finished results are kept in {location}, {RESUME_TEXT}\n")
    elif not options.is_json:
        click.echo(f"\nresults in {location}; runs with results are not repeated")
    return code
