"""Opening and closing of the metadata log, as jobs for its disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.cluster.metadata.batches import metadata_records
from kmirror.cluster.metadata.log import METADATA_PARTITION
from kmirror.cluster.metadata.replay import ReplayedBatch, replayed_batches
from kmirror.cluster.metadata.snapshots import MetadataSnapshot, read_snapshot, snapshot_ids
from kmirror.errors import CorruptBatch
from kmirror.log.disk import Disk
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.log.state_files import (
    BOOTSTRAP,
    QUORUM_STATE,
    decode_quorum_state,
    encode_partition_metadata,
    encode_quorum_state,
)
from kmirror.log.store import PARTITION_METADATA
from kmirror.protocol.message import Message
from kmirror.records.batch import iter_batches


@dataclass(frozen=True, slots=True)
class OpenedMetadataLog:
    """The result of opening the metadata log."""

    log: PartitionLog
    batches: Sequence[ReplayedBatch]
    epoch: int
    """The new leader epoch."""
    bootstrap: Sequence[Message]
    """The first records of an empty log, from the disk; nothing if the log is not empty."""
    snapshots: Sequence[MetadataSnapshot]
    """The snapshots on the disk, in the order of their end offsets."""


@dataclass(frozen=True, slots=True)
class OpenMetadataLog:
    """A job for the disk: open the metadata log, truncate records torn by a crash, and read all records."""

    disk: Disk
    config: LogConfig
    now_ms: int

    def run(self) -> OpenedMetadataLog:
        """Raise OSError if the disk fails, CorruptBatch if the log is damaged before its end or lacks its start."""
        store = self.disk.open(METADATA_PARTITION)
        log = PartitionLog.open(METADATA_PARTITION, store, self.config, now_ms=self.now_ms, repair=True)
        state = store.read_file(QUORUM_STATE)
        epoch = 1 + max(log.latest_epoch, decode_quorum_state(state) if state else -1)
        store.write_file(QUORUM_STATE, encode_quorum_state(epoch))
        if not store.read_file(PARTITION_METADATA):
            store.write_file(PARTITION_METADATA, encode_partition_metadata(METADATA_TOPIC_ID))
        snapshots = _snapshots_of(log)
        batches = list(replayed_batches(log, snapshots[-1] if snapshots else None))
        formatted = None if batches else self.disk.read_file(BOOTSTRAP)
        bootstrap = [record.message for batch in iter_batches(formatted or b"") for record in metadata_records(batch)]
        return OpenedMetadataLog(log, batches, epoch, bootstrap, snapshots)


def _snapshots_of(log: PartitionLog) -> list[MetadataSnapshot]:
    """Return the snapshots of a log, in order. A log that ends below its newest snapshot restarts at its end.

    Snapshots that end below the start of the log are deleted, as in Kafka. Raises CorruptBatch if the log lacks its
    beginning and there is no snapshot of it.
    """
    base_offset, newest = log.segment_base_offsets[0], None
    for id_ in snapshot_ids(log.store):
        if id_.end_offset < base_offset:
            log.store.delete_file(id_.file_name)
        else:
            newest = id_
    if newest is None and base_offset:
        raise CorruptBatch(f"it begins at offset {base_offset}, and no snapshot has the records before it")
    if newest is not None and newest.end_offset > log.log_end_offset:
        log.truncate_fully_and_start_at(newest.end_offset)
    snapshots = (read_snapshot(log.store, id_) for id_ in snapshot_ids(log.store))
    return [snapshot for snapshot in snapshots if snapshot is not None]


@dataclass(frozen=True, slots=True)
class CloseMetadataLog:
    """A job for the disk: close the metadata log."""

    log: PartitionLog

    def run(self) -> None:
        """Flush and close; raises OSError."""
        self.log.close()
        self.log.store.flush(self.log.segments.active.base_offset)  # Includes the new indexes.
