"""Memory for logs without a disk: address space that is reserved at once and filled page by page.

A segment's buffer is contiguous, so growing it would copy it: for a segment of 1 GiB that takes half a second, in which
no request is served. Reserved pages that are not written cost nothing.
"""

from __future__ import annotations

import mmap
from typing import Final

from kmirror.log.disk import MemoryDisk
from kmirror.logdir.format import random_uuid

RESERVED: Final = 1 << 30
"""Bytes reserved for a large segment: the default of `log.segment.bytes`."""
LARGE: Final = 1 << 20
"""Minimum buffer size in bytes that is reserved; most logs in tests stay smaller."""
MAP_NORESERVE: Final = 0x4000 if hasattr(mmap, "MADV_HUGEPAGE") else 0
"""Flag of Linux, for which Python has no constant."""


def allocate(size: int) -> bytearray | memoryview:
    """Return a buffer of at least `size` bytes."""
    if size < LARGE:
        return bytearray(size)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    try:
        return memoryview(mmap.mmap(-1, max(size, RESERVED), flags=flags))
    except OSError:  # The system counts reserved memory as used.
        return bytearray(size)


def memory_disk() -> MemoryDisk:
    """Return a disk in memory; its large segments grow without copies up to `RESERVED` bytes."""
    return MemoryDisk(directory_id=random_uuid(), allocate=allocate)
