"""How much memory does a process have?"""

from __future__ import annotations


def resident_bytes(pid: int) -> int:
    """Return the memory that a process has, 0 where that cannot be seen."""
    return _bytes(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process has had since it began, 0 where that cannot be seen."""
    return _bytes(pid, "VmHWM")


def _bytes(pid: int, name: str) -> int:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), 0)
    except OSError:
        return 0
