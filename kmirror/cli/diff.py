"""`kmirror diff LEFT RIGHT`: do two partitions, or two log folders, hold the same batches byte for byte?

Rule 1: the first difference of each partition is a line on stdout; the last line is what was compared.
Rule 2: the exit code is 1 if there is a difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kmirror.cli.byte_progress import byte_progress
from kmirror.cli.output import Output
from kmirror.logdir.available_memory import in_words
from kmirror.logdir.compare.partitions import ComparisonResult, Difference, compare, pair_folders


@click.command("diff")
@click.argument("left", metavar="LEFT", type=click.Path(path_type=Path, readable=False))
@click.argument("right", metavar="RIGHT", type=click.Path(path_type=Path, readable=False))
@click.option("--until-lso", is_flag=True, help="Compare up to the last stable offset of LEFT alone.")
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Compare only this topic; repeatable.")
@click.option("--internal", is_flag=True, help="Compare __consumer_offsets and the like too.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: a line a difference.")
def command(left: Path, right: Path, until_lso: bool, topics: tuple[str, ...], internal: bool, output: str) -> int:
    """Compare the log of LEFT with that of RIGHT by batch: offsets, leader epochs, checksums, attributes, bytes.

    Each is a partition's folder or a folder that a broker's log.dirs names. They are compared from the higher of
    their log start offsets on; how they are cut into segments does not count.
    """
    pairs = pair_folders(left, right, topics=topics or None, internal=internal)
    with Output() as out:

        def tell(difference: Difference) -> None:
            out.write(json.dumps(as_json(difference)) + "\n" if output == "json" else f"{difference}\n")

        with byte_progress("diff", pairs.size) as progress:
            result = compare(pairs, until_lso=until_lso, progress=progress, tell=tell)
        out.write(json.dumps(summary_json(result)) + "\n" if output == "json" else summary(result))
    return int(bool(result.differences))


def as_json(difference: Difference) -> dict[str, Any]:
    """Return the difference as the JSON object that `-o json` prints."""
    return {
        "type": "difference",
        "topic": difference.tp.topic,
        "partition": difference.tp.partition,
        "offset": difference.offset,
        "field": difference.field,
        "left": difference.left,
        "right": difference.right,
        "text": difference.text,
    }


def summary_json(result: ComparisonResult) -> dict[str, Any]:
    """Return the last line of `-o json`."""
    return {
        "type": "summary",
        "partitions": result.partitions,
        "batches": result.batches,
        "bytes": result.bytes,
        "notes": result.notes,
        "differences": len(result.differences),
    }


def summary(result: ComparisonResult) -> str:
    """Return the last lines for people."""
    count = len(result.differences)
    found = "equal" if not count else f"{count} difference{'s' if count > 1 else ''}"
    notes = "".join(f"note: {note}\n" for note in result.notes)
    compared = f"{result.partitions} partitions, {result.batches} equal batches, {in_words(result.bytes)}"
    return f"{notes}{found}: {compared}\n"
