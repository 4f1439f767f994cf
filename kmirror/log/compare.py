"""Comparison of two sequences of batches.

The expected batches are read in log order, next to the found ones. While the bytes are equal, no batch has to be
decoded; otherwise offsets decide which batches are compared with each other.

Rule 1: batches with the same base offset on both sides are one batch that differs. Otherwise the batch with the lower
base offset is missing on the other side. Rule 2: `kmirror.log.first_difference` compares two batches.

The callers choose the batches and the end offset: the simulator (`sim.checkers`), `kmirror diff` (`logdir.compare`) and
`kmirror spark-verify` (`spark.compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, Protocol

from kmirror.log.first_difference import FirstDifference, batch_difference, header_offset, missing_batch
from kmirror.records.layout import COMPRESSION_MASK, Buffer
from kmirror.records.legacy import AnyBatch, LegacyBatch

FLIPPED_BITS_MAX: Final = 16
"""Maximum number of flipped bits that count as damage; with more it is a different batch."""
_CHUNK_BYTES: Final = 4096


class Match(Enum):
    """Result of comparing the batch of one log with that of the other log at the same offset."""

    EQUAL = "equal"
    FLIPPED = "flipped"  # The same batch apart from a few bits.
    UNLIKE = "unlike"  # A different batch at the same offset.
    MISSING = "missing"  # Only among the expected batches.
    EXTRA = "extra"  # Only among the found batches.


class Step(NamedTuple):
    """The next batch of both sides, None for a side that is at its end.

    `found` is also None if it was not decoded: for EQUAL and FLIPPED.
    """

    match: Match
    expected: AnyBatch | None
    found: AnyBatch | None


class Cursor(Protocol):
    """Read position in the found log."""

    def match(self, batch: AnyBatch) -> Match | None:
        """Return EQUAL or FLIPPED if `batch` is next; None if the next batch must be decoded."""

    def batch(self) -> AnyBatch | None:
        """Return the next batch, None at the end; raises `CorruptBatch` if the bytes are no batch."""

    def skip(self, batch: AnyBatch) -> None:
        """Advance by the size of `batch`."""


def steps(expected: Iterable[AnyBatch], found: Cursor) -> Iterator[Step]:
    """Yield the steps of both sides in log order. While the caller handles a step, `found` is still before its batch.

    Raises `CorruptBatch` as `expected` and `found` do.
    """
    for batch in expected:
        while True:
            match, other = found.match(batch), None
            if match is None:
                other = found.batch()
                match = _match_by_offset(batch, other)
            yield Step(match, batch, other)
            if match is not Match.MISSING:
                found.skip(batch if other is None else other)
            if match is not Match.EXTRA:
                break
    while (other := found.batch()) is not None:
        yield Step(Match.EXTRA, None, other)
        found.skip(other)


def _match_by_offset(batch: AnyBatch, other: AnyBatch | None) -> Match:
    """Return the relation of a found batch to an expected one with different bytes."""
    if other is None or header_offset(other) > header_offset(batch):
        return Match.MISSING
    return Match.UNLIKE if header_offset(other) == header_offset(batch) else Match.EXTRA


def parting(step: Step) -> FirstDifference:
    """Return the difference in a step whose batches were decoded and are not equal."""
    one, other = step.expected, step.found
    if one is not None and other is not None:
        return batch_difference(one, other)
    batch = one or other
    assert batch is not None, "one side continues"
    return missing_batch(batch, is_expected=other is None)


# -- extent of equal and different parts ------------------------------------------------------


@dataclass(slots=True)
class Extent:
    """Number of batches and of the offsets they span, or of records if records were compared."""

    batches: int = 0
    offsets: int = 0
    records: int = 0

    def add(self, other: Extent) -> None:
        """Add the counts of `other`."""
        self.batches += other.batches
        self.offsets += other.offsets
        self.records += other.records

    @property
    def is_empty(self) -> bool:
        """True if nothing was counted."""
        return not (self.batches or self.records)


@dataclass(slots=True)
class Shares:
    """Amounts that two logs have in common, that differ at the same offset, and that only one of them has.

    `differing` counts the expected side.
    """

    common: Extent = field(default_factory=Extent)
    differing: Extent = field(default_factory=Extent)
    only_expected: Extent = field(default_factory=Extent)
    only_found: Extent = field(default_factory=Extent)

    def add(self, other: Shares) -> None:
        """Add the counts of `other`."""
        self.common.add(other.common)
        self.differing.add(other.differing)
        self.only_expected.add(other.only_expected)
        self.only_found.add(other.only_found)

    def of(self, match: Match) -> Extent:
        """Return the extent that counts steps of this kind."""
        if match is Match.MISSING:
            return self.only_expected
        if match is Match.EXTRA:
            return self.only_found
        return self.common if match is Match.EQUAL else self.differing

    def count(self, step: Step, after: int) -> None:
        """Count a step; `after` is the next offset after the previous batch of the same side."""
        batch = step.found if step.match is Match.EXTRA else step.expected
        assert batch is not None, "a step has the batch that it is about"
        extent = self.of(step.match)
        extent.batches += 1
        extent.offsets += offset_count(batch, after)

    @property
    def is_empty(self) -> bool:
        """True if both sides were empty, so nothing was compared."""
        return all(part.is_empty for part in (self.common, self.differing, self.only_expected, self.only_found))

    @property
    def is_equal(self) -> bool:
        """True if something was compared and both sides have all of it."""
        return not self.common.is_empty and all(
            part.is_empty for part in (self.differing, self.only_expected, self.only_found)
        )


def offset_count(batch: AnyBatch, after: int) -> int:
    """Return the number of offsets that a batch spans.

    A compressed wrapper of formats 0 and 1 has its base offset only inside the compressed data, so the count starts at
    `after`, the next offset after the previous batch.
    """
    if not isinstance(batch, LegacyBatch):
        return max(batch.last_offset_delta + 1, 0)
    is_plain = not batch.attributes & COMPRESSION_MASK
    return 1 if is_plain else max(batch.next_offset - after, 1)


@dataclass(slots=True)
class Comparison:
    """Size of the equal prefix of two sequences, and the first difference."""

    batches: int = 0
    bytes: int = 0
    parted: Step | None = None
    """The first step that is not EQUAL, or None."""


def compare(expected: Iterable[AnyBatch], found: Iterable[AnyBatch]) -> Comparison:
    """Compare two sequences up to the first difference; raises `CorruptBatch` as they do."""
    result = Comparison()
    for step in steps(expected, _Sequence(found)):
        if step.expected is None or step.match is not Match.EQUAL:
            result.parted = step
            break
        result.batches += 1
        result.bytes += len(step.expected.view)
    return result


class _Sequence:
    """Cursor over batches in memory."""

    def __init__(self, batches: Iterable[AnyBatch]) -> None:
        self._remaining = iter(batches)
        self._next = next(self._remaining, None)

    def match(self, batch: AnyBatch) -> Match | None:
        other = self._next
        return Match.EQUAL if other is not None and other.view == batch.view else None

    def batch(self) -> AnyBatch | None:
        return self._next

    def skip(self, batch: AnyBatch) -> None:
        self._next = next(self._remaining, None)


class FlippedBits(NamedTuple):
    """Number of differing bits, and the first of them: its byte position and its bit number (0 is the lowest bit)."""

    total: int
    byte: int
    bit: int


def flipped_bits(expected: Buffer, found: Buffer) -> FlippedBits | None:
    """Return the bits that differ between two buffers of equal size; None for none or more than FLIPPED_BITS_MAX."""
    assert len(expected) == len(found), "bits have places"
    total, first = 0, None
    for begin in range(0, len(expected), _CHUNK_BYTES):
        one, other = bytes(expected[begin : begin + _CHUNK_BYTES]), bytes(found[begin : begin + _CHUNK_BYTES])
        if one == other:
            continue
        difference = int.from_bytes(one, "big") ^ int.from_bytes(other, "big")
        total += difference.bit_count()
        if total > FLIPPED_BITS_MAX:
            return None
        if first is None:
            high = difference.bit_length() - 1  # The first byte is the most significant one of the number.
            first = begin + len(one) - 1 - high // 8, high % 8
    return None if first is None else FlippedBits(total, *first)
