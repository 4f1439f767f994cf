"""Plants faults one after the other into copies of the project, and keeps what the finders say in a file of JSON lines.

A result is kept as soon as it is there, and is not asked for again: a campaign can be stopped at any time.
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
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.faults.finders import FINDERS, Finding
from benchmarks.faults.rows import ROOT, Fault

SURE_OF_NEW_MTIME_S = 10
"""Python compares the time of a source in whole seconds with that in its cached bytecode."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one finder said of one fault."""

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
    """Faults, finders, and where the results go."""

    def __init__(self, results: Path, *, histories: int, tell: Callable[[str], None]) -> None:
        self._path = results
        self._histories = histories
        self._tell = tell
        self._lock = threading.Lock()
        self._known = {(row.fault, row.finder): row for row in read_results(results)}
        self._commit = _git("rev-parse", "--short", "HEAD").strip()

    def run(self, faults: Sequence[Fault], finders: Sequence[str], *, jobs: int, until_found: bool) -> None:
        """Ask the finders about each fault; with `until_found` only up to the first that finds it."""
        with tempfile.TemporaryDirectory(prefix="kmirror-faults-") as folder:
            copies = [Path(folder, str(number)) for number in range(jobs)]
            for copy in copies:
                copy_project(copy)
            free = list(copies)

            def one(fault: Fault) -> None:
                with self._lock:
                    copy = free.pop()
                try:
                    self._ask(copy, fault, finders, until_found=until_found)
                finally:
                    with self._lock:
                        free.append(copy)

            with ThreadPoolExecutor(jobs) as pool:
                for _ in pool.map(one, faults):
                    pass

    def _ask(self, copy: Path, fault: Fault, finders: Sequence[str], *, until_found: bool) -> None:
        with planted(copy, fault):
            for name in finders:
                known = self._known.get((fault.name, name))
                if known is None:
                    began = time.monotonic()
                    finding = FINDERS[name](copy, fault, self._histories)
                    known = self._keep(fault, name, finding, time.monotonic() - began)
                if known.found and until_found:
                    return

    def _keep(self, fault: Fault, finder: str, finding: Finding, seconds: float) -> Result:
        result = Result(fault.name, finder, finding.found, finding.after, round(seconds, 1), self._commit)
        with self._lock:
            self._known[fault.name, finder] = result
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            after = f" after {finding.after}" if finding.after else ""
            self._tell(f"{fault.name}: {finder}: {finding.found or 'not found'}{after} ({seconds:.0f} s)")
        return result


@contextmanager
def planted(project: Path, fault: Fault) -> Iterator[None]:
    """Put a fault into a copy of the project, and take it out again."""
    path = project / fault.file
    source, stat = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(fault.applied(source), encoding="utf-8")
    os.utime(path, (stat.st_atime, stat.st_mtime + SURE_OF_NEW_MTIME_S))
    try:
        yield
    finally:
        path.write_text(source, encoding="utf-8")
        os.utime(path, (stat.st_atime, stat.st_mtime))


def copy_project(to: Path) -> None:
    """Copy the files that git knows, as they are in the working tree."""
    for name in _git("ls-files", "-z").split("\0"):
        if name and (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
