"""Rules of a log: its state equals the state derived from its batches.

The last stable offset, the open transactions, the producer table and the leader epochs are compared with a model that
reads the batches itself (`log_model.py`). State of batches that the model has not seen is taken from the log when the
model begins, if the remaining batches allow it: producers whose batches are gone, and transactions that began below the
log start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from kmirror.histories.monitors.log_model import NOTHING_OPEN, LogModel, Producer, Run
from kmirror.log.config import LONG_MAX
from kmirror.log.epochs import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EpochEntry
from kmirror.log.partition_log import PartitionLog
from kmirror.log.producer_entry import ProducerEntry

Violations = Iterator[tuple[str, str]]
"""(rule, text) of each broken rule."""


class LogChecker:
    """Judges the state of one log, at each call."""

    def __init__(self, log: PartitionLog, *, has_right_clock: bool = True) -> None:
        self.model = LogModel(log)
        self._has_right_clock = has_right_clock
        self._producer_count = 0
        self._epoch_summary = -1, -1, -1
        """Number of epochs, the last of them, and the log start."""

    def is_current_for(self, log: PartitionLog) -> bool:
        """Return whether the log still begins with everything judged so far; otherwise a new judge is needed."""
        model = self.model
        if log is model.log and log.producers is model.table and log.segments.end_offset == model.end:
            return True
        return model.is_current(log)

    def violations(self, now: Callable[[], int], *, begins: bool) -> Violations:
        """Yield the rules that the log violates after the model has read new batches.

        `begins` is true if the observation of the log begins: earlier changes were not observed, so all state is
        compared. `now` returns the time of the broker's clock, in ms.
        """
        model = self.model
        log = model.log
        if model.is_legacy:
            return
        count = len(log.producers.entries)
        is_all = begins or self._producer_count != count
        if begins:
            # By a clock that was ahead, any producer may have expired between two checks.
            yield from _check_initial_state(model, now() if self._has_right_clock else LONG_MAX)
        epochs, before = log.epochs, self._epoch_summary
        self._epoch_summary = len(epochs), epochs.latest_epoch(), log.log_start_offset
        if begins or before != self._epoch_summary:
            yield from _check_epochs(model, epochs.entries)
        elif model.new:
            yield from _check_run(log, model.runs[-1])
            yield from _check_end(log, epochs.latest_epoch(), log.log_end_offset)
        if is_all or model.touched:
            yield from _check_producers(model, now(), is_all=is_all)
        model.forget_decided(log.high_watermark)
        if log.producers.ongoing != model.opened:
            ongoing = dict(log.producers.ongoing)
            yield (
                "transactions",
                f"open transactions are {ongoing} by first offset, but the batches give {model.opened}",
            )
        yield from _check_stable_offset(model, [*model.opened, *model.undecided])
        self._producer_count = count
        model.new, model.touched = [], {}


def _check_stable_offset(model: LogModel, unstable: list[int]) -> Violations:
    """Judge the last stable offset: the first offset of the first transaction whose marker is not replicated."""
    log = model.log
    high_watermark, stable = log.high_watermark, log.last_stable_offset
    if not unstable and stable == high_watermark:
        return
    first = min(unstable, default=high_watermark)
    if first < log.log_start_offset:  # The rest of the transaction counts, from its first whole batch on.
        batch = next(log.batches(log.log_start_offset), None)
        first = log.log_end_offset if batch is None else max(batch.base_offset, log.log_start_offset)
    if stable != min(first, log.high_watermark):
        of = f"high watermark {log.high_watermark}, undecided from {first} on"
        yield "stable", f"last stable offset {stable}, {of}"


# -- producers --------------------------------------------------------------------------------


def _check_initial_state(model: LogModel, now_ms: int) -> Violations:
    """Judge the log's state when the model or the leader begins; state that no batch can show is accepted."""
    log, table = model.log, model.log.producers
    is_cleaned, start = log.cleaned_offset > 0, log.log_start_offset
    # Only the log knows whether a marker above the high watermark was below it before.
    model.undecided = dict(table.unreplicated)
    for producer_id, entry in table.entries.items():
        known = model.producers.get(producer_id)
        if known is None:
            is_gone = not entry.batches or entry.last_data_offset < model.first_offset or is_cleaned
            if not is_gone and not 0 <= entry.txn_first_offset < start:
                yield "producers", f"producer {producer_id} is {_description(entry)}, but it has no batch"
            model.producers[producer_id] = _producer_from(entry)
        elif is_cleaned or known.last_offset < start:
            model.producers[producer_id] = _producer_from(entry)
        else:
            yield from _check_initial_entry(model, producer_id, entry, known, now_ms)
    for producer_id in [name for name in model.producers if name not in table.entries]:
        known = model.producers[producer_id]
        is_forgotten = known.first_offset == NOTHING_OPEN and _is_expired(log, known.last_timestamp, now_ms)
        if is_cleaned or is_forgotten or known.last_offset < start:
            del model.producers[producer_id]
    model.find_open()


def _check_initial_entry(
    model: LogModel, producer_id: int, entry: ProducerEntry, known: Producer, now_ms: int
) -> Violations:
    """Judge one entry when the model begins: a snapshot has only the last batch, and possibly an open transaction."""
    log = model.log
    kept: list[tuple[int, int, int, int]] = list(entry.batches)
    left = [batch for batch in kept if batch[1] >= model.first_offset]
    end = known.batches[len(known.batches) - len(left) :]
    # A snapshot has one timestamp for the producer and its last batch: it may be that of a marker.
    is_end = len(left) <= len(known.batches) and [batch[:3] for batch in left] == [batch[:3] for batch in end]
    lacks_all = not kept and known.batches and known.batches[-1][1] >= log.log_start_offset
    if lacks_all and not _is_expired(log, known.batches[-1][3], now_ms):
        is_end = False
    if is_end:
        known.batches = kept
    began_before = 0 <= entry.txn_first_offset < model.first_offset
    if known.first_offset != NOTHING_OPEN and (began_before or known.first_offset < log.log_start_offset):
        known.first_offset = entry.txn_first_offset
    if not is_end or entry.producer_epoch != known.epoch:
        yield "producers", f"producer {producer_id} is {_description(entry)}, but the batches give {known}"
    known.coordinator_epoch, known.last_timestamp = entry.coordinator_epoch, entry.last_timestamp


def _producer_from(entry: ProducerEntry) -> Producer:
    return Producer(
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.last_timestamp,
        entry.txn_first_offset,
        entry.last_data_offset,
        list(entry.batches),
    )


def _check_producers(model: LogModel, now_ms: int, *, is_all: bool) -> Violations:
    """Judge the entries of the producers that wrote since the last check, or of all."""
    table = model.log.producers.entries
    for producer_id in list(model.producers) if is_all else model.touched:
        known, entry = model.producers.get(producer_id), table.get(producer_id)
        if known is None:
            continue  # A producer reset came after its batches.
        if entry is None:
            if known.first_offset != NOTHING_OPEN or not _is_expired(model.log, known.last_timestamp, now_ms):
                yield "producers", f"producer {producer_id} is unknown, but the batches give {known}"
            del model.producers[producer_id]
            model.find_open()
        elif not _equals(entry, known):
            yield "producers", f"producer {producer_id} is {_description(entry)}, but the batches give {known}"
            model.producers[producer_id] = _producer_from(entry)
            model.find_open()
    if is_all:
        for producer_id in table:
            if producer_id not in model.producers:
                yield "producers", f"producer {producer_id} is {_description(table[producer_id])}, but it has no batch"


def _equals(entry: ProducerEntry, known: Producer) -> bool:
    return (
        entry.producer_epoch == known.epoch
        and entry.coordinator_epoch == known.coordinator_epoch
        and entry.last_timestamp == known.last_timestamp
        and entry.txn_first_offset == known.first_offset
        and entry.batches == known.batches
    )


def _is_expired(log: PartitionLog, last_timestamp: int, now_ms: int) -> bool:
    return now_ms - last_timestamp >= log.config.producer_id_expiration_ms


def _description(entry: ProducerEntry) -> str:
    batches = [tuple(batch) for batch in entry.batches]
    return f"{entry}, coordinator epoch {entry.coordinator_epoch}, at {entry.last_timestamp}, with {batches}"


# -- leader epochs ----------------------------------------------------------------------------


def _check_epochs(model: LogModel, entries: Sequence[EpochEntry]) -> Violations:
    """Judge the leader epochs: they ascend, begin at their first batch, and are found by offset and epoch."""
    log = model.log
    for run in model.runs:
        yield from _check_run(log, run)
    if any(one.epoch >= other.epoch or one.start_offset >= other.start_offset for one, other in pairwise(entries)):
        yield "epoch-order", f"leader epochs {[tuple(entry) for entry in entries]} do not ascend"
        return
    for entry, following in pairwise(entries):
        yield from _check_end(log, entry.epoch, following.start_offset)
        if following.epoch > entry.epoch + 1:  # For an epoch without an entry the log returns the previous one.
            yield from _check_end(log, following.epoch - 1, following.start_offset, floor=entry.epoch)
    if entries:
        last = entries[-1].epoch
        yield from _check_end(log, last, log.log_end_offset)
        yield from _check_end(log, last + 1, UNDEFINED_OFFSET, floor=UNDEFINED_EPOCH)
    yield from _check_starts(model, entries)


def _check_end(log: PartitionLog, epoch: int, end: int, *, floor: int | None = None) -> Violations:
    """Judge the end offset that the log returns for an epoch; `floor` is the epoch returned, if it differs."""
    found, right = log.end_offset_for_epoch(epoch), (epoch if floor is None else floor, end)
    if found != right:
        yield "epoch-end", f"the end of epoch {epoch} is returned as {tuple(found)}, expected {right}"


def _check_run(log: PartitionLog, run: Run) -> Violations:
    if run.last < log.log_start_offset or run.epoch < 0:
        return
    for offset in (max(run.first, log.log_start_offset), run.last):
        epoch = log.epochs.epoch_for_offset(offset)
        if epoch != run.epoch:
            yield "epochs", f"epoch {epoch} at offset {offset}, but its batch has {run.epoch}"
            return


def _check_starts(model: LogModel, entries: Sequence[EpochEntry]) -> Violations:
    """Judge the start of each epoch: its first batch; only the last epoch may have no batches."""
    log = model.log
    if log.cleaned_offset > 0:
        return
    first = {run.epoch: run.first for run in reversed(model.runs)}
    for number, entry in enumerate(entries):
        if number + 1 < len(entries) and entries[number + 1].start_offset <= log.log_start_offset:
            continue
        begins = first.get(entry.epoch, log.log_end_offset if number + 1 == len(entries) else -1)
        if entry.start_offset not in (begins, log.log_start_offset):
            yield "epoch-entry", f"epoch {entry.epoch} begins at {entry.start_offset}, but its batches at {begins}"
