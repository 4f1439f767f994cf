"""A broker's log folder on disk, in Kafka's names and bytes.

    LogFolder   one entry of `log.dirs`: a folder for each partition, and the checkpoints they share
    FileStore   one partition's folder, the store of a `PartitionLog`

What `write_file` and `create` return from is safe from a power cut, or with `flushes_in_jobs` by the next flush; what
`append` returns from is not until `flush`. Views of a segment are slices of a memory map and are meant to be
short-lived; a cut never pulls the pages from under one, though, for then the segment moves to a new file and the old
one lives on behind the map.
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
from kmirror.logdir.names import name_aside, parse_folder_name, partition_of
from kmirror.logdir.segments import CLEANED_SUFFIX, DELETED_SUFFIX, SWAP_SUFFIX
from kmirror.logdir.unsafe import Unsafe, flush

# The names that a partition's own line in a common checkpoint has in the store port.
SHARED_FILES = {
    HIGH_WATERMARK: HIGH_WATERMARKS,
    LOG_START_OFFSET: LOG_START_OFFSETS,
    RECOVERY_POINT: RECOVERY_POINTS,
    CLEANER_OFFSET: CLEANER_OFFSETS,
}
_MAPS_KEPT = 8
_SMALL_READ = 1 << 16


class LogFolder:
    """One folder of `log.dirs`; a `Disk` whose partitions are on disk.

    with LogFolder(Path("kafka-logs")) as folder:
        log = PartitionLog.open(tp, folder.open(tp), LogConfig(), now_ms=now_ms)

    It is made if there is none; one without a `meta.properties` has a directory id that follows from its path. Raises
    `FileFault` for a `meta.properties` or a common checkpoint that is damaged. No other process
    may have the folder open, a broker included (`lock_folder` sees to that).

    A controller has its log in a folder whose other logs are a broker's, as in a node with both roles. With
    `shares_checkpoints=False` its offsets are kept in memory alone and the common checkpoints left to the broker, as
    Kafka's controllers do: their log is read whole at each start. With `flushes_in_jobs` no other call than `flush`,
    `write_shared`, `purge`, `stage` and `write_safe_file` waits until something is safe (`unsafe.py`), with one
    exception: an append to a log that was cut, if no such call came in between.
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
        self._writing = threading.Lock()
        """Held by who changes or writes the common checkpoints: a broker does so beside the jobs for its disk."""
        self._writing_files = threading.Lock()
        """Held by who writes the files of those checkpoints: a job, and seldom who cannot go on without it."""
        self.is_deferred = flushes_in_jobs
        self.unsafe = Unsafe(self.path, is_deferred=flushes_in_jobs)
        self.cuts: dict[TopicPartition, dict[str, None]] = {}
        """The partitions with a cut that is not safe yet, each with the files that were cut."""
        self._stores: dict[TopicPartition, FileStore] = {}
        self._is_batch = False
        self._dirty: dict[str, None] = {}
        """The names of the checkpoints that `write_shared` is to write."""

    def room(self) -> Room:
        """Return the room that the folder's file system has now."""
        usage = shutil.disk_usage(self.path)
        return Room(usage.total, usage.free)

    def is_open(self, tp: TopicPartition) -> bool:
        """Return whether `open` has returned the partition's store, and it was not removed or set aside since."""
        return tp in self._stores

    def open_count(self) -> int:
        """Return how many partitions `is_open` holds of."""
        return len(self._stores)

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions that have a folder, sorted, without folders that are being deleted or moved."""
        found = (partition_of(entry.name) for entry in os.scandir(self.path) if entry.is_dir())
        return sorted(tp for tp in found if tp is not None)

    def open(self, tp: TopicPartition) -> FileStore:
        """Return the partition's store; an empty folder is made if there is none."""
        store = self._stores.get(tp)
        if store is None:
            store = self._stores[tp] = FileStore(self.path / str(tp), self, tp)
        return store

    def delete(self, tp: TopicPartition) -> None:
        """Remove the partition's folder; it is renamed first, so that a power cut leaves none that looks whole."""
        self.purge(self.set_aside(tp))

    def set_aside(self, tp: TopicPartition, *, is_stray: bool = False) -> str:
        """Rename the partition's folder to what Kafka names one that is deleted, or a stray one; return that name.

        Work on the store that is still under way goes on there.
        """
        store = self._stores.pop(tp, None)
        if store is not None:
            store.close()
        for name in self._offsets:
            self.set_offset(name, tp, None)
        path, name = self.path / str(tp), name_aside(tp, os.urandom(16).hex(), "stray" if is_stray else "delete")
        if path.exists():
            path.rename(self.path / name)
            if store is not None:
                store.path = self.path / name
            self.unsafe.forget(path)
            self.unsafe.renamed_in(self.path)
        return name

    def leftovers(self) -> list[str]:
        """Return the names of folders that were set aside and not purged, by whatever process, sorted."""
        found = ((entry.name, parse_folder_name(entry.name)) for entry in os.scandir(self.path) if entry.is_dir())
        return sorted(name for name, parsed in found if parsed is not None and parsed.set_aside == "delete")

    def purge(self, name: str) -> None:
        """Remove a folder that was set aside, if it is there; may run beside other calls."""
        self.unsafe.make_safe(
            self.path
        )  # Else a power cut could leave a folder under its old name, without some files.
        doomed = self.path / name
        if doomed.exists():
            for entry in doomed.iterdir():
                entry.unlink()
            doomed.rmdir()

    def read_file(self, name: str) -> bytes | None:
        """Return a file that belongs to no partition, or None where there is none."""
        return read_if_present(self.path / name)

    def write_file(self, name: str, data: bytes) -> None:
        """Create that file or replace it as a whole, safe from a power cut."""
        replace_file(self.path / name, data)

    def delete_file(self, name: str) -> None:
        """Remove that file; no such file is fine."""
        (self.path / name).unlink(missing_ok=True)

    def __enter__(self) -> LogFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files of all partitions; their logs are closed before, if they are to be closed at all."""
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def offset(self, name: str, tp: TopicPartition) -> int | None:
        """Return a partition's offset in the checkpoint `name` that partitions share, None if it has none there."""
        return self._offsets[name].get(tp)

    def set_offset(self, name: str, tp: TopicPartition, offset: int | None) -> None:
        """Set or remove the partition's line in a common checkpoint."""
        with self._writing:
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
                self._add_cut(tp)  # What is appended from now on must not be taken for what was there before.
        if not (self._is_batch or self.is_deferred):
            self._write_dirty()

    def _write_dirty(self) -> None:
        """Write the common checkpoints that were put off, as they are by now; nobody else waits for that."""
        with self._writing_files:
            while self._dirty:
                with self._writing:
                    name = next(iter(self._dirty))
                    data = encode_offsets(self._offsets[name])
                    del self._dirty[name]
                if not self._shares_checkpoints:
                    continue
                try:
                    replace_file(self.path / SHARED_FILES[name], data)
                except OSError:
                    with self._writing:
                        self._dirty[name] = None
                    raise

    def cut(self, tp: TopicPartition, name: str = "") -> None:
        """Take in that a file of a partition was cut, or without a name that some are gone."""
        with self._writing:
            self._add_cut(tp, name)

    def _add_cut(self, tp: TopicPartition, name: str = "") -> None:
        self.cuts[tp] = {**self.cuts.get(tp, {}), name: None}

    def make_cut_safe(self, tp: TopicPartition) -> None:
        """Return when a power cut can bring back nothing of what was cut: offsets first, then the files; OSError."""
        cut = self.cuts.get(tp)
        if cut is None:
            return
        self._write_dirty()
        for name in cut:  # The last one may be the folder itself.
            flush(self.path / str(tp) / name)
        flush(self.path / str(tp))
        with self._writing:
            if self.cuts.get(tp) is cut:  # Else there was another one meanwhile.
                del self.cuts[tp]

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Put off writing the common checkpoints until `write_shared`; for a broker that checkpoints all its logs."""
        assert not self._is_batch, "batches do not nest"
        self._is_batch = True
        try:
            yield
        finally:
            self._is_batch = False

    def write_shared(self) -> None:
        """Write, once, the common checkpoints that were put off, as they are by now; may run beside other calls."""
        self.unsafe.make_safe()
        for tp in [*self.cuts]:
            self.make_cut_safe(tp)
        self._write_dirty()


class FileStore:
    """`PartitionStore` in one folder; the active segment's file stays open."""

    def __init__(self, path: Path, folder: LogFolder, tp: TopicPartition) -> None:
        self.path = path
        self._folder = folder
        self._tp = tp
        self._open: tuple[int, int] | None = None  # Base offset and descriptor of the segment last written.
        self._maps: dict[int, mmap.mmap] = {}
        # Maps that were dropped while a view of them was still in use.
        self._lingering: dict[int, list[weakref.ref[mmap.mmap]]] = {}
        if not path.exists():
            path.mkdir()
            folder.unsafe.renamed_in(path.parent)
        self._finish_replacements()
        self._sizes: dict[int, int] = {}
        for entry in os.scandir(path):
            base_offset = offset_of(entry.name, LOG_SUFFIX)
            if base_offset is not None:
                self._sizes[base_offset] = entry.stat().st_size

    def close(self) -> None:
        """Close the files; the store opens them again when it is used."""
        self._release()
        for base_offset in list(self._maps):
            self._unmap(base_offset)

    # -- segments -----------------------------------------------------------------------------

    def segments(self) -> list[int]:
        return sorted(self._sizes)

    def create(self, base_offset: int) -> None:
        assert base_offset not in self._sizes, f"segment {base_offset} exists"
        self._release()
        descriptor = os.open(self._log(base_offset), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        self._open = base_offset, descriptor
        self._sizes[base_offset] = 0
        self._folder.unsafe.renamed_in(self.path)

    def size(self, base_offset: int) -> int:
        return self._sizes[base_offset]

    def modified_ms(self, base_offset: int) -> int | None:
        return self._log(base_offset).stat().st_mtime_ns // 1_000_000

    def append(self, base_offset: int, data: Chunk) -> None:
        if self._folder.cuts:  # A job makes a cut safe; whoever comes before it waits, or old and new bytes could mix.
            self._folder.make_cut_safe(self._tp)
        descriptor, position = self._descriptor(base_offset), self._sizes[base_offset]
        try:
            written = os.pwrite(descriptor, data, position)
            while written < len(data):  # A signal, or a limit of the system, may part a large write.
                written += os.pwrite(descriptor, memoryview(data)[written:], position + written)
        except OSError:
            os.ftruncate(descriptor, position)  # Else a log that is then closed ends inside a batch.
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
            more = os.pread(descriptor, end - start - len(data), start + len(data))
            assert more, f"{self._log(base_offset)} was cut by another process"
            data += more
        return memoryview(data)

    def flush(self, base_offset: int) -> None:
        self._folder.make_cut_safe(self._tp)
        self._folder.unsafe.make_safe(self.path)
        flush(self._log(base_offset))  # By a descriptor of its own: others may close the one in use.

    def truncate(self, base_offset: int, size: int) -> None:
        assert 0 <= size <= self._sizes[base_offset], f"a cut to {size} of {self._sizes[base_offset]} bytes"
        self._unmap(base_offset)
        if any(mapped() is not None for mapped in self._lingering.pop(base_offset, ())):
            self._move(base_offset, size)
        else:
            os.ftruncate(self._descriptor(base_offset), size)
        if self._folder.is_deferred:
            self._folder.cut(self._tp, self._log(base_offset).name)
        else:
            os.fsync(self._descriptor(base_offset))
        self._sizes[base_offset] = size

    def _move(self, base_offset: int, size: int) -> None:
        """Cut the segment by a new file in its place, because a view of the old one's pages is still in use."""
        path = self._log(base_offset)
        copy = path.with_name(path.name + ".tmp")
        with copy.open("wb") as file:
            position = 0
            while position < size:
                chunk = self.read(base_offset, position, min(size, position + (1 << 20)))
                file.write(chunk)
                position += len(chunk)
            file.flush()
            os.fsync(file.fileno())
        self._release()
        copy.rename(path)
        sync_folder(self.path)

    def delete(self, base_offset: int) -> None:
        if self._open is not None and self._open[0] == base_offset:
            self._release()
        self._unmap(base_offset)
        self._lingering.pop(base_offset, None)
        self._log(base_offset).unlink()
        del self._sizes[base_offset]
        if self._folder.is_deferred:
            self._folder.cut(self._tp)
        else:
            sync_folder(self.path)

    def set_aside(self, base_offset: int) -> None:
        if self._open is not None and self._open[0] == base_offset:
            self._release()
        self._unmap(base_offset)
        self._lingering.pop(base_offset, None)
        self._log(base_offset).rename(self._aside(base_offset))
        del self._sizes[base_offset]
        self._folder.unsafe.renamed_in(self.path)

    def purge(self, base_offset: int) -> None:
        self._aside(base_offset).unlink(missing_ok=True)

    def _aside(self, base_offset: int) -> Path:
        log = self._log(base_offset)
        return log.with_name(log.name + DELETED_SUFFIX)

    def stage(self, base_offset: int, data: Chunk) -> None:
        write_new(self._staged(base_offset), data)

    def unstage(self, base_offset: int) -> None:
        self._staged(base_offset).unlink(missing_ok=True)

    def _staged(self, base_offset: int) -> Path:
        log = self._log(base_offset)
        return log.with_name(log.name + CLEANED_SUFFIX)

    def replace(self, base_offsets: Sequence[int]) -> None:
        first, cleaned = self._log(base_offsets[0]), self._staged(base_offsets[0])
        swap = first.with_name(first.name + SWAP_SUFFIX)
        last = self._log(base_offsets[-1]).stat()
        size = cleaned.stat().st_size
        os.utime(cleaned, ns=(last.st_atime_ns, last.st_mtime_ns))
        self.close()
        cleaned.rename(swap)
        self._folder.unsafe.renamed_in(self.path)  # From here on the replacement counts.
        for base_offset in base_offsets:
            self._lingering.pop(base_offset, None)
            self._folder.unsafe.delete_replaced(self._log(base_offset), self._aside(base_offset))
            del self._sizes[base_offset]
        swap.rename(first)
        self._folder.unsafe.renamed_in(self.path)
        self._sizes[base_offsets[0]] = size

    def _finish_replacements(self) -> None:
        """Drop what a crash kept from counting and finish what counts, as a broker does before it opens a log.

        All files of a segment share its fate: an index that stayed would be taken for the one of what replaced the log.
        """
        found: dict[str, list[tuple[int, Path]]] = {DELETED_SUFFIX: [], CLEANED_SUFFIX: [], SWAP_SUFFIX: []}
        for offset, path in self._files_about_offsets():
            if path.suffix in found:
                found[path.suffix].append((offset, path))
        deleted, cleaned, swaps = found.values()
        # A split that was interrupted: its swap files go before the `.cleaned` ones, which show that it was.
        cleaned_from = min((offset for offset, _ in cleaned), default=OFFSET_MAX + 1)
        undone = [(offset, path) for offset, path in swaps if offset >= cleaned_from]
        for _, path in (*deleted, *undone, *cleaned):
            path.unlink()
        counting = sorted((offset, path) for offset, path in swaps if offset < cleaned_from)
        logs = [(offset, path) for offset, path in counting if path.name.endswith(LOG_SUFFIX + SWAP_SUFFIX)]
        if logs:
            self._drop_replaced(logs)
        # Logs first: as long as one is a swap file, what has its plain name already would be dropped the next time.
        for _, path in sorted(counting, key=lambda file: file not in logs):
            path.rename(path.with_suffix(""))
        if deleted or cleaned or swaps:
            sync_folder(self.path)

    def _drop_replaced(self, swaps: list[tuple[int, Path]]) -> None:
        """Delete whatever is about an offset that these logs, which are to be renamed, cover: snapshots as well."""
        low = min(base for base, _ in swaps)
        high = max(next_offset(memoryview(path.read_bytes()), base) for base, path in swaps)
        for offset, path in self._files_about_offsets():
            if low <= offset < high and path.suffix != SWAP_SUFFIX:
                path.unlink()

    def _files_about_offsets(self) -> list[tuple[int, Path]]:
        return [(offset, path) for path in self.path.iterdir() if (offset := offset_in(path.name)) is not None]

    def _log(self, base_offset: int) -> Path:
        return self.path / file_name(base_offset, LOG_SUFFIX)

    def _descriptor(self, base_offset: int) -> int:
        """Return the segment's open file; the one that was open before is closed."""
        if self._open is None or self._open[0] != base_offset:
            self._release()
            self._open = base_offset, os.open(self._log(base_offset), os.O_RDWR)
        return self._open[1]

    def _release(self) -> None:
        if self._open is not None:
            os.close(self._open[1])
            self._open = None

    def _map(self, base_offset: int) -> mmap.mmap:
        """Map the segment as long as it is now; the maps that were used least recently are closed."""
        self._unmap(base_offset)
        mapped = mmap.mmap(self._descriptor(base_offset), self._sizes[base_offset], access=mmap.ACCESS_READ)
        while len(self._maps) >= _MAPS_KEPT:
            self._unmap(next(iter(self._maps)))
        self._maps[base_offset] = mapped
        return mapped

    def _unmap(self, base_offset: int) -> None:
        """Let the segment's map go; if a view of it is in use, it goes when the view does."""
        mapped = self._maps.pop(base_offset, None)
        if mapped is None:
            return
        try:
            mapped.close()
        except BufferError:
            lingering = self._lingering.setdefault(base_offset, [])
            lingering[:] = [other for other in lingering if other() is not None]
            lingering.append(weakref.ref(mapped))

    # -- named files --------------------------------------------------------------------------

    def read_file(self, name: str) -> bytes | None:
        if name in SHARED_FILES:
            offset = self._folder.offset(name, self._tp)
            return None if offset is None else b"%d" % offset
        return self._folder.unsafe.read_file(self.path / name)

    def write_file(self, name: str, data: bytes) -> None:
        if name in SHARED_FILES:
            self._set_offset(name, int(data))
        else:
            self._folder.unsafe.write_file(self.path / name, data)

    @property
    def has_unsafe_cut(self) -> bool:
        return self._tp in self._folder.cuts

    def write_safe_file(self, name: str, data: bytes) -> None:
        assert name not in SHARED_FILES, f"{name} is a line in a file that all partitions share"
        replace_file(self.path / name, data)

    def _set_offset(self, name: str, offset: int) -> None:
        """Write one of the common offsets; the log start has a line only where the first segment begins below it."""
        if name == LOG_START_OFFSET and self._sizes and offset <= min(self._sizes):
            self._folder.set_offset(name, self._tp, None)
        else:
            self._folder.set_offset(name, self._tp, offset)

    def delete_file(self, name: str) -> None:
        if name in SHARED_FILES:
            self._folder.set_offset(name, self._tp, None)
        else:
            self._folder.unsafe.delete_file(self.path / name)

    def files(self) -> Iterable[str]:
        shared = [name for name in SHARED_FILES if self._folder.offset(name, self._tp) is not None]
        own = [entry.name for entry in os.scandir(self.path) if offset_of(entry.name, LOG_SUFFIX) is None]
        return sorted([*shared, *own])
