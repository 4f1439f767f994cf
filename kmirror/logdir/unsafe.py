"""What in a log folder is not safe from a power cut yet? Names and new files, where their owner flushes them later.

A broker does not wait for its disk while it handles a request: what it makes is in the page cache, as its records are,
and becomes safe with the next job for the disk, before any record of that partition counts as flushed. What is to
replace a file with content waits for that job in memory, for else a power cut could leave neither: a process that dies
before leaves the old one (Kafka's leader epochs are written by its scheduler in the same way).
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from kmirror.log.store import Chunk
from kmirror.logdir.checkpoints import read_if_present
from kmirror.logdir.files import replace_file, sync_folder, write_new


class Unsafe:
    """The folders under `top`, itself among them, with names that are not safe, and the new files in each."""

    def __init__(self, top: Path, *, is_deferred: bool) -> None:
        self._top = top
        self._is_deferred = is_deferred
        self._lock = threading.Lock()
        self._folders: dict[Path, dict[str, None]] = {}
        self._replacing: dict[Path, bytes] = {}
        self._replaced: dict[Path, list[Path]] = {}
        """Folder to the files in it that may go once its names are safe."""

    def renamed_in(self, folder: Path) -> None:
        """Take in that a name in `folder` is new, other or gone."""
        if not self._is_deferred:
            sync_folder(folder)
            return
        with self._lock:
            self._folders.setdefault(folder, {})

    def write_file(self, path: Path, data: Chunk) -> None:
        """Create a file, or replace it as a whole."""
        if not self._is_deferred:
            replace_file(path, data)
            return
        if path in self._replacing or (path.exists() and path.stat().st_size):
            with self._lock:
                self._replacing[path] = bytes(data)
                self._folders.setdefault(path.parent, {})
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

    def read_file(self, path: Path) -> bytes | None:
        """Return a file as it was written last, None where there is none."""
        waiting = self._replacing.get(path)
        return read_if_present(path) if waiting is None else waiting

    def delete_file(self, path: Path) -> None:
        """Remove a file; no such file is fine."""
        with self._lock:
            self._replacing.pop(path, None)
            path.unlink(missing_ok=True)

    def delete_replaced(self, path: Path, aside: Path) -> None:
        """Have no file of this name any more; its bytes lie `aside` until what takes its place is safe."""
        if not self._is_deferred:
            path.unlink()
            return
        with self._lock:
            self._replaced.setdefault(path.parent, []).append(path.rename(aside))
            self._folders.setdefault(path.parent, {})

    def forget(self, folder: Path) -> None:
        """Take in that a folder is to be deleted: nothing in it matters any more."""
        with self._lock:
            self._folders.pop(folder, None)
            self._replaced.pop(folder, None)
            for path in [path for path in self._replacing if path.parent == folder]:
                del self._replacing[path]

    def make_safe(self, folder: Path | None = None) -> None:
        """Return when what is in `folder` is safe, and its own name; without one, everything. OSError if it is not."""
        wanted = [*self._folders] if folder is None else [folder]
        for each in [path for path in wanted if path != self._top] + [self._top]:
            with self._lock:
                names = self._folders.pop(each, None)
                gone = self._replaced.pop(each, [])
                replacing = {path: data for path, data in self._replacing.items() if path.parent == each}
            if names is None:
                continue
            try:
                for path, data in replacing.items():
                    self._replace(path, data)
                for name in names:
                    flush(each / name)
                flush(each)
                for path in gone:
                    path.unlink(missing_ok=True)
            except OSError:
                with self._lock:
                    self._folders[each] = {**names, **self._folders.get(each, {})}
                    self._replaced[each] = [*gone, *self._replaced.get(each, [])]
                raise

    def _replace(self, path: Path, data: bytes) -> None:
        """Put a file in the place of the old one, unless it was deleted or written again meanwhile."""
        temporary = path.with_name(path.name + ".tmp")
        try:
            write_new(temporary, data)
        except FileNotFoundError:  # Its folder was set aside.
            return
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        with self._lock:
            if self._replacing.get(path) is data:
                temporary.rename(path)
                del self._replacing[path]
            else:
                temporary.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Return when a file's bytes, or the names in a folder, are safe; one that is gone needs nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:  # Deleted since, or renamed with its folder.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
