"""Files with the plan of a history."""

from __future__ import annotations

from pathlib import Path

from kmirror.errors import UsageError
from kmirror.histories.plan import Plan
from kmirror.histories.plan_check import problem


def read_plan(file: Path) -> Plan:
    """Return the plan in a file; raises `UsageError` if there is none, or if it cannot be run."""
    try:
        plan = Plan.from_json(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: this is not a plan: {error}") from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None
    wrong = problem(plan)
    if wrong is not None:
        raise UsageError(f"{file}: {wrong}")
    return plan
