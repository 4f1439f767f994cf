"""Log cleaner: compaction of a log up to its first uncleanable offset.

The segments below that offset are rewritten one by one, and small neighbours are merged. The records from the first
dirty offset on (the end of the last run) give the latest offset of each key. A record with a smaller offset than the
latest of its key is dropped.

    kept as it is      offsets, last offset of each batch, producer fields, leader epoch, codec
    tombstones         stay for `delete.retention.ms` after the first run that reads them: that run writes the
                       delete horizon in place of the base timestamp. The horizon in a mirrored batch was set by
                       the source's cleaner, so the first run here writes its own
    aborted records    are dropped; their marker stays until none is left, and then as long as a tombstone
    commit markers     likewise, once no record of the transaction is left
    empty batches      stay as a bare header if the batch is the last of a producer that is still known, because
                       it holds the producer's sequence number and epoch, and at the very end of the run
    PID resets and other control records that end no transaction are kept forever

The active segment and everything above the last stable offset are never changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any, NamedTuple

from kmirror.log.cleanable import Cleanable
from kmirror.log.config import LogConfig
from kmirror.log.producer_entry import AbortedTxn
from kmirror.log.producers import ProducerStates
from kmirror.log.scan import scan_batches
from kmirror.log.segment import SPAN_MAX, Segment, next_offset
from kmirror.log.segment_list import SegmentList
from kmirror.log.state_files import SNAPSHOT_SUFFIX, file_name
from kmirror.log.store import CLEANER_RUN, PartitionStore
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.build import build_batch
from kmirror.records.control import ControlType, parse_control
from kmirror.records.layout import TimestampType
from kmirror.records.legacy import LegacyBatch, iter_any_batches
from kmirror.records.record import Record, RecordData

# Kafka's default: a dedupe buffer of 128 MiB, 24 bytes per key, filled to nine tenths.
KEYS_MAX = (128 << 20) // 24 * 9 // 10


class CompactionResult(NamedTuple):
    """Result of one run of the cleaner."""

    end_offset: int  # Start of the next run.
    bytes_before: int
    bytes_after: int
    segments_before: int
    segments_after: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """The parts of a segment that a run needs; they stay valid if the log changes during the run."""

    base_offset: int
    view: memoryview
    rows: int  # Rows in the offset index.
    time_rows: int
    modified_ms: int

    @classmethod
    def from_segment(cls, segment: Segment) -> Sealed:
        """Return a snapshot of the segment; its bytes must not change while the snapshot is used."""
        rows, time_rows = len(segment.offsets), len(segment.times)
        return cls(segment.base_offset, segment.view(), rows, time_rows, segment.modified_ms)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Rewritten content of neighbouring segments: one segment, staged in the store."""

    base_offsets: list[int]
    segment: Segment


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Output of a run; it takes effect with `swap_in`."""

    end_offset: int
    bytes_before: int
    groups: list[Rewritten]


class Compaction:
    """One run over the cleanable part of a log: a disk job that reads immutable data and writes to staged files."""

    def __init__(
        self,
        segments: SegmentList,
        producers: ProducerStates,
        config: LogConfig,
        cleanable_range: Cleanable,
        *,
        now_ms: int,
        keys_max: int = KEYS_MAX,
    ) -> None:
        start, end = cleanable_range.first_dirty_offset, cleanable_range.first_uncleanable_offset
        self.cleanable_range = cleanable_range
        self.config = config
        self.now_ms = now_ms
        self.keys_max = keys_max  # With more distinct keys than this, the run ends where the map is full.
        self.store = segments.store
        self.sealed = [Sealed.from_segment(segment) for segment in segments if segment.base_offset < end]
        self.dirty_position = segments.reaching(start)[0].offsets.position_for(start)
        # A transaction may end above the cleaned range, so the indexes of all segments are needed.
        self.aborted = [(segment.base_offset, tuple(segment.aborted)) for segment in segments]
        self.last_of_producers = {
            producer_id: (entry.last_data_offset, entry.producer_epoch)
            for producer_id, entry in producers.entries.items()
        }

    def run(self) -> Rewrite:
        """Stage the rewritten groups of segments. Raises CorruptBatch and OSError; the log is then unchanged."""
        offsets = _map_offsets(self)
        end_offset = offsets.latest_offset + 1
        old = [segment for segment in self.sealed if segment.base_offset < end_offset]
        run = _Run(self, offsets)
        groups: list[Rewritten] = []
        for group in _groups(old, self.config, self.cleanable_range.first_uncleanable_offset):
            data, aborted = run.clean_group(group)
            bases = [segment.base_offset for segment in group]
            self.store.stage(bases[0], data)
            cleaned = Segment(self.store, bases[0], self.config, created_ms=self.now_ms)
            if data:
                view = memoryview(data)
                cleaned.add(view, scan_batches(view, cleaned, check_crc=False))
            cleaned.add_aborted(aborted)
            cleaned.modified_ms = group[-1].modified_ms
            cleaned.close()
            groups.append(Rewritten(bases, cleaned))
        # The checkpoint is written after the segments. A crash in between must not hide how far this run read (D63).
        self.store.write_safe_file(CLEANER_RUN, b"%d" % end_offset)
        return Rewrite(end_offset, sum(len(segment.view) for segment in old), groups)

    def aborted_transactions(self, end: int, *, reaching: int) -> list[AbortedTxn]:
        """Return the aborted transactions with records between the log start and `end`.

        The lookup starts in the transaction index of the segment that contains offset `reaching`.
        """
        found: list[AbortedTxn] = []
        first = (bisect_right(self.aborted, reaching, key=itemgetter(0)) or 1) - 1
        for _, rows in self.aborted[first:]:
            for txn in rows:
                if txn.last_offset >= self.cleanable_range.log_start_offset and txn.first_offset < end:
                    found.append(txn)
                if txn.last_stable_offset >= end:
                    return found
        return found


def swap_in(segments: SegmentList, rewrite: Rewrite) -> CompactionResult:
    """Replace the segments that a run read by those that it staged."""
    for group in rewrite.groups:
        for segment in segments.reaching(group.base_offsets[0])[: len(group.base_offsets)]:
            segment.delete_files()  # Without index files, a segment is scanned again after a power cut.
        segments.store.replace(group.base_offsets)
        for base_offset in group.base_offsets[1:]:
            segments.store.delete_file(file_name(base_offset, SNAPSHOT_SUFFIX))
        group.segment.write_files()
        segments.replace(group.segment, len(group.base_offsets))
    after = sum(group.segment.size for group in rewrite.groups)
    before = sum(len(group.base_offsets) for group in rewrite.groups)
    return CompactionResult(rewrite.end_offset, rewrite.bytes_before, after, before, len(rewrite.groups))


def discard(store: PartitionStore, rewrite: Rewrite) -> None:
    """Remove the staged files of a run over a log that was truncated in the meantime."""
    for group in rewrite.groups:
        store.unstage(group.base_offsets[0])


@dataclass(slots=True)
class _Offsets:
    """Map from key to its latest offset in the dirty part, as far as that was read."""

    latest: dict[bytes, int] = field(default_factory=dict)
    latest_offset: int = -1


class _Transactions:
    """Tracks the transaction that the current batch belongs to; the batches are passed in log order."""

    def __init__(self) -> None:
        self._seen_committed: dict[int, None] = {}  # Producers with committed records in the batches read so far.
        self._aborted: dict[int, AbortedTxn] = {}
        self._seen_aborted: dict[int, None] = {}  # Producers with aborted records in the batches read so far.
        self._upcoming: list[tuple[int, AbortedTxn]] = []

    def add_upcoming(self, aborted: Iterable[AbortedTxn]) -> None:
        for txn in aborted:
            heappush(self._upcoming, (txn.first_offset, txn))

    def _advance_to(self, offset: int) -> None:
        while self._upcoming and self._upcoming[0][0] <= offset:
            txn = heappop(self._upcoming)[1]
            self._aborted.setdefault(txn.producer_id, txn)

    def is_aborted(self, batch: Batch) -> bool:
        """Return whether the data batch is part of an aborted transaction."""
        self._advance_to(batch.last_offset)
        if not batch.is_transactional:
            return False
        if batch.producer_id in self._aborted:
            self._seen_aborted[batch.producer_id] = None
            return True
        self._seen_committed[batch.producer_id] = None
        return False

    def end(self, batch: Batch) -> tuple[bool, AbortedTxn | None]:
        """Return whether the control batch may be deleted, and the aborted transaction it ends if records are left."""
        self._advance_to(batch.last_offset)
        record = next(batch.records(), None) if batch.record_count else None
        if record is None:
            return True, None
        kind = parse_control(record.key, record.value).type
        producer_id = batch.producer_id
        if kind is ControlType.ABORT:
            txn = self._aborted.pop(producer_id, None)
            if producer_id in self._seen_aborted:
                del self._seen_aborted[producer_id]
                return False, txn
            return True, None
        if kind is ControlType.COMMIT:
            if producer_id in self._seen_committed:
                del self._seen_committed[producer_id]
                return False, None
            return True, None
        return False, None


def _map_offsets(job: Compaction) -> _Offsets:
    """Read the dirty part. Stops before the record whose key would exceed `keys_max`."""
    found = _Offsets()
    state = _Transactions()
    start, end, last_offset = job.cleanable_range.first_dirty_offset, job.cleanable_range.first_uncleanable_offset, -1
    first = (bisect_right(job.sealed, start, key=lambda segment: segment.base_offset) or 1) - 1
    dirty, position = job.sealed[first:], job.dirty_position
    state.add_upcoming(job.aborted_transactions(end, reaching=start))
    for segment, following in zip(dirty, [*dirty[1:], None], strict=True):
        for batch in iter_any_batches(segment.view[position:]):
            if isinstance(batch, Batch) and batch.is_control:
                state.end(batch)
            elif isinstance(batch, LegacyBatch) or not state.is_aborted(batch):
                for record in batch.records():
                    if record.key is not None and record.offset >= start:
                        if len(found.latest) >= job.keys_max:
                            # This offset may lie inside a batch.
                            found.latest_offset = max(found.latest_offset, last_offset)
                            return found
                        found.latest[record.key] = last_offset = record.offset
            if batch.last_offset >= start:
                found.latest_offset = batch.last_offset
        position = 0
        bound = end if following is None else following.base_offset
        found.latest_offset = max(found.latest_offset, bound - 1)
    return found


def _groups(segments: list[Sealed], config: LogConfig, uncleanable_offset: int) -> Iterator[list[Sealed]]:
    """Yield groups of neighbours that fit into one segment by bytes, index size and offset range."""
    ends = [*(segment.base_offset for segment in segments[1:]), uncleanable_offset]
    group: list[Sealed] = []
    size = rows = time_rows = 0
    for segment, end in zip(segments, ends, strict=True):
        fits = (
            size + len(segment.view) <= config.segment_bytes
            and (rows + segment.rows) * 8 <= config.segment_index_bytes
            and (time_rows + segment.time_rows) * 12 <= config.segment_index_bytes
            and (not segment.view or not group or end - 1 - group[0].base_offset <= SPAN_MAX)
        )
        if group and not fits:
            yield group
            group, size, rows, time_rows = [], 0, 0, 0
        group.append(segment)
        size, rows, time_rows = size + len(segment.view), rows + segment.rows, time_rows + segment.time_rows
    if group:
        yield group


class _Run:
    """Rewrites the groups of segments, one after the other."""

    def __init__(self, job: Compaction, offsets: _Offsets) -> None:
        self.job = job
        self.offsets = offsets
        self.state = _Transactions()
        self.now_ms = job.now_ms
        retention_ms, clean_before = job.config.delete_retention_ms, -1
        for segment in job.sealed:
            if segment.base_offset < job.cleanable_range.first_dirty_offset:
                clean_before = segment.modified_ms
        self.horizon_ms = job.now_ms + retention_ms  # Horizon that this run gives to tombstones and markers.
        self.legacy_horizon_ms = clean_before - retention_ms if clean_before >= 0 else 0
        self.aborted: list[AbortedTxn] = []  # Aborted transactions of the current group whose markers stay.

    def clean_group(self, group: list[Sealed]) -> tuple[bytes, list[AbortedTxn]]:
        """Return the bytes that replace the group, and their transaction index."""
        chunks: list[bytes | memoryview] = []
        self.aborted = []
        for segment, following in zip(group, [*group[1:], None], strict=True):
            start = segment.base_offset
            end = next_offset(segment.view, start) if following is None else following.base_offset
            self.state.add_upcoming(self.job.aborted_transactions(end, reaching=start))
            for batch in iter_any_batches(segment.view):
                cleaned: bytes | memoryview | None
                if isinstance(batch, LegacyBatch):
                    cleaned = self._clean_legacy(batch, segment)
                else:
                    cleaned = self._clean_batch(batch)
                if cleaned is not None:
                    chunks.append(cleaned)
        return b"".join(chunks), self.aborted

    def _clean_batch(self, batch: Batch) -> bytes | memoryview | None:
        """Return the rest of the batch, or None if nothing remains."""
        is_deletable, is_over = self._check_deletable(batch)
        must_stay = (
            self._is_last_of_producer(batch) or batch.next_offset == self.job.cleanable_range.first_uncleanable_offset
        )
        if is_deletable and not must_stay:
            return None
        if is_deletable:
            return _empty_batch(batch)
        records = list(batch.records()) if batch.record_count else []
        kept_records = records if batch.is_control else [record for record in records if self._is_kept(record, batch)]
        if not kept_records:
            return _empty_batch(batch) if must_stay else None
        has_tombstones = any(record.value is None for record in kept_records)
        needs_horizon = (has_tombstones or is_over) and self._horizon_of(batch) is None
        if len(kept_records) == len(records) and not needs_horizon:
            return batch.view
        horizon = self.horizon_ms if needs_horizon else batch.delete_horizon_ms
        return _rebuild_batch(batch, kept_records, horizon)

    def _clean_legacy(self, batch: LegacyBatch, segment: Sealed) -> bytes | None:
        """Return the rest of legacy messages, converted to batches of format 2, as Kafka's cleaner does.

        They have no delete horizon. Their tombstones stay while the segment was modified less than
        `delete.retention.ms` before the last cleaned segment.
        """
        keeps_tombstones = segment.modified_ms > self.legacy_horizon_ms
        kept_records = [
            record
            for record in batch.records()
            if record.offset > self.offsets.latest_offset
            or (self._is_latest(record) and (record.value is not None or keeps_tombstones))
        ]
        if not kept_records:
            return None
        has_tombstones = any(record.value is None for record in kept_records)
        has_append_time = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
        return build_batch(
            [RecordData(record.key, record.value, (), record.timestamp, record.offset) for record in kept_records],
            base_offset=kept_records[0].offset,
            compression=batch.compression,
            timestamp_type=TimestampType.LOG_APPEND_TIME if has_append_time else TimestampType.CREATE_TIME,
            timestamp_ms=batch.max_timestamp if has_append_time else layout.NO_TIMESTAMP,
            delete_horizon_ms=self.horizon_ms if has_tombstones else None,
        )

    def _check_deletable(self, batch: Batch) -> tuple[bool, bool]:
        """Return whether all records of the batch may be deleted, and whether it ends a transaction without records."""
        if not batch.is_control:
            return self.state.is_aborted(batch), False
        is_over, txn = self.state.end(batch)
        if txn is not None:
            self.aborted.append(txn)
        horizon = self._horizon_of(batch)
        return is_over and horizon is not None and horizon <= self.now_ms, is_over

    def _horizon_of(self, batch: Batch) -> int | None:
        """Return when tombstones and markers of a batch may be deleted; None before a run here has read them (D73)."""
        cleanable_range = self.job.cleanable_range
        is_new = cleanable_range.is_mirrored and batch.last_offset >= cleanable_range.first_dirty_offset
        return None if is_new else batch.delete_horizon_ms

    def _is_last_of_producer(self, batch: Batch) -> bool:
        known = self.job.last_of_producers.get(batch.producer_id) if batch.has_producer_id else None
        if known is None:
            return False
        last_data_offset, producer_epoch = known
        if last_data_offset >= 0:
            return batch.last_offset == last_data_offset
        return batch.is_control and batch.producer_epoch == producer_epoch

    def _is_latest(self, record: Record) -> bool:
        return record.key is not None and record.offset >= self.offsets.latest.get(record.key, -1)

    def _is_kept(self, record: Record, batch: Batch) -> bool:
        if record.offset > self.offsets.latest_offset:
            return True
        if not self._is_latest(record):
            return False
        horizon = self._horizon_of(batch)
        return record.value is not None or horizon is None or self.now_ms < horizon


def _kept_fields(batch: Batch) -> dict[str, Any]:
    """Return the header fields that a batch keeps in any case, as arguments of `build_batch`."""
    return {
        "base_offset": batch.base_offset,
        "partition_leader_epoch": batch.partition_leader_epoch,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "is_transactional": batch.is_transactional,
        "is_control": batch.is_control,
        "timestamp_type": batch.timestamp_type,
        "last_offset_delta": batch.last_offset_delta,
    }


def _empty_batch(batch: Batch) -> bytes:
    """Return the header of the batch, without records."""
    return build_batch(
        [],
        **_kept_fields(batch),
        timestamp_ms=batch.max_timestamp,
        base_timestamp=layout.NO_TIMESTAMP,
        max_timestamp=batch.max_timestamp,
    )


def _rebuild_batch(batch: Batch, kept_records: list[Record], horizon: int | None) -> bytes:
    """Return the batch with only the kept records, at their offsets."""
    has_append_time = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    return build_batch(
        [
            RecordData(record.key, record.value, record.headers, record.timestamp, record.offset)
            for record in kept_records
        ],
        **_kept_fields(batch),
        compression=batch.compression,
        timestamp_ms=batch.max_timestamp if has_append_time else layout.NO_TIMESTAMP,
        delete_horizon_ms=horizon,
    )
