"""Lazily decoded records.

A `RecordView` knows only the position of its record; reading the first field decodes the record completely. A search, a
count or a sample therefore pays only for the framing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kmirror.records.batch import Batch
from kmirror.records.codecs import DECOMPRESSED_BYTES_MAX
from kmirror.records.framing import record_starts
from kmirror.records.record import BatchContext, Header, Record, decode_records


class RecordView:
    """A record that is decoded when one of its fields is read; it keeps the bytes of its whole batch alive."""

    __slots__ = ("_context", "_data", "_end", "_record", "_start")

    def __init__(self, data: bytes, start: int, end: int, context: BatchContext) -> None:
        self._data = data
        self._start = start
        self._end = end
        self._context = context
        self._record: Record | None = None

    @property
    def size_in_bytes(self) -> int:
        """Size of the record in bytes, including its length field."""
        return self._end - self._start

    def decode(self) -> Record:
        """Return the record; raises `CorruptBatch` if its fields do not fill it."""
        if self._record is None:
            (self._record,) = decode_records(self._data[self._start : self._end], 1, self._context)
        return self._record

    @property
    def offset(self) -> int:
        return self.decode().offset

    @property
    def timestamp(self) -> int:
        return self.decode().timestamp

    @property
    def key(self) -> bytes | None:
        return self.decode().key

    @property
    def value(self) -> bytes | None:
        return self.decode().value

    @property
    def headers(self) -> list[Header]:
        return self.decode().headers


def iter_views(batch: Batch, *, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[RecordView]:
    """Yield a view of each record; raises `CorruptBatch` if the records do not fill the batch."""
    data = batch.payload(limit=limit)
    batch.check_framing(data)
    starts = record_starts(data, batch.record_count, 0, len(data))
    context = batch.context()
    for start, end in pairwise((*starts, len(data))):
        yield RecordView(data, start, end, context)
