"""Where do two sequences of batches part?

What was expected is walked in log order, and what was found beside it. As long as the same bytes come next on both
sides that is all there is to say; where they do not, offsets tell which batch stands beside which.

Rule 1: a batch that begins at the same offset on both sides is one batch that differs; else the side that begins lower
has one that the other side lacks.
Rule 2: two batches differ in their format, or else in the first of the header's fields, or else in a byte.

Where batches come from, up to which offset they are compared and how a difference is put in words is for the caller:
the simulator (`sim.checkers`), `kmirror diff` (`logdir.compare`) and `kmirror spark-verify` (`spark.compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from kmirror.records.layout import HEADER_FIELDS, MAGIC_V2, Buffer
from kmirror.records.legacy import LEGACY_FIELDS, AnyBatch, LegacyBatch

Value: TypeAlias = int | str | None
"""What a field holds on one side: a number, or its value in words; None where there is none or it is not known."""
BATCH: Final = "batch"
"""The field of a `Parting` where one side has no batch."""
NONE: Final = "none"
"""What a side that has no batch has in its place."""
FLIPPED_BITS_MAX: Final = 16
"""So many bits at most a damage flips; with more it is another batch."""


class Match(Enum):
    """How what was found stands to what was expected."""

    EQUAL = "equal"
    FLIPPED = "flipped"  # The same batch but for some bits.
    UNLIKE = "unlike"  # Another batch at the same offset.
    MISSING = "missing"  # Only expected.
    EXTRA = "extra"  # Only found.


class Step(NamedTuple):
    """What comes next on both sides, None where a side is at its end.

    `found` is also None where it need not be read as a batch: where both are EQUAL, and where it is FLIPPED.
    """

    match: Match
    expected: AnyBatch | None
    found: AnyBatch | None


class Cursor(Protocol):
    """A place in the log that was found."""

    def match(self, batch: AnyBatch) -> Match | None:
        """Return EQUAL or FLIPPED if this batch comes next, None where what comes next has to be read."""

    def batch(self) -> AnyBatch | None:
        """Return the batch that comes next, None at the end; raises `CorruptBatch` where none can be."""

    def skip(self, batch: AnyBatch) -> None:
        """Pass a batch of this size."""


def steps(expected: Iterable[AnyBatch], found: Cursor) -> Iterator[Step]:
    """Yield what both sides have, in log order; while a step is looked at, `found` is still before its batch.

    Raises `CorruptBatch` as `expected` and `found` do.
    """
    for batch in expected:
        while True:
            match, other = found.match(batch), None
            if match is None:
                other = found.batch()
                match = _beside(batch, other)
            yield Step(match, batch, other)
            if match is not Match.MISSING:
                found.skip(batch if other is None else other)
            if match is not Match.EXTRA:
                break
    while (other := found.batch()) is not None:
        yield Step(Match.EXTRA, None, other)
        found.skip(other)


def _beside(batch: AnyBatch, other: AnyBatch | None) -> Match:
    """Return how a batch that was found stands to one that is not the same."""
    if other is None or header_offset(other) > header_offset(batch):
        return Match.MISSING
    return Match.UNLIKE if header_offset(other) == header_offset(batch) else Match.EXTRA


@dataclass(slots=True)
class Comparison:
    """How far two sequences are equal."""

    batches: int = 0
    bytes: int = 0
    parted: Step | None = None
    """The first step that is not EQUAL, None if there is none."""


def compare(expected: Iterable[AnyBatch], found: Iterable[AnyBatch]) -> Comparison:
    """Compare two sequences up to where they part; raises `CorruptBatch` as they do."""
    result = Comparison()
    for step in steps(expected, _Sequence(found)):
        if step.expected is None or step.match is not Match.EQUAL:
            result.parted = step
            break
        result.batches += 1
        result.bytes += len(step.expected.view)
    return result


class _Sequence:
    """A cursor over batches that are at hand."""

    def __init__(self, batches: Iterable[AnyBatch]) -> None:
        self._left = iter(batches)
        self._next = next(self._left, None)

    def match(self, batch: AnyBatch) -> Match | None:
        other = self._next
        return Match.EQUAL if other is not None and other.view == batch.view else None

    def batch(self) -> AnyBatch | None:
        return self._next

    def skip(self, batch: AnyBatch) -> None:
        self._next = next(self._left, None)


class Parting(NamedTuple):
    """Where two sequences part.

    `field` is a name of the header's, `byte N of the batch` where no field differs (N is `byte`, the values are its),
    or BATCH where one side has none: then the values are the offsets of the one that is there, and NONE.
    """

    offset: int
    field: str
    expected: Value
    found: Value
    byte: int | None = None


def parting(step: Step) -> Parting:
    """Say in what the two sides of a step differ whose batches were read and are not equal."""
    one, other = step.expected, step.found
    if one is None or other is None:
        batch = one or other
        assert batch is not None, "one side goes on"
        values = (offsets(batch), NONE) if other is None else (NONE, offsets(batch))
        return Parting(header_offset(batch), BATCH, *values)
    offset = min(header_offset(one), header_offset(other))
    names = ("magic",) if one.magic != other.magic else LEGACY_FIELDS if one.magic < MAGIC_V2 else HEADER_FIELDS
    field = first_field(one, other, names)
    if field is not None:
        return Parting(offset, *field)
    at = first_byte(one.view, other.view)
    assert at is not None, "the batches are not equal"
    return Parting(offset, byte_field(at), one.view[at], other.view[at], at)


class FieldValues(NamedTuple):
    """A field with another value on each side."""

    name: str
    expected: Any
    found: Any


def first_field(expected: object, found: object, names: Iterable[str]) -> FieldValues | None:
    """Return the first of the attributes `names` that differs, None if all are equal; raises as these do."""
    for name in names:
        here, there = getattr(expected, name), getattr(found, name)
        if here != there:
            return FieldValues(name, here, there)
    return None


def first_byte(expected: Buffer, found: Buffer) -> int | None:
    """Return where two buffers differ first, None if one begins the other."""
    return next((at for at, (one, other) in enumerate(zip(expected, found, strict=False)) if one != other), None)


def byte_field(at: int) -> str:
    """Return what a byte is called in which no field has a part, or only one that is equal."""
    return f"byte {at} of the batch"


class FlippedBits(NamedTuple):
    """How many bits differ, and the first one: in which byte, and which of its bits counted from the lowest."""

    total: int
    byte: int
    bit: int


def flipped_bits(expected: Buffer, found: Buffer) -> FlippedBits | None:
    """Return the bits in which two buffers of one size differ, None if they are equal or more than a damage flips."""
    assert len(expected) == len(found), "bits have places"
    difference = int.from_bytes(found, "big") ^ int.from_bytes(expected, "big")
    total = difference.bit_count()
    if not 0 < total <= FLIPPED_BITS_MAX:
        return None
    high = difference.bit_length() - 1  # The first byte is the highest of the number.
    return FlippedBits(total, len(expected) - 1 - high // 8, high % 8)


def header_offset(batch: AnyBatch) -> int:
    """Return the offset that the header gives: the first, and in formats 0 and 1 the last."""
    return batch.last_offset if isinstance(batch, LegacyBatch) else batch.base_offset


def offsets(batch: AnyBatch) -> str:
    """Return the offsets that the header gives, in words."""
    first, last = header_offset(batch), batch.last_offset
    return f"{first}-{last}" if batch.magic >= MAGIC_V2 else str(last)
