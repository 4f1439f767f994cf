"""Record batches to break: all formats and codecs, with the length and checksum recomputed or left.

A batch is broken in one layer: its header, its records before compression, the compressed bytes, or the whole. Length
and checksum are recomputed for most batches; otherwise readers would stop at them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from kmirror.fuzz.mutations import Step, mutate, signed_varint
from kmirror.fuzz.spots import RawSpot, SpotKind
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame
from kmirror.fuzz.vocabulary import large_size
from kmirror.protocol.structs import Field
from kmirror.records import layout
from kmirror.records.codecs import Compression, compress
from kmirror.records.crc32c import crc32c

Draw = Callable[[], float]

NAME = "RecordBatch"
LEGACY_NAME = "MessageSet"
_FIXED_SHARE = 0.8
_V2_CODECS = (Compression.NONE,) * 4 + tuple(Compression)
_LEGACY_CODECS = (Compression.NONE,) * 3 + (Compression.GZIP, Compression.SNAPPY, Compression.LZ4)
_TYPES = {"q": "int64", "i": "int32", "I": "uint32", "h": "int16", "b": "int8"}
_OFFSETS = (0, 0, 0, 1, 7, 1_000, 2**31, 2**62)
# Offset of the wrapper message of compressed messages in format 0 and 1; Kafka's reader requires theirs to be below it.
_LAST_OFFSET = 2**31 + 16
_TIMESTAMPS = (1_800_000_000_000, 0, -1, 1_800_000_000_123, 2**61)
_CONTENTS = (b"", b"a", b"kmirror", b"\0" * 16, b"x" * 63, b"y" * 64, b"z" * 130, "日本".encode(), b"\0\0\0\1")
_HEADER_KEYS = (b"", b"h", b"trace-id", "ä".encode())


class BatchParts(NamedTuple):
    """A valid batch before assembly: its header, its uncompressed records, and the spots of both."""

    magic: int
    codec: Compression
    head: bytearray
    head_spots: list[RawSpot]
    records: bytearray
    record_spots: list[RawSpot]


def _field(name: str, type_: str) -> Field:
    return Field(name, name, type_, (0, 2))


_RECORD = {
    name: _field(name, type_)
    for name, type_ in (
        ("record", "struct"), ("record_length", "varint"), ("attributes", "int8"), ("timestamp_delta", "varlong"),
        ("offset_delta", "varint"), ("key_length", "varint"), ("key", "bytes"), ("value_length", "varint"),
        ("value", "bytes"), ("header_count", "varint"), ("header", "struct"), ("header_key_length", "varint"),
        ("header_key", "string"), ("header_value_length", "varint"), ("header_value", "bytes"),
        ("message", "struct"), ("offset", "int64"), ("message_size", "int32"), ("crc", "uint32"), ("magic", "int8"),
        ("timestamp", "int64"),
    )
}  # fmt: skip


def _head_spots() -> list[RawSpot]:
    found: list[RawSpot] = []
    for name, letter in layout.HEADER_FIELDS.items():
        start, size = layout.field_range(name)
        kind = (
            SpotKind.LENGTH if name == "batch_length" else SpotKind.COUNT if name == "record_count" else SpotKind.NUMBER
        )
        found.append((kind, start, start + size, _field(name, _TYPES[letter])))
    return found


_HEAD_SPOTS = _head_spots()
_HEAD = layout.header_struct(*layout.HEADER_FIELDS)


class _Writer:
    """Writes the records of a batch of format 2 and their spots."""

    def __init__(self, random: Draw) -> None:
        self.random = random
        self.out = bytearray()
        self.spots: list[RawSpot] = []

    def choose_content(self, values: Sequence[bytes]) -> bytes:
        return choose_content(self.random, values)

    def write_signed(self, name: str, value: int, kind: SpotKind = SpotKind.SIGNED) -> None:
        start = len(self.out)
        self.out += signed_varint(value)
        self.spots.append((kind, start, len(self.out), _RECORD[name]))

    def write_content(self, name: str, value: bytes | None, kind: SpotKind = SpotKind.BYTES) -> None:
        self.write_signed(f"{name}_length", -1 if value is None else len(value), SpotKind.SIGNED_LENGTH)
        if value:
            start = len(self.out)
            self.out += value
            self.spots.append((kind, start, len(self.out), _RECORD[name]))

    def write_record(self, number: int) -> None:
        """Write a record. Its body is written first, as the length before it depends on it."""
        outer, outer_spots = self.out, self.spots
        self.out, self.spots = bytearray(), []
        self.out.append(0)
        self.spots.append((SpotKind.NUMBER, 0, 1, _RECORD["attributes"]))
        self.write_signed("timestamp_delta", int(self.random() * 3) * number)
        self.write_signed("offset_delta", number)
        self.write_content("key", None if self.random() < 0.3 else self.choose_content(_CONTENTS))
        self.write_content("value", None if self.random() < 0.1 else self.choose_content(_CONTENTS))
        headers = int(self.random() * 3) if self.random() < 0.4 else 0
        self.write_signed("header_count", headers)
        for _ in range(headers):
            start = len(self.out)
            self.write_content("header_key", self.choose_content(_HEADER_KEYS), SpotKind.TEXT)
            self.write_content("header_value", None if self.random() < 0.2 else self.choose_content(_CONTENTS))
            self.spots.append((SpotKind.ELEMENT, start, len(self.out), _RECORD["header"]))
        body, inner = self.out, self.spots
        self.out, self.spots = outer, outer_spots
        first = len(outer)
        self.write_signed("record_length", len(body), SpotKind.SIGNED_LENGTH)
        start = len(outer)
        outer += body
        self.spots += [(kind, start + at, start + end, field) for kind, at, end, field in inner]
        self.spots.append((SpotKind.ELEMENT, first, len(outer), _RECORD["record"]))


def choose_content(random: Draw, values: Sequence[bytes]) -> bytes:
    """Return one of the values, or sometimes a large one."""
    x = random()
    size = large_size(x, is_text=values is _HEADER_KEYS)
    return values[int(x * len(values))] if size is None else b"z" * size


def draw_batch(random: Draw) -> BatchParts:
    """Return a valid batch of format 2, not yet assembled."""
    count = (1, 1, 2, 3, 5)[int(random() * 5)]
    writer = _Writer(random)
    for number in range(count):
        writer.write_record(number)
    codec = _V2_CODECS[int(random() * len(_V2_CODECS))]
    has_producer = random() < 0.4
    attributes = int(codec)
    if random() < 0.2:
        attributes |= layout.LOG_APPEND_TIME_FLAG
    if has_producer and random() < 0.5:
        attributes |= layout.TRANSACTIONAL_FLAG
    time_ms = _TIMESTAMPS[int(random() * 5)]
    last_ms = time_ms + 2 * count
    head = bytearray(
        _HEAD.pack(
            _OFFSETS[int(random() * 8)], 0, int(random() * 8) - 1, 2, 0, attributes, count - 1, time_ms, last_ms,
            4_000 if has_producer else -1, 0 if has_producer else -1, 0 if has_producer else -1, count,
        )
    )  # fmt: skip
    return BatchParts(2, codec, head, _HEAD_SPOTS, writer.out, writer.spots)


def draw_legacy(random: Draw) -> BatchParts:
    """Return a valid message set of format 0 or 1; `head` is empty. With a codec, all messages go into one wrapper."""
    magic = int(random() * 2)
    out, spots = bytearray(), list[RawSpot]()
    first = _OFFSETS[int(random() * 7)]
    for number in range((1, 1, 2, 3)[int(random() * 4)]):
        key = None if random() < 0.4 else choose_content(random, _CONTENTS)
        value = None if random() < 0.1 else choose_content(random, _CONTENTS)
        append_message(out, spots, magic, 0, first + number, key, value)
    return BatchParts(magic, _LEGACY_CODECS[int(random() * 6)], bytearray(), [], out, spots)


def append_message(
    out: bytearray,
    spots: list[RawSpot],
    magic: int,
    attributes: int,
    offset: int,
    key: bytes | None,
    value: bytes | None,
) -> None:
    """Append a message of format 0 or 1, with its checksum, to `out`, and its spots to `spots`."""
    start = len(out)
    body, inner = bytearray((magic, attributes)), list[RawSpot]()
    inner += [(SpotKind.NUMBER, 0, 1, _RECORD["magic"]), (SpotKind.NUMBER, 1, 2, _RECORD["attributes"])]
    if magic == 1:
        body += (1_800_000_000_000).to_bytes(8, "big")
        inner.append((SpotKind.NUMBER, 2, 10, _RECORD["timestamp"]))
    for name, content in (("key", key), ("value", value)):
        at = len(body)
        body += (-1 if content is None else len(content)).to_bytes(4, "big", signed=True)
        inner.append((SpotKind.LENGTH, at, at + 4, _RECORD[f"{name}_length"]))
        if content:
            body += content
            inner.append((SpotKind.BYTES, at + 4, len(body), _RECORD[name]))
    out += offset.to_bytes(8, "big") + (4 + len(body)).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big") + body
    spots.append((SpotKind.NUMBER, start, start + 8, _RECORD["offset"]))
    spots.append((SpotKind.LENGTH, start + 8, start + 12, _RECORD["message_size"]))
    spots.append((SpotKind.NUMBER, start + 12, start + 16, _RECORD["crc"]))
    spots += [(kind, start + 16 + at, start + 16 + end, field) for kind, at, end, field in inner]
    spots.append((SpotKind.ELEMENT, start, len(out), _RECORD["message"]))


def assemble(parts: BatchParts, *, fixes_checksum: bool = True, payload: bytes | None = None) -> bytearray:
    """Return the batch as bytes; `fixes_checksum` recomputes its length and checksum.

    `payload` are the compressed records, if they must not be built from `parts.records`.
    """
    if payload is None:
        payload = bytes(parts.records) if parts.codec is Compression.NONE else compress(parts.codec, parts.records)
    if parts.magic < 2:
        return _assemble_legacy(parts, payload)
    found = parts.head + payload
    if fixes_checksum and len(found) >= layout.RECORDS_AT:
        length_at, crc_at = layout.BATCH_LENGTH_AT, layout.CRC_AT
        found[length_at : length_at + 4] = (len(found) - layout.LEADER_EPOCH_AT).to_bytes(4, "big")
        found[crc_at : crc_at + 4] = crc32c(found[layout.ATTRIBUTES_AT :]).to_bytes(4, "big")
    return found


def _assemble_legacy(parts: BatchParts, payload: bytes) -> bytearray:
    if parts.codec is Compression.NONE:
        return bytearray(payload)
    out = bytearray()
    append_message(out, [], parts.magic, int(parts.codec), _LAST_OFFSET, None, payload)
    return out


@dataclass(frozen=True)
class BatchStream:
    """The batches of a seed, in all formats and codecs, valid and broken."""

    seed: int
    legacy_share: float = 0.2

    def block(self, number: int) -> list[Frame]:
        """Return the batches of a block; the first is valid."""
        random = Random(f"{self.seed}/batch/{number}").random
        parts = self._draw_parts(random)
        first = number * BLOCK_FRAMES
        name = NAME if parts.magic == 2 else LEGACY_NAME
        found = [Frame(first, name, parts.magic, bytes(assemble(parts)), (), False)]
        for frame_number in range(first + 1, first + BLOCK_FRAMES):
            data, steps = break_batch(random, parts)
            found.append(Frame(frame_number, name, parts.magic, data, steps, False))
        return found

    def mutate_again(self, parent: Frame, random: Draw) -> Frame:
        """Return the batch with more bytes broken, and for most batches of format 2 the checksum recomputed."""
        spots: list[RawSpot] = [(SpotKind.BYTES, at, at + 1, None) for at in range(len(parent.data))]
        data, steps = mutate(random, bytearray(parent.data), spots)
        if parent.version == 2 and len(data) > layout.RECORDS_AT and random() < _FIXED_SHARE:
            data[layout.CRC_AT : layout.CRC_AT + 4] = crc32c(data[layout.ATTRIBUTES_AT :]).to_bytes(4, "big")
        return parent._replace(data=bytes(data), steps=[*parent.steps, *steps])

    def _draw_parts(self, random: Draw) -> BatchParts:
        return draw_legacy(random) if random() < self.legacy_share else draw_batch(random)


def break_batch(random: Draw, parts: BatchParts) -> tuple[bytes, list[Step | str]]:
    """Return the batch with one of its layers broken, and the steps."""
    fixes_checksum = random() < _FIXED_SHARE
    x = random()
    steps: Sequence[Step]
    payload: bytes | None = None
    if x < 0.3 and parts.head:
        head, steps = mutate(random, parts.head, parts.head_spots)
        # Do not undo a mutation of length, checksum or magic.
        fixes_checksum = fixes_checksum and not any(_is_framing(step.spot) for step in steps)
        parts = parts._replace(head=head)
    elif x < 0.45 and parts.codec is not Compression.NONE:
        packed = bytearray(compress(parts.codec, parts.records))
        data, steps = mutate(random, packed, [(SpotKind.BYTES, at, at + 1, None) for at in range(len(packed))])
        payload = bytes(data)
    elif x < 0.55:
        whole = assemble(parts)
        data, steps = mutate(random, whole, [(SpotKind.BYTES, at, at + 1, None) for at in range(len(whole))])
        return bytes(data), list(steps)
    else:
        records, steps = mutate(random, parts.records, parts.record_spots)
        parts = parts._replace(records=records)
    all_steps: list[Step | str] = [
        *steps,
        "length and checksum mended" if fixes_checksum else "length and checksum left",
    ]
    return bytes(assemble(parts, fixes_checksum=fixes_checksum, payload=payload)), all_steps


def _is_framing(spot: RawSpot) -> bool:
    return spot[3] is not None and spot[3].name in ("batch_length", "crc", "magic")
