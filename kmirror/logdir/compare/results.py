"""What came out of a comparison of two log folders?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.log.compare import Extent, Shares
from kmirror.log.parting import Parting, Place, Value

LEFT: Final = "left"
RIGHT: Final = "right"


class Difference(NamedTuple):
    """Where two logs part: `left` and `right` are the two values of `field`.

    `offset` is None where one side lacks the partition, or a file cannot be read at a place without an offset.
    `right_offset` is the offset on the right where records were compared, whose offsets need not be equal. `place` is
    the first byte that differs, None where a side has nothing there.
    """

    tp: TopicPartition
    offset: int | None
    field: str
    left: Value
    right: Value
    text: str
    place: Place | None = None
    right_offset: int | None = None

    def __str__(self) -> str:
        place = str(self.tp) if self.offset is None else f"{self.tp} offset {self.offset}"
        if self.right_offset is not None and self.right_offset != self.offset:
            place += f" (right: {self.right_offset})"
        return f"{place}: {self.text}"


def told(tp: TopicPartition, where: Parting, right_offset: int | None = None) -> Difference:
    """Put in words how two batches or records differ."""
    text = f"{where.field} is {_shown(where.expected)} on the left and {_shown(where.found)} on the right"
    if where.place is not None:
        text += f"; {where.place.words(LEFT, RIGHT)}"
    return Difference(
        tp, where.offset, where.field, where.expected, where.found, text, where.place, right_offset
    )  # fmt: skip


def _shown(value: Value) -> Value:
    return "null" if value is None else value


@dataclass(slots=True)
class PartitionResult:
    """What two logs of a partition have in common, and the first place where they differ."""

    tp: TopicPartition
    shares: Shares = field(default_factory=Shares)
    """`only_expected` is what the left alone has, `only_found` what the right alone has."""
    bytes: int = 0
    """Of the batches that are equal."""
    differences: list[Difference] = field(default_factory=list)
    """At most one where they part, and one where a file could not be read further."""
    notes: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Return whether all that either side has is on both; of two empty logs nothing differs."""
        return not self.differences

    def __str__(self) -> str:
        return f"{self.tp}: {shares_in_words(self.shares, LEFT, RIGHT)}"


def shares_in_words(shares: Shares, one: str, other: str) -> str:
    """Return how much is where, `one` and `other` being what the sides are called; what is nowhere is not told."""
    rows = {
        "with other content": shares.differing,
        f"only {one}": shares.only_expected,
        f"only {other}": shares.only_found,
    }
    common = "nothing" if shares.common.is_empty else in_words(shares.common)
    return ", ".join(
        [f"{common} on both sides", *(f"{in_words(part)} {where}" for where, part in rows.items() if not part.is_empty)]
    )


def in_words(extent: Extent) -> str:
    """Return how much it is, such as `3 batches (12 offsets) and 1 record`."""
    parts = []
    if extent.batches or not extent.records:
        parts.append(f"{counted(extent.batches, 'batch')} ({counted(extent.offsets, 'offset')})")
    if extent.records:
        parts.append(counted(extent.records, "record"))
    return " and ".join(parts)


@dataclass(slots=True)
class ComparisonResult:
    """What was compared and where it differs."""

    partitions: list[PartitionResult] = field(default_factory=list)
    """Those that both sides have."""
    only_left: list[TopicPartition] = field(default_factory=list)
    only_right: list[TopicPartition] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    """All of them; a partition that only one side has is one, unless only common ones were asked for."""
    notes: list[str] = field(default_factory=list)

    @property
    def batches(self) -> int:
        """Return how many batches are equal."""
        return sum(each.shares.common.batches for each in self.partitions)

    @property
    def records(self) -> int:
        """Return how many records are equal that stand in other batches."""
        return sum(each.shares.common.records for each in self.partitions)

    @property
    def bytes(self) -> int:
        """Return how many bytes the equal batches have."""
        return sum(each.bytes for each in self.partitions)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was compared: no partition is on both sides, or none of those holds a batch."""
        return all(each.shares.is_empty for each in self.partitions)

    @property
    def is_equal(self) -> bool:
        """Return whether something was compared, and nothing differs."""
        return not (self.differences or self.is_empty)
