"""JVMs that tests start: one command for all of them, programs compiled once, and an archive of Kafka's classes.

Most JVMs here run for seconds, and half of that is the loading and verification of Kafka's classes. An archive of
loaded classes (class data sharing) halves the CPU time of a broker's start.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

ARCHIVES: Final = Path(__file__).parents[2] / "build" / "jvm"
SHORT_LIVED: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For programs that run for seconds: the second compiler would cost more than it saves."""


def java(class_path: str, program: str | Path, *options: str) -> list[str]:
    """Return the command of a main class or of a source file without a package; its arguments may follow."""
    archive = archive_of(class_path)
    if isinstance(program, Path):
        class_path, program = f"{class_path}{os.pathsep}{compile_jar(class_path, program)}", program.stem
    # Without -Xlog:disable a JVM prints to stdout that an archive does not fit, for example after an update of Java.
    shared = [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"] if archive is not None else []
    return ["java", *SHORT_LIVED, *shared, *options, "-cp", class_path, program]


@cache
def compile_jar(class_path: str, *sources: Path) -> Path:
    """Return a JAR with the classes of these sources, compiled once; it is removed when this process ends.

    An archive of classes fits any class path that begins with its own, if all others are JARs too.
    """
    folder = Path(tempfile.mkdtemp(prefix="kmirror-classes-"))
    atexit.register(shutil.rmtree, folder)
    subprocess.run(["javac", "-d", str(folder), "-cp", class_path, *map(str, sources)], check=True)
    jar = folder / "program.jar"
    with zipfile.ZipFile(jar, "w") as file:
        for path in sorted(folder.rglob("*.class")):
            file.write(path, path.relative_to(folder))
    return jar


def archive_of(class_path: str) -> Path | None:
    """Return the archive for a class path that begins with the one it was made for, or None."""
    return next((_path(known) for known in _made if class_path.startswith(known)), None)


def make_archive(class_path: str) -> None:
    """Make an archive of the classes that a broker loads, unless an earlier run did; `java` uses it from then on.

    A test run has several processes: the first makes the archive, and the others wait for it.
    """
    from tests.interop.clients.real import real_clusters  # It starts its brokers with `java`.

    path = _path(class_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            new = path.with_suffix(".new")
            options = (f"-XX:ArchiveClassesAtExit={new}",)
            with (
                tempfile.TemporaryDirectory() as folder,
                real_clusters(class_path, Path(folder), (1,), options=options),
            ):
                pass
            new.rename(path)
    _made.append(class_path)


_made: Final[list[str]] = []
"""Class paths with an archive, in this process."""


@cache
def _path(class_path: str) -> Path:
    version = subprocess.run(["java", "-version"], capture_output=True, check=True).stderr
    return ARCHIVES / f"{hashlib.sha256(version + class_path.encode()).hexdigest()[:16]}.jsa"
