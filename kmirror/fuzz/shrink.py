"""Shrinking: search for a smaller frame with the same fault."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

SECONDS_MAX = 60.0
"""Time limit in seconds; the best result so far is returned. A frame that hangs is tried only a few times."""
TRIES_MAX = 2_000
STATEFUL_TRIES_MAX = 100
"""Fewer tries for a target with state, which starts from scratch each time."""


def shrink(
    data: bytes, reproduces: Callable[[bytes], bool], tries: int = TRIES_MAX, *, until: float = math.inf
) -> bytes:
    """Return the smallest frame found that `reproduces` accepts; `data` must be one.

    Ranges are removed, from half of the frame down to single bytes; then bytes become zero where possible. At most
    `tries` candidates are tried, none after `until` (monotonic clock).
    """
    left = tries
    deadline = min(time.monotonic() + SECONDS_MAX, until)

    def holds(candidate: bytes) -> bool:
        nonlocal left
        left = left - 1 if time.monotonic() < deadline else -1
        return left >= 0 and reproduces(candidate)

    size = max(1, len(data) // 2)
    while size and left > 0:
        at = 0
        is_smaller = False
        while at < len(data) and left > 0:
            candidate = data[:at] + data[at + size :]
            if holds(candidate):
                data, is_smaller = candidate, True
            else:
                at += size
        if not is_smaller or size > 1:
            size //= 2
    for at, octet in enumerate(data):
        if octet and left > 0:
            candidate = data[:at] + b"\0" + data[at + 1 :]
            if holds(candidate):
                data = candidate
    return data


def remove_unneeded(
    before: Sequence[bytes],
    reproduces: Callable[[Sequence[bytes]], bool],
    tries: int = STATEFUL_TRIES_MAX,
    *,
    until: float = math.inf,
) -> list[bytes]:
    """Return the frames without those found to be unneeded, in order; stops at `until` like `shrink`."""
    kept = list(before)
    if not kept or time.monotonic() >= until:
        return kept
    if reproduces(()):
        return []
    size = max(1, len(kept) // 2)
    while tries > 0:
        at = 0
        while at < len(kept) and tries > 0:
            if time.monotonic() >= until:
                return kept
            candidate = kept[:at] + kept[at + size :]
            tries -= 1
            if reproduces(candidate):
                kept = candidate
            else:
                at += size
        if size == 1:
            break
        size //= 2
    return kept
