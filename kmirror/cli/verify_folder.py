"""Output of `kmirror verify`, as text and as JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final

from kmirror.cli.byte_progress import byte_progress
from kmirror.cli.output import Output
from kmirror.kernel.names import counted
from kmirror.logdir.available_memory import size_in_words
from kmirror.logdir.faults import FileFault, Gap, Tally, gaps_in_words
from kmirror.logdir.verify.partition import open_job, verify

OUTPUTS: Final = ("text", "json")
_NS: Final = 1_000_000_000


def verify_folder(directory: Path, *, deep: bool, output: str) -> int:
    """Check a log folder or a partition's, print faults and a summary; return the exit code."""
    started = time.monotonic_ns()
    with Output() as out:

        def write_fault(fault: FileFault) -> None:
            out.write((_json(as_json(fault)) if output == "json" else str(fault)) + "\n")

        tally = Tally(write_fault)
        job = open_job(directory, tally)
        with byte_progress(f"verify {directory}", job.size) as progress:
            tally.progress = progress
            verify(job, tally, decodes=deep)
        elapsed_ns = time.monotonic_ns() - started
        if output == "json":
            for gap in tally.gaps:
                out.write(_json(gap_json(gap)) + "\n")
        line = _json(summary_json(tally, elapsed_ns)) if output == "json" else summary(tally, elapsed_ns)
        out.write(line + "\n")
    return int(tally.faults > 0)


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values)


def as_json(fault: FileFault) -> dict[str, Any]:
    """Return the fault as the JSON object that `-o json` prints."""
    return {
        "type": "fault",
        "path": str(fault.path),
        "position": fault.position,
        "offset": fault.offset,
        "reason": fault.reason,
    }


def gap_json(gap: Gap) -> dict[str, Any]:
    """Return the JSON object that `-o json` prints for offsets that are in no segment without being a fault."""
    return {
        "type": "gap",
        "path": str(gap.folder),
        "first_offset": gap.first_offset,
        "last_offset": gap.last_offset,
        "reason": gap.reason,
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
        "gaps": len(tally.gaps),
        "faults": tally.faults,
        "elapsed_ms": elapsed_ns // 1_000_000,
    }


def summary(tally: Tally, elapsed_ns: int) -> str:
    """Return the last lines for readers."""
    rate = size_in_words(tally.bytes * _NS // max(1, elapsed_ns))
    lines = [f"skipped: {text}" for text in tally.skipped]
    lines += gaps_in_words(tally.gaps)
    found = "no fault" if not tally.faults else f"{tally.faults} fault{'s' if tally.faults > 1 else ''}"
    lines.append(
        f"{found} in {counted(tally.partitions, 'partition')}, {counted(tally.segments, 'segment')}, "
        f"{counted(tally.batches, 'batch')}, "
        f"{size_in_words(tally.bytes)}; {counted(tally.index_entries, 'index entry')} "
        f"and {counted(tally.snapshots, 'snapshot')} checked; "
        f"{elapsed_ns // 1_000_000} ms, {rate}/s"
    )
    return "\n".join(lines)
