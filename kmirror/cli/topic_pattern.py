"""Which topics does `--topic` name? One in full, or those whose whole names match a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable

from kmirror.errors import UsageError


def topic_matcher(pattern: str) -> Callable[[str], bool]:
    """Return what tells whether a topic is named; UsageError for a pattern that is no regular expression."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--topic {pattern!r} is no regular expression: {error}") from None
    return lambda name: name == pattern or compiled.fullmatch(name) is not None
