"""Where do the entries of a config's list begin and end?"""

from __future__ import annotations

from kmirror.spec.java_patterns import entries_of_patterns

BLANKS = "".join(map(chr, range(0x21)))
"""What Java's trim() takes away."""


def entries_of(text: str, *, are_patterns: bool = False) -> list[str]:
    """Return the entries of a list as Kafka cuts them: empty ones too, none of an empty text.

    A comma that is part of a regular expression separates none.
    """
    text = text.strip(BLANKS)
    if are_patterns:
        return entries_of_patterns(text)
    return [entry.strip() for entry in text.split(",")] if text else []


def parts_of(text: str, *, are_patterns: bool) -> list[str]:
    """Return the entries of a list as Kafka cuts them to append to it: blanks count."""
    return entries_of_patterns(text) if are_patterns else text.split(",")
