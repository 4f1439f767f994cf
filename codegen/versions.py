"""Version ranges: `3`, `3-7`, `3+` or `none`, and operations on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

VERSION_MAX = 32767  # Versions are int16 on the wire.


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions from `low` to `high`, both inclusive; empty if `low > high`."""

    low: int
    high: int

    @staticmethod
    def parse(text: str) -> Versions:
        """Return the range that `text` denotes; raises `ValueError` with the fault."""
        text = text.strip()
        if text == "none":
            return NONE
        if text.endswith("+"):
            return Versions(_number(text[:-1]), VERSION_MAX)
        low, dash, high = text.partition("-")
        if not dash:
            return Versions(_number(low), _number(low))
        found = Versions(_number(low), _number(high))
        if not found:
            raise ValueError(f"the version range {text} is reversed")
        return found

    def __bool__(self) -> bool:
        return self.low <= self.high

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.is_open:
            return f"{self.low}+"
        return f"{self.low}" if self.low == self.high else f"{self.low}-{self.high}"

    @property
    def is_open(self) -> bool:
        return bool(self) and self.high == VERSION_MAX

    def intersect(self, other: Versions) -> Versions:
        """Return the versions in both ranges, `NONE` if they do not overlap."""
        found = Versions(max(self.low, other.low), min(self.high, other.high))
        return found if found else NONE

    def covers(self, other: Versions) -> bool:
        return not other or (self.low <= other.low and self.high >= other.high)


NONE = Versions(0, -1)
ALL = Versions(0, VERSION_MAX)


def _number(text: str) -> int:
    # int() would accept signs, blanks and underscores, which are not allowed in version numbers.
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is not a version number")
    number = int(text)
    if number > VERSION_MAX:
        raise ValueError(f"version {text} does not fit into an int16")
    return number
