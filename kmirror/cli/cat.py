"""`kmirror cat DIR`: the records of a partition folder, without a broker.

Rule 1: what is printed is what a consumer would get from a broker on this folder: see `kmirror.logdir.consume`.
Rule 2: the exit code is 1 with file, position and reason when the log is damaged; what came before is printed.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import click

from kmirror.cli.output import Output
from kmirror.logdir.consume import ConsumeQuery, consume
from kmirror.logdir.dump.printers import TIMESTAMP_NAMES
from kmirror.logdir.kcat_format import compile_format
from kmirror.logdir.partition import open_partition
from kmirror.records.layout import TimestampType
from kmirror.records.record import Record

DEFAULT_FORMAT = r"%s\n"


@click.command("cat")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, readable=False))
@click.option("--from-offset", type=click.IntRange(min=0), default=0, help="Begin at this offset.")
@click.option("--timestamp", type=int, metavar="MS", help="Begin at the first record that is not older than this.")
@click.option("--read-committed", is_flag=True, help="Leave out aborted transactions and end before open ones.")
@click.option("--to-end", is_flag=True, help="Print also what is above the high watermark.")
@click.option(
    "--format",
    "template",
    default=DEFAULT_FORMAT,
    show_default=True,
    help="kcat's letters: %s value, %S its size, %k key, %K its size, %h headers, %t topic, %p partition, %o offset, "
    "%T timestamp, %%; \\n, \\r, \\t, \\xNN.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: a line a record.")
def command(
    directory: Path,
    from_offset: int,
    timestamp: int | None,
    read_committed: bool,
    to_end: bool,
    template: str,
    output: str,
) -> int:
    """Print the records of the partition in DIR as a consumer would get them.

    The checkpoints of the folder around DIR tell where the log starts and how far it is replicated; without them it
    is printed whole. Control records are left out.
    """
    folder = open_partition(directory)
    render = compile_format(template, folder.tp)
    wanted = ConsumeQuery(from_offset=from_offset, timestamp=timestamp, read_committed=read_committed, to_end=to_end)
    with Output() as out:
        for record in consume(folder, wanted):
            if output == "json":
                out.write(json.dumps(as_json(record), ensure_ascii=False, separators=(",", ":")) + "\n")
            else:
                out.write_bytes(render(record))
    return 0


def as_json(record: Record) -> dict[str, Any]:
    """Return the record as the JSON object that `-o json` prints."""
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": TIMESTAMP_NAMES[TimestampType(record.timestamp_type)],
        "leader_epoch": None if record.leader_epoch < 0 else record.leader_epoch,
        "key": _base64(record.key),
        "value": _base64(record.value),
        "headers": [[name, _base64(value)] for name, value in record.headers],
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()
