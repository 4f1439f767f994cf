"""`kmirror cat DIR...`: the records of partitions on a disk, without a broker.

Rule 1: the output is the records that a consumer would get from a broker on these folders: see
`kmirror.logdir.consume`.
Rule 2: partitions follow each other by topic and number, and the records of each by offset.
Rule 3: the exit code is 1, with file, position and reason, when a log is damaged; earlier records are printed.
Rule 4: records hidden by the high watermark are reported on stderr, because a topic that looks empty may not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from kmirror.cli.chosen_partitions import choose_partitions
from kmirror.cli.commands import CONTEXT
from kmirror.cli.output import Output
from kmirror.cli.record_json import json_line, payload, utc_or_none
from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.consume import ConsumeQuery, consume, hidden_records
from kmirror.logdir.kcat_format import compile_format
from kmirror.logdir.partition import PartitionFolder
from kmirror.records.layout import TIMESTAMP_NAMES, TimestampType
from kmirror.records.record import Record

DEFAULT_FORMAT: Final = r"%s\n"

Render = Callable[[Record], bytes]


@click.command("cat", context_settings=CONTEXT)
@click.argument(
    "directories", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False)
)
@click.option("-t", "--topic", "topics", multiple=True, metavar="NAME", help="A topic of a log folder; repeatable.")
@click.option(
    "-p", "--partition", "numbers", multiple=True, type=click.IntRange(min=0), help="Only this partition; repeatable."
)
@click.option("--from-offset", type=click.IntRange(min=0), default=0, help="Begin at this offset of each partition.")
@click.option("--until-offset", type=click.IntRange(min=0), help="Stop before this offset (exclusive).")
@click.option(
    "--timestamp", type=int, metavar="MS", help="Begin at the first record with this timestamp or a later one."
)
@click.option("-c", "--max-messages", type=click.IntRange(min=0), metavar="N", help="Stop after N records in total.")
@click.option("--read-committed", is_flag=True, help="Skip aborted transactions and stop before open ones.")
@click.option("--to-end", is_flag=True, help="Also print records at or above the high watermark.")
@click.option(
    "-f",
    "--format",
    "template",
    help="kcat's letters: %s value, %S its size, %k key, %K its size, %h headers, %t topic, %p partition, %o offset, "
    f"%T timestamp in ms, %I the same as text in UTC, %%; \\n, \\r, \\t, \\xNN.  [default: {DEFAULT_FORMAT}]",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one line per record.")
def command(
    directories: tuple[Path, ...],
    topics: tuple[str, ...],
    numbers: tuple[int, ...],
    from_offset: int,
    until_offset: int | None,
    timestamp: int | None,
    max_messages: int | None,
    read_committed: bool,
    to_end: bool,
    template: str | None,
    output: str,
) -> int:
    """Print the records of partitions as a consumer would receive them.

    Each DIR is the folder of a partition or, with --topic, a log folder, as in a broker's log.dirs. Partitions are
    printed one after the other, by topic and number. The log start offset and the high watermark are read from the
    checkpoints in the folder that contains the partition; without them the whole partition is printed. Control records
    are skipped.

    With -o json, keys, values and header values are text if they are UTF-8. Otherwise they are base64, in key_base64
    and value_base64.
    """
    if output == "json" and template is not None:
        raise UsageError("--format cannot be used with -o json, which prints every field")
    record_template = None if output == "json" else template or DEFAULT_FORMAT
    partitions = choose_partitions(directories, topics, numbers)
    renders = [_render(partition.tp, record_template) for partition in partitions]
    query = ConsumeQuery(
        from_offset=from_offset,
        until_offset=until_offset,
        timestamp=timestamp,
        read_committed=read_committed,
        to_end=to_end,
    )
    with Output() as out:
        for data in islice(_rendered_records(partitions, renders, query, out), max_messages):
            out.write_bytes(data)
    return 0


def _rendered_records(
    partitions: list[PartitionFolder], renders: list[Render], query: ConsumeQuery, out: Output
) -> Iterator[bytes]:
    """Yield the output of each record; report the hidden records of a partition after its last one."""
    for partition, render in zip(partitions, renders, strict=True):
        for record in consume(partition, query):
            yield render(record)
        hidden = hidden_records(partition, query)
        if hidden is not None:
            prefix = "" if hidden.is_whole else "at least "
            records = "1 record is" if hidden.records == 1 else f"{hidden.records} records are"
            out.write_stderr(
                f"kmirror: {partition.tp}: {prefix}{records} not shown, at or above the high watermark "
                f"{hidden.high_watermark}; --to-end prints them\n"
            )


def _render(tp: TopicPartition, template: str | None) -> Render:
    """Return the function that formats a record of `tp`; without a template it gives JSON."""
    if template is not None:
        return compile_format(template, tp)
    return lambda record: json_line(as_json(tp, record)).encode("utf-8", "replace")


def as_json(tp: TopicPartition, record: Record) -> dict[str, Any]:
    """Return the record as the JSON object that `-o json` prints."""
    return {
        "topic": tp.topic,
        "partition": tp.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_utc": utc_or_none(record.timestamp),
        "timestamp_type": TIMESTAMP_NAMES[TimestampType(record.timestamp_type)],
        "leader_epoch": None if record.leader_epoch < 0 else record.leader_epoch,
        **payload("key", record.key, "key_base64"),
        **payload("value", record.value, "value_base64"),
        "headers": [{"key": name, **payload("value", value, "value_base64")} for name, value in record.headers],
    }
