"""Finders of faults: histories, tests, scopes of the explorer, targets of the fuzzer. Each runs a command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.rows import Fault

FIRST_SEED = 1_000
SCOPES = ("tiny", "elections", "source-unclean", "destination-unclean", "again", "missed-two-unclean", "partial")
TARGETS = (("decoder", 20_000), ("batch", 20_000), ("log", 3_000), ("node", 10_000))
FOUND_EXITS = (3, 4, 5)
"""Exit codes of `kmirror explore` and `kmirror fuzz` that mean a finding."""
SECONDS_MAX = 1_200
DOES_NOT_END = "does not end"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one finder for a fault."""

    found: str
    """Names of checkers, the test, the scope or the target; empty if the fault was not found."""
    after: int
    """Histories run until it was found; otherwise the number that ran the changed statement; 0 for other finders."""


Finder = Callable[[Path, Fault, Sequence[int]], Finding]
"""(project with the fault, the fault, seeds of the histories that reach it) -> finding"""


@dataclass(frozen=True, slots=True)
class Run:
    """One history."""

    seed: int
    found: str
    """Names of checkers, or the way in which the history ended; empty if it is clean."""
    reached: list[str]
    """Names of the faults whose probes were reached."""


def run_histories(project: Path, seeds: Sequence[int], profile: str = "full") -> list[Run]:
    """Run histories in a copy of the project, up to the first that is not clean."""
    if not seeds:
        return []
    completed = _run(project, ["benchmarks.faults.histories", profile, *map(str, seeds)], seconds_max=300 * len(seeds))
    if completed is None:
        return [Run(seeds[-1], DOES_NOT_END, [])]
    runs = [Run(**json.loads(line)) for line in completed.stdout.splitlines()]
    is_complete = len(runs) == len(seeds) or (runs and runs[-1].found)
    if completed.returncode or not is_complete:
        runs.append(Run(seeds[len(runs)], f"exit {completed.returncode}: {_last_line(completed.stderr)}", []))
    return runs


def histories(project: Path, fault: Fault, seeds: Sequence[int]) -> Finding:
    """Run the histories that reach the fault, up to the first that is not clean."""
    for row in run_histories(project, seeds):
        if row.found:
            return Finding(row.found, row.seed - FIRST_SEED + 1)
    return Finding("", len(seeds))


def tests(project: Path, fault: Fault, seeds: Sequence[int]) -> Finding:
    """Run the tests of the fault's file, then those of its package, up to the first that fails."""
    package = fault.file.split("/")[1]
    folders = [f"tests/{kind}/{package}" for kind in ("unit", "property", "golden")]
    folders = [folder for folder in folders if (project / folder).is_dir()]
    for paths in (_tests_of_file(project, fault, folders), folders):
        finding = _pytest(project, paths)
        if finding.found:
            return finding
    return Finding("", 0)


def _tests_of_file(project: Path, fault: Fault, folders: Sequence[str]) -> list[str]:
    """Return the test files that are named after the fault's file, or after its subpackage."""
    *_, subpackage, name = Path(fault.file).with_suffix("").parts
    found = [
        path.relative_to(project).as_posix()
        for folder in folders
        for path in sorted((project / folder).rglob("test_*.py"))
        if name in path.stem or path.parent.name == subpackage != Path(folder).name
    ]
    return sorted(found, key=lambda path: name not in path)


def simulator(project: Path, fault: Fault, seeds: Sequence[int]) -> Finding:
    """Run the tests in the simulator except histories, up to the first that fails."""
    return _pytest(project, ["tests/sim", "--ignore=tests/sim/histories/test_history_seeds.py"])


def explorer(project: Path, fault: Fault, seeds: Sequence[int]) -> Finding:
    """Search scopes that take seconds, up to the first counter-example."""
    for scope in SCOPES:
        completed = _run(project, ["kmirror", "explore", "--scope", scope])
        if completed is None or completed.returncode:
            return Finding(f"scope {scope}", 0)
    return Finding("", 0)


def fuzzer(project: Path, fault: Fault, seeds: Sequence[int]) -> Finding:
    """Send drawn frames to targets of the fuzzer, up to the first finding."""
    for target, frames in TARGETS:
        completed = _run(project, ["kmirror", "fuzz", target, "--seed", "1", "--frames", str(frames), "--no-shrink"])
        if completed is None or completed.returncode in FOUND_EXITS:
            return Finding(f"target {target}", 0)
    return Finding("", 0)


FINDERS: dict[str, Finder] = {
    "histories": histories,
    "tests": tests,
    "explorer": explorer,
    "fuzzer": fuzzer,
    "simulator": simulator,
}
"""Name to finder; the first two run for every fault, the others for faults that these did not find."""


def _pytest(project: Path, paths: Sequence[str]) -> Finding:
    if not paths:
        return Finding("", 0)
    completed = _run(project, ["pytest", "-q", "-x", "-p", "no:cacheprovider", *paths])
    if completed is None:
        return Finding(DOES_NOT_END, 0)
    if completed.returncode == 0:
        return Finding("", 0)
    match = _FAILED.search(completed.stdout)
    return Finding(
        match[1] if match else f"exit {completed.returncode}: {_last_line(completed.stdout + completed.stderr)}", 0
    )


def _run(
    project: Path, command: list[str], *, seconds_max: float = SECONDS_MAX
) -> subprocess.CompletedProcess[str] | None:
    """Run a module of the project; return None if it exceeded its time."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(project)}
    try:
        return subprocess.run(
            [sys.executable, "-m", *command], cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=seconds_max, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


def _last_line(text: str) -> str:
    return (text.rstrip().splitlines() or [""])[-1][:100]
