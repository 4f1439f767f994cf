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
from kmirror.kernel.arguments import byte_view
from kmirror.kernel.ids import TopicPartition
from kmirror.log import recovery, retention, walk
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


class PartitionLog(LogState):
    """One partition's log over a store; `open` makes it. All times are in milliseconds.

    `log_start_offset` is the first offset that may be read. Attributes are there to be read: methods move them.
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
    def is_flush_due(self) -> bool:
        """Return whether as many records as `flush.messages` lie unflushed: then they do not count as held here yet.

        Offsets below the log start are no records: a log that begins again keeps Kafka's lower recovery point.
        """
        flushed = self.flushing.recovery_point
        if flushed < self.log_start_offset:
            flushed = self.log_start_offset
        return self.segments.end_offset - flushed >= self.config.flush_messages

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
        producers = self.producers
        if not producers.ongoing and not producers.unreplicated:
            return self.high_watermark
        offset = self.first_unstable_offset
        return self.high_watermark if offset is None else min(offset, self.high_watermark)

    @property
    def settled_offset(self) -> int:
        """Return the offset below which no transaction begins that a cut at the last stable offset would reopen."""
        stable, first = self.last_stable_offset, self.producers.first_unstable_offset()
        return stable if first is None else min(stable, self.producers.overlapped.get(first, stable))

    @property
    def size_in_bytes(self) -> int:
        """Return the size of all segments."""
        return self.segments.size_in_bytes

    @property
    def segment_base_offsets(self) -> list[int]:
        """Return the base offsets of all segments, ascending."""
        return self.segments.base_offsets

    def segments_from(self, offset: int) -> int:
        """Return how many segments a cut at `offset` would remove, or shorten."""
        return len(self.segments.reaching(offset)) if offset < self.log_end_offset else 0

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
        comes_early: bool = False,
    ) -> AppendInfo:
        """Append the one batch in `data` at the log end.

        A marker is judged by the `transaction_version` by which its transaction was ended. A producer's batch that
        `comes_early` is OUT_OF_ORDER_SEQUENCE_NUMBER, unless there is something else against it.
        Raises LogAppendError, and then nothing has changed but that epoch and a full segment may have ended.
        """
        assert origin is not AppendOrigin.REPLICATION, "a replica appends with append_as_follower"
        view = data if type(data) is memoryview else byte_view("a batch", data)
        info = None if comes_early else self.append_plain(view, leader_epoch, now_ms)
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
        self.make_room(view, scan)  # Kafka notes the epoch and rolls before it asks about the producer.
        if origin is AppendOrigin.CLIENT and batch.has_producer_id:
            known = self.producers.find_duplicate(data_batch(batch))
            if known is not None:
                return AppendInfo(
                    known.first_offset, known.last_offset, log_append_time=known.timestamp, duplicate=True
                )
            if comes_early:
                reason = f"{self.tp}: a batch before sequence {batch.base_sequence} was refused, and will come again"
                raise LogAppendError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, reason)
        staging, control_types = None, list[int]()
        if scan.special:
            staging = self.producers.stage(origin, transaction_version)
            control_types = stage_produced(batch, staging)
        info = self.write(view, scan, staging, control_types)
        info.log_append_time = prepared.log_append_time
        return info

    def append_plain(self, view: memoryview, leader_epoch: int, now_ms: int) -> AppendInfo | None:
        """Do what `append_as_leader` does if `view` is a batch that takes no closer look; None, and nothing, if not."""
        self.now_ms = now_ms
        return lead_one(
            self.segments, self.producers, self.config, view, leader_epoch, self.epochs.latest_epoch(), now_ms
        )

    def append_as_follower(self, data: Chunk, *, max_epoch: int, now_ms: int | None = None) -> AppendInfo:
        """Append the leader's batches as they are, up to the first one whose epoch is above `max_epoch`.

        A batch that is cut short at the end is left out, for so a fetch response ends. Raises CorruptBatch,
        and then nothing has changed: bytes that are no batch, a wrong checksum, offsets that do not ascend
        (OffsetsOutOfOrder) or begin below the log end (UnexpectedAppendOffset).
        """
        if now_ms is not None:
            self.now_ms = now_ms
        view = memoryview(data)
        latest = self.epochs.latest_epoch()
        info = append_one(self.segments, self.producers, self.config, view, max_epoch, latest, self.now_ms)
        return append_replicated(self, view, max_epoch) if info is None else info

    def append_as_mirror(self, data: Chunk, *, source_epoch: int, now_ms: int | None = None) -> AppendInfo:
        """Append what the source's leader sent to this leader of the destination (D12), as a follower does.

        `source_epoch` is the CurrentLeaderEpoch of the fetch: batches of a later epoch are left out.
        """
        return self.append_as_follower(data, max_epoch=source_epoch, now_ms=now_ms)

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

    def offset_for_timestamp(self, timestamp: int) -> OffsetAndTimestamp | None:
        """Return the first record at or above the log start that is not older, or what the negative timestamps name."""
        return offset_for_timestamp(self.segments, self.epochs, self.log_start_offset, timestamp)

    def aborted_transactions(self, start: int, end: int) -> list[AbortedTxn]:
        """Return the aborted transactions that have records in `start` up to, not including, `end`."""
        return self.segments.aborted_transactions(start, end)

    def aborted_within(self, offset: int, found: ReadResult) -> list[AbortedTxn]:
        """Return the aborted transactions that may have records in what was read from `offset` on.

        As Kafka does it: up to the next batch that the offset index has, or to the end of the segment.
        """
        return self.segments.aborted_within(offset, found)

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
        self.assign_epochs([(epoch, self.log_end_offset)])

    def remove_expired_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for `producer.id.expiration.ms`."""
        self.producers.remove_expired(now_ms, self.config.producer_id_expiration_ms)

    # -- cutting ------------------------------------------------------------------------------

    def end_after_cut(self, offset: int) -> int:
        """Return where the log would end after `truncate_to(offset)`."""
        return self.segments.end_after_cut(offset, self.log_start_offset)

    @property
    def cleaned_offset(self) -> int:
        """Return the offset up to which the cleaner may have looked for the latest record of each key (D63).

        It may have removed any record for one below this offset: here, or in the log from which this one was copied.
        """
        return max(self._read_offset(name) or 0 for name in (CLEANER_OFFSET, CLEANER_RUN, COPIED_CLEANER_OFFSET))

    @property
    def cleaner_offset(self) -> int:
        """Return where this log's own cleaner has ended, as its checkpoint says; 0 if it was never here."""
        return self._read_offset(CLEANER_OFFSET) or 0

    def note_copied(self, start: int, high_watermark: int) -> None:
        """Note, of a compacted log, how far the cleaner may have been where the records from `start` on come from.

        That is up to the high watermark there. Above it nothing is cleaned, and where no offset is missing nothing was.
        """
        if not self.config.compact or high_watermark <= start:
            return
        if self.has_holes(self.log_end_offset, start):
            copied = max(self._read_offset(COPIED_CLEANER_OFFSET) or 0, high_watermark)
            self._write_offset(COPIED_CLEANER_OFFSET, copied)

    def has_holes(self, end: int, start: int | None = None) -> bool:
        """Return whether some offset from `start` to below `end` is in no record, as the cleaner leaves it.

        Batches are read for it.
        """
        begin = self.log_start_offset if start is None else start
        return walk.has_holes(self.any_batches(begin), begin, end)

    @property
    def written_ms(self) -> int:
        """Return when the last segment that holds anything was last changed, -1 if none does."""
        return next((segment.modified_ms for segment in reversed(list(self.segments)) if segment.size), -1)

    def has_old_segments(self, now_ms: int) -> bool:
        """Return whether the oldest segment is one to be deleted; it stays even so while it is not all replicated."""
        self.now_ms = now_ms
        return retention.may_delete(self.segments, self.config, self.log_start_offset, now_ms)

    def delete_old_segments(self, now_ms: int) -> int:
        """Delete what retention and the log start let go; returns how many segments went."""
        gone = self.set_aside_old_segments(now_ms)
        for base_offset in gone:
            self.store.purge(base_offset)
        return len(gone)

    def set_aside_old_segments(self, now_ms: int, *, is_mirrored: bool = False) -> list[int]:
        """Do the same, but leave the bytes for the store to purge; return where the segments began.

        Of a mirrored log only what lies below the log start goes (D46).
        """
        gone: list[int] = []
        if not self.has_old_segments(now_ms):
            return gone
        for rule in retention.rules(self.config, self.log_start_offset, now_ms, is_mirrored=is_mirrored):
            count = retention.deletable(self.segments, rule, self.high_watermark)
            if count:
                if count == len(self.segments):
                    self.roll(self.log_end_offset)
                self.compaction = None
                self.advance_log_start(self.segments[count].base_offset)
                gone += self.segments.set_aside_first(count)
        return gone

    def cleanable(self, now_ms: int, *, is_mirrored: bool = False) -> Cleanable:
        """Return what the next `compact` would clean.

        Of a mirrored log no transaction that a stop would reopen, and may abort (D29, D46).
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
        """Clean the log if more than `min_ratio` of what can be cleaned was not cleaned before.

        A run takes at most `keys_max` keys, and leaves the rest to the next.
        """
        self.now_ms = now_ms
        what = self.cleanable(now_ms, is_mirrored=is_mirrored)
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
            self.store.delete_file(CLEANER_RUN)
            return None
        self.compaction = None
        cleaned = swap_in(self.segments, done)
        self._write_offset(CLEANER_OFFSET, cleaned.end_offset)
        return cleaned

    # -- keeping ------------------------------------------------------------------------------

    def close(self) -> None:
        """Leave the store as a broker leaves its folder on a clean shutdown; the log is not used any more."""
        self.flush()
        self.segments.seal()
        self.store.delete_file(CLEANER_RUN)
        take_snapshot(self.producers, self.store)
        self.checkpoint()
