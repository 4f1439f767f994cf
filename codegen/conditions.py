"""Version ranges as Python expressions over `version`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from codegen.versions import Versions

T = TypeVar("T")


def condition(versions: Versions, context: Versions) -> str | None:
    """Return the test for `versions`, given that `version` is in `context`: "" if always true, None if never."""
    inside = versions.intersect(context)
    if not inside:
        return None
    above, below = inside.low > context.low, inside.high < context.high
    if above and below:
        if inside.low == inside.high:
            return f"version == {inside.low}"
        return f"{inside.low} <= version <= {inside.high}"
    if above:
        return f"version >= {inside.low}"
    if below:
        return f"version <= {inside.high}"
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
