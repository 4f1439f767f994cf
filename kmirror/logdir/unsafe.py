"""What in a log folder is not safe from a power cut yet? Names and new files, where their owner flushes them later.

A broker does not wait for its disk while it handles a request: what it makes is in the page cache, as its records are,
and becomes safe with the next job for the disk, before any record of that partition counts as flushed. A file that
replaces one with content is safe at once, for else a power cut could leave neither.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from kmirror.log.store import Chunk
from kmirror.logdir.files import replace_file, sync_folder


class Unsafe:
    """The folders under `top`, itself among them, with names that are not safe, and the new files in each."""

    def __init__(self, top: Path, *, is_deferred: bool) -> None:
        self._top = top
        self._is_deferred = is_deferred
        self._lock = threading.Lock()
        self._folders: dict[Path, dict[str, None]] = {}

    def renamed_in(self, folder: Path) -> None:
        """Take in that a name in `folder` is new, other or gone."""
        if not self._is_deferred:
            sync_folder(folder)
            return
        with self._lock:
            self._folders.setdefault(folder, {})

    def write_file(self, path: Path, data: Chunk) -> None:
        """Create a file, or replace it as a whole."""
        if not self._is_deferred or (path.exists() and path.stat().st_size):
            replace_file(path, data, sync=self.renamed_in)
            return
        temporary = path.with_name(path.name + ".tmp")
        try:
            temporary.write_bytes(data)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        temporary.rename(path)
        with self._lock:
            self._folders.setdefault(path.parent, {})[path.name] = None

    def forget(self, folder: Path) -> None:
        """Take in that a folder is to be deleted: nothing in it matters any more."""
        with self._lock:
            self._folders.pop(folder, None)

    def make_safe(self, folder: Path | None = None) -> None:
        """Return when what is in `folder` is safe, and its own name; without one, everything. OSError if it is not."""
        wanted = [*self._folders] if folder is None else [folder]
        for each in [path for path in wanted if path != self._top] + [self._top]:
            with self._lock:
                names = self._folders.pop(each, None)
            if names is None:
                continue
            try:
                for name in names:
                    _flush(each / name)
                _flush(each)
            except OSError:
                with self._lock:
                    self._folders[each] = {**names, **self._folders.get(each, {})}
                raise


def _flush(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:  # Deleted since, or renamed with its folder.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
