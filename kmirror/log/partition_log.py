"""One partition's log: what is in it, how far it is replicated, and what may be added or cut.

    log start <= last stable offset <= high watermark <= log end

Three ways to append. As leader: the records are checked, get the next offsets and the leader's epoch. As follower: the
leader's bytes are kept, offsets, epochs and all. As mirror: the follower's rules on the leader of a destination cluster
(D12). A cut removes whole batches (D47). It takes the epochs and the producers' state with it, and the high watermark
if it was above: in a mirror the cut may well go below what was once committed here.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log import recovery, retention, walk
from kmirror.log.cleanable import Cleanable, cleanable
from kmirror.log.cleaner import KEYS_MAX, Compaction, CompactionResult, Rewrite, discard, swap_in
from kmirror.log.config import LogConfig
from kmirror.log.epochs import EndOffset, LeaderEpochCache, encode_checkpoint
from kmirror.log.errors import LogAppendError, OffsetOutOfRange, OffsetsOutOfOrder, UnexpectedAppendOffset
from kmirror.log.fast_append import append_one
from kmirror.log.flushing import Flushing
from kmirror.log.leader_append import check_fits_segment, prepare
from kmirror.log.producer_entry import AbortedTxn
from kmirror.log.producer_files import after_cut, brings_back, delete_snapshots, snapshot_offsets, take_snapshot
from kmirror.log.producer_staging import data_batch, stage_batches, stage_produced
from kmirror.log.producers import AppendOrigin, ProducerStates, Staging
from kmirror.log.recovery import CLEAN_SHUTDOWN
from kmirror.log.results import AppendInfo, ReadResult
from kmirror.log.scan import part_ends, scan_batches
from kmirror.log.scan_result import LEGACY_EPOCH, ScanResult
from kmirror.log.segment import SPAN_MAX, Segment
from kmirror.log.segment_list import SegmentList
from kmirror.log.store import (
    CLEANER_OFFSET,
    HIGH_WATERMARK,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_OFFSET,
    RECOVERY_POINT,
    Chunk,
    PartitionStore,
)
from kmirror.log.timestamps import OffsetAndTimestamp, offset_for_timestamp
from kmirror.records.batch import Batch
from kmirror.records.legacy import AnyBatch

__all__ = [
    "AbortedTxn",
    "AppendInfo",
    "AppendOrigin",
    "CLEAN_SHUTDOWN",
    "LogAppendError",
    "LogConfig",
    "OffsetAndTimestamp",
    "OffsetOutOfRange",
    "OffsetsOutOfOrder",
    "PartitionLog",
    "ReadResult",
    "UnexpectedAppendOffset",
]


class PartitionLog:
    """One partition's log over a store; `open` makes it. All times are in milliseconds.

    `log_start_offset` is the first offset that may be read. Attributes are there to be read: methods move them.
    """

    __slots__ = (
        "_saved_epochs",
        "compaction",
        "config",
        "epochs",
        "flushing",
        "high_watermark",
        "log_start_offset",
        "now_ms",
        "producers",
        "repair",
        "segments",
        "store",
        "tp",
    )

    def __init__(
        self,
        tp: TopicPartition,
        store: PartitionStore,
        config: LogConfig,
        loaded: recovery.RecoveredLog,
        *,
        now_ms: int,
        recovery_point: int,
    ) -> None:
        self.tp = tp
        self.store = store
        self.config = config
        self.log_start_offset = loaded.log_start_offset
        self.high_watermark = loaded.high_watermark
        self.epochs: LeaderEpochCache = loaded.epochs
        self._saved_epochs = loaded.saved_epochs
        self.producers: ProducerStates = loaded.producers
        self.repair = loaded.repair  # What opening had to cut off, or None.
        self.flushing = Flushing(max(min(recovery_point, loaded.log_end_offset), loaded.log_start_offset), now_ms)
        self.segments = SegmentList(tp, store, loaded.segments, loaded.log_end_offset)
        self.now_ms = now_ms  # The clock as of the last call that told it.
        self.compaction: Compaction | None = None  # The run under way; none if the log was cut below its reach.

    @classmethod
    def open(
        cls,
        tp: TopicPartition,
        store: PartitionStore,
        config: LogConfig,
        *,
        now_ms: int,
        repair: bool = False,
        recovery_point: int = 0,
    ) -> PartitionLog:
        """Return the log that the store holds, an empty one in an empty store.

        Raises CorruptBatch, with segment file, position and offset, where the store holds something else; with
        `repair`, segments are cut where they are wrong, as after an unclean shutdown, and `PartitionLog.repair` says
        what went.
        Segments that end below `recovery_point` are taken by their indexes and not read; CLEAN_SHUTDOWN takes all
        of them so.
        """
        try:
            loaded = recovery.load(store, config, now_ms=now_ms, repair=repair, recovery_point=recovery_point)
        except CorruptBatch as error:
            raise error.within(str(tp)) from None
        log = cls(tp, store, config, loaded, now_ms=now_ms, recovery_point=recovery_point)
        log._write_epochs()
        return log

    def __repr__(self) -> str:
        return (
            f"PartitionLog({self.tp}, start={self.log_start_offset}, stable={self.last_stable_offset}, "
            f"high_watermark={self.high_watermark}, end={self.log_end_offset}, epoch={self.latest_epoch})"
        )

    # -- what is known ------------------------------------------------------------------------

    @property
    def log_end_offset(self) -> int:
        """Return the offset that the next record gets."""
        return self.segments.end_offset

    @property
    def recovery_point(self) -> int:
        """Return the offset below which the log is not read again when it is opened after a crash."""
        return self.flushing.recovery_point

    @property
    def is_flush_due(self) -> bool:
        """Return whether as many records as `flush.messages` lie unflushed: then they do not count as held here yet."""
        return self.segments.end_offset - self.flushing.recovery_point >= self.config.flush_messages

    @property
    def latest_epoch(self) -> int:
        """Return the greatest leader epoch in the epoch cache, -1 when it is empty."""
        return self.epochs.latest_epoch()

    @property
    def first_unstable_offset(self) -> int | None:
        """Return the first offset of a transaction, or its rest, that is open or decided above the high watermark."""
        offset, start = self.producers.first_unstable_offset(), self.log_start_offset
        if offset is None or offset >= start:
            return offset
        found = self.segments.find(start)
        return self.log_end_offset if found is None else max(found[1].base_offset, start)

    @property
    def last_stable_offset(self) -> int:
        """Return the offset below which every transaction is decided; a READ_COMMITTED reader gets no further."""
        offset = self.first_unstable_offset
        return self.high_watermark if offset is None else min(offset, self.high_watermark)

    @property
    def size_in_bytes(self) -> int:
        """Return the size of all segments."""
        return self.segments.size_in_bytes

    @property
    def segment_base_offsets(self) -> list[int]:
        """Return the base offsets of all segments, ascending."""
        return self.segments.base_offsets

    def end_offset_for_epoch(self, epoch: int) -> EndOffset:
        """Return the greatest epoch here that is not above `epoch`, and its end; (-1, -1) if `epoch` is unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    # -- appending ----------------------------------------------------------------------------

    def append_as_leader(
        self,
        data: Chunk,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transaction_version: int = 0,
    ) -> AppendInfo:
        """Append the one batch in `data` at the log end; a marker is judged by the coordinator's `transaction.version`.

        Raises LogAppendError, and then nothing has changed but that epoch and a full segment may have ended.
        """
        assert origin is not AppendOrigin.REPLICATION, "a replica appends with append_as_follower"
        self.now_ms = now_ms
        end, config = self.segments.end_offset, self.config
        prepared = prepare(data, self.tp, config, origin, base_offset=end, leader_epoch=leader_epoch, now_ms=now_ms)
        view, latest = memoryview(prepared.data), self.epochs.latest_epoch()
        info = append_one(self.segments, self.producers, config, view, leader_epoch, latest, now_ms, is_prepared=True)
        if info is not None:
            info.log_append_time = prepared.log_append_time
            return info
        batch = Batch(view)
        scan = scan_batches(view, self.segments.active, latest_epoch=latest, check_crc=False)
        assert scan.fault is None and scan.batches == 1, "prepared"
        if scan.epochs:
            self._assign_epochs(scan.epochs)
        check_fits_segment(len(view), self.tp, self.config)
        self._make_room(view, scan)  # Kafka notes the epoch and rolls before it asks about the producer.
        if origin is AppendOrigin.CLIENT and batch.has_producer_id:
            known = self.producers.find_duplicate(data_batch(batch))
            if known is not None:
                return AppendInfo(
                    known.first_offset, known.last_offset, log_append_time=known.timestamp, duplicate=True
                )
        staging, control_types = None, list[int]()
        if scan.special:
            staging = self.producers.stage(origin, transaction_version)
            control_types = stage_produced(batch, staging)
        info = self._append(view, scan, staging, control_types)
        info.log_append_time = prepared.log_append_time
        return info

    def append_as_follower(self, data: Chunk, *, max_epoch: int, now_ms: int | None = None) -> AppendInfo:
        """Append the leader's batches as they are, up to the first one whose epoch is above `max_epoch`.

        A batch that is cut short at the end is left out, for so a fetch response ends. Raises CorruptBatch,
        and then nothing has changed: bytes that are no batch, a wrong checksum, offsets that do not ascend
        (OffsetsOutOfOrder) or begin below the log end (UnexpectedAppendOffset).
        """
        if now_ms is not None:
            self.now_ms = now_ms
        view = memoryview(data)
        segments, latest = self.segments, self.epochs.latest_epoch()
        info = append_one(segments, self.producers, self.config, view, max_epoch, latest, self.now_ms)
        if info is not None:
            return info
        scan = scan_batches(view, segments.active, max_epoch=max_epoch, latest_epoch=latest)
        if scan.fault is not None:
            raise scan.fault
        if not scan.batches:
            return AppendInfo(refused_epoch=scan.refused_epoch)
        if scan.first_offset < self.log_end_offset:
            self._begin_at_straddling_batch(scan)
            scan = scan_batches(view, segments.active, max_epoch=max_epoch, check_crc=False)  # No epoch is left.
        view = view[: scan.valid_bytes]
        span = scan.last_offset - scan.roll_offset
        if (scan.valid_bytes > self.config.segment_bytes or span > SPAN_MAX) and scan.batches > 1:
            return self._append_in_parts(view, scan)
        return self._append_judged(view, scan)

    def append_as_mirror(self, data: Chunk, *, source_epoch: int, now_ms: int | None = None) -> AppendInfo:
        """Append what the source's leader sent to this leader of the destination (D12), as a follower does.

        `source_epoch` is the CurrentLeaderEpoch of the fetch: batches of a later epoch are left out.
        """
        return self.append_as_follower(data, max_epoch=source_epoch, now_ms=now_ms)

    def _begin_at_straddling_batch(self, scan: ScanResult) -> None:
        """Allow a batch that begins below the log end, if the log holds nothing yet.

        The leader's log start may lie inside a batch (DeleteRecords), and the whole batch is sent.
        """
        end = self.log_end_offset
        if self.log_start_offset != end or scan.last_offset < end:
            raise UnexpectedAppendOffset(
                f"{self.tp}: batches begin at offset {scan.first_offset}, expected {end} or more "
                f"(last offset {scan.last_offset}, log start {self.log_start_offset})",
                first_offset=scan.first_offset,
                last_offset=scan.last_offset,
            )
        self.truncate_fully_and_start_at(scan.first_offset, log_start_offset=self.log_start_offset)

    def _append_in_parts(self, view: memoryview, scan: ScanResult) -> AppendInfo:
        """Append more than a segment holds: as many batches at a time as fit, at least one.

        Kafka refuses here. A mirrored topic has its source's segment size, which a fetch may exceed, also in offsets.
        """
        total = AppendInfo(scan.first_offset, refused_epoch=scan.refused_epoch)
        start = 0
        for end in part_ends(view, self.config.segment_bytes):
            part = view[start:end]
            again = scan_batches(part, self.segments.active, latest_epoch=self.latest_epoch, check_crc=False)
            info = self._append_judged(part, again)
            total.last_offset = info.last_offset
            total.batches += info.batches
            total.bytes += info.bytes
            total.max_timestamp = max(total.max_timestamp, info.max_timestamp)
            total.control_types += info.control_types
            start = end
        return total

    def _append_judged(self, view: memoryview, scan: ScanResult) -> AppendInfo:
        """Append replicated batches that fit a segment; what is refused leaves no segment above the log end."""
        staging: Staging | None = None
        control_types: list[int] = []
        if scan.special:
            staging = self.producers.stage(AppendOrigin.REPLICATION)
            control_types = stage_batches(view, scan.special, staging)
        self._make_room(view, scan)
        if scan.epochs:
            self._assign_epochs(scan.epochs)
        return self._append(view, scan, staging, control_types)

    def _append(
        self, view: memoryview, scan: ScanResult, staging: Staging | None, control_types: list[int]
    ) -> AppendInfo:
        """Put judged batches at the end of the log; nothing can fail once the first byte is written."""
        segment = self.segments.append(view, scan, self.now_ms)
        if staging is not None:
            segment.aborted.extend(staging.commit())
        self.producers.map_end_offset = scan.last_offset + 1
        return AppendInfo(
            scan.first_offset,
            scan.last_offset,
            scan.batches,
            scan.valid_bytes,
            scan.max_timestamp,
            refused_epoch=scan.refused_epoch,
            control_types=tuple(control_types),
        )

    def _make_room(self, view: memoryview, scan: ScanResult) -> None:
        """Roll if the active segment cannot take the batches."""
        active = self.segments.active
        if active.should_roll(self.config, scan.valid_bytes, scan.last_offset, scan.max_timestamp, self.now_ms):
            segment = self.roll(scan.roll_offset)
            fresh = scan_batches(view, segment, check_crc=False)  # Index rows are the segment's own.
            scan.row_offsets, scan.row_positions = fresh.row_offsets, fresh.row_positions
            scan.time_rows, scan.since_row = fresh.time_rows, fresh.since_row

    def roll(self, first_offset: int) -> Segment:
        """Begin a new active segment for a batch at `first_offset`, which may lie above the log end."""
        base_offset = max(first_offset, self.log_end_offset)
        active = self.segments.active
        if active.base_offset == base_offset:
            assert active.size == 0, f"{self.tp}: segment {base_offset} is not empty"
            return active
        self.segments.seal(flushes=not self.flushing.is_deferred)
        self.producers.map_end_offset = base_offset
        take_snapshot(self.producers, self.store)
        if not self.flushing.is_deferred:
            self.flushing.raise_to(base_offset, self.now_ms)
        return self.segments.add(base_offset, self.config, self.now_ms)

    def _assign_epochs(self, epochs: list[tuple[int, int]]) -> None:
        """Note the epochs of batches about to be written; one that then has no batch does no harm."""
        for epoch, start_offset in epochs:
            if epoch >= 0:
                self.epochs.assign(epoch, start_offset)
            elif epoch == LEGACY_EPOCH:  # Else its offsets would be taken for the latest epoch's.
                self.epochs.clear()
        self._write_epochs()

    def _write_epochs(self, *, anew: bool = False) -> None:
        """Write the epochs if they are others, or `anew` where Kafka writes in any case."""
        entries = self.epochs.entries
        if anew or entries != self._saved_epochs:
            self.store.write_file(LEADER_EPOCH_CHECKPOINT, encode_checkpoint(entries))
            self._saved_epochs = entries

    # -- reading ------------------------------------------------------------------------------

    def read(self, offset: int, *, max_bytes: int, end_offset: int, min_one: bool = True) -> ReadResult:
        """Return the batches from the one that holds `offset`, all below `end_offset`, in at most `max_bytes`.

        With `min_one` the first batch is returned whatever its size. Raises OffsetOutOfRange outside the log.
        """
        segments = self.segments
        if not self.log_start_offset <= offset <= segments.end_offset:
            reason = f"offset {offset} is outside {self.log_start_offset} to {self.log_end_offset}"
            raise self._out_of_range(offset, reason)
        return segments.read(offset, max_bytes, end_offset, min_one)

    def _out_of_range(self, offset: int, reason: str) -> OffsetOutOfRange:
        start, end = self.log_start_offset, self.log_end_offset
        return OffsetOutOfRange(f"{self.tp}: {reason}", offset=offset, log_start_offset=start, log_end_offset=end)

    def offset_for_timestamp(self, timestamp: int) -> OffsetAndTimestamp | None:
        """Return the first record at or above the log start that is not older, or what the negative timestamps name."""
        return offset_for_timestamp(self.segments, self.epochs, self.log_start_offset, timestamp)

    def aborted_transactions(self, start: int, end: int) -> list[AbortedTxn]:
        """Return the aborted transactions that have records in `start` up to, not including, `end`."""
        return self.segments.aborted_transactions(start, end)

    def batches(self, start: int | None = None, end: int | None = None) -> Iterator[Batch]:
        """Return the batches from the one that holds `start` to the last one that begins below `end`.

        Raises UnsupportedMagic at a message of format 0 or 1; `any_batches` yields those too.
        """
        return walk.batches(self.segments, self.log_start_offset if start is None else start, end)

    def any_batches(self, start: int | None = None) -> Iterator[AnyBatch]:
        """Return the batches and legacy messages from the one that holds `start` on."""
        return walk.any_batches(self.segments, self.log_start_offset if start is None else start)

    # -- moving the marks ---------------------------------------------------------------------

    def assign_epoch_start(self, epoch: int) -> None:
        """Note that this broker leads from `epoch` on; not for a mirrored log, whose epochs are the source's (D14)."""
        self._assign_epochs([(epoch, self.log_end_offset)])

    def update_high_watermark(self, offset: int) -> int:
        """Set the high watermark, bounded by log end and log start, which may be above that; returns what it is now."""
        self.high_watermark = max(min(offset, self.log_end_offset), self.log_start_offset)
        self.producers.on_high_watermark(self.high_watermark)
        return self.high_watermark

    def advance_log_start(self, offset: int) -> bool:
        """Raise the log start to `offset`; True if it was lower.

        Raises OffsetOutOfRange above the high watermark.
        """
        if offset > self.high_watermark:
            reason = f"log start {offset} would be above the high watermark {self.high_watermark}"
            raise self._out_of_range(offset, reason)
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.flushing.recovery_point = max(self.recovery_point, offset)
        self.epochs.truncate_from_start(offset)
        self._write_epochs()
        self.producers.on_log_start(offset)
        self.producers.snapshot_offset = max(snapshot_offsets(self.store), default=offset)
        return True

    def remove_expired_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for `producer.id.expiration.ms`."""
        self.producers.remove_expired(now_ms, self.config.producer_id_expiration_ms)

    # -- cutting ------------------------------------------------------------------------------

    def end_after_cut(self, offset: int) -> int:
        """Return where the log would end after `truncate_to(offset)`."""
        return self.segments.end_after_cut(offset, self.log_start_offset)

    def truncate_to(self, offset: int) -> bool:
        """Drop every record at or above `offset`; False if there is none.

        The log then ends at `offset`, or where the batch began that holds it, for batches go as a whole (D47), but not
        below the log start. Raises CorruptBatch, before anything changes, where an index leads to no batch.
        """
        assert offset >= 0, f"{self.tp}: a cut to {offset}"
        if offset >= self.log_end_offset:
            # A leader that was elected and wrote nothing has left an epoch that starts at the log end.
            if self.epochs.truncate_from_end(self.log_end_offset):
                self._write_epochs()
            return False
        start = min(self.log_start_offset, offset)
        cut = self.segments.cut_at(offset, start)
        if cut is None:
            self.truncate_fully_and_start_at(start)
            return True
        end, expired = cut.end, recovery.expiry(self.config, self.now_ms)
        reads = brings_back(self.producers, self.store, self.segments.reaching(end), start, end, expired)
        self._prepare_cut(end, start)
        self.segments.truncate_to(end, self.now_ms)
        self.epochs.truncate_from_end(end)
        self._write_epochs()
        self.producers = after_cut(self.producers, self.store, self.segments if reads else (), start, end, expired)
        self.update_high_watermark(min(self.high_watermark, end))
        if end > cut.kept_end:
            self.roll(end)  # Else the log would end at `kept_end` when it is opened again.
        return True

    def truncate_fully_and_start_at(self, offset: int, *, log_start_offset: int | None = None) -> None:
        """Drop everything; the log is empty and begins at `offset`.

        `log_start_offset` may lie above it when the first batch to come begins below the log start.
        """
        self._prepare_cut(offset, offset if log_start_offset is None else log_start_offset)
        delete_snapshots(self.store, above=-1)
        self.segments.restart_at(offset, self.config, self.now_ms)
        self.epochs.clear()
        self._write_epochs(anew=True)
        self.producers.clear(offset)
        self.high_watermark = max(offset, self.log_start_offset)

    def _prepare_cut(self, end_offset: int, log_start_offset: int) -> None:
        """Write down first what would be wrong of a log that is cut: offsets above its end, and snapshots.

        The epochs come after the cut. Entries above the log end are dropped when a log is opened; but were
        they gone while the batches are still there, those that are not read again would have the wrong epoch.
        """
        self.log_start_offset = log_start_offset
        self.flushing.cut_to(end_offset)
        if end_offset < self.segments.active.base_offset or end_offset <= log_start_offset:
            self.compaction = None
        self._write_offset(LOG_START_OFFSET, log_start_offset)
        self._write_offset(RECOVERY_POINT, self.recovery_point)
        if (self._read_offset(CLEANER_OFFSET) or 0) > end_offset:
            self._write_offset(CLEANER_OFFSET, end_offset)
        delete_snapshots(self.store, above=end_offset)

    def delete_old_segments(self, now_ms: int) -> int:
        """Delete what retention and the log start let go; returns how many segments went."""
        gone = self.set_aside_old_segments(now_ms)
        for base_offset in gone:
            self.store.purge(base_offset)
        return len(gone)

    def set_aside_old_segments(self, now_ms: int, *, is_mirrored: bool = False) -> list[int]:
        """Do the same, but leave the bytes for the store to purge; return where the segments began."""
        self.now_ms = now_ms
        gone: list[int] = []
        for rule in retention.rules(self.config, self.log_start_offset, now_ms, is_mirrored=is_mirrored):
            count = retention.deletable(self.segments, rule, self.high_watermark)
            if count:
                if count == len(self.segments):
                    self.roll(self.log_end_offset)
                self.compaction = None
                self.advance_log_start(self.segments[count].base_offset)
                gone += self.segments.set_aside_first(count)
        return gone

    def cleanable(self, now_ms: int) -> Cleanable:
        """Return what the next `compact` would clean."""
        return cleanable(
            self.segments,
            self.config,
            self._read_offset(CLEANER_OFFSET),
            log_start_offset=self.log_start_offset,
            last_stable_offset=self.last_stable_offset,
            now_ms=now_ms,
        )

    def compact(self, now_ms: int, *, min_ratio: float = 0.0, keys_max: int = KEYS_MAX) -> CompactionResult | None:
        """Clean the log if more than `min_ratio` of what can be cleaned was not cleaned before.

        A run takes at most `keys_max` keys, and leaves the rest to the next.
        """
        self.now_ms = now_ms
        what = self.cleanable(now_ms)
        if not what.is_dirty_enough(min_ratio):
            return None
        job = self.begin_compaction(what, now_ms, keys_max)
        return self.finish_compaction(job, job.run())

    def begin_compaction(self, what: Cleanable, now_ms: int, keys_max: int) -> Compaction:
        """Return the job that cleans `what`; until its end is told, nothing of the log has changed."""
        self.compaction = Compaction(self.segments, self.producers, self.config, what, now_ms=now_ms, keys_max=keys_max)
        return self.compaction

    def finish_compaction(self, job: Compaction, done: Rewrite) -> CompactionResult | None:
        """Take over what the job made of the log; None if that was cut meanwhile, and then it stays as it is."""
        if self.compaction is not job:
            discard(self.store, done)
            return None
        self.compaction = None
        cleaned = swap_in(self.segments, done)
        self._write_offset(CLEANER_OFFSET, cleaned.end_offset)
        return cleaned

    # -- keeping ------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Write down what cannot be read off the batches."""
        self._write_epochs()
        self._write_offset(HIGH_WATERMARK, self.high_watermark)
        self._write_offset(LOG_START_OFFSET, self.log_start_offset)
        self._write_offset(RECOVERY_POINT, self.recovery_point)

    def _write_offset(self, name: str, offset: int) -> None:
        self.store.write_file(name, b"%d" % offset)

    def _read_offset(self, name: str) -> int | None:
        return None if (data := self.store.read_file(name)) is None else int(data)

    def flush(self) -> None:
        """Return when everything that was appended is safe from a power cut."""
        if self.recovery_point < self.log_end_offset:
            self.segments.flush(self.recovery_point)
            self.flushing.raise_to(self.log_end_offset, self.now_ms)

    def close(self) -> None:
        """Leave the store as a broker leaves its folder on a clean shutdown; the log is not used any more."""
        self.flush()
        self.segments.seal()
        take_snapshot(self.producers, self.store)
        self.checkpoint()
