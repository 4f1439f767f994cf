"""Spots: byte ranges of a frame, each with the kind of field that it holds.

A mutation needs the kind: the length of a string, the count of an array, a tag. The grammar records a spot for each
part that it writes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from kmirror.protocol.structs import Field


class SpotKind(IntEnum):
    """Content of a spot."""

    NUMBER = 0  # Fixed width: two's complement, or a float.
    BOOL = 1
    UUID = 2
    SHORT_LENGTH = 3  # int16, of a string; -1 is null.
    LENGTH = 4  # int32, of bytes or records; -1 is null.
    COMPACT_LENGTH = 5  # Unsigned varint, one more than the length; 0 is null.
    COUNT = 6  # int32, of an array; -1 is null.
    COMPACT_COUNT = 7  # Unsigned varint, one more than the count; 0 is null.
    TEXT = 8  # UTF-8.
    BYTES = 9
    RECORDS = 10
    MARKER = 11  # int8 before a struct that may be null; below 0 is null.
    TAG_MARKER = 12  # Unsigned varint before such a struct in a tagged field; 0 is null.
    TAG_COUNT = 13  # Unsigned varint.
    TAG = 14  # Unsigned varint.
    TAG_SIZE = 15  # Unsigned varint.
    TAGGED = 16  # A whole tagged field: tag, size and value.
    ELEMENT = 17  # A whole element of an array.
    SIGNED = 18  # Zigzag varint in a record: a delta or a count.
    SIGNED_LENGTH = 19  # Zigzag varint: a length; -1 is null.


RawSpot = tuple[SpotKind, int, int, Field | None]
"""A `Spot` as a plain tuple: thousands are recorded for each one that is read."""


class Spot(NamedTuple):
    """A range of a frame, `start` inclusive, `end` exclusive; `field` is the schema's, None for tags without one."""

    kind: SpotKind
    start: int
    end: int
    field: Field | None

    def __str__(self) -> str:
        name = self.kind.name.lower().replace("_", " ")
        owner = f" of {self.field.attribute}" if self.field is not None else ""
        return f"{name}{owner} at {self.start}..{self.end}"
