"""How much memory and time does a process take? As Linux tells it; 0 where that cannot be seen."""

from __future__ import annotations

from pathlib import Path


def resident_bytes(pid: int) -> int:
    """Return the memory that a process has."""
    return _bytes(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process has had since it began."""
    return _bytes(pid, "VmHWM")


def reserved_bytes(pid: int) -> int:
    """Return the memory that a process has asked for, used or not: of its data and stacks."""
    return _bytes(pid, "VmData") + _bytes(pid, "VmStk")


def _bytes(pid: int, name: str) -> int:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), 0)
    except OSError:
        return 0


def busy_seconds(pid: int) -> float:
    """Return how long the threads that a process has were on a processor, or waited for one that was free."""
    spent = 0
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            running, waiting, _ = thread.read_text(encoding="ascii").split()
        except (OSError, ValueError):
            continue  # The thread has ended meanwhile.
        spent += int(running) + int(waiting)
    return spent / 1e9
