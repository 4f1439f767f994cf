"""Verification of the batches of a partition's log.

One pass over the segments, compared with the leader-epoch-checkpoint; `missing.py` judges holes between segments.
`verify` also compares the other files with the log and continues after a fault. Loading keeps the bytes and stops at
the first fault.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Final

from kmirror.errors import CorruptBatch
from kmirror.kernel.names import counted
from kmirror.log.epochs import EpochEntry
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT
from kmirror.logdir.checkpoints import parse_epochs, read_if_present
from kmirror.logdir.faults import FileFault, Tally, fault_of
from kmirror.logdir.mapped import MappedFile, WholeFile, mapped
from kmirror.logdir.partition import PartitionFolder
from kmirror.logdir.segments import SegmentFile
from kmirror.logdir.verify.indexes import NEVER, NO_ROW, OffsetRows, TimeRows
from kmirror.logdir.verify.missing import MissingSegments
from kmirror.logdir.verify.producers import ProducerCheck
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c_function
from kmirror.records.legacy import LegacyBatch, iter_any_batches

_SEGMENT_BYTES_MAX: Final = 2**31 - 1
_RELATIVE_OFFSET_MAX: Final = 2**31 - 1
_PROGRESS_BYTES: Final = 4 * 1024 * 1024
_MAGIC_V2, _OVERHEAD, _LENGTH_MIN = layout.MAGIC_V2, layout.LOG_OVERHEAD, layout.BATCH_LENGTH_MIN
_ATTRIBUTES_AT, _TRANSACTIONAL = layout.ATTRIBUTES_AT, layout.TRANSACTIONAL_FLAG
_NONE: Final = iter(list[tuple[int, int]]())
# Without base timestamp, producer epoch and base sequence, which are read only from a producer's last batch.
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
# Attributes of batches with records that need no further check.
_PLAIN_ATTRIBUTES: Final = frozenset(
    codec | append | transactional | horizon
    for codec in Compression
    for append in (0, layout.LOG_APPEND_TIME_FLAG)
    for transactional in (0, layout.TRANSACTIONAL_FLAG)
    for horizon in (0, layout.DELETE_HORIZON_FLAG)
)


class CheckpointEpochs:
    """Leader epochs of the checkpoint, advanced along with the batches.

    The checkpoint may begin above the log start. DeleteRecords truncates it at once, and a kill may come before the new
    log start is persisted. Also, Kafka 2.1 records no epochs at first when the message format of a topic is raised.
    """

    def __init__(self, entries: list[EpochEntry]) -> None:
        self._remaining = list(reversed(entries))
        self.first = entries[0] if entries else None
        self.current = -1
        self.next_start = 0
        self.advance(-1)

    def advance(self, offset: int) -> None:
        """Advance to the entry that contains `offset`."""
        while self._remaining and self._remaining[-1].start_offset <= offset:
            self.current = self._remaining.pop().epoch
        self.next_start = self._remaining[-1].start_offset if self._remaining else NEVER


class LogWalk:
    """One pass over the segments of a partition; `tally` receives each fault.

    Records are decoded only with `decodes`; wrappers of old formats are also decompressed with `opens_wrappers`.
    Subclasses define how a segment is opened and add further checks.
    """

    def __init__(
        self,
        folder: PartitionFolder,
        tally: Tally,
        *,
        decodes: bool = False,
        opens_wrappers: bool = False,
        producers: ProducerCheck | None = None,
    ) -> None:
        self._folder, self._tally, self._decodes = folder, tally, decodes
        self._opens_wrappers = decodes or opens_wrappers
        self._crc32c = crc32c_function()
        self._missing = MissingSegments(folder, tally)
        self._epochs: CheckpointEpochs | None = None
        self._epoch_entries: list[EpochEntry] = []  # Entries of the checkpoint.
        self._next_offset = 0  # Lowest allowed offset of the next batch.
        self._epoch = -1
        self._epoch_change = NEVER  # Offset from which on the checkpoint has a different epoch.
        # First batch with an epoch if the checkpoint has none: file, position, offset, reason.
        self._unknown_epoch: tuple[Path, int, int, str] | None = None
        self._log = Path()
        self._end_position = 0  # End of the segment's last batch, -1 if the rest was unreadable.
        self._base = 0
        self._limit = NEVER  # The segment ends below this offset,
        self._is_below_limit = True  # and no batch so far exceeds it.
        self._max_timestamp = -1  # Greatest timestamp of the segment so far.
        self._batches_before = tally.batches
        self._producers = producers
        self._positions: dict[int, int] = {} if producers is None else producers.positions
        self._offset_rows: OffsetRows | None = None
        self._time_rows: TimeRows | None = None

    def run(self) -> int:
        """Check the partition and return the log end offset."""
        folder, tally = self._folder, self._tally
        tally.partitions += 1
        self._read_epochs()
        self._next_offset = folder.log_start_offset  # Start of a log without segments.
        if folder.segments:
            self._next_offset = folder.segments[0].base_offset
        self._on_begin()
        self._missing.check_below(self._next_offset, self._epoch_entries)
        ends = [*(segment.base_offset for segment in folder.segments), None][1:]
        for segment, end in zip(folder.segments, ends, strict=True):
            self._check_segment(segment, end)
        if self._unknown_epoch is not None:
            path, position, offset, reason = self._unknown_epoch
            tally.add_fault(path, reason, position, offset)
        self._on_end()
        if self._end_position >= 0:
            self._missing.check_above(self._next_offset, self._epoch_entries)
        return self._next_offset

    # -- hooks of subclasses ------------------------------------------------------------------

    def _on_begin(self) -> None:
        """Prepare for the walk; its first offset is known."""

    def _on_end(self) -> None:
        """Check the log as a whole after all segments."""

    def _open_segment(self, segment: SegmentFile) -> AbstractContextManager[MappedFile | WholeFile]:
        """Return the context manager that opens the segment."""
        return mapped(segment.path)

    def _on_segment(self, segment: SegmentFile, end: int | None) -> None:
        """Prepare for a segment; `end` is the base offset of the next one, None for the last."""

    def _on_file(self, file: MappedFile | WholeFile) -> None:
        """Receive the file with the next batches."""

    def _on_file_end(self, file: MappedFile | WholeFile) -> None:
        """Read remaining data from the file before it is closed."""

    def _on_segment_end(self, segment: SegmentFile, end: int | None, position: int) -> None:
        """Check a segment; its last complete batch ends at byte `position`."""

    def _on_batch(self, batch: Batch) -> None:
        """Check a batch with unusual fields."""

    def _locate_fault(self, error: CorruptBatch, file: MappedFile | WholeFile) -> FileFault:
        """Return a parser's error with its file."""
        return fault_of(error, self._log)

    # -- the checkpoint of leader epochs ------------------------------------------------------

    def _read_epochs(self) -> None:
        path = self._folder.path / LEADER_EPOCH_CHECKPOINT
        data = read_if_present(path)
        if data is None:
            return
        try:
            self._epoch_entries = parse_epochs(data, path)
            self._epochs = CheckpointEpochs(self._epoch_entries)
            self._epoch_change = min(self._epochs.next_start, self._folder.log_start_offset)
        except FileFault as error:
            self._tally.report_error(error)
        if self._folder.is_set_aside and self._epochs is not None and self._epochs.first is None:
            self._epochs = None  # A broker clears the epochs of a log before it deletes it.

    # -- segments -----------------------------------------------------------------------------

    def _check_segment(self, segment: SegmentFile, end: int | None) -> None:
        """Check one segment; `end` is the base offset of the next one."""
        tally, base = self._tally, segment.base_offset
        tally.segments += 1
        if base > self._next_offset and self._end_position >= 0:
            self._missing.check_between(self._log, self._end_position, self._next_offset, base)
        self._log, self._base, self._max_timestamp = segment.path, base, -1
        self._limit, self._is_below_limit = layout.LAST_OFFSET_MAX + 1 if end is None else end, True
        if segment.size > _SEGMENT_BYTES_MAX:
            tally.add_fault(segment.path, f"{segment.size} bytes, more than the {_SEGMENT_BYTES_MAX} of a segment")
        self._on_segment(segment, end)
        self._next_offset = max(self._next_offset, base)
        with self._open_segment(segment) as file:
            self._on_file(file)
            position = self._walk(file)
            self._end_position = position if position == file.size else -1
            self._check_last_offset(file)
            self._on_file_end(file)
            tally.bytes += file.size
        self._on_segment_end(segment, end, position)

    def _walk(self, file: MappedFile | WholeFile) -> int:
        """Check every batch of the segment; return the end of the last complete one."""
        position = reported = 0
        while position < file.size:
            try:
                is_batch = file.size - position >= layout.HEADER_SIZE and file.view[position + layout.MAGIC_AT] == 2
                position = self._check_batches(file, position) if is_batch else self._check_message(file, position)
            except FileFault:
                raise  # The tally stops at the first fault.
            except CorruptBatch as error:
                self._tally.report_error(self._locate_fault(error, file))
                position = self._after_fault(file, error)
                if position < 0:
                    position = error.position or 0
                    break
            if position - reported >= _PROGRESS_BYTES:
                self._tally.progress(position - reported)
                file.release_before(position)
                reported = position
        self._tally.progress(file.size - reported)
        return position

    def _after_fault(self, file: MappedFile | WholeFile, error: CorruptBatch) -> int:
        """Return the position after a faulty batch, -1 if unknown."""
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

    def _check_batches(self, file: MappedFile | WholeFile, position: int) -> int:
        """Check batches from `position` on, until the next progress report is due; return the position reached.

        This is the hot loop, so it keeps its state in local variables and calls functions only for unusual batches.
        """
        view, size, stop = file.view, file.size, min(file.size - layout.HEADER_SIZE + 1, position + _PROGRESS_BYTES)
        file.prefetch(position)
        unpack, crc32c, plain, positions = _FIELDS.unpack_from, self._crc32c, _PLAIN_ATTRIBUTES, self._positions
        next_offset, current, max_timestamp, count = self._next_offset, self._epoch, self._max_timestamp, 0
        special, above, rows, times = self._next_special_offset(), self._base + 1, self._offset_rows, self._time_rows
        more_rows, (due_offset, due_position) = (_NONE, NO_ROW) if rows is None else (rows.remaining, rows.due)
        more_times, (due_timestamp, due_time) = (_NONE, NO_ROW) if times is None else (times.remaining, times.due)
        try:
            while position < stop:
                head = unpack(view, position)
                base, length, epoch, magic, crc, attributes, delta, timestamp, producer_id, records = head
                end = position + _OVERHEAD + length
                if magic != _MAGIC_V2:
                    break
                if length < _LENGTH_MIN or end > size:
                    Batch(view, position)  # Raises the error.
                if crc32c(view[position + _ATTRIBUTES_AT : end]) != crc:
                    Batch(view, position).verify_crc()
                if (
                    base != next_offset
                    or records - delta != 1
                    or epoch != current
                    or base >= special
                    or attributes not in plain
                ):
                    self._next_offset = next_offset
                    self._check_unusual(Batch(view, position))
                    current, special = self._epoch, self._next_special_offset()
                    next_offset = base + delta + 1
                else:
                    next_offset = base + records
                    if producer_id >= 0:
                        positions[producer_id] = position
                        if attributes & _TRANSACTIONAL and self._producers is not None:
                            self._producers.on_transactional(producer_id, base)
                relative = next_offset - above
                if position >= due_position:
                    if position == due_position and relative == due_offset:
                        due_offset, due_position = next(more_rows, NO_ROW)
                        if due_offset < 0 and rows is not None:
                            due_offset, due_position = rows.skip_to((due_offset, due_position))
                    elif rows is not None:
                        rows.due = due_offset, due_position
                        rows.on_batch(position, next_offset - 1)
                        due_offset, due_position = rows.due
                if timestamp > max_timestamp:
                    max_timestamp = timestamp
                    # No correct earlier row can have that timestamp.
                    if timestamp == due_timestamp and relative >= due_time:
                        due_timestamp, due_time = next(more_times, NO_ROW)
                if relative >= due_time and times is not None:
                    times.due = due_timestamp, due_time
                    times.on_batch(next_offset - 1, timestamp, max_timestamp)
                    due_timestamp, due_time = times.due
                count += 1
                position = end
        finally:
            self._next_offset, self._max_timestamp = next_offset, max_timestamp
            self._tally.batches += count
            if rows is not None:
                rows.due = due_offset, due_position
            if times is not None:
                times.due = due_timestamp, due_time
        return position

    def _next_special_offset(self) -> int:
        """Return the offset from which on even a plain batch needs a further check."""
        if self._decodes:
            return -1
        return self._epoch_change if self._producers is None else min(self._epoch_change, self._producers.next_snapshot)

    def _check_indexes(self, position: int, last_offset: int, timestamp: int, max_timestamp: int) -> None:
        rows, times = self._offset_rows, self._time_rows
        if rows is not None and position >= rows.due[1]:
            rows.on_batch(position, last_offset)
        if times is not None and last_offset - self._base >= times.due[1]:
            times.on_batch(last_offset, timestamp, max_timestamp)

    def _check_message(self, file: MappedFile | WholeFile, position: int) -> int:
        """Check a message of format 0 or 1, or raise the error in the bytes; return the position after it."""
        batch = next(iter_any_batches(file.view, position=position, check_crc=True))
        assert isinstance(batch, LegacyBatch), "a batch is not looked at here"
        if self._opens_wrappers and batch.compression is not Compression.NONE:
            self._check_wrapper(batch)
        else:
            if batch.last_offset < self._next_offset:
                self._out_of_order(batch.last_offset, position)
            if self._decodes:
                next(batch.messages())
        self._check_last(batch.last_offset, batch.last_offset, position)
        if self._epochs is not None and self._epochs.first is None:
            self._epochs = self._unknown_epoch = None  # A broker that appends such a message clears all earlier epochs.
        elif self._epochs is not None and self._folder.clean_shutdown:
            # After a kill the checkpoint may be behind the log.
            self._epochs.advance(batch.last_offset)
            known = self._epochs.current
            if known >= 0:
                reason = f"a message of format {batch.magic} has no epoch, but {LEADER_EPOCH_CHECKPOINT} says {known}"
                self._tally.add_fault(self._log, reason, position, batch.last_offset)
        self._max_timestamp = max(self._max_timestamp, batch.max_timestamp)
        self._check_indexes(position, batch.last_offset, batch.max_timestamp, self._max_timestamp)
        self._next_offset = batch.next_offset
        self._tally.batches += 1
        return position + batch.size_in_bytes

    def _check_wrapper(self, wrapper: LegacyBatch) -> None:
        """Check the offsets inside a wrapper; raises `CorruptBatch` if it cannot be decompressed.

        The first one may be below the log's first segment: a replica that began inside a wrapper has all of it.
        """
        offsets = [message.offset for message in wrapper.messages()]
        first, last, wrapper_offset = offsets[0], offsets[-1], wrapper.last_offset
        is_first = self._tally.batches == self._batches_before
        reason = None
        if last != wrapper_offset:
            reason = f"the wrapper has offset {wrapper_offset}, but its last message has {last}"
        elif any(after <= before for before, after in pairwise(offsets)):
            reason = f"the offsets inside the wrapper do not ascend: {offsets}"
        elif (wrapper_offset if is_first else first) < self._next_offset:
            reason = f"the wrapper begins with offset {first}: {self._too_low_reason()}"
        if reason is not None:
            self._tally.add_fault(self._log, reason, wrapper.position, wrapper_offset)

    # -- unusual batches ----------------------------------------------------------------------

    def _check_unusual(self, batch: Batch) -> None:
        """Check a batch that does not directly follow the previous one or has unusual fields."""
        base, last = batch.base_offset, batch.last_offset
        if base < self._next_offset:
            self._out_of_order(base, batch.position)
        elif base > self._next_offset and self._producers is not None:
            self._producers.has_gaps = True
        if last < base:
            self._fault(batch, f"the last offset delta is {batch.last_offset_delta}")
        else:
            self._check_last(last, base, batch.position)
        if batch.record_count != batch.last_offset_delta + 1:
            if self._producers is not None:
                self._producers.has_gaps = True
            if not 0 <= batch.record_count <= batch.last_offset_delta + 1:
                self._fault(
                    batch,
                    f"{counted(batch.record_count, 'record')} in {counted(batch.last_offset_delta + 1, 'offset')}",
                )
        if batch.attributes & layout.COMPRESSION_MASK > Compression.ZSTD:
            self._report_attributes(batch)
        self._check_epoch(batch)
        self._on_batch(batch)
        if self._decodes:
            batch.check_framing()

    def _check_epoch(self, batch: Batch) -> None:
        epoch, start, epochs = batch.partition_leader_epoch, self._folder.log_start_offset, self._epochs
        if epoch < self._epoch:
            self._fault(batch, f"the leader epoch is {epoch}, after {self._epoch}")
        elif epochs is not None:
            # The checkpoint is truncated at the log start, which may be inside a batch.
            is_below = batch.last_offset < start
            epochs.advance(batch.base_offset if is_below else max(batch.base_offset, start))
            self._epoch_change = min(epochs.next_start, start) if is_below else epochs.next_start
            known, first = epochs.current, epochs.first
            reason = f"the leader epoch is {epoch}, but {LEADER_EPOCH_CHECKPOINT} says {known}"
            if known >= 0:
                if known != epoch:
                    self._fault(batch, reason)
            elif epoch >= 0 and not is_below:
                if first is None:
                    self._unknown_epoch = self._unknown_epoch or (self._log, batch.position, batch.base_offset, reason)
                elif epoch > first.epoch:
                    self._fault(batch, reason)
        self._epoch = max(epoch, self._epoch)

    def _report_attributes(self, batch: Batch) -> None:
        self._fault(batch, f"the attributes {batch.attributes:#06x} have unknown bits")

    def _fault(self, batch: Batch, reason: str) -> None:
        self._tally.add_fault(self._log, reason, batch.position, batch.base_offset)

    def _out_of_order(self, offset: int, position: int) -> None:
        self._tally.add_fault(self._log, self._too_low_reason(), position, offset)

    def _too_low_reason(self) -> str:
        if self._next_offset == self._base:
            return f"an offset below the segment's base offset {self._base}"
        return f"an offset that is not above {self._next_offset - 1}, the previous one"

    def _check_last(self, last: int, offset: int, position: int) -> None:
        """Report offset `last`, of the batch at `offset`, if it is too high for this segment."""
        if last - self._base > _RELATIVE_OFFSET_MAX:
            reason = f"an offset more than {_RELATIVE_OFFSET_MAX} above the segment's base offset {self._base}"
            self._tally.add_fault(self._log, reason, position, last)
        elif last >= self._limit and self._is_below_limit:
            self._report_beyond_end(last, offset, position)

    def _report_beyond_end(self, last: int, offset: int, position: int) -> None:
        self._is_below_limit = False
        reason = f"the next one begins with {self._limit}"
        if self._limit > layout.LAST_OFFSET_MAX:
            reason = f"the greatest possible offset is {layout.LAST_OFFSET_MAX}"
        self._tally.add_fault(self._log, f"the segment continues to offset {last}, but {reason}", position, offset)

    def _check_last_offset(self, file: MappedFile | WholeFile) -> None:
        """Find a batch that directly follows the previous one but exceeds the segment's end."""
        if self._next_offset <= self._limit or not self._is_below_limit:
            return
        try:
            for batch in iter_any_batches(file.view):
                last = batch.last_offset
                if last >= self._limit:
                    self._report_beyond_end(
                        last, last if isinstance(batch, LegacyBatch) else batch.base_offset, batch.position
                    )
                    return
        except FileFault:
            raise
        except CorruptBatch:
            pass  # The walk has reported it; if no batch here exceeds the end, one of the previous segment did.
