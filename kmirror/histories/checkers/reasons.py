"""Valid reasons for which a cluster may lose a record, shared by all checkers.

A record that was committed in a cluster may be lost there for these reasons only:
1. an unclean election (the operator chose availability), if the new leader lacked it when it began to lead, or if the
   new coordinator assigned its producer an epoch twice, so that it was taken for an earlier record; or a loss of the
   site's power, if the first leader afterwards lacked it and had not flushed it (Kafka decides when it flushes);
2. the topic was deleted in this cluster. Its deletion at the source is no reason (D16);
3. the partition was in a mirror and its leader could reach the source. While it cuts, up to MIRRORING, it may drop
   records that the source lacks, and all records if the source never mirrored it; while it follows, it may drop records
   that the source dropped. All of that is the KIP's own rule. A compacted log is dropped as a whole where the source
   lacks some of it (D63);
4. nothing else. Not a stop: it keeps records below the last stable offset (D29), and those that its own session's cuts
   reopened, unless the leader that knew of it is gone (D42). Not a source that never responded (D33), nor one whose
   mirror of this cluster still runs or never copied anything (D25), nor one that this cluster feeds through a chain of
   mirrors (D58), nor a cut from scratch where that mirror had settled an epoch and both had the record (D32).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kmirror.histories.account import MISSED, UNAWARE, CutSeen, LogRow
from kmirror.histories.checkers.elections import UNCLEAN, cause_of_loss, restored_by_unclean_leader
from kmirror.histories.checkers.facts import Facts, Look, Place, Seen, is_compacted
from kmirror.histories.checkers.ring_links import is_in_a_ring
from kmirror.histories.checkers.sessions import NEVER, NOBODY, MirrorSession
from kmirror.histories.survivors import deleted_keys, tombstones_stay
from kmirror.kernel.clock import Instant
from kmirror.kernel.values import value

DELETED = "topic deleted"
SCRATCH = "KIP: from scratch"
ASYNCHRONOUS = "KIP: asynchronous"
MARKERS = "D29"
REOPENED = "D42"
MARKERS_CLEANED = "markers missed by a replica that was away longer than delete.retention.ms"
"""Then it keeps the transaction open, or takes the next marker of the producer for the missing one, as in Kafka."""
CHAIN_MAX = 4
"""Length to which chains are followed back: four clusters have no longer one, including a ring of them."""


@value
class Record:
    """A record as it was last seen in a cluster."""

    value: str
    offset: int
    epoch: int
    """-1 if only an acknowledgement is known."""


@dataclass(frozen=True, slots=True)
class Reason:
    decision: str
    lacking: bool = False
    """The source already lacked the record when it was last seen here."""
    source: str = ""
    """Source of a record that was cut or dropped to follow that source's log."""
    ordered: Instant = NEVER
    """Time at which the topic was ordered to follow that cluster."""


def loss_reason(facts: Facts, place: Place, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason for which the cluster may have dropped `record` between two moments, or None."""
    taken = cause_of_loss(facts, place, record.value, record.offset, begin, end)
    if taken:
        return Reason(taken)
    if restored_by_unclean_leader(facts, place, record.value, record.offset, end):
        return Reason(UNCLEAN)
    if facts.was_deleted(place, begin - (UNAWARE if record.epoch < 0 else 0), end):
        return Reason(DELETED)
    found = None
    for stay in facts.stays(place):
        if not stay.overlaps(begin, end):
            continue
        since, until = max(begin, stay.began), min(end, stay.ended)
        if not may_cut(facts, stay):
            continue
        reason = (
            _why_cut(facts, stay, record, since, until)
            or _why_followed(facts, stay, record, since, until)
            or _why_copied_again(facts, stay, record, since, until)
        )
        if reason is not None and (found is None or reason.lacking):
            found = reason
    return found


def _why_cut(facts: Facts, stay: MirrorSession, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason if a cut up to MIRRORING was allowed to remove the record, else None."""
    end = min(end, stay.cutting_until)
    if end < begin or not facts.reachable(stay.destination, stay.source, stay.began, end):
        return None  # A cut by an earlier response of the stay follows when that is persisted.
    begin, end = _while_the_source_has_it(facts, stay, begin, end)
    if certainly_has(facts, (stay.source, stay.tp), record, begin, end):
        return None if shares(facts, stay, record) else Reason(SCRATCH)
    return Reason(ASYNCHRONOUS, lacks_before(facts, (stay.source, stay.tp), record, begin), stay.source, stay.began)


def _why_followed(facts: Facts, stay: MirrorSession, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason if the record was lost because the source dropped it, else None."""
    begin = max(begin, stay.mirroring)
    source = (stay.source, stay.tp)
    reachable_from = stay.began if any(own.overlaps(stay.began, end) for own in facts.stays(source)) else begin  # D45
    if end < begin or not facts.reachable(stay.destination, stay.source, reachable_from, end):
        return None
    begin, end = _while_the_source_has_it(facts, stay, begin, end)
    if certainly_has(facts, source, record, begin, end):
        return None
    taken = cause_of_loss(facts, source, record.value, record.offset, stay.began, end)
    if taken:
        return Reason(taken)
    return Reason(ASYNCHRONOUS, lacks_before(facts, source, record, begin), stay.source, stay.began)


def _why_copied_again(facts: Facts, stay: MirrorSession, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason if the record was lost with a log that is copied again, else None.

    Such a log is a compacted one, for the sake of its keys, or one whose state was lost, cut by a leader without a
    state (D8, D68).
    """
    for cut in facts.cuts((stay.destination, stay.tp)):
        if not (begin <= cut.at <= end and cut.offset <= record.offset < cut.end):
            continue
        if any(may(facts, stay, cut) for may in (may_lose_keys, may_miss_deletions, _may_lack_its_state)):
            return Reason(SCRATCH)
    return None


def _may_lack_its_state(facts: Facts, stay: MirrorSession, cut: CutSeen) -> bool:
    """Return whether a leader elected since the session began may have found no state of it."""
    place = (stay.destination, stay.tp)
    elected = any(stay.began <= election.at <= cut.at for election in facts.elections.get(place, []))
    return elected and facts.account.unwritable_states_warning(stay.destination, stay.began, cut.at)


def may_miss_deletions(facts: Facts, stay: MirrorSession, cut: CutSeen) -> bool:
    """Return whether a compacted log was behind for longer than tombstones stay at the source (D64)."""
    if not is_compacted(facts, (stay.destination, stay.tp), cut.at):
        return False
    since = cut.at - tombstones_stay(facts.plan, facts.account, stay.destination, stay.tp.topic, cut.at)
    return not any(since <= at < cut.at for at in _in_step(facts, stay))


def missed_by_clocks(facts: Facts, stay: MirrorSession) -> list[str]:
    """Return the keys whose tombstones a mirror may lack because clocks differ.

    By its own clock it was not behind for as long as they stay; by the source's clock they had expired (D64).
    """
    if not facts.clocks_differ_by:
        return []
    moments = [stay.mirroring, *_in_step(facts, stay)]
    behind = max((later - earlier for earlier, later in pairwise(moments)), default=0)
    is_due = behind >= tombstones_stay(facts.plan, facts.account, stay.source, stay.tp.topic, moments[-1])
    return deleted_keys(facts.account, stay.tp.topic) if is_due else []


def _in_step(facts: Facts, stay: MirrorSession) -> Iterator[Instant]:
    """Yield the moments at which a mirror was seen to end at its source's log end, or above."""
    source = stay.source, stay.tp
    for look in facts.looks.get((stay.destination, stay.tp), []):
        theirs = facts.look_before(source, look.at) if look.at >= stay.mirroring else None
        if theirs is not None and look.log.log_end_offset >= theirs.log.log_end_offset:
            yield look.at


def may_lose_keys(facts: Facts, stay: MirrorSession, cut: CutSeen) -> bool:
    """Return whether the source lacked some of the records that were cut from a compacted log (D63).

    The cleaner may have removed older values of the same keys because of them; so the whole log is cut and copied
    again.
    """
    place = (stay.destination, stay.tp)
    if not is_compacted(facts, place, cut.at):
        return False
    theirs = facts.look_before((stay.source, stay.tp), cut.at - 1)
    return any(theirs is None or theirs.by_offset.get(row.offset) != row for row in cut_rows(facts, place, cut))


def cut_rows(facts: Facts, place: Place, cut: CutSeen) -> list[LogRow]:
    """Return the records that were last seen in the range of the cut."""
    at = cut.at - 1  # A look of the same moment came after the cut.
    if cut.why.endswith(MISSED):  # Until the cut the leader serves nothing, so no look of its epoch shows the records.
        at = min(at, facts.led_since(place, cut.at) - 1)
    look = facts.look_before(place, at)
    return [] if look is None else [row for row in look.log.rows if cut.offset <= row.offset < cut.end]


def _while_the_source_has_it(
    facts: Facts, stay: MirrorSession, begin: Instant, end: Instant
) -> tuple[Instant, Instant]:
    """Return the two moments, limited to the time when the source had the topic.

    Records that the topic lacked then may be cut later, too; records that it had may not, regardless of a later topic
    of the same name.
    """
    until = facts.source_until(stay)
    return min(begin, until), min(end, until)


def certainly_has(
    facts: Facts, place: Place, record: Record, begin: Instant, end: Instant, *, links: int = CHAIN_MAX
) -> bool:
    """Return whether the cluster had the record, for every reader, at the same offset, all the time.

    It is checked before and after. In between the cluster may have dropped and fetched it again, as a link of a chain,
    or lost it by an election and got it back by another one.
    """
    before, after = facts.look_before(place, begin), facts.look_after(place, end)
    if after is None or not _has(after, record):
        return False
    since = begin
    if before is not None and before.holds(record.value):
        if not _has(before, record):
            return False
        since = before.at
    else:  # It was written after the last look, so the acknowledgement counts.
        ack = facts.acked.get((place[0], record.value))
        if ack is None or ack.at > begin:
            return False
        since = ack.sent_at
    if facts.was_deleted(place, since, end) or cause_of_loss(facts, place, record.value, record.offset, since, end):
        return False
    for stay in facts.stays(place):
        if stay.began <= end and since <= stay.cutting_until:
            return False
        follows = stay.overlaps(since, end)
        if follows and (
            not links or not certainly_has(facts, (stay.source, stay.tp), record, since, end, links=links - 1)
        ):
            return False
    return True


def _has(look: Look, record: Record) -> bool:
    return look.seen(record.value, record.offset) is Seen.THERE and look.by_value[record.value].offset == record.offset


def lacks_before(facts: Facts, place: Place, record: Record, begin: Instant) -> bool:
    """Return whether the record was unreadable in the cluster in the last look before `begin`.

    Records above the high watermark are not visible; the next look at the same leader shows whether it was one of them.
    """
    look = facts.look_before(place, begin)
    if look is not None and look.seen(record.value, record.offset) is Seen.OPEN:
        after = facts.look_after(place, look.at + 1)
        if after is not None and after.log.leader_epoch == look.log.leader_epoch:
            look = after
    return look is None or look.seen(record.value, record.offset) in (Seen.GONE, Seen.HIDDEN)


def sessions_back(facts: Facts, stay: MirrorSession) -> list[MirrorSession]:
    """Return the source's stays in the mirror of the same name from this cluster, up to the end of `stay`."""
    return [
        back for back in facts.stays((stay.source, stay.tp))
        if back.source == stay.destination and back.mirror == stay.mirror and back.began <= stay.ended
        and not _belongs_to_another(facts, back)
    ]  # fmt: skip


def _belongs_to_another(facts: Facts, back: MirrorSession) -> bool:
    """Return whether the mirror pointed to another cluster before: it keeps that one, and reports it (D16, D25)."""
    mine = [p for p in facts.pointings if (p.destination, p.mirror) == (back.destination, back.mirror)]
    names = [
        p.to for p in mine
        if p.at <= back.ended and p.to != NOBODY
        and not facts.deleted(back.destination, back.mirror, p.at, back.began)
    ]  # fmt: skip
    return bool(names) and names[0] != back.source


def may_cut(facts: Facts, stay: MirrorSession) -> bool:
    """Return whether there was a moment at which the source's own mirrors did not forbid the cut (D25, D58).

    A mirror of this cluster forbids it while it runs, and after a stop that settled no epoch. That ends when the mirror
    is deleted at the source, or the topic goes into another mirror there. It forbids nothing while this log is empty,
    or has only records from the source. A cluster that was forbidden to cut all the time could not follow either.
    """
    if is_in_a_ring(facts, stay):
        return False
    backs = sessions_back(facts, stay)
    until = stay.cutting_until
    moments = [stay.began, *(m for back in backs for m in (back.removed, back.ended) if stay.began < m <= until)]
    moments += [other.began for other in facts.stays((stay.source, stay.tp)) if stay.began < other.began <= until]
    return any(not any(_forbids(facts, stay, back, at) for back in backs) for at in moments)


def _forbids(facts: Facts, stay: MirrorSession, back: MirrorSession, at: Instant) -> bool:
    if back.seen == NEVER or at < back.seen:
        return False
    if at < back.removed:
        return True
    newer = any(other.began > back.began and other.began <= at for other in sessions_back(facts, stay))
    if newer or back.ended == NEVER or back.last_mirror_epoch >= 0 or _went_to_another_mirror(facts, back, at):
        return False
    if facts.was_deleted((back.destination, back.tp), back.began, at):
        return False
    if facts.is_absent((stay.destination, stay.tp), stay.began) or _was_empty(facts, stay):
        return False  # An empty log is not the only copy (D25).
    if _has_nothing_of_its_own(facts, stay):
        return False
    return not facts.deleted(back.destination, back.mirror, back.removed, stay.ended)


def _has_nothing_of_its_own(facts: Facts, stay: MirrorSession) -> bool:
    """Return whether the last stay, in the same mirror, settled an epoch, and no client wrote since (D25)."""
    place = (stay.destination, stay.tp)
    last = max((s for s in facts.stays(place) if s.ended <= stay.began), key=lambda s: s.ended, default=None)
    if last is None or (last.mirror, last.source) != (stay.mirror, stay.source) or last.last_mirror_epoch < 0:
        return False
    look = facts.look_before(place, stay.began)
    own = [] if look is None else [row for row in look.by_value.values() if row.epoch > last.last_mirror_epoch]
    return not own and not any(last.removed <= ack.at <= stay.cutting_until for ack in facts.acks.get(place, ()))


def _was_empty(facts: Facts, stay: MirrorSession) -> bool:
    """Return whether the log ended at 0 up to MIRRORING and nothing was cut.

    It was empty from the beginning, like that of a partition that did not exist yet, or retention had removed
    everything.
    """
    place = (stay.destination, stay.tp)
    ends = [row.destination_offset for row in facts.states.get(place, []) if stay.began <= row.at <= stay.mirroring]
    had_records = any(
        look.log.log_end_offset > 0 for look in facts.looks.get(place, ()) if look.at <= stay.mirroring
    ) or any(ack.at <= stay.mirroring for ack in facts.acks.get(place, ()))
    return (
        (any(ends[:-1]) or (bool(ends) and not had_records))
        and not ends[-1]
        and not any(stay.began <= cut.at <= stay.mirroring and cut.offset < cut.end for cut in facts.cuts(place))
    )


def _went_to_another_mirror(facts: Facts, back: MirrorSession, until: Instant) -> bool:
    """Return whether the source's topic went into a mirror of another name after `back`, up to `until`.

    It is then not in the requested mirror any more, which has no record of this cluster (D25).
    """
    return any(
        other.mirror != back.mirror and back.began < other.began <= until and back.ended <= other.seen
        for other in facts.stays((back.destination, back.tp))
    )


def shares(facts: Facts, stay: MirrorSession, record: Record) -> bool:
    """Return whether the source had settled an epoch for this cluster that covers the record: no cut may remove it
    (D32).
    """
    if facts.versions.get(stay.source, 1) < 1:
        return False
    backs = [back for back in sessions_back(facts, stay) if back.seen != NEVER]
    if not backs or any(back.ended > stay.began for back in backs):
        return False
    last = backs[-1]
    if _went_to_another_mirror(facts, last, stay.cutting_until - 1):
        return False
    look = facts.look_before((stay.source, stay.tp), stay.began)
    row = None if look is None else look.by_value.get(record.value)
    if row is None or facts.deleted(last.destination, last.mirror, last.removed, stay.ended):
        return False
    if facts.was_deleted((last.destination, last.tp), last.began, stay.cutting_until):
        return False
    return row.offset == record.offset and record.epoch in (-1, row.epoch) and 0 <= row.epoch <= last.last_mirror_epoch
