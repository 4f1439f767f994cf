"""Memory and time of a process, as Linux reports them; 0 where that is not available."""

from __future__ import annotations

from pathlib import Path


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    return _bytes(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return the peak resident memory of a process, in bytes."""
    return _bytes(pid, "VmHWM")


def reserved_bytes(pid: int) -> int:
    """Return the memory that a process has reserved for its data and stacks, used or not, in bytes."""
    return _bytes(pid, "VmData") + _bytes(pid, "VmStk")


def _bytes(pid: int, name: str) -> int:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), 0)
    except OSError:
        return 0


def runnable_seconds(pid: int) -> float:
    """Return the seconds that the current threads of a process ran, or waited for a free processor."""
    spent = 0
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            running, waiting, _ = thread.read_text(encoding="ascii").split()
        except (OSError, ValueError):
            continue  # The thread has ended.
        spent += int(running) + int(waiting)
    return spent / 1e9
