"""Strategies for partition logs that a leader or follower of Kafka could have written.

Offsets and leader epochs ascend, producers' sequences are consecutive, and transactions are ended by markers or stay
open. A log may have gaps between offsets, as the cleaner leaves them, and messages of formats 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import CLEANER_OFFSET
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.control import end_txn_marker
from kmirror.records.layout import add_to_sequence
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from kmirror.testing.strategies.batches import LEGACY_CODECS

NOW_MS = 1_700_000_000_000
LOG_EPOCH_MAX = 1_000
# Small, so that failures shrink fast; `batches.records` covers all contents of a record.
_RECORDS = st.builds(
    RecordData,
    key=st.sampled_from([None, b"key", b"other"]),
    value=st.none() | st.binary(max_size=30),
    headers=st.sampled_from([(), (("name", b"value"),)]),
    timestamp=st.integers(0, 60_000).map(lambda delta_ms: NOW_MS + delta_ms),
    offset=st.none(),
)
_LEGACY = ("legacy",)
_KINDS = ("batch", "batch", "producer", "transaction", "transaction", "marker")


@dataclass(frozen=True, slots=True)
class _Step:
    """The next append: `gap` offsets are left out before it, and the leader epoch rises by `epoch_increment`."""

    kind: str
    records: Sequence[RecordData]
    gap: int
    epoch_increment: int
    codec: Compression
    producer_id: int
    bumps_epoch: bool
    is_commit: bool
    magic: int


@dataclass(slots=True)
class _Producer:
    epoch: int = 0
    next_sequence: int = 0
    is_open: bool = False


@dataclass(slots=True)
class _Writer:
    """The end of a growing log."""

    end: int
    epoch: int = 0
    producers: dict[int, _Producer] = field(default_factory=dict)

    def append(self, step: _Step) -> bytes:
        """Return the bytes that the step appends."""
        first, self.epoch = self.end + step.gap, self.epoch + step.epoch_increment
        self.end = first + len(step.records)
        if step.kind == "legacy":
            return build_message_set(
                [record._replace(headers=()) for record in step.records],
                magic=step.magic,
                base_offset=first,
                compression=step.codec if step.codec in LEGACY_CODECS else Compression.NONE,
            )
        if step.kind == "marker" and self._producer(step).is_open:
            return self._build_marker(step, first)
        if step.kind in ("producer", "transaction"):
            return self._build_produced(step, first)
        return build_batch(step.records, base_offset=first, partition_leader_epoch=self.epoch, compression=step.codec)

    def _producer(self, step: _Step) -> _Producer:
        return self.producers.setdefault(step.producer_id, _Producer())

    def _build_marker(self, step: _Step, first: int) -> bytes:
        producer = self._producer(step)
        producer.is_open = False
        self.end = first + 1
        return end_txn_marker(
            base_offset=first,
            leader_epoch=self.epoch,
            timestamp_ms=NOW_MS,
            producer_id=step.producer_id,
            producer_epoch=producer.epoch,
            commit=step.is_commit,
            coordinator_epoch=0,
        )

    def _build_produced(self, step: _Step, first: int) -> bytes:
        producer = self._producer(step)
        if step.bumps_epoch and not producer.is_open and producer.next_sequence:
            producer.epoch, producer.next_sequence = producer.epoch + 1, 0
        sequence, producer.is_open = producer.next_sequence, producer.is_open or step.kind == "transaction"
        producer.next_sequence = add_to_sequence(sequence, len(step.records))
        return build_batch(
            step.records,
            base_offset=first,
            partition_leader_epoch=self.epoch,
            compression=step.codec,
            producer_id=step.producer_id,
            producer_epoch=producer.epoch,
            base_sequence=sequence,
            is_transactional=producer.is_open,
        )


def log_batches(
    *, base_offset: int = 0, max_size: int = 12, legacy: bool = False, gaps: bool = False
) -> st.SearchStrategy[list[bytes]]:
    """Return a strategy for the batches of a log that begins at `base_offset`; each can be appended after the previous.

    With `legacy`, some are message sets of formats 0 and 1; with `gaps`, some offsets are in no batch.
    """
    steps = st.builds(
        _Step,
        kind=st.sampled_from(_KINDS + (_LEGACY if legacy else ())),
        records=st.lists(_RECORDS, min_size=1, max_size=4),
        gap=st.sampled_from([0, 0, 0, 1, 5] if gaps else [0]),
        epoch_increment=st.sampled_from([0, 0, 0, 1, 2]),
        codec=st.sampled_from(Compression),
        producer_id=st.integers(1, 2),
        bumps_epoch=st.booleans(),
        is_commit=st.booleans(),
        magic=st.integers(0, 1),
    )
    return st.lists(steps, min_size=1, max_size=max_size).map(lambda drawn_steps: _append_all(drawn_steps, base_offset))


def _append_all(steps: Sequence[_Step], base_offset: int) -> list[bytes]:
    writer = _Writer(base_offset)
    return [writer.append(step) for step in steps]


def segments(
    *, base_offset: int = 0, max_size: int = 12, legacy: bool = False, gaps: bool = False
) -> st.SearchStrategy[bytes]:
    """Return a strategy for the bytes of a `.log` file with this base offset."""
    return log_batches(base_offset=base_offset, max_size=max_size, legacy=legacy, gaps=gaps).map(b"".join)


@st.composite
def partition_logs(
    draw: st.DrawFn, *, base_offset: int = 0, max_size: int = 12, legacy: bool = False, gaps: bool = False
) -> MemoryStore:
    """Draw the files of a partition after a clean shutdown: segments, indexes, snapshots, epochs, checkpoints.

    `PartitionLog.open(tp, store, LogConfig(), now_ms=..., recovery_point=CLEAN_SHUTDOWN)` opens it.
    """
    config = LogConfig(
        segment_bytes=draw(st.sampled_from([1 << 20, 400, 200])),
        index_interval_bytes=draw(st.sampled_from([4096, 150, 0])),
    )
    store = MemoryStore()
    log = PartitionLog.open(TopicPartition("drawn", 0), store, config, now_ms=NOW_MS)
    log.truncate_fully_and_start_at(base_offset)
    if gaps:
        store.write_file(CLEANER_OFFSET, b"%d" % base_offset)  # Otherwise a hole between segments means a lost segment.
    for data in draw(log_batches(base_offset=base_offset, max_size=max_size, legacy=legacy, gaps=gaps)):
        log.append_as_follower(data, max_epoch=LOG_EPOCH_MAX)
    log.update_high_watermark(log.log_end_offset)
    log.close()
    return store
