"""Execution of one history. Needs nothing but kmirror, so it runs anywhere."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any

from kmirror.histories.summary import as_row
from kmirror.histories.verdict import Exit, Outcome

RunSeed = Callable[..., Outcome]
"""`run_history`, called with `seed` and `profile`."""


def history_to_row(run: RunSeed, seed: int, profile: str) -> dict[str, Any]:
    """Run one history and return its row, with `cpu_seconds` of this process.

    An exception becomes part of the row, like a crash, so that the other histories continue.
    """
    began = time.process_time()
    try:
        row = as_row(run(seed=seed, profile=profile))
    except Exception as error:
        row = _raised(seed, profile, "".join(traceback.format_exception(error)))
    row["cpu_seconds"] = round(time.process_time() - began, 3)
    return row


def _raised(seed: int, profile: str, trace: str) -> dict[str, Any]:
    """Return the row of a history whose runner raised an exception."""
    return {
        "seed": seed, "profile": profile, "exit": int(Exit.CRASH), "verdict": Exit.CRASH.name.lower(), "anomalies": [],
        "accepted": [], "crash": trace, "steps": 0, "acked": 0, "read": 0, "digest": "", "events": 0,
        "virtual_seconds": 0.0, "plan": None,
    }  # fmt: skip
