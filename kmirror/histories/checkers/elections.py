"""Records lost by unclean elections and by a site's loss of power: those missing from the new leader's first log."""

from __future__ import annotations

from kmirror.histories.account import LogRow
from kmirror.histories.checkers.facts import Facts, LogView, Place, is_control, is_producer_reset
from kmirror.histories.checkers.sessions import NEVER
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

UNCLEAN = "unclean election"
POWER = "site power lost"


def cause_of_loss(facts: Facts, place: Place, value: str, offset: int, begin: Instant, end: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, of the loss of a record that had `offset` at `begin`; empty if not lost."""
    if was_lost_by_election(facts, place, value, offset, begin, end):
        return UNCLEAN
    if _was_taken_for_another(facts, place, value, offset, end):
        return UNCLEAN
    return POWER if was_lost_with_power(facts, place, value, offset, begin, end) else ""


def was_lost_by_election(facts: Facts, place: Place, value: str, offset: int, begin: Instant, end: Instant) -> bool:
    """Return whether an unclean leader began without the record that had `offset` at `begin`."""
    return any(
        successor is None
        or (not _has_record(successor, value, offset) and not _is_newer(facts, place, value, offset, successor, begin))
        for successor in facts.unclean_leader_views(place, begin, end)
    )


def is_from_reassigned_epoch(facts: Facts, place: Place, values: tuple[str, str], until: Instant) -> bool:
    """Return whether one producer wrote both, and its coordinator lost the producer's newest epoch by an unclean
    election.

    The producer then gets that epoch again, and its first batches are taken for earlier ones.
    """
    writes = [facts.account.writes[value] for value in values if value in facts.account.writes]
    ids = {(row.producer_id, row.producer_epoch) for row in writes}
    return len(writes) == 2 and len(ids) == 1 and facts.account.groups.may_have_lost_transactions(
        place[0], (writes[0].producer_id,), 0, until + facts.clocks_differ_by
    )  # fmt: skip


def _was_taken_for_another(facts: Facts, place: Place, value: str, offset: int, end: Instant) -> bool:
    """Return whether the leader took the record for an earlier one that its producer wrote in the same epoch.

    The leader then returns the offset of the earlier record, and appends nothing.
    """
    view, writes = facts.view_before(place, end), facts.account.writes
    row = None if view is None else view.by_offset.get(offset)
    if row is None or value not in writes or row.value not in writes:
        return False
    is_earlier = writes[row.value].sent_at < writes[value].sent_at
    return is_earlier and is_from_reassigned_epoch(facts, place, (row.value, value), writes[value].sent_at)


def was_lost_with_power(facts: Facts, place: Place, value: str, offset: int, begin: Instant, end: Instant) -> bool:
    """Return whether the first leader after a loss of power lacked the record because it was not flushed."""
    return any(
        offset >= kept
        and not _has_record(successor, value, offset)
        and not _is_newer(facts, place, value, offset, successor, begin)
        for successor, kept in facts.power_losses(place, begin, end)
    )


def was_restored_by_unclean_leader(facts: Facts, place: Place, value: str, offset: int, end: Instant) -> bool:
    """Return whether an unclean leader had missed the cut that removed the record from all others (D30)."""
    for successor in facts.unclean_leader_views(place, 0, end):
        if successor is None or not _has_record(successor, value, offset):
            continue
        before = facts.view_before(place, successor.at - 1)
        for cut in facts.cuts(place):
            is_missed = cut.at < successor.at and cut.broker != successor.log.broker and cut.offset <= offset < cut.end
            if is_missed and (before is None or before.at <= cut.at or not _has_record(before, value, offset)):
                return True
    return False


def _has_record(view: LogView, value: str, offset: int) -> bool:
    row = view.by_offset.get(offset)
    return row is not None and row.value == value


def _is_newer(facts: Facts, place: Place, value: str, offset: int, successor: LogView, begin: Instant) -> bool:
    """Return whether the record was written after the election, by a leader that was not deposed."""
    ack = facts.first_acks.get((place[0], value))
    if (
        ack is not None
        and ack.offset == offset  # Written again, it has another offset: the first copy is lost.
        and ack.sent_at > successor.at
        and ack.broker == facts.leader_at(place, ack.sent_at)
    ):
        return True
    return any(
        successor.at < view.at <= begin and _has_record(view, value, offset) for view in facts.views.get(place, [])
    )


def cause_of_marker_loss(facts: Facts, place: Place, marker: LogRow, begin: Instant, end: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, if a leader began without a marker that existed at `begin`; else empty."""
    return cause_of_loss(facts, place, marker.value, marker.offset, begin, end)


def cause_of_loss_anywhere(facts: Facts, tp: TopicPartition, value: str, until: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, if a cluster lost a record that it had acknowledged or shown; else empty."""
    for place in facts.views:
        if place[1] != tp:
            continue
        ack = facts.first_acks.get((place[0], value))
        cause = "" if ack is None else cause_of_loss(facts, place, value, ack.offset, ack.sent_at, until)
        if cause:
            return cause
        containing_view = next((view for view in facts.views[place] if view.has_value(value)), None)
        if containing_view is not None:
            offset = containing_view.by_value[value].offset
            cause = cause_of_loss(facts, place, value, offset, containing_view.at, until)
            if cause:
                return cause
    return ""


def cause_of_open_transaction(facts: Facts, tp: TopicPartition, row: LogRow, until: Instant = NEVER) -> str:
    """Return the cause, UNCLEAN or POWER, if the marker of a record's transaction may be lost; else empty."""
    account, record = facts.account, (tp, row.offset, row.epoch, row.producer_id, row.value, until)
    if account.may_have_lost_marker(*record, after_power=False):
        return UNCLEAN
    return POWER if account.may_have_lost_marker(*record) else ""


def cause_of_reset_loss(facts: Facts, place: Place, until: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, if a new leader lacked a producer reset; else empty.

    It then knew producers of another cluster although a stop had cleared them.
    """
    if any(
        any(session.ended_at <= successor.at for session in facts.sessions(place))
        and _knows_other_producers(facts, place[0], successor)
        for successor, _ in facts.power_losses(place, 0, until)
    ):
        return POWER
    for successor in facts.unclean_leader_views(place, 0, until):
        if successor is None or (
            any(session.ended_at <= successor.at for session in facts.sessions(place))
            and _knows_other_producers(facts, place[0], successor)
        ):
            return UNCLEAN
    return ""


def _knows_other_producers(facts: Facts, cluster: str, view: LogView) -> bool:
    is_known = False
    for row in view.log.rows:
        if is_producer_reset(row):
            is_known = False
        elif not is_control(row) and row.producer_id >= 0:
            is_known = is_known or facts.writing_cluster(row.value) not in ("", cluster)
    return is_known


def may_be_shorter(
    facts: Facts, place: Place, offset: int, begin: Instant, end: Instant, *, leader_epoch: int = -1
) -> bool:
    """Return whether an unclean leader of a later epoch began with a log that ended before `offset`.

    The same holds for the first leader after a loss of the site's power.
    """
    if any(successor.log.log_end_offset < offset for successor, _ in facts.power_losses(place, begin, end)):
        return True
    return any(
        successor is None or (successor.log.log_end_offset < offset and successor.log.leader_epoch > leader_epoch)
        for successor in facts.unclean_leader_views(place, begin, end)
    )
