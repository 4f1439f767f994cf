"""Checks of the records in a Produce request that do not depend on the partition.

Kafka checks the first batch of each partition for a transaction, and then, for existing partitions, that there is
exactly one batch of format 2 (`RequestUtils`, `ProduceRequest.validateRecords`). Other faults of a batch are found by
the append.
"""

from __future__ import annotations

from kmirror.errors import CorruptBatch
from kmirror.kernel.events import Chunk
from kmirror.records import layout
from kmirror.records.batch import Batch, next_size
from kmirror.records.codecs import Compression
from kmirror.spec.error_codes import ErrorCode

ZSTD_FROM = 7
"""First Produce version that allows zstd compression (KIP-110)."""
_START = layout.header_struct("batch_length", "magic", "attributes")
_FLAGS_AT = layout.ATTRIBUTES_AT + 1  # The low byte of the attributes.


def is_transactional(records: Chunk) -> bool:
    """Return whether the first batch is transactional; False unless there is a whole batch of format 2.

    Raises `CorruptBatch` for an invalid size or an unknown format.
    """
    size = len(records)
    if size >= _START.size:  # Same checks as `next_size`, in one read: this runs for each batch of each request.
        length, magic, attributes = _START.unpack_from(records)
        if length >= layout.LEGACY_LENGTH_MIN and 0 <= magic <= layout.MAGIC_V2:
            is_whole = magic == layout.MAGIC_V2 and length <= size - layout.LOG_OVERHEAD
            return is_whole and bool(attributes & layout.TRANSACTIONAL_FLAG)
    next_size(records)
    return False


def batch_error(records: Chunk, version: int) -> ErrorCode:
    """Return why a Produce request of this version may not contain these records, or NONE.

    CORRUPT_MESSAGE for an invalid size or unknown format, UNSUPPORTED_COMPRESSION_TYPE for zstd before v7,
    INVALID_RECORD unless there is exactly one whole batch of format 2. A second, incomplete batch is ignored.
    """
    try:
        size = next_size(records)
        if size is None or records[layout.MAGIC_AT] != layout.MAGIC_V2:
            return ErrorCode.INVALID_RECORD
        if version < ZSTD_FROM and records[_FLAGS_AT] & layout.COMPRESSION_MASK == Compression.ZSTD:
            return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        return ErrorCode.NONE if next_size(records, size) is None else ErrorCode.INVALID_RECORD
    except CorruptBatch:
        return ErrorCode.CORRUPT_MESSAGE


def batch_in_transaction(records: Chunk, version: int) -> Batch | None:
    """Return the batch if it is transactional and allowed in a Produce request of this version, else None."""
    if len(records) < layout.HEADER_SIZE or not _has_flag(records) or batch_error(records, version):
        return None
    try:
        batch = Batch(records)
    except CorruptBatch:  # It is smaller than its header; the append reports that.
        return None
    return batch if batch.has_producer_id else None


def _has_flag(records: Chunk) -> bool:
    return bool(records[_FLAGS_AT] & layout.TRANSACTIONAL_FLAG)
