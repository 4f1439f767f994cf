"""Recorded runs of clusters: a sample in the repository, and all of them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.recorded import RUNS, recorded_runs

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "cli"
WHOLE = recorded_runs()


class DumpCase(NamedTuple):
    """One command line of Kafka's dump tool, in the folder `run`, and its result."""

    run: Path
    expected: Path
    exit_code: int
    arguments: list[str]

    @property
    def name(self) -> str:
        return f"{self.run.name}:{self.expected.relative_to(self.run / 'expected')}"


def dump_cases(top: Path) -> list[DumpCase]:
    """Return the rows of every `expected/commands.tsv` below `top`; none if there is no such file."""
    cases = []
    for table in sorted(top.glob("*/expected/commands.tsv")):
        run = table.parent.parent
        for line in table.read_text().splitlines()[1:]:
            expected, exit_code, _, arguments = line.split("\t")[:4]
            cases.append(DumpCase(run, table.parent / expected, int(exit_code), arguments.split(" ")))
    return cases


def partition_folders(*tops: Path) -> list[Path]:
    """Return the folders in `tops` that a broker would load."""
    return [
        path
        for top in tops
        for path in sorted(top.glob("*-*"))
        if path.is_dir() and path.name.rpartition("-")[2].isdigit() and any(path.glob("*.log"))
    ]


def log_folders() -> list[Path]:
    """Return the `log.dirs` of all runs after a clean shutdown."""
    return [path for run in RUNS for path in sorted((WHOLE / run).glob("**/data")) if path.parent.name != "before"]
