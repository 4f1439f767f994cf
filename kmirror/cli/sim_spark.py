"""`kmirror sim --spark`: the same histories and the same table, run on Spark and kept."""

from __future__ import annotations

import json
import time

import click

from kmirror.cli.sim_histories import Wish, progress, runner, summarise
from kmirror.cli.sim_tally import Tally
from kmirror.cli.sweep import parse_confs


def on_spark(
    wish: Wish, location: str, master: str | None, remote: str | None, tasks: int | None, confs: tuple[str, ...]
) -> int:
    """Run what is missing of the histories, then tell all of them; returns the worst exit code."""
    from kmirror.spark.sessions import session

    configs, began, is_interrupted, skipped = parse_confs(confs), time.monotonic(), False, 0
    spark = session("kmirror sim", master=master, remote=remote, quick_start=True, configs=configs)
    from kmirror.spark.histories import read_histories, run_histories  # pyarrow comes with Spark.

    try:
        with progress("histories") as (bar, task):
            report = run_histories(
                spark, wish.seeds, wish.profile, location, tasks=tasks,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
            skipped = report.skipped
    except KeyboardInterrupt:
        is_interrupted = True
    finally:
        spark.stop()
    tally = Tally(wish.profile, wish.seeds[0], len(wish.seeds))
    for row in read_histories(location, wish.seeds, wish.profile):
        tally.add(row)
        if wish.is_json:
            click.echo(json.dumps(row))
    code = summarise(wish, runner(), tally, time.monotonic() - began, is_interrupted, skipped)
    if not wish.is_json:
        click.echo(f"\nresults in {location}; what is there is not run again")
    return code
