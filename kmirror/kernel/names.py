"""Is this a collection of names, or one name that Python would take apart? And how are things listed and counted?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kmirror.errors import UsageError

_SHOWN_MAX: Final = 5


def as_names(given: Iterable[str], what: str = "topics") -> list[str]:
    """Return the names in the order given; raises `UsageError` for a text by itself and for what is no text.

    A text is a sequence of texts to Python, so "orders" would be six topics of one letter each.
    """
    if isinstance(given, (str, bytes)):
        raise UsageError(f"{what} takes a list of names, such as [{given!r}], not {given!r} by itself")
    try:
        names = list(given)
    except TypeError:
        raise UsageError(f"{what} takes a list of names, not {given!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"{what} takes names, and {name!r} is none: a name is a str")
    return names


def few(names: Sequence[object], what: str) -> str:
    """Return the names for a message, at most five of them and how many more there are; of none "no `what`"."""
    if not names:
        return f"no {what}"
    more = f" and {len(names) - _SHOWN_MAX} more" if len(names) > _SHOWN_MAX else ""
    return ", ".join(map(str, names[:_SHOWN_MAX])) + more


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 batch`, `2 batches`, `0 histories`."""
    if number == 1:
        return f"{number} {noun}"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith(('ch', 's')) else 's'}"
