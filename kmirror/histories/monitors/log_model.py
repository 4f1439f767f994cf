"""`LogModel`: producers, transactions and leader epochs of a log, derived from its batches.

It reads the bytes itself, each batch once, up to the log end. A log that was cut or replaced gets a new model, which
knows only those earlier batches that are still in the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.log.partition_log import PartitionLog
from kmirror.log.producers import ProducerStates
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType

BATCHES_MAX = 5
NOTHING_OPEN = -1
_unpack = layout.HEADER.unpack_from


class Written(NamedTuple):
    """A batch that was read."""

    base_offset: int
    last_offset: int
    epoch: int
    crc: int
    segment: int
    position: int


@dataclass(slots=True)
class Producer:
    """State of a producer derived from its batches; at most the last five of its current epoch."""

    epoch: int = layout.NO_PRODUCER_EPOCH
    coordinator_epoch: int = -1
    last_timestamp: int = layout.NO_TIMESTAMP
    first_offset: int = NOTHING_OPEN
    """First offset of its open transaction."""
    last_offset: int = -1
    """Offset of its last batch or marker."""
    batches: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Last sequence number, last offset, number of records less one, and timestamp of each batch."""

    def enter_epoch(self, epoch: int) -> None:
        """Begin another epoch, which has no batches yet."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()


@dataclass(slots=True)
class Run:
    """Adjacent batches of one leader epoch."""

    epoch: int
    first: int
    last: int
    """Base offset of the last batch."""


class LogModel:
    """State derived from the batches of one log."""

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.table: ProducerStates = log.producers
        """Producer table of the log when the model was made; a cut replaces the table."""
        self.first_offset = log.segments[0].base_offset
        """Base offset of the log's first segment at that time."""
        self.end = self.first_offset
        self.is_legacy = False
        """It has messages of an old format, which the model does not read."""
        self.producers: dict[int, Producer] = {}
        self.touched: dict[int, None] = {}
        """Producers of the batches in `new`."""
        self.opened: dict[int, int] = {}
        """First offset of each open transaction to its producer."""
        self.undecided: dict[int, int] = {}
        """First offset of a decided transaction to the offset of the record that decided it."""
        self.runs: list[Run] = []
        self.last: Written | None = None
        self.new: list[Written] = []
        """Batches read since the last check."""
        self.batches = 0
        """Number of batches read."""
        self._segment = self.first_offset
        self._position = 0

    def is_current(self, log: PartitionLog) -> bool:
        """Return whether the log still begins with everything read so far."""
        if log is not self.log or log.producers is not self.table or log.segments.end_offset < self.end:
            return False
        found = log.segments.active
        if found.base_offset != self._segment:
            older = [one for one in log.segments if one.base_offset == self._segment]
            if not older:
                return False
            found = older[0]
        if found.size < self._position:
            return False
        last = self.last
        if last is None or last.segment != self._segment:
            return True
        base_offset, _, _, _, crc, *_ = _unpack(log.store.view(last.segment), last.position)
        return (base_offset, crc) == (last.base_offset, last.crc)

    def read_new_batches(self) -> None:
        """Read the batches that were appended since the last call."""
        segments = self.log.segments
        is_active = segments.active.base_offset == self._segment
        for segment in (segments.active,) if is_active else segments:
            base = segment.base_offset
            if base < self._segment:
                continue
            if base > self._segment:
                self._segment, self._position = base, 0
            if segment.size > self._position:
                self._read(self.log.store.view(base), segment.size)
        self.end = self.log.segments.end_offset

    def _read(self, view: memoryview, size: int) -> None:
        position = self._position
        while position + layout.HEADER_SIZE <= size:
            (
                base,
                length,
                epoch,
                magic,
                crc,
                attributes,
                delta,
                _,
                timestamp,
                producer_id,
                producer_epoch,
                sequence,
                _,
            ) = _unpack(view, position)
            if magic != layout.MAGIC_V2:
                self.is_legacy = True
                break
            last = base + delta
            self.last = Written(base, last, epoch, crc, self._segment, position)
            self.new.append(self.last)
            self.batches += 1
            self._add_run(epoch, base)
            if attributes & layout.CONTROL_FLAG:
                self._add_control(Batch(view, position))
            elif producer_id >= 0:
                first = base if attributes & layout.TRANSACTIONAL_FLAG else NOTHING_OPEN
                self._add_data(producer_id, producer_epoch, sequence, last, delta, timestamp, first)
            position += layout.LOG_OVERHEAD + length
        self._position = position

    def _add_run(self, epoch: int, base: int) -> None:
        if self.runs and self.runs[-1].epoch == epoch:
            self.runs[-1].last = base
        else:
            self.runs.append(Run(epoch, base, base))

    def _add_data(
        self, producer_id: int, epoch: int, sequence: int, last: int, delta: int, timestamp: int, first: int
    ) -> None:
        producer = self._producer(producer_id)
        if producer.first_offset == NOTHING_OPEN and first != NOTHING_OPEN:
            producer.first_offset = first
            self.opened[first] = producer_id
        producer.enter_epoch(epoch)
        last_sequence = layout.NO_SEQUENCE if sequence < 0 else layout.add_to_sequence(sequence, delta)
        producer.batches.append((last_sequence, last, delta, timestamp))
        del producer.batches[:-BATCHES_MAX]
        producer.last_timestamp, producer.last_offset = timestamp, last

    def _add_control(self, batch: Batch) -> None:
        control = batch.control()
        if control is None:
            return
        if control.type is ControlType.MIRROR_PID_RESET:
            self.undecided.update(dict.fromkeys(self.opened, batch.base_offset))
            self.opened.clear()
            self.producers.clear()
        elif control.type in (ControlType.COMMIT, ControlType.ABORT) and batch.producer_id >= 0:
            producer = self._producer(batch.producer_id)
            if producer.first_offset != NOTHING_OPEN:
                self.undecided[producer.first_offset] = batch.base_offset
                del self.opened[producer.first_offset]
                producer.first_offset = NOTHING_OPEN
            producer.enter_epoch(batch.producer_epoch)
            assert control.coordinator_epoch is not None, "a marker has one"
            producer.coordinator_epoch = control.coordinator_epoch
            producer.last_timestamp, producer.last_offset = next(batch.records()).timestamp, batch.base_offset

    def _producer(self, producer_id: int) -> Producer:
        self.touched[producer_id] = None
        return self.producers.setdefault(producer_id, Producer())

    def find_open(self) -> None:
        """Derive the open transactions from the producers again, after a producer was replaced by the log's entry."""
        self.opened = {
            producer.first_offset: producer_id
            for producer_id, producer in self.producers.items()
            if producer.first_offset != NOTHING_OPEN
        }

    def forget_decided(self, high_watermark: int) -> None:
        """Forget the transactions whose markers are replicated."""
        if self.undecided:
            self.undecided = {first: at for first, at in self.undecided.items() if at >= high_watermark}
