"""The source written like most Python sources, with a tuple for each record. The peer of K2."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kmirror.logdir.mapped import map_file
from kmirror.records.batch import iter_batches
from kmirror.spark.folders import find_segments
from kmirror.spark.rows import RECORD_COLUMNS
from kmirror.spark.source import schema_of


class KafkaLogTuples(DataSource):
    """Reads v2 batches, record by record."""

    @classmethod
    def name(cls) -> str:
        return "kafka-log-tuples"

    def schema(self) -> StructType:
        return schema_of("record", tuple(RECORD_COLUMNS))

    def reader(self, schema: StructType) -> DataSourceReader:
        return TuplesReader(self.options["path"])


class TuplesReader(DataSourceReader):
    def __init__(self, path: str) -> None:
        self._path = path

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        for segment in find_segments(self._path):
            for batch in iter_batches(map_file(segment.path), check_crc=True):
                for record in batch.records():
                    yield (
                        record.key, record.value, segment.tp.topic, segment.tp.partition, record.offset,
                        datetime.fromtimestamp(record.timestamp / 1000, UTC), int(record.timestamp_type), None,
                        record.leader_epoch, batch.producer_id, False, batch.base_offset, str(segment.path),
                    )  # fmt: skip
