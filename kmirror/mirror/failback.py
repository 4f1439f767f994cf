"""What would a failback remove from a log? Pure: the outlines of two logs go in, a cut comes out, nothing is changed.

A cluster that mirrors back cuts its log twice. PREPARING cuts what is above the last mirrored epoch that the other
cluster settled (D11), and not above the epoch up to which the same clusters wrote both logs (D45). The fetches that
follow cut where the logs part within the epochs that they share (D12), and end at the source's log start, below which
it has no records to mirror. Of a compacted log all goes if a cut may lose keys (D63).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass, field, replace

from kmirror.cluster.replication.truncation import cut_for_divergence
from kmirror.kernel.names import few
from kmirror.log.epochs import EndOffset, EpochEntry, LeaderEpochCache
from kmirror.mirror.cut_rules import FROM_SCRATCH, NOTHING_KEPT, cut_offset, has_kept, kept_by
from kmirror.mirror.states import MirrorState
from kmirror.records.legacy import AnyBatch


class LogOutline:
    """The part of a log on which cuts depend: where it begins and ends, and where its leader epochs begin."""

    def __init__(self, epochs: Iterable[EpochEntry], log_start_offset: int, log_end_offset: int) -> None:
        self.epochs = LeaderEpochCache(epochs)
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset

    def __repr__(self) -> str:
        return f"LogOutline({self.epochs.entries}, {self.log_start_offset}, {self.log_end_offset})"

    def end_offset_for_epoch(self, epoch: int) -> EndOffset:
        """Return the greatest epoch here that is not above `epoch`, and where it ends; -1 and -1 if unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def below(self, offset: int) -> LogOutline:
        """Return the outline of this log after a cut at `offset`."""
        end = min(offset, self.log_end_offset)
        kept = [entry for entry in self.epochs.entries if entry.start_offset < end]
        return LogOutline(kept, min(self.log_start_offset, end), end)


@dataclass(frozen=True, slots=True)
class FailbackFacts:
    """What decides what a failback removes from one partition."""

    ours: LogOutline
    """The log that is mirrored into."""
    theirs: LogOutline
    """The log that is mirrored from."""
    told_epoch: int | None
    """The last mirrored epoch that the source's mirror of us has settled; None if it has no such mirror."""
    own_epoch: int = FROM_SCRATCH
    """Our own, if we mirrored this very topic from the source before (D31)."""
    shared_epoch: int | None = None
    """The last epoch up to which the same clusters wrote both logs; None if they did throughout (D45)."""
    cleaned_offset: int = 0
    """How far the cleaner may have been in our log; 0 if it never was there (D63)."""
    first_hole: int = -1
    """The first offset of our log that is in no record; -1 if there may be one anywhere."""

    @property
    def depends_on_holes(self) -> bool:
        """Return whether it matters where offsets are missing in our log."""
        return failback_cut(self) != failback_cut(replace(self, cleaned_offset=0))


@dataclass(frozen=True, slots=True)
class Waits:
    """A failback would not begin with this partition, and remove nothing from it so far."""

    why: str
    passes: bool = False
    """The wait ends without a user; until then it is not known what would go."""
    unless_shared: bool = False
    """It does not wait if nothing but markers would go: from `markers_from` on there may be nothing else (D25)."""


PASSING = frozenset((MirrorState.STOPPING, MirrorState.UNKNOWN))
"""States of the source's mirror of us that end without a user."""


def waits_for_source(state: MirrorState, last_mirrored_epoch: int, ours: LogOutline) -> Waits | None:
    """Return what PREPARING waits for, by what the source's mirror of us says of a partition; None for nothing."""
    if state in PASSING:
        return Waits(f"the source's mirror of it from here is not STOPPED yet ({state.name}): ask again", passes=True)
    if state is not MirrorState.STOPPED:
        return Waits(f"the source still mirrors it from here ({state.name}): fail over there first")
    if last_mirrored_epoch < 0 and ours.log_end_offset > ours.log_start_offset:
        return Waits(
            "the source's mirror was stopped before it mirrored anything, or its state was lost, so here may be the "
            "only copy",
            unless_shared=True,
        )
    return None


def markers_from(facts: FailbackFacts) -> int | None:
    """Return from which offset on our log may have only markers, for a failback not to wait; None if it waits (D25)."""
    ours, theirs, epoch = facts.ours, facts.theirs, facts.own_epoch
    kept = kept_by(ours, epoch if facts.shared_epoch is None else min(epoch, facts.shared_epoch))
    if kept == NOTHING_KEPT:
        return None
    there = theirs.end_offset_for_epoch(kept.epoch)
    is_there = kept.end_offset <= ours.log_start_offset or has_kept(kept, there, theirs.log_start_offset)
    return max(kept.end_offset, ours.log_start_offset) if is_there else None


@dataclass(frozen=True, slots=True)
class Cut:
    """What goes: everything from `offset` on, and everything below `start`."""

    offset: int
    """Where the logs part; a batch of ours that holds this offset goes as a whole."""
    start: int
    """The log start offset afterwards."""
    why: str
    """Empty if nothing is cut."""


def failback_cut(facts: FailbackFacts) -> Cut:
    """Return what a failback with these facts removes."""
    end, start = facts.ours.log_end_offset, facts.ours.log_start_offset
    log, why = _after_prepare(facts)
    while True:
        if start < log.log_end_offset < min(facts.cleaned_offset, end) and facts.first_hole < log.log_end_offset:
            return Cut(start, start, f"{why}, and the cleaner has passed that: all is copied again")
        if log.log_end_offset <= log.log_start_offset:
            break
        further, reason = _parted(log, facts.theirs)
        if further is None:
            break
        log, why = further, reason
    if log.log_end_offset >= end:
        return Cut(end, min(max(start, facts.theirs.log_start_offset), end), "")
    if log.log_end_offset <= start:
        return Cut(start, start, why)
    return Cut(log.log_end_offset, min(max(start, facts.theirs.log_start_offset), log.log_end_offset), why)


def _after_prepare(facts: FailbackFacts) -> tuple[LogOutline, str]:
    """Return our log as PREPARING leaves it, and why."""
    ours = facts.ours
    settled = facts.own_epoch if facts.told_epoch is None else max(facts.told_epoch, facts.own_epoch)
    epoch = settled if facts.shared_epoch is None else min(settled, facts.shared_epoch)
    if epoch < 0:
        known = settled >= 0
        why = "the two logs have no leader epoch in common" if known else "the source knows nothing of this log"
        return ours.below(0), f"{why}, so it is mirrored from scratch"
    offset = cut_offset(ours, epoch)
    what = "the last mirrored epoch" if epoch == settled else "the last epoch that the same clusters wrote"
    return ours.below(offset), f"{what}, {epoch}, ends at offset {offset}"


def _parted(ours: LogOutline, theirs: LogOutline) -> tuple[LogOutline | None, str]:
    """Return our log after the cut that a fetch from its end leads to, and why; None if the fetch is answered."""
    end, last = ours.log_end_offset, ours.epochs.latest_epoch()
    if last >= 0:
        epoch, epoch_end = theirs.end_offset_for_epoch(last)
        if epoch >= 0 and (epoch < last or epoch_end < end):
            to = cut_for_divergence(ours, epoch, epoch_end).offset
            shorter = ours.below(to)
            if shorter.log_end_offset == end and shorter.epochs.latest_epoch() == last:
                return None, ""  # To ask again would change nothing.
            return shorter, f"epoch {epoch} ends at offset {epoch_end} at the source"
        if epoch >= 0 and theirs.log_start_offset <= end <= theirs.log_end_offset:
            return None, ""
    if theirs.log_end_offset < end:
        return ours.below(theirs.log_end_offset), f"the source's log ends at offset {theirs.log_end_offset}"
    if theirs.log_start_offset > end:
        why = f"the source's log begins at offset {theirs.log_start_offset}, and ours would end at {end}"
        return ours.below(0), why
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
    """It is a marker of a transaction or of a mirror, and no consumer is given it."""


@dataclass(slots=True)
class Removed:
    """How much a failback would remove from one partition."""

    offset: int
    """The log end offset afterwards."""
    start: int
    """The log start offset afterwards."""
    why: str
    may_go: str = ""
    """Why everything may go instead; empty if that is known not to happen."""
    batches: int = 0
    size_in_bytes: int = 0
    tombstones: int = 0
    controls: int = 0
    keys: set[bytes] = field(default_factory=set)
    records: list[RemovedRecord] = field(default_factory=list)

    def add(self, batch: AnyBatch) -> None:
        """Count a batch if it goes: in one piece, if it reaches to the cut, or lies below the new log start."""
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


def removed_by(cut: Cut, batches: Iterable[AnyBatch]) -> Removed:
    """Return what a cut takes of a log; `batches` are those of the whole log, or at least all that may go."""
    removed = Removed(cut.offset, cut.start, cut.why)
    for batch in batches:
        removed.add(batch)
    return removed


async def removed_from(cut: Cut, batches: AsyncIterable[AnyBatch]) -> Removed:
    """Return the same for batches that are still to come from a broker."""
    removed = Removed(cut.offset, cut.start, cut.why)
    async for batch in batches:
        removed.add(batch)
    return removed


def no_mirror(name: str, known: Iterable[str]) -> str:
    """Return the message for a mirror that neither side of a failback has."""
    return f"neither side has a mirror {name!r}: there are {few(sorted(known), 'mirrors')}"
