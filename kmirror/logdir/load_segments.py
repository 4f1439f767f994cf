"""Are the segments of a partition folder what a broker wrote?

Every batch is looked at: its checksum, and for what lies outside the checksum (base offset, leader epoch) its order
among its neighbours and its agreement with the checkpoints. A message of format 0 or 1 has its last offset outside the
checksum; the offsets inside a wrapper bear witness to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from kmirror.errors import CorruptBatch
from kmirror.log.epochs import EpochEntry, LeaderEpochCache
from kmirror.log.index import TIME_ROW
from kmirror.log.state_files import TIME_INDEX_SUFFIX
from kmirror.logdir.faults import FileFault, reading
from kmirror.logdir.segments import SegmentFile, read_segment, segment_fault
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import AnyBatch, LegacyBatch, iter_any_batches


@dataclass(frozen=True, slots=True)
class Expected:
    """What the checkpoints say a partition's log looks like."""

    epochs: list[EpochEntry] | None = None
    log_start_offset: int = 0
    recovery_point: int | None = None
    clean_shutdown: bool = False


@dataclass(slots=True)
class Scan:
    """Where a walk over a partition's batches stands."""

    next_offset: int
    leader_epoch: int = layout.NO_LEADER_EPOCH
    batches: int = 0


def check_segments(
    folder: Path, files: list[SegmentFile], expected: Expected, on_read: Callable[[int], None]
) -> tuple[dict[int, bytes], Scan]:
    """Return the bytes of the segments by base offset, and where the log ends.

    `on_read` is told the size of each segment when it is done. Raises `FileFault` at the first fault.
    """
    if not files:
        # A broker begins an empty segment at the log start offset.
        files = [SegmentFile(expected.log_start_offset, folder, 0)]
    segments: dict[int, bytes] = {}
    epochs = None
    if expected.clean_shutdown and expected.epochs:
        epochs = LeaderEpochCache(expected.epochs)
    scan = Scan(files[0].base_offset)
    for file, after in zip(files, [*files[1:], None], strict=True):
        data = read_segment(file)
        scan.next_offset = max(scan.next_offset, file.base_offset)
        _check_segment(data, file, scan, end=after.base_offset if after else None, epochs=epochs)
        if after is not None:
            _check_time_index(file, scan.next_offset, len(data), end=after.base_offset)
        segments[file.base_offset] = data
        on_read(len(data))
    _check_end(files[-1], scan, expected, len(segments[files[-1].base_offset]))
    return segments, scan


def _check_segment(
    data: bytes, file: SegmentFile, scan: Scan, *, end: int | None, epochs: LeaderEpochCache | None
) -> None:
    """Walk the batches of one segment; `end` is the base offset of the next segment."""
    try:
        for batch in iter_any_batches(data, check_crc=True):
            if isinstance(batch, LegacyBatch):
                first = batch.last_offset  # What stands in the header.
                reason = _wrong_message(batch, file.base_offset, scan, end, epochs)
            else:
                first = batch.base_offset
                reason = _out_of_order(batch, file.base_offset, scan, end) or _wrong_epoch(batch, scan, epochs)
                scan.leader_epoch = batch.partition_leader_epoch
            if reason:
                raise FileFault(reason, path=file.path, position=batch.position, offset=first)
            scan.next_offset = batch.next_offset
            scan.batches += 1
    except FileFault:
        raise
    except CorruptBatch as error:
        raise segment_fault(file.path, data, error, scan.next_offset) from None


def _wrong_message(
    message: LegacyBatch, base_offset: int, scan: Scan, end: int | None, epochs: LeaderEpochCache | None
) -> str | None:
    """Say why this message of format 0 or 1, which may wrap others, cannot stand here.

    The offset of a wrapper's first message may lie below the segment's base offset and the log start: a
    replica that began inside it has the whole of it.
    """
    offsets = [message.last_offset]
    if message.compression is not Compression.NONE:
        offsets = [inner.offset for inner in message.messages()]
        if offsets[-1] != message.last_offset:
            return f"the wrapper has offset {message.last_offset}, and its last message {offsets[-1]}"
        if any(after <= before for before, after in pairwise(offsets)):
            return f"the offsets inside the wrapper do not ascend: {offsets}"
    first = offsets[0] if scan.batches else message.last_offset
    reason = _out_of_place(first, message, base_offset, scan, end)
    known = layout.NO_LEADER_EPOCH if epochs is None else epochs.epoch_for_offset(message.last_offset)
    if reason is None and known != layout.NO_LEADER_EPOCH:
        return f"a message of format {message.magic} has no epoch, and the leader-epoch-checkpoint says {known}"
    return reason


def _out_of_order(batch: Batch, base_offset: int, scan: Scan, end: int | None) -> str | None:
    """Say why this batch cannot stand here, by its offsets."""
    if batch.last_offset_delta < 0:
        return f"the last offset delta is {batch.last_offset_delta}"
    return _out_of_place(batch.base_offset, batch, base_offset, scan, end)


def _out_of_place(first: int, batch: AnyBatch, base_offset: int, scan: Scan, end: int | None) -> str | None:
    """Say why a batch whose first offset is `first` cannot stand behind what was scanned, or before `end`."""
    if first < base_offset:
        return f"the batch lies below the base offset {base_offset} of its segment"
    if first < scan.next_offset:
        return f"offsets go backwards: the batch before it ends at offset {scan.next_offset}"
    if batch.last_offset > layout.LAST_OFFSET_MAX:
        return "the batch ends beyond the greatest offset there can be"
    if end is not None and batch.last_offset >= end:
        return f"the batch ends at offset {batch.last_offset}, beyond the next segment's base offset {end}"
    return None


def _wrong_epoch(batch: Batch, scan: Scan, epochs: LeaderEpochCache | None) -> str | None:
    """Say why this batch cannot stand here, by its leader epoch.

    Leader epochs never fall in a log. After a clean shutdown the checkpoint knows each of them; after a crash
    it may lag behind the log, so it is no witness then.
    """
    epoch = batch.partition_leader_epoch
    if epoch < scan.leader_epoch:
        return f"the leader epoch falls from {scan.leader_epoch} to {epoch}"
    known = layout.NO_LEADER_EPOCH if epochs is None else epochs.epoch_for_offset(batch.base_offset)
    if known not in (layout.NO_LEADER_EPOCH, epoch):
        return f"the leader epoch is {epoch}, and the leader-epoch-checkpoint says {known}"
    return None


def _check_time_index(file: SegmentFile, next_offset: int, size: int, *, end: int) -> None:
    """Raise if the time index of a rolled segment knows of an offset that the segment no longer holds.

    A broker ends the index of a segment it closes with the greatest timestamp and the offset that has it.
    That is the only witness against a closed segment that was cut between two batches. But an index can be
    rebuilt from the log, so one that cannot be true, or was never filled, says nothing.
    """
    index = file.beside(TIME_INDEX_SUFFIX)
    if not index.is_file():
        return
    with reading(index), index.open("rb") as stream:
        entries = index.stat().st_size // TIME_ROW.size
        if entries == 0:
            return
        stream.seek((entries - 1) * TIME_ROW.size)
        entry = stream.read(TIME_ROW.size)
    last = file.base_offset + TIME_ROW.unpack(entry)[1]
    if any(entry) and next_offset <= last < end:
        reason = f"the segment ends here, and its time index has offset {last}: batches are missing"
        raise FileFault(reason, path=file.path, position=size, offset=next_offset)


def _check_end(file: SegmentFile, scan: Scan, expected: Expected, size: int) -> None:
    """Raise if the log ends elsewhere than the broker recorded when it last flushed it."""
    flushed = expected.recovery_point
    if scan.next_offset < expected.log_start_offset:
        start = expected.log_start_offset
        reason = f"the log ends here, below its log start offset {start}: batches are missing"
        raise FileFault(reason, path=file.path, position=size, offset=scan.next_offset)
    if flushed is None:
        return
    if scan.next_offset < flushed:
        reason = f"the log ends here, and it had been flushed up to offset {flushed}: batches are missing"
        raise FileFault(reason, path=file.path, position=size, offset=scan.next_offset)
    if scan.next_offset > flushed and expected.clean_shutdown:
        reason = f"the log ends here, and the broker had closed it at offset {flushed}"
        raise FileFault(reason, path=file.path, position=size, offset=scan.next_offset)
