"""Is there a smaller frame that shows the same?"""

from __future__ import annotations

from collections.abc import Callable

TRIES_MAX = 2_000


def shrink(data: bytes, shows_it: Callable[[bytes], bool], tries: int = TRIES_MAX) -> bytes:
    """Return the smallest frame found for which `shows_it` holds; `data` has to be one.

    Ranges go, from half of the frame down to single bytes, then what is left becomes zero where it may. It is tried
    `tries` times at most.
    """
    left = tries

    def holds(candidate: bytes) -> bool:
        nonlocal left
        left -= 1
        return shows_it(candidate)

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
