"""Is a partition's folder what a broker would have written?

Rule 1: every batch is looked at where it lies, its checksum computed over the mapped file; records are decoded only
when asked for.
Rule 2: a fault does not end the walk, unless the next batch cannot be found; then the rest of that segment is skipped.
Rule 3: what a broker makes anew when it starts may be missing, but what is there must be true.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kmirror.errors import CorruptBatch, UsageError
from kmirror.log.epochs import EpochEntry
from kmirror.log.state_files import INDEX_SUFFIX, TIME_INDEX_SUFFIX
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA
from kmirror.logdir.checkpoints import (
    META_PROPERTIES,
    FolderFacts,
    parse_epochs,
    parse_topic_id,
    read_folder_facts,
    read_if_present,
)
from kmirror.logdir.faults import FileFault, Tally, Unreadable, fault_of
from kmirror.logdir.mapped import Mapped, mapped
from kmirror.logdir.partition import PartitionFolder, is_log_dirs, open_partition, partition_paths, set_aside
from kmirror.logdir.segments import SegmentFile
from kmirror.logdir.verify.checkpoints import check_folder_files, check_offsets
from kmirror.logdir.verify.indexes import NEVER, NO_ROW, OffsetRows, TimeRows
from kmirror.logdir.verify.producers import Producers
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c_function
from kmirror.records.legacy import LegacyBatch, iter_any_batches

if TYPE_CHECKING:
    from kmirror.kernel.uuid import Uuid

_SEGMENT_BYTES_MAX: Final = 2**31 - 1
_RELATIVE_OFFSET_MAX: Final = 2**31 - 1
_KNOWN_ATTRIBUTES: Final = 0x7F
_PROGRESS_BYTES: Final = 4 * 1024 * 1024
_MAGIC_V2, _OVERHEAD, _LENGTH_MIN = layout.MAGIC_V2, layout.LOG_OVERHEAD, layout.BATCH_LENGTH_MIN
_ATTRIBUTES_AT, _TRANSACTIONAL = layout.ATTRIBUTES_AT, layout.TRANSACTIONAL_FLAG
_NONE: Final = iter(list[tuple[int, int]]())
# The header without what only the last batch of a producer is asked for: base timestamp, producer epoch, base sequence.
_FIELDS: Final = layout.header_struct(
    "base_offset",
    "batch_length",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "max_timestamp",
    "producer_id",
    "record_count",
)
# Those of batches with records: a codec, and what needs no closer look.
_PLAIN_ATTRIBUTES: Final = frozenset(
    codec | append | transactional | horizon
    for codec in Compression
    for append in (0, layout.LOG_APPEND_TIME_FLAG)
    for transactional in (0, layout.TRANSACTIONAL_FLAG)
    for horizon in (0, layout.DELETE_HORIZON_FLAG)
)


class _Epochs:
    """The leader epochs of the checkpoint, in step with the batches.

    It may begin above the log start. DeleteRecords cuts it at once, and a kill may come before the new log start is
    written down; and Kafka 2.1 writes none down at first when the format of a topic is raised.
    """

    def __init__(self, entries: list[EpochEntry]) -> None:
        self._left = list(reversed(entries))
        self.first = entries[0] if entries else None
        self.current = -1
        self.next_start = 0
        self.advance(-1)

    def advance(self, offset: int) -> None:
        """Move on to the entry that `offset` belongs to."""
        while self._left and self._left[-1].start_offset <= offset:
            self.current = self._left.pop().epoch
        self.next_start = self._left[-1].start_offset if self._left else NEVER


class PartitionCheck:
    """One walk over a partition."""

    def __init__(self, folder: PartitionFolder, tally: Tally, *, decodes: bool = False) -> None:
        self._folder, self._tally, self._decodes = folder, tally, decodes
        self._crc32c = crc32c_function()
        self._producers = Producers(folder.path, tally)
        self._epochs: _Epochs | None = None
        self._next_offset = 0  # What the next batch may begin with.
        self._epoch = -1
        self._epoch_change = NEVER  # Where the checkpoint says that another one begins.
        self._unknown: tuple[Path, int, int, str] | None = None  # The first batch with an epoch where there are none.
        self._log = Path()
        self._base = 0
        self._greatest = -1
        self._offset_rows: OffsetRows | None = None
        self._time_rows: TimeRows | None = None

    def run(self) -> int:
        """Walk the partition and return the offset at which its log ends."""
        folder, tally = self._folder, self._tally
        tally.partitions += 1
        self._read_epochs()
        segments = folder.segments
        self._next_offset = folder.log_start_offset  # Where a broker begins a log that has no segment.
        if segments:
            self._next_offset = segments[0].base_offset
            first = None if self._epochs is None else self._epochs.first
            log_start = folder.log_start_offset if first is None else max(folder.log_start_offset, first.start_offset)
            self._producers.start(segments[0].base_offset, log_start)
        ends = [*(segment.base_offset for segment in segments), None][1:]
        for segment, end in zip(segments, ends, strict=True):
            self._segment(segment, end)
        if self._unknown is not None:
            path, position, offset, reason = self._unknown
            tally.fault(path, reason, position, offset)
        self._producers.on_log_end(self._next_offset)
        return self._next_offset

    def _read_epochs(self) -> None:
        path = self._folder.path / LEADER_EPOCH_CHECKPOINT
        data = read_if_present(path)
        if data is None:
            return
        try:
            self._epochs = _Epochs(parse_epochs(data, path))
            self._epoch_change = min(self._epochs.next_start, self._folder.log_start_offset)
        except FileFault as error:
            self._tally.wrong(error)
        if self._folder.is_set_aside and self._epochs is not None and self._epochs.first is None:
            self._epochs = None  # A broker that is about to delete a log forgets its epochs.

    # Segments

    def _segment(self, segment: SegmentFile, end: int | None) -> None:
        """Walk one segment; `end` is the base offset of the next one."""
        tally, base = self._tally, segment.base_offset
        tally.segments += 1
        self._log, self._base, self._greatest = segment.path, base, -1
        if base > self._next_offset:
            self._producers.has_gaps = True
        if segment.size > _SEGMENT_BYTES_MAX:
            tally.fault(segment.path, f"{segment.size} bytes, more than the {_SEGMENT_BYTES_MAX} of a segment")
        self._next_offset = max(self._next_offset, base)
        is_open = end is None or self._is_unflushed(end)
        self._open_indexes(segment, is_last=is_open)
        with mapped(segment.path) as file:
            self._producers.view = file.view
            position = self._walk(file)
            self._producers.leave_file()
            tally.bytes += file.size
        if end is not None and self._next_offset > end:
            reason = f"the segment goes on to offset {self._next_offset - 1}, and the next one begins with {end}"
            tally.fault(segment.path, reason, position)
        if self._offset_rows is not None:
            self._offset_rows.on_end(position)
        if self._time_rows is not None:
            is_complete = not is_open or self._folder.clean_shutdown
            self._time_rows.on_end(self._next_offset, self._greatest if is_complete else None)
        self._producers.on_segment_end(segment, self._next_offset, is_complete=not self._is_unflushed(end))

    def _is_unflushed(self, end: int | None) -> bool:
        """Whether a broker recovers the segment before offset `end`, and may have been killed while it did so.

        Recovery writes the indexes from the start, in files as long as those of a segment that is written to.
        """
        point = self._folder.recovery_point
        return point is not None and (end is None or end > point)

    def _open_indexes(self, segment: SegmentFile, *, is_last: bool) -> None:
        base, offsets, times = segment.base_offset, segment.beside(INDEX_SUFFIX), segment.beside(TIME_INDEX_SUFFIX)
        self._offset_rows = OffsetRows(offsets, base, self._tally, is_last=is_last) if offsets.exists() else None
        self._time_rows = TimeRows(times, base, self._tally, is_last=is_last) if times.exists() else None

    def _walk(self, file: Mapped) -> int:
        """Look at every batch of the segment; return where the last whole one ends."""
        position = reported = 0
        while position < file.size:
            try:
                is_batch = file.size - position >= layout.HEADER_SIZE and file.view[position + layout.MAGIC_AT] == 2
                position = self._batches(file, position) if is_batch else self._message(file, position)
            except CorruptBatch as error:
                self._tally.wrong(fault_of(error, self._log))
                position = self._after_fault(file, error)
                if position < 0:
                    position = error.position or 0
                    break
            if position - reported >= _PROGRESS_BYTES:
                self._tally.progress(position - reported)
                file.passed(position)
                reported = position
        self._tally.progress(file.size - reported)
        return position

    def _after_fault(self, file: Mapped, error: CorruptBatch) -> int:
        """Return where the batch after a faulty one begins, -1 where that cannot be told."""
        if error.position is None:
            return -1
        try:
            found = next(iter_any_batches(file.view, position=error.position), None)
        except CorruptBatch:
            return -1
        if found is None:
            return -1
        self._next_offset = max(self._next_offset, found.next_offset)
        return error.position + found.size_in_bytes

    def _batches(self, file: Mapped, position: int) -> int:
        """Look at the batches from `position` on until enough have been for a sign of life; return where it stopped.

        This is the loop that takes the time, so it keeps in variables what it needs for each batch and calls others
        only for what not every batch has.
        """
        view, size, stop = file.view, file.size, min(file.size - layout.HEADER_SIZE + 1, position + _PROGRESS_BYTES)
        file.about_to_read(position)
        unpack, crc32c, plain, places = _FIELDS.unpack_from, self._crc32c, _PLAIN_ATTRIBUTES, self._producers.places
        next_offset, current, greatest, count = self._next_offset, self._epoch, self._greatest, 0
        watch, above, rows, times = self._watch(), self._base + 1, self._offset_rows, self._time_rows
        more_rows, (due_end, due_position) = (_NONE, NO_ROW) if rows is None else (rows.left, rows.due)
        more_times, (stamp, due_time) = (_NONE, NO_ROW) if times is None else (times.left, times.due)
        try:
            while position < stop:
                head = unpack(view, position)
                base, length, epoch, magic, crc, attributes, delta, timestamp, producer_id, records = head
                end = position + _OVERHEAD + length
                if magic != _MAGIC_V2:
                    break
                if length < _LENGTH_MIN or end > size:
                    Batch(view, position)  # Raises what is wrong.
                if crc32c(view[position + _ATTRIBUTES_AT : end]) != crc:
                    Batch(view, position).verify_crc()
                if (
                    base != next_offset
                    or records - delta != 1
                    or epoch != current
                    or base >= watch
                    or attributes not in plain
                ):
                    self._next_offset = next_offset
                    self._unusual(Batch(view, position))
                    current, watch = self._epoch, self._watch()
                    next_offset = base + delta + 1
                else:
                    next_offset = base + records
                    if producer_id >= 0:
                        places[producer_id] = position
                        if attributes & _TRANSACTIONAL:
                            self._producers.on_transactional(producer_id, base)
                relative = next_offset - above
                if position >= due_position:
                    if position == due_position and relative == due_end:
                        due_end, due_position = next(more_rows, NO_ROW)
                        if due_end < 0 and rows is not None:
                            due_end, due_position = rows.pass_over((due_end, due_position))
                    elif rows is not None:
                        rows.due = due_end, due_position
                        rows.on_batch(position, next_offset - 1)
                        due_end, due_position = rows.due
                if timestamp > greatest:
                    greatest = timestamp
                    # No true row before it can have that timestamp.
                    if timestamp == stamp and relative >= due_time:
                        stamp, due_time = next(more_times, NO_ROW)
                if relative >= due_time and times is not None:
                    times.due = stamp, due_time
                    times.on_batch(next_offset - 1, timestamp, greatest)
                    stamp, due_time = times.due
                count += 1
                position = end
        finally:
            self._next_offset, self._greatest = next_offset, greatest
            self._tally.batches += count
            if rows is not None:
                rows.due = due_end, due_position
            if times is not None:
                times.due = stamp, due_time
        return position

    def _watch(self) -> int:
        """Return the offset from which on a batch needs a closer look, however plain it is."""
        if self._decodes:
            return -1
        return min(self._epoch_change, self._producers.next_snapshot)

    def _indexes(self, position: int, last_offset: int, timestamp: int, greatest: int) -> None:
        rows, times = self._offset_rows, self._time_rows
        if rows is not None and position >= rows.due[1]:
            rows.on_batch(position, last_offset)
        if times is not None and last_offset - self._base >= times.due[1]:
            times.on_batch(last_offset, timestamp, greatest)

    def _message(self, file: Mapped, position: int) -> int:
        """Look at a message of format 0 or 1, or raise what is wrong with the bytes; return where the next begins."""
        batch = next(iter_any_batches(file.view, position=position, check_crc=True))
        assert isinstance(batch, LegacyBatch), "a batch is not looked at here"
        if batch.last_offset < self._next_offset:
            self._out_of_order(batch.last_offset, position)
        if batch.last_offset - self._base > _RELATIVE_OFFSET_MAX:
            self._too_far(batch.last_offset, position)
        if self._decodes:
            for _ in batch.messages():
                pass
        if self._epochs is not None and self._epochs.first is None:
            self._epochs = self._unknown = None  # A broker that appends one forgets the epochs of all before.
        self._greatest = max(self._greatest, batch.max_timestamp)
        self._indexes(position, batch.last_offset, batch.max_timestamp, self._greatest)
        self._next_offset = batch.next_offset
        self._tally.batches += 1
        return position + batch.size_in_bytes

    # What is not as in most batches

    def _unusual(self, batch: Batch) -> None:
        """Look closer at a batch that does not follow the one before without a seam, or says more than most."""
        base, last = batch.base_offset, batch.last_offset
        if base < self._next_offset:
            self._out_of_order(base, batch.position)
        elif base > self._next_offset:
            self._producers.has_gaps = True
        if last < base:
            self._fault(batch, f"the last offset delta is {batch.last_offset_delta}")
        elif last - self._base > _RELATIVE_OFFSET_MAX:
            self._too_far(last, batch.position)
        if batch.record_count != batch.last_offset_delta + 1:
            self._producers.has_gaps = True
            if not 0 <= batch.record_count <= batch.last_offset_delta + 1:
                self._fault(batch, f"{batch.record_count} records in {batch.last_offset_delta + 1} offsets")
        if batch.attributes & layout.COMPRESSION_MASK > Compression.ZSTD or batch.attributes & ~_KNOWN_ATTRIBUTES:
            self._fault(batch, f"the attributes {batch.attributes:#06x} have bits that mean nothing")
        self._check_epoch(batch)
        if base >= self._producers.next_snapshot:
            self._producers.on_offset(base)
        self._producers.on_batch(batch)
        if self._decodes:
            batch.check_framing()

    def _check_epoch(self, batch: Batch) -> None:
        epoch = batch.partition_leader_epoch
        if epoch < self._epoch:
            self._fault(batch, f"the leader epoch is {epoch}, after {self._epoch}")
        elif self._epochs is not None and epoch >= 0 and batch.last_offset >= self._folder.log_start_offset:
            # The checkpoint is cut at the log start, which may lie inside a batch.
            self._epochs.advance(max(batch.base_offset, self._folder.log_start_offset))
            self._epoch_change = self._epochs.next_start
            known, first = self._epochs.current, self._epochs.first
            reason = f"the leader epoch is {epoch}, and {LEADER_EPOCH_CHECKPOINT} says {known}"
            if first is None:
                self._unknown = self._unknown or (self._log, batch.position, batch.base_offset, reason)
            elif known != epoch and (known >= 0 or epoch > first.epoch):
                self._fault(batch, reason)
        self._epoch = max(epoch, self._epoch)

    def _fault(self, batch: Batch, reason: str) -> None:
        self._tally.fault(self._log, reason, batch.position, batch.base_offset)

    def _out_of_order(self, offset: int, position: int) -> None:
        if self._next_offset == self._base:
            reason = f"an offset below the segment's base offset {self._base}"
        else:
            reason = f"an offset that is not above {self._next_offset - 1}, the last one before"
        self._tally.fault(self._log, reason, position, offset)

    def _too_far(self, offset: int, position: int) -> None:
        reason = f"an offset more than {_RELATIVE_OFFSET_MAX} above the segment's base offset {self._base}"
        self._tally.fault(self._log, reason, position, offset)


class Job(NamedTuple):
    """What there is to verify."""

    top: Path
    folders: list[PartitionFolder]
    facts: FolderFacts | None  # None for a partition by itself.

    @property
    def size(self) -> int:
        return sum(folder.size for folder in self.folders)


def open_job(path: Path, tally: Tally) -> Job:
    """Return what is to be verified at `path`: a log folder, or one partition of it; raises `UsageError`."""
    is_one = not is_log_dirs(path)
    facts = FolderFacts()
    try:
        facts = read_folder_facts(Path(os.path.abspath(path)).parent if is_one else path)
    except (FileFault, Unreadable) as error:
        tally.wrong(error)
    folders = []
    for partition in [path] if is_one else partition_paths(path):
        try:
            folders.append(open_partition(partition, facts))
        except (FileFault, Unreadable) as error:
            tally.wrong(error)
        except UsageError as error:
            if is_one:
                raise
            tally.skipped.append(str(error))
    if not (is_one or folders or tally.faults or (path / META_PROPERTIES).is_file()):
        # To find no fault in nothing would please who named the folder around the log folders.
        raise UsageError(f"{path}: no folder in it holds segment files; give what a broker's log.dirs names")
    if not is_one:
        tally.skipped += [f"{path / name}: {why}" for name, why in set_aside(path)]
    return Job(path, folders, None if is_one else facts)


def verify(job: Job, tally: Tally, *, decodes: bool = False) -> None:
    """Walk everything and tell `tally` what is wrong."""
    topic_ids: dict[str, tuple[Uuid, Path]] = {}
    for folder in job.folders:
        with _telling(tally):
            end = PartitionCheck(folder, tally, decodes=decodes).run()
            _check_topic_id(folder, topic_ids, tally)
            for path in sorted(folder.path.glob("*.checkpoint")):
                _check_snapshot(path, tally)
            if job.facts is not None:
                check_offsets(job.top, job.facts, folder.tp, end, tally)
    if job.facts is not None:
        with _telling(tally):
            check_folder_files(job.top, tally)
        for path in sorted(job.top.glob("*.checkpoint")):
            with _telling(tally):
                _check_snapshot(path, tally)


@contextmanager
def _telling(tally: Tally) -> Iterator[None]:
    """Tell of a file that cannot be read, or that a broker has just deleted, and go on behind it."""
    try:
        yield
    except Unreadable as error:
        tally.wrong(error)


def _check_topic_id(folder: PartitionFolder, known: dict[str, tuple[Uuid, Path]], tally: Tally) -> None:
    path = folder.path / PARTITION_METADATA
    data = read_if_present(path)
    if data is None:
        return
    try:
        topic_id = parse_topic_id(data, path)
    except FileFault as error:
        tally.wrong(error)
        return
    first, where = known.setdefault(folder.tp.topic, (topic_id, path))
    if first != topic_id:
        tally.fault(path, f"the topic id is {topic_id}, and {first} in {where.parent.name}")


def _check_snapshot(path: Path, tally: Tally) -> None:
    """Look at a snapshot of a metadata log: batches from offset 0 on without a gap, the last one a footer."""
    next_offset = 0
    batch: Batch | None = None
    with mapped(path) as file:
        try:
            for found in iter_any_batches(file.view, check_crc=True):
                if not isinstance(found, Batch):
                    tally.fault(path, "a message older than batches", found.position)
                    return
                batch = found
                if found.base_offset != next_offset:
                    tally.fault(
                        path,
                        f"the batch begins with offset {found.base_offset}, expected {next_offset}",
                        found.position,
                    )
                next_offset = found.next_offset
                tally.batches += 1
        except CorruptBatch as error:
            tally.fault(path, error.reason, error.position)
            return
        if batch is None or not batch.is_control:
            tally.fault(path, "it does not end with the footer of a snapshot", file.size)
        tally.snapshots += 1
        batch = None  # It is a view of the file.
