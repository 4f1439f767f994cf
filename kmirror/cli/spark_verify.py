"""`kmirror spark-verify A B`: do the log directories of two clusters hold the same batches?"""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from kmirror.cli.spark_session import parse_confs, spark_session

SHOWN_MAX = 50


@click.command("spark-verify")
@click.argument("source")
@click.argument("destination")
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Compare only this topic; repeatable.")
@click.option("--internal", is_flag=True, help="Compare __consumer_offsets and the like too.")
@click.option("--master", metavar="URL", help="A Spark master; local[*] by default.")
@click.option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host:15002.")
@click.option("--conf", "confs", multiple=True, metavar="KEY=VALUE", help="A setting of Spark's own; repeatable.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: a line a difference.")
def command(
    source: str,
    destination: str,
    topics: tuple[str, ...],
    internal: bool,
    master: str | None,
    remote: str | None,
    confs: tuple[str, ...],
    output: str,
) -> int:
    """Compare the batches of SOURCE with those of DESTINATION, up to SOURCE's last stable offset.

    Each is a log.dirs folder, a partition's folder or a pattern of them, such as '/kafka/broker-*/data'; every
    replica of the destination is compared. The exit code is 1 if there is a difference.
    """
    configs = parse_confs(confs)
    with spark_session("kmirror spark-verify", master=master, remote=remote, ui=False, configs=configs) as spark:
        from kmirror.spark.verification import verify  # pyarrow comes with Spark.

        found = verify(spark, source, destination, topics=topics or None, internal=internal)
    if output == "json":
        for row in found.rows:
            click.echo(json.dumps(asdict(row)))
    else:
        for row in found.rows[:SHOWN_MAX]:
            click.echo(str(row))
        if len(found.rows) > SHOWN_MAX:
            click.echo(f"... and {len(found.rows) - SHOWN_MAX} more: -o json lists them")
        click.echo(found.summary())
    return 0 if found.is_equal else 1
