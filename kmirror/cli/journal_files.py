"""Where does `kmirror serve --journal DIR` write? One file for each start of a node: `kafka-1.1.journal`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from kmirror.errors import UsageError

SUFFIX = ".journal"


class JournalFiles:
    """Journals in a folder, each in a file of its own; those that are there stay.

    Each entry is handed to the system as it comes, so a process that is killed loses no more than the one that it
    writes.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"no journal can be written to {folder}: {error.strerror}") from None
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}

    def open(self, process: str) -> Callable[[bytes], object]:
        """Begin a journal of a process that starts, and end the one of its former start."""
        self._end(process)
        number = 1
        while True:
            try:
                # For its owner alone: it has the configs of mirrors in it, with their passwords.
                path = self._folder / f"{process}.{number}{SUFFIX}"
                path.touch(0o600, exist_ok=False)
                file = path.open("ab", buffering=0)
                break
            except FileExistsError:
                number += 1
        self._files[process] = file

        def write(data: bytes) -> None:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]

        return write

    def _end(self, process: str) -> None:
        file = self._files.pop(process, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """End all journals."""
        for process in list(self._files):
            self._end(process)
