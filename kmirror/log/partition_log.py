"""Log of one partition: content, replication state, appends, reads and truncation.

    log start <= last stable offset <= high watermark <= log end

There are three kinds of append. As leader: the records are validated and get the next offsets and the leader's epoch.
As follower: the leader's bytes are kept with their offsets and epochs. As mirror: the follower's rules on the leader of
a destination cluster (D12). A truncation removes whole batches (D47), together with their epochs and producer state. It
lowers the high watermark if needed: in a mirror it may go below an offset that was committed here.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.errors import CorruptBatch
from kmirror.kernel.arguments import byte_view
from kmirror.kernel.ids import TopicPartition
from kmirror.log import batch_iteration, recovery, retention
from kmirror.log.cleanable import Cleanable, cleanable
from kmirror.log.cleaner import KEYS_MAX, Compaction, CompactionResult, Rewrite, discard, swap_in
from kmirror.log.config import LogConfig
from kmirror.log.epochs import EndOffset
from kmirror.log.errors import LogAppendError, OffsetOutOfRange, OffsetsOutOfOrder, UnexpectedAppendOffset
from kmirror.log.fast_append import append_one, lead_one
from kmirror.log.follower_append import append_replicated
from kmirror.log.leader_append import check_fits_segment, prepare
from kmirror.log.log_state import LogState
from kmirror.log.producer_entry import AbortedTxn
from kmirror.log.producer_files import take_snapshot
from kmirror.log.producer_staging import data_batch, stage_produced
from kmirror.log.producers import AppendOrigin
from kmirror.log.recovery import CLEAN_SHUTDOWN
from kmirror.log.results import AppendInfo, ReadResult
from kmirror.log.scan import scan_batches
from kmirror.log.store import CLEANER_OFFSET, CLEANER_RUN, COPIED_CLEANER_OFFSET, Chunk, PartitionStore
from kmirror.log.timestamps import OffsetAndTimestamp, offset_for_timestamp
from kmirror.records.batch import Batch
from kmirror.records.legacy import AnyBatch
from kmirror.spec.error_codes import ErrorCode

__all__ = [
    "CLEAN_SHUTDOWN",
    "AbortedTxn",
    "AppendInfo",
    "AppendOrigin",
    "LogAppendError",
    "LogConfig",
    "OffsetAndTimestamp",
    "OffsetOutOfRange",
    "OffsetsOutOfOrder",
    "PartitionLog",
    "ReadResult",
    "UnexpectedAppendOffset",
]


class PartitionLog(LogState):
    """Log of one partition over a store, created by `open`. All times are in milliseconds.

    `log_start_offset` is the first readable offset. Attributes are read-only for callers; methods change them.
    """

    __slots__ = ()

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
        """Return the log in the store; an empty store gives an empty log.

        Raises CorruptBatch with segment file, position and offset if the content is invalid. With `repair`, segments
        are truncated at the first invalid byte, as after an unclean shutdown, and `PartitionLog.repair` describes the
        loss. Segments that end below `recovery_point` are loaded from their indexes without being read; CLEAN_SHUTDOWN
        applies this to all segments; one that must be read is truncated where it is damaged, and later ones are kept.
        """
        try:
            loaded = recovery.load(store, config, now_ms=now_ms, repair=repair, recovery_point=recovery_point)
        except CorruptBatch as error:
            raise error.with_context(str(tp)) from None
        log = cls(tp, store, config, loaded, now_ms=now_ms, recovery_point=recovery_point)
        log._write_epochs()
        return log

    def __repr__(self) -> str:
        return (
            f"PartitionLog({self.tp}, start={self.log_start_offset}, stable={self.last_stable_offset}, "
            f"high_watermark={self.high_watermark}, end={self.log_end_offset}, epoch={self.latest_epoch})"
        )

    # -- state --------------------------------------------------------------------------------

    @property
    def is_flush_due(self) -> bool:
        """True if at least `flush.messages` records are not flushed: then they do not count as replicated here yet.

        Offsets below the log start are no records: a log restarted at a higher offset keeps Kafka's lower recovery
        point.
        """
        flushed = self.flushing.recovery_point
        if flushed < self.log_start_offset:
            flushed = self.log_start_offset
        return self.segments.end_offset - flushed >= self.config.flush_messages

    @property
    def first_unstable_offset(self) -> int | None:
        """First offset of a transaction that is open or was decided above the high watermark, or None.

        If the transaction began below the log start, it is the offset of the first batch from there on.
        """
        offset, start = self.producers.first_unstable_offset(), self.log_start_offset
        if offset is None or offset >= start:
            return offset
        found = self.segments.find(start)
        return self.log_end_offset if found is None else max(found[1].base_offset, start)

    @property
    def last_stable_offset(self) -> int:
        """Offset below which every transaction is decided (LSO); READ_COMMITTED consumers read no further."""
        producers = self.producers
        if not producers.ongoing and not producers.unreplicated:
            return self.high_watermark
        offset = self.first_unstable_offset
        return self.high_watermark if offset is None else min(offset, self.high_watermark)

    @property
    def settled_offset(self) -> int:
        """Offset below which no transaction begins that a truncation at the last stable offset would reopen."""
        stable, first = self.last_stable_offset, self.producers.first_unstable_offset()
        return stable if first is None else min(stable, self.producers.reopened_from.get(first, stable))

    @property
    def size_in_bytes(self) -> int:
        """Total size of all segments in bytes."""
        return self.segments.size_in_bytes

    @property
    def segment_base_offsets(self) -> list[int]:
        """Base offsets of all segments, ascending."""
        return self.segments.base_offsets

    def segments_from(self, offset: int) -> int:
        """Return the number of segments that a truncation to `offset` would remove or shorten."""
        return len(self.segments.reaching(offset)) if offset < self.log_end_offset else 0

    def end_offset_for_epoch(self, epoch: int) -> EndOffset:
        """Return the greatest epoch here that is at most `epoch`, and its end offset; (-1, -1) if it is unknown."""
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
        is_out_of_order: bool = False,
    ) -> AppendInfo:
        """Append the one batch in `data` at the log end.

        `transaction_version` is the version with which the transaction of a marker was ended. A producer's batch with
        `is_out_of_order` is rejected with OUT_OF_ORDER_SEQUENCE_NUMBER, unless it is a duplicate or another check fails
        first. Raises LogAppendError; then the only possible changes are a new epoch entry and a rolled segment.
        """
        assert origin is not AppendOrigin.REPLICATION, "a replica appends with append_as_follower"
        view = data if type(data) is memoryview else byte_view("a batch", data)
        info = None if is_out_of_order else self.fast_append(view, leader_epoch, now_ms)
        if info is not None:
            return info
        end, latest = self.segments.end_offset, self.epochs.latest_epoch()
        prepared = prepare(
            data, self.tp, self.config, origin, base_offset=end, leader_epoch=leader_epoch, now_ms=now_ms
        )
        view = memoryview(prepared.data)
        batch = Batch(view)
        scan = scan_batches(view, self.segments.active, latest_epoch=latest, check_crc=False)
        assert scan.fault is None and scan.batches == 1, "prepared"
        if scan.epochs:
            self.assign_epochs(scan.epochs)
        check_fits_segment(len(view), self.tp, self.config)
        self.roll_if_needed(view, scan)  # Kafka assigns the epoch and rolls before it checks the producer.
        if origin is AppendOrigin.CLIENT and batch.has_producer_id:
            duplicate = self.producers.find_duplicate(data_batch(batch))
            if duplicate is not None:
                return AppendInfo(
                    duplicate.first_offset, duplicate.last_offset, log_append_time=duplicate.timestamp, duplicate=True
                )
            if is_out_of_order:
                reason = f"{self.tp}: a batch before sequence {batch.base_sequence} was rejected, to be sent again"
                raise LogAppendError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, reason)
        staging, control_types = None, list[int]()
        if scan.special:
            staging = self.producers.stage(origin, transaction_version)
            control_types = stage_produced(batch, staging)
        info = self.write(view, scan, staging, control_types)
        info.log_append_time = prepared.log_append_time
        return info

    def fast_append(self, view: memoryview, leader_epoch: int, now_ms: int) -> AppendInfo | None:
        """Do the same as `append_as_leader` for a plain batch; for any other, do nothing and return None."""
        self.now_ms = now_ms
        return lead_one(
            self.segments, self.producers, self.config, view, leader_epoch, self.epochs.latest_epoch(), now_ms
        )

    def append_as_follower(self, data: Chunk, *, max_epoch: int, now_ms: int | None = None) -> AppendInfo:
        """Append the leader's batches unchanged, up to the first one whose epoch is above `max_epoch`.

        An incomplete batch at the end, as in a fetch response, is ignored. Raises CorruptBatch without any change: for
        bytes that are no batch, a wrong checksum, and offsets that do not ascend (OffsetsOutOfOrder) or begin below the
        log end (UnexpectedAppendOffset).
        """
        if now_ms is not None:
            self.now_ms = now_ms
        view = memoryview(data)
        latest = self.epochs.latest_epoch()
        info = append_one(self.segments, self.producers, self.config, view, max_epoch, latest, self.now_ms)
        return append_replicated(self, view, max_epoch) if info is None else info

    def append_as_mirror(self, data: Chunk, *, source_epoch: int, now_ms: int | None = None) -> AppendInfo:
        """Append batches of the source's leader to this leader of the destination (D12), as a follower does.

        `source_epoch` is the CurrentLeaderEpoch of the fetch: batches from the first later epoch on are left out.
        """
        return self.append_as_follower(data, max_epoch=source_epoch, now_ms=now_ms)

    # -- reading ------------------------------------------------------------------------------

    def read(self, offset: int, *, max_bytes: int, end_offset: int, min_one: bool = True) -> ReadResult:
        """Return batches from the one that contains `offset`, all below `end_offset`, at most `max_bytes` in total.

        With `min_one` the first batch is returned even if it is larger. Raises OffsetOutOfRange outside the log.
        """
        segments = self.segments
        if not self.log_start_offset <= offset <= segments.end_offset:
            reason = f"offset {offset} is outside {self.log_start_offset} to {self.log_end_offset}"
            raise self._out_of_range(offset, reason)
        return segments.read(offset, max_bytes, end_offset, min_one)

    def offset_for_timestamp(self, timestamp: int) -> OffsetAndTimestamp | None:
        """Return the first record from the log start on that is not older than `timestamp` (ms, or an `OffsetSpec`)."""
        return offset_for_timestamp(self.segments, self.epochs, self.log_start_offset, timestamp)

    def aborted_transactions(self, start: int, end: int) -> list[AbortedTxn]:
        """Return the aborted transactions with records at offsets from `start` (inclusive) to `end` (exclusive)."""
        return self.segments.aborted_transactions(start, end)

    def aborted_within(self, offset: int, found: ReadResult) -> list[AbortedTxn]:
        """Return the aborted transactions that may have records in `found`, which was read from `offset` on.

        As in Kafka, the range extends to the next batch in the offset index, or to the end of the segment.
        """
        return self.segments.aborted_within(offset, found)

    def batches(self, start: int | None = None, end: int | None = None) -> Iterator[Batch]:
        """Return the batches from the one that contains `start` to the last one that begins below `end`.

        Raises UnsupportedMagic at a message of format 0 or 1; `any_batches` yields those too.
        """
        return batch_iteration.batches(self.segments, self.log_start_offset if start is None else start, end)

    def any_batches(self, start: int | None = None) -> Iterator[AnyBatch]:
        """Return the batches and legacy messages from the one that contains `start` on."""
        return batch_iteration.any_batches(self.segments, self.log_start_offset if start is None else start)

    # -- epochs and producers -----------------------------------------------------------------

    def assign_epoch_start(self, epoch: int) -> None:
        """Record that this broker leads from `epoch`; not for a mirrored log, whose epochs are the source's (D14)."""
        self.assign_epochs([(epoch, self.log_end_offset)])

    def remove_expired_producers(self, now_ms: int) -> None:
        """Remove producers that have been inactive for `producer.id.expiration.ms`."""
        self.producers.remove_expired(now_ms, self.config.producer_id_expiration_ms)

    # -- truncation, retention, compaction ----------------------------------------------------

    def end_after_cut(self, offset: int) -> int:
        """Return the log end offset after `truncate_to(offset)`."""
        return self.segments.end_after_cut(offset, self.log_start_offset)

    @property
    def cleaned_offset(self) -> int:
        """Offset below which the cleaner may have read keys (D63).

        Any record that is superseded by one below this offset may have been removed: here, or in the log from which
        this one was copied.
        """
        return max(self._read_offset(name) or 0 for name in (CLEANER_OFFSET, CLEANER_RUN, COPIED_CLEANER_OFFSET))

    @property
    def cleaner_offset(self) -> int:
        """The checkpoint of this log's own cleaner, 0 if it has not run yet."""
        return self._read_offset(CLEANER_OFFSET) or 0

    def record_copied_range(self, start: int, high_watermark: int) -> None:
        """Record how far the cleaner may have run in the compacted log that the records from `start` come from.

        That is at most the high watermark there: nothing above it is cleaned. If no offset is missing, nothing was
        cleaned.
        """
        if not self.config.compact or high_watermark <= start:
            return
        if self.has_holes(self.log_end_offset, start):
            copied = max(self._read_offset(COPIED_CLEANER_OFFSET) or 0, high_watermark)
            self._write_offset(COPIED_CLEANER_OFFSET, copied)

    def has_holes(self, end: int, start: int | None = None) -> bool:
        """Return whether some offset from `start` (inclusive) to `end` (exclusive) has no record.

        The cleaner leaves such offsets. Reads the batches.
        """
        begin = self.log_start_offset if start is None else start
        return batch_iteration.has_holes(self.any_batches(begin), begin, end)

    @property
    def last_modified_ms(self) -> int:
        """Time of the last change of the last non-empty segment, -1 if all are empty."""
        return next((segment.modified_ms for segment in reversed(list(self.segments)) if segment.size), -1)

    def has_old_segments(self, now_ms: int) -> bool:
        """Return whether the oldest segment is due for deletion; it may still have to wait for the high watermark."""
        self.now_ms = now_ms
        return retention.may_delete(self.segments, self.config, self.log_start_offset, now_ms)

    def delete_old_segments(self, now_ms: int) -> int:
        """Delete the segments that retention and the log start allow; return their number."""
        deleted = self.set_aside_old_segments(now_ms)
        for base_offset in deleted:
            self.store.purge(base_offset)
        return len(deleted)

    def set_aside_old_segments(self, now_ms: int, *, is_mirrored: bool = False) -> list[int]:
        """Like `delete_old_segments`, but leave the bytes for the store to purge; return the base offsets.

        Of a mirrored log, only segments below the log start are removed (D46).
        """
        deleted: list[int] = []
        if not self.has_old_segments(now_ms):
            return deleted
        for rule in retention.rules(self.config, self.log_start_offset, now_ms, is_mirrored=is_mirrored):
            count = retention.deletable(self.segments, rule, self.high_watermark)
            if count:
                if count == len(self.segments):
                    self.roll(self.log_end_offset)
                self.compaction = None
                self.advance_log_start(self.segments[count].base_offset)
                deleted += self.segments.set_aside_first(count)
        return deleted

    def cleanable(self, now_ms: int, *, is_mirrored: bool = False) -> Cleanable:
        """Return the range that the next `compact` would clean.

        In a mirrored log it excludes transactions that stopping the mirror would reopen and may abort (D29, D46).
        """
        return cleanable(
            self.segments,
            self.config,
            self._read_offset(CLEANER_OFFSET),
            log_start_offset=self.log_start_offset,
            last_stable_offset=self.settled_offset if is_mirrored else self.last_stable_offset,
            now_ms=now_ms,
            is_mirrored=is_mirrored,
        )

    def compact(
        self, now_ms: int, *, min_ratio: float = 0.0, keys_max: int = KEYS_MAX, is_mirrored: bool = False
    ) -> CompactionResult | None:
        """Clean the log if more than `min_ratio` of the cleanable bytes are dirty.

        A run handles at most `keys_max` keys and leaves the rest to the next run.
        """
        self.now_ms = now_ms
        cleanable_range = self.cleanable(now_ms, is_mirrored=is_mirrored)
        if not cleanable_range.is_dirty_enough(min_ratio):
            return None
        job = self.begin_compaction(cleanable_range, now_ms, keys_max)
        return self.finish_compaction(job, job.run())

    def begin_compaction(self, cleanable_range: Cleanable, now_ms: int, keys_max: int) -> Compaction:
        """Return the cleaning job; the log is unchanged until `finish_compaction`."""
        self.compaction = Compaction(
            self.segments, self.producers, self.config, cleanable_range, now_ms=now_ms, keys_max=keys_max
        )
        return self.compaction

    def finish_compaction(self, job: Compaction, done: Rewrite) -> CompactionResult | None:
        """Apply the result of the job; if the log was truncated or trimmed meanwhile, discard it and return None."""
        if self.compaction is not job:
            discard(self.store, done)
            self.store.delete_file(CLEANER_RUN)
            return None
        self.compaction = None
        cleaned = swap_in(self.segments, done)
        self._write_offset(CLEANER_OFFSET, cleaned.end_offset)
        return cleaned

    # -- closing ------------------------------------------------------------------------------

    def close(self) -> None:
        """Leave the store as after a broker's clean shutdown; the log must not be used afterwards."""
        self.flush()
        self.segments.seal()
        self.store.delete_file(CLEANER_RUN)
        take_snapshot(self.producers, self.store)
        self.write_checkpoints()
