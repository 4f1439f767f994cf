"""Version ranges as Python expressions over `version`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from codegen.versions import Versions

T = TypeVar("T")


def condition(versions: Versions, context: Versions) -> str | None:
    """Return the test for `versions`, given that `version` is in `context`: "" if always true, None if never."""
    common = versions.intersect(context)
    if not common:
        return None
    needs_low_test, needs_high_test = common.low > context.low, common.high < context.high
    if needs_low_test and needs_high_test:
        if common.low == common.high:
            return f"version == {common.low}"
        return f"{common.low} <= version <= {common.high}"
    if needs_low_test:
        return f"version >= {common.low}"
    if needs_high_test:
        return f"version <= {common.high}"
    return ""


def segments(versions: Versions, value_of: Callable[[int], T]) -> list[tuple[Versions, T]]:
    """Return the longest runs of versions for which `value_of` returns the same value."""
    found: list[tuple[Versions, T]] = []
    for version in versions:
        value = value_of(version)
        if found and found[-1][1] == value:
            found[-1] = (Versions(found[-1][0].low, version), value)
        else:
            found.append((Versions(version, version), value))
    return found


def choice(versions: Versions, value_of: Callable[[int], str]) -> str:
    """Return one expression that gives `of(version)` for each of `versions`, newest first."""
    parts = segments(versions, value_of)
    words = [f"{value} if version >= {run.low}" for run, value in reversed(parts[1:])]
    return " else ".join([*words, parts[0][1]])
