"""Results of a comparison of two log folders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.log.compare import Extent, Shares
from kmirror.log.first_difference import FirstDifference, Place, Value

LEFT: Final = "left"
RIGHT: Final = "right"


class Difference(NamedTuple):
    """A difference between two logs: `left` and `right` are the two values of `field`.

    `offset` is None if one side lacks the partition, or a file is unreadable at a position without an offset.
    `right_offset` is the offset on the right when records were compared, which may have different offsets. `place` is
    the first byte that differs, None if a side has nothing there.
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
        location = str(self.tp) if self.offset is None else f"{self.tp} offset {self.offset}"
        if self.right_offset is not None and self.right_offset != self.offset:
            location += f" (right: {self.right_offset})"
        return f"{location}: {self.text}"


def difference_of(tp: TopicPartition, first: FirstDifference, right_offset: int | None = None) -> Difference:
    """Return the difference between two batches or records, with a text."""
    text = f"{first.field} is {_value_text(first.expected)} on the left and {_value_text(first.found)} on the right"
    if first.place is not None:
        text += f"; {first.place.words(LEFT, RIGHT)}"
    return Difference(
        tp, first.offset, first.field, first.expected, first.found, text, first.place, right_offset
    )  # fmt: skip


def _value_text(value: Value) -> Value:
    return "null" if value is None else value


@dataclass(slots=True)
class PartitionResult:
    """Extent of the common part of two logs of a partition, and the first difference."""

    tp: TopicPartition
    shares: Shares = field(default_factory=Shares)
    """`only_expected` counts the left side, `only_found` the right side."""
    bytes: int = 0
    """Bytes of the equal batches."""
    differences: list[Difference] = field(default_factory=list)
    """At most one difference of content, and one for an unreadable file."""
    notes: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """True if nothing differs; also for two empty logs."""
        return not self.differences

    def __str__(self) -> str:
        return f"{self.tp}: {shares_in_words(self.shares, LEFT, RIGHT)}"


def shares_in_words(shares: Shares, one: str, other: str) -> str:
    """Return the shares in words; `one` and `other` are the names of the sides. Empty shares are omitted."""
    rows = {
        "with other content": shares.differing,
        f"only {one}": shares.only_expected,
        f"only {other}": shares.only_found,
    }
    common = "nothing" if shares.common.is_empty else extent_in_words(shares.common)
    return ", ".join(
        [
            f"{common} on both sides",
            *(f"{extent_in_words(part)} {side}" for side, part in rows.items() if not part.is_empty),
        ]
    )


def extent_in_words(extent: Extent) -> str:
    """Return an extent in words, such as `3 batches (12 offsets) and 1 record`."""
    parts = []
    if extent.batches or not extent.records:
        parts.append(f"{counted(extent.batches, 'batch')} ({counted(extent.offsets, 'offset')})")
    if extent.records:
        parts.append(counted(extent.records, "record"))
    return " and ".join(parts)


@dataclass(slots=True)
class ComparisonResult:
    """Result of the comparison of all partitions."""

    partitions: list[PartitionResult] = field(default_factory=list)
    """Results of the partitions that both sides have."""
    only_left: list[TopicPartition] = field(default_factory=list)
    only_right: list[TopicPartition] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    """All differences; a partition that only one side has is one, unless only common partitions are compared."""
    notes: list[str] = field(default_factory=list)

    @property
    def batches(self) -> int:
        """Number of equal batches."""
        return sum(each.shares.common.batches for each in self.partitions)

    @property
    def records(self) -> int:
        """Number of equal records in different batches."""
        return sum(each.shares.common.records for each in self.partitions)

    @property
    def bytes(self) -> int:
        """Total size of the equal batches in bytes."""
        return sum(each.bytes for each in self.partitions)

    @property
    def is_empty(self) -> bool:
        """True if nothing was compared: no partition exists on both sides, or none of those has a batch."""
        return all(each.shares.is_empty for each in self.partitions)

    @property
    def is_equal(self) -> bool:
        """True if something was compared and nothing differs."""
        return not (self.differences or self.is_empty)
