"""What does the content of a store say about the log, when nothing else is known?

Every batch is read once: offsets must ascend within a segment and from one to the next, checksums must
hold. From the headers come the indexes, the producer table and the aborted transactions. The epoch cache
begins with the checkpoint, which may know of epochs that wrote nothing or whose batches were compacted
away; batches add the epochs above its last one, and what the log does not reach is cut off.

Bytes that cannot be read raise `CorruptBatch`. With `repair` they are cut off, with everything behind
them, as a broker does after an unclean shutdown; `Loaded.repair` tells what was lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.errors import CorruptBatch
from kmirror.log.config import LogConfig
from kmirror.log.epochs import LeaderEpochCache, decode_checkpoint
from kmirror.log.headers import last_offset_at, stage_batches
from kmirror.log.producers import AbortedTxn, AppendOrigin, ProducerStates
from kmirror.log.scan import Scan, scan_batches
from kmirror.log.segment import Segment
from kmirror.log.store import HIGH_WATERMARK, LEADER_EPOCH_CHECKPOINT, LOG_START_OFFSET, PartitionStore
from kmirror.records.batch import UnsupportedMagic


@dataclass(frozen=True, slots=True)
class Repair:
    """What an unclean shutdown cost: where the log was cut, and why."""

    segment: int
    position: int
    reason: str
    lost_bytes: int
    lost_segments: tuple[int, ...]


@dataclass(slots=True)
class Loaded:
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    epochs: LeaderEpochCache
    segments: list[Segment] = field(default_factory=list)
    producers: ProducerStates = field(default_factory=ProducerStates)
    repair: Repair | None = None


def segment_file_name(base_offset: int, suffix: str = ".log") -> str:
    return f"{base_offset:020d}{suffix}"


def load(store: PartitionStore, config: LogConfig, *, now_ms: int, repair: bool = False) -> Loaded:
    """Read the whole store; raises CorruptBatch unless `repair`."""
    checkpoint = store.read_file(LEADER_EPOCH_CHECKPOINT)
    epochs = LeaderEpochCache(decode_checkpoint(checkpoint) if checkpoint is not None else ())
    log_start_checkpoint = _read_offset(store, LOG_START_OFFSET)
    loaded = Loaded(log_start_checkpoint, 0, _read_offset(store, HIGH_WATERMARK), epochs)
    bases = store.segments()
    if bases:
        loaded.log_start_offset = max(log_start_checkpoint, bases[0])
        loaded.log_end_offset = bases[0]
    for number, base_offset in enumerate(bases):
        segment = Segment(store, base_offset, config, created_ms=now_ms)
        loaded.segments.append(segment)
        fault = _load_segment(loaded, segment)
        if fault is not None:
            if not repair:
                raise fault
            loaded.repair = _cut(segment, fault, bases[number + 1 :])
            break
    if not loaded.segments or loaded.log_end_offset < log_start_checkpoint:
        _start_empty(loaded, store, config, log_start_checkpoint, now_ms)
    for segment in loaded.segments[:-1]:
        segment.close()
    epochs.truncate_from_end(loaded.log_end_offset)
    epochs.truncate_from_start(log_start_checkpoint)
    loaded.high_watermark = min(max(loaded.high_watermark, loaded.log_start_offset), loaded.log_end_offset)
    loaded.producers.map_end_offset = loaded.log_end_offset
    loaded.producers.on_high_watermark(loaded.high_watermark)
    return loaded


def load_producers(segment: Segment, producers: ProducerStates, *, log_start_offset: int) -> list[AbortedTxn]:
    """Feed the table with one segment's batches from the log start on; returns its aborted transactions."""
    view = segment.view()
    scan = scan_batches(view, segment, check_crc=False)
    return _feed(view, scan, producers, log_start_offset)


def _read_offset(store: PartitionStore, name: str) -> int:
    data = store.read_file(name)
    if data is None:
        return 0
    text = data.decode("ascii", "replace").strip()
    if not text.isdigit():
        raise CorruptBatch(f"{name} holds {text!r}, expected an offset")
    return int(text)


def _load_segment(loaded: Loaded, segment: Segment) -> CorruptBatch | None:
    """Take in one segment up to its first fault, which is returned."""
    base_offset = segment.base_offset
    view = segment.store.view(base_offset)
    scan = scan_batches(view, segment, latest_epoch=loaded.epochs.latest_epoch())
    floor = max(base_offset, loaded.log_end_offset)
    if scan.batches and scan.first_offset < floor:
        reason = f"the first batch has offset {scan.first_offset}, expected {floor} or more"
        return _place(CorruptBatch(reason, position=0, offset=scan.first_offset), segment)
    loaded.log_end_offset = max(floor, scan.last_offset + 1)
    for epoch, start_offset in scan.epochs:
        if epoch > loaded.epochs.latest_epoch():
            loaded.epochs.assign(epoch, start_offset)
    if scan.batches:
        segment.aborted.extend(_feed(view, scan, loaded.producers, loaded.log_start_offset))
        segment.add(scan)
    if scan.fault is not None:
        return _place(scan.fault, segment)
    if scan.valid_bytes < len(view):
        reason = f"the segment ends after {len(view)} bytes, inside a batch"
        return _place(CorruptBatch(reason, position=scan.valid_bytes), segment)
    return None


def _feed(view: memoryview, scan: Scan, producers: ProducerStates, log_start_offset: int) -> list[AbortedTxn]:
    positions = scan.special
    if scan.first_offset < log_start_offset:
        positions = [position for position in positions if last_offset_at(view, position) >= log_start_offset]
    staging = producers.stage(AppendOrigin.REPLICATION)
    stage_batches(view, positions, staging)
    return staging.commit()


def _place(fault: CorruptBatch, segment: Segment) -> CorruptBatch:
    """The same fault with the file it is in."""
    reason = f"{segment_file_name(segment.base_offset)}: {fault.reason}"
    placed = CorruptBatch(reason, position=fault.position, offset=fault.offset)
    if isinstance(fault, UnsupportedMagic):
        placed = UnsupportedMagic(fault.magic, position=fault.position or 0, offset=fault.offset)
        placed.reason = reason
    return placed


def _cut(segment: Segment, fault: CorruptBatch, later: list[int]) -> Repair:
    """Keep what lies before the fault, delete what lies behind it."""
    store = segment.store
    lost = store.size(segment.base_offset) - segment.size + sum(map(store.size, later))
    store.truncate(segment.base_offset, segment.size)
    for base_offset in later:
        store.delete(base_offset)
    return Repair(segment.base_offset, segment.size, fault.reason, lost, tuple(later))


def _start_empty(
    loaded: Loaded, store: PartitionStore, config: LogConfig, log_start_offset: int, now_ms: int
) -> None:
    """Begin a log without records at its start offset, above which nothing is left."""
    for segment in loaded.segments:
        store.delete(segment.base_offset)
    store.create(log_start_offset)
    loaded.segments[:] = [Segment(store, log_start_offset, config, created_ms=now_ms)]
    loaded.log_start_offset = loaded.log_end_offset = log_start_offset
    loaded.epochs.clear()
    loaded.producers.clear(log_start_offset)
