"""`kmirror spark-verify A B`: comparison of the log directories of two clusters, by batch or by record.

Rule 1: stdout has the differences, then the amounts on both sides of each replica that differs, and the sum of the
comparison. With `-o json` each is one object per line, with one for every replica.
Rule 2: the exit code is 0 if all is equal, 1 if there is a difference, 2 if the comparison was not possible; an empty
comparison is never equal.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from kmirror.cli.commands import CONTEXT
from kmirror.cli.spark_session import parse_confs, spark_session
from kmirror.cli.usage_errors import as_usage_error
from kmirror.errors import KmirrorError

if TYPE_CHECKING:
    from kmirror.spark.verification import ReplicaResult, Verification

SHOWN_MAX = 50


@click.command("spark-verify", context_settings=CONTEXT)
@click.argument("source")
@click.argument("destination")
@click.option("--logical", is_flag=True, help="Where batches differ, compare the records and ignore their offsets.")
@click.option("--common", is_flag=True, help="Compare only partitions that exist on both sides.")
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Compare only this topic; repeatable.")
@click.option("--internal", is_flag=True, help="Also compare internal topics, such as __consumer_offsets.")
@click.option("--master", metavar="URL", help="Spark master; default: local[*].")
@click.option("--remote", metavar="URL", help="Spark Connect server, such as sc://host:15002.")
@click.option("--conf", "confs", multiple=True, metavar="KEY=VALUE", help="Spark configuration property; repeatable.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one object per line.")
def command(
    source: str,
    destination: str,
    logical: bool,
    common: bool,
    topics: tuple[str, ...],
    internal: bool,
    master: str | None,
    remote: str | None,
    confs: tuple[str, ...],
    output: str,
) -> int:
    """Compare the batches of SOURCE with those of DESTINATION, up to the last stable offset of SOURCE.

    Each is a log.dirs folder, the folder of a partition or a pattern of folders, such as '/kafka/broker-*/data'; every
    replica of the destination is compared. --logical is for copies with other batches and offsets, such as those of
    MirrorMaker 2: see `kmirror diff --help`.

    The exit code is 0 if everything is equal, 1 if there is a difference, 2 if the comparison was not possible.
    """
    configs = parse_confs(confs)
    name = "kmirror spark-verify"
    with (
        as_usage_error(KmirrorError),
        spark_session(name, master=master, remote=remote, ui=False, configs=configs) as spark,
    ):
        from kmirror.spark.verification import verify  # pyarrow is installed with Spark.

        selected = topics or None
        found = verify(spark, source, destination, topics=selected, internal=internal, logical=logical, common=common)
    for line in json_lines(found) if output == "json" else text_lines(found):
        click.echo(line)
    return 0 if found.is_equal else 1


def text_lines(found: Verification) -> list[str]:
    """Return the lines for readers."""
    lines = [str(row) for row in found.rows[:SHOWN_MAX]]
    if len(found.rows) > SHOWN_MAX:
        lines.append(f"... and {len(found.rows) - SHOWN_MAX} more: -o json lists them")
    lines += [str(replica) for replica in found.replicas if not replica.is_equal]
    return [*lines, found.summary()]


def json_lines(found: Verification) -> list[str]:
    """Return the objects of `-o json`, one per line."""
    rows: list[dict[str, Any]] = [{"type": "difference", **asdict(row)} for row in found.rows]
    rows += [replica_json(replica) for replica in found.replicas]
    common = found.common
    summary = {
        "type": "summary", "partitions": found.partitions, "replicas": len(found.replicas),
        "only_source": len(found.only_source), "only_destination": len(found.only_destination),
        "batches": common.batches, "records": common.records, "bytes": found.bytes,
        "differences": len(found.rows) + found.more_differences,
    }  # fmt: skip
    return [json.dumps(row) for row in (*rows, summary)]


def replica_json(replica: ReplicaResult) -> dict[str, Any]:
    """Return the object of `-o json` for a replica whose partition the source has, too."""
    shares = replica.shares
    return {
        "type": "replica",
        "topic": replica.tp.topic,
        "partition": replica.tp.partition,
        "folder": replica.folder,
        "equal": replica.is_equal,
        "common": asdict(shares.common),
        "differing": asdict(shares.differing),
        "only_source": asdict(shares.only_expected),
        "only_destination": asdict(shares.only_found),
        "bytes": replica.bytes,
    }
