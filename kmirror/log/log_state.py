"""State of one partition's log, and the operations that keep its parts consistent.

The operations write validated batches, roll segments, move the offsets and truncate. Each changes several parts:
segments, leader epochs, producer state, log start and high watermark. The rules for appends, reads and time-based work
are in `PartitionLog` and the modules it calls.
"""

from __future__ import annotations

from kmirror.kernel.ids import TopicPartition
from kmirror.log import recovery
from kmirror.log.cleaner import Compaction
from kmirror.log.config import LogConfig
from kmirror.log.epochs import LeaderEpochCache, encode_checkpoint
from kmirror.log.errors import OffsetOutOfRange
from kmirror.log.flushing import Flush, Flushing
from kmirror.log.producer_files import (
    delete_snapshots,
    needs_replay,
    rebuild_after_truncation,
    snapshot_offsets,
    take_snapshot,
)
from kmirror.log.producers import ProducerStates, Staging
from kmirror.log.results import AppendInfo
from kmirror.log.scan import scan_batches
from kmirror.log.scan_result import LEGACY_EPOCH, ScanResult
from kmirror.log.segment import Segment
from kmirror.log.segment_list import SegmentList
from kmirror.log.store import (
    CLEANER_OFFSET,
    CLEANER_RUN,
    COPIED_CLEANER_OFFSET,
    HIGH_WATERMARK,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_OFFSET,
    RECOVERY_POINT,
    PartitionStore,
)


class LogState:
    """The parts of one partition's log. Attributes are read-only for callers; methods change them."""

    __slots__ = (
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
        "unsaved",
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
        self.producers: ProducerStates = loaded.producers
        self.repair = loaded.repair  # The part removed when the log was opened, or None.
        self.flushing = Flushing(max(min(recovery_point, loaded.log_end_offset), loaded.log_start_offset), now_ms)
        self.segments = SegmentList(tp, store, loaded.segments, loaded.log_end_offset)
        self.now_ms = now_ms  # The time passed to the last call that had one.
        self.compaction: Compaction | None = None  # The running job; reset if the log changes in its range.
        self.unsaved: dict[LogState, None] | None = None  # See `track_unsaved`.

    @property
    def log_end_offset(self) -> int:
        """The offset of the next record (LEO)."""
        return self.segments.end_offset

    @property
    def recovery_point(self) -> int:
        """Offset below which the log is not read again when it is opened after a crash."""
        return self.flushing.recovery_point

    @property
    def latest_epoch(self) -> int:
        """Greatest leader epoch in the epoch cache, -1 if it is empty."""
        return self.epochs.latest_epoch()

    # -- appends and segments -----------------------------------------------------------------

    def write(
        self, view: memoryview, scan: ScanResult, staging: Staging | None, control_types: list[int]
    ) -> AppendInfo:
        """Append validated batches at the log end; nothing can fail after the first byte is written."""
        segment = self.segments.append(view, scan, self.now_ms)
        if staging is not None:
            segment.add_aborted(staging.commit())
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

    def roll_if_needed(self, view: memoryview, scan: ScanResult) -> None:
        """Roll if the active segment cannot hold the batches."""
        active = self.segments.active
        if active.should_roll(self.config, scan.valid_bytes, scan.last_offset, scan.max_timestamp, self.now_ms):
            segment = self.roll(scan.roll_offset)
            new_scan = scan_batches(view, segment, check_crc=False)  # Index rows depend on the segment.
            scan.row_offsets, scan.row_positions = new_scan.row_offsets, new_scan.row_positions
            scan.time_rows, scan.since_row = new_scan.time_rows, new_scan.since_row

    def roll(self, first_offset: int) -> Segment:
        """Start a new active segment for a batch at `first_offset`, which may be above the log end."""
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
            self._mark_unsaved()
        return self.segments.add(base_offset, self.config, self.now_ms)

    # -- leader epochs ------------------------------------------------------------------------

    def assign_epochs(self, epochs: list[tuple[int, int]]) -> None:
        """Record the epochs of batches about to be written; an epoch that then gets no batch is harmless."""
        for epoch, start_offset in epochs:
            if epoch >= 0:
                self.epochs.assign(epoch, start_offset)
            elif epoch == LEGACY_EPOCH:  # Otherwise its offsets would belong to the latest epoch.
                self.epochs.clear()
        self._write_epochs()

    def _write_epochs(self, *, always: bool = False) -> None:
        """Write the epochs if they changed; with `always` in any case, as Kafka does at some points."""
        if always or not self.epochs.is_saved:
            self.store.write_file(LEADER_EPOCH_CHECKPOINT, encode_checkpoint(self.epochs.entries))
            self.epochs.is_saved = True

    # -- high watermark and log start ---------------------------------------------------------

    def update_high_watermark(self, offset: int) -> int:
        """Set the high watermark, limited to log start and log end (log start wins), and return its new value."""
        bounded = max(min(offset, self.log_end_offset), self.log_start_offset)
        if bounded != self.high_watermark:
            self.high_watermark = bounded
            self._mark_unsaved()
        self.producers.on_high_watermark(bounded)
        return bounded

    def advance_log_start(self, offset: int) -> bool:
        """Raise the log start to `offset`; return whether it was lower.

        Raises OffsetOutOfRange if `offset` is above the high watermark.
        """
        if offset > self.high_watermark:
            reason = f"log start {offset} would be above the high watermark {self.high_watermark}"
            raise self._out_of_range(offset, reason)
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.flushing.recovery_point = max(self.recovery_point, offset)
        self._mark_unsaved()
        self.epochs.truncate_from_start(offset)
        self._write_epochs()
        self.producers.on_log_start(offset)
        self.producers.snapshot_offset = max(snapshot_offsets(self.store), default=offset)
        return True

    def _out_of_range(self, offset: int, reason: str) -> OffsetOutOfRange:
        start, end = self.log_start_offset, self.log_end_offset
        return OffsetOutOfRange(f"{self.tp}: {reason}", offset=offset, log_start_offset=start, log_end_offset=end)

    # -- truncation ---------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> bool:
        """Remove all records at or above `offset`; return False if there are none.

        The log then ends at `offset`, or at the base offset of the batch that contains it, as only whole batches are
        removed (D47), but not below the log start. Raises CorruptBatch, before any change, if an index points to no
        batch.
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
        end, is_expired = cut.end, recovery.expiry_check(self.config, self.now_ms)
        must_replay = needs_replay(self.producers, self.store, self.segments.reaching(end), start, end, is_expired)
        self._prepare_cut(end, start)
        self._lower_cleaner_offset(end)
        self.segments.truncate_to(end, self.now_ms)
        self.epochs.truncate_from_end(end)
        self._write_epochs()
        self.producers = rebuild_after_truncation(
            self.producers, self.store, self.segments if must_replay else (), start, end, is_expired
        )
        self.update_high_watermark(min(self.high_watermark, end))
        if end > cut.kept_end:
            self.roll(end)  # Otherwise the log would end at `kept_end` after it is reopened.
        return True

    def truncate_fully_and_start_at(self, offset: int, *, log_start_offset: int | None = None) -> None:
        """Remove everything; the log is then empty and begins at `offset`.

        `log_start_offset` may be higher if the first batch to be appended begins below the log start.
        """
        self._prepare_cut(offset, offset if log_start_offset is None else log_start_offset)
        delete_snapshots(self.store, above=-1)
        self.segments.restart_at(offset, self.config, self.now_ms)
        # Only after the segments: if part of the log is left, its checkpoint shows that the rest was being removed
        # (D63).
        self._lower_cleaner_offset(offset)
        for name in (CLEANER_RUN, COPIED_CLEANER_OFFSET):
            self.store.delete_file(name)
        self.epochs.clear()
        self._write_epochs(always=True)
        self.producers.clear(offset)
        self.high_watermark = max(offset, self.log_start_offset)
        self._mark_unsaved()

    def _prepare_cut(self, end_offset: int, log_start_offset: int) -> None:
        """Persist first the data that a crash during truncation would leave wrong: offsets above the end, snapshots.

        The epochs are written after the truncation. Entries above the log end are dropped when a log is opened. If they
        were removed while the batches still exist, batches that are not read again would get the wrong epoch.
        """
        self.log_start_offset = log_start_offset
        self.flushing.cut_to(end_offset)
        if end_offset < self.segments.active.base_offset or end_offset <= log_start_offset:
            self.compaction = None
        self._write_offset(LOG_START_OFFSET, log_start_offset)
        self._write_offset(RECOVERY_POINT, self.recovery_point)
        delete_snapshots(self.store, above=end_offset)

    def _lower_cleaner_offset(self, end_offset: int) -> None:
        if (self._read_offset(CLEANER_OFFSET) or 0) > end_offset:
            self._write_offset(CLEANER_OFFSET, end_offset)

    # -- checkpoints and flushing -------------------------------------------------------------

    def write_checkpoints(self) -> None:
        """Write the checkpoint files: leader epochs, high watermark, log start and recovery point."""
        if not self.epochs.is_saved:
            self._write_epochs()
        write = self.store.write_file
        write(HIGH_WATERMARK, b"%d" % self.high_watermark)
        write(LOG_START_OFFSET, b"%d" % self.log_start_offset)
        write(RECOVERY_POINT, b"%d" % self.flushing.recovery_point)
        if self.unsaved is not None:
            self.unsaved.pop(self, None)

    def track_unsaved(self, unsaved: dict[LogState, None] | None) -> None:
        """Add this log to `unsaved` now, and whenever an offset is not in the store; `checkpoint` removes it.

        The owner of many logs then need not visit all of them. For a log it gives up, it passes None.
        """
        if self.unsaved is not None:
            self.unsaved.pop(self, None)
        self.unsaved = unsaved
        self._mark_unsaved()

    def _mark_unsaved(self) -> None:
        if self.unsaved is not None:
            self.unsaved[self] = None

    def _write_offset(self, name: str, offset: int) -> None:
        self.store.write_file(name, b"%d" % offset)

    def _read_offset(self, name: str) -> int | None:
        return None if (data := self.store.read_file(name)) is None else int(data)

    def flush(self) -> None:
        """Flush everything that was appended; it is safe from a power cut on return."""
        if self.recovery_point < self.log_end_offset:
            self.segments.flush(self.recovery_point)
            self.flushing.raise_to(self.log_end_offset, self.now_ms)
            self._mark_unsaved()

    def begin_flush(self, end_offset: int) -> Flush | None:
        """Return the job that flushes everything below `end_offset`, the log end or a segment's base offset.

        None if that is flushed already or a job is running. The caller must report the job's end to `finish_flush`.
        """
        return self.flushing.begin(self.segments, end_offset)

    def finish_flush(self, now_ms: int, *, done: bool) -> None:
        """Record the end of the job of `begin_flush`; data truncated while it ran does not count as flushed."""
        self.flushing.finish(now_ms, done=done)
        self._mark_unsaved()
