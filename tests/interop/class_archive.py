"""Archive of the classes that a Kafka broker loads (class data sharing): it halves the CPU time of a broker's start.

Most JVMs of the tests run for seconds, and half of that is the loading and verification of Kafka's classes.
"""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tests.interop.clients.real import real_clusters
from tests.interop.jvm import ARCHIVES

FOLDER: Final = Path(__file__).parents[2] / "build" / "jvm"


def make_archive(class_path: str) -> None:
    """Make the archive of a class path, unless an earlier run did; `java` uses it from then on.

    A test run has several processes: the first makes the archive, and the others wait for it.
    """
    version = subprocess.run(["java", "-version"], capture_output=True, check=True).stderr
    path = FOLDER / f"{hashlib.sha256(version + class_path.encode()).hexdigest()[:16]}.jsa"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            new = path.with_suffix(".new")
            with tempfile.TemporaryDirectory() as folder:
                options = (f"-XX:ArchiveClassesAtExit={new}",)
                with real_clusters(class_path, Path(folder), (1,), options=options):
                    pass
            new.rename(path)
    ARCHIVES[class_path] = path
