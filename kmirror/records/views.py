"""How to walk over records of which few are wanted?

A `RecordView` knows only where its record stands; the first field that is asked for decodes it, headers and
all. So a search, a count or a sample pays for the framing alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kmirror.records.batch import Batch
from kmirror.records.codecs import DECOMPRESSED_BYTES_MAX
from kmirror.records.framing import record_starts
from kmirror.records.record import Header, Record, RecordContext, decode_records


class RecordView:
    """A record that is decoded when a field of it is read; it keeps the bytes of its whole batch alive."""

    __slots__ = ("_context", "_data", "_end", "_record", "_start")

    def __init__(self, data: bytes, start: int, end: int, context: RecordContext) -> None:
        self._data = data
        self._start = start
        self._end = end
        self._context = context
        self._record: Record | None = None

    @property
    def size_in_bytes(self) -> int:
        """Return the bytes of the record, its length included."""
        return self._end - self._start

    def decode(self) -> Record:
        """Return the record; raises `CorruptBatch` when its fields do not fill it."""
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
    """Yield a view of each record; raises `CorruptBatch` when the records do not fill the batch."""
    data = batch.payload(limit=limit)
    batch.check_framing(data)
    starts = record_starts(data, batch.record_count, 0, len(data))
    context = batch.context()
    for start, end in pairwise((*starts, len(data))):
        yield RecordView(data, start, end, context)
