"""Which files of a partition folder are its log?

The choice is the one a broker makes when it starts, without its deletes and renames. An interrupted compaction leaves
`.cleaned` files, which count for nothing, or `.swap` files, which take the place of all segments from the lowest base
offset to the highest end offset among them. A split of a segment leaves both, and then the `.swap` files at or above
the lowest `.cleaned` one count for nothing either.
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
# Kafka renames what it deletes, and deletes it a minute later.
DELETED_SUFFIX = ".deleted"


class SegmentFile(NamedTuple):
    """A file that a broker would open as the segment at `base_offset`."""

    base_offset: int
    path: Path
    size: int
    swaps: frozenset[str] = frozenset()  # The names of the swap files that a broker would rename.

    def beside(self, suffix: str) -> Path:
        """Return where its file of another kind is: a swap that was interrupted leaves some under another name."""
        name = file_name(self.base_offset, suffix)
        is_swap = self.path.suffix == SWAP_SUFFIX or name + SWAP_SUFFIX in self.swaps
        return self.path.with_name(name + SWAP_SUFFIX if is_swap else name)


def list_segments(folder: Path) -> list[SegmentFile]:
    """Return the segment files of a partition folder, in order of their base offsets."""
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
        logs = _swapped(logs, swaps)
    if names:
        counting = frozenset(name for name, offset in names.items() if offset < cleaned_from)
        logs = [file._replace(swaps=counting) for file in logs]
    return sorted(logs, key=lambda file: file.base_offset)


def is_segment_name(name: str) -> bool:
    """Say whether a file of this name holds batches, also as the swap file of a compaction."""
    return offset_in(name) is not None and name.endswith((LOG_SUFFIX, LOG_SUFFIX + SWAP_SUFFIX))


def _swapped(logs: list[SegmentFile], swaps: list[SegmentFile]) -> list[SegmentFile]:
    """Return the segments after the swap that a crash interrupted has been brought to its end."""
    low = min(file.base_offset for file in swaps)
    high = max(_end_offset(file) for file in swaps)
    return [file for file in logs if not low <= file.base_offset < high] + swaps


def read_segment(file: SegmentFile) -> bytes:
    """Return the bytes of the segment; raises `UsageError` where they cannot be read."""
    if file.path.is_dir():  # The path is the folder's where no segment exists yet.
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
    """Give a parser's error the file it is about, and an offset: what stands there if it can be true."""
    position = error.position
    assert position is not None, "a parser that walks a buffer gives every fault a position"
    rest = bytes(data[position:])
    stated = int.from_bytes(rest[: layout.BATCH_LENGTH_AT], "big")
    complete = len(rest) >= layout.BATCH_LENGTH_AT
    # Within a segment offsets lie within 31 bits of each other.
    offset = stated if complete and expected <= stated <= expected + 2**31 else expected
    if not rest.strip(b"\0"):
        return FileFault(
            f"the last {len(rest)} bytes of the file are zero", path=path, position=position, offset=expected
        )
    return FileFault(fault_of(error, path).reason, path=path, position=position, offset=offset)
