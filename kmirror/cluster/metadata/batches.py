"""Batches of metadata records, in the log and in its snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kmirror.errors import CorruptBatch, ProtocolError
from kmirror.protocol.keyed_records import VersionedMessage, decode_metadata_record
from kmirror.records.batch import Batch

RECORDS_MAX = 10_000
"""Maximum number of records in one batch (QuorumController.DEFAULT_MAX_RECORDS_PER_BATCH)."""
BATCH_BYTES_MAX = 8 * 1024 * 1024
"""Maximum bytes of one batch (KafkaRaftClient.MAX_BATCH_SIZE_BYTES); a broker fetches this much at a time."""
RECORD_OVERHEAD = 32
"""Upper bound of a record's bytes besides its value: lengths, deltas, attributes.

A batch header takes less than twice this.
"""


def metadata_records(batch: Batch) -> Iterator[VersionedMessage]:
    """Yield the records of a batch of the metadata log or a snapshot; raises `CorruptBatch` for an unknown record."""
    for record in () if batch.is_control else batch.records():
        try:
            yield decode_metadata_record(record.value or b"")
        except ProtocolError as error:
            reason = f"metadata record {record.offset} cannot be read, a later Kafka may have written it: {error}"
            raise CorruptBatch(reason) from None


def in_batches(values: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield `values` in order, in groups of at least one that fit into one batch."""
    first, size = 0, 0
    for position, value in enumerate(values):
        size += len(value) + RECORD_OVERHEAD
        if position > first and (position - first == RECORDS_MAX or size > BATCH_BYTES_MAX - 2 * RECORD_OVERHEAD):
            yield values[first:position]
            first, size = position, len(value) + RECORD_OVERHEAD
    yield values[first:]
