"""Vocabularies: names, ids and numbers for fields, so that frames fit together.

A broker refuses nearly all frames with arbitrary contents, for the same few reasons. A vocabulary names a small world
(some topics, groups, partitions), and the grammar takes values from it as often as the profile says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.careful import RANGES
from kmirror.protocol.structs import Field

WIDTHS: Mapping[str, int] = MappingProxyType(
    {"int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8}
)
_FLOATS = tuple(
    bytes.fromhex(text)
    for text in ("0000000000000000", "3ff0000000000000", "bff0000000000000", "7fefffffffffffff", "8000000000000000")
)
_TEXTS: tuple[str, ...] = ("", "a", "kmirror", "ä-ö", "日本", "🚀", "x" * 127, "x" * 128, "a.b_c-1", "../..", "\0")
_BLOBS: tuple[bytes, ...] = (b"", b"\0", b"\0\0\0\1a", b"\xff" * 16, bytes(range(64)), b"x" * 127, b"y" * 128)
LARGE_SHARE = 1 / 256
"""Share of texts and blobs that are large."""
_LARGE_TEXTS = (2**13 - 1, 2**13, 2**14 - 2, 2**14 - 1, 2**14, 2**15 - 1)
_LARGE_BLOBS = (*_LARGE_TEXTS, 2**15, 2**15 + 1, 2**16 - 1, 2**16, 2**16 + 1)
_SMALL = (0, 0, 0, 1, 1, 2, 3, -1)


def _no_words() -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The small world that frames refer to. Compared by identity: grammars are cached per vocabulary."""

    share: float
    """Share of values taken from here rather than from the edges of their type, from 0 to 1."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=_no_words)
    """Texts by the field's entity in the schema ("topicName"), or by its attribute."""
    uuids: tuple[Uuid, ...] = (Uuid.ZERO,)
    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Numbers by the field's entity or attribute."""

    def texts(self, schema_field: Field) -> tuple[bytes, ...]:
        """Return the contents for a text field, as UTF-8."""
        found = self.words.get(schema_field.entity) or self.words.get(schema_field.attribute)
        return tuple(text.encode() for text in (_TEXTS if found is None else found))

    def blobs(self, schema_field: Field) -> tuple[bytes, ...]:
        """Return the contents for a bytes field."""
        return _BLOBS

    def usual(self, schema_field: Field, type_: str) -> tuple[bytes, ...]:
        """Return the usual numbers of a field, encoded."""
        if type_ == "float64":
            return _FLOATS
        numbers = self.numbers.get(schema_field.entity) or self.numbers.get(schema_field.attribute) or _SMALL
        low, high = RANGES[type_]
        return tuple(_encode(number, type_) for number in numbers if low <= number <= high)


def edges(type_: str) -> tuple[bytes, ...]:
    """Return the ends of a type's range and values next to powers of two, encoded."""
    if type_ == "float64":
        return (
            *_FLOATS,
            *(bytes.fromhex(text) for text in ("7ff0000000000000", "7ff8000000000000", "0000000000000001")),
        )
    low, high = RANGES[type_]
    numbers = {
        low,
        low + 1,
        -2,
        -1,
        0,
        1,
        2,
        127,
        128,
        255,
        256,
        32_767,
        32_768,
        65_535,
        2**31 - 1,
        2**31,
        high - 1,
        high,
    }
    return tuple(_encode(number, type_) for number in sorted(numbers) if low <= number <= high)


def _encode(number: int, type_: str) -> bytes:
    return number.to_bytes(WIDTHS[type_], "big", signed=not type_.startswith("u"))


def large_size(x: float, *, is_text: bool) -> int | None:
    """Return the size of a large text or blob in bytes, for a random `x` from 0 to 1; None for most `x`.

    A text has 32,767 bytes at most.
    """
    place = (x - 1 + LARGE_SHARE) / LARGE_SHARE
    sizes = _LARGE_TEXTS if is_text else _LARGE_BLOBS
    return None if place < 0 else sizes[int(place * len(sizes))]


ARBITRARY = Vocabulary(share=0.5)
"""Knows no cluster: for decoders."""
