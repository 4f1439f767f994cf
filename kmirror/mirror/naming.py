"""`mirror.name`: which mirror manages a topic, and what the user wants of it (D7).

The topic config holds the mirror's name, with `.paused` or `.removed` behind it. A suffix replaces
the other and never chains; so no mirror's name may end in one.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.mirror.states import Wish
from kmirror.spec.topics import problem_with_name

MIRROR_NAME = "mirror.name"
PAUSED = ".paused"
REMOVED = ".removed"
_SUFFIXES = {Wish.MIRROR: "", Wish.PAUSE: PAUSED, Wish.REMOVE: REMOVED}


@dataclass(frozen=True, slots=True)
class Assignment:
    """A topic's place in a mirror."""

    mirror: str
    wish: Wish

    def text(self) -> str:
        """Return the value of `mirror.name` that says this."""
        return self.mirror + _SUFFIXES[self.wish]


def parse(value: str) -> Assignment | None:
    """Return what a value of `mirror.name` says; None for the empty value."""
    if not value:
        return None
    if value.endswith(REMOVED):
        return Assignment(value.removesuffix(REMOVED), Wish.REMOVE)
    if value.endswith(PAUSED):
        return Assignment(value.removesuffix(PAUSED), Wish.PAUSE)
    return Assignment(value, Wish.MIRROR)


def problem_with_mirror(name: str) -> str | None:
    """Say why `name` cannot be a mirror's name, or None."""
    if name.endswith((PAUSED, REMOVED)):
        return f"a mirror name cannot end with {PAUSED} or {REMOVED}"
    return problem_with_name(name)
