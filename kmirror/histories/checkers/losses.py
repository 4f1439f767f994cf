"""Checkers of lost records: records that a cluster dropped without a valid reason.

The checkers compare the observations of a log in order of time. A record that is present in one observation and missing
in the next is a loss between the two, with a reason (reasons.py) or none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kmirror.histories.account import Ack, LogRow, is_open
from kmirror.histories.checkers.elections import POWER, UNCLEAN, cause_of_marker_loss, cause_of_open_transaction
from kmirror.histories.checkers.facts import Facts, LogView, Place, RecordState, is_compacted, is_control
from kmirror.histories.checkers.keyed_records import is_superseded, marker_missed
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
from kmirror.histories.checkers.wording import Finding, count_accepted, group_losses, seconds
from kmirror.histories.compaction import tombstones_stay
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

EXPIRED = "retention"
DELETE_RECORDS = "DeleteRecords"
COMPACTED = "compaction"
GLOBAL_LOSS_REASONS = (REOPENED, DELETED, EXPIRED, DELETE_RECORDS, UNCLEAN, POWER, COMPACTED)
"""Reasons for which a record may be lost everywhere."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A record that was in a log, or readable, and later was not."""

    place: Place
    record: Record
    begin: Instant
    """Time at which it was present; for an acknowledged record that was never observed, when it was sent."""
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
    return facts.cached("losses", lambda: [loss for place in facts.views for loss in _losses_in(facts, place)])


def _losses_in(facts: Facts, place: Place) -> Iterator[Loss]:
    known: dict[str, _Known] = {}
    acks = facts.acks.get(place, [])
    added = 0
    for view in facts.views[place]:
        while added < len(acks) and acks[added].at <= view.at:
            _add_ack(facts, known, acks[added])
            added += 1
        for value in list(known):
            yield from _compare(facts, place, known, value, view)
        for row in view.decided_rows():
            known[row.value] = _Known(Record(row.value, row.offset, row.epoch), view.at, readable=True)


def _add_ack(facts: Facts, known: dict[str, _Known], ack: Ack) -> None:
    """Add an acknowledged record that is committed: outside a transaction, or in one whose commit was answered."""
    transaction = facts.transaction(ack.value)
    if ack.value not in known and (
        transaction is None or (transaction.requested_end == "commit" and transaction.is_end_acknowledged)
    ):
        known[ack.value] = _Known(Record(ack.value, ack.offset, -1), ack.sent_at, readable=transaction is None)


def _compare(facts: Facts, place: Place, known: dict[str, _Known], value: str, view: LogView) -> Iterator[Loss]:
    last = known[value]
    match view.record_state(value, last.record.offset):
        case RecordState.PRESENT:
            last.readable = True
            last.at = view.at
        case RecordState.UNDECIDED | RecordState.OPEN:
            pass
        case RecordState.HIDDEN if last.readable:
            yield _loss(facts, place, last, view, hidden=True)
            del known[value]
        case RecordState.GONE:
            yield _loss(facts, place, last, view, hidden=False)
            del known[value]


def _loss(facts: Facts, place: Place, last: _Known, view: LogView, *, hidden: bool) -> Loss:
    if not hidden and _was_deleted(facts, last, view):
        return Loss(place, last.record, last.at, view.at, hidden, Reason(_deletion_reason(facts, last, view)))
    if not hidden and is_superseded(facts, place, last.record.value, last.record.offset, view.at):
        return Loss(place, last.record, last.at, view.at, hidden, Reason(COMPACTED))
    reason = loss_reason(facts, place, last.record, last.at, view.at)
    # A stop cuts from the first transaction left open by an unclean election, with everything above it.
    is_above_open_transaction = reason is None and any(
        session.overlaps(last.at, view.at) and session.removed_at <= view.at for session in facts.sessions(place)
    )
    cause = _cause_of_marker_loss(facts, place, last, view) if hidden or is_above_open_transaction else ""
    if is_above_open_transaction and not cause:
        cause = _cause_of_open_transaction_below(facts, place, last, view)
    if cause:
        return Loss(place, last.record, last.at, view.at, hidden, Reason(cause))
    if not hidden and reason is None and (cause := _cause_of_cleaned_abort(facts, place, last, view)):
        return Loss(place, last.record, last.at, view.at, True, Reason(cause))
    if hidden and reason is not None and reason.decision not in (UNCLEAN, POWER, DELETED):
        # A mirror gets its source's markers; a cut hides nothing.
        reason = Reason(MARKERS, reason.lacking) if reason.decision == ASYNCHRONOUS else None
    if hidden and reason is None and _may_have_missed_marker(facts, place, last, view):
        reason = Reason(MARKERS_CLEANED)
    if hidden and reason is None and _was_reopened(facts, place, last, view):
        reason = Reason(MARKERS)
    # A cut that the source's own log does not explain may have been this one.
    if (
        not hidden
        and (reason is None or not reason.lacking)
        and _was_above_reopened_transaction(facts, place, last, view)
    ):
        reason = Reason(REOPENED)
    return Loss(place, last.record, last.at, view.at, hidden, reason)


def _deletion_reason(facts: Facts, last: _Known, view: LogView) -> str:
    return EXPIRED if facts.is_expired(last.record.value, view.at) else DELETE_RECORDS


def _cause_of_marker_loss(facts: Facts, place: Place, last: _Known, view: LogView) -> str:
    """Return the cause, UNCLEAN or POWER, if the marker that made the record readable is lost; else empty."""
    before = facts.view_before(place, last.at)
    row = None if before is None else before.by_value.get(last.record.value)
    if before is None or row is None:
        return ""
    marker = _marker_after(before, row.offset, [row.producer_id])
    return "" if marker is None else cause_of_marker_loss(facts, place, marker, last.at, view.at)


def _cause_of_open_transaction_below(facts: Facts, place: Place, last: _Known, view: LogView) -> str:
    """Return the cause, UNCLEAN or POWER, of an open transaction that kept the record unstable; else empty."""
    before = facts.view_before(place, view.at - 1)
    first = None if before is None else before.by_offset.get(before.log.last_stable_offset)
    if first is None or first.offset > last.record.offset:
        return ""
    return cause_of_open_transaction(facts, place[1], first, view.at)


def _cause_of_cleaned_abort(facts: Facts, place: Place, last: _Known, view: LogView) -> str:
    """Return the cause, UNCLEAN or POWER, if a lost marker let the record be aborted and cleaned; else empty.

    The new leader has the transaction open. It ends with the next marker of its producer, as in Kafka: if that is an
    abort, a cleaner removes the record, which was committed before.
    """
    offset = last.record.offset
    is_decided = view.log.log_start_offset <= offset < view.log.last_stable_offset and offset not in view.by_offset
    if not is_decided or not is_compacted(facts, place, view.at):
        return ""
    unclean_leader_logs = [
        (UNCLEAN, successor)
        for successor in facts.unclean_leader_views(place, last.at, view.at)
        if successor is not None
    ]
    unclean_leader_logs += [(POWER, successor) for successor, _ in facts.power_losses(place, last.at, view.at)]
    for cause, successor in unclean_leader_logs:
        row = successor.by_offset.get(offset)
        if row is None or row.value != last.record.value or not last.at <= successor.at <= view.at:
            continue
        if not is_open(successor.log.rows, offset, row.epoch, row.producer_id):
            continue
        if any(successor.at <= cut.at <= view.at and cut.offset <= offset for cut in facts.cuts(place)):
            continue
        marker = _marker_after(view, offset, [row.producer_id])
        is_aborted = marker is not None and marker.value.startswith("<ABORT")
        # The marker itself is removed later, and the first one that is left may belong to a later transaction.
        removable_at = successor.at + tombstones_stay(facts.plan, facts.account, place[0], place[1].topic, view.at)
        if is_aborted or removable_at <= view.at:
            return cause
    return ""


def _may_have_missed_marker(facts: Facts, place: Place, last: _Known, view: LogView) -> bool:
    """Return whether a leader may take another marker for the one that had committed the record.

    The original marker is removed by compaction once the records of its transaction have been superseded.
    """
    write, offset = facts.account.writes.get(last.record.value), last.record.offset
    return (
        write is not None
        and is_superseded(facts, place, last.record.value, offset, view.at)
        and marker_missed(facts, place, write.sent_at, view.at)
    )


def _was_deleted(facts: Facts, last: _Known, view: LogView) -> bool:
    """Return whether the record was deleted by its age or by an order, here or where the log was mirrored from (D46).

    Then it is below the log start; but an empty log of a mirror begins again at its source's log start.
    """
    if not facts.may_be_deleted(last.record.value, last.record.offset, view.at):
        return False
    place = (view.log.cluster, view.log.tp)
    return last.record.offset < view.log.log_start_offset or any(
        session.overlaps(last.at, view.at) and not view.log.log_start_offset for session in facts.sessions(place)
    )


def _was_reopened(facts: Facts, place: Place, last: _Known, view: LogView) -> bool:
    """Return whether a stop cut the marker of the transaction, so that all of it is aborted (D29).

    Its own marker must be gone, and one of its records as well; or the leader changed, and only the old one knew the
    outcome.
    """
    stops = [s for s in facts.sessions(place) if s.overlaps(last.at, view.at) and s.removed_at <= view.at]
    before = facts.view_before(place, last.at)
    transaction = facts.transaction(last.record.value)
    if not stops or before is None or transaction is None:
        return False
    rows = [row for value in transaction.values if (row := before.by_value.get(value)) is not None]
    producers = dict.fromkeys(row.producer_id for row in rows)
    top = max((row.offset for row in rows), default=-1)
    marker = _marker_after(before, top, producers)
    if marker is None or view.by_offset.get(marker.offset) == marker:
        return False
    is_tail_lost = any(not view.has_value(row.value) for row in rows)
    return is_tail_lost or any(
        facts.was_disturbed(place[0], stop.removed_at, view.at)
        or _changed_leader(facts, place, stop.removed_at, view.at)
        for stop in stops
    )


def _was_above_reopened_transaction(facts: Facts, place: Place, last: _Known, view: LogView) -> bool:
    """Return whether a stop cut the record with a transaction that a cut of the same session had reopened (D42).

    The transaction began at or before the record, was decided after it, and is gone with it; and the leader that made
    the cut, the only one to know how the transaction had ended, no longer led.
    """
    before, offset = facts.view_before(place, last.at), last.record.offset
    if before is None:
        return False
    for session in facts.sessions(place):
        if not session.overlaps(last.at, view.at) or not session.began_at <= session.removed_at <= view.at:
            continue
        if not _changed_leader(facts, place, session.began_at, view.at):
            continue
        for row in before.log.rows:
            if row.offset > offset:
                break
            if facts.transaction(row.value) is None or view.has_value(row.value):
                continue
            marker = _marker_after(before, row.offset, [row.producer_id])
            if marker is not None and marker.offset > offset:
                return True
    return False


def _marker_after(view: LogView, offset: int, producers: Collection[int]) -> LogRow | None:
    """Return the first marker above `offset` of one of the producers; None if there is none."""
    rows = (row for row in view.log.rows if row.offset > offset and is_control(row) and row.producer_id in producers)
    return next(rows, None)


def _changed_leader(facts: Facts, place: Place, begin: Instant, end: Instant) -> bool:
    """Return whether another broker became leader in this time; the first leader is known from observed logs only."""
    elections = [e for e in facts.elections.get(place, []) if e.at <= end]
    first = facts.view_before(place, elections[0].at - 1) if elections else None
    leaders = [None if first is None else first.log.broker, *(election.leader for election in elections)]
    return any(now.at >= begin and now.leader != before for before, now in zip(leaders, elections, strict=False))


# -- the three checkers ---------------------------------------------------------------------------


def acked_lost(facts: Facts) -> Iterator[Finding]:
    """A record acknowledged with acks=all is gone from, or no longer readable in, the cluster that acknowledged it."""
    rows = [loss for loss in losses(facts) if (loss.place[0], loss.record.value) in facts.first_acks]
    yield from count_accepted((loss.reason.decision, *loss.place) for loss in rows if loss.reason is not None)
    unexcused = [loss for loss in rows if loss.reason is None]
    yield from group_losses(
        "acked-lost",
        unexcused,
        lambda loss, many: f"{many} acknowledged at {loss.place[0]} {loss_text(loss)}{_return_text(facts, loss)}",
    )


def mirrored_lost(facts: Facts) -> Iterator[Finding]:
    """A mirrored record that was decided below the last stable offset is gone, or no longer readable."""
    rows = [loss for loss in losses(facts) if facts.writing_cluster(loss.record.value) not in ("", loss.place[0])]
    yield from count_accepted(
        (loss.reason.decision, *loss.place) for loss in rows
        if loss.reason is not None and loss.reason.decision in (MARKERS, REOPENED, UNCLEAN, POWER)
    )  # fmt: skip
    unexcused = [loss for loss in rows if loss.reason is None]
    yield from group_losses(
        "mirrored-lost",
        unexcused,
        lambda loss, many: f"{many} mirrored to {loss.place[0]} {loss_text(loss)}{_return_text(facts, loss)}",
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
    lost: list[Loss] = []
    for (tp, value), rows in fates.items():
        if len(dict.fromkeys(loss.place[0] for loss in rows)) < 2 or _may_be_present(
            facts, tp, value, rows[-1].record.offset
        ):
            continue
        if not _was_in_two_clusters(facts, tp, value):
            continue
        reasons = [loss.reason for loss in rows]
        if any(reason is not None and reason.decision in GLOBAL_LOSS_REASONS for reason in reasons):
            continue
        dropped = {loss.place: loss.end for loss in rows}
        followed = [loss for loss in rows if loss.reason is not None and loss.reason.lacking]
        given_up = any(_is_given_up_by_operator(facts, loss, dropped) for loss in followed)
        if None in reasons or not (given_up or any(_was_stopped_without(facts, loss) for loss in rows)):
            lost.append(max(rows, key=lambda loss: loss.end))
    yield from group_losses(
        "last-copy-lost",
        lost,
        lambda loss, many: f"{many} that two clusters had, but no copy is left since {loss.place[0]} {loss_text(loss)}",
    )


def _is_given_up_by_operator(facts: Facts, loss: Loss, dropped: Mapping[Place, Instant]) -> bool:
    """Return whether an operator let the cluster follow one that had already dropped the record."""
    reason, tp = loss.reason, loss.place[1]
    assert reason is not None, "it followed"
    source = reason.source, tp
    dropped_at = dropped.get(source, 0)
    return reason.ordered >= dropped_at or any(
        session.began_at <= dropped_at <= session.removed_at <= loss.end for session in facts.sessions(source)
    )


def _was_stopped_without(facts: Facts, loss: Loss) -> bool:
    """Return whether the cluster followed another one whose own mirror was stopped before that had the record.

    The other cluster may also have had it undecided: a stop cuts that (D29).
    """
    reason, source = loss.reason, (loss.reason.source if loss.reason else "", loss.place[1])
    return reason is not None and any(
        reason.ordered <= session.removed_at <= loss.end
        and ((view := facts.view_before(source, session.removed_at)) is None or not _has_record(view, loss.record))
        for session in facts.sessions(source)
    )


def _has_record(view: LogView, record: Record) -> bool:
    return view.record_state(record.value, record.offset) is RecordState.PRESENT


def _may_be_present(facts: Facts, tp: TopicPartition, value: str, offset: int) -> bool:
    finals = [facts.final_view(place) for place in facts.views if place[1] == tp]
    return any(view is None or view.record_state(value, offset) is not RecordState.GONE for view in finals)


def _was_in_two_clusters(facts: Facts, tp: TopicPartition, value: str) -> bool:
    """Return whether two clusters had the record, for every reader, at the moment of one order."""
    places = [place for place in facts.views if place[1] == tp]
    for order in facts.orders("add", "remove"):
        views = [facts.view_before(place, order.sent_at) for place in places]
        if sum(view is not None and view.record_state(value, -1) is RecordState.PRESENT for view in views) >= 2:
            return True
    return False


def loss_text(loss: Loss) -> str:
    """Return the fate of the record, as the end of a sentence."""
    fate = "can no longer be read" if loss.hidden else "is gone"
    return (
        f"{fate} between {seconds(loss.begin)} and {seconds(loss.end)}, and {loss.place[0]} had no valid reason to "
        f"drop it"
    )


def _return_text(facts: Facts, loss: Loss) -> str:
    final = facts.final_view(loss.place)
    back = final is not None and final.record_state(loss.record.value, loss.record.offset) is RecordState.PRESENT
    return "; it reappeared later" if back else ""
