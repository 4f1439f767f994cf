"""Cost of code measured in function calls, which are the same on every machine, unlike seconds."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType


def count_calls(work: Callable[[], object], *, in_python: bool = False, under: str = "") -> int:
    """Return the number of calls in `work`.

    `in_python` excludes built-in functions; `under` limits the others to files whose path starts with it. Garbage
    collection is off meanwhile: Hypothesis registers callbacks for it.
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
