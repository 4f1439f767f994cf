"""The format `kafka-log`: raw Kafka log directories as a DataFrame, without a broker.

    spark.dataSource.register(KafkaLogDataSource)
    spark.read.format("kafka-log").option("level", "batch").load("/kafka-logs")

`kmirror.spark.session()` registers it. Options: see `kmirror.spark.options`. Each scan reads the columns and the
records that its query needs (see `kmirror.spark.planner`); one that needs only header columns, such as a count, decodes
no record. Over Spark Connect a query must restrict the columns itself to be fast: with
`option("columns", "topic,partition")` or a schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from kmirror.errors import UsageError
from kmirror.log.committed import Committed
from kmirror.spark.folders import FolderSegment, Split, check_topics, find_segments, split
from kmirror.spark.options import LogOptions, parse_options
from kmirror.spark.pieces import pack, read_piece
from kmirror.spark.planner import install_in_active_session
from kmirror.spark.pushdown import Partitions, push_down
from kmirror.spark.rows import COLUMNS, CORRUPT_COLUMN, RowQuery, type_of
from kmirror.spark.stream import KafkaLogStreamReader
from kmirror.spark.transactions import find_transactions

FORMAT = "kafka-log"

_TYPES: dict[str, DataType] = {
    "binary": BinaryType(),
    "string": StringType(),
    "int32": IntegerType(),
    "int64": LongType(),
    "bool": BooleanType(),
    "timestamp[us, tz=UTC]": TimestampType(),
}
_HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))


def schema_of(level: str, columns: Sequence[str]) -> StructType:
    """Return Spark's schema of these columns."""
    return StructType([StructField(name, _TYPES.get(str(type_of(level, name)), _HEADERS)) for name in columns])


class KafkaLogDataSource(DataSource):
    """The data source of the format `kafka-log`."""

    @classmethod
    def name(cls) -> str:
        # In the process of a session this is called when the format is registered: there is no later chance.
        install_in_active_session()
        return FORMAT

    def schema(self) -> StructType:
        query = parse_options(self.options).query
        return schema_of(query.level, query.columns)

    def _options_with_columns(self, schema: StructType) -> LogOptions:
        """Return the options with the columns of a schema that the user gave, like the option `columns`."""
        options = parse_options(self.options)
        level = options.query.level
        names = tuple(schema.fieldNames())
        unknown = [name for name in names if name not in COLUMNS[level] and name != CORRUPT_COLUMN]
        if unknown or schema.simpleString() != schema_of(level, names).simpleString():
            expected = schema_of(level, [name for name in names if name not in unknown]).simpleString()
            raise UsageError(f"level {level} has the schema {expected}, not {schema.simpleString()}")
        return replace(options, query=replace(options.query, columns=names))

    def reader(self, schema: StructType) -> DataSourceReader:
        options = self._options_with_columns(schema)
        return PushingReader(options) if options.push_filters else KafkaLogReader(options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return KafkaLogStreamReader(self._options_with_columns(schema))


class KafkaLogReader(DataSourceReader):
    """Plans pieces of segments, and reads one."""

    def __init__(self, options: LogOptions) -> None:
        self._options = options
        self._partitions = Partitions(None if options.topics is None else frozenset(options.topics))
        self._query = options.query

    def partitions(self) -> Sequence[InputPartition]:
        """Return the pieces of work of one scan, restricted to the query's topics, offsets and time.

        Raises `UsageError` for a missing topic in the option `topics`; a filter may name any.
        """
        options = self._options
        topics = self._partitions.topics
        found = find_segments(options.path, topics=topics, internal=options.include_internal)
        check_topics(options.path, [name for name in options.topics or () if topics and name in topics], found)
        segments = [segment for segment in found if self._partitions.contains(segment.tp)]
        splits: list[tuple[Split, Committed]] = []
        for _, group in groupby(segments, key=lambda s: s.path.rpartition("/")[0]):
            splits += plan(list(group), self._query, options)
        return pack(splits, self._query, options.split_bytes) or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return read_piece(partition)


class PushingReader(KafkaLogReader):
    """A reader that accepts filters; Spark rejects a class with this method while `filterPushdown` is off."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        """Narrow the query by these filters, and return all of them: Spark applies each once more."""
        known = [f for f in filters if hasattr(f, "attribute")]
        self._partitions, self._query = push_down(known, self._partitions, self._query)
        return filters


def plan(segments: Sequence[FolderSegment], query: RowQuery, options: LogOptions) -> list[tuple[Split, Committed]]:
    """Return the splits of one partition's segments that the query may need."""
    tolerant = query.on_corrupt != "fail"
    committed = find_transactions(segments, tolerant=tolerant) if options.is_committed else Committed()
    splits = []
    for segment in segments:
        if query.offset_end is not None and segment.base_offset >= query.offset_end:
            continue
        first = max(segment.log_start_offset, query.offset_first or 0)
        if segment.size == 0 or (segment.end_offset is not None and segment.end_offset <= first):
            continue
        part = committed.between(segment.base_offset, segment.end_offset)
        splits += [(piece, part) for piece in split(segment, options.split_bytes)]
    return splits
