"""For any appends, truncations, advances and reopenings: the log agrees with a plain model of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kmirror.log.log_state import LogState
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.producer_files import snapshot_offsets
from kmirror.log.store import HIGH_WATERMARK, LOG_START_OFFSET, RECOVERY_POINT, PartitionStore
from kmirror.logdir.store import FileStore, LogFolder
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.layout import SEQUENCE_MAX, add_to_sequence
from tests.builders import NOW_MS, batch, idempotent, marker, reset
from tests.property.log.model import Kind, Model, ModelBatch
from tests.unit.log.partitions import TP, lead, open_log

PIDS = st.integers(1, 3)
SMALL = st.integers(0, 4)
FAR = st.integers(0, 60)


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.epoch = 0
        self.model.tables[0] = {}

    @initialize(segment_bytes=st.sampled_from([200, 400, 1 << 20]), interval=st.sampled_from([0, 150, 4096]))
    def start(self, segment_bytes: int, interval: int) -> None:
        self.log = open_log(self.reopened_store(None), segment_bytes=segment_bytes, index_interval_bytes=interval)
        self.watch_marks()

    def watch_marks(self) -> None:
        self.unsaved: dict[LogState, None] = {}
        self.log.track_unsaved(self.unsaved)

    def reopened_store(self, store: PartitionStore | None) -> PartitionStore:
        """Return the store after the end of the process that used it; None for the first one."""
        return MemoryStore() if store is None else store

    # As a leader

    def note(self, data: bytes, **fields: object) -> None:
        """Add a batch to the model that the log has just appended."""
        stored = list(self.log.batches(self.model.end))[-1]
        sent = Batch(data)
        assert (stored.crc, stored.view[16:]) == (sent.crc, sent.view[16:]), "only offset and epoch are set"
        assert stored.partition_leader_epoch == self.epoch
        self.model.append(
            ModelBatch(stored.base_offset, stored.last_offset, self.epoch, bytes(stored.view), **fields)  # type: ignore[arg-type]
        )

    @rule(count=st.integers(1, 3))
    def append_plain(self, count: int) -> None:
        data = batch(count)
        lead(self.log, data, epoch=self.epoch)
        self.note(data)

    @rule(pid=PIDS, count=st.integers(1, 3), bump=st.booleans(), txn=st.booleans())
    def append_idempotent(self, pid: int, count: int, bump: bool, txn: bool) -> None:
        known = self.model.table.get(pid)
        opened = known is not None and known.txn_first >= 0
        epoch = 0 if known is None else known.epoch + bump
        if known is None:
            sequence = SEQUENCE_MAX - 3
        elif bump or known.last_sequence < 0:
            sequence = 0
        else:
            sequence = add_to_sequence(known.last_sequence, 1)
        data = idempotent(sequence, count, pid=pid, producer_epoch=epoch, txn=txn or opened)
        info = lead(self.log, data, epoch=self.epoch)
        assert not info.duplicate
        last = add_to_sequence(sequence, count - 1)
        self.note(data, pid=pid, producer_epoch=epoch, last_sequence=last, transactional=txn or opened)
        again = lead(self.log, data, epoch=self.epoch)
        assert again.duplicate and again.first_offset == info.first_offset

    @rule(pid=PIDS, commit=st.booleans(), bump=st.booleans())
    def append_marker(self, pid: int, commit: bool, bump: bool) -> None:
        known = self.model.table.get(pid)
        epoch = (0 if known is None else known.epoch) + bump
        data = marker(pid=pid, commit=commit, producer_epoch=epoch)
        lead(self.log, data, epoch=self.epoch, coordinator=True)
        self.note(data, kind=Kind.COMMIT if commit else Kind.ABORT, pid=pid, producer_epoch=epoch)

    @rule()
    def append_reset(self) -> None:
        data = reset()
        lead(self.log, data, epoch=self.epoch, coordinator=True)
        self.note(data, kind=Kind.RESET)

    @rule(skip=SMALL)
    def become_leader(self, skip: int) -> None:
        self.epoch += 1 + skip
        self.log.assign_epoch_start(self.epoch)
        self.model.assign_epoch(self.epoch, self.model.end)

    # As a follower or a mirror

    @rule(
        gaps=st.lists(st.tuples(SMALL, st.integers(1, 3), st.integers(0, 2)), min_size=1, max_size=6),
        allowed=SMALL,
        torn=st.integers(0, 60),
    )
    def append_replicated(self, gaps: list[tuple[int, int, int]], allowed: int, torn: int) -> None:
        """Append batches with gaps between them and ascending epochs; those above the allowed epoch are left out."""
        end, epoch, data, taken = self.model.end, self.epoch, b"", []
        for gap, count, rise in gaps:
            end, epoch = end + gap, epoch + rise
            one = batch(count, offset=end, epoch=epoch)
            data += one
            if epoch <= self.epoch + allowed and (not taken or taken[-1] is not None):
                taken.append(ModelBatch(end, end + count - 1, epoch, one))
            else:
                taken.append(None)
            end += count
        kept = [one for one in taken if one is not None]
        info = self.log.append_as_mirror(data + batch(1, offset=end)[:torn], source_epoch=self.epoch + allowed)
        assert info.batches == len(kept)
        assert (info.refused_epoch >= 0) == (None in taken)
        for one in kept:
            self.model.append(one)
            self.epoch = max(self.epoch, one.epoch)

    # Watermarks and truncations

    @rule(offset=FAR)
    def move_high_watermark(self, offset: int) -> None:
        self.log.update_high_watermark(offset)
        self.model.set_high_watermark(offset)

    @precondition(lambda self: self.model.high_watermark > self.model.start)
    @rule(data=st.data())
    def advance_start(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.model.start + 1, self.model.high_watermark))
        assert self.log.advance_log_start(offset)
        self.model.advance_start(offset)
        self.model.set_high_watermark(self.model.high_watermark)

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(max(0, self.model.end - 12), self.model.end + 2))
        first_segment = self.log.segment_base_offsets[0]
        before = snapshot_offsets(self.log.store)
        start, end = min(self.model.start, offset), self.model.end_after_cut(offset)
        assert self.log.end_after_cut(offset) == max(start, min(end, self.model.end))
        if self.log.truncate_to(offset):
            if offset < first_segment or end < start:
                self.model.clear(start)
            else:
                self.model.cut(end, before)
        else:
            assert offset >= self.model.end
            self.model.epochs = [(e, s) for e, s in self.model.epochs if s < self.model.end]

    @rule(offset=FAR)
    def truncate_fully(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset)
        self.model.clear(offset)

    @rule(close=st.booleans(), repair=st.booleans())
    def reopen(self, close: bool, repair: bool) -> None:
        if close:
            self.log.close()
        else:
            self.log.write_checkpoints()
        snapshots, bases = snapshot_offsets(self.log.store), self.log.segment_base_offsets
        recovered_from = None
        if repair and not close:
            # The segment with the recovery point is recovered too, and drops the snapshots after its base.
            recovered_from = max((base for base in bases if base <= self.log.recovery_point), default=0)
            snapshots = [offset for offset in snapshots if offset <= recovered_from]
        self.log = PartitionLog.open(
            TP,
            self.reopened_store(self.log.store),
            self.log.config,
            now_ms=NOW_MS,
            repair=repair,
            recovery_point=CLEAN_SHUTDOWN if close else self.log.recovery_point,
        )
        self.watch_marks()
        self.model.epochs = [(e, s) for e, s in self.model.epochs if s < self.model.end]
        if self.log.epochs.entries != self.model.epochs:
            # Segments that were read had an epoch below the log start that a truncation had removed.
            for one in self.model.batches:
                self.model.assign_epoch(one.epoch, one.base)
        self.model.advance_start(self.model.start)
        self.model.reload(snapshots, recovered_from=recovered_from)
        self.model.set_high_watermark(self.model.high_watermark)
        # A log that is opened by its indexes does not know the transactions decided above the high watermark.
        found = self.log.producers.unreplicated
        assert self.model.decided.items() <= found.items()
        assert set(found.values()) <= set(self.model.all_decided().values())
        self.model.decided = dict(found)

    # Invariants

    @invariant()
    def marks_agree(self) -> None:
        log, model = self.log, self.model
        assert (log.log_start_offset, log.log_end_offset) == (model.start, model.end)
        assert log.high_watermark == model.high_watermark
        assert log.last_stable_offset == model.stable()
        assert log.log_start_offset <= log.last_stable_offset <= log.high_watermark <= log.log_end_offset

    @invariant()
    def marks_that_moved_are_told(self) -> None:
        """A log that is not listed as unsaved needs no checkpoint: the store has its offsets."""
        log, stored = self.log, self.log.store.read_file
        if log not in self.unsaved:
            assert (stored(HIGH_WATERMARK), stored(RECOVERY_POINT)) == (
                b"%d" % log.high_watermark,
                b"%d" % log.recovery_point,
            )
            # On a disk there is no line for a log that begins where its first segment does.
            assert int(stored(LOG_START_OFFSET) or log.segment_base_offsets[0]) == log.log_start_offset

    @rule()
    def checkpoint(self) -> None:
        self.log.write_checkpoints()
        assert not self.unsaved

    @rule(at_once=st.booleans())
    def flush(self, at_once: bool) -> None:
        job = None if at_once else self.log.begin_flush(self.log.log_end_offset)
        if at_once:
            self.log.flush()
        elif job is not None:
            job.run()
            self.log.finish_flush(NOW_MS, done=True)

    @invariant()
    def epochs_agree(self) -> None:
        assert self.log.epochs.entries == self.model.epochs
        top = self.model.epochs[-1][0] if self.model.epochs else 0
        for epoch in range(-1, top + 2):
            assert self.log.end_offset_for_epoch(epoch) == self.model.end_of_epoch(epoch)

    @invariant()
    def content_agrees(self) -> None:
        stored = b"".join(bytes(one.view) for one in self.log.batches(0))
        assert stored == b"".join(one.data for one in self.model.batches)
        assert self.log.size_in_bytes == len(stored)
        assert sum(map(self.log.store.size, self.log.store.segments())) == len(stored)

    @invariant()
    def producers_agree(self) -> None:
        found = {
            pid: (entry.producer_epoch, entry.last_sequence, entry.txn_first_offset)
            for pid, entry in self.log.producers.entries.items()
        }
        told = {pid: (one.epoch, one.last_sequence, one.txn_first) for pid, one in self.model.table.items()}
        assert found == told
        opened = {one.txn_first: pid for pid, one in self.model.table.items() if one.txn_first >= 0}
        assert self.log.producers.ongoing == opened
        assert list(self.log.producers.ongoing) == sorted(opened)

    @rule(data=st.data(), max_bytes=st.integers(0, 1000))
    def reads_agree(self, data: st.DataObject, max_bytes: int) -> None:
        offset = data.draw(st.integers(self.model.start, self.model.end))
        end = data.draw(st.integers(offset, self.model.end + 1))
        result = self.log.read(offset, max_bytes=max_bytes, end_offset=end)
        wanted = self.model.read(offset, end)
        got = [bytes(one.view) for one in iter_batches(result.records)]
        assert got == [one.data for one in wanted[: len(got)]]
        assert (got == []) == (wanted == [])
        if got:
            assert result.end_offset == wanted[len(got) - 1].last + 1
            assert len(got) == 1 or len(result.records) <= max_bytes
        if len(got) < len(wanted):
            fits = len(result.records) + len(wanted[len(got)].data) <= max_bytes
            between = range(result.end_offset, wanted[len(got)].base + 1)
            segment_ends = any(base in between for base in self.log.segment_base_offsets)
            assert segment_ends or not fits

    @rule(data=st.data())
    def aborted_agree(self, data: st.DataObject) -> None:
        start = data.draw(st.integers(self.model.start, self.model.end))
        end = data.draw(st.integers(start, self.model.end))
        found = {
            (txn.producer_id, txn.first_offset, txn.last_offset) for txn in self.log.aborted_transactions(start, end)
        }
        told = {row for row in self.model.aborted(start, end) if row[1] >= self.model.start}
        assert told <= found
        aborts = {(one.pid, one.base) for one in self.model.batches if one.kind is Kind.ABORT}
        assert {(pid, last) for pid, _, last in found} <= aborts
        assert all(last >= start and first < end for _, first, last in found)


def test_the_log_agrees_with_its_model() -> None:
    run_state_machine_as_test(LogMachine, settings=settings(stateful_step_count=40))


class FileLogMachine(LogMachine):
    """The same on disk; a log that is reopened finds only the files."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    def reopened_store(self, store: PartitionStore | None) -> PartitionStore:
        if isinstance(store, FileStore):
            store.close()
        return LogFolder(Path(self.folder.name)).open(TP)

    def teardown(self) -> None:
        self.folder.cleanup()


def test_the_log_agrees_with_its_model_on_disk() -> None:
    run_state_machine_as_test(FileLogMachine, settings=settings(max_examples=10, stateful_step_count=30))
