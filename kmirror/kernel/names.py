"""Checks of lists of names, and formatting of names and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kmirror.errors import UsageError

_SHOWN_MAX: Final = 5


def as_names(values: Iterable[str], noun: str = "topics") -> list[str]:
    """Return the names as a list; raises `UsageError` for a single str and for names that are not str.

    A str is a sequence of str in Python, so "orders" would be six topics of one letter each.
    """
    if isinstance(values, (str, bytes)):
        raise UsageError(f"{noun} takes a list of names, such as [{values!r}], not {values!r} by itself")
    try:
        names = list(values)
    except TypeError:
        raise UsageError(f"{noun} takes a list of names, not {values!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"{noun} takes names, and {name!r} is not a name: a name is a str")
    return names


def few(names: Sequence[object], noun: str) -> str:
    """Return up to five names for a message, and the number of further ones; "no topics" (`noun`) if there are none."""
    if not names:
        return f"no {noun}"
    more = f" and {len(names) - _SHOWN_MAX} more" if len(names) > _SHOWN_MAX else ""
    return ", ".join(map(str, names[:_SHOWN_MAX])) + more


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 batch`, `2 batches`, `0 histories`."""
    if number == 1:
        return f"{number} {noun}"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith(('ch', 's')) else 's'}"
