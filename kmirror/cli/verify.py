"""`kmirror verify DIR`: is this log folder, or this partition, what a broker would have written?

Rule 1: every fault is a line on stdout with file, position, offset and reason; the last line is what was looked at.
Rule 2: the exit code is 1 if there was a fault.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from kmirror.cli.byte_progress import byte_progress
from kmirror.cli.output import Output
from kmirror.net.memory import in_words
from kmirror.net.tools.faults import Fault, Tally
from kmirror.net.tools.verify import open_job, verify

_NS = 1_000_000_000


@click.command("verify")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--deep", is_flag=True, help="Inflate every batch and check the lengths of its records too.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: a line a fault.")
def command(directory: Path, deep: bool, output: str) -> int:
    """Check every file of a log folder, or of one partition's folder.

    Checksums, the order of offsets and leader epochs, offset, time and transaction indexes, producer snapshots,
    epoch and offset checkpoints, topic ids, metadata snapshots. Folders that a broker would not load are left out.
    """
    started = time.monotonic_ns()
    with Output() as out:

        def tell(fault: Fault) -> None:
            out.write(json.dumps(as_json(fault)) + "\n" if output == "json" else f"{fault}\n")

        tally = Tally(tell)
        job = open_job(directory, tally)
        with byte_progress(f"verify {directory}", job.size) as progress:
            tally.progress = progress
            verify(job, tally, decodes=deep)
        elapsed_ns = time.monotonic_ns() - started
        line = json.dumps(summary_json(tally, elapsed_ns)) if output == "json" else summary(tally, elapsed_ns)
        out.write(line + "\n")
    return int(tally.faults > 0)


def as_json(fault: Fault) -> dict[str, Any]:
    """Return the fault as the JSON object that `-o json` prints."""
    return {
        "type": "fault",
        "path": str(fault.path),
        "position": fault.position,
        "offset": fault.offset,
        "reason": fault.reason,
    }


def summary_json(tally: Tally, elapsed_ns: int) -> dict[str, Any]:
    """Return the last line of `-o json`."""
    return {
        "type": "summary",
        "partitions": tally.partitions,
        "segments": tally.segments,
        "batches": tally.batches,
        "bytes": tally.bytes,
        "index_entries": tally.index_entries,
        "snapshots": tally.snapshots,
        "skipped": tally.skipped,
        "faults": tally.faults,
        "elapsed_ms": elapsed_ns // 1_000_000,
    }


def summary(tally: Tally, elapsed_ns: int) -> str:
    """Return the last line for people."""
    rate = in_words(tally.bytes * _NS // max(1, elapsed_ns))
    lines = [f"left out: {text}" for text in tally.skipped]
    found = "no fault" if not tally.faults else f"{tally.faults} fault{'s' if tally.faults > 1 else ''}"
    lines.append(
        f"{found} in {tally.partitions} partitions, {tally.segments} segments, {tally.batches} batches, "
        f"{in_words(tally.bytes)}; {tally.index_entries} index entries and {tally.snapshots} snapshots looked at; "
        f"{elapsed_ns // 1_000_000} ms, {rate}/s"
    )
    return "\n".join(lines)
