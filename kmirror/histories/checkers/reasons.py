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

from kmirror.histories.account import MISSED, UNAWARE, LogRow, ObservedCut
from kmirror.histories.checkers.elections import UNCLEAN, cause_of_loss, was_restored_by_unclean_leader
from kmirror.histories.checkers.facts import Facts, LogView, Place, RecordState, is_compacted
from kmirror.histories.checkers.ring_links import is_in_a_ring
from kmirror.histories.checkers.sessions import NEVER, NOBODY, MirrorSession
from kmirror.histories.compaction import deleted_keys, tombstones_stay
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
    """A record as it was last observed in a cluster."""

    value: str
    offset: int
    epoch: int
    """-1 if only an acknowledgement is known."""


@dataclass(frozen=True, slots=True)
class Reason:
    decision: str
    lacking: bool = False
    """The source already lacked the record when it was last observed here."""
    source: str = ""
    """Source of a record that was cut or dropped to follow that source's log."""
    ordered: Instant = NEVER
    """Time at which the topic was ordered to follow that cluster."""


def loss_reason(facts: Facts, place: Place, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason for which the cluster may have dropped `record` between two moments, or None."""
    cause = cause_of_loss(facts, place, record.value, record.offset, begin, end)
    if cause:
        return Reason(cause)
    if was_restored_by_unclean_leader(facts, place, record.value, record.offset, end):
        return Reason(UNCLEAN)
    if facts.was_deleted(place, begin - (UNAWARE if record.epoch < 0 else 0), end):
        return Reason(DELETED)
    found = None
    for session in facts.sessions(place):
        if not session.overlaps(begin, end):
            continue
        since, until = max(begin, session.began_at), min(end, session.ended_at)
        if not may_cut(facts, session):
            continue
        reason = (
            _cut_reason(facts, session, record, since, until)
            or _follow_reason(facts, session, record, since, until)
            or _copy_reason(facts, session, record, since, until)
        )
        if reason is not None and (found is None or reason.lacking):
            found = reason
    return found


def _cut_reason(facts: Facts, session: MirrorSession, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason if a cut up to MIRRORING was allowed to remove the record, else None."""
    end = min(end, session.cutting_until)
    if end < begin or not facts.was_reachable(session.destination, session.source, session.began_at, end):
        return None  # A cut by an earlier response of the session follows when that is persisted.
    begin, end = _limit_to_source_topic(facts, session, begin, end)
    if certainly_has(facts, (session.source, session.tp), record, begin, end):
        return None if is_in_shared_part(facts, session, record) else Reason(SCRATCH)
    return Reason(
        ASYNCHRONOUS, lacks_before(facts, (session.source, session.tp), record, begin), session.source, session.began_at
    )


def _follow_reason(facts: Facts, session: MirrorSession, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason if the record was lost because the source dropped it, else None."""
    begin = max(begin, session.mirroring_at)
    source = (session.source, session.tp)
    reachable_since = (
        session.began_at if any(other.overlaps(session.began_at, end) for other in facts.sessions(source)) else begin
    )  # D45
    if end < begin or not facts.was_reachable(session.destination, session.source, reachable_since, end):
        return None
    begin, end = _limit_to_source_topic(facts, session, begin, end)
    if certainly_has(facts, source, record, begin, end):
        return None
    cause = cause_of_loss(facts, source, record.value, record.offset, session.began_at, end)
    if cause:
        return Reason(cause)
    return Reason(ASYNCHRONOUS, lacks_before(facts, source, record, begin), session.source, session.began_at)


def _copy_reason(facts: Facts, session: MirrorSession, record: Record, begin: Instant, end: Instant) -> Reason | None:
    """Return the reason if the record was lost with a log that is copied again, else None.

    Such a log is a compacted one, for the sake of its keys, or one whose state was lost, cut by a leader without a
    state (D8, D68).
    """
    for cut in facts.cuts((session.destination, session.tp)):
        if not (begin <= cut.at <= end and cut.offset <= record.offset < cut.end):
            continue
        if any(may(facts, session, cut) for may in (may_lose_keys, may_miss_deletions, _may_lack_state)):
            return Reason(SCRATCH)
    return None


def _may_lack_state(facts: Facts, session: MirrorSession, cut: ObservedCut) -> bool:
    """Return whether a leader elected since the session began may have found no state of it."""
    place = (session.destination, session.tp)
    elected = any(session.began_at <= election.at <= cut.at for election in facts.elections.get(place, []))
    return elected and facts.account.may_have_lost_states(session.destination, session.began_at, cut.at)


def may_miss_deletions(facts: Facts, session: MirrorSession, cut: ObservedCut) -> bool:
    """Return whether a compacted log was behind for longer than tombstones are kept at the source (D64)."""
    if not is_compacted(facts, (session.destination, session.tp), cut.at):
        return False
    since = cut.at - tombstones_stay(facts.plan, facts.account, session.destination, session.tp.topic, cut.at)
    return not any(since <= at < cut.at for at in _caught_up_times(facts, session))


def keys_missed_by_clocks(facts: Facts, session: MirrorSession) -> list[str]:
    """Return the keys whose tombstones a mirror may lack because clocks differ.

    By its own clock it was not behind for as long as they are kept; by the source's clock they had expired (D64).
    """
    if not facts.clocks_differ_by:
        return []
    moments = [session.mirroring_at, *_caught_up_times(facts, session)]
    behind = max((later - earlier for earlier, later in pairwise(moments)), default=0)
    is_due = behind >= tombstones_stay(facts.plan, facts.account, session.source, session.tp.topic, moments[-1])
    return deleted_keys(facts.account, session.tp.topic) if is_due else []


def _caught_up_times(facts: Facts, session: MirrorSession) -> Iterator[Instant]:
    """Yield the moments at which a mirror's log was observed to end at its source's log end, or above."""
    source = session.source, session.tp
    for view in facts.views.get((session.destination, session.tp), []):
        source_view = facts.view_before(source, view.at) if view.at >= session.mirroring_at else None
        if source_view is not None and view.log.log_end_offset >= source_view.log.log_end_offset:
            yield view.at


def may_lose_keys(facts: Facts, session: MirrorSession, cut: ObservedCut) -> bool:
    """Return whether the source lacked some of the records that were cut from a compacted log (D63).

    The cleaner may have removed older values of the same keys because of them; so the whole log is cut and copied
    again.
    """
    place = (session.destination, session.tp)
    if not is_compacted(facts, place, cut.at):
        return False
    source_view = facts.view_before((session.source, session.tp), cut.at - 1)
    return any(
        source_view is None or source_view.by_offset.get(row.offset) != row for row in cut_rows(facts, place, cut)
    )


def cut_rows(facts: Facts, place: Place, cut: ObservedCut) -> list[LogRow]:
    """Return the records that were last observed in the range of the cut."""
    at = cut.at - 1  # An observation of the same moment came after the cut.
    if cut.reason.endswith(
        MISSED
    ):  # Until the cut the leader serves nothing, so no observation in its epoch shows the records.
        at = min(at, facts.led_since(place, cut.at) - 1)
    view = facts.view_before(place, at)
    return [] if view is None else [row for row in view.log.rows if cut.offset <= row.offset < cut.end]


def _limit_to_source_topic(
    facts: Facts, session: MirrorSession, begin: Instant, end: Instant
) -> tuple[Instant, Instant]:
    """Return the two moments, limited to the time when the source had the topic.

    Records that the topic lacked then may be cut later, too; records that it had may not, regardless of a later topic
    of the same name.
    """
    until = facts.source_until(session)
    return min(begin, until), min(end, until)


def certainly_has(
    facts: Facts, place: Place, record: Record, begin: Instant, end: Instant, *, links: int = CHAIN_MAX
) -> bool:
    """Return whether the cluster had the record, for every reader, at the same offset, all the time.

    It is checked before and after. In between the cluster may have dropped and fetched it again, as a link of a chain,
    or lost it by an election and got it back by another one.
    """
    before, after = facts.view_before(place, begin), facts.view_after(place, end)
    if after is None or not _has_record(after, record):
        return False
    since = begin
    if before is not None and before.has_value(record.value):
        if not _has_record(before, record):
            return False
        since = before.at
    else:  # It was written after the last observation, so the acknowledgement counts.
        ack = facts.first_acks.get((place[0], record.value))
        if ack is None or ack.at > begin:
            return False
        since = ack.sent_at
    if facts.was_deleted(place, since, end) or cause_of_loss(facts, place, record.value, record.offset, since, end):
        return False
    for session in facts.sessions(place):
        if session.began_at <= end and since <= session.cutting_until:
            return False
        follows = session.overlaps(since, end)
        if follows and (
            not links or not certainly_has(facts, (session.source, session.tp), record, since, end, links=links - 1)
        ):
            return False
    return True


def _has_record(view: LogView, record: Record) -> bool:
    return (
        view.record_state(record.value, record.offset) is RecordState.PRESENT
        and view.by_value[record.value].offset == record.offset
    )


def lacks_before(facts: Facts, place: Place, record: Record, begin: Instant) -> bool:
    """Return whether the record was unreadable in the cluster in the last observation before `begin`.

    Records above the high watermark are not visible; the next observation of the same leader shows whether it was one
    of them.
    """
    view = facts.view_before(place, begin)
    if view is not None and view.record_state(record.value, record.offset) is RecordState.OPEN:
        after = facts.view_after(place, view.at + 1)
        if after is not None and after.log.leader_epoch == view.log.leader_epoch:
            view = after
    return view is None or view.record_state(record.value, record.offset) in (RecordState.GONE, RecordState.HIDDEN)


def reverse_sessions(facts: Facts, session: MirrorSession) -> list[MirrorSession]:
    """Return the source's sessions in the mirror of the same name from this cluster, up to the end of `session`."""
    return [
        reverse for reverse in facts.sessions((session.source, session.tp))
        if reverse.source == session.destination and reverse.mirror == session.mirror
        and reverse.began_at <= session.ended_at
        and not _follows_another_cluster(facts, reverse)
    ]  # fmt: skip


def _follows_another_cluster(facts: Facts, reverse: MirrorSession) -> bool:
    """Return whether the mirror pointed to another cluster before: it keeps that one, and reports it (D16, D25)."""
    changes = [p for p in facts.servers_changes if (p.destination, p.mirror) == (reverse.destination, reverse.mirror)]
    names = [
        p.source for p in changes
        if p.at <= reverse.ended_at and p.source != NOBODY
        and not facts.may_have_deleted_mirror(reverse.destination, reverse.mirror, p.at, reverse.began_at)
    ]  # fmt: skip
    return bool(names) and names[0] != reverse.source


def may_cut(facts: Facts, session: MirrorSession) -> bool:
    """Return whether there was a moment at which the source's own mirrors did not forbid the cut (D25, D58).

    A mirror of this cluster forbids it while it runs, and after a stop that settled no epoch. That ends when the mirror
    is deleted at the source, or the topic goes into another mirror there. It forbids nothing while this log is empty,
    or has only records from the source. A cluster that was forbidden to cut all the time could not follow either.
    """
    if is_in_a_ring(facts, session):
        return False
    reverses = reverse_sessions(facts, session)
    until = session.cutting_until
    moments = [
        session.began_at,
        *(m for reverse in reverses for m in (reverse.removed_at, reverse.ended_at) if session.began_at < m <= until),
    ]
    moments += [
        other.began_at
        for other in facts.sessions((session.source, session.tp))
        if session.began_at < other.began_at <= until
    ]
    return any(not any(_forbids(facts, session, reverse, at) for reverse in reverses) for at in moments)


def _forbids(facts: Facts, session: MirrorSession, reverse: MirrorSession, at: Instant) -> bool:
    if reverse.reported_at == NEVER or at < reverse.reported_at:
        return False
    if at < reverse.removed_at:
        return True
    newer = any(
        other.began_at > reverse.began_at and other.began_at <= at for other in reverse_sessions(facts, session)
    )
    if (
        newer
        or reverse.ended_at == NEVER
        or reverse.last_mirror_epoch >= 0
        or _moved_to_another_mirror(facts, reverse, at)
    ):
        return False
    if facts.was_deleted((reverse.destination, reverse.tp), reverse.began_at, at):
        return False
    if facts.is_absent((session.destination, session.tp), session.began_at) or _was_empty(facts, session):
        return False  # An empty log is not the only copy (D25).
    if _has_no_own_records(facts, session):
        return False
    return not facts.may_have_deleted_mirror(reverse.destination, reverse.mirror, reverse.removed_at, session.ended_at)


def _has_no_own_records(facts: Facts, session: MirrorSession) -> bool:
    """Return whether the last session, in the same mirror, settled an epoch, and no client wrote since (D25)."""
    place = (session.destination, session.tp)
    last = max(
        (s for s in facts.sessions(place) if s.ended_at <= session.began_at), key=lambda s: s.ended_at, default=None
    )
    if last is None or (last.mirror, last.source) != (session.mirror, session.source) or last.last_mirror_epoch < 0:
        return False
    view = facts.view_before(place, session.began_at)
    rows_since_stop = (
        [] if view is None else [row for row in view.by_value.values() if row.epoch > last.last_mirror_epoch]
    )
    return not rows_since_stop and not any(
        last.removed_at <= ack.at <= session.cutting_until for ack in facts.acks.get(place, ())
    )


def _was_empty(facts: Facts, session: MirrorSession) -> bool:
    """Return whether the log ended at 0 up to MIRRORING and nothing was cut.

    It was empty from the beginning, like that of a partition that did not exist yet, or retention had removed
    everything.
    """
    place = (session.destination, session.tp)
    ends = [
        row.destination_offset
        for row in facts.states.get(place, [])
        if session.began_at <= row.at <= session.mirroring_at
    ]
    had_records = any(
        view.log.log_end_offset > 0 for view in facts.views.get(place, ()) if view.at <= session.mirroring_at
    ) or any(ack.at <= session.mirroring_at for ack in facts.acks.get(place, ()))
    return (
        (any(ends[:-1]) or (bool(ends) and not had_records))
        and not ends[-1]
        and not any(
            session.began_at <= cut.at <= session.mirroring_at and cut.offset < cut.end for cut in facts.cuts(place)
        )
    )


def _moved_to_another_mirror(facts: Facts, reverse: MirrorSession, until: Instant) -> bool:
    """Return whether the source's topic went into a mirror of another name after `back`, up to `until`.

    It is then not in the requested mirror any more, which has no record of this cluster (D25).
    """
    return any(
        other.mirror != reverse.mirror
        and reverse.began_at < other.began_at <= until
        and reverse.ended_at <= other.reported_at
        for other in facts.sessions((reverse.destination, reverse.tp))
    )


def is_in_shared_part(facts: Facts, session: MirrorSession, record: Record) -> bool:
    """Return whether the source had settled an epoch for this cluster that covers the record: no cut may remove it
    (D32).
    """
    if facts.versions.get(session.source, 1) < 1:
        return False
    reverses = [reverse for reverse in reverse_sessions(facts, session) if reverse.reported_at != NEVER]
    if not reverses or any(reverse.ended_at > session.began_at for reverse in reverses):
        return False
    last = reverses[-1]
    if _moved_to_another_mirror(facts, last, session.cutting_until - 1):
        return False
    view = facts.view_before((session.source, session.tp), session.began_at)
    row = None if view is None else view.by_value.get(record.value)
    if row is None or facts.may_have_deleted_mirror(last.destination, last.mirror, last.removed_at, session.ended_at):
        return False
    if facts.was_deleted((last.destination, last.tp), last.began_at, session.cutting_until):
        return False
    return row.offset == record.offset and record.epoch in (-1, row.epoch) and 0 <= row.epoch <= last.last_mirror_epoch
