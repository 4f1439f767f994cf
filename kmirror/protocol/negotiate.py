"""Version negotiation."""

from __future__ import annotations

from collections.abc import Mapping

Range = tuple[int, int]


def negotiate(ours: Range, theirs: Range) -> int | None:
    """Return the newest version in both ranges (first, last; inclusive), or None."""
    low = max(ours[0], theirs[0])
    high = min(ours[1], theirs[1])
    return high if low <= high else None


def negotiate_all(ours: Mapping[int, Range], theirs: Mapping[int, Range]) -> dict[int, int]:
    """Return the newest shared version of every API key that has one."""
    found = {}
    for key, own_range in ours.items():
        version = negotiate(own_range, theirs[key]) if key in theirs else None
        if version is not None:
            found[key] = version
    return found
