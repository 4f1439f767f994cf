"""Grammar of messages: writes valid ones, and records a spot for each of their parts.

It is built from the schemas' field tables, without the codec of `kmirror.protocol`, so it is a second opinion on every
decoder, ours included. A tree of closures is built once for each message and version; after that, writing a message
costs about as much as reading it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from kmirror.fuzz.spots import RawSpot, SpotKind
from kmirror.fuzz.vocabulary import LARGE_SHARE, WIDTHS, Vocabulary, edges, large_size
from kmirror.protocol.careful import is_within
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, check_version
from kmirror.protocol.wire import uvarint

Random = Callable[[], float]
Write = Callable[[Random, bytearray, list[RawSpot]], None]

# Message size in bytes after which arrays have one element at most and no large value is written.
LARGE_BYTES = 1_500
_LARGE_FROM = 1 - LARGE_SHARE
_NULL_SHARE = 0.15
_TAG_SHARE = 0.4
_UNKNOWN_TAG_SHARE = 0.1
# Sizes of arrays, by frequency.
_SIZES = (0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3)
_UVARINTS = tuple(uvarint(value) for value in range(256))


class Template(NamedTuple):
    """A valid message as bytes, with its spots.

    `is_canonical` means that no other bytes encode the same message, so an encoder must write exactly these.
    """

    message: type[Message]
    version: int
    data: bytearray
    spots: list[RawSpot]
    is_canonical: bool


class Grammar:
    """Writes messages of one class and version."""

    def __init__(self, message: type[Message], version: int, vocabulary: Vocabulary, records: Sequence[bytes]) -> None:
        check_version(message, version)
        self.message = message
        self.version = version
        compiler = _Compiler(version, message.FLEXIBLE_FROM, vocabulary, records)
        self.write: Write = compiler.struct(message)
        # An encoder leaves out a tagged field with the default value; the grammar may write it.
        self.is_canonical = not compiler.has_tags

    def draw(self, random: Random) -> Template:
        """Return a message: its bytes, and its spots in the order of their ends."""
        data, spots = bytearray(), list[RawSpot]()
        self.write(random, data, spots)
        return Template(self.message, self.version, data, spots, self.is_canonical)


def grammar(message: type[Message], version: int, vocabulary: Vocabulary, records: tuple[bytes, ...]) -> Grammar:
    """Return the grammar of a message in a version; `records` are the contents of fields of type records."""
    key: Any = message
    return _grammar(key, version, vocabulary, records)


@lru_cache(maxsize=8_192)
def _grammar(message: Any, version: int, vocabulary: Vocabulary, records: tuple[bytes, ...]) -> Grammar:
    return Grammar(message, version, vocabulary, records)


class _Compiler:
    """Builds the closures of one message in one version."""

    def __init__(
        self, version: int, flexible_from: int | None, vocabulary: Vocabulary, records: Sequence[bytes]
    ) -> None:
        self.version = version
        self.is_flexible = flexible_from is not None and version >= flexible_from
        self.vocabulary = vocabulary
        self.records = tuple(records)
        self.has_tags = False

    def struct(self, cls: Any) -> Write:
        fields: Sequence[Field] = [each for each in cls.FIELDS if is_within(self.version, each.versions)]
        ordinary = [self.field(each) for each in fields if not is_within(self.version, each.tagged)]
        if self.is_flexible:
            tagged = sorted(
                (each for each in fields if is_within(self.version, each.tagged)), key=lambda each: each.tag
            )
            unknown_from = 1 + max((each.tag for each in cls.FIELDS), default=-1)
            ordinary.append(self.tags([(each, self.field(each, in_tag=True)) for each in tagged], unknown_from))
        writers = tuple(ordinary)

        def write(random: Random, out: bytearray, spots: list[RawSpot]) -> None:
            for part in writers:
                part(random, out, spots)

        return write

    def tags(self, tagged: list[tuple[Field, Write]], unknown_from: int) -> Write:
        """Return a writer of a struct's tagged fields: a random selection, and sometimes one with an unknown tag."""
        self.has_tags |= bool(tagged)

        def write(random: Random, out: bytearray, spots: list[RawSpot]) -> None:
            chosen = [row for row in tagged if random() < _TAG_SHARE] if tagged else tagged
            is_unknown = random() < _UNKNOWN_TAG_SHARE
            start = len(out)
            out += _UVARINTS[len(chosen) + is_unknown]
            spots.append((SpotKind.TAG_COUNT, start, len(out), None))
            for field, value in chosen:
                body, inner = bytearray(), list[RawSpot]()
                value(random, body, inner)
                _write_tag(out, spots, field, field.tag, body)
                first = len(out) - len(body)
                spots += [(kind, first + start, first + end, inner_field) for kind, start, end, inner_field in inner]
            if is_unknown:
                _write_tag(out, spots, None, unknown_from + int(random() * 300), b"x" * int(random() * 6))

        return write

    def field(self, field: Field, *, in_tag: bool = False) -> Write:
        is_nullable = is_within(self.version, field.nullable)
        is_flexible = self.is_flexible and not field.never_flexible
        if field.is_array:
            return self.array(field, is_flexible, is_nullable)
        if field.type == "struct":
            return self.one_struct(field, is_nullable, in_tag)
        return self.scalar(field, is_flexible, is_nullable)

    def one_struct(self, field: Field, is_nullable: bool, in_tag: bool) -> Write:
        inner = self.struct(field.struct)
        if not is_nullable:
            return inner
        kind, null, present = (SpotKind.TAG_MARKER, b"\0", b"\1") if in_tag else (SpotKind.MARKER, b"\xff", b"\1")

        def write(random: Random, out: bytearray, spots: list[RawSpot]) -> None:
            start = len(out)
            is_null = random() < _NULL_SHARE
            out += null if is_null else present
            spots.append((kind, start, start + 1, field))
            if not is_null:
                inner(random, out, spots)

        return write

    def array(self, field: Field, is_flexible: bool, is_nullable: bool) -> Write:
        element = self.struct(field.struct) if field.type == "struct" else self.scalar(field, is_flexible, False)
        counts = _UVARINTS[1:] if is_flexible else [size.to_bytes(4, "big") for size in range(4)]
        null = b"\0" if is_flexible else b"\xff\xff\xff\xff"
        kind = SpotKind.COMPACT_COUNT if is_flexible else SpotKind.COUNT
        null_share = _NULL_SHARE if is_nullable else 0.0

        def write(random: Random, out: bytearray, spots: list[RawSpot]) -> None:
            start = len(out)
            if random() < null_share:
                out += null
                spots.append((kind, start, len(out), field))
                return
            size = _SIZES[int(random() * 16)]
            if size > 1 and start > LARGE_BYTES:
                size = 1
            out += counts[size]
            spots.append((kind, start, len(out), field))
            for _ in range(size):
                start = len(out)
                element(random, out, spots)
                spots.append((SpotKind.ELEMENT, start, len(out), field))

        return write

    def scalar(self, field: Field, is_flexible: bool, is_nullable: bool) -> Write:
        type_ = field.type
        if type_ in WIDTHS:
            return _fixed_writer(
                field, SpotKind.NUMBER, self.vocabulary.usual(field, type_), edges(type_), self.vocabulary.share
            )
        if type_ == "bool":
            return _fixed_writer(field, SpotKind.BOOL, (b"\0", b"\1"), (b"\0", b"\1"), 1.0)
        if type_ == "uuid":
            ids = tuple(bytes(each) for each in self.vocabulary.uuids)
            return _fixed_writer(field, SpotKind.UUID, ids, (b"\xff" * 16, bytes(range(16))), self.vocabulary.share)
        if type_ == "string":
            contents, kind = self.vocabulary.texts(field), SpotKind.TEXT
        elif type_ == "records" and self.records:
            contents, kind = self.records, SpotKind.RECORDS
        else:
            contents, kind = self.vocabulary.blobs(field), SpotKind.BYTES
        return _variable_writer(field, kind, contents, is_flexible, is_nullable)


def _fixed_writer(field: Field, kind: SpotKind, usual: Sequence[bytes], rare: Sequence[bytes], share: float) -> Write:
    """Return a writer that draws one of the usual values, with probability `share`, or else one of the rare ones."""
    # A table that repeats each value by its frequency costs one draw.
    parts = 64
    n = round(parts * share)
    table = [usual[place % len(usual)] for place in range(n)] + [rare[place % len(rare)] for place in range(parts - n)]
    width = len(table[0])

    def write(random: Random, out: bytearray, spots: list[RawSpot]) -> None:
        start = len(out)
        out += table[int(random() * parts)]
        spots.append((kind, start, start + width, field))

    return write


def _variable_writer(
    field: Field, kind: SpotKind, contents: Sequence[bytes], is_flexible: bool, is_nullable: bool
) -> Write:
    """Return a writer of a length and one of the contents, or null, or sometimes a large content."""
    is_text = kind is SpotKind.TEXT
    if is_flexible:
        length_kind, null = SpotKind.COMPACT_LENGTH, b"\0"
    elif is_text:
        length_kind, null = SpotKind.SHORT_LENGTH, b"\xff\xff"
    else:
        length_kind, null = SpotKind.LENGTH, b"\xff\xff\xff\xff"

    def length_prefix(size: int) -> bytes:
        return uvarint(size + 1) if is_flexible else size.to_bytes(len(null), "big")

    rows = [(length_prefix(len(content)), content) for content in contents]
    n = len(rows)
    null_share = _NULL_SHARE if is_nullable else 0.0

    def write(random: Random, out: bytearray, spots: list[RawSpot]) -> None:
        start = len(out)
        if null_share and random() < null_share:
            out += null
            spots.append((length_kind, start, len(out), field))
            return
        x = random()
        head, content = rows[int(x * n)]
        size = large_size(x, is_text=is_text) if x >= _LARGE_FROM and start < LARGE_BYTES else None
        if size is not None and kind is not SpotKind.RECORDS:
            head, content = length_prefix(size), b"z" * size
        out += head
        middle = len(out)
        out += content
        spots.append((length_kind, start, middle, field))
        spots.append((kind, middle, len(out), field))

    return write


def _write_tag(out: bytearray, spots: list[RawSpot], field: Field | None, tag: int, body: bytes | bytearray) -> None:
    """Write a tagged field, and record its spots, without those of its body."""
    start = len(out)
    out += uvarint(tag)
    after_tag = len(out)
    out += uvarint(len(body))
    after_size = len(out)
    out += body
    spots.append((SpotKind.TAG, start, after_tag, field))
    spots.append((SpotKind.TAG_SIZE, after_tag, after_size, field))
    spots.append((SpotKind.TAGGED, start, len(out), field))
