"""Pieces of a campaign, run by several processes or machines: some blocks of a stream in, a tally out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.findings import from_json, to_json
from kmirror.fuzz.stream import BLOCK_FRAMES
from kmirror.fuzz.targets.rows import TARGETS, TargetOptions, open_target

JOB_FRAMES = 65_536
"""Frames of a piece: a multiple of BLOCK_FRAMES, and seconds of work for a decoder."""


class FuzzJob(NamedTuple):
    """A part of a campaign: `frames` frames of the target's stream, from number `number * JOB_FRAMES` on."""

    target: str
    options: TargetOptions
    number: int
    frames: int
    shrinks: bool = True


def split_jobs(target: str, options: TargetOptions, frames: int, *, shrinks: bool = True) -> list[FuzzJob]:
    """Return the pieces of a campaign of `frames` frames; raises `UsageError` for a target that cannot be shared."""
    if any(row.name == target and not row.is_shared for row in TARGETS):
        raise UsageError(f"the target {target} cannot run in parallel: remove --jobs and --spark")
    starts = range(0, frames, JOB_FRAMES)
    return [
        FuzzJob(target, options, number, min(JOB_FRAMES, frames - start), shrinks)
        for number, start in enumerate(starts)
    ]


def run_job(job: FuzzJob) -> dict[str, Any]:
    """Run one job of a parallel campaign in this process; return its counters and findings as JSON values."""
    target, source = open_target(job.target, job.options)
    campaign = Campaign(target, source, shrinks=job.shrinks)
    with closing(target):
        for _ in campaign.run(frames=job.frames, first_block=job.number * JOB_FRAMES // BLOCK_FRAMES):
            pass
    tally = campaign.tally
    return {
        "frames": tally.frames,
        "taken": tally.taken,
        "seconds": tally.seconds,
        "findings": [
            [
                cause,
                to_json(finding),
                tally.counts[cause],
                sorted(tally.messages[cause]),
                sorted(tally.versions[cause]),
            ]
            for cause, finding in tally.findings.items()
        ],
        "outcomes": sorted(tally.outcomes),
    }


def merge_tallies(rows: Iterable[dict[str, Any]]) -> Iterator[Tally]:
    """Yield the tally of all pieces so far after each; its seconds are the sum over the processes."""
    tally = Tally()
    for row in rows:
        tally.frames += row["frames"]
        tally.taken += row["taken"]
        tally.seconds += row["seconds"]
        tally.outcomes |= {(name, version, outcome) for name, version, outcome in row["outcomes"]}
        for cause, finding, count, messages, versions in row["findings"]:
            tally.counts[cause] = tally.counts.get(cause, 0) + count
            tally.messages.setdefault(cause, set()).update(messages)
            tally.versions.setdefault(cause, set()).update(versions)
            tally.findings.setdefault(cause, from_json(finding))
        yield tally
