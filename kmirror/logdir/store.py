"""A broker's log folder on disk, in Kafka's file formats.

    LogFolder   one entry of `log.dirs`: a folder for each partition, and their common checkpoints
    FileStore   one partition's folder, the store of a `PartitionLog`

The results of `write_file` and `create` are safe from a power cut on return, or with `flushes_in_jobs` after the next
flush; appended bytes are safe only after `flush`. Views of a segment are slices of a memory map and should be
short-lived. A truncation never invalidates a view: the segment then moves to a new file, and the old one exists until
its map is closed.
"""

from __future__ import annotations

import mmap
import os
import shutil
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kmirror.kernel.ids import TopicPartition
from kmirror.log.disk import Room
from kmirror.log.segment import next_offset
from kmirror.log.state_files import LOG_SUFFIX, OFFSET_MAX, encode_offsets, file_name, offset_in, offset_of
from kmirror.log.store import CLEANER_OFFSET, HIGH_WATERMARK, LOG_START_OFFSET, RECOVERY_POINT, Chunk
from kmirror.logdir.checkpoints import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    RECOVERY_POINTS,
    read_if_present,
    read_offsets,
)
from kmirror.logdir.files import replace_file, sync_folder, write_new
from kmirror.logdir.format import directory_id_of, read_meta_properties
from kmirror.logdir.names import parse_folder_name, partition_of, renamed_folder_name
from kmirror.logdir.pending_syncs import PendingSyncs, flush
from kmirror.logdir.segments import CLEANED_SUFFIX, DELETED_SUFFIX, SWAP_SUFFIX

# Names in the store port of a partition's values in the common checkpoints.
SHARED_FILES = {
    HIGH_WATERMARK: HIGH_WATERMARKS,
    LOG_START_OFFSET: LOG_START_OFFSETS,
    RECOVERY_POINT: RECOVERY_POINTS,
    CLEANER_OFFSET: CLEANER_OFFSETS,
}
_MAPS_KEPT = 8
_SMALL_READ = 1 << 16


class LogFolder:
    """One folder of `log.dirs`: a `Disk` with partitions in files.

    with LogFolder(Path("kafka-logs")) as folder:
        log = PartitionLog.open(tp, folder.open(tp), LogConfig(), now_ms=now_ms)

    A missing folder is created; without `meta.properties` the directory id is derived from its path. Raises `FileFault`
    for a damaged `meta.properties` or common checkpoint. No other process may have the folder open, including a broker
    (`lock_folder` ensures this).

    In a node with both roles, the controller's log is in a folder with the broker's logs. With
    `shares_checkpoints=False` the controller's offsets are kept in memory only, and the broker owns the common
    checkpoints. Kafka's controllers do the same and read their log completely at each start. With `flushes_in_jobs`,
    only `flush`, `write_shared`, `purge`, `stage` and `write_safe_file` wait for the disk, with one exception: an
    append after a truncation that no such call has made safe.
    """

    def __init__(self, path: Path | str, *, shares_checkpoints: bool = True, flushes_in_jobs: bool = False) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.log_dir = str(self.path.absolute())
        ids = read_meta_properties(self.path)
        self.directory_id = directory_id_of(self.path) if ids is None else ids.directory_id
        self._shares_checkpoints = shares_checkpoints
        self._offsets: dict[str, dict[TopicPartition, int]] = {
            name: read_offsets(self.path / file) if shares_checkpoints else {} for name, file in SHARED_FILES.items()
        }
        self._offsets_lock = threading.Lock()
        """Guards changes of the common checkpoints: a broker makes them concurrently with its disk jobs."""
        self._files_lock = threading.Lock()
        """Serialises writes of the checkpoint files (normally by a disk job)."""
        self.is_deferred = flushes_in_jobs
        self.pending_syncs = PendingSyncs(self.path, is_deferred=flushes_in_jobs)
        self.truncations: dict[TopicPartition, dict[str, None]] = {}
        """Partitions with a truncation that is not safe yet, each with the truncated files."""
        self._stores: dict[TopicPartition, FileStore] = {}
        self._is_batch = False
        self._dirty: dict[str, None] = {}
        """Names of the checkpoints for `write_shared` to write."""

    def room(self) -> Room:
        """Return the current size and free space of the folder's file system."""
        usage = shutil.disk_usage(self.path)
        return Room(usage.total, usage.free)

    def is_open(self, tp: TopicPartition) -> bool:
        """Return whether the partition's store was opened and since then neither deleted nor set aside."""
        return tp in self._stores

    def open_count(self) -> int:
        """Return the number of partitions for which `is_open` is true."""
        return len(self._stores)

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions that have a folder, sorted, without folders that are being deleted or moved."""
        found = (partition_of(entry.name) for entry in os.scandir(self.path) if entry.is_dir())
        return sorted(tp for tp in found if tp is not None)

    def open(self, tp: TopicPartition) -> FileStore:
        """Return the partition's store; creates an empty folder if there is none."""
        store = self._stores.get(tp)
        if store is None:
            store = self._stores[tp] = FileStore(self.path / str(tp), self, tp)
        return store

    def delete(self, tp: TopicPartition) -> None:
        """Delete the partition's folder; it is renamed first, so a power cut leaves none that looks complete."""
        self.purge(self.set_aside(tp))

    def set_aside(self, tp: TopicPartition, *, is_stray: bool = False) -> str:
        """Rename the partition's folder to Kafka's name for a deleted or stray one; return that name.

        Running work on the store continues there.
        """
        store = self._stores.pop(tp, None)
        if store is not None:
            store.close()
        for name in self._offsets:
            self.set_offset(name, tp, None)
        path, name = (
            self.path / str(tp),
            renamed_folder_name(tp, os.urandom(16).hex(), "stray" if is_stray else "delete"),
        )
        if path.exists():
            path.rename(self.path / name)
            if store is not None:
                store.path = self.path / name
            self.pending_syncs.discard(path)
            self.pending_syncs.mark_renamed(self.path)
        return name

    def leftovers(self) -> list[str]:
        """Return the names of folders that were set aside by any process and not purged, sorted."""
        found = ((entry.name, parse_folder_name(entry.name)) for entry in os.scandir(self.path) if entry.is_dir())
        return sorted(name for name, parsed in found if parsed is not None and parsed.rename_suffix == "delete")

    def purge(self, name: str) -> None:
        """Delete a folder that was set aside, if it exists; may run concurrently with other calls."""
        self.pending_syncs.sync(self.path)  # Otherwise a power cut could leave an incomplete folder under its old name.
        folder = self.path / name
        if folder.exists():
            for entry in folder.iterdir():
                entry.unlink()
            folder.rmdir()

    def read_file(self, name: str) -> bytes | None:
        """Return the content of a file that belongs to no partition, or None if it does not exist."""
        return read_if_present(self.path / name)

    def write_file(self, name: str, data: bytes) -> None:
        """Create or replace the file atomically, safe from a power cut."""
        replace_file(self.path / name, data)

    def delete_file(self, name: str) -> None:
        """Delete the file, if it exists."""
        (self.path / name).unlink(missing_ok=True)

    def __enter__(self) -> LogFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files of all partitions; close their logs before, if they must be closed cleanly."""
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def offset(self, name: str, tp: TopicPartition) -> int | None:
        """Return a partition's offset in the common checkpoint `name`, or None."""
        return self._offsets[name].get(tp)

    def set_offset(self, name: str, tp: TopicPartition, offset: int | None) -> None:
        """Set or remove a partition's offset in a common checkpoint."""
        with self._offsets_lock:
            offsets = self._offsets[name]
            before = offsets.get(tp, -1)
            if offsets.get(tp) == offset:
                return
            if offset is None:
                del offsets[tp]
            else:
                offsets[tp] = offset
            self._dirty[name] = None
            if self.is_deferred and (offset is None or offset < before):
                self._add_truncation(tp)  # Data appended from now on must not be confused with the old data.
        if not (self._is_batch or self.is_deferred):
            self._write_dirty()

    def _write_dirty(self) -> None:
        """Write the deferred common checkpoints in their current state; changes of offsets need not wait for it."""
        with self._files_lock:
            while self._dirty:
                with self._offsets_lock:
                    name = next(iter(self._dirty))
                    data = encode_offsets(self._offsets[name])
                    del self._dirty[name]
                if not self._shares_checkpoints:
                    continue
                try:
                    replace_file(self.path / SHARED_FILES[name], data)
                except OSError:
                    with self._offsets_lock:
                        self._dirty[name] = None
                    raise

    def record_truncation(self, tp: TopicPartition, name: str = "") -> None:
        """Record that a file of a partition was truncated, or (without a name) that files were deleted."""
        with self._offsets_lock:
            self._add_truncation(tp, name)

    def _add_truncation(self, tp: TopicPartition, name: str = "") -> None:
        self.truncations[tp] = {**self.truncations.get(tp, {}), name: None}

    def sync_truncations(self, tp: TopicPartition) -> None:
        """Make truncations safe, so that a power cut restores nothing: offsets first, then files. Raises OSError."""
        names = self.truncations.get(tp)
        if names is None:
            return
        self._write_dirty()
        for name in names:  # The last one may be the folder itself.
            flush(self.path / str(tp) / name)
        flush(self.path / str(tp))
        with self._offsets_lock:
            if self.truncations.get(tp) is names:  # Otherwise there was another truncation.
                del self.truncations[tp]

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Defer writing the common checkpoints until `write_shared`, for a broker that checkpoints all its logs."""
        assert not self._is_batch, "batches do not nest"
        self._is_batch = True
        try:
            yield
        finally:
            self._is_batch = False

    def write_shared(self) -> None:
        """Write the deferred common checkpoints once, in their current state; may run concurrently with other calls."""
        self.pending_syncs.sync()
        for tp in [*self.truncations]:
            self.sync_truncations(tp)
        self._write_dirty()


class FileStore:
    """`PartitionStore` in one folder; the active segment's file stays open."""

    def __init__(self, path: Path, folder: LogFolder, tp: TopicPartition) -> None:
        self.path = path
        self._folder = folder
        self._tp = tp
        self._open: tuple[int, int] | None = None  # Base offset and descriptor of the last written segment.
        self._maps: dict[int, mmap.mmap] = {}
        # Dropped maps with a view that was still in use.
        self._maps_in_use: dict[int, list[weakref.ref[mmap.mmap]]] = {}
        if not path.exists():
            path.mkdir()
            folder.pending_syncs.mark_renamed(path.parent)
        self._finish_replacements()
        self._sizes: dict[int, int] = {}
        for entry in os.scandir(path):
            base_offset = offset_of(entry.name, LOG_SUFFIX)
            if base_offset is not None and entry.is_file():
                self._sizes[base_offset] = entry.stat().st_size

    def close(self) -> None:
        """Close the files; they are reopened on the next use."""
        self._close_descriptor()
        for base_offset in list(self._maps):
            self._unmap(base_offset)

    # -- segments -----------------------------------------------------------------------------

    def segments(self) -> list[int]:
        return sorted(self._sizes)

    def create(self, base_offset: int) -> None:
        assert base_offset not in self._sizes, f"segment {base_offset} exists"
        self._close_descriptor()
        descriptor = os.open(self._log_path(base_offset), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        self._open = base_offset, descriptor
        self._sizes[base_offset] = 0
        self._folder.pending_syncs.mark_renamed(self.path)

    def size(self, base_offset: int) -> int:
        return self._sizes[base_offset]

    def modified_ms(self, base_offset: int) -> int | None:
        return self._log_path(base_offset).stat().st_mtime_ns // 1_000_000

    def append(self, base_offset: int, data: Chunk) -> None:
        if (
            self._folder.truncations
        ):  # Normally a job does this; an earlier append must wait, or old and new bytes could mix.
            self._folder.sync_truncations(self._tp)
        descriptor, position = self._descriptor(base_offset), self._sizes[base_offset]
        try:
            written = os.pwrite(descriptor, data, position)
            while written < len(data):  # A signal or a system limit may divide a large write.
                written += os.pwrite(descriptor, memoryview(data)[written:], position + written)
        except OSError:
            os.ftruncate(descriptor, position)  # Otherwise a log closed after this would end inside a batch.
            raise
        self._sizes[base_offset] = position + written

    def view(self, base_offset: int, start: int = 0, end: int | None = None) -> memoryview:
        size = self._sizes[base_offset]
        end = size if end is None else end
        assert 0 <= start <= end <= size, f"bytes {start} to {end} of {size}"
        if end - start <= _SMALL_READ:
            return self.read(base_offset, start, end)
        mapped = self._maps.get(base_offset)
        if mapped is None or len(mapped) < end:
            mapped = self._map(base_offset)
        return memoryview(mapped)[start:end]

    def read(self, base_offset: int, start: int, end: int) -> memoryview:
        descriptor = self._descriptor(base_offset)
        data = os.pread(descriptor, end - start, start)
        while len(data) < end - start:
            chunk = os.pread(descriptor, end - start - len(data), start + len(data))
            assert chunk, f"{self._log_path(base_offset)} was truncated by another process"
            data += chunk
        return memoryview(data)

    def flush(self, base_offset: int) -> None:
        self._folder.sync_truncations(self._tp)
        self._folder.pending_syncs.sync(self.path)
        flush(self._log_path(base_offset))  # Uses a new descriptor: other threads may close the current one.

    def truncate(self, base_offset: int, size: int) -> None:
        assert 0 <= size <= self._sizes[base_offset], f"a truncation to {size} of {self._sizes[base_offset]} bytes"
        self._unmap(base_offset)
        if any(mapped() is not None for mapped in self._maps_in_use.pop(base_offset, ())):
            self._truncate_by_copy(base_offset, size)
        else:
            os.ftruncate(self._descriptor(base_offset), size)
        if self._folder.is_deferred:
            self._folder.record_truncation(self._tp, self._log_path(base_offset).name)
        else:
            os.fsync(self._descriptor(base_offset))
        self._sizes[base_offset] = size

    def _truncate_by_copy(self, base_offset: int, size: int) -> None:
        """Truncate the segment by replacing its file, because a view of the old file's pages is still in use."""
        path = self._log_path(base_offset)
        copy = path.with_name(path.name + ".tmp")
        with copy.open("wb") as file:
            position = 0
            while position < size:
                chunk = self.read(base_offset, position, min(size, position + (1 << 20)))
                file.write(chunk)
                position += len(chunk)
            file.flush()
            os.fsync(file.fileno())
        self._close_descriptor()
        copy.rename(path)
        sync_folder(self.path)

    def delete(self, base_offset: int) -> None:
        if self._open is not None and self._open[0] == base_offset:
            self._close_descriptor()
        self._unmap(base_offset)
        self._maps_in_use.pop(base_offset, None)
        self._log_path(base_offset).unlink()
        del self._sizes[base_offset]
        if self._folder.is_deferred:
            self._folder.record_truncation(self._tp)
        else:
            sync_folder(self.path)

    def set_aside(self, base_offset: int) -> None:
        if self._open is not None and self._open[0] == base_offset:
            self._close_descriptor()
        self._unmap(base_offset)
        self._maps_in_use.pop(base_offset, None)
        self._log_path(base_offset).rename(self._deleted_path(base_offset))
        del self._sizes[base_offset]
        self._folder.pending_syncs.mark_renamed(self.path)

    def purge(self, base_offset: int) -> None:
        self._deleted_path(base_offset).unlink(missing_ok=True)

    def _deleted_path(self, base_offset: int) -> Path:
        log = self._log_path(base_offset)
        return log.with_name(log.name + DELETED_SUFFIX)

    def stage(self, base_offset: int, data: Chunk) -> None:
        write_new(self._staged_path(base_offset), data)

    def unstage(self, base_offset: int) -> None:
        self._staged_path(base_offset).unlink(missing_ok=True)

    def _staged_path(self, base_offset: int) -> Path:
        log = self._log_path(base_offset)
        return log.with_name(log.name + CLEANED_SUFFIX)

    def replace(self, base_offsets: Sequence[int]) -> None:
        first, cleaned = self._log_path(base_offsets[0]), self._staged_path(base_offsets[0])
        swap = first.with_name(first.name + SWAP_SUFFIX)
        last = self._log_path(base_offsets[-1]).stat()
        size = cleaned.stat().st_size
        os.utime(cleaned, ns=(last.st_atime_ns, last.st_mtime_ns))
        self.close()
        cleaned.rename(swap)
        self._folder.pending_syncs.mark_renamed(self.path)  # From here on the replacement is valid.
        for base_offset in base_offsets:
            self._maps_in_use.pop(base_offset, None)
            self._folder.pending_syncs.delete_replaced(self._log_path(base_offset), self._deleted_path(base_offset))
            del self._sizes[base_offset]
        swap.rename(first)
        self._folder.pending_syncs.mark_renamed(self.path)
        self._sizes[base_offsets[0]] = size

    def _finish_replacements(self) -> None:
        """Delete incomplete replacements after a crash and finish complete ones, as a broker does at startup.

        All files of a segment are handled together: a remaining index would be taken for that of the new log.
        """
        found: dict[str, list[tuple[int, Path]]] = {DELETED_SUFFIX: [], CLEANED_SUFFIX: [], SWAP_SUFFIX: []}
        for offset, path in self._files_with_offsets():
            if path.suffix in found:
                found[path.suffix].append((offset, path))
        deleted, cleaned, swaps = found.values()
        # Interrupted split: its swap files are deleted before the `.cleaned` ones, which are the evidence of it.
        cleaned_from = min((offset for offset, _ in cleaned), default=OFFSET_MAX + 1)
        interrupted = [(offset, path) for offset, path in swaps if offset >= cleaned_from]
        for _, path in (*deleted, *interrupted, *cleaned):
            path.unlink()
        valid = sorted((offset, path) for offset, path in swaps if offset < cleaned_from)
        logs = [(offset, path) for offset, path in valid if path.name.endswith(LOG_SUFFIX + SWAP_SUFFIX)]
        if logs:
            self._drop_replaced(logs)
        # Logs first: while one is still a swap file, files already renamed would be deleted the next time.
        for _, path in sorted(valid, key=lambda file: file not in logs):
            path.rename(path.with_suffix(""))
        if deleted or cleaned or swaps:
            sync_folder(self.path)

    def _drop_replaced(self, swaps: list[tuple[int, Path]]) -> None:
        """Delete all files whose offset is covered by these swap logs, including snapshots."""
        low = min(base for base, _ in swaps)
        high = max(next_offset(memoryview(path.read_bytes()), base) for base, path in swaps)
        for offset, path in self._files_with_offsets():
            if low <= offset < high and path.suffix != SWAP_SUFFIX:
                path.unlink()

    def _files_with_offsets(self) -> list[tuple[int, Path]]:
        return [(offset, path) for path in self.path.iterdir() if (offset := offset_in(path.name)) is not None]

    def _log_path(self, base_offset: int) -> Path:
        return self.path / file_name(base_offset, LOG_SUFFIX)

    def _descriptor(self, base_offset: int) -> int:
        """Return the segment's open file; the previously open one is closed."""
        if self._open is None or self._open[0] != base_offset:
            self._close_descriptor()
            self._open = base_offset, os.open(self._log_path(base_offset), os.O_RDWR)
        return self._open[1]

    def _close_descriptor(self) -> None:
        if self._open is not None:
            os.close(self._open[1])
            self._open = None

    def _map(self, base_offset: int) -> mmap.mmap:
        """Map the segment at its current size; the least recently used maps are closed."""
        self._unmap(base_offset)
        mapped = mmap.mmap(self._descriptor(base_offset), self._sizes[base_offset], access=mmap.ACCESS_READ)
        while len(self._maps) >= _MAPS_KEPT:
            self._unmap(next(iter(self._maps)))
        self._maps[base_offset] = mapped
        return mapped

    def _unmap(self, base_offset: int) -> None:
        """Drop the segment's map; if a view is in use, it is closed with the view."""
        mapped = self._maps.pop(base_offset, None)
        if mapped is None:
            return
        try:
            mapped.close()
        except BufferError:
            in_use = self._maps_in_use.setdefault(base_offset, [])
            in_use[:] = [other for other in in_use if other() is not None]
            in_use.append(weakref.ref(mapped))

    # -- named files --------------------------------------------------------------------------

    def read_file(self, name: str) -> bytes | None:
        if name in SHARED_FILES:
            offset = self._folder.offset(name, self._tp)
            return None if offset is None else b"%d" % offset
        return self._folder.pending_syncs.read_file(self.path / name)

    def write_file(self, name: str, data: bytes) -> None:
        if name in SHARED_FILES:
            self._set_offset(name, int(data))
        else:
            self._folder.pending_syncs.write_file(self.path / name, data)

    @property
    def has_unsafe_cut(self) -> bool:
        return self._tp in self._folder.truncations

    def write_safe_file(self, name: str, data: bytes) -> None:
        assert name not in SHARED_FILES, f"{name} is a line in a file that all partitions share"
        replace_file(self.path / name, data)

    def _set_offset(self, name: str, offset: int) -> None:
        """Write one of the common offsets; the log start only if it is above the first segment's base offset."""
        if name == LOG_START_OFFSET and self._sizes and offset <= min(self._sizes):
            self._folder.set_offset(name, self._tp, None)
        else:
            self._folder.set_offset(name, self._tp, offset)

    def delete_file(self, name: str) -> None:
        if name in SHARED_FILES:
            self._folder.set_offset(name, self._tp, None)
        else:
            self._folder.pending_syncs.delete_file(self.path / name)

    def files(self) -> Iterable[str]:
        shared = [name for name in SHARED_FILES if self._folder.offset(name, self._tp) is not None]
        own_names = [entry.name for entry in os.scandir(self.path) if offset_of(entry.name, LOG_SUFFIX) is None]
        return sorted([*shared, *own_names])
