"""Memory that a run may use on this machine."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
# Memory limit of the container, in cgroups version 2 and 1; without a limit the file is missing or contains `max`.
_CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def allowed_bytes() -> int | None:
    """Return four fifths of the bytes available to this process; None if the system does not report them."""
    limits = [limit for limit in (_available(), *map(_container_limit, _CONTAINER_LIMITS)) if limit]
    return min(limits) * 4 // 5 if limits else None


def size_in_words(count: int) -> str:
    """Return a number of bytes as text: `1.4 GiB`."""
    power = min((max(count, 1).bit_length() - 1) // 10, len(_UNITS) - 1)
    if power == 0:
        return f"{count} {_UNITS[0]}"
    return f"{count / (1 << 10 * power):.1f} {_UNITS[power]}"


def _available() -> int | None:
    """Return the memory available without swapping, as Linux reports it; on other systems half of the total memory."""
    try:
        for line in _MEMINFO.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (OSError, ValueError, AttributeError):
        return None


def _container_limit(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None
