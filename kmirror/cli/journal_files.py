"""Files of `kmirror serve --journal DIR`: one for each start of a node, such as `kafka-1.1.journal`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from kmirror.errors import UsageError

SUFFIX = ".journal"


class JournalFiles:
    """Journals in a folder, each in a new file; existing files stay.

    Each entry is passed to the operating system at once, so a killed process loses at most the entry that it is
    writing.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write journals to {folder}: {error.strerror}") from None
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}

    def open(self, process: str) -> Callable[[bytes], object]:
        """Begin a journal for a process that starts, and end that of its previous start."""
        self._close_file(process)
        number = 1
        while True:
            try:
                # Readable for its owner only: it has the configs of mirrors, with their passwords.
                path = self._folder / f"{process}.{number}{SUFFIX}"
                path.touch(0o600, exist_ok=False)
                file = path.open("ab", buffering=0)
                break
            except FileExistsError:
                number += 1
        self._files[process] = file

        def write(data: bytes) -> None:
            remaining = memoryview(data)
            while remaining:
                remaining = remaining[file.write(remaining) :]

        return write

    def _close_file(self, process: str) -> None:
        file = self._files.pop(process, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """End all journals."""
        for process in list(self._files):
            self._close_file(process)
