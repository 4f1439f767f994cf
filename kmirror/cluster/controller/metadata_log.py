"""`__cluster_metadata`: the controller's log, and the brokers whose fetches wait at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kmirror.cluster.controller.metadata_snapshot import MetadataSnapshot, latest_snapshot
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.errors import CorruptBatch, ProtocolError
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.log.disk import Disk
from kmirror.log.flushing import Flush
from kmirror.log.partition_log import AppendOrigin, LogConfig, PartitionLog
from kmirror.log.state_files import (
    BOOTSTRAP,
    QUORUM_STATE,
    decode_quorum_state,
    encode_partition_metadata,
    encode_quorum_state,
)
from kmirror.log.store import PARTITION_METADATA
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.keyed_records import decode_metadata_record, encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records.batch import iter_batches
from kmirror.records.build import build_batch
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import RecordData
from kmirror.spec.topics import METADATA_TOPIC

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
RECORDS_MAX = 10_000
"""Records in one batch (QuorumController.DEFAULT_MAX_RECORDS_PER_BATCH)."""
BATCH_BYTES_MAX = 8 * 1024 * 1024
"""Bytes of one batch (KafkaRaftClient.MAX_BATCH_SIZE_BYTES); a broker fetches as much at a time."""
RECORD_OVERHEAD = 32
"""More than what a record has beside its value: lengths, deltas, attributes. A batch's header is less than two."""
CONFIG = LogConfig(max_message_bytes=BATCH_BYTES_MAX)

RECORD_VERSIONS: dict[str, int] = {
    "RegisterBrokerRecord": 3,
    "BrokerRegistrationChangeRecord": 2,
}
"""Versions at metadata.version 30; the rest is 0."""
ELIGIBLE_FROM = 2
"""The version from which on a PartitionChangeRecord says something about eligible leader replicas."""

DIRECTORIES_FROM = 1
"""The version from which on the records of a partition say in which log directories its replicas lie."""


class TooManyRecords(Exception):
    """What is to be decided at once does not fit into one batch (BoundedListTooLongException)."""


@dataclass(frozen=True, slots=True)
class ReplayedBatch:
    """What one batch of the metadata log says."""

    records: Sequence[Message]
    last_offset: int


@dataclass(frozen=True, slots=True)
class OpenedMetadataLog:
    """What the job of opening returns."""

    log: PartitionLog
    batches: Sequence[ReplayedBatch]
    epoch: int
    """The leader epoch that begins now."""
    bootstrap: Sequence[Message]
    """What the disk says that an empty log begins with; nothing if it is not empty."""
    snapshot: MetadataSnapshot | None
    """What is in the log no more; None if the log is whole."""


@dataclass(frozen=True, slots=True)
class OpenMetadataLog:
    """A job for the disk: open the metadata log, cut off what a crash has torn, and read all its records."""

    disk: Disk
    now_ms: int

    def run(self) -> OpenedMetadataLog:
        """Raise OSError where the disk fails, CorruptBatch where the log is damaged before its end, or has lost it."""
        store = self.disk.open(METADATA_PARTITION)
        log = PartitionLog.open(METADATA_PARTITION, store, CONFIG, now_ms=self.now_ms, repair=True)
        state = store.read_file(QUORUM_STATE)
        epoch = 1 + max(log.latest_epoch, decode_quorum_state(state) if state else -1)
        store.write_file(QUORUM_STATE, encode_quorum_state(epoch))
        if not store.read_file(PARTITION_METADATA):
            store.write_file(PARTITION_METADATA, encode_partition_metadata(METADATA_TOPIC_ID))
        snapshot = _snapshot_before(log)
        start_offset, batches = 0, []
        if snapshot is not None:
            start_offset = snapshot.end_offset
            records = [message for batch in iter_batches(snapshot.data) for message in _messages(batch)]
            batches.append(ReplayedBatch(records, start_offset - 1))
        for batch in log.batches():
            if batch.base_offset >= start_offset:
                batches.append(ReplayedBatch(list(_messages(batch)), batch.last_offset))
        formatted = None if batches else self.disk.read_file(BOOTSTRAP)
        bootstrap = [message for batch in iter_batches(formatted or b"") for message in _messages(batch)]
        return OpenedMetadataLog(log, batches, epoch, bootstrap, snapshot)


def _snapshot_before(log: PartitionLog) -> MetadataSnapshot | None:
    """Return the snapshot without which the log cannot be read; a log that ends below it begins anew at its end."""
    base_offset = log.segment_base_offsets[0]
    found = latest_snapshot(log.store)
    if found is not None and found.end_offset > log.log_end_offset:
        log.truncate_fully_and_start_at(found.end_offset)
    elif not base_offset:
        return None
    if found is None or found.end_offset < base_offset:
        raise CorruptBatch(f"it begins at offset {base_offset}, and there is no snapshot of what comes before")
    return found


def _messages(batch: AnyBatch) -> Iterator[Message]:
    for record in () if batch.is_control else batch.records():
        try:
            yield decode_metadata_record(record.value or b"")[0]
        except ProtocolError as error:
            reason = f"metadata record {record.offset} cannot be read, a later Kafka may have written it: {error}"
            raise CorruptBatch(reason) from None


def _version_of(record: Message) -> int:
    if isinstance(record, PartitionChangeRecord) and record.eligible_leader_replicas is not None:
        return ELIGIBLE_FROM
    if isinstance(record, PartitionRecord | PartitionChangeRecord) and record.directories:
        return DIRECTORIES_FROM
    return RECORD_VERSIONS.get(record.NAME, 0)


def _batches(values: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield `values` in order, as many at a time as one batch may hold, and at least one."""
    first, size = 0, 0
    for position, value in enumerate(values):
        size += len(value) + RECORD_OVERHEAD
        if position > first and (position - first == RECORDS_MAX or size > BATCH_BYTES_MAX - 2 * RECORD_OVERHEAD):
            yield values[first:position]
            first, size = position, len(value) + RECORD_OVERHEAD
    yield values[first:]


@dataclass(frozen=True, slots=True)
class CloseMetadataLog:
    """A job for the disk: close the metadata log."""

    log: PartitionLog

    def run(self) -> None:
        """Flush and close; raises OSError."""
        self.log.close()


class MetadataLog:
    """A quorum of one: what is flushed is committed, and nobody hears of anything that is not."""

    def __init__(self, log: PartitionLog, epoch: int, snapshot: MetadataSnapshot | None = None) -> None:
        self._log = log
        self.snapshot = snapshot
        """What brokers have to read first."""
        self._log.flushing.is_deferred = True
        self.epoch = epoch
        self._log.assign_epoch_start(self.epoch)
        self._log.update_high_watermark(self._log.log_end_offset)
        self._parked: dict[int, Callable[[Instant, bool], bool]] = {}
        self._next_id = 0

    @property
    def log(self) -> PartitionLog:
        return self._log

    def append(self, now: Instant, records: Sequence[Message], *, atomic: bool) -> int:
        """Append records; return the offset of the last one. They are committed once they have been flushed.

        With `atomic` a crash leaves all of them or none; TooManyRecords, before anything is appended, if no batch can
        hold them. Otherwise they come in as many batches as RECORDS_MAX and BATCH_BYTES_MAX make it.
        """
        batches = list(_batches([encode_metadata_record(record, _version_of(record)) for record in records]))
        if atomic and len(batches) > 1:
            raise TooManyRecords(f"{len(records)} records do not fit into one batch of the metadata log")
        last_offset = -1
        for values in batches:
            info = self._log.append_as_leader(
                build_batch([RecordData(value=value, timestamp=to_ms(now)) for value in values]),
                leader_epoch=self.epoch,
                now_ms=to_ms(now),
                origin=AppendOrigin.COORDINATOR,
            )
            last_offset = info.last_offset
        return last_offset

    @property
    def is_committed(self) -> bool:
        """Return whether all that was appended is committed."""
        return self._log.high_watermark >= self._log.log_end_offset

    def begin_flush(self) -> Flush | None:
        """Return the job that makes safe what was appended; None if it is, or if there is such a job already."""
        return self._log.begin_flush(self._log.log_end_offset)

    def finish_flush(self, now: Instant) -> None:
        """Let what was flushed count as committed, and answer the fetches that wait for it."""
        self._log.finish_flush(to_ms(now), done=True)
        self._log.update_high_watermark(min(self._log.recovery_point, self._log.log_end_offset))
        self._wake(now)

    def park(self, attempt: Callable[[Instant, bool], bool]) -> int:
        """Keep a fetch that waits for the log to grow; return the id under which `force` ends the wait.

        `attempt(now, forced)` answers the fetch and returns True, or returns False to wait on.
        """
        self._next_id += 1
        self._parked[self._next_id] = attempt
        return self._next_id

    def _wake(self, now: Instant) -> None:
        for key, attempt in list(self._parked.items()):
            if attempt(now, False):
                self._parked.pop(key, None)

    def force(self, now: Instant, key: int) -> None:
        """Answer a waiting fetch now, with nothing if there is nothing."""
        attempt = self._parked.pop(key, None)
        if attempt is not None:
            attempt(now, True)
