"""Topics of `--topic`: one by its full name, or those whose whole names match a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable

from kmirror.errors import UsageError


def topic_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that checks topic names; raise UsageError for an invalid regular expression."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--topic {pattern!r} is not a regular expression: {error}") from None
    return lambda name: name == pattern or compiled.fullmatch(name) is not None
