"""`construct` layouts whose fields record their position and meaning.

Every field of a layout is a `Field`. It parses to a `Span` (value and byte range) and builds from a span or a plain
value, so one declaration both decodes and encodes. The layouts are a second, slower and independent decoder of every
format: they are shown to users, and the fast decoder is tested against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import construct as c

Meaning: TypeAlias = Callable[[Any], str]


@dataclass(slots=True)
class Span:
    """Value of one field and its bytes, from `start` to `end` (exclusive)."""

    start: int
    end: int
    value: Any
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class DissectedRow:
    """One line of a dissection: a field, or a group whose members follow one level deeper.

    `within` names the decompressed data that the byte range refers to; it is empty for the file itself.
    """

    depth: int
    name: str
    start: int
    end: int
    value: Any = None
    meaning: str = ""
    within: str = ""
    is_fault: bool = False


class Field(c.Subconstruct):  # type: ignore[misc]  # construct has no types
    """A part of a layout with its position; `meaning` converts its value to words."""

    def __init__(self, subcon: Any, meaning: Meaning | None = None) -> None:
        super().__init__(subcon)
        self.meaning = meaning

    def _parse(self, stream: Any, context: Any, path: str) -> Span:
        start = c.stream_tell(stream, path)
        value = self.subcon._parsereport(stream, context, path)
        end = c.stream_tell(stream, path)
        return Span(start, end, value, "" if self.meaning is None else self.meaning(value))

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        self.subcon._build(value_of(obj), stream, context, path)
        return obj


def value_of(obj: Any) -> Any:
    return obj.value if isinstance(obj, Span) else obj


def plain_value(parsed: Any) -> Any:
    """Return parsed data without positions: dicts, lists and values."""
    if isinstance(parsed, Span):
        return plain_value(parsed.value)
    if isinstance(parsed, c.Container):
        return {name: plain_value(value) for name, value in parsed.items() if not name.startswith("_")}
    if isinstance(parsed, list):
        return [plain_value(value) for value in parsed]
    return parsed


class Varint(c.Construct):  # type: ignore[misc]
    """A zig-zag varint of `bits` bits as the JVM reads it: excess bits are dropped, an excess byte is an error."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        raw: int = 0
        for index in range(-(-self.bits // 7)):
            byte = c.stream_read(stream, 1, path)[0]
            raw |= (byte & 0x7F) << 7 * index
            if not byte & 0x80:
                raw %= 1 << self.bits
                return raw // 2 if raw % 2 == 0 else -(raw // 2) - 1
        raise c.IntegerError("incomplete varint", path=path)

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        raw = obj * 2 if obj >= 0 else -obj * 2 - 1
        while raw >= 0x80:
            c.stream_write(stream, bytes([raw % 0x80 + 0x80]), 1, path)
            raw //= 0x80
        c.stream_write(stream, bytes([raw]), 1, path)
        return obj


VARINT: Final = Varint(32)
VARLONG: Final = Varint(64)


def field(name: str, subcon: Any, meaning: Meaning | None = None) -> Any:
    """Return a named field for a `construct.Struct`."""
    return c.Renamed(Field(subcon, meaning), name)


def sized_bytes(length: str) -> Any:
    """Return a subcon for as many bytes as the field `length` says; None for a negative length."""

    def size(context: Any) -> int:
        return int(value_of(context[length]))

    return c.IfThenElse(lambda context: size(context) < 0, c.Pass, c.Bytes(lambda context: size(context)))


def rows_of(name: str, parsed: Any, depth: int, *, within: str = "", shift: int = 0) -> Iterator[DissectedRow]:
    """Yield the rows of a parsed layout, groups before their members; `shift` is added to each position."""
    if isinstance(parsed, Span):
        value = parsed.value
        if isinstance(value, c.Container | list):
            if not value:
                return
            yield DissectedRow(depth, name, parsed.start + shift, parsed.end + shift, None, parsed.meaning, within)
            yield from _members(value, depth + 1, within, shift)
        else:
            yield DissectedRow(depth, name, parsed.start + shift, parsed.end + shift, value, parsed.meaning, within)
    elif isinstance(parsed, c.Container):
        yield from _members(parsed, depth, within, shift)


def _members(value: Any, depth: int, within: str, shift: int) -> Iterator[DissectedRow]:
    if isinstance(value, c.Container):
        for name, member in value.items():
            if not name.startswith("_"):
                yield from rows_of(name, member, depth, within=within, shift=shift)
    else:
        for index, member in enumerate(value):
            yield from rows_of(f"[{index}]", member, depth, within=within, shift=shift)


def with_paths(rows: Iterable[DissectedRow]) -> Iterator[tuple[DissectedRow, str]]:
    """Yield each row with its path of groups, such as `batch[0].record[2].key`."""
    names: list[str] = []
    for row in rows:
        names[row.depth :] = [row.name]
        yield row, ".".join(names).replace(".[", "[")
