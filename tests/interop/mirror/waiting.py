"""How long does a test wait for what real brokers and clients do in their own time?"""

from __future__ import annotations

import time
from collections.abc import Callable

WITHIN_S = 60


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until `condition` holds; AssertionError if that takes too long."""
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline, f"{WITHIN_S} s were not enough for {what}"
        time.sleep(0.05)
