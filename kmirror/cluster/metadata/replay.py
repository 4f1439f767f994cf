"""Replay of the metadata log: the records from the newest snapshot on, and the image built from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kmirror.cluster.images import Delta, MetadataImage
from kmirror.cluster.metadata.batches import metadata_records
from kmirror.cluster.metadata.snapshots import MetadataSnapshot
from kmirror.cluster.metadata.transactions import MetadataTransactions
from kmirror.errors import CorruptBatch
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.records.batch import iter_batches


@dataclass(frozen=True, slots=True)
class ReplayedBatch:
    """The records of one batch of the metadata log, or of its snapshot."""

    records: Sequence[VersionedMessage]
    last_offset: int
    size: int
    """Bytes in the log; 0 for a snapshot."""


def replayed_batches(log: PartitionLog, snapshot: MetadataSnapshot | None) -> Iterator[ReplayedBatch]:
    """Yield the records of the snapshot, if any, and then the batches of the log after its end."""
    start_offset = 0 if snapshot is None else snapshot.id.end_offset
    if snapshot is not None and start_offset:  # The snapshot of a new cluster only holds voters.
        records = [record for batch in iter_batches(snapshot.data) for record in metadata_records(batch)]
        yield ReplayedBatch(records, start_offset - 1, 0)
    for batch in log.batches():
        if batch.base_offset >= start_offset:
            yield ReplayedBatch(list(metadata_records(batch)), batch.last_offset, len(batch.view))


def replay(batches: Iterable[ReplayedBatch], image: MetadataImage) -> bool:
    """Replay batches into a new image; return whether they end within a metadata transaction.

    Raises `CorruptBatch` if a record does not match the previous ones.
    """
    delta = Delta()
    transactions = MetadataTransactions()
    for batch in batches:
        for record in batch.records:
            for valid in transactions.add(record):
                try:
                    image.apply(valid.message, delta)
                except CorruptBatch as error:
                    raise error.with_context(f"the batch up to offset {batch.last_offset}") from None
        image.offset = batch.last_offset
    return transactions.is_open
