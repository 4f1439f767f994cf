"""Comparison by record, for logs with the same records in different batches or offsets, as copied by MirrorMaker 2.

Rule 1: records are compared in log order by timestamp, key, value and headers. Offsets, batches, codecs, leader epochs
and producers are ignored, and control records are skipped. Rule 2: where records differ, the logs are searched for the
nearest equal pair within a limited number of records. Records before it differ or exist on one side only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, TypeAlias

from kmirror.errors import CorruptBatch
from kmirror.log.first_difference import NONE, header_offset, record_difference
from kmirror.logdir.compare.cursor import LogCursor
from kmirror.logdir.compare.results import Difference, PartitionResult, difference_of
from kmirror.logdir.faults import FileFault, Progress, fault_of
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import Record

RECORD: Final = "record"
"""The field of a difference where only one side has a record."""
_AHEAD_MAX: Final = 1_000
_AHEAD_BYTES_MAX: Final = 16 << 20
_SHARED: Final = layout.COMPRESSION_MASK | layout.LOG_APPEND_TIME_FLAG

_Content: TypeAlias = tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]


def _content(record: Record) -> _Content:
    return record.timestamp, record.key, record.value, tuple(record.headers)


def _size(record: Record) -> int:
    return len(record.key or b"") + len(record.value or b"") + sum(len(v or b"") for _, v in record.headers)


class _Side:
    """Data records of one log from offset `first` on, with lookahead."""

    def __init__(self, cursor: LogCursor, first: int, progress: Progress) -> None:
        self._cursor = cursor
        self._first = first
        self._progress = progress
        self._lookahead: deque[Record] = deque()
        self._batch: AnyBatch | None = None
        """The batch with the next records, None before it is opened."""
        self._records: Iterator[Record] = iter(())

    def whole_batch(self) -> AnyBatch | None:
        """Return the next batch if none of its records has been read; None at the end and inside a batch."""
        if not self._lookahead and self._batch is not None:
            self._read()
        if self._lookahead:
            return None
        while (batch := self._cursor.batch()) is not None and batch.is_control:
            self.skip(batch)
        return None if batch is None or header_offset(batch) < self._first else batch

    def skip(self, batch: AnyBatch) -> None:
        """Skip a batch without reading its records."""
        self._cursor.skip(batch)
        self._progress(len(batch.view))

    def _read(self) -> bool:
        """Read the next record of the batch; at its end, pass the batch and return False."""
        assert self._batch is not None, "there is a batch"
        try:
            record = next((record for record in self._records if record.offset >= self._first), None)
        except CorruptBatch as error:
            raise self._fault(error) from None
        if record is None:
            self.skip(self._batch)
            self._batch = None
            return False
        self._lookahead.append(record)
        return True

    def _fault(self, error: CorruptBatch) -> FileFault:
        assert self._cursor.path is not None, "it stands at a batch"
        return fault_of(error, self._cursor.path)

    def _fetch(self) -> bool:
        """Read one more record; return False at the end."""
        while True:
            if self._batch is None:
                batch = self._cursor.batch()
                if batch is None:
                    return False
                if batch.is_control:
                    self.skip(batch)
                    continue
                try:
                    self._batch, self._records = batch, batch.records()
                except CorruptBatch as error:
                    raise self._fault(error) from None
            if self._read():
                return True

    def peek(self) -> Record | None:
        """Return the next record, None at the end."""
        return self._lookahead[0] if self._lookahead or self._fetch() else None

    def drop(self, count: int) -> None:
        """Drop records that were read ahead."""
        for _ in range(count):
            self._lookahead.popleft()

    def look_ahead(self) -> deque[Record]:
        """Return the next records, as many as may be kept in memory."""
        size = sum(map(_size, self._lookahead))
        while len(self._lookahead) < _AHEAD_MAX and size < _AHEAD_BYTES_MAX and self._fetch():
            size += _size(self._lookahead[-1])
        return self._lookahead


def compare_records(
    left: LogCursor, right: LogCursor, firsts: tuple[int, int], result: PartitionResult, progress: Progress
) -> None:
    """Compare the records from the cursors on, and update `result`; raises `FileFault`.

    Records below `firsts`, the log start offsets, are not part of the logs.
    """
    left_side = _Side(left, firsts[0], progress)
    right_side = _Side(right, firsts[1], lambda count: None)
    shares = result.shares
    while True:
        equal_count = _skip_equal_batch(left_side, right_side)
        if equal_count:
            shares.common.records += equal_count
            continue
        one, other = left_side.peek(), right_side.peek()
        if one is None and other is None:
            return
        if one is not None and other is not None and _content(one) == _content(other):
            left_side.drop(1)
            right_side.drop(1)
            shares.common.records += 1
            continue
        left_count, right_count = _next_equal_pair(left_side.look_ahead(), right_side.look_ahead())
        if not result.differences:
            result.differences.append(_difference(result, one, other, left_count, right_count))
        both = min(left_count, right_count)
        shares.differing.records += both
        shares.only_expected.records += left_count - both
        shares.only_found.records += right_count - both
        left_side.drop(left_count)
        right_side.drop(right_count)


def _skip_equal_batch(left_side: _Side, right_side: _Side) -> int:
    """Skip two batches with the same record bytes and return their number of records; 0 if the next ones differ."""
    one, other = left_side.whole_batch(), right_side.whole_batch()
    if not (isinstance(one, Batch) and isinstance(other, Batch)) or not _have_equal_records(one, other):
        return 0
    left_side.skip(one)
    right_side.skip(other)
    return one.record_count


def _have_equal_records(one: Batch, other: Batch) -> bool:
    """Return whether two batches certainly have the same records, judged without decoding them.

    False if unknown.
    """
    return (
        one.record_count == other.record_count > 0
        and one.base_timestamp == other.base_timestamp
        and one.max_timestamp == other.max_timestamp
        and not (one.attributes ^ other.attributes) & _SHARED
        and one.batch_length == other.batch_length
        and bytes(one.view[layout.RECORDS_AT :]) == bytes(other.view[layout.RECORDS_AT :])
    )


def _next_equal_pair(left: deque[Record], right: deque[Record]) -> tuple[int, int]:
    """Return the numbers of records before the nearest equal pair, or of all records read ahead if there is none."""
    indexes: dict[_Content, int] = {}
    for index, record in enumerate(right):
        indexes.setdefault(_content(record), index)
    best = len(left), len(right)
    for index, record in enumerate(left):
        if index >= sum(best):
            break
        found = indexes.get(_content(record))
        if found is not None and index + found < sum(best):
            best = index, found
    return best


def _difference(
    result: PartitionResult, one: Record | None, other: Record | None, left_count: int, right_count: int
) -> Difference:
    """Return the difference between the next records; the counts are those before the next equal pair."""
    tp = result.tp
    if one is not None and other is not None and left_count and right_count:
        difference = record_difference(one, other)
        assert difference is not None, "they are not equal"
        return difference_of(tp, difference, other.offset)
    if one is not None and left_count:
        text = f"only the left log has the record at offset {one.offset}"
        at = None if other is None else other.offset
        return Difference(
            tp, one.offset, RECORD, one.offset, NONE, f"{text}{_further_text(left_count)}", right_offset=at
        )
    assert other is not None and right_count, "one side continues"
    text = f"only the right log has the record at offset {other.offset}"
    at = other.offset if one is None else one.offset
    return Difference(
        tp, at, RECORD, NONE, other.offset, f"{text}{_further_text(right_count)}", right_offset=other.offset
    )


def _further_text(count: int) -> str:
    return "" if count == 1 else f" and the {count - 1} after it" if count < _AHEAD_MAX else " and those after it"
