"""Loading a partition log from its store.

Each segment above the recovery point is read completely: offsets must ascend and checksums must match. The two indexes,
the epochs and the aborted transactions are rebuilt from the batch headers. A segment below the recovery point was
flushed before its indexes were written, so it is loaded from its index files if they are valid.

The epoch cache starts with the checkpoint, which may contain epochs that wrote nothing or whose batches were compacted
away. Batches add the epochs after its last one; entries beyond the log are removed.

Unreadable bytes raise `CorruptBatch`. With `repair` the log is loaded as by a broker after an unclean shutdown: the
first unreadable byte and everything after it are removed, and `RecoveredLog.repair` describes the loss. Index files and
producer snapshots above the recovery point are then not trusted but rebuilt.

After a clean shutdown only segments with missing or invalid indexes are read. Such a segment is truncated at its first
unreadable byte, and later segments are kept, as in Kafka (LogSegment.recover).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from kmirror.errors import CorruptBatch
from kmirror.kernel.names import counted
from kmirror.log.config import LogConfig
from kmirror.log.epochs import EpochEntry, LeaderEpochCache, decode_checkpoint, encode_checkpoint
from kmirror.log.producer_files import (
    IsExpired,
    delete_snapshots,
    delete_stray_snapshots,
    rebuild,
    replay,
    snapshot_offsets,
    start_empty,
    take_snapshot,
)
from kmirror.log.producers import ProducerStates
from kmirror.log.scan import scan_batches, scan_up_to
from kmirror.log.scan_result import LEGACY_EPOCH, ScanResult
from kmirror.log.segment import SPAN_MAX, Segment, add_file_name, delete_segment
from kmirror.log.state_files import (
    INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    offset_of,
)
from kmirror.log.store import HIGH_WATERMARK, LEADER_EPOCH_CHECKPOINT, LOG_START_OFFSET, PartitionStore

CLEAN_SHUTDOWN = 0x7FFF_FFFF_FFFF_FFFF
"""Recovery point of a log that was closed cleanly: no segment needs to be read."""


@dataclass(frozen=True, slots=True)
class Repair:
    """First damage found when a log was opened: where the log was truncated, why, and how much was lost."""

    segment: int
    position: int
    reason: str
    lost_bytes: int
    lost_segments: tuple[int, ...]

    def with_more(self, lost_bytes: int) -> Repair:
        """Return this damage with the bytes lost in another segment."""
        return replace(self, lost_bytes=self.lost_bytes + lost_bytes)

    def __str__(self) -> str:
        later = f", with {counted(len(self.lost_segments), 'later segment')}" if self.lost_segments else ""
        place = f"byte {self.position} of segment {self.segment}"
        return f"truncated at {place}, {counted(self.lost_bytes, 'byte')} removed{later}: {self.reason}"


@dataclass(slots=True)
class RecoveredLog:
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    epochs: LeaderEpochCache
    saved_epochs: list[EpochEntry]  # Entries in the checkpoint.
    segments: list[Segment] = field(default_factory=list)
    producers: ProducerStates = field(default_factory=ProducerStates)
    repair: Repair | None = None


def load(
    store: PartitionStore, config: LogConfig, *, now_ms: int, repair: bool = False, recovery_point: int = 0
) -> RecoveredLog:
    """Load the log from the store; raises CorruptBatch unless `repair` is set, or it was closed cleanly."""
    saved_epochs = decode_checkpoint(store.read_file(LEADER_EPOCH_CHECKPOINT) or b"")
    epochs = LeaderEpochCache(saved_epochs)
    log_start_checkpoint = _read_offset(store, LOG_START_OFFSET)
    loaded = RecoveredLog(log_start_checkpoint, 0, _read_offset(store, HIGH_WATERMARK), epochs, saved_epochs)
    is_expired = expiry_check(config, now_ms)
    bases = store.segments()
    _delete_orphans(store, bases)
    if bases:
        loaded.log_start_offset = max(log_start_checkpoint, bases[0])
        loaded.log_end_offset = bases[0]
    loaded.producers.clear(loaded.log_start_offset)
    is_closed = recovery_point == CLEAN_SHUTDOWN and not repair  # Until a segment must be read.
    for number, base_offset in enumerate(bases):
        segment = Segment(store, base_offset, config, created_ms=now_ms)
        modified_ms = store.modified_ms(base_offset)
        segment.modified_ms = now_ms if modified_ms is None else modified_ms
        loaded.segments.append(segment)
        is_last = number + 1 == len(bases)
        end = CLEAN_SHUTDOWN if is_last else bases[number + 1]
        if end <= recovery_point and _load_from_index(loaded, segment):
            continue
        is_closed = False
        if repair:
            _rebuild_at_last_segment(loaded, log_start_checkpoint, is_expired)
        fault = _read_segment(loaded, segment, is_expired, from_offset=0 if repair else loaded.log_start_offset)
        if repair:
            take_snapshot(loaded.producers, store)
        if fault is not None:
            if recovery_point == CLEAN_SHUTDOWN:
                cut = _truncate_at(segment, fault, [])
                loaded.repair = cut if loaded.repair is None else loaded.repair.with_more(cut.lost_bytes)
            elif repair:
                loaded.repair = _truncate_at(segment, fault, bases[number + 1 :])
                break
            else:
                raise fault
        if not is_last and (repair or not segment.has_files()):
            segment.write_files()
    if not loaded.segments or loaded.log_end_offset < log_start_checkpoint:
        _start_empty(loaded, store, config, log_start_checkpoint, now_ms)
    epochs.truncate_from_end(loaded.log_end_offset)
    if recovery_point != CLEAN_SHUTDOWN:
        _find_early_epochs(loaded)
    epochs.truncate_from_start(log_start_checkpoint)
    loaded.high_watermark = min(max(loaded.high_watermark, loaded.log_start_offset), loaded.log_end_offset)
    if not epochs.entries and store.read_file(LEADER_EPOCH_CHECKPOINT) is None:
        # Kafka leaves an empty checkpoint until there is an epoch to write.
        store.write_file(LEADER_EPOCH_CHECKPOINT, b"")
    delete_stray_snapshots(store, [segment.base_offset for segment in loaded.segments])
    if is_closed and not snapshot_offsets(store):
        loaded.producers = start_empty(store, loaded.segments, end_offset=loaded.log_end_offset)
    else:
        _finish_producers(loaded, store, is_expired, must_rebuild=repair)
    epochs.is_saved = epochs.entries == loaded.saved_epochs
    loaded.producers.on_high_watermark(loaded.high_watermark)
    return loaded


def _delete_orphans(store: PartitionStore, bases: list[int]) -> None:
    """Delete indexes without a segment, left by a crash between the deletes."""
    known = set(bases)
    for name in list(store.files()):
        for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX):
            base_offset = offset_of(name, suffix)
            if base_offset is not None and base_offset not in known:
                store.delete_file(name)


def expiry_check(config: LogConfig, now_ms: int) -> IsExpired:
    """Return the predicate for producers of a snapshot that have expired at `now_ms`."""
    return partial(_is_expired, now_ms - config.producer_id_expiration_ms)


def _is_expired(latest: int, last_timestamp: int) -> bool:
    return last_timestamp <= latest


def _read_offset(store: PartitionStore, name: str) -> int:
    data = store.read_file(name)
    if data is None:
        return 0
    text = data.decode("ascii", "replace").strip()
    if not text.isdigit():
        raise CorruptBatch(f"{name} holds {text!r}, expected an offset")
    return int(text)


def _load_from_index(loaded: RecoveredLog, segment: Segment) -> bool:
    """Load a segment from its index files without reading it; return False if they are not usable."""
    try:
        last_offset = segment.load_files()
    except CorruptBatch:
        segment.reset()
        return False
    loaded.log_end_offset = max(segment.base_offset, last_offset + 1)
    return True


def _read_segment(
    loaded: RecoveredLog, segment: Segment, is_expired: IsExpired, *, from_offset: int
) -> CorruptBatch | None:
    """Read a segment up to its first fault, and return the fault; producer state is updated from `from_offset` on."""
    base_offset = segment.base_offset
    view = segment.store.view(base_offset)
    scan = scan_batches(view, segment, latest_epoch=loaded.epochs.latest_epoch())
    if scan.last_offset - base_offset > SPAN_MAX:
        scan = _scan_in_range(view, segment, loaded.epochs.latest_epoch())
    floor = max(base_offset, loaded.log_end_offset)
    if scan.batches and scan.first_offset < floor:
        loaded.log_end_offset = floor  # If it is truncated, only its name is left.
        reason = f"the first batch has offset {scan.first_offset}, expected {floor} or more"
        return add_file_name(CorruptBatch(reason, position=0, offset=scan.first_offset), segment)
    _extend_producers(loaded, base_offset, is_expired)
    loaded.log_end_offset = max(floor, scan.last_offset + 1)
    for epoch, start_offset in scan.epochs:
        if epoch > loaded.epochs.latest_epoch():
            loaded.epochs.assign(epoch, start_offset)
        elif epoch == LEGACY_EPOCH:  # As in an append: earlier epochs are no longer known.
            loaded.epochs.replace(entry for entry in loaded.epochs.entries if entry.start_offset > start_offset)
    if scan.batches:
        aborted = replay(view, scan, loaded.producers, from_offset=from_offset, batch_by_batch=True)
        segment.add_aborted(aborted)
        segment.add(view, scan)
        segment.close()  # Kafka ends the time index of every recovered segment this way, including the active one.
        segment.since_row = 0  # After a restart, the bytes since the last index row count from zero.
    if scan.fault is not None:
        return add_file_name(scan.fault, segment)
    if scan.valid_bytes < len(view):
        reason = f"the segment ends after {len(view)} bytes, inside a batch"
        return add_file_name(CorruptBatch(reason, position=scan.valid_bytes), segment)
    return None


def _scan_in_range(view: memoryview, segment: Segment, latest_epoch: int) -> ScanResult:
    """Return the scan up to the first batch with an offset too large for the segment's index, which is a fault.

    The checksum does not cover the base offset. Kafka's recovery fails with an exception here.
    """
    scan, position, place = scan_up_to(view, segment, segment.base_offset + SPAN_MAX, latest_epoch=latest_epoch)
    reason = f"offset {place.last_offset} is too far above the segment's base offset {segment.base_offset}"
    scan.fault = CorruptBatch(reason, position=position, offset=place.last_offset)
    return scan


def _find_early_epochs(loaded: RecoveredLog) -> None:
    """Read the epochs below the cache's first entry from the batches, if that entry is above the log start.

    The log start is persisted later than the epochs. After a power cut in between, the old log start remains, with the
    epochs of a log that begins higher. If the log no longer reaches that start, there are none.
    """
    known = loaded.epochs.entries
    first = known[0].start_offset if known else loaded.log_end_offset
    if first <= loaded.log_start_offset:
        return
    found = LeaderEpochCache()
    for segment in loaded.segments:
        if segment.base_offset < first and segment.size:
            for epoch, start_offset in scan_batches(segment.view(), segment, check_crc=False).epochs:
                if epoch == LEGACY_EPOCH:
                    found.clear()  # As in an append.
                elif epoch > found.latest_epoch() and start_offset < first:
                    found.assign(epoch, start_offset)
    for entry in known:
        found.assign(*entry)
    loaded.epochs.replace(found.entries)


def _extend_producers(loaded: RecoveredLog, base_offset: int, is_expired: IsExpired) -> None:
    """Extend the producer table to `base_offset`; aborted transactions are derived from it.

    Nothing to do if the previous segments were read as well.
    """
    if loaded.producers.map_end_offset < loaded.log_end_offset and loaded.segments[:-1]:
        loaded.producers = rebuild(
            loaded.segments[-1].store,
            loaded.segments[:-1],
            log_start_offset=loaded.log_start_offset,
            end_offset=max(loaded.log_start_offset, base_offset),
            is_expired=is_expired,
        )


def _rebuild_at_last_segment(loaded: RecoveredLog, log_start_checkpoint: int, is_expired: IsExpired) -> None:
    """Delete the snapshots from the last segment on, and rebuild the table at its base offset.

    After a crash they may belong to a log content that no longer exists.
    """
    *earlier, segment = loaded.segments
    unreplicated = loaded.producers.unreplicated
    loaded.producers = rebuild(
        segment.store,
        earlier,
        log_start_offset=log_start_checkpoint,
        end_offset=segment.base_offset,
        is_expired=is_expired,
    )
    loaded.producers.add_unreplicated(unreplicated)


def _finish_producers(
    loaded: RecoveredLog, store: PartitionStore, is_expired: IsExpired, *, must_rebuild: bool
) -> None:
    """Build the table at the log end, from snapshots if there are any: they know more than the log.

    A producer's batches may have been removed by retention, or their timestamps by the cleaner.
    """
    producers, end_offset = loaded.producers, loaded.log_end_offset
    if must_rebuild or snapshot_offsets(store) or producers.map_end_offset < end_offset:
        loaded.producers = rebuild(
            store,
            loaded.segments,
            log_start_offset=loaded.log_start_offset,
            end_offset=end_offset,
            is_expired=is_expired,
        )
        # Snapshots do not have the decided but possibly unreplicated transactions; the batches that were read do.
        loaded.producers.add_unreplicated(producers.unreplicated)
    else:
        take_snapshot(producers, store)


def _truncate_at(segment: Segment, fault: CorruptBatch, later_base_offsets: list[int]) -> Repair:
    """Keep the bytes before the fault, and delete everything after it."""
    store = segment.store
    lost_bytes = store.size(segment.base_offset) - segment.size + sum(map(store.size, later_base_offsets))
    segment.truncate_files()
    store.truncate(segment.base_offset, segment.size)
    for base_offset in reversed(later_base_offsets):
        delete_segment(store, base_offset)
    return Repair(segment.base_offset, segment.size, fault.reason, lost_bytes, tuple(later_base_offsets))


def _start_empty(
    loaded: RecoveredLog, store: PartitionStore, config: LogConfig, log_start_offset: int, now_ms: int
) -> None:
    """Start a log without records at its start offset, because no data above it is left."""
    for segment in loaded.segments:
        delete_segment(store, segment.base_offset)
    if loaded.segments:
        delete_snapshots(store, above=-1)
        store.write_file(LEADER_EPOCH_CHECKPOINT, encode_checkpoint([]))
        loaded.saved_epochs = []
    store.create(log_start_offset)
    loaded.segments[:] = [Segment(store, log_start_offset, config, created_ms=now_ms)]
    loaded.log_start_offset = loaded.log_end_offset = log_start_offset
    loaded.epochs.clear()
    loaded.producers = ProducerStates()
    loaded.producers.map_end_offset = log_start_offset
