"""Snapshots of the metadata log, which replace records that were deleted from its beginning.

A snapshot is a file of batches with its own offsets: a control batch with the header, and the voters if the log has
any; the records (`images/snapshot.py`); a control batch with the footer (KIP-630, RecordsSnapshotWriter).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kmirror.cluster.images import SnapshotRecords
from kmirror.cluster.metadata.batches import in_batches, metadata_records
from kmirror.cluster.metadata.transactions import MetadataTransactions
from kmirror.log.state_files import SNAPSHOT_OF_LOG
from kmirror.log.store import Chunk, PartitionStore
from kmirror.protocol.gen.snapshot_footer_record import SnapshotFooterRecord
from kmirror.protocol.gen.snapshot_header_record import SnapshotHeaderRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.build import build_batch
from kmirror.records.control import ControlType, control_key, parse_control
from kmirror.records.record import RecordData

_KEPT_CONTROLS = (ControlType.KRAFT_VERSION, ControlType.KRAFT_VOTERS)


class SnapshotId(NamedTuple):
    """Id of a snapshot: the end offset (exclusive), and the leader epoch of the last record below it."""

    end_offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        return f"{self.end_offset:020}-{self.epoch:010}.checkpoint"


@dataclass(frozen=True, slots=True)
class MetadataSnapshot:
    """The merged records below the end offset of `id`, as record batches."""

    id: SnapshotId
    timestamp_ms: int
    """Timestamp of the last record below the end, in ms since 1970."""
    data: bytes


def snapshot_ids(store: PartitionStore) -> list[SnapshotId]:
    """Return the snapshots in a store, in the order of their end offsets; that of a new cluster ends at 0."""
    found = (SNAPSHOT_OF_LOG.fullmatch(name) for name in store.files())
    return sorted(SnapshotId(int(match[1]), int(match[2])) for match in found if match is not None)


def read_snapshot(store: PartitionStore, id_: SnapshotId) -> MetadataSnapshot | None:
    """Return a snapshot, or None if it does not exist; raises `CorruptBatch` if it is damaged."""
    data = store.read_file(id_.file_name)
    return None if data is None else MetadataSnapshot(id_, _timestamp_ms(data), data)


def _timestamp_ms(data: bytes) -> int:
    """Return the timestamp in the header; without a header, that of the first batch."""
    for batch in iter_batches(data):
        for record in batch.records() if batch.is_control else ():
            control = parse_control(record.key, record.value)
            if control.type is ControlType.SNAPSHOT_HEADER:
                return SnapshotHeaderRecord.decode(control.value or b"", 0).last_contained_log_timestamp
        return batch.max_timestamp
    return -1


@dataclass(frozen=True, slots=True)
class WriteSnapshot:
    """A job for the disk: write the snapshot of the log up to the end of `tail`.

    It merges an earlier snapshot with the batches after it, and so needs no data from the controller.
    """

    store: PartitionStore
    base: bytes
    """The snapshot that ends where `tail` begins. At the start of the log it is empty, or has only the voters."""
    tail: Sequence[Chunk]
    """Whole committed batches, at least one."""

    def run(self) -> MetadataSnapshot:
        """Return the snapshot, written and flushed; raises OSError, and `CorruptBatch` for damaged batches."""
        snapshot = merge_chunks([self.base, *self.tail])
        self.store.write_safe_file(snapshot.id.file_name, snapshot.data)
        return snapshot


def merge_chunks(chunks: Iterable[Chunk]) -> MetadataSnapshot:
    """Return the snapshot of all batches in `chunks`, an earlier snapshot first; they must not end in a transaction."""
    transactions = MetadataTransactions()
    records = SnapshotRecords()
    controls: dict[ControlType, bytes] = {}
    last: Batch | None = None
    for chunk in chunks:
        for last in iter_batches(chunk):
            if last.is_control:
                _merge_controls(last, controls)
            for versioned_record in metadata_records(last):
                for valid in transactions.add(versioned_record):
                    records.merge(*valid)
    assert last is not None, "there are batches"
    assert not transactions.is_open, "a controller first aborts a metadata transaction that its predecessor left open"
    id_ = SnapshotId(last.last_offset + 1, last.partition_leader_epoch)
    values = [encode_metadata_record(record, version) for record, version in records.records()]
    return MetadataSnapshot(id_, last.max_timestamp, _encode(id_, last.max_timestamp, controls, values))


def _merge_controls(batch: Batch, controls: dict[ControlType, bytes]) -> None:
    for record in batch.records():
        control = parse_control(record.key, record.value)
        if control.type in _KEPT_CONTROLS:
            controls[control.type] = control.value or b""


def _encode(id_: SnapshotId, timestamp_ms: int, controls: dict[ControlType, bytes], values: Sequence[bytes]) -> bytes:
    header = SnapshotHeaderRecord(last_contained_log_timestamp=timestamp_ms).encode(0)
    head = [(ControlType.SNAPSHOT_HEADER, header)]
    head += [(kind, controls[kind]) for kind in _KEPT_CONTROLS if kind in controls]
    data = [_control(id_, head, 0, timestamp_ms)]
    offset = len(head)
    for group in in_batches(values) if values else ():
        rows = [RecordData(value=value, timestamp=timestamp_ms) for value in group]
        data.append(build_batch(rows, base_offset=offset, partition_leader_epoch=id_.epoch))
        offset += len(group)
    footer = [(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord().encode(0))]
    return b"".join([*data, _control(id_, footer, offset, timestamp_ms)])


def _control(id_: SnapshotId, controls: Sequence[tuple[ControlType, bytes]], offset: int, timestamp_ms: int) -> bytes:
    records = [RecordData(control_key(kind), value, (), timestamp_ms) for kind, value in controls]
    return build_batch(records, base_offset=offset, partition_leader_epoch=id_.epoch, is_control=True)
