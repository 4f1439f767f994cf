"""Waits for asynchronous events of Kafka brokers and clients."""

from __future__ import annotations

import time
from collections.abc import Callable

WITHIN_S = 60


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until `condition` holds; AssertionError after a timeout."""
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline, f"{WITHIN_S} s were not enough for {what}"
        time.sleep(0.05)
