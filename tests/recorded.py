"""Logs written by real brokers, and the expected results for them.

`tests/data/brokers.tar.xz` contains four complete runs of real clusters: log directories, the output of Kafka's dump
tool for each file (`expected/`), the records of a consumer (`records/`), and the brokers' offsets (`offsets.json`).

    kraft-4.3    Kafka 4.3.1, one node: codecs, timestamps, transactions, idempotence, compaction, retention, groups
    epochs-4.3   Kafka 4.3.1, three brokers: leaders killed in turn, an unclean election after which a replica truncated
    legacy-2.1   Kafka 2.1.1: message formats v0, v1 and v2, also several in one partition
    crash-4.3    Kafka 4.3.1: killed, file tails damaged (`before/`), then the broker's own recovery (`data/`)

Smaller samples are in `tests/data`, so that a failing test can be examined without unpacking the archive.
"""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parent / "data" / "brokers.tar.xz"
RUNS = ("kraft-4.3", "epochs-4.3", "legacy-2.1", "crash-4.3")


@cache
def recorded_runs() -> Path:
    """Return a folder with a subfolder for each of RUNS; it is unpacked once per process, and removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="kmirror-brokers-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(ARCHIVE) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.3 and earlier have none.
        archive.extractall(folder)
    return folder
