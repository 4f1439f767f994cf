"""Recovery of the producer table when a log is opened: snapshots in the store, and replay of the log.

A snapshot holds the table at one offset. The newest snapshot within the log is loaded and the batches above it are
replayed. Without a snapshot, replay starts at the log start; but a cleanly closed log without a snapshot had no
producers, so nothing is replayed. Snapshots below the log start or above the log end belong to a different log content
and are deleted, and so are unreadable ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmirror.errors import CorruptBatch
from kmirror.log.producer_entry import AbortedTxn
from kmirror.log.producer_staging import control_type, last_offset_at, stage_batches
from kmirror.log.producers import AppendOrigin, ProducerStates
from kmirror.log.scan import scan_batches
from kmirror.log.scan_result import ScanResult
from kmirror.log.segment import Segment
from kmirror.log.state_files import SNAPSHOT_SUFFIX, decode_snapshot, encode_snapshot, file_name, offset_of
from kmirror.log.store import PartitionStore
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType

IsExpired = Callable[[int], bool]
"""Returns whether a producer with this last timestamp (ms) has expired."""
ENDS = (ControlType.COMMIT, ControlType.ABORT, ControlType.MIRROR_PID_RESET)
"""Control records that end transactions."""


def snapshot_offsets(store: PartitionStore) -> list[int]:
    """Return the offsets of all snapshots in the store, ascending."""
    found = (offset_of(name, SNAPSHOT_SUFFIX) for name in store.files())
    return sorted(offset for offset in found if offset is not None)


def take_snapshot(producers: ProducerStates, store: PartitionStore) -> None:
    """Write the table at `map_end_offset`, unless the last snapshot is as recent."""
    if producers.map_end_offset > producers.snapshot_offset:
        name = file_name(producers.map_end_offset, SNAPSHOT_SUFFIX)
        store.write_file(name, encode_snapshot(producers.entries.values(), max_count=producers.max_count))
        producers.snapshot_offset = producers.map_end_offset


def rebuild(
    store: PartitionStore,
    segments: Sequence[Segment],
    *,
    log_start_offset: int,
    end_offset: int,
    is_expired: IsExpired,
    max_count: int = 0,
) -> ProducerStates:
    """Return the table at `end_offset`; writes snapshots there and at the base offsets of the last two segments.

    Without `segments` the table comes from a snapshot only. `max_count` is that of the table that this one replaces.
    """
    producers = _load_newest(store, log_start_offset, end_offset, is_expired)
    producers.max_count = max(producers.max_count, max_count)
    keep_at = store.segments()[-2:]
    for number, segment in enumerate(segments, start=1):
        if number < len(segments) and segments[number].base_offset <= producers.map_end_offset:
            continue
        if segment.base_offset >= end_offset:
            break
        producers.map_end_offset = max(segment.base_offset, producers.map_end_offset, log_start_offset)
        if segment.base_offset in keep_at:
            take_snapshot(producers, store)
        if segment.size:
            view = segment.view()
            scan = scan_batches(view, segment, check_crc=False)
            replay(view, scan, producers, from_offset=producers.map_end_offset)
    producers.map_end_offset = end_offset
    take_snapshot(producers, store)
    return producers


def rebuild_after_truncation(
    previous: ProducerStates,
    store: PartitionStore,
    segments: Sequence[Segment],
    log_start_offset: int,
    end_offset: int,
    is_expired: IsExpired,
) -> ProducerStates:
    """Return the table of a log truncated to `end_offset`; `previous` adds state that snapshots do not have."""
    producers = rebuild(
        store,
        segments,
        log_start_offset=log_start_offset,
        end_offset=end_offset,
        is_expired=is_expired,
        max_count=previous.max_count,
    )
    # A snapshot does not record decided transactions that are not replicated yet. Kafka forgets them here.
    producers.add_unreplicated({first: last for first, last in previous.unreplicated.items() if last < end_offset})
    return producers


def needs_replay(
    previous: ProducerStates,
    store: PartitionStore,
    segments: Sequence[Segment],
    log_start_offset: int,
    offset: int,
    is_expired: IsExpired,
) -> bool:
    """Return whether the table at `offset`, in the first segment, must be read from the log before truncating to it.

    A table without producers stays empty and is not read (UnifiedLog.rebuildProducerState), with two exceptions. First,
    a producer reset emptied the table: either the truncation removes that reset, or the reset lies below `offset` and
    above a snapshot that still lists producers. Second, the truncation removes the marker of a transaction, which is
    open again, even if its producer has expired since: a failback may happen a day later.
    """
    if previous.entries or previous.unreplicated or previous.map_end_offset < offset:
        return True
    if _load_newest(store, log_start_offset, offset, is_expired).entries:
        return True
    for segment in segments:
        view = segment.view()
        for position in scan_batches(view, segment, check_crc=False).special:
            batch = Batch(view, position)
            if batch.base_offset >= offset and control_type(batch) in ENDS:
                return True
    return False


def start_empty(store: PartitionStore, segments: Sequence[Segment], *, end_offset: int) -> ProducerStates:
    """Return an empty table at `end_offset`, with empty snapshots there and at the last two segments.

    For a log that was closed and has no snapshot. Kafka does not search its batches for producers either.
    """
    producers = ProducerStates()
    for offset in (*(segment.base_offset for segment in segments[-2:]), end_offset):
        producers.map_end_offset = offset
        take_snapshot(producers, store)
    return producers


def replay(
    view: memoryview, scan: ScanResult, producers: ProducerStates, *, from_offset: int, batch_by_batch: bool = False
) -> list[AbortedTxn]:
    """Replay the batches that reach `from_offset`; return the rows for the transaction index."""
    positions = scan.special
    if scan.first_offset < from_offset:
        positions = [position for position in positions if last_offset_at(view, position) >= from_offset]
    staging = producers.stage(AppendOrigin.REPLICATION)
    stage_batches(view, positions, staging)
    aborted = staging.commit(batch_by_batch=batch_by_batch)
    producers.map_end_offset = max(producers.map_end_offset, scan.last_offset + 1)
    return aborted


def delete_snapshots(store: PartitionStore, *, above: int) -> None:
    """Delete the snapshots at offsets greater than `above`."""
    for offset in snapshot_offsets(store):
        if offset > above:
            store.delete_file(file_name(offset, SNAPSHOT_SUFFIX))


def delete_stray_snapshots(store: PartitionStore, base_offsets: Sequence[int]) -> None:
    """Delete the snapshots that are not at a segment's base offset, except the last one above all segments.

    That one is from a clean shutdown; older ones would only accumulate.
    """
    stray_offsets = [offset for offset in snapshot_offsets(store) if offset not in base_offsets]
    keep = stray_offsets[-1] if stray_offsets and (not base_offsets or stray_offsets[-1] >= max(base_offsets)) else None
    for offset in stray_offsets:
        if offset != keep:
            store.delete_file(file_name(offset, SNAPSHOT_SUFFIX))


def _load_newest(
    store: PartitionStore, log_start_offset: int, end_offset: int, is_expired: IsExpired
) -> ProducerStates:
    producers = ProducerStates()
    producers.map_end_offset = producers.snapshot_offset = log_start_offset
    is_loaded = False
    for offset in reversed(snapshot_offsets(store)):
        name = file_name(offset, SNAPSHOT_SUFFIX)
        is_in_range = log_start_offset < offset <= end_offset
        if is_loaded and is_in_range:
            continue
        data = store.read_file(name) if is_in_range else None
        try:
            entries = decode_snapshot(data) if data is not None else None
        except CorruptBatch:
            entries = None
        if entries is None:
            store.delete_file(name)
        else:
            is_loaded = True
            producers.map_end_offset = producers.snapshot_offset = offset
            kept_entries = [e for e in entries if e.txn_first_offset >= 0 or not is_expired(e.last_timestamp)]
            producers.entries = {entry.producer_id: entry for entry in kept_entries}
            producers.max_count = len(kept_entries)
            open_txns = ((e.txn_first_offset, e.producer_id) for e in kept_entries if e.txn_first_offset >= 0)
            producers.ongoing = dict(sorted(open_txns))
            producers.reopened_from = dict.fromkeys(producers.ongoing, 0)
    return producers
