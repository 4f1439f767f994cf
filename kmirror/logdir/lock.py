"""Lock of a log folder against other processes: `.lock`, as Kafka's brokers lock each entry of `log.dirs`.

It is a lock of the operating system, so it ends with the process in any case.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from kmirror.errors import UsageError

LOCK = ".lock"
_locked_here: dict[Path, None] = {}
"""Lock files of this process: the system's lock does not exclude the same process."""


class FolderLock:
    """Lock of one folder, from `lock_folder` to `release`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Unlock the folder; call only once."""
        self._path.unlink(missing_ok=True)
        del _locked_here[self._path]
        os.close(self._descriptor)


def lock_folder(folder: Path) -> FolderLock:
    """Lock an existing folder; UsageError if a broker of this or another process has it open."""
    path = (folder / LOCK).resolve()
    if path in _locked_here:
        raise _in_use(folder)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise _in_use(folder) from None
    _locked_here[path] = None
    return FolderLock(path, descriptor)


def _in_use(folder: Path) -> UsageError:
    return UsageError(f"{folder}: in use by a Kafka or kmirror broker: stop the broker, or use another folder")
