"""What do the records of a Produce say of themselves, before anything is asked about the partition that they are for?

Kafka looks at the first batch of each partition to see whether anything is in a transaction, and then, of partitions
that there are, whether there is one batch of format 2 (`RequestUtils`, `ProduceRequest.validateRecords`). What is wrong
with a batch beyond that, the append finds.
"""

from __future__ import annotations

from kmirror.errors import CorruptBatch
from kmirror.kernel.events import Chunk
from kmirror.records import layout
from kmirror.records.batch import Batch, next_size
from kmirror.records.codecs import Compression
from kmirror.spec.error_codes import ErrorCode

ZSTD_FROM = 7
"""First version of Produce in which a batch may be compressed with zstd (KIP-110)."""
_START = layout.header_struct("batch_length", "magic", "attributes")
_FLAGS_AT = layout.ATTRIBUTES_AT + 1  # The low byte of the attributes.


def is_transactional(records: Chunk) -> bool:
    """Return whether the first batch is transactional; False if no whole batch of format 2 is there.

    Raises `CorruptBatch` for a size or a format that there is not.
    """
    size = len(records)
    if size >= _START.size:  # As `next_size` has it, in one read: each batch of each request is asked.
        length, magic, attributes = _START.unpack_from(records)
        if length >= layout.LEGACY_LENGTH_MIN and 0 <= magic <= layout.MAGIC_V2:
            is_whole = magic == layout.MAGIC_V2 and length <= size - layout.LOG_OVERHEAD
            return is_whole and bool(attributes & layout.TRANSACTIONAL_FLAG)
    next_size(records)
    return False


def fault_of(records: Chunk, version: int) -> ErrorCode:
    """Return why a Produce of this version may not have these records, whatever their partition; NONE if it may.

    CORRUPT_MESSAGE for a size or a format that there is not, UNSUPPORTED_COMPRESSION_TYPE for zstd before v7, and
    INVALID_RECORD unless there is one whole batch, and of format 2. A second one that is cut does not count.
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
    """Return the batch if it is in a transaction, and a Produce of this version may have it."""
    if len(records) < layout.HEADER_SIZE or not _has_flag(records) or fault_of(records, version):
        return None
    try:
        batch = Batch(records)
    except CorruptBatch:  # It is smaller than its header; the append says so.
        return None
    return batch if batch.has_producer_id else None


def _has_flag(records: Chunk) -> bool:
    return bool(records[_FLAGS_AT] & layout.TRANSACTIONAL_FLAG)
