"""Appending a leader's batches unchanged to the log of a follower or a mirror.

Either all batches before the first one with too high an epoch are appended, or none. A single plain batch has a faster
path (`fast_append.py`).
"""

from __future__ import annotations

from kmirror.log.errors import UnexpectedAppendOffset
from kmirror.log.log_state import LogState
from kmirror.log.producer_staging import stage_batches
from kmirror.log.producers import AppendOrigin, Staging
from kmirror.log.results import AppendInfo
from kmirror.log.scan import scan_batches, split_positions
from kmirror.log.scan_result import ScanResult
from kmirror.log.segment import SPAN_MAX


def append_replicated(log: LogState, view: memoryview, max_epoch: int) -> AppendInfo:
    """Append the batches in `view` up to the first one whose epoch is above `max_epoch`; see `append_as_follower`."""
    scan = scan_batches(view, log.segments.active, max_epoch=max_epoch, latest_epoch=log.latest_epoch)
    if scan.fault is not None:
        raise scan.fault
    if not scan.batches:
        return AppendInfo(refused_epoch=scan.refused_epoch)
    if scan.first_offset < log.log_end_offset:
        _begin_at_straddling_batch(log, scan)
        scan = scan_batches(view, log.segments.active, max_epoch=max_epoch, check_crc=False)  # No epoch is left.
    view = view[: scan.valid_bytes]
    span = scan.last_offset - scan.roll_offset
    if (scan.valid_bytes > log.config.segment_bytes or span > SPAN_MAX) and scan.batches > 1:
        return _append_in_parts(log, view, scan)
    return _append_scanned(log, view, scan)


def _begin_at_straddling_batch(log: LogState, scan: ScanResult) -> None:
    """Allow a batch that begins below the log end if the log is empty.

    The leader's log start may lie inside a batch (DeleteRecords), and the leader sends the whole batch.
    """
    end = log.log_end_offset
    if log.log_start_offset != end or scan.last_offset < end:
        raise UnexpectedAppendOffset(
            f"{log.tp}: batches start at offset {scan.first_offset}, expected {end} or more "
            f"(last offset {scan.last_offset}, log start {log.log_start_offset})",
            first_offset=scan.first_offset,
            last_offset=scan.last_offset,
        )
    log.truncate_fully_and_start_at(scan.first_offset, log_start_offset=log.log_start_offset)


def _append_in_parts(log: LogState, view: memoryview, scan: ScanResult) -> AppendInfo:
    """Append more than fits into a segment, in parts: as many batches as fit, at least one.

    Kafka rejects this. A mirrored topic has its source's segment size, and a fetch may exceed it in bytes and in
    offsets.
    """
    total = AppendInfo(scan.first_offset, refused_epoch=scan.refused_epoch)
    start = 0
    for end in split_positions(view, log.config.segment_bytes):
        part = view[start:end]
        part_scan = scan_batches(part, log.segments.active, latest_epoch=log.latest_epoch, check_crc=False)
        info = _append_scanned(log, part, part_scan)
        total.last_offset = info.last_offset
        total.batches += info.batches
        total.bytes += info.bytes
        total.max_timestamp = max(total.max_timestamp, info.max_timestamp)
        total.control_types += info.control_types
        start = end
    return total


def _append_scanned(log: LogState, view: memoryview, scan: ScanResult) -> AppendInfo:
    """Append validated replicated batches that fit into a segment; a rejection leaves no segment above the log end."""
    staging: Staging | None = None
    control_types: list[int] = []
    if scan.special:
        staging = log.producers.stage(AppendOrigin.REPLICATION)
        control_types = stage_batches(view, scan.special, staging)
    log.roll_if_needed(view, scan)
    if scan.epochs:
        log.assign_epochs(scan.epochs)
    return log.write(view, scan, staging, control_types)
