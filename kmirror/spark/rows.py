"""Rows of the batches of a split, as Arrow record batches, without Spark.

The names and types of record rows are those of Spark's own Kafka source, followed by more. Only requested columns are
built: the columns of a batch's header (`HEADER_COLUMNS`) need no decompression or decoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.committed import Committed
from kmirror.logdir.faults import FileFault
from kmirror.logdir.mapped import map_file
from kmirror.records import layout
from kmirror.records.batch import Batch, TornBatch
from kmirror.records.columns import Columns, read_columns
from kmirror.records.legacy import AnyBatch, LegacyBatch
from kmirror.records.record import Record, read_headers
from kmirror.spark.folders import Split

ROWS_PER_BATCH = 1 << 14
BYTES_PER_BATCH = 16 << 20

_HEADERS = pa.list_(pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())])))
_MICROS = pa.timestamp("us", tz="UTC")
_MILLIS_MAX = (1 << 63) // 1000 - 1


class Column(NamedTuple):
    """One column: its Arrow type and its description."""

    type: Any
    doc: str


_TOPIC = Column(pa.string(), "the topic, by the name of the partition's folder")
_PARTITION = Column(pa.int32(), "the partition's number, by the name of its folder")
_LEADER_EPOCH = Column(pa.int32(), "the epoch of the leader that appended the batch; -1 in formats 0 and 1")
_TIMESTAMP_TYPE = Column(pa.int32(), "who set the timestamp: 0 the producer, 1 the broker; -1 in format 0")
_PRODUCER_ID = Column(pa.int64(), "the id of an idempotent or transactional producer, else -1")
_FILE = Column(pa.string(), "the path of the segment, from the root")

RECORD_COLUMNS: dict[str, Column] = {
    "key": Column(pa.binary(), "the key, or null"),
    "value": Column(pa.binary(), "the value, or null"),
    "topic": _TOPIC,
    "partition": _PARTITION,
    "offset": Column(pa.int64(), "the offset of the record"),
    "timestamp": Column(_MICROS, "the timestamp, which has whole milliseconds"),
    "timestampType": _TIMESTAMP_TYPE,
    "headers": Column(_HEADERS, "the headers in their order, null if there are none"),
    "leaderEpoch": _LEADER_EPOCH,
    "producerId": _PRODUCER_ID,
    "isControl": Column(pa.bool_(), "a control record, which only includeControl brings"),
    "batchOffset": Column(pa.int64(), "the base offset of the batch"),
    "file": _FILE,
}
BATCH_COLUMNS: dict[str, Column] = {
    "topic": _TOPIC,
    "partition": _PARTITION,
    "baseOffset": Column(pa.int64(), "the first offset of the batch"),
    "lastOffset": Column(pa.int64(), "its last offset, inclusive"),
    "leaderEpoch": _LEADER_EPOCH,
    "magic": Column(pa.int32(), "the message format: 0, 1 or 2"),
    "recordCount": Column(pa.int32(), "number of records"),
    "sizeInBytes": Column(pa.int32(), "size in the file, including the header"),
    "codec": Column(pa.string(), "none, gzip, snappy, lz4 or zstd"),
    "crc": Column(pa.int64(), "the checksum in its header"),
    "isValid": Column(pa.bool_(), "whether the checksum is correct"),
    "timestampType": _TIMESTAMP_TYPE,
    "baseTimestamp": Column(pa.int64(), "the base of its records' timestamps, in ms"),
    "maxTimestamp": Column(pa.int64(), "the largest timestamp of its records, in ms; -1 without one"),
    "deleteHorizonMs": Column(
        pa.int64(), "time from which compaction may remove tombstones or the marker, in ms, or null"
    ),
    "producerId": _PRODUCER_ID,
    "producerEpoch": Column(pa.int32(), "that producer's epoch, else -1"),
    "baseSequence": Column(pa.int32(), "the producer's sequence number of the first record, else -1"),
    "lastSequence": Column(pa.int32(), "that of the last record, else -1"),
    "isTransactional": Column(pa.bool_(), "part of a transaction, or its marker"),
    "isControl": Column(pa.bool_(), "holds a control record"),
    "controlType": Column(pa.string(), "which one, as in COMMIT; null for data"),
    "file": _FILE,
    "position": Column(pa.int64(), "the byte of that file with which the batch begins"),
}
COLUMNS = {"record": RECORD_COLUMNS, "batch": BATCH_COLUMNS}
CORRUPT_COLUMN = "corrupt"
CORRUPT = Column(pa.string(), "why nothing could be read at this place; there with onCorrupt=row")
HEADER_COLUMNS = frozenset(
    {"topic", "partition", "timestampType", "leaderEpoch", "producerId", "isControl", "batchOffset", "file"}
    | {CORRUPT_COLUMN}
)


def type_of(level: str, column: str) -> Any:
    """Return the Arrow type of a column; raises KeyError for a name that the level does not have."""
    return (CORRUPT if column == CORRUPT_COLUMN else COLUMNS[level][column]).type


class CorruptSegment(FileFault):
    """A segment has bytes that no broker wrote: it ends the query, or is a row, according to the option `onCorrupt`."""


@dataclass(frozen=True, slots=True)
class RowQuery:
    """The query: columns in order, ranges [first, end) of offsets and of timestamps in ms, and options."""

    level: str = "record"
    columns: tuple[str, ...] = tuple(RECORD_COLUMNS)
    offset_first: int | None = None
    offset_end: int | None = None
    timestamp_first: int | None = None
    timestamp_end: int | None = None
    on_corrupt: str = "fail"
    check_crc: bool = True
    include_control: bool = False
    tolerates_torn_tail: bool = False
    """The segment is being written: a torn tail is not a fault, but not complete yet."""

    @property
    def has_time_range(self) -> bool:
        return self.timestamp_first is not None or self.timestamp_end is not None


@dataclass(frozen=True, slots=True)
class BrokenPlace:
    """A place that cannot be read."""

    position: int
    offset: int | None
    reason: str


def to_broken_place(position: int, error: CorruptBatch) -> BrokenPlace:
    """Return the fault that a parser's error is about."""
    return BrokenPlace(position, error.offset, error.reason.removesuffix(f" (offset {error.offset})"))


def iter_batches(data: memoryview, start: int, end: int, query: RowQuery) -> Iterator[AnyBatch | BrokenPlace]:
    """Yield batches, and faults in their place; nothing can be found after a broken length."""
    position = start
    while position < end:
        try:
            magic_position = position + layout.MAGIC_AT
            is_legacy = magic_position < len(data) and data[magic_position] < layout.MAGIC_V2
            batch: AnyBatch = LegacyBatch(data, position) if is_legacy else Batch(data, position)
        except CorruptBatch as error:
            if not (query.tolerates_torn_tail and isinstance(error, TornBatch)):
                yield to_broken_place(position, error)
            return
        if query.check_crc and query.level == "record":
            try:
                batch.verify_crc()
            except CorruptBatch as error:
                yield to_broken_place(position, error)
                position += batch.size_in_bytes
                continue
        yield batch
        position += batch.size_in_bytes


def read_split(split: Split, query: RowQuery, committed: Committed) -> Iterator[Any]:
    """Yield `pyarrow.RecordBatch`es; raises `CorruptSegment` unless `on_corrupt` is skip or row."""
    data = map_file(split.segment.path)
    end = min(split.end, len(data))
    reader = _BatchRows(split, query) if query.level == "batch" else _RecordRows(split, query)
    for item in iter_batches(data, split.start, end, query):
        if isinstance(item, BrokenPlace):
            yield from reader.flush()
            yield from reader.fault(item)
        elif not _is_outside(item, split, query, committed):
            yield from reader.add(item)
    yield from reader.flush()


def _is_outside(batch: AnyBatch, split: Split, query: RowQuery, committed: Committed) -> bool:
    """Return whether the query needs none of the batch's records, according to its header."""
    first = split.segment.log_start_offset
    if query.offset_first is not None and query.offset_first > first:
        first = query.offset_first
    if batch.last_offset < first:
        return True
    if query.timestamp_first is not None and batch.max_timestamp < query.timestamp_first and batch.record_count:
        return True
    if query.level == "record" and batch.is_control:
        return not query.include_control
    if isinstance(batch, Batch):
        if query.offset_end is not None and batch.base_offset >= query.offset_end:
            return True
        return not batch.is_control and committed.hides(batch)
    return False


class _Rows:
    def __init__(self, split: Split, query: RowQuery) -> None:
        self._split = split
        self._query = query
        self._tp: TopicPartition = split.segment.tp
        self.schema = pa.schema([pa.field(name, type_of(query.level, name)) for name in query.columns])

    def add(self, batch: AnyBatch) -> Iterator[Any]:
        raise NotImplementedError

    def flush(self) -> Iterator[Any]:
        raise NotImplementedError

    def fault(self, fault: BrokenPlace) -> Iterator[Any]:
        """Raise, skip, or yield a row with the reason, according to the option `onCorrupt`."""
        path = Path(self._split.segment.path)
        error = CorruptSegment(fault.reason, path=path, position=fault.position, offset=fault.offset)
        if self._query.on_corrupt == "fail":
            raise error
        if self._query.on_corrupt == "row":
            known = {
                "topic": self._tp.topic,
                "partition": self._tp.partition,
                "offset": fault.offset,
                "baseOffset": fault.offset,
                "batchOffset": fault.offset,
                "file": self._split.segment.path,
                "position": fault.position,
                CORRUPT_COLUMN: str(error),
            }
            yield self.make({name: pa.array([known.get(name)], type_) for name, type_ in self._fields()}, 1)

    def _fields(self) -> list[tuple[str, Any]]:
        return [(field.name, field.type) for field in self.schema]

    def make(self, arrays: dict[str, Any], rows: int) -> Any:
        """Return a record batch in the order of the schema; a column without an array is null."""
        columns = [arrays.get(name, pa.nulls(rows, type_)) for name, type_ in self._fields()]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class _BatchRows(_Rows):
    """A row for each batch."""

    def __init__(self, split: Split, query: RowQuery) -> None:
        super().__init__(split, query)
        self._lists: dict[str, list[object]] = {name: [] for name in query.columns}
        self._count = 0

    def add(self, batch: AnyBatch) -> Iterator[Any]:
        try:
            reason = self._check(batch)
            row = {
                name: self._column_value(name, batch) for name in self._lists if name not in (CORRUPT_COLUMN, "isValid")
            }
        except CorruptBatch as error:
            yield from self.flush()
            yield from self.fault(to_broken_place(batch.position, error))
            return
        if reason is not None and self._query.on_corrupt != "row" and "isValid" not in self._lists:
            yield from self.flush()
            yield from self.fault(BrokenPlace(batch.position, batch.last_offset, reason))
            return
        row["isValid"] = reason is None
        row[CORRUPT_COLUMN] = reason
        for name, values in self._lists.items():
            values.append(row[name])
        self._count += 1
        if self._count >= ROWS_PER_BATCH:
            yield from self.flush()

    def _check(self, batch: AnyBatch) -> str | None:
        if not self._query.check_crc or not {"isValid", CORRUPT_COLUMN} & self._lists.keys():
            return None
        try:
            batch.verify_crc()
        except CorruptBatch as error:
            return to_broken_place(batch.position, error).reason
        return None

    def _column_value(self, name: str, batch: AnyBatch) -> object:
        match name:
            case "topic":
                return self._tp.topic
            case "partition":
                return self._tp.partition
            case "leaderEpoch":
                return batch.partition_leader_epoch
            case "codec":
                return batch.compression.name.lower()
            case "controlType":
                control = batch.control()
                return None if control is None else control.type.name if control.type else str(control.type_id)
            case "file":
                return self._split.segment.path
            case "recordCount" if batch.record_count is None:
                return sum(1 for _ in batch.records())
        return getattr(batch, _SNAKE[name])

    def flush(self) -> Iterator[Any]:
        if self._count:
            yield self.make({name: pa.array(self._lists[name], type_) for name, type_ in self._fields()}, self._count)
            self._lists = {name: [] for name in self._lists}
            self._count = 0


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


_SNAKE = {name: _snake(name) for name in BATCH_COLUMNS}


class _RecordRows(_Rows):
    """A row for each record; batches are decoded together, which makes columns fast."""

    def __init__(self, split: Split, query: RowQuery) -> None:
        super().__init__(split, query)
        self._batches: list[Batch] = []
        self._rows = 0
        self._bytes = 0
        self._names = frozenset(query.columns)
        self._constants: dict[str, object] = {
            "topic": self._tp.topic,
            "partition": self._tp.partition,
            "file": split.segment.path,
        }

    def add(self, batch: AnyBatch) -> Iterator[Any]:
        if isinstance(batch, LegacyBatch):
            yield from self.flush()
            yield from self._legacy(batch)
            return
        self._batches.append(batch)
        self._rows += max(batch.record_count, 0)
        self._bytes += batch.size_in_bytes
        if self._rows >= ROWS_PER_BATCH or self._bytes >= BYTES_PER_BATCH:
            yield from self.flush()

    def flush(self) -> Iterator[Any]:
        batches, self._batches, self._rows, self._bytes = self._batches, [], 0, 0
        if not batches:
            return
        try:
            yield self._table(batches)
        except CorruptBatch:
            # One of them cannot be read: the others still can.
            for batch in batches:
                try:
                    table = self._table([batch])
                except CorruptBatch as error:
                    yield from self.fault(to_broken_place(batch.position, error))
                else:
                    yield table

    # -- columns ------------------------------------------------------------------------------

    def _table(self, batches: list[Batch]) -> Any:
        """Return the records of `batches` that lie in the query's ranges."""
        decoded: Columns | None = None
        names = self._names
        if names <= HEADER_COLUMNS and not self._is_cut(batches):
            counts = [batch.record_count for batch in batches]
            batch_index = np.repeat(np.arange(len(batches), dtype=np.int64), counts)
        else:
            decoded = read_columns(batches)
            batch_index = decoded.batch
        rows = len(batch_index)
        arrays: dict[str, Any] = {}
        for name, value in self._constants.items():
            if name in names:
                arrays[name] = pa.repeat(pa.scalar(value, type_of("record", name)), rows)
        for name, attribute in _PER_BATCH.items():
            if name in names:
                per_batch = np.array([getattr(batch, attribute) for batch in batches])
                arrays[name] = pa.array(per_batch[batch_index], type_of("record", name))
        if decoded is not None:
            self._add_decoded(arrays, decoded)
        table = self.make(arrays, rows)
        mask = None if decoded is None else self._mask(decoded.offset, decoded.timestamp)
        return table if mask is None else table.filter(pa.array(mask))

    def _is_cut(self, batches: Sequence[Batch]) -> bool:
        """Return whether a range begins or ends inside of one of these batches."""
        query = self._query
        if query.has_time_range:
            return True
        first = max(self._split.segment.log_start_offset, query.offset_first or 0)
        end = query.offset_end
        return any(b.base_offset < first or (end is not None and b.last_offset >= end) for b in batches)

    def _add_decoded(self, arrays: dict[str, Any], decoded: Columns) -> None:
        names = self._names
        if "offset" in names:
            arrays["offset"] = pa.array(decoded.offset)
        if "timestamp" in names:
            arrays["timestamp"] = _micros(decoded.timestamp)
        if names & {"key", "value"}:
            views = decoded.to_arrow()
            for name in ("key", "value"):
                if name in names:
                    # Spark accepts no views: this is the one copy of the bytes.
                    arrays[name] = views.column(name).cast(pa.binary())
        if "headers" in names:
            arrays["headers"] = _headers(decoded)

    def _mask(self, offset: Any, timestamp: Any) -> Any:
        """Return a mask of the rows that lie in the ranges, or None if all do."""
        query = self._query
        first = max(self._split.segment.log_start_offset, query.offset_first or 0)
        keep = offset >= first
        if query.offset_end is not None:
            keep &= offset < query.offset_end
        if query.timestamp_first is not None:
            keep &= timestamp >= query.timestamp_first
        if query.timestamp_end is not None:
            keep &= timestamp < query.timestamp_end
        return None if keep.all() else keep

    # -- formats 0 and 1 ----------------------------------------------------------------------

    def _legacy(self, batch: LegacyBatch) -> Iterator[Any]:
        try:
            records = list(batch.records())
        except CorruptBatch as error:
            yield from self.fault(to_broken_place(batch.position, error))
            return
        offsets = np.array([record.offset for record in records], dtype=np.int64)
        timestamps = np.array([record.timestamp for record in records], dtype=np.int64)
        arrays = {name: self._legacy_column(name, batch, records) for name in self._names}
        arrays |= {"timestamp": _micros(timestamps)} if "timestamp" in self._names else {}
        table = self.make(arrays, len(records))
        mask = self._mask(offsets, timestamps)
        yield table if mask is None else table.filter(pa.array(mask))

    def _legacy_column(self, name: str, batch: LegacyBatch, records: Sequence[Record]) -> Any:
        constants = self._constants | {
            "leaderEpoch": layout.NO_LEADER_EPOCH,
            "producerId": layout.NO_PRODUCER_ID,
            "isControl": False,
        }
        type_ = self.schema.field(name).type
        if name in constants:
            return pa.array([constants[name]] * len(records), type_)
        if name == "batchOffset":
            return pa.array([records[0].offset] * len(records), type_)
        if name in ("key", "value", "offset", "timestampType"):
            return pa.array([getattr(record, _snake(name)) for record in records], type_)
        return pa.nulls(len(records), type_)


_PER_BATCH = {
    "timestampType": "timestamp_type",
    "leaderEpoch": "partition_leader_epoch",
    "producerId": "producer_id",
    "isControl": "is_control",
    "batchOffset": "base_offset",
}


def _micros(timestamps: Any) -> Any:
    """Return milliseconds as Spark's timestamps; values out of range become the nearest that fit."""
    return pa.array(np.clip(timestamps, -_MILLIS_MAX, _MILLIS_MAX) * 1000).cast(_MICROS)


def _headers(decoded: Columns) -> Any:
    """Return the headers; null if a record has none, as in Spark's Kafka source."""
    data, counts = decoded.data, decoded.header_count
    sizes = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    names: list[str] = []
    values: list[bytes | None] = []
    for row in np.flatnonzero(counts):
        # The count in front is a varint of as many bytes as it needs.
        varint_bits = (int(counts[row]) * 2).bit_length() + 6
        start = int(decoded.header_start[row]) - varint_bits // 7
        for name, value in read_headers(data, start, len(data))[0]:
            names.append(name)
            values.append(value)
    struct = pa.StructArray.from_arrays(
        [pa.array(names, pa.string()), pa.array(values, pa.binary())], fields=list(_HEADERS.value_type)
    )
    offsets = pa.array(sizes, mask=np.concatenate((counts == 0, [False])))
    return pa.ListArray.from_arrays(offsets, struct, type=_HEADERS)
