"""Facts about a broker's logs; each one accompanies a line of the trace."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class FollowerCut:
    """A follower truncated its log: [offset, end) was removed from `segments` segments."""

    tp: TopicPartition
    offset: int
    end: int
    segments: int


@dataclass(frozen=True, slots=True)
class LogCompacted:
    """The cleaner compacted a log up to `end_offset` (exclusive), from `bytes_before` to `bytes_after` bytes."""

    tp: TopicPartition
    end_offset: int
    bytes_before: int
    bytes_after: int
