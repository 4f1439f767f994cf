"""Execution of one run of a sweep. Needs nothing but kmirror, so it runs anywhere."""

from __future__ import annotations

import json
import platform
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kmirror import __version__
from kmirror.experiments.failover import run
from kmirror.experiments.sweep_file import Run

OK, BROKEN, FAILED = "ok", "broken", "failed"
# The archive that kmirror was imported from, named by a digest of its content; empty if kmirror is installed.
PACKAGE = next((part for part in Path(__file__).parts if part.endswith(".zip")), "")


def provenance() -> dict[str, str]:
    """Return the columns that identify the program of a row."""
    return {"kmirror_version": __version__, "python_version": platform.python_version(), "package": PACKAGE}


def run_to_row(sweep: str, item: Run) -> dict[str, Any]:
    """Run one simulation and return its row; an exception becomes part of the row."""
    began = time.perf_counter()
    row: dict[str, Any] = {
        "run_id": item.run_id,
        "sweep": sweep,
        **asdict(item.options),
        **provenance(),
        "options_json": json.dumps(asdict(item.options), sort_keys=True),
    }
    try:
        outcome = run(item.options)
    except Exception as error:
        lines = traceback.format_exception(error)
        row |= {"status": FAILED, "error": "".join(lines), "broken": [f"{type(error).__name__}: {error}"]}
    else:
        figures = asdict(outcome.figures)
        figures["lag"] = [{"ms": ms, "records": records} for ms, records in outcome.figures.lag]
        figures["state_ms"] = sorted(outcome.figures.state_ms.items())
        status = BROKEN if outcome.broken else OK
        row |= figures | {"status": status, "broken": outcome.broken, "digest": outcome.digest}
    row["wall_ms"] = round((time.perf_counter() - began) * 1000)
    return row
