"""Where do two sequences of batches part?

What was expected is walked in log order, and what was found beside it. As long as the same bytes come next on both
sides that is all there is to say; where they do not, offsets tell which batch stands beside which.

Rule 1: a batch that begins at the same offset on both sides is one batch that differs; else the side that begins lower
has one that the other side lacks.
Rule 2: what differs in two batches is for `kmirror.log.parting` to say.

Where batches come from and up to which offset they are compared is for the caller: the simulator (`sim.checkers`),
`kmirror diff` (`logdir.compare`) and `kmirror spark-verify` (`spark.compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, Protocol

from kmirror.log.parting import Parting, header_offset, lacking, part
from kmirror.records.layout import COMPRESSION_MASK, Buffer
from kmirror.records.legacy import AnyBatch, LegacyBatch

FLIPPED_BITS_MAX: Final = 16
"""So many bits at most a damage flips; with more it is another batch."""
_FLIPS_TOGETHER: Final = 4096


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


def parting(step: Step) -> Parting:
    """Say in what the two sides of a step differ whose batches were read and are not equal."""
    one, other = step.expected, step.found
    if one is not None and other is not None:
        return part(one, other)
    batch = one or other
    assert batch is not None, "one side goes on"
    return lacking(batch, is_expected=other is None)


# -- how much is equal ------------------------------------------------------------------------


@dataclass(slots=True)
class Extent:
    """Batches, and the offsets from the first to the last of each; or records, where those were compared."""

    batches: int = 0
    offsets: int = 0
    records: int = 0

    def add(self, other: Extent) -> None:
        """Add what `other` counted."""
        self.batches += other.batches
        self.offsets += other.offsets
        self.records += other.records

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was counted."""
        return not (self.batches or self.records)


@dataclass(slots=True)
class Shares:
    """What two logs have in common, what differs at the same offset, and what only one of them has.

    `differing` counts what was expected there.
    """

    common: Extent = field(default_factory=Extent)
    differing: Extent = field(default_factory=Extent)
    only_expected: Extent = field(default_factory=Extent)
    only_found: Extent = field(default_factory=Extent)

    def add(self, other: Shares) -> None:
        """Add what `other` counted."""
        self.common.add(other.common)
        self.differing.add(other.differing)
        self.only_expected.add(other.only_expected)
        self.only_found.add(other.only_found)

    def of(self, match: Match) -> Extent:
        """Return where a step counts."""
        if match is Match.MISSING:
            return self.only_expected
        if match is Match.EXTRA:
            return self.only_found
        return self.common if match is Match.EQUAL else self.differing

    def count(self, step: Step, after: int) -> None:
        """Count a step; `after` is the offset that follows the batch before on its side."""
        batch = step.found if step.match is Match.EXTRA else step.expected
        assert batch is not None, "a step has the batch that it is about"
        extent = self.of(step.match)
        extent.batches += 1
        extent.offsets += offset_count(batch, after)

    @property
    def is_empty(self) -> bool:
        """Return whether there was nothing on either side: then nothing was compared."""
        return all(part.is_empty for part in (self.common, self.differing, self.only_expected, self.only_found))

    @property
    def is_equal(self) -> bool:
        """Return whether there was something, and all of it is on both sides."""
        return not self.common.is_empty and all(
            part.is_empty for part in (self.differing, self.only_expected, self.only_found)
        )


def offset_count(batch: AnyBatch, after: int) -> int:
    """Return how many offsets a batch spans.

    A wrapper of formats 0 and 1 does not say where it begins unless it is inflated, so it counts from `after` on, the
    offset that follows the batch before.
    """
    if not isinstance(batch, LegacyBatch):
        return max(batch.last_offset_delta + 1, 0)
    is_plain = not batch.attributes & COMPRESSION_MASK
    return 1 if is_plain else max(batch.next_offset - after, 1)


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


class FlippedBits(NamedTuple):
    """How many bits differ, and the first one: in which byte, and which of its bits counted from the lowest."""

    total: int
    byte: int
    bit: int


def flipped_bits(expected: Buffer, found: Buffer) -> FlippedBits | None:
    """Return the bits in which two buffers of one size differ, None if they are equal or more than a damage flips."""
    assert len(expected) == len(found), "bits have places"
    total, first = 0, None
    for begin in range(0, len(expected), _FLIPS_TOGETHER):
        one, other = bytes(expected[begin : begin + _FLIPS_TOGETHER]), bytes(found[begin : begin + _FLIPS_TOGETHER])
        if one == other:
            continue
        difference = int.from_bytes(one, "big") ^ int.from_bytes(other, "big")
        total += difference.bit_count()
        if total > FLIPPED_BITS_MAX:
            return None
        if first is None:
            high = difference.bit_length() - 1  # The first byte is the highest of the number.
            first = begin + len(one) - 1 - high // 8, high % 8
    return None if first is None else FlippedBits(total, *first)
