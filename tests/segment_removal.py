"""Results of `verify` and of loading for a log folder that lost a segment.

Each segment of each partition is removed in turn from a copy: once alone and, if it is not empty, once with all files
that have its base offset. `table` counts the verdicts: "found" is a fault, "gap" is a report of the missing offsets,
and "silent" means that the loss was not noticed.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from kmirror.errors import UsageError
from kmirror.logdir.faults import FileFault, Gap, Tally
from kmirror.logdir.load import read_log_dirs
from kmirror.logdir.partition import partition_paths
from kmirror.logdir.verify.partition import open_job, verify

METADATA = "__cluster_metadata-0"
VERDICTS = ("found", "gap", "silent")

DATA = Path(__file__).resolve().parent / "data"
BROKERS = [
    Path(str(resources.files("kmirror.logdir") / "sample")),
    DATA / "cli" / "logs" / "kraft-4.3" / "data",
    DATA / "cli" / "kraft-4.3" / "data",
    DATA / "log" / "kraft-4.3",
    DATA / "log" / "crash-4.3" / "data",
    DATA / "log" / "epochs-4.3" / "broker-1",
]
"""Folders of brokers: with checkpoints and without, after a clean shutdown and a crash, alone and as replicas."""


class Removal(NamedTuple):
    """Removed segment: its place ("first", "middle" or "last" in its partition), and both verdicts."""

    partition: str
    base_offset: int
    place: str
    with_files: bool
    verified: str
    loaded: str | None  # None for internal topics, which loading skips.


def remove_each(top: Path, work: Path) -> Iterator[Removal]:
    """Yield the verdicts for each removal from the partitions of `top`; copies are made in `work`."""
    for original in partition_paths(top):
        bases = sorted(int(path.stem) for path in original.glob("*.log"))
        for base in bases if len(bases) > 1 else ():
            for with_files in (False, True):
                if with_files and not (original / f"{base:020d}.log").stat().st_size:
                    continue  # The cleaner left an empty segment: nothing is missing.
                folder = _copy(original, work)
                before = judge(folder)
                for path in folder.glob(f"{base:020d}.*" if with_files else f"{base:020d}.log"):
                    path.unlink()
                place = "first" if base == bases[0] else "last" if base == bases[-1] else "middle"
                verified = _verdict(before, judge(folder))
                yield Removal(original.name, base, place, with_files, verified, _load(folder, before[1]))
                shutil.rmtree(work)


def _copy(original: Path, work: Path) -> Path:
    work.mkdir()
    for path in original.parent.iterdir():
        if path.is_file():
            shutil.copyfile(path, work / path.name)
        elif path.name in (METADATA, original.name):
            shutil.copytree(path, work / path.name, copy_function=shutil.copyfile)
    return work / original.name


def judge(folder: Path) -> tuple[set[str], set[Gap]]:
    """Return the faults and gaps that `verify` finds in a partition folder or a log folder."""
    faults: list[FileFault] = []
    tally = Tally(faults.append)
    verify(open_job(folder, tally), tally)
    return {str(fault) for fault in faults}, set(tally.gaps)


def _verdict(before: tuple[set[str], set[Gap]], after: tuple[set[str], set[Gap]]) -> str:
    return "found" if after[0] - before[0] else "gap" if after[1] - before[1] else "silent"


def _load(folder: Path, gaps_before: set[Gap]) -> str | None:
    try:
        (files,) = read_log_dirs(folder).partitions.values()
    except FileFault:
        return "found"
    except UsageError:
        return None
    return "gap" if set(files.gaps) - gaps_before else "silent"


def is_reported(one: Removal) -> bool:
    """Return whether the removal was reported as well as possible.

    That is as a fault, or as a gap where the cleaner could have caused it. Retention may have removed the first
    segment.
    """
    if one.loaded not in (one.verified, None):
        return False
    if one.place == "first":
        return True  # Retention may have deleted it.
    is_compacted = any(word in one.partition for word in ("compact", "__consumer_offsets", "__transaction_state"))
    return one.verified == "found" or (one.verified == "gap" and is_compacted)


def table(removals: Iterable[Removal]) -> str:
    """Return the counts of the `verify` verdicts as a Markdown table, with a row for each kind of removal."""
    counts = Counter((one.place, one.with_files, one.verified) for one in removals)
    lines = ["| segment | deleted | found | gap | not reported |", "|---|---|---|---|---|"]
    for place in ("first", "middle", "last"):
        for with_files in (False, True):
            told = " | ".join(str(counts[place, with_files, verdict]) for verdict in VERDICTS)
            lines.append(f"| {place} | {'with its files' if with_files else 'alone'} | {told} |")
    return "\n".join(lines)
