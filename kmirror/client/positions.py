"""Positions of a consumer by partition, and the ones that were moved."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass

from kmirror.kernel.ids import TopicPartition

NO_EPOCH = -1
"""No leader epoch is known."""


@dataclass(frozen=True, slots=True)
class Position:
    """The next offset to read (Kafka's FetchPosition)."""

    offset: int
    epoch: int = NO_EPOCH
    """Leader epoch of the batch before it, or -1 after a seek."""


class Positions(MutableMapping[TopicPartition, Position]):
    """Next position by partition: a mapping that remembers which partitions were moved."""

    def __init__(self) -> None:
        self._positions: dict[TopicPartition, Position] = {}
        self._moved: dict[TopicPartition, None] = {}

    def __getitem__(self, tp: TopicPartition) -> Position:
        return self._positions[tp]

    def __setitem__(self, tp: TopicPartition, position: Position) -> None:
        self._positions[tp] = position
        self._moved[tp] = None

    def __delitem__(self, tp: TopicPartition) -> None:
        del self._positions[tp]
        self._moved[tp] = None

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def take_moved(self) -> list[TopicPartition]:
        """Return the partitions whose position was set or deleted since the last call."""
        moved = list(self._moved)
        self._moved.clear()
        return moved
