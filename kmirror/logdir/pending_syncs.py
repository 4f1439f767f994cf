"""Files and names of a log folder that are not safe from a power cut yet, if flushing is deferred.

A broker does not wait for its disk while it handles a request. New files are in the page cache, like its records, and
become safe with the next disk job, before any record of that partition counts as flushed. The new content of an
existing non-empty file waits for that job in memory; otherwise a power cut could leave neither version. If the process
dies before, the old content remains (Kafka's scheduler writes leader epochs in the same way).
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from kmirror.log.store import Chunk
from kmirror.logdir.checkpoints import read_if_present
from kmirror.logdir.files import replace_file, sync_folder, write_new


class PendingSyncs:
    """Folders under `top` (included) with names that are not safe yet, and the new files in each."""

    def __init__(self, top: Path, *, is_deferred: bool) -> None:
        self._top = top
        self._is_deferred = is_deferred
        self._lock = threading.Lock()
        self._folders: dict[Path, dict[str, None]] = {}
        self._replacing: dict[Path, bytes] = {}
        self._replaced: dict[Path, list[Path]] = {}
        """Folder to its files that may be deleted after its names are safe."""

    def mark_renamed(self, folder: Path) -> None:
        """Record that a name in `folder` was added, changed or removed."""
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
        """Return the last written content of a file, or None if it does not exist."""
        pending = self._replacing.get(path)
        return read_if_present(path) if pending is None else pending

    def delete_file(self, path: Path) -> None:
        """Delete a file, if it exists."""
        with self._lock:
            self._replacing.pop(path, None)
            path.unlink(missing_ok=True)

    def delete_replaced(self, path: Path, kept_path: Path) -> None:
        """Remove the file's name; its bytes are kept at `kept_path` until its replacement is safe."""
        if not self._is_deferred:
            path.unlink()
            return
        with self._lock:
            self._replaced.setdefault(path.parent, []).append(path.rename(kept_path))
            self._folders.setdefault(path.parent, {})

    def discard(self, folder: Path) -> None:
        """Record that a folder will be deleted: its content no longer matters."""
        with self._lock:
            self._folders.pop(folder, None)
            self._replaced.pop(folder, None)
            for path in [path for path in self._replacing if path.parent == folder]:
                del self._replacing[path]

    def sync(self, folder: Path | None = None) -> None:
        """Make the content and the name of `folder` safe, or without it everything. Raises OSError."""
        folders = [*self._folders] if folder is None else [folder]
        for each in [path for path in folders if path != self._top] + [self._top]:
            with self._lock:
                names = self._folders.pop(each, None)
                replaced = self._replaced.pop(each, [])
                replacing = {path: data for path, data in self._replacing.items() if path.parent == each}
            if names is None:
                continue
            try:
                for path, data in replacing.items():
                    self._replace(path, data)
                for name in names:
                    flush(each / name)
                flush(each)
                for path in replaced:
                    path.unlink(missing_ok=True)
            except OSError:
                with self._lock:
                    self._folders[each] = {**names, **self._folders.get(each, {})}
                    self._replaced[each] = [*replaced, *self._replaced.get(each, [])]
                raise

    def _replace(self, path: Path, data: bytes) -> None:
        """Replace the old file, unless it was deleted or written again in the meantime."""
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
    """Make a file's bytes, or the names in a folder, safe; does nothing if it no longer exists."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:  # Deleted, or renamed with its folder.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
