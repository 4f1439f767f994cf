"""How would a JVM write this down?

Text that Kafka's tools print goes through `String`, `HashMap` and Jackson; whoever wants the same text has to do what
these do with numbers that overflow and with the order of what has none. `kmirror.protocol.java_text` knows what they do
with bytes that are no text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

_SMALL_ESCAPE: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9a-f]{4})")
_SCIENTIFIC_FROM: Final = 10**7

T = TypeVar("T")


def wrap_int32(value: int) -> int:
    return (value + 0x8000_0000 & 0xFFFF_FFFF) - 0x8000_0000


def boolean(value: object) -> str:
    return "true" if value else "false"


def optional_long(value: int | None) -> str:
    """`OptionalLong.toString`."""
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def double(value: float) -> str:
    """`Double.toString`."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if value == 0 or 1e-3 <= abs(value) < _SCIENTIFIC_FROM:
        text = repr(value)
        return text if "e" not in text else format(value, "f")
    mantissa, _, exponent = format(value, "e").partition("e")
    digits = repr(value).lower().partition("e")[0].replace(".", "").lstrip("-0").rstrip("0") or "0"
    sign = "-" if mantissa.startswith("-") else ""
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{int(exponent)}"


def compact_json(value: Any) -> str:
    """What Jackson's `JsonNode.toString` gives: no spaces, text as it is, control characters in capitals."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(name)}:{compact_json(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(compact_json(item) for item in value) + "]"
    if isinstance(value, float):
        # NaN and the infinities are no JSON numbers, so Jackson makes texts of them.
        return double(value) if abs(value) < float("inf") else f'"{double(value)}"'
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    escaped = json.dumps(value, ensure_ascii=False)
    if "\\u" in escaped:
        escaped = _SMALL_ESCAPE.sub(lambda found: f"{found[1]}\\u{found[2].upper()}", escaped)
    return escaped


def hash_of_text(text: str) -> int:
    """`String.hashCode`."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        value = value * 31 + (units[index] << 8 | units[index + 1]) & 0xFFFF_FFFF
    return value


def in_hash_order(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """The keys as a `HashMap` that they were put into yields them: by bucket, then in order of arrival."""
    found = list(keys)
    buckets = 16
    while len(found) * 4 > buckets * 3:
        buckets *= 2

    def bucket(key: T) -> int:
        value = hash_of(key) & 0xFFFF_FFFF
        return (value ^ value >> 16) & buckets - 1

    return sorted(found, key=bucket)
