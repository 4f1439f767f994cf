"""Plants faults one by one into copies of the project, and stores the results of the finders in a file of JSON lines.

A result is stored immediately and is not computed again, so a campaign can be stopped at any time. If the number of
histories is raised, faults that were not found get only the additional ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.faults.finders import FINDERS, FIRST_SEED, Finding, Run, run_histories
from benchmarks.faults.reach import insert_probes, seeds_by_fault
from benchmarks.faults.rows import ROOT, Fault

MTIME_STEP_S = 10
"""Python compares a source's time with that in its cached bytecode in whole seconds."""


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one finder for one fault."""

    fault: str
    finder: str
    found: str
    after: int
    seconds: float
    commit: str


def read_results(path: Path) -> list[Result]:
    """Return the results in a file of JSON lines; none if there is no such file."""
    if not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


class Campaign:
    """Runs the finders on faults, and stores the results.

    A history that never runs the changed statement of a fault is the same with the fault, and is not run again.
    """

    def __init__(self, results: Path, *, histories: int, report_line: Callable[[str], None]) -> None:
        self._path = results
        self._histories = histories
        self._report_line = report_line
        self._lock = threading.Lock()
        self._known = {(row.fault, row.finder): row for row in read_results(results)}
        self.commit = commit()
        self._seeds: dict[str, list[int]] = {}

    def measure_reach(self, faults: Sequence[Fault], *, jobs: int) -> list[Run]:
        """Run all histories without a fault, and record which faults each of them reaches.

        Returns the histories that are not clean; if there are any, nothing is recorded. The records of a commit are
        stored next to the results.
        """
        path = self._path.with_suffix(".reach.json")
        reach = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        key = {"commit": self.commit, "faults": [fault.name for fault in faults]}
        if reach.get("histories", 0) < self._histories or {name: reach[name] for name in key} != key:
            runs, always_reached = self._run_probed(faults, jobs)
            unclean = [run for run in runs if run.found]
            if unclean:
                return unclean
            seeds = seeds_by_fault({run.seed: run.reached for run in runs}, always_reached)
            reach = {**key, "histories": self._histories, "seeds": seeds}
            path.write_text(json.dumps(reach), encoding="utf-8")
        end = FIRST_SEED + self._histories
        self._seeds = {name: [seed for seed in seeds if seed < end] for name, seeds in reach["seeds"].items()}
        return []

    def _run_probed(self, faults: Sequence[Fault], jobs: int) -> tuple[list[Run], list[str]]:
        """Run all histories with probes; return them, and the names of the faults that all of them reach."""
        seeds = range(FIRST_SEED, FIRST_SEED + self._histories)
        always_reached = []
        with tempfile.TemporaryDirectory(prefix="kmirror-faults-") as folder, ExitStack() as probes:
            copy = Path(folder)
            copy_project(copy)
            for name in dict.fromkeys(fault.file for fault in faults):
                path = copy / name
                rows = [fault for fault in faults if fault.file == name]
                text, at_import = insert_probes(path.read_text(encoding="utf-8"), rows)
                probes.enter_context(replace_file(path, text))
                always_reached += at_import
            with ThreadPoolExecutor(jobs) as pool:
                parts = list(pool.map(lambda job: run_histories(copy, seeds[job::jobs]), range(jobs)))
        return [run for part in parts for run in part], always_reached

    def run(self, faults: Sequence[Fault], finders: Sequence[str], *, jobs: int, until_found: bool) -> list[Result]:
        """Run the finders on each fault; with `until_found` only up to the first that finds it.

        Returns the results that are findings.
        """
        with tempfile.TemporaryDirectory(prefix="kmirror-faults-") as folder:
            copies = [Path(folder, str(number)) for number in range(jobs)]
            for copy in copies:
                copy_project(copy)
            free_copies = list(copies)

            def run_fault(fault: Fault) -> None:
                with self._lock:
                    copy = free_copies.pop()
                try:
                    self._run_finders(copy, fault, finders, until_found=until_found)
                finally:
                    with self._lock:
                        free_copies.append(copy)

            with ThreadPoolExecutor(jobs) as pool:
                for _ in pool.map(run_fault, faults):
                    pass
        known = (self._known.get((fault.name, name)) for fault in faults for name in finders)
        return [row for row in known if row is not None and row.found]

    def _run_finders(self, copy: Path, fault: Fault, finders: Sequence[str], *, until_found: bool) -> None:
        with plant_fault(copy, fault):
            for name in finders:
                known = self._known.get((fault.name, name))
                seeds = self._seeds.get(fault.name, []) if name == "histories" else []
                if known is None or (not known.found and known.after < len(seeds)):
                    first = known.after if known is not None else 0
                    started_at = time.monotonic()
                    finding = FINDERS[name](copy, fault, seeds[first:])
                    if not finding.found:
                        finding = Finding("", first + finding.after)
                    known = self._store_result(fault, name, finding, time.monotonic() - started_at)
                if known.found and until_found:
                    return

    def _store_result(self, fault: Fault, finder: str, finding: Finding, seconds: float) -> Result:
        result = Result(fault.name, finder, finding.found, finding.after, round(seconds, 1), self.commit)
        with self._lock:
            self._known[fault.name, finder] = result
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            after = f" after {finding.after}" if finding.after else ""
            self._report_line(f"{fault.name}: {finder}: {finding.found or 'not found'}{after} ({seconds:.0f} s)")
        return result


@contextmanager
def plant_fault(project: Path, fault: Fault) -> Iterator[None]:
    """Plant a fault in a copy of the project, and remove it on exit."""
    path = project / fault.file
    with replace_file(path, fault.apply_to(path.read_text(encoding="utf-8"))):
        yield


@contextmanager
def replace_file(path: Path, text: str) -> Iterator[None]:
    """Replace a file's text, and restore it on exit."""
    source, stat = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, (stat.st_atime, stat.st_mtime + MTIME_STEP_S))
    try:
        yield
    finally:
        path.write_text(source, encoding="utf-8")
        os.utime(path, (stat.st_atime, stat.st_mtime))


def copy_project(target: Path) -> None:
    """Copy the files that git knows, as they are in the working tree."""
    for name in _git("ls-files", "-z").split("\0"):
        if name and (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def commit() -> str:
    """Return the abbreviated id of the current commit."""
    return _git("rev-parse", "--short", "HEAD").strip()


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
