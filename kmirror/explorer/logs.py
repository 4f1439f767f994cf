"""Logs of a search: entries without bytes, with the engine's own epoch cache and truncation.

An entry is one number: leader epoch, origin, and whether it is a producer reset. The origin is the cluster that wrote
it and the number of sessions that this cluster had begun. Within one session a leader epoch has one leader, which
writes each offset once, so two entries at the same offset are the same record if and only if the numbers are equal.

Logs are interned: a log is its index in `Logs`, and the results of operations are cached.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, cast

from kmirror.cluster.replication.truncation import demanded_divergence, divergence, last_epoch, truncation_point
from kmirror.log.epochs import LeaderEpochCache

if TYPE_CHECKING:
    from kmirror.log.partition_log import PartitionLog

EPOCH_SHIFT = 6
EMPTY = 0
"""The log without entries and without epochs."""


def entry(epoch: int, cluster: int, session: int, *, is_reset: bool = False) -> int:
    """Return the number of a record that `cluster` writes in `epoch` after it has begun `session` sessions."""
    assert cluster < 2 and session < 16, "they share six bits with the mark of a reset"
    return epoch << EPOCH_SHIFT | session << 2 | cluster << 1 | is_reset


def entry_epoch(number: int) -> int:
    return number >> EPOCH_SHIFT


def entry_cluster(number: int) -> int:
    return number >> 1 & 1


def is_reset(number: int) -> bool:
    return bool(number & 1)


class ModelLog:
    """A log as the engine's functions use it, without retention: it begins at offset 0."""

    __slots__ = ("entries", "epochs")
    log_start_offset = 0

    def __init__(self, entries: tuple[int, ...], starts: Iterable[tuple[int, int]]) -> None:
        self.entries = entries
        self.epochs = LeaderEpochCache(starts)

    @property
    def log_end_offset(self) -> int:
        return len(self.entries)

    @property
    def latest_epoch(self) -> int:
        return self.epochs.latest_epoch()

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        return self.epochs.end_offset_for(epoch, len(self.entries))


def last_fetched_epoch(log: ModelLog) -> int:
    """Return the last fetched epoch that a fetch from the LEO contains."""
    return last_epoch(cast("PartitionLog", log))


class FetchResult(IntEnum):
    """Result of a fetch."""

    SERVED = 0
    DIVERGED = 1
    OUT_OF_RANGE = 2


class Logs:
    """All logs reached by a search."""

    def __init__(self) -> None:
        self.logs: list[ModelLog] = []
        self.ends: list[int] = []
        """LEO of each log."""
        self._index: dict[tuple[tuple[int, ...], tuple[tuple[int, int], ...]], int] = {}
        self._cuts: dict[tuple[int, int], int] = {}
        self._fetches: dict[tuple[int, int, bool, int, bool], tuple[FetchResult, int]] = {}
        self._intern(ModelLog((), ()))

    def _intern(self, log: ModelLog) -> int:
        key = (log.entries, tuple((start.epoch, start.start_offset) for start in log.epochs.entries))
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.logs)
            self.logs.append(log)
            self.ends.append(len(log.entries))
        return found

    def intern_log(self, entries: tuple[int, ...], starts: Iterable[tuple[int, int]]) -> int:
        """Return the log with `entries`, and epochs that begin at `starts`."""
        return self._intern(ModelLog(entries, starts))

    def append(self, log: int, numbers: Iterable[int]) -> int:
        """Return the log with these entries appended."""
        before = self.logs[log]
        after = ModelLog(before.entries, before.epochs.entries)
        for number in numbers:
            after.epochs.assign(entry_epoch(number), len(after.entries))
            after.entries += (number,)
        return self._intern(after)

    def begin_epoch(self, log: int, epoch: int) -> int:
        """Return the log after a leader has begun `epoch` at its end."""
        before = self.logs[log]
        after = ModelLog(before.entries, before.epochs.entries)
        after.epochs.assign(epoch, len(after.entries))
        return self._intern(after)

    def cut(self, log: int, offset: int) -> int:
        """Return the log truncated at `offset`; at its end or above only epochs without entries are removed."""
        found = self._cuts.get((log, offset))
        if found is None:
            before = self.logs[log]
            end = min(offset, len(before.entries))
            after = ModelLog(before.entries[:end], before.epochs.entries)
            after.epochs.truncate_from_end(end)
            found = self._cuts[log, offset] = self._intern(after)
        return found

    def cut_by_response(self, log: int, epoch: int, end_offset: int) -> int:
        """Return the log of a follower after the response that `epoch` ends at `end_offset`."""
        return self.cut(log, truncation_point(self.logs[log], epoch, end_offset).offset)

    def cut_by_epoch(self, log: int, leader: int, cut_epoch: int) -> int:
        """Return the log of a follower that `leader` has truncated to `cut_epoch` (D30)."""
        response = demanded_divergence(cast("PartitionLog", self.logs[leader]), cut_epoch)
        return self.cut_by_response(log, response.epoch, response.end_offset)

    def fetch(self, log: int, leader: int, *, foreign: bool, bound: int, one: bool) -> tuple[FetchResult, int]:
        """Return the response of `leader` to a fetch from the end of `log`, and `log` after it.

        This is the whole exchange: the engine's checks of divergence and range, then the entries below `bound`, or
        `one`.
        """
        key = (log, leader, foreign, bound, one)
        found = self._fetches.get(key)
        if found is None:
            found = self._fetches[key] = self._fetch(log, leader, foreign, bound, one)
        return found

    def _fetch(self, log: int, leader: int, foreign: bool, bound: int, one: bool) -> tuple[FetchResult, int]:
        fetching, serving = self.logs[log], self.logs[leader]
        end, fetch_epoch = fetching.log_end_offset, last_fetched_epoch(fetching)
        if fetch_epoch >= 0:
            # The engine's parameter is its log class; a model log has all that it uses.
            response = divergence(cast("PartitionLog", serving), fetch_epoch, end, foreign=foreign)
            if response is not None and response.epoch >= 0:
                return FetchResult.DIVERGED, self.cut_by_response(log, response.epoch, response.end_offset)
            if response is not None:
                return FetchResult.OUT_OF_RANGE, self.cut(log, min(end, serving.log_end_offset))
        if end > serving.log_end_offset:
            return FetchResult.OUT_OF_RANGE, self.cut(log, serving.log_end_offset)
        last = min(bound, end + 1) if one else bound
        return FetchResult.SERVED, self.append(log, serving.entries[end:last]) if last > end else log
