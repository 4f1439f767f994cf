"""Storage port of one partition, implemented by the memory store and the file store.

A partition consists of segments, which are append-only byte files named by their base offset, and of small named files
that are replaced as a whole. A store knows nothing about batches, offsets or epochs.

After a power cut the store has the state after some prefix of the calls, with one exception: of the bytes appended to a
segment since its last `flush`, only a prefix may be there. `write_file` is atomic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

Chunk = bytes | bytearray | memoryview

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
# Kafka keeps these in one file per log directory, with a line for each partition. A store keeps the partition's value
# under this name, as decimal text; the file store writes it into the common file.
HIGH_WATERMARK = "high-watermark"
LOG_START_OFFSET = "log-start-offset"
RECOVERY_POINT = "recovery-point-offset"
CLEANER_OFFSET = "cleaner-offset"
# These two are not Kafka's; they add information that the cleaner's checkpoint lacks (D63).
CLEANER_RUN = "cleaner-run"
"""End offset of the cleaner's last run, written before the run changes anything."""
COPIED_CLEANER_OFFSET = "copied-cleaner-offset"
"""Offset up to which the cleaner may have run in the log from which this one was copied."""


class PartitionStore(Protocol):
    """Files of one partition: segments by base offset, other files by name."""

    def segments(self) -> list[int]:
        """Return the base offsets of all segments, ascending."""
        ...

    def create(self, base_offset: int) -> None:
        """Create an empty segment; the base offset must be new."""
        ...

    def size(self, base_offset: int) -> int:
        """Return the segment's size in bytes."""
        ...

    def modified_ms(self, base_offset: int) -> int | None:
        """Return when the segment was last written, in ms since 1970; None if the store does not record it."""
        ...

    def append(self, base_offset: int, data: Chunk) -> None:
        """Append the bytes to the segment."""
        ...

    def view(self, base_offset: int, start: int = 0, end: int | None = None) -> memoryview:
        """Return a view of the bytes from `start` to `end` (exclusive), valid until the segment is next changed."""
        ...

    def read(self, base_offset: int, start: int, end: int) -> memoryview:
        """Return the bytes from `start` to `end` (exclusive); later changes of the segment do not affect them."""
        ...

    def flush(self, base_offset: int) -> None:
        """Make the segment's bytes safe from a power cut; does nothing for a deleted segment.

        May run concurrently with other calls.
        """
        ...

    def truncate(self, base_offset: int, size: int) -> None:
        """Truncate the segment to `size` bytes, which is at most its current size."""
        ...

    def delete(self, base_offset: int) -> None:
        """Delete the segment."""
        ...

    def set_aside(self, base_offset: int) -> None:
        """Remove the segment from the list at once; its bytes are deleted by `purge` or at the next open."""
        ...

    def purge(self, base_offset: int) -> None:
        """Delete the bytes of a segment that was set aside; may run concurrently with other calls."""
        ...

    def stage(self, base_offset: int, data: Chunk) -> None:
        """Write the bytes with which `replace` will replace segments from `base_offset` on; they are safe on return.

        May run concurrently with other calls. Staged bytes that are never used are deleted at the next open.
        """
        ...

    def unstage(self, base_offset: int) -> None:
        """Delete staged bytes that are no longer needed, if there are any."""
        ...

    def replace(self, base_offsets: Sequence[int]) -> None:
        """Replace neighbouring segments by the staged bytes, at the first base offset; atomic, and safe on return.

        The modification time is that of the last replaced segment.
        """
        ...

    def read_file(self, name: str) -> bytes | None:
        """Return the content of the named file, or None if it does not exist."""
        ...

    def write_file(self, name: str, data: bytes) -> None:
        """Create the named file, or replace it as a whole."""
        ...

    @property
    def has_unsafe_cut(self) -> bool:
        """True if the store was truncated and must make that safe before the next append: see `flush`."""
        ...

    def write_safe_file(self, name: str, data: bytes) -> None:
        """Do the same as `write_file`; the file is safe from a power cut on return.

        May run concurrently with other calls.
        """
        ...

    def delete_file(self, name: str) -> None:
        """Delete the named file, if it exists."""
        ...

    def files(self) -> Iterable[str]:
        """Return the names of all named files, sorted."""
        ...
