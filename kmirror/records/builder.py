"""How does a producer gather records until they are as much as a batch may hold?

The size that counts is the one before compression, known to the byte. The JVM guesses the compressed size
from how well earlier batches did; a wrong guess costs it a split and a retry, and a batch here is never
larger than its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kmirror.errors import LocalProtocolError
from kmirror.records import layout
from kmirror.records.build import build_batch, encode_headers
from kmirror.records.codecs import Compression, checked_level, known_codec
from kmirror.records.layout import TimestampType
from kmirror.records.record import Header, RecordTuple
from kmirror.records.varint import varint_size


class BatchBuilder:
    """Takes records one at a time and gives one batch; the options are those of `build_batch`.

    builder = BatchBuilder(size_max=16_384, compression=Compression.ZSTD)
    if not builder.append(value=b"v"):
        send(builder.build())
    """

    __slots__ = ("_base_timestamp", "_build", "_default_timestamp", "_records", "size_in_bytes", "size_max")

    def __init__(
        self,
        *,
        size_max: int | None = None,
        base_offset: int = 0,
        partition_leader_epoch: int = layout.NO_LEADER_EPOCH,
        compression: Compression = Compression.NONE,
        level: int | None = None,
        producer_id: int = layout.NO_PRODUCER_ID,
        producer_epoch: int = layout.NO_PRODUCER_EPOCH,
        base_sequence: int = layout.NO_SEQUENCE,
        is_transactional: bool = False,
        timestamp_type: int = TimestampType.CREATE_TIME,
        timestamp_ms: int = layout.NO_TIMESTAMP,
    ) -> None:
        if producer_id != layout.NO_PRODUCER_ID and (producer_epoch < 0 or base_sequence < 0):
            text = f"not {producer_epoch} and {base_sequence}"
            raise LocalProtocolError(f"producer {producer_id} needs an epoch and a sequence number, {text}")
        if is_transactional and producer_id == layout.NO_PRODUCER_ID:
            raise LocalProtocolError("a transactional batch needs a producer id")
        compression = known_codec(compression)
        checked_level(compression, level)  # An unknown codec is refused now rather than when the batch is full.
        self.size_max = size_max
        self.size_in_bytes = layout.HEADER_SIZE  # Before compression.
        self._records: list[RecordTuple] = []
        self._base_timestamp = timestamp_ms
        self._default_timestamp = timestamp_ms
        self._build = partial(
            build_batch,
            base_offset=base_offset,
            partition_leader_epoch=partition_leader_epoch,
            compression=compression,
            level=level,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            is_transactional=is_transactional,
            timestamp_type=timestamp_type,
            timestamp_ms=timestamp_ms,
        )

    def __len__(self) -> int:
        return len(self._records)

    def append(
        self,
        *,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Sequence[Header] = (),
        timestamp: int | None = None,
    ) -> bool:
        """Take the record and return True, or False when the batch has no room; the first one always has."""
        stamp = self._default_timestamp if timestamp is None else timestamp
        if not self._records:
            self._base_timestamp = stamp
        size = (
            1
            + varint_size(stamp - self._base_timestamp)
            + varint_size(len(self._records))
            + sum(1 if field is None else varint_size(len(field)) + len(field) for field in (key, value))
            + (len(encode_headers(headers)) if headers else 1)
        )
        size += varint_size(size)
        if self._records and self.size_max is not None and self.size_in_bytes + size > self.size_max:
            return False
        self._records.append((key, value, headers, timestamp, None))
        self.size_in_bytes += size
        return True

    def build(self) -> bytes:
        """Return the batch of the records so far; raises `LocalProtocolError` when there are none."""
        if not self._records:
            raise LocalProtocolError("a batch needs a record")
        return self._build(self._records)
