"""`mirror.name`: the mirror that manages a topic, and the user's wish for the topic (D7).

The topic config holds the mirror's name, followed by `.paused` or `.removed` if the topic is paused or removed. There
is never more than one suffix, so no mirror's name may end in one.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.mirror.states import Wish
from kmirror.spec.topics import problem_with_name

MIRROR_NAME = "mirror.name"
MIRROR_LINEAGE = "mirror.lineage"
"""The topic config that holds the lineages of a topic whose mirror was deleted (D51)."""
PAUSED = ".paused"
REMOVED = ".removed"
_SUFFIXES = {Wish.MIRROR: "", Wish.PAUSE: PAUSED, Wish.REMOVE: REMOVED}


@dataclass(frozen=True, slots=True)
class Assignment:
    """The mirror of a topic, and the user's wish for the topic there."""

    mirror: str
    wish: Wish

    def text(self) -> str:
        """Return this as a value of `mirror.name`."""
        return self.mirror + _SUFFIXES[self.wish]


def parse(value: str) -> Assignment | None:
    """Return the assignment in a value of `mirror.name`; None if the value is empty."""
    if not value:
        return None
    if value.endswith(REMOVED):
        return Assignment(value.removesuffix(REMOVED), Wish.REMOVE)
    if value.endswith(PAUSED):
        return Assignment(value.removesuffix(PAUSED), Wish.PAUSE)
    return Assignment(value, Wish.MIRROR)


def problem_with_mirror(name: str) -> str | None:
    """Return why `name` cannot be a mirror's name, or None if it can."""
    if name.endswith((PAUSED, REMOVED)):
        return f"a mirror name cannot end with {PAUSED} or {REMOVED}"
    return problem_with_name(name)
