"""What a broker tells those who watch it about its logs. Values beside the lines of the trace."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class FollowerCut:
    """A follower cut its log: [offset, end) was removed, which lay in so many segments."""

    tp: TopicPartition
    offset: int
    end: int
    segments: int


@dataclass(frozen=True, slots=True)
class LogCompacted:
    """The cleaner went through a log up to an offset: so many bytes of it became so many."""

    tp: TopicPartition
    end_offset: int
    bytes_before: int
    bytes_after: int
