"""How much work is it? Counted in calls, which are the same on every machine; seconds are not."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType


def calls(work: Callable[[], object], *, in_python: bool = False, under: str = "") -> int:
    """Return how many functions `work` calls; `in_python` leaves built-in ones out, `under` files of other folders.

    No garbage is collected meanwhile: Hypothesis has functions called with that.
    """
    count = 0

    def on_event(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event == "call":
            count += frame.f_code.co_filename.startswith(under)
        elif event == "c_call":
            count += not in_python

    before = sys.getprofile()
    gc.disable()
    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count
