"""Stream of growing log directories.

An offset of the stream is, for each partition folder, the segment and the byte in it up to which everything has been
delivered. Spark keeps it in its checkpoint and requests the same ranges again after a failure, and segments never
change below their end: so each batch of records comes exactly once. A torn tail is left until it is complete. Segments
that a broker deleted before they were read cannot be delivered: the stream stops and names them, or continues with the
option `onCorrupt` set to skip or row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)

from kmirror.errors import UsageError
from kmirror.log.committed import Committed
from kmirror.logdir.faults import Unreadable
from kmirror.logdir.mapped import map_file
from kmirror.records import layout
from kmirror.spark.folders import FolderSegment, Split, find_segments
from kmirror.spark.options import LogOptions
from kmirror.spark.pieces import pack, read_piece
from kmirror.spark.rows import BrokenPlace, iter_batches

Position = dict[str, int]
"""base: the segment; byte: the position in it; offset: the next Kafka offset, for people."""


class KafkaLogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows the logs under a path."""

    def __init__(self, options: LogOptions) -> None:
        if options.is_committed:
            raise UsageError(
                "a stream of kafka-log reads uncommitted: records that are aborted later cannot be removed"
            )
        self._options = replace(options, query=replace(options.query, tolerates_torn_tail=True))
        self._last: dict[str, tuple[int, int]] | None = None
        """Folder to the last segment that a trigger `availableNow` found, with its size: the limit of that trigger."""
        self._first_folder = 0

    def initialOffset(self) -> dict[str, Position]:
        # No partition yet: everything that exists is new, and so are partitions that come later.
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:
        limit = self._options.bytes_per_trigger
        return ReadAllAvailable() if limit is None else ReadMaxBytes(limit)

    def prepareForTriggerAvailableNow(self) -> None:
        self._last = {folder: (found[-1].base_offset, found[-1].size) for folder, found in self._folders()}

    def latestOffset(self, start: dict[str, Position], limit: ReadLimit) -> dict[str, Position]:
        """Return the end of the next micro-batch, at most `bytesPerTrigger` bytes beyond the last one."""
        left = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        latest = {folder: dict(position) for folder, position in start.items()}
        folders = self._folders()
        if left is not None and folders:
            # Each time another partition is first: one that grows fast would leave nothing for those after it.
            self._first_folder = (self._first_folder + 1) % len(folders)
            folders = folders[self._first_folder :] + folders[: self._first_folder]
        for folder, segments in folders:
            position, read_bytes = self._advance(folder, segments, start.get(folder), left)
            if position is not None:
                latest[folder] = position
            left = None if left is None else max(left - read_bytes, 0)
            if left == 0:
                break
        return latest

    def partitions(self, start: dict[str, Position], end: dict[str, Position]) -> Sequence[InputPartition]:
        """Return the pieces of work between two positions of the stream."""
        splits: list[tuple[Split, Committed]] = []
        for folder, segments in self._folders():
            if folder not in end:
                continue
            first, last = start.get(folder), end[folder]
            self._check_gap(folder, segments, first)
            for segment in segments:
                if segment.base_offset > last["base"] or (first is not None and segment.base_offset < first["base"]):
                    continue
                begin = first["byte"] if first is not None and segment.base_offset == first["base"] else 0
                until = last["byte"] if segment.base_offset == last["base"] else segment.size
                if until > segment.size:
                    raise UsageError(
                        f"{segment.path}: {until} bytes were read, but it has {segment.size}: it was truncated"
                    )
                if begin < until:
                    splits.append((Split(segment, begin, until), Committed()))
        return pack(splits, self._options.query, self._options.split_bytes)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return read_piece(partition)

    # -- folders ------------------------------------------------------------------------------

    def _folders(self) -> list[tuple[str, list[FolderSegment]]]:
        options = self._options
        topics = None if options.topics is None else frozenset(options.topics)
        try:
            found = find_segments(options.path, topics=topics, internal=options.include_internal)
        except (UsageError, Unreadable):
            if not Path(options.path).is_dir():
                raise
            return []  # Nothing has been written yet.
        folders = [(key, list(group)) for key, group in groupby(found, key=lambda s: s.path.rpartition("/")[0])]
        return folders if self._last is None else list(self._cut_to_trigger(folders, self._last))

    @staticmethod
    def _cut_to_trigger(
        folders: Sequence[tuple[str, list[FolderSegment]]], last: dict[str, tuple[int, int]]
    ) -> Iterator[tuple[str, list[FolderSegment]]]:
        """Yield the segments that existed when the trigger began."""
        for folder, segments in folders:
            if folder not in last:
                continue
            base, size = last[folder]
            known = [s for s in segments if s.base_offset <= base]
            if known:
                if known[-1].base_offset == base:
                    known[-1] = replace(known[-1], size=min(known[-1].size, size))
                yield folder, known

    def _advance(
        self, folder: str, segments: list[FolderSegment], start: Position | None, limit: int | None
    ) -> tuple[Position | None, int]:
        """Return the position up to which a partition can be read now, and the number of bytes."""
        self._check_gap(folder, segments, start)
        position, read_bytes = start, 0
        for segment in segments:
            if start is not None and segment.base_offset < start["base"]:
                continue
            begin = start["byte"] if start is not None and start["base"] == segment.base_offset else 0
            end, offset = self._end_of_whole_batches(segment, begin, None if limit is None else limit - read_bytes)
            if position is None or end > begin or segment.base_offset > position["base"]:
                position = {"base": segment.base_offset, "byte": end, "offset": offset}
            read_bytes += end - begin
            if end < segment.size or (limit is not None and read_bytes >= limit):
                break
        return position, read_bytes

    def _end_of_whole_batches(self, segment: FolderSegment, begin: int, limit: int | None) -> tuple[int, int]:
        """Return the end of the last whole batch from `begin` on, and the offset after it."""
        data = map_file(segment.path)[: segment.size]
        end, offset = begin, segment.base_offset
        headers = replace(self._options.query, level="batch")
        for item in iter_batches(data, begin, len(data), headers):
            if isinstance(item, BrokenPlace):
                # The read of this range reports the error; a rolled segment ends here anyway.
                is_preallocated = not bytes(data[item.position : item.position + layout.LOG_OVERHEAD]).strip(b"\0")
                end = end if is_preallocated else len(data)
                break
            if limit is not None and end > begin and end + item.size_in_bytes - begin > limit:
                break
            end, offset = item.position + item.size_in_bytes, item.next_offset
        return end, offset

    def _check_gap(self, folder: str, segments: list[FolderSegment], start: Position | None) -> None:
        """Raise if the next segment has been deleted, unless records may be skipped."""
        if start is None or self._options.query.on_corrupt != "fail":
            return
        bases = [segment.base_offset for segment in segments]
        if start["base"] in bases:
            return
        if not bases or min(bases) > start["offset"]:
            until = min(bases, default=None)
            raise UsageError(
                f"{folder}: segment {start['base']:020}.log was deleted before it was read to its end: offsets from "
                f"{start['offset']} {'on' if until is None else f'to {until - 1}'} cannot be delivered; "
                "onCorrupt=skip continues without them"
            )
