"""Checkers of lost records: records that a cluster dropped without a valid reason.

The checkers walk the looks at a log in order of time. A record that is present in one look and missing in the next is a
loss between the two, with a reason (reasons.py) or none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kmirror.histories.account import Ack, LogRow, is_open
from kmirror.histories.checkers.elections import POWER, UNCLEAN, left_open, marker_lost
from kmirror.histories.checkers.facts import Facts, Look, Place, Seen, is_compacted, is_control
from kmirror.histories.checkers.keyed import is_superseded, marker_missed
from kmirror.histories.checkers.reasons import (
    ASYNCHRONOUS,
    DELETED,
    MARKERS,
    MARKERS_CLEANED,
    REOPENED,
    Reason,
    Record,
    loss_reason,
)
from kmirror.histories.checkers.words import Finding, accepted, clock, grouped
from kmirror.histories.survivors import tombstones_stay
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

EXPIRED = "retention"
ASKED = "DeleteRecords"
COMPACTED = "compaction"
MAY_BE_LOST_EVERYWHERE = (REOPENED, DELETED, EXPIRED, ASKED, UNCLEAN, POWER, COMPACTED)
"""Reasons for which a record may be lost everywhere."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A record that was in a log, or readable, and later was not."""

    place: Place
    record: Record
    begin: Instant
    """Time at which it was present; for an acknowledged record that was never seen, when it was sent."""
    end: Instant
    hidden: bool
    """It is still there, as part of an aborted transaction; or a cleaner has removed it as such."""
    reason: Reason | None


@dataclass(slots=True)
class _Known:
    record: Record
    at: Instant
    readable: bool


def losses(facts: Facts) -> list[Loss]:
    """Return every loss of the history, by place and time."""
    return facts.once("losses", lambda: [loss for place in facts.looks for loss in _losses_at(facts, place)])


def _losses_at(facts: Facts, place: Place) -> Iterator[Loss]:
    known: dict[str, _Known] = {}
    acks = facts.acks.get(place, [])
    learned = 0
    for look in facts.looks[place]:
        while learned < len(acks) and acks[learned].at <= look.at:
            _learn_ack(facts, known, acks[learned])
            learned += 1
        for value in list(known):
            yield from _compare(facts, place, known, value, look)
        for row in look.decided():
            known[row.value] = _Known(Record(row.value, row.offset, row.epoch), look.at, readable=True)


def _learn_ack(facts: Facts, known: dict[str, _Known], ack: Ack) -> None:
    """Add an acknowledged record that is committed: outside a transaction, or in one whose commit was answered."""
    transaction = facts.transaction(ack.value)
    if ack.value not in known and (transaction is None or (transaction.asked == "commit" and transaction.answered)):
        known[ack.value] = _Known(Record(ack.value, ack.offset, -1), ack.sent_at, readable=transaction is None)


def _compare(facts: Facts, place: Place, known: dict[str, _Known], value: str, look: Look) -> Iterator[Loss]:
    last = known[value]
    match look.seen(value, last.record.offset):
        case Seen.THERE:
            last.readable = True
            last.at = look.at
        case Seen.UNDECIDED | Seen.OPEN:
            pass
        case Seen.HIDDEN if last.readable:
            yield _loss(facts, place, last, look, hidden=True)
            del known[value]
        case Seen.GONE:
            yield _loss(facts, place, last, look, hidden=False)
            del known[value]


def _loss(facts: Facts, place: Place, last: _Known, look: Look, *, hidden: bool) -> Loss:
    if not hidden and _has_expired(facts, last, look):
        return Loss(place, last.record, last.at, look.at, hidden, Reason(_how(facts, last, look)))
    if not hidden and is_superseded(facts, place, last.record.value, last.record.offset, look.at):
        return Loss(place, last.record, last.at, look.at, hidden, Reason(COMPACTED))
    reason = loss_reason(facts, place, last.record, last.at, look.at)
    # A stop cuts from the first transaction left open by an unclean election, with everything above it.
    is_open_at_a_stop = reason is None and any(
        stay.overlaps(last.at, look.at) and stay.removed <= look.at for stay in facts.stays(place)
    )
    taken = _marker_lost(facts, place, last, look) if hidden or is_open_at_a_stop else ""
    if is_open_at_a_stop and not taken:
        taken = _was_above_what_was_left_open(facts, place, last, look)
    if taken:
        return Loss(place, last.record, last.at, look.at, hidden, Reason(taken))
    if not hidden and reason is None and (taken := _aborted_and_cleaned(facts, place, last, look)):
        return Loss(place, last.record, last.at, look.at, True, Reason(taken))
    if hidden and reason is not None and reason.decision not in (UNCLEAN, POWER, DELETED):
        # A mirror gets its source's markers; a cut hides nothing.
        reason = Reason(MARKERS, reason.lacking) if reason.decision == ASYNCHRONOUS else None
    if hidden and reason is None and _lacks_its_marker(facts, place, last, look):
        reason = Reason(MARKERS_CLEANED)
    if hidden and reason is None and _was_reopened(facts, place, last, look):
        reason = Reason(MARKERS)
    # A cut that the source's own log does not explain may have been this one.
    if not hidden and (reason is None or not reason.lacking) and _was_above_what_was_reopened(facts, place, last, look):
        reason = Reason(REOPENED)
    return Loss(place, last.record, last.at, look.at, hidden, reason)


def _how(facts: Facts, last: _Known, look: Look) -> str:
    return EXPIRED if facts.is_expired(last.record.value, look.at) else ASKED


def _marker_lost(facts: Facts, place: Place, last: _Known, look: Look) -> str:
    """Return the cause, UNCLEAN or POWER, if the marker that made the record readable is lost; else empty."""
    before = facts.look_before(place, last.at)
    row = None if before is None else before.by_value.get(last.record.value)
    if before is None or row is None:
        return ""
    marker = _marker_after(before, row.offset, [row.producer_id])
    return "" if marker is None else marker_lost(facts, place, marker, last.at, look.at)


def _was_above_what_was_left_open(facts: Facts, place: Place, last: _Known, look: Look) -> str:
    """Return the cause, UNCLEAN or POWER, of an open transaction that kept the record unstable; else empty."""
    before = facts.look_before(place, look.at - 1)
    first = None if before is None else before.by_offset.get(before.log.last_stable_offset)
    if first is None or first.offset > last.record.offset:
        return ""
    return left_open(facts, place[1], first, look.at)


def _aborted_and_cleaned(facts: Facts, place: Place, last: _Known, look: Look) -> str:
    """Return the cause, UNCLEAN or POWER, if a lost marker let the record be aborted and cleaned; else empty.

    The new leader has the transaction open. It ends with the next marker of its producer, as in Kafka: if that is an
    abort, a cleaner removes the record, which was committed before.
    """
    offset = last.record.offset
    is_decided = look.log.log_start_offset <= offset < look.log.last_stable_offset and offset not in look.by_offset
    if not is_decided or not is_compacted(facts, place, look.at):
        return ""
    unclean_leader_logs = [(UNCLEAN, heir) for heir in facts.unclean(place, last.at, look.at) if heir is not None]
    unclean_leader_logs += [(POWER, heir) for heir, _ in facts.power_losses(place, last.at, look.at)]
    for taken, heir in unclean_leader_logs:
        row = heir.by_offset.get(offset)
        if row is None or row.value != last.record.value or not last.at <= heir.at <= look.at:
            continue
        if not is_open(heir.log.rows, offset, row.epoch, row.producer_id):
            continue
        if any(heir.at <= cut.at <= look.at and cut.offset <= offset for cut in facts.cuts(place)):
            continue
        marker = _marker_after(look, offset, [row.producer_id])
        is_aborted = marker is not None and marker.value.startswith("<ABORT")
        # The marker itself is removed later, and the first one that is left may belong to a later transaction.
        may_go_at = heir.at + tombstones_stay(facts.plan, facts.account, place[0], place[1].topic, look.at)
        if is_aborted or may_go_at <= look.at:
            return taken
    return ""


def _lacks_its_marker(facts: Facts, place: Place, last: _Known, look: Look) -> bool:
    """Return whether a leader may take another marker for the one that had committed the record.

    The original marker is removed by compaction once the records of its transaction have been superseded.
    """
    write, offset = facts.account.writes.get(last.record.value), last.record.offset
    return (
        write is not None
        and is_superseded(facts, place, last.record.value, offset, look.at)
        and marker_missed(facts, place, write.sent_at, look.at)
    )


def _has_expired(facts: Facts, last: _Known, look: Look) -> bool:
    """Return whether the record was deleted by its age or by an order, here or where the log was mirrored from (D46).

    Then it is below the log start; but an empty log of a mirror begins again at its source's log start.
    """
    if not facts.may_be_deleted(last.record.value, last.record.offset, look.at):
        return False
    place = (look.log.cluster, look.log.tp)
    return last.record.offset < look.log.log_start_offset or any(
        stay.overlaps(last.at, look.at) and not look.log.log_start_offset for stay in facts.stays(place)
    )


def _was_reopened(facts: Facts, place: Place, last: _Known, look: Look) -> bool:
    """Return whether a stop cut the marker of the transaction, so that all of it is aborted (D29).

    Its own marker must be gone, and one of its records as well; or the leader changed, and only the old one knew the
    outcome.
    """
    stops = [s for s in facts.stays(place) if s.overlaps(last.at, look.at) and s.removed <= look.at]
    before = facts.look_before(place, last.at)
    transaction = facts.transaction(last.record.value)
    if not stops or before is None or transaction is None:
        return False
    rows = [row for value in transaction.values if (row := before.by_value.get(value)) is not None]
    producers = dict.fromkeys(row.producer_id for row in rows)
    top = max((row.offset for row in rows), default=-1)
    marker = _marker_after(before, top, producers)
    if marker is None or look.by_offset.get(marker.offset) == marker:
        return False
    tail_lost = any(not look.holds(row.value) for row in rows)
    return tail_lost or any(
        facts.disturbed(place[0], stop.removed, look.at) or _changed_leader(facts, place, stop.removed, look.at)
        for stop in stops
    )


def _was_above_what_was_reopened(facts: Facts, place: Place, last: _Known, look: Look) -> bool:
    """Return whether a stop cut the record with a transaction that a cut of the same session had reopened (D42).

    The transaction began at or before the record, was decided after it, and is gone with it; and the leader that made
    the cut, the only one to know how the transaction had ended, no longer led.
    """
    before, offset = facts.look_before(place, last.at), last.record.offset
    if before is None:
        return False
    for stay in facts.stays(place):
        if not stay.overlaps(last.at, look.at) or not stay.began <= stay.removed <= look.at:
            continue
        if not _changed_leader(facts, place, stay.began, look.at):
            continue
        for row in before.log.rows:
            if row.offset > offset:
                break
            if facts.transaction(row.value) is None or look.holds(row.value):
                continue
            marker = _marker_after(before, row.offset, [row.producer_id])
            if marker is not None and marker.offset > offset:
                return True
    return False


def _marker_after(look: Look, offset: int, producers: Collection[int]) -> LogRow | None:
    """Return the first marker above `offset` of one of the producers; None if there is none."""
    rows = (row for row in look.log.rows if row.offset > offset and is_control(row) and row.producer_id in producers)
    return next(rows, None)


def _changed_leader(facts: Facts, place: Place, begin: Instant, end: Instant) -> bool:
    """Return whether another broker became leader in this time; the first leader is known from looks only."""
    elections = [e for e in facts.elections.get(place, []) if e.at <= end]
    first = facts.look_before(place, elections[0].at - 1) if elections else None
    leaders = [None if first is None else first.log.broker, *(election.leader for election in elections)]
    return any(now.at >= begin and now.leader != before for before, now in zip(leaders, elections, strict=False))


# -- the three checkers ---------------------------------------------------------------------------


def acked_lost(facts: Facts) -> Iterator[Finding]:
    """A record acknowledged with acks=all is gone from, or no longer readable in, the cluster that acknowledged it."""
    rows = [loss for loss in losses(facts) if (loss.place[0], loss.record.value) in facts.acked]
    yield from accepted((loss.reason.decision, *loss.place) for loss in rows if loss.reason is not None)
    unexcused = [loss for loss in rows if loss.reason is None]
    yield from grouped(
        "acked-lost",
        unexcused,
        lambda loss, many: f"{many} acknowledged at {loss.place[0]} {loss_text(loss)}{_came_back(facts, loss)}",
    )


def mirrored_lost(facts: Facts) -> Iterator[Finding]:
    """A mirrored record that was decided below the last stable offset is gone, or no longer readable."""
    rows = [loss for loss in losses(facts) if facts.written_at(loss.record.value) not in ("", loss.place[0])]
    yield from accepted(
        (loss.reason.decision, *loss.place) for loss in rows
        if loss.reason is not None and loss.reason.decision in (MARKERS, REOPENED, UNCLEAN, POWER)
    )  # fmt: skip
    unexcused = [loss for loss in rows if loss.reason is None]
    yield from grouped(
        "mirrored-lost",
        unexcused,
        lambda loss, many: f"{many} mirrored to {loss.place[0]} {loss_text(loss)}{_came_back(facts, loss)}",
    )


def last_copy_lost(facts: Facts) -> Iterator[Finding]:
    """A record that two clusters had at an order is in no cluster at the end, although one of them should have kept it.

    It is no fault by itself that a cluster follows a source that lacks a record. So of all clusters that had it, one
    must have dropped it without a reason, or each because another one still had it or dropped it later. An operator who
    orders a cluster to follow one that has already dropped the record gives it up. The same holds for an operator who
    stops the mirror of a cluster that has dropped the record for its source's log and not copied that yet, or has not
    copied the record: its own mirrors follow, also one that was ordered before and waited for this stop (D58).
    """
    fates: dict[tuple[TopicPartition, str], list[Loss]] = {}
    for loss in losses(facts):
        if not loss.hidden:
            fates.setdefault((loss.place[1], loss.record.value), []).append(loss)
    gone: list[Loss] = []
    for (tp, value), rows in fates.items():
        if len(dict.fromkeys(loss.place[0] for loss in rows)) < 2 or _is_left(facts, tp, value, rows[-1].record.offset):
            continue
        if not _had_two(facts, tp, value):
            continue
        reasons = [loss.reason for loss in rows]
        if any(reason is not None and reason.decision in MAY_BE_LOST_EVERYWHERE for reason in reasons):
            continue
        dropped = {loss.place: loss.end for loss in rows}
        followed = [loss for loss in rows if loss.reason is not None and loss.reason.lacking]
        given_up = any(_was_given_up_by_operator(facts, loss, dropped) for loss in followed)
        if None in reasons or not (given_up or any(_was_stopped_without(facts, loss) for loss in rows)):
            gone.append(max(rows, key=lambda loss: loss.end))
    yield from grouped(
        "last-copy-lost",
        gone,
        lambda loss, many: f"{many} that two clusters had, but no copy is left since {loss.place[0]} {loss_text(loss)}",
    )


def _was_given_up_by_operator(facts: Facts, loss: Loss, dropped: Mapping[Place, Instant]) -> bool:
    """Return whether an operator let the cluster follow one that had already dropped the record."""
    reason, tp = loss.reason, loss.place[1]
    assert reason is not None, "it followed"
    source = reason.source, tp
    gone_at = dropped.get(source, 0)
    return reason.ordered >= gone_at or any(
        stay.began <= gone_at <= stay.removed <= loss.end for stay in facts.stays(source)
    )


def _was_stopped_without(facts: Facts, loss: Loss) -> bool:
    """Return whether the cluster followed another one whose own mirror was stopped before that had the record.

    The other cluster may also have had it undecided: a stop cuts that (D29).
    """
    reason, source = loss.reason, (loss.reason.source if loss.reason else "", loss.place[1])
    return reason is not None and any(
        reason.ordered <= stay.removed <= loss.end
        and ((look := facts.look_before(source, stay.removed)) is None or not _has(look, loss.record))
        for stay in facts.stays(source)
    )


def _has(look: Look, record: Record) -> bool:
    return look.seen(record.value, record.offset) is Seen.THERE


def _is_left(facts: Facts, tp: TopicPartition, value: str, offset: int) -> bool:
    finals = [facts.final(place) for place in facts.looks if place[1] == tp]
    return any(look is None or look.seen(value, offset) is not Seen.GONE for look in finals)


def _had_two(facts: Facts, tp: TopicPartition, value: str) -> bool:
    """Return whether two clusters had the record, for every reader, at the moment of one order."""
    places = [place for place in facts.looks if place[1] == tp]
    for order in facts.orders("add", "remove"):
        looks = [facts.look_before(place, order.sent_at) for place in places]
        if sum(look is not None and look.seen(value, -1) is Seen.THERE for look in looks) >= 2:
            return True
    return False


def loss_text(loss: Loss) -> str:
    """Return the fate of the record, as the end of a sentence."""
    what = "can no longer be read" if loss.hidden else "is gone"
    return (
        f"{what} between {clock(loss.begin)} and {clock(loss.end)}, and {loss.place[0]} had no valid reason to drop it"
    )


def _came_back(facts: Facts, loss: Loss) -> str:
    final = facts.final(loss.place)
    back = final is not None and final.seen(loss.record.value, loss.record.offset) is Seen.THERE
    return "; it reappeared later" if back else ""
