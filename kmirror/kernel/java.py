"""Results of Java functions: text, hashes, iteration order of a `HashMap`, integer overflow.

Kafka's brokers write some of them to disk (the rows of a producer snapshot) and base decisions on some (the partition
that coordinates a transaction). Its tools print values with `String` and Jackson. The same bytes require the same
functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, TypeVar

_SCIENTIFIC_FROM: Final = 10**7
_INT: Final = re.compile(r"[+-]?0{0,1000}[0-9]{1,10}")
# Half of a surrogate pair. 0xED is always a leading byte, so the pattern needs no context.
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
# Characters that Jackson escapes in a string, with hexadecimal digits in upper case.
_ESCAPES: Final = {code: f"\\u{code:04X}" for code in range(32)} | {
    ord(letter): "\\" + name for letter, name in zip('"\\\b\f\n\r\t', '"\\bfnrt', strict=True)
}

_FIBONACCI: Final = 0x9E37_79B9_7F4A_7C15

T = TypeVar("T")


def address(host: str) -> str:
    """Return the result of `InetAddress.toString` for an IP address without a resolved host name."""
    found = ip_address(host)
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return f"/{found.ipv4_mapped}"
        return "/" + ":".join(f"{int.from_bytes(found.packed[at : at + 2], 'big'):x}" for at in range(0, 16, 2))
    return f"/{found}"


def wrap_int32(value: int) -> int:
    """Return `value` wrapped to a Java int."""
    return (value + 0x8000_0000 & 0xFFFF_FFFF) - 0x8000_0000


def wrap_int64(value: int) -> int:
    """Return `value` wrapped to a Java long."""
    return (value + 0x8000_0000_0000_0000 & 0xFFFF_FFFF_FFFF_FFFF) - 0x8000_0000_0000_0000


def parse_int(text: str) -> int | None:
    """Return the result of `Integer.parseInt` for ASCII text, None if that throws."""
    number = int(text) if _INT.fullmatch(text) else None
    return number if number is not None and wrap_int32(number) == number else None


def java_text(data: bytes) -> str:
    """Return the result of `new String(data, UTF_8)`, with a U+FFFD for each malformed sequence as Java counts them.

    Python divides malformed bytes in the same way except for surrogates: Java counts a whole surrogate once, Python
    each of its bytes. So each surrogate is replaced by one invalid byte (0xFF).
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub(b"\xff", data).decode("utf-8", "replace")


def boolean(value: object) -> str:
    return "true" if value else "false"


def optional_long(value: int | None) -> str:
    """Return the result of `OptionalLong.toString`."""
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def double(value: float) -> str:
    """Return the result of `Double.toString`."""
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
    """Return the result of Jackson's `JsonNode.toString`: no spaces, and only mandatory escapes."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(name)}:{compact_json(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(compact_json(item) for item in value) + "]"
    if isinstance(value, float):
        # NaN and the infinities are no JSON numbers, so Jackson writes strings.
        return double(value) if abs(value) < float("inf") else f'"{double(value)}"'
    if isinstance(value, str):
        return _text(value)
    return "null" if value is None else boolean(value) if isinstance(value, bool) else int.__repr__(value)


def _text(value: str) -> str:
    return f'"{value.translate(_ESCAPES)}"'


def length_of_text(text: str) -> int:
    """Return the result of `String.length`: the number of UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-be", "surrogatepass")) // 2


def hash_of_text(text: str, *, initial: int = 0) -> int:
    """Return the result of `String.hashCode`, also for text with an unpaired surrogate.

    `initial` is the hash of the text that precedes `text`.
    """
    value = initial
    units = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        value = value * 31 + (units[index] << 8 | units[index + 1]) & 0xFFFF_FFFF
    return wrap_int32(value)


def hash_of_long(value: int) -> int:
    """Return the result of `Long.hashCode`."""
    return wrap_int32((value ^ value >> 32) & 0xFFFF_FFFF)


def hash_of_bytes(data: bytes) -> int:
    """Return the result of `Arrays.hashCode` for a byte array."""
    value = 1
    for byte in data:
        value = value * 31 + (byte if byte < 128 else byte - 256) & 0xFFFF_FFFF
    return wrap_int32(value)


def partition_for(text: str, count: int) -> int:
    """Return the number below `count` that Kafka computes for `text`: absolute hash (0 for -2**31) modulo `count`."""
    return partition_of_hash(hash_of_text(text), count)


def partition_of_hash(value: int, count: int) -> int:
    """Return the same as `partition_for`, for a text with this hash."""
    return 0 if value == -0x8000_0000 else abs(value) % count


def in_timeline_order(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return the keys in iteration order of a `TimelineHashMap` that started empty and from which none was removed.

    Slots are the upper bits of a Fibonacci hash; within a slot the last inserted key comes first.
    """
    found = list(keys)[::-1]
    bits = 1
    while len(found) * 3 > 4 << bits:
        bits += 1

    def slot(key: T) -> int:
        return (hash_of(key) * _FIBONACCI & 0xFFFF_FFFF_FFFF_FFFF) >> 64 - bits

    return sorted(found, key=slot)


def in_hash_order(keys: Iterable[T], hash_of: Callable[[T], int], *, size_max: int = 0) -> list[T]:
    """Return the keys in iteration order of a `HashMap`: by bucket, then in order of insertion.

    `size_max` is the maximum size that the map has had: a map keeps its buckets when keys are removed. A bucket must
    stay below nine keys; with more, the JVM resizes the map or converts the bucket to a tree.
    """
    found = list(keys)
    buckets = 16
    while max(len(found), size_max) * 4 > buckets * 3:
        buckets *= 2

    def bucket(key: T) -> int:
        value = hash_of(key) & 0xFFFF_FFFF
        return (value ^ value >> 16) & buckets - 1

    return sorted(found, key=bucket)
