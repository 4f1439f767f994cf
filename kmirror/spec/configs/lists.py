"""Splitting of list configs into entries."""

from __future__ import annotations

from kmirror.spec.java_patterns import split_patterns

BLANKS = "".join(map(chr, range(0x21)))
"""The characters that Java's trim() removes."""


def split_entries(text: str, *, are_patterns: bool = False) -> list[str]:
    """Return the entries of a list, split as in Kafka: empty ones are kept, an empty text has none.

    A comma that is part of a regular expression does not separate entries.
    """
    text = text.strip(BLANKS)
    if are_patterns:
        return split_patterns(text)
    return [entry.strip() for entry in text.split(",")] if text else []


def split_raw(text: str, *, are_patterns: bool) -> list[str]:
    """Return the entries of a list, split as Kafka does to append to it: blanks are kept."""
    return split_patterns(text) if are_patterns else text.split(",")
