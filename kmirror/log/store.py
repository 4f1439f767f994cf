"""Where one partition keeps its bytes: the port that the memory store and the file store implement.

A partition is a set of segments, which are append-only byte files named by their base offset, and a
few small named files that are replaced as a whole. A store knows nothing about batches, offsets or
epochs.

After a power cut the store holds what a sequence of calls up to some point would have left, with one
exception: of the bytes appended to a segment since its last `flush`, only a prefix may be there.
`write_file` is all or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

Chunk = bytes | bytearray | memoryview

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
# Kafka keeps these in one file per log directory, with a line for each partition. A store holds the
# partition's own line under such a name, as decimal text; the file store folds them into the common files.
HIGH_WATERMARK = "high-watermark"
LOG_START_OFFSET = "log-start-offset"
RECOVERY_POINT = "recovery-point-offset"
CLEANER_OFFSET = "cleaner-offset"
# Not Kafka's; they only say what the checkpoint of the cleaner cannot (D63).
CLEANER_RUN = "cleaner-run"
"""Where the cleaner's last run ends, written before the run changes anything."""
COPIED_CLEANER_OFFSET = "copied-cleaner-offset"
"""How far the cleaner may have been in the log from which this one was copied."""


class PartitionStore(Protocol):
    """Where the files of one partition are kept: segments by their base offsets, other files by their names."""

    def segments(self) -> list[int]:
        """Return the base offsets of all segments, ascending."""
        ...

    def create(self, base_offset: int) -> None:
        """Add an empty segment; the base offset must be new."""
        ...

    def size(self, base_offset: int) -> int:
        """Return the segment's length in bytes."""
        ...

    def modified_ms(self, base_offset: int) -> int | None:
        """Return when the segment was last written to, in ms since 1970; None if the store keeps no such time."""
        ...

    def append(self, base_offset: int, data: Chunk) -> None:
        """Add the bytes at the segment's end."""
        ...

    def view(self, base_offset: int, start: int = 0, end: int | None = None) -> memoryview:
        """Return a view of bytes `start` to `end` of the segment, valid until the segment is next changed."""
        ...

    def read(self, base_offset: int, start: int, end: int) -> memoryview:
        """Return bytes `start` to `end` of the segment, which stay as they are whatever happens to it."""
        ...

    def flush(self, base_offset: int) -> None:
        """Return when the segment's bytes are safe from a power cut; one that is gone needs nothing.

        May run beside other calls.
        """
        ...

    def truncate(self, base_offset: int, size: int) -> None:
        """Cut the segment to `size` bytes, which is at most its present size."""
        ...

    def delete(self, base_offset: int) -> None:
        """Remove the segment."""
        ...

    def set_aside(self, base_offset: int) -> None:
        """Have the segment be none any more, at once; its bytes go with `purge`, or when the store is opened again."""
        ...

    def purge(self, base_offset: int) -> None:
        """Remove the bytes of a segment that was set aside; may run beside other calls."""
        ...

    def stage(self, base_offset: int, data: Chunk) -> None:
        """Write what `replace` will put in the place of the segments from `base_offset` on; safe when it returns.

        May run beside other calls. What is staged and never used is gone when the store is opened again.
        """
        ...

    def unstage(self, base_offset: int) -> None:
        """Remove what was staged and is not wanted any more; nothing staged is fine."""
        ...

    def replace(self, base_offsets: Sequence[int]) -> None:
        """Put what was staged in the place of neighbours, at the first one's base offset; all or nothing, and safe.

        It counts as written when the last of them was.
        """
        ...

    def read_file(self, name: str) -> bytes | None:
        """Return the named file's bytes, or None where there is no such file."""
        ...

    def write_file(self, name: str, data: bytes) -> None:
        """Create the named file or replace it as a whole."""
        ...

    @property
    def has_unsafe_cut(self) -> bool:
        """Return whether the store was cut, and would have to make that safe before the next append: see `flush`."""
        ...

    def write_safe_file(self, name: str, data: bytes) -> None:
        """Do the same, and return when the file is safe from a power cut; may run beside other calls."""
        ...

    def delete_file(self, name: str) -> None:
        """Remove the named file; no such file is fine."""
        ...

    def files(self) -> Iterable[str]:
        """Return the names of all named files, sorted."""
        ...
