"""Reading files of any size by memory mapping.

`release_before` releases pages that are no longer needed, so reading gigabytes keeps only a window of them in memory.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kmirror.logdir.faults import Unreadable, read_error

_WINDOW: Final = 16 * 1024 * 1024
_CAN_RELEASE: Final = hasattr(mmap, "MADV_DONTNEED")
_CAN_POPULATE: Final = sys.platform == "linux"
_POPULATE_READ: Final = 22  # MADV_POPULATE_READ of Linux 5.14; Python has no name for it.


class MappedFile:
    """A file as one read-only view; `size` is the size when it was opened."""

    __slots__ = ("_map", "_prefetched", "_released", "path", "size", "view")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._map: mmap.mmap | None = None
        self._prefetched = self._released = 0
        with open(path, "rb", opener=_open_nonblocking) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
            self.size = status.st_size
            if self.size:
                self._map = mmap.mmap(file.fileno(), self.size, access=mmap.ACCESS_READ)
        self.view = memoryview(self._map or b"")

    def prefetch(self, position: int) -> None:
        """Announce that everything from `position` on will be read: mapping a window at once is faster than by page."""
        if self._map is None or not self._prefetched <= position < self.size or not _CAN_POPULATE:
            return
        begin = position - position % mmap.PAGESIZE
        self._prefetched = begin + _WINDOW
        try:
            self._map.madvise(_POPULATE_READ, begin, min(self.size - begin, _WINDOW))
        except OSError:
            pass  # Linux before 5.14, or an unreadable page: reading it will raise.

    def release_before(self, position: int) -> None:
        """Announce that nothing before `position` is needed soon; it stays readable."""
        if self._map is None or position - self._released < _WINDOW or not _CAN_RELEASE:
            return
        end = position - position % mmap.PAGESIZE
        self._map.madvise(mmap.MADV_DONTNEED, self._released, end - self._released)
        self._released = end

    def close(self) -> None:
        """Close the file; views still in use keep the mapping open."""
        try:
            self.view.release()
            if self._map is not None:
                self._map.close()
        except BufferError:
            pass


class WholeFile:
    """A file read into memory, with the interface of `MappedFile`."""

    __slots__ = ("data", "path", "size", "view")

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self.size = len(data)
        self.view = memoryview(data)

    def prefetch(self, position: int) -> None:
        """Do nothing: the bytes are in memory."""

    def release_before(self, position: int) -> None:
        """Do nothing: the bytes are kept."""


def _open_nonblocking(path: str, flags: int) -> int:
    """Open without blocking: a plain `open` of a pipe waits for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def mapped(path: Path) -> Iterator[MappedFile]:
    """Yield the file at `path`; raises `Unreadable` if it cannot be opened."""
    try:
        found = MappedFile(path)
    except FileNotFoundError:
        raise Unreadable(path, "no such file") from None
    except (OSError, ValueError) as error:
        raise read_error(error, path) from None
    try:
        yield found
    finally:
        found.close()


def map_file(path: str | Path) -> memoryview:
    """Return a file's bytes as a view that keeps the mapping alive; raises `OSError` like `open`."""
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
