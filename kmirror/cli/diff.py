"""`kmirror diff LEFT RIGHT`: comparison of two partitions, or two log folders, by batch or by record.

Rule 1: stdout has, for each partition that differs, the first difference and the amounts on both sides; the last line
sums up the comparison. With `-o json` each is an object on its own line, with one for every common partition.
Rule 2: the exit code is 0 if all is equal, 1 if there is a difference, 2 if the comparison was not possible; an empty
comparison is never equal.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kmirror.cli.byte_progress import byte_progress
from kmirror.cli.commands import CONTEXT
from kmirror.cli.output import Output
from kmirror.cli.usage_errors import as_usage_error
from kmirror.errors import KmirrorError
from kmirror.kernel.names import counted
from kmirror.logdir.available_memory import size_in_words
from kmirror.logdir.compare.pairs import pair_folders
from kmirror.logdir.compare.partitions import CompareOptions, compare
from kmirror.logdir.compare.results import ComparisonResult, Difference, PartitionResult


@click.command("diff", context_settings=CONTEXT)
@click.argument("left", metavar="LEFT", type=click.Path(path_type=Path, readable=False))
@click.argument("right", metavar="RIGHT", type=click.Path(path_type=Path, readable=False))
@click.option("--until-lso", is_flag=True, help="Compare only up to the last stable offset of LEFT.")
@click.option("--logical", is_flag=True, help="Where batches differ, compare the records and ignore their offsets.")
@click.option("--common", is_flag=True, help="Compare only partitions that exist on both sides.")
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Compare only this topic; repeatable.")
@click.option("--internal", is_flag=True, help="Also compare internal topics, such as __consumer_offsets.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one object per line.")
def command(
    left: Path,
    right: Path,
    until_lso: bool,
    logical: bool,
    common: bool,
    topics: tuple[str, ...],
    internal: bool,
    output: str,
) -> int:
    """Compare the logs of LEFT and RIGHT by batch: offsets, leader epochs, checksums, attributes, bytes.

    Each is the folder of a partition or a folder from a broker's log.dirs. The comparison starts at the higher of the
    two log start offsets; the boundaries of segments are ignored.

    --logical is for copies with other batches and offsets, such as those of MirrorMaker 2: from the first batch that
    differs, timestamp, key, value and headers of the records are compared in order. Control records are skipped; with
    --until-lso each log is read up to its own last stable offset.

    The exit code is 0 if everything is equal, 1 if there is a difference, 2 if the comparison was not possible.
    """
    with as_usage_error(KmirrorError), Output() as out:
        pairs = pair_folders(left, right, topics=topics or None, internal=internal)

        def on_result(found: PartitionResult | Difference) -> None:
            out.write("".join(f"{line}\n" for line in (json_lines if output == "json" else text_lines)(found)))

        with byte_progress("diff", pairs.size) as progress:
            options = CompareOptions(until_lso=until_lso, logical=logical, common=common)
            result = compare(pairs, options, progress=progress, on_result=on_result)
        out.write(json.dumps(summary_json(result)) + "\n" if output == "json" else summary(result))
    return int(not result.is_equal)


def text_lines(found: PartitionResult | Difference) -> list[str]:
    """Return the lines for readers: none for a partition that is equal."""
    if isinstance(found, Difference):
        return [str(found)]
    return [*map(str, found.differences), str(found)] if found.differences else []


def json_lines(found: PartitionResult | Difference) -> list[str]:
    """Return the objects of `-o json`, one per line."""
    if isinstance(found, Difference):
        return [json.dumps(as_json(found))]
    return [json.dumps(row) for row in (*map(as_json, found.differences), partition_json(found))]


def as_json(difference: Difference) -> dict[str, Any]:
    """Return the difference as the JSON object that `-o json` prints."""
    place = difference.place
    return {
        "type": "difference",
        "topic": difference.tp.topic,
        "partition": difference.tp.partition,
        "offset": difference.offset,
        "right_offset": difference.right_offset,
        "field": difference.field,
        "left": difference.left,
        "right": difference.right,
        "within": None if place is None else place.within,
        "byte": None if place is None else place.byte,
        "left_bytes": None if place is None else place.expected,
        "right_bytes": None if place is None else place.found,
        "text": difference.text,
    }


def partition_json(found: PartitionResult) -> dict[str, Any]:
    """Return the object of `-o json` for a partition that both sides have."""
    shares = found.shares
    return {
        "type": "partition",
        "topic": found.tp.topic,
        "partition": found.tp.partition,
        "equal": found.is_equal,
        "common": asdict(shares.common),
        "differing": asdict(shares.differing),
        "only_left": asdict(shares.only_expected),
        "only_right": asdict(shares.only_found),
        "bytes": found.bytes,
    }


def summary_json(result: ComparisonResult) -> dict[str, Any]:
    """Return the last line of `-o json`."""
    return {
        "type": "summary",
        "partitions": len(result.partitions),
        "only_left": len(result.only_left),
        "only_right": len(result.only_right),
        "batches": result.batches,
        "records": result.records,
        "bytes": result.bytes,
        "notes": result.notes,
        "differences": len(result.differences),
    }


def summary(result: ComparisonResult) -> str:
    """Return the last lines for readers."""
    found = "equal" if result.is_equal else counted(len(result.differences), "difference")
    parts = [counted(len(result.partitions), "partition"), counted(result.batches, "equal batch")]
    if result.records:
        parts.append(f"{counted(result.records, 'equal record')} in other batches")
    parts.append(size_in_words(result.bytes))
    lines = [f"note: {note}" for note in result.notes]
    for side, tps in (("left", result.only_left), ("right", result.only_right)):
        if tps:
            lines.append(f"note: {counted(len(tps), 'partition')} only on the {side}")
    compared = "nothing was compared" if result.is_empty else ", ".join(parts)
    return "".join(f"{line}\n" for line in (*lines, f"{found}: {compared}"))
