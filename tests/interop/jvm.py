"""JVMs that tests start: one command for all of them, and programs compiled once."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

SHORT_LIVED: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For programs that run for seconds: the second compiler would cost more than it saves."""
ARCHIVES: Final[dict[str, Path]] = {}
"""Class path to the archive of the classes that a broker loads from it (tests/interop/class_archive.py)."""


def java(class_path: str, program: str | Path, *options: str) -> list[str]:
    """Return the command of a main class or of a source file without a package; its arguments may follow."""
    archive = next((file for known, file in ARCHIVES.items() if class_path.startswith(known)), None)
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
