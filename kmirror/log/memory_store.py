"""Partition store in memory.

A view returned to a caller never changes, even after truncation or deletion: bytes are only written past the end, a
full buffer is replaced and not resized, and the first append after a truncation uses a new buffer. So a fetch response
may keep slices of the log as long as needed. For the same reason, replicas can share bytes: a segment borrows them
until it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from kmirror.log.store import Chunk

Allocate = Callable[[int], bytearray | memoryview]
"""Returns a zeroed buffer of at least the given size in bytes."""
Clock = Callable[[], int]
"""Returns the current time in milliseconds since 1970."""
_INITIAL_BYTES = 128
"""Smallest buffer of a non-empty segment; most partitions of a large cluster are almost empty."""
_NO_BYTES = memoryview(b"")


class _SegmentBuffer:
    __slots__ = ("base_offset", "buffer", "flushed", "frozen", "modified_ms", "size")

    def __init__(self, base_offset: int, buffer: memoryview, size: int, *, frozen: bool) -> None:
        self.base_offset = base_offset
        self.buffer = buffer
        self.size = size
        self.flushed = size if frozen else 0  # Bytes that survive a power cut.
        # The end of the buffer is borrowed, or was truncated while a view covered it: it must not be overwritten.
        self.frozen = frozen
        self.modified_ms: int | None = None

    def reserve(self, extra: int, allocate: Allocate) -> None:
        """Make room for `extra` bytes after `size` in a buffer owned by this segment."""
        required = self.size + extra
        capacity = max(_INITIAL_BYTES, required + min(self.size // 2, 64 << 20))
        grown = memoryview(allocate(capacity))
        grown[: self.size] = self.buffer[: self.size]
        self.buffer = grown
        self.frozen = False


class MemoryStore:
    """`PartitionStore` in memory; `allocate` returns buffers of at least the requested size.

    While `fault` is set, operations that write on a real disk raise it and write nothing. With a `clock`, the store
    records when each segment was last written, as a real disk does.
    """

    __slots__ = ("_allocate", "_files", "_newest", "_older", "_staged", "clock", "fault")

    def __init__(self, *, allocate: Allocate = bytearray, clock: Clock | None = None) -> None:
        # Almost every store of a large cluster has one segment and nothing staged, so dicts are created only when
        # needed.
        self._newest: _SegmentBuffer | None = None
        self._older: dict[int, _SegmentBuffer] | None = None
        self._staged: dict[int, Chunk] | None = None
        self._files: dict[str, bytes] = {}
        self._allocate = allocate
        self.clock = clock
        self.fault: OSError | None = None

    @classmethod
    def from_files(cls, segments: Mapping[int, Chunk], files: Mapping[str, bytes]) -> MemoryStore:
        """Return a store that starts with these bytes and borrows them; they must not change."""
        store = cls()
        for base_offset in sorted(segments):
            data = segments[base_offset]
            store._put(_SegmentBuffer(base_offset, memoryview(data), len(data), frozen=True))
        store._files.update(files)
        return store

    def fork(self) -> MemoryStore:
        """Return a copy that borrows the bytes; neither store sees the other's appends."""
        other = MemoryStore(allocate=self._allocate)
        for base_offset in self.segments():
            segment = self._segment(base_offset)
            copy = _SegmentBuffer(base_offset, segment.buffer, segment.size, frozen=True)
            copy.flushed, copy.modified_ms = segment.flushed, segment.modified_ms
            other._put(copy)
        other._files.update(self._files)
        return other

    def _find(self, base_offset: int) -> _SegmentBuffer | None:
        newest = self._newest
        if newest is not None and newest.base_offset == base_offset:
            return newest
        return None if self._older is None else self._older.get(base_offset)

    def _segment(self, base_offset: int) -> _SegmentBuffer:
        segment = self._find(base_offset)
        assert segment is not None, f"there is no segment {base_offset}"
        return segment

    def _put(self, segment: _SegmentBuffer) -> None:
        """Add a segment; one from the cleaner is below the active one, which is looked up most often."""
        newest = self._newest
        if newest is None:
            self._newest = segment
            return
        self._older = self._older or {}
        lower, self._newest = (segment, newest) if segment.base_offset < newest.base_offset else (newest, segment)
        self._older[lower.base_offset] = lower

    def segments(self) -> list[int]:
        if self._newest is None:
            return []
        return sorted((*(self._older or ()), self._newest.base_offset))

    def _check(self) -> None:
        if self.fault is not None:
            raise self.fault

    def create(self, base_offset: int) -> None:
        self._check()
        assert self._find(base_offset) is None, f"segment {base_offset} exists"
        segment = _SegmentBuffer(base_offset, _NO_BYTES, 0, frozen=True)
        self._touch(segment)
        self._put(segment)

    def _touch(self, segment: _SegmentBuffer) -> None:
        if self.clock is not None:
            segment.modified_ms = self.clock()

    def size(self, base_offset: int) -> int:
        return self._segment(base_offset).size

    def modified_ms(self, base_offset: int) -> int | None:
        return self._segment(base_offset).modified_ms

    def append(self, base_offset: int, data: Chunk) -> None:
        if self.fault is not None:
            raise self.fault
        segment = self._newest
        if segment is None or segment.base_offset != base_offset:
            segment = self._segment(base_offset)
        position = segment.size
        end = position + len(data)
        if segment.frozen or end > len(segment.buffer):
            segment.reserve(len(data), self._allocate)
        segment.buffer[position:end] = data
        segment.size = end
        self._touch(segment)

    def view(self, base_offset: int, start: int = 0, end: int | None = None) -> memoryview:
        segment = self._newest
        if segment is None or segment.base_offset != base_offset:
            segment = self._segment(base_offset)
        if end is None:
            end = segment.size
        assert 0 <= start <= end <= segment.size, f"bytes {start} to {end} of {segment.size}"
        return segment.buffer[start:end].toreadonly()

    read = view  # Views of this store never change, so callers may keep them.

    def flush(self, base_offset: int) -> None:
        """Make the segment's current bytes survive `cut_power`."""
        self._check()
        segment = self._find(base_offset)
        if segment is not None:
            segment.flushed = segment.size

    def flushed_size(self, base_offset: int) -> int:
        """Return the number of bytes of the segment that survive a power cut."""
        return self._segment(base_offset).flushed

    def cut_power(self, keep: Callable[[int], int]) -> int:
        """Lose unflushed data except the first `keep(n)` of the n bytes of each segment; return the number lost."""
        lost_bytes = 0
        for base_offset in self.segments():
            segment = self._segment(base_offset)
            unflushed = segment.size - segment.flushed
            if unflushed > 0:
                kept = keep(unflushed)
                assert 0 <= kept <= unflushed, f"{kept} of {unflushed} bytes"
                self._truncate(base_offset, segment.flushed + kept)
                lost_bytes += unflushed - kept
        return lost_bytes

    def truncate(self, base_offset: int, size: int) -> None:
        self._check()
        self._truncate(base_offset, size)
        self._touch(self._segment(base_offset))

    def _truncate(self, base_offset: int, size: int) -> None:
        segment = self._segment(base_offset)
        assert 0 <= size <= segment.size, f"a cut to {size} of {segment.size} bytes"
        if size < segment.size:
            segment.size = size
            segment.flushed = min(segment.flushed, size)
            segment.frozen = True

    def delete(self, base_offset: int) -> None:
        self._check()
        segment, older = self._segment(base_offset), self._older
        if segment is self._newest:
            self._newest = older.popitem()[1] if older else None
        else:
            assert older is not None
            del older[base_offset]

    set_aside = delete  # Views of the bytes stay valid.

    def purge(self, base_offset: int) -> None:
        pass

    def stage(self, base_offset: int, data: Chunk) -> None:
        self._check()
        self._staged = self._staged or {}
        self._staged[base_offset] = data

    def unstage(self, base_offset: int) -> None:
        if self._staged is not None:
            self._staged.pop(base_offset, None)

    def replace(self, base_offsets: Sequence[int]) -> None:
        assert self._staged is not None, f"nothing is staged for segment {base_offsets[0]}"
        data = self._staged.pop(base_offsets[0])
        replaced = _SegmentBuffer(base_offsets[0], memoryview(data), len(data), frozen=True)
        replaced.modified_ms = self.modified_ms(base_offsets[-1])  # As Kafka's cleaner does.
        for base_offset in base_offsets:
            self.delete(base_offset)
        self._put(replaced)

    def read_file(self, name: str) -> bytes | None:
        return self._files.get(name)

    def write_file(self, name: str, data: bytes) -> None:
        self._check()
        self._files[name] = data if type(data) is bytes else bytes(data)

    @property
    def has_unsafe_cut(self) -> bool:
        return False

    def write_safe_file(self, name: str, data: bytes) -> None:
        self.write_file(name, data)

    def delete_file(self, name: str) -> None:
        self._check()
        self._files.pop(name, None)

    def files(self) -> Iterable[str]:
        return sorted(self._files)
