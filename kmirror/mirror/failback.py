"""Prediction of the records that a failback would remove. Pure: outlines of two logs go in, a cut comes out.

A cluster that mirrors back cuts its log twice. PREPARING cuts above the last mirrored epoch that the other cluster
settled (D11), or above the last epoch up to which the same clusters wrote both logs (D45) if that is lower. The fetches
that follow cut where the logs diverge within their shared epochs (D12), and end at the source's log start, below which
it has no records to mirror. A compacted log is removed as a whole if a cut may lose keys (D63).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass, field, replace

from kmirror.cluster.replication.truncation import truncation_point
from kmirror.kernel.names import few
from kmirror.log.epochs import EndOffset, EpochEntry, LeaderEpochCache
from kmirror.mirror.cut_rules import FROM_SCRATCH, NOTHING_KEPT, cut_offset, has_kept_records, kept_after_cut
from kmirror.mirror.states import MirrorState
from kmirror.records.legacy import AnyBatch


class LogOutline:
    """The properties of a log on which cuts depend: its start, its end, and the starts of its leader epochs."""

    def __init__(self, epochs: Iterable[EpochEntry], log_start_offset: int, log_end_offset: int) -> None:
        self.epochs = LeaderEpochCache(epochs)
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset

    def __repr__(self) -> str:
        return f"LogOutline({self.epochs.entries}, {self.log_start_offset}, {self.log_end_offset})"

    def end_offset_for_epoch(self, epoch: int) -> EndOffset:
        """Return the greatest epoch here that is not above `epoch`, and its end offset; -1 and -1 if unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def below(self, offset: int) -> LogOutline:
        """Return the outline of this log after a cut at `offset`."""
        end = min(offset, self.log_end_offset)
        kept = [entry for entry in self.epochs.entries if entry.start_offset < end]
        return LogOutline(kept, min(self.log_start_offset, end), end)


@dataclass(frozen=True, slots=True)
class FailbackFacts:
    """The facts that decide which records of one partition a failback removes."""

    own_log: LogOutline
    """The destination's log."""
    source_log: LogOutline
    """The source's log."""
    settled_epoch: int | None
    """The last mirrored epoch that the source's mirror of us has settled; None if it has no such mirror."""
    own_epoch: int = FROM_SCRATCH
    """Our own, if we mirrored this very topic from the source before (D31)."""
    shared_epoch: int | None = None
    """The last epoch up to which the same clusters wrote both logs; None if they wrote all epochs (D45)."""
    cleaned_offset: int = 0
    """The offset up to which our log may have been compacted; 0 if it never was (D63)."""
    first_hole: int = -1
    """The first missing offset of our log; -1 if any offset may be missing."""

    @property
    def depends_on_holes(self) -> bool:
        """Whether the cut depends on which offsets are missing in our log."""
        return failback_cut(self) != failback_cut(replace(self, cleaned_offset=0))


@dataclass(frozen=True, slots=True)
class FailbackWait:
    """The failback does not begin with this partition yet, and removes nothing from it so far."""

    reason: str
    is_transient: bool = False
    """The wait ends without a user; until then the cut is not known."""
    unless_shared: bool = False
    """It does not wait if only markers would be removed: see `markers_from` (D25)."""


TRANSIENT_STATES = frozenset((MirrorState.STOPPING, MirrorState.UNKNOWN))
"""States of the source's mirror of us that end without a user."""


def waits_for_source(state: MirrorState, last_mirrored_epoch: int, own_log: LogOutline) -> FailbackWait | None:
    """Return why PREPARING waits, given a partition's state in the source's mirror of us; None if it does not wait."""
    if state in TRANSIENT_STATES:
        return FailbackWait(
            f"the source's mirror of it from here is not STOPPED yet ({state.name}): try again", is_transient=True
        )
    if state is not MirrorState.STOPPED:
        return FailbackWait(f"the source still mirrors it from here ({state.name}): fail over there first")
    if last_mirrored_epoch < 0 and own_log.log_end_offset > own_log.log_start_offset:
        return FailbackWait(
            "the source's mirror was stopped before it mirrored anything, or its state was lost, so ours may be the "
            "only copy",
            unless_shared=True,
        )
    return None


def markers_from(facts: FailbackFacts) -> int | None:
    """Return the offset from which on our log must have only markers for the failback to begin (D25).

    None if the failback waits in any case.
    """
    own_log, source_log, epoch = facts.own_log, facts.source_log, facts.own_epoch
    kept = kept_after_cut(own_log, epoch if facts.shared_epoch is None else min(epoch, facts.shared_epoch))
    if kept == NOTHING_KEPT:
        return None
    source_end = source_log.end_offset_for_epoch(kept.epoch)
    has_source_records = kept.end_offset <= own_log.log_start_offset or has_kept_records(
        kept, source_end, source_log.log_start_offset
    )
    return max(kept.end_offset, own_log.log_start_offset) if has_source_records else None


@dataclass(frozen=True, slots=True)
class Cut:
    """The removed ranges: everything from `offset` on, and everything below `start`."""

    offset: int
    """Where the logs diverge; a batch of ours that contains this offset is removed as a whole."""
    start: int
    """The log start offset afterwards."""
    reason: str
    """Empty if nothing is cut."""


def failback_cut(facts: FailbackFacts) -> Cut:
    """Return the ranges that a failback with these facts removes."""
    end, start = facts.own_log.log_end_offset, facts.own_log.log_start_offset
    log, reason = _after_prepare(facts)
    while True:
        if start < log.log_end_offset < min(facts.cleaned_offset, end) and facts.first_hole < log.log_end_offset:
            return Cut(start, start, f"{reason}, and the cleaner has passed that: everything is copied again")
        if log.log_end_offset <= log.log_start_offset:
            break
        next_log, next_reason = _cut_by_fetch(log, facts.source_log)
        if next_log is None:
            break
        log, reason = next_log, next_reason
    if log.log_end_offset >= end:
        return Cut(end, min(max(start, facts.source_log.log_start_offset), end), "")
    if log.log_end_offset <= start:
        return Cut(start, start, reason)
    return Cut(log.log_end_offset, min(max(start, facts.source_log.log_start_offset), log.log_end_offset), reason)


def _after_prepare(facts: FailbackFacts) -> tuple[LogOutline, str]:
    """Return our log as PREPARING leaves it, and why."""
    own_log = facts.own_log
    settled = facts.own_epoch if facts.settled_epoch is None else max(facts.settled_epoch, facts.own_epoch)
    epoch = settled if facts.shared_epoch is None else min(settled, facts.shared_epoch)
    if epoch < 0:
        known = settled >= 0
        reason = "the two logs have no leader epoch in common" if known else "the source knows nothing of this log"
        return own_log.below(0), f"{reason}, so it is mirrored from scratch"
    offset = cut_offset(own_log, epoch)
    boundary = "the last mirrored epoch" if epoch == settled else "the last epoch that the same clusters wrote"
    return own_log.below(offset), f"{boundary}, {epoch}, ends at offset {offset}"


def _cut_by_fetch(own_log: LogOutline, source_log: LogOutline) -> tuple[LogOutline | None, str]:
    """Return our log after the cut that a fetch from its end causes, and why; None if the fetch succeeds."""
    end, last = own_log.log_end_offset, own_log.epochs.latest_epoch()
    if last >= 0:
        epoch, epoch_end = source_log.end_offset_for_epoch(last)
        if epoch >= 0 and (epoch < last or epoch_end < end):
            point = truncation_point(own_log, epoch, epoch_end).offset
            shorter = own_log.below(point)
            if shorter.log_end_offset == end and shorter.epochs.latest_epoch() == last:
                return None, ""  # Another fetch would change nothing.
            return shorter, f"epoch {epoch} ends at offset {epoch_end} at the source"
        if epoch >= 0 and source_log.log_start_offset <= end <= source_log.log_end_offset:
            return None, ""
    if source_log.log_end_offset < end:
        return own_log.below(source_log.log_end_offset), f"the source's log ends at offset {source_log.log_end_offset}"
    if source_log.log_start_offset > end:
        reason = f"the source's log begins at offset {source_log.log_start_offset}, and ours would end at {end}"
        return own_log.below(0), reason
    return None, ""


@dataclass(frozen=True, slots=True)
class RemovedRecord:
    """One record that a failback would remove."""

    offset: int
    timestamp: int
    """Milliseconds since 1970; -1 if it has none."""
    key: bytes | None
    value_size: int | None
    """Bytes of the value; None for a tombstone."""
    is_control: bool
    """It is a marker of a transaction or of a mirror, which consumers never see."""


@dataclass(slots=True)
class Removal:
    """The part of one partition that a failback would remove."""

    offset: int
    """The log end offset afterwards."""
    start: int
    """The log start offset afterwards."""
    reason: str
    full_removal_reason: str = ""
    """Why everything may be removed instead; empty if that cannot happen."""
    batches: int = 0
    size_in_bytes: int = 0
    tombstones: int = 0
    controls: int = 0
    keys: set[bytes] = field(default_factory=set)
    records: list[RemovedRecord] = field(default_factory=list)

    def add(self, batch: AnyBatch) -> None:
        """Count a batch if it is removed: if its last offset reaches the cut, or if it lies below the new log start."""
        is_cut = batch.last_offset >= self.offset
        if not is_cut and batch.last_offset >= self.start:
            return
        if is_cut and batch.base_offset < self.offset:
            self.offset = batch.base_offset
        self.batches += 1
        self.size_in_bytes += len(batch.view)
        control = batch.is_control
        for record in batch.records():
            is_tombstone = record.value is None and not control
            self.controls += control
            self.tombstones += is_tombstone
            if record.key is not None and not control:
                self.keys.add(record.key)
            size = None if record.value is None else len(record.value)
            self.records.append(RemovedRecord(record.offset, record.timestamp, record.key, size, control))


def removal_of(cut: Cut, batches: Iterable[AnyBatch]) -> Removal:
    """Return the part of a log that a cut removes; `batches` are all of its batches, or at least the affected ones."""
    removal = Removal(cut.offset, cut.start, cut.reason)
    for batch in batches:
        removal.add(batch)
    return removal


async def read_removal(cut: Cut, batches: AsyncIterable[AnyBatch]) -> Removal:
    """Return the same as `removal_of`, for batches that are still being read from a broker."""
    removal = Removal(cut.offset, cut.start, cut.reason)
    async for batch in batches:
        removal.add(batch)
    return removal


def no_mirror_message(name: str, known: Iterable[str]) -> str:
    """Return the message for a mirror that neither side of a failback has."""
    return f"neither side has a mirror {name!r}: there are {few(sorted(known), 'mirrors')}"
