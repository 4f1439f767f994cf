"""The work of one task, for tables and streams: a piece of a large segment, or several small ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import InputPartition

from kmirror.log.committed import Committed
from kmirror.spark.folders import Split
from kmirror.spark.rows import RowQuery, read_split

SMALL_SHARE = 16


@dataclass
class Piece(InputPartition):
    """One task's work: a piece of a large segment, or some small ones. Spark pickles it."""

    splits: list[tuple[Split, Committed]]
    query: RowQuery

    @property
    def size(self) -> int:
        return sum(part.end - part.start for part, _ in self.splits)

    def __repr__(self) -> str:
        return "Piece({})".format(", ".join(f"{s.segment.path}:{s.start}-{s.end}" for s, _ in self.splits))


def pack(splits: Sequence[tuple[Split, Committed]], query: RowQuery, split_bytes: int) -> list[Piece]:
    """Return pieces: one for each split, but small ones together, because a task costs some 20 ms by itself."""
    small = split_bytes // SMALL_SHARE
    pieces: list[Piece] = []
    for part, committed in splits:
        size = part.end - part.start
        if pieces and pieces[-1].size + size <= small:
            pieces[-1].splits.append((part, committed))
        else:
            pieces.append(Piece([(part, committed)], query))
    return pieces


def read_piece(partition: InputPartition) -> Iterator[Any]:
    """Yield the Arrow record batches of a piece; in an empty plan the one partition is not a piece."""
    if isinstance(partition, Piece):
        for part, committed in partition.splits:
            yield from read_split(part, partition.query, committed)
