"""Where do the bytes of a log in memory lie? In address space that is reserved whole, and filled page by page.

A segment's buffer is one piece, so one that has to grow is copied: for a segment of a gibibyte that is half a second in
which nobody is served. What is reserved and not written to costs nothing.
"""

from __future__ import annotations

import mmap
from typing import Final

from kmirror.log.disk import MemoryDisk
from kmirror.logdir.format import random_uuid

RESERVED: Final = 1 << 30
"""Bytes for a segment that has come to be large: `log.segment.bytes` unless it is set."""
LARGE: Final = 1 << 20
"""Most logs of a test never come to this."""
MAP_NORESERVE: Final = 0x4000 if hasattr(mmap, "MADV_HUGEPAGE") else 0
"""Linux's; Python has no name for it."""


def allocate(size: int) -> bytearray | memoryview:
    """Return a buffer of at least `size` bytes."""
    if size < LARGE:
        return bytearray(size)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    try:
        return memoryview(mmap.mmap(-1, max(size, RESERVED), flags=flags))
    except OSError:  # A system that counts what is reserved as used.
        return bytearray(size)


def memory_disk() -> MemoryDisk:
    """Return a disk in memory whose large segments are not copied as they grow."""
    return MemoryDisk(directory_id=random_uuid(), allocate=allocate)
