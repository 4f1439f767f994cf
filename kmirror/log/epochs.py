"""Leader epochs of one partition: the epoch that wrote each offset.

The cache is a list of (epoch, start offset) pairs, strictly ascending in both. An entry covers the offsets from its
start to the start of the next entry; the last one covers all up to the log end. A pair that would break the order
removes the entries it conflicts with: a later leader has seen more than the leader whose entries it contradicts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kmirror.errors import CorruptBatch

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


class EndOffset(NamedTuple):
    """Result of `end_offset_for`; both fields are -1 if unknown."""

    epoch: int
    end_offset: int


class LeaderEpochCache:
    """Leader epoch entries; `is_saved` is False after each change until the writer of the checkpoint sets it."""

    __slots__ = ("_epochs", "_starts", "is_saved")

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        # Lists once there is an entry. Empty caches, common for followers of empty partitions, share the empty tuple.
        self._epochs: Sequence[int] = ()
        self._starts: Sequence[int] = ()
        self.is_saved = False
        for epoch, start_offset in entries:
            self.assign(epoch, start_offset)

    @property
    def entries(self) -> list[EpochEntry]:
        return [EpochEntry(*pair) for pair in zip(self._epochs, self._starts, strict=True)]

    def __len__(self) -> int:
        return len(self._epochs)

    def __repr__(self) -> str:
        return f"LeaderEpochCache({list(zip(self._epochs, self._starts, strict=True))})"

    def latest_epoch(self) -> int:
        """Return the greatest epoch with an entry, or -1."""
        return self._epochs[-1] if self._epochs else UNDEFINED_EPOCH

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Record that `epoch` begins at `start_offset`; return whether the cache changed."""
        assert epoch >= 0 and start_offset >= 0, f"epoch {epoch} at offset {start_offset}"
        if self._epochs and self._epochs[-1] == epoch and self._starts[-1] <= start_offset:
            return False
        self.is_saved = False
        epochs, starts = self._epochs, self._starts
        if not (isinstance(epochs, list) and isinstance(starts, list)):
            self._epochs, self._starts = [epoch], [start_offset]
            return True
        while epochs and (epochs[-1] >= epoch or starts[-1] >= start_offset):
            epochs.pop()
            starts.pop()
        epochs.append(epoch)
        starts.append(start_offset)
        return True

    def epoch_for_offset(self, offset: int) -> int:
        """Return the epoch that covers `offset`, or -1 below the first entry."""
        index = bisect_right(self._starts, offset) - 1
        return self._epochs[index] if index >= 0 else UNDEFINED_EPOCH

    def start_offset_of(self, epoch: int) -> int:
        """Return the start offset of `epoch`, or -1 if it has no entry."""
        index = bisect_left(self._epochs, epoch)
        found = index < len(self._epochs) and self._epochs[index] == epoch
        return self._starts[index] if found else UNDEFINED_OFFSET

    def first_after(self, epoch: int) -> EpochEntry | None:
        """Return the entry of the smallest epoch above `epoch`, or None."""
        index = bisect_right(self._epochs, epoch)
        return EpochEntry(self._epochs[index], self._starts[index]) if index < len(self._epochs) else None

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EndOffset:
        """Return the greatest known epoch that is at most `epoch`, and its end offset (exclusive).

        Undefined (-1, -1) for an epoch above the latest one and for an empty cache. For an epoch below the first one,
        it is returned unchanged with the first entry's start: the caller then truncates to the offsets that this log
        still holds.
        """
        epochs = self._epochs
        if epoch == UNDEFINED_EPOCH or not epochs or epoch > epochs[-1]:
            return EndOffset(UNDEFINED_EPOCH, UNDEFINED_OFFSET)
        if epoch == epochs[-1]:
            return EndOffset(epoch, log_end_offset)
        above = bisect_right(epochs, epoch)
        floor = epochs[above - 1] if above else epoch
        return EndOffset(floor, self._starts[above])

    def truncate_from_end(self, end_offset: int) -> bool:
        """Drop the entries that start at or above `end_offset`; return whether there were any."""
        keep = bisect_left(self._starts, end_offset)
        if end_offset < 0 or keep == len(self._starts):
            return False
        self._epochs, self._starts = self._epochs[:keep], self._starts[:keep]
        self.is_saved = False
        return True

    def truncate_from_start(self, start_offset: int) -> bool:
        """Drop the range below `start_offset`; the entry that covers it then starts there.

        Return whether any entry started at or below `start_offset`.
        """
        below = bisect_right(self._starts, start_offset)
        if below == 0:
            return False
        if below > 1 or self._starts[0] != start_offset:
            self._epochs, self._starts = self._epochs[below - 1 :], [start_offset, *self._starts[below:]]
            self.is_saved = False
        return True

    def replace(self, entries: Iterable[tuple[int, int]]) -> None:
        """Replace all entries by `entries`, which must ascend."""
        entries = list(entries)
        self._epochs = [epoch for epoch, _ in entries]
        self._starts = [start_offset for _, start_offset in entries]
        self.is_saved = False

    def clear(self) -> None:
        """Remove all entries: for messages of an old format, which have no epoch, and when the whole log is deleted."""
        if self._epochs:
            self._epochs = self._starts = ()
            self.is_saved = False


def encode_checkpoint(entries: Iterable[tuple[int, int]]) -> bytes:
    """Return the content of a `leader-epoch-checkpoint` file: version, count, one line per entry."""
    lines = [f"{epoch} {start_offset}\n" for epoch, start_offset in entries]
    return f"0\n{len(lines)}\n{''.join(lines)}".encode("ascii")


def decode_checkpoint(data: bytes) -> list[EpochEntry]:
    """Return the entries of a `leader-epoch-checkpoint` file; raises `CorruptBatch` if it is malformed.

    An empty file has no entries: a broker creates the file empty.
    """
    if not data:
        return []
    try:
        lines = data.decode("ascii").split("\n")
        version, count = int(lines[0]), int(lines[1])
        rows = [line.split(" ") for line in lines[2:] if line.strip()]
        entries = [EpochEntry(int(epoch), int(start_offset)) for epoch, start_offset in rows]
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise CorruptBatch(f"leader-epoch-checkpoint is malformed: {error}") from None
    if version != 0:
        raise CorruptBatch(f"leader-epoch-checkpoint has version {version}, expected 0")
    if count != len(entries):
        raise CorruptBatch(f"leader-epoch-checkpoint has a count of {count} entries, but contains {len(entries)}")
    for entry in entries:
        if entry.epoch < 0 or entry.start_offset < 0:
            raise CorruptBatch(f"leader-epoch-checkpoint has the entry {tuple(entry)}, expected none below 0")
    return entries
