"""`__cluster_metadata`: the log of a controller, and the waiting fetches of brokers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from kmirror.cluster.metadata.batches import BATCH_BYTES_MAX, in_batches
from kmirror.cluster.metadata.snapshots import (
    MetadataSnapshot,
    SnapshotId,
    WriteSnapshot,
)
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import NO_LIMIT
from kmirror.log.flushing import Flush
from kmirror.log.partition_log import AppendOrigin, LogConfig, PartitionLog
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.configs import Configs
from kmirror.spec.topics import METADATA_TOPIC

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
CONFIG = LogConfig(max_message_bytes=BATCH_BYTES_MAX, retention_ms=NO_LIMIT)
"""Segments are deleted after a snapshot has replaced them, never by age."""

_PIECE_BYTES = 1 << 30

RECORD_VERSIONS: dict[str, int] = {
    "RegisterBrokerRecord": 3,
    "BrokerRegistrationChangeRecord": 2,
}
"""Record versions at metadata.version 30; all others are 0."""
ELIGIBLE_FROM = 2
"""First version of a PartitionChangeRecord with eligible leader replicas."""

DIRECTORIES_FROM = 1
"""First version of partition records with the log directories of the replicas."""


class TooManyRecords(Exception):
    """An atomic decision does not fit into one batch (BoundedListTooLongException)."""


def log_config(configs: Configs) -> LogConfig:
    """Return the log config with the roll limits of the node's own configs, not those of topics."""
    return replace(
        CONFIG,
        segment_bytes=configs.integer("metadata.log.segment.bytes"),
        segment_ms=configs.integer("metadata.log.segment.ms"),
    )


def _version_of(record: Message) -> int:
    if isinstance(record, PartitionRecord | PartitionChangeRecord):
        if record.eligible_leader_replicas is not None or record.last_known_elr is not None:
            return ELIGIBLE_FROM
        # Without directories, a partition has an empty list and a change has null.
        if record.directories or (record.directories is not None and isinstance(record, PartitionChangeRecord)):
            return DIRECTORIES_FROM
    return RECORD_VERSIONS.get(record.NAME, 0)


class SnapshotFacts(NamedTuple):
    """The size of a snapshot in bytes, and the time of the last record below its end, in ms since 1970."""

    size: int
    timestamp_ms: int


class MetadataLog:
    """The metadata log of one controller, its snapshots, and the fetches that wait for committed records."""

    def __init__(
        self, log: PartitionLog, epoch: int, snapshots: Sequence[MetadataSnapshot] = (), bytes_replayed: int = 0
    ) -> None:
        self._log = log
        self.snapshots: dict[SnapshotId, SnapshotFacts] = {}
        """The existing snapshots, in the order of their end offsets."""
        self.latest_snapshot: MetadataSnapshot | None = None
        """The snapshot with the highest end offset; None if there is none."""
        for snapshot in snapshots:
            self.add_snapshot(snapshot)
        self.bytes_since_snapshot = bytes_replayed
        """Bytes appended to the log since the newest snapshot was begun."""
        self._log.flushing.is_deferred = True
        self.epoch = epoch
        self._log.assign_epoch_start(self.epoch)
        self._parked: dict[int, Callable[[Instant, bool], bool]] = {}
        self._next_id = 0

    @property
    def log(self) -> PartitionLog:
        return self._log

    def add_snapshot(self, snapshot: MetadataSnapshot) -> None:
        """Add a snapshot with a higher end offset than the others; brokers that lag far behind fetch it."""
        self.snapshots[snapshot.id] = SnapshotFacts(len(snapshot.data), snapshot.timestamp_ms)
        self.latest_snapshot = snapshot

    def snapshot_data(self, id_: SnapshotId) -> bytes | None:
        """Return the bytes of a snapshot; None if it does not exist."""
        latest = self.latest_snapshot
        if latest is not None and latest.id == id_:
            return latest.data
        return self._log.store.read_file(id_.file_name) if id_ in self.snapshots else None

    def begin_snapshot(self) -> WriteSnapshot | None:
        """Return the job that writes a snapshot of all committed records; None if the newest one has them all."""
        latest, end_offset, tail = self.latest_snapshot, self._log.high_watermark, []
        position = 0 if latest is None else latest.id.end_offset
        while position < end_offset:
            chunk = self._log.read(position, max_bytes=_PIECE_BYTES, end_offset=end_offset)
            tail.append(chunk.records)
            position = chunk.end_offset
        self.bytes_since_snapshot = 0
        return WriteSnapshot(self._log.store, b"" if latest is None else latest.data, tail) if tail else None

    def advance_start(self, first: SnapshotId, now_ms: int) -> tuple[list[int], list[SnapshotId]]:
        """Remove the records and snapshots below the end of a snapshot; brokers that lack them fetch the snapshot.

        Returns the base offsets of the segments to purge, and the snapshots whose files must be deleted.
        """
        self._log.advance_log_start(first.end_offset)
        replaced = [older for older in self.snapshots if older < first]
        for older in replaced:
            del self.snapshots[older]
        return self._log.set_aside_old_segments(now_ms), replaced

    def append(self, now: Instant, records: Sequence[Message], *, atomic: bool) -> int:
        """Append records, without committing them; return the offset of the last one.

        With `atomic` a crash leaves all of them or none. Raises TooManyRecords before anything is appended if they do
        not fit into one batch. Without `atomic` they are split into batches by RECORDS_MAX and BATCH_BYTES_MAX.
        """
        batches = list(in_batches([encode_metadata_record(record, _version_of(record)) for record in records]))
        if atomic and len(batches) > 1:
            raise TooManyRecords(f"{len(records)} records do not fit into one batch of the metadata log")
        last_offset = -1
        for values in batches:
            batch = build_batch([RecordData(value=value, timestamp=to_ms(now)) for value in values])
            info = self._log.append_as_leader(
                batch,
                leader_epoch=self.epoch,
                now_ms=to_ms(now),
                origin=AppendOrigin.COORDINATOR,
            )
            last_offset = info.last_offset
            self.bytes_since_snapshot += len(batch)
        return last_offset

    def truncate_to(self, end_offset: int) -> None:
        """Remove the records from `end_offset` on, which must not be committed."""
        assert self._log.high_watermark <= end_offset, "committed"
        self._log.truncate_to(end_offset)
        self._log.assign_epoch_start(self.epoch)

    def begin_flush(self) -> Flush | None:
        """Return the job that flushes the appended records; None if all are flushed, or if such a job is running."""
        return self._log.begin_flush(self._log.log_end_offset)

    def finish_flush(self, now: Instant) -> int:
        """Record that a flush has ended; return the offset below which all records survive a power failure."""
        self._log.finish_flush(to_ms(now), done=True)
        return min(self._log.recovery_point, self._log.log_end_offset)

    def commit(self, end_offset: int) -> None:
        """Mark all records below `end_offset` as committed, so that brokers may fetch them."""
        self._log.update_high_watermark(end_offset)

    def park(self, attempt: Callable[[Instant, bool], bool]) -> int:
        """Park a fetch that waits for the log to grow; return the id for `force`, which ends the wait.

        `attempt(now, forced)` sends the response and returns True, or returns False to continue waiting.
        """
        self._next_id += 1
        self._parked[self._next_id] = attempt
        return self._next_id

    def wake(self, now: Instant) -> None:
        """Respond to the fetches that waited for the records that are now committed."""
        for key, attempt in list(self._parked.items()):
            if attempt(now, False):
                self._parked.pop(key, None)

    def force(self, now: Instant, key: int) -> None:
        """Respond to a waiting fetch now, even if there are no records."""
        attempt = self._parked.pop(key, None)
        if attempt is not None:
            attempt(now, True)
