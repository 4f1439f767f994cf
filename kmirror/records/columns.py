"""Records of many batches as columns.

One Python step per record finds its start. numpy then reads each field of all records together, so thousands of records
cost as much as a hundred objects. Keys and values stay in place: a column holds their positions, and `to_arrow` returns
`binary_view`s of the same memory. Faster than objects from a few hundred records on.

Requires numpy, and pyarrow for `to_arrow`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kmirror.errors import CorruptBatch
from kmirror.records.batch import Batch
from kmirror.records.codecs import DECOMPRESSED_BYTES_MAX
from kmirror.records.framing import record_starts
from kmirror.records.layout import TimestampType
from kmirror.records.record import read_headers
from kmirror.records.varint import VARINT_SIZE_MAX, VARLONG_SIZE_MAX

Ints: TypeAlias = npt.NDArray[np.int64]

# Gathering may read past the last record; these bytes are zeros.
_PAD: Final = bytes(16)
_INLINE_MAX: Final = 12  # Maximum size of a value stored inside an Arrow view.
# Masks of the three inline words, by size of the value: unused bytes must be zero.
_INLINE_MASKS: Final = [
    np.array([(1 << 8 * min(max(size - at, 0), 4)) - 1 for size in range(13)], dtype="<u4") for at in (0, 4, 8)
]
_MASK_32: Final = 0xFFFFFFFF
_MASK_63: Final = 0x7FFFFFFFFFFFFFFF
_HEADERS_TOGETHER_MAX: Final = 16
_VIEW_OFFSET_MAX: Final = 0x7FFFFFFF


class _Malformed(Exception):
    """A record is malformed; decoding it as an object gives the exact error."""


@dataclass(slots=True)
class Columns:
    """Columns of equal length, one row per record; a size of -1 is a null."""

    data: bytes  # The uncompressed records of all batches, concatenated.
    batch: Ints  # Index of the record's batch, from 0.
    offset: Ints
    timestamp: Ints
    key_start: Ints
    key_size: Ints
    value_start: Ints
    value_size: Ints
    header_count: Ints
    header_start: Ints  # Position of the first header.

    def __len__(self) -> int:
        return len(self.offset)

    def key(self, row: int) -> bytes | None:
        """Return the key of a row, or None if it is null."""
        return self._slice(self.key_start[row], self.key_size[row])

    def value(self, row: int) -> bytes | None:
        """Return the value of a row, or None if it is null."""
        return self._slice(self.value_start[row], self.value_size[row])

    def _slice(self, start: np.int64, size: np.int64) -> bytes | None:
        return None if size < 0 else self.data[start : start + size]

    def to_arrow(self) -> Any:
        """Return a `pyarrow.RecordBatch`; keys and values are views into `data`, which it keeps alive."""
        arrow = import_module("pyarrow")
        columns = {
            "offset": arrow.array(self.offset),
            "timestamp": arrow.array(self.timestamp),
            "key": self._views(arrow, self.key_start, self.key_size),
            "value": self._views(arrow, self.value_start, self.value_size),
            "header_count": arrow.array(self.header_count),
            "batch": arrow.array(self.batch),
        }
        return arrow.RecordBatch.from_pydict(columns)

    def _views(self, arrow: Any, start: Ints, size: Ints) -> Any:
        """Return a `binary_view` array: 16 bytes per row with the size, then the value or a prefix and its position."""
        if len(self.data) > _VIEW_OFFSET_MAX:
            raise OverflowError(f"Arrow views reach {_VIEW_OFFSET_MAX} bytes, not {len(self.data)}: take fewer batches")
        null = size < 0
        # The same bytes as a little-endian word at every position, aligned or not.
        words = np.ndarray((len(self.data) - 3,), dtype="<u4", buffer=self.data, strides=(1,))
        views = np.empty((len(start), 4), dtype="<u4")
        views[:, 0] = size
        views[null, 0] = 0
        views[:, 1] = words[start]
        views[:, 2] = 0
        views[:, 3] = start
        short = np.flatnonzero(size <= _INLINE_MAX)
        if len(short):
            rows = slice(None) if len(short) == len(size) else short
            first, length = start[rows], np.maximum(size[rows], 0)
            for word, masks in enumerate(_INLINE_MASKS):
                views[rows, word + 1] = words[first + 4 * word] & masks.take(length)
        validity = None
        if null.any():
            validity = arrow.py_buffer(np.packbits(~null, bitorder="little").tobytes())
        buffers = [validity, arrow.py_buffer(views), arrow.py_buffer(self.data)]
        return arrow.Array.from_buffers(arrow.binary_view(), len(start), buffers, int(null.sum()))


class _Reader:
    """Reads one field of all records at a time; `at` has the position of the next field of each record.

    Nothing is validated here. A field that is too long moves the position past the end of its record, never back; the
    caller detects this after the last field. numpy itself prevents reads past the data.
    """

    def __init__(self, data: npt.NDArray[np.uint8], at: Ints) -> None:
        self.bytes = data
        self.at = at

    def raw(self, size_max: int) -> Ints:
        """Read a varint of at most `size_max` bytes, still zig-zag encoded."""
        raw = self.bytes.take(self.at).astype(np.int64)
        self.at = self.at + 1
        longer = np.flatnonzero(raw > 127)
        if not len(longer):
            return raw
        raw[longer] &= 127
        at = self.at[longer]
        for shift in range(7, 7 * size_max, 7):
            next_bytes = self.bytes.take(at).astype(np.int64)
            at += 1
            raw[longer] |= (next_bytes & 127) << shift
            self.at[longer] = at
            continued = np.flatnonzero(next_bytes > 127)
            if not len(continued):
                return raw & _MASK_32 if shift > 21 and size_max == VARINT_SIZE_MAX else raw
            longer = longer[continued]
            at = at[continued]
        raise _Malformed

    def read_varint(self) -> Ints:
        raw = self.raw(VARINT_SIZE_MAX)
        return (raw >> 1) ^ -(raw & 1)

    def read_varlong(self) -> Ints:
        raw = self.raw(VARLONG_SIZE_MAX)
        return (raw >> 1 & _MASK_63) ^ -(raw & 1)

    def read_sized(self) -> tuple[Ints, Ints]:
        """Read a length and skip that many bytes; return their position and size, -1 for null."""
        size = self.raw(VARINT_SIZE_MAX)
        start = self.at
        null = np.flatnonzero(size & 1)
        size >>= 1
        if not len(null):
            self.at = start + size
            return start, size
        size[null] = 0
        self.at = start + size
        size[null] = -1
        return start, size

    def skip_headers(self, counts: Ints, data: bytes, count_at: Ints, end: Ints) -> None:
        """Skip `counts` headers of each record; the counts were read at `count_at`."""
        # Each step skips one header of all records. Records with many headers are read one by one.
        for row in np.flatnonzero(counts > _HEADERS_TOGETHER_MAX):
            self.at[row] = read_headers(data, int(count_at[row]), int(end[row]))[1]
        rows = np.flatnonzero((counts > 0) & (counts <= _HEADERS_TOGETHER_MAX))
        header_index = 0
        while len(rows):
            reader = _Reader(self.bytes, self.at[rows])
            _, name_size = reader.read_sized()
            if (name_size < 0).any():
                raise _Malformed
            reader.read_sized()
            self.at[rows] = reader.at
            header_index += 1
            rows = rows[counts[rows] > header_index]


def read_columns(batches: Iterable[Batch], *, limit: int = DECOMPRESSED_BYTES_MAX) -> Columns:
    """Return the records of `batches` as columns; raises the same `CorruptBatch` as decoding them to objects.

    `limit` applies to each batch. Control batches are read like others; leave them out if they are not wanted.
    """
    batch_list = list(batches)
    pieces = [batch.region(limit=limit) for batch in batch_list]
    data = b"".join((*pieces, _PAD))
    starts: list[int] = []
    at = 0
    for batch, piece in zip(batch_list, pieces, strict=True):
        try:
            starts += record_starts(data, batch.record_count, at, at + len(piece))
        except CorruptBatch:
            raise _decoding_error([batch], limit) from None
        at += len(piece)
    counts = np.array([batch.record_count for batch in batch_list], dtype=np.int64)
    try:
        return _read(data, np.array(starts, dtype=np.int64), batch_list, counts)
    except (_Malformed, IndexError, CorruptBatch):
        raise _decoding_error(batch_list, limit) from None


def _decoding_error(batches: list[Batch], limit: int) -> CorruptBatch:
    """Return the error that decoding these batches to objects raises."""
    for batch in batches:
        try:
            for _ in batch.records(limit=limit):
                pass
        except CorruptBatch as error:
            return error
    raise AssertionError("columns refused a batch that reading as objects accepts")


def _read(data: bytes, starts: Ints, batches: list[Batch], counts: Ints) -> Columns:
    batch_index = np.repeat(np.arange(len(batches), dtype=np.int64), counts)
    reader = _Reader(np.frombuffer(data, dtype=np.uint8), starts)
    start, length = reader.read_sized()
    end = reader.at
    reader.at = start + 1  # Skip the attributes: none are defined.
    timestamp = (
        np.array([batch.base_timestamp for batch in batches], dtype=np.int64)[batch_index] + reader.read_varlong()
    )
    offset = np.array([batch.base_offset for batch in batches], dtype=np.int64)[batch_index] + reader.read_varint()
    key_start, key_size = reader.read_sized()
    value_start, value_size = reader.read_sized()
    count_at = reader.at
    header_count = reader.read_varint()
    if (length < 0).any() or (header_count < 0).any():
        raise _Malformed
    header_start = reader.at.copy()
    reader.skip_headers(header_count, data, count_at, end)
    if (reader.at != end).any():
        raise _Malformed
    has_append_time = np.array([batch.timestamp_type == TimestampType.LOG_APPEND_TIME for batch in batches], dtype=bool)
    if has_append_time.any():
        max_timestamps = np.array([batch.max_timestamp for batch in batches], dtype=np.int64)
        timestamp = np.where(has_append_time[batch_index], max_timestamps[batch_index], timestamp)
    return Columns(
        data,
        batch_index,
        offset,
        timestamp,
        key_start,
        key_size,
        value_start,
        value_size,
        header_count,
        header_start,
    )
