"""Segment files of a partition folder.

The selection is the one that a broker makes at startup, without its deletions and renames. An interrupted compaction
leaves `.cleaned` files, which are ignored, or `.swap` files, which replace all segments from the lowest base offset to
the highest end offset among them. An interrupted split of a segment leaves both; then the `.swap` files at or above the
lowest `.cleaned` one are ignored too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.state_files import LOG_SUFFIX, OFFSET_MAX, file_name, offset_in
from kmirror.logdir.faults import FileFault, fault_of, reading
from kmirror.records import layout
from kmirror.records.legacy import iter_any_batches

SWAP_SUFFIX = ".swap"
CLEANED_SUFFIX = ".cleaned"
# Kafka renames files to be deleted, and deletes them a minute later.
DELETED_SUFFIX = ".deleted"


class SegmentFile(NamedTuple):
    """A file that a broker would open as the segment at `base_offset`."""

    base_offset: int
    path: Path
    size: int
    swaps: frozenset[str] = frozenset()  # Names of the swap files that a broker would rename.

    def sibling(self, suffix: str) -> Path:
        """Return the path of the segment's file with this suffix; after an interrupted swap it may have a swap name."""
        name = file_name(self.base_offset, suffix)
        is_swap = self.path.suffix == SWAP_SUFFIX or name + SWAP_SUFFIX in self.swaps
        return self.path.with_name(name + SWAP_SUFFIX if is_swap else name)


def list_segments(folder: Path) -> list[SegmentFile]:
    """Return the segment files of a partition folder, ordered by base offset."""
    logs: list[SegmentFile] = []
    swaps: list[SegmentFile] = []
    names: dict[str, int] = {}
    cleaned_from = OFFSET_MAX + 1
    with reading(folder), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_file():
                continue
            offset = offset_in(entry.name)
            if offset is None:
                if entry.name.endswith(LOG_SUFFIX):
                    reason = "the name of a segment is its base offset in 20 digits"
                    raise FileFault(reason, path=folder / entry.name)
                continue
            if entry.name.endswith(SWAP_SUFFIX):
                names[entry.name] = offset
            if entry.name.endswith(CLEANED_SUFFIX):
                cleaned_from = min(cleaned_from, offset)
            elif entry.name.endswith(LOG_SUFFIX):
                logs.append(SegmentFile(offset, folder / entry.name, entry.stat().st_size))
            elif entry.name.endswith(LOG_SUFFIX + SWAP_SUFFIX):
                swaps.append(SegmentFile(offset, folder / entry.name, entry.stat().st_size))
    swaps = [file for file in swaps if file.base_offset < cleaned_from]
    if swaps:
        logs = _apply_swaps(logs, swaps)
    if names:
        valid = frozenset(name for name, offset in names.items() if offset < cleaned_from)
        logs = [file._replace(swaps=valid) for file in logs]
    return sorted(logs, key=lambda file: file.base_offset)


def is_segment_name(name: str) -> bool:
    """Return whether a file of this name holds batches, including swap files of a compaction."""
    return offset_in(name) is not None and name.endswith((LOG_SUFFIX, LOG_SUFFIX + SWAP_SUFFIX))


def _apply_swaps(logs: list[SegmentFile], swaps: list[SegmentFile]) -> list[SegmentFile]:
    """Return the segments as after completing the swap that a crash interrupted."""
    low = min(file.base_offset for file in swaps)
    high = max(_end_offset(file) for file in swaps)
    return [file for file in logs if not low <= file.base_offset < high] + swaps


def read_segment(file: SegmentFile) -> bytes:
    """Return the bytes of the segment; raises `Unreadable` if they cannot be read."""
    if file.path.is_dir():  # Without any segment, the path is that of the folder.
        return b""
    with reading(file.path):
        return file.path.read_bytes()


def _end_offset(file: SegmentFile) -> int:
    data = read_segment(file)
    end = file.base_offset
    try:
        for batch in iter_any_batches(data):
            end = batch.next_offset
    except CorruptBatch as error:
        raise segment_fault(file.path, data, error, end) from None
    return end


def segment_fault(path: Path, data: bytes | memoryview, error: CorruptBatch, expected: int) -> FileFault:
    """Return a parser's error with its file, and an offset: the stored one if it is plausible, else `expected`."""
    position = error.position
    assert position is not None, "a parser that walks a buffer gives every fault a position"
    rest = bytes(data[position:])
    stored_offset = int.from_bytes(rest[: layout.BATCH_LENGTH_AT], "big")
    is_complete = len(rest) >= layout.BATCH_LENGTH_AT
    # Offsets of a segment are within 31 bits of each other.
    offset = stored_offset if is_complete and expected <= stored_offset <= expected + 2**31 else expected
    if not rest.strip(b"\0"):
        return FileFault(
            f"the last {len(rest)} bytes of the file are zero", path=path, position=position, offset=expected
        )
    return FileFault(fault_of(error, path).reason, path=path, position=position, offset=offset)
