"""What unclean elections took. Each excuses what its new leader lacked when it began to lead, and nothing else."""

from __future__ import annotations

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.history.account import LogRow
from kmirror.sim.history.checkers.facts import Facts, Look, Place, is_control, is_producer_reset
from kmirror.sim.history.checkers.sessions import NEVER


def lost_by_election(facts: Facts, place: Place, value: str, offset: int, begin: Instant, end: Instant) -> bool:
    """Return whether a leader from outside the ISR began without the record that had `offset` at `begin`."""
    return any(
        heir is None or (not _has(heir, value, offset) and not _is_newer(facts, place, value, offset, heir, begin))
        for heir in facts.unclean(place, begin, end)
    )


def brought_back(facts: Facts, place: Place, value: str, offset: int, end: Instant) -> bool:
    """Return whether a leader from outside the ISR had missed the cut that took the record from all others (D30)."""
    for heir in facts.unclean(place, 0, end):
        if heir is None or not _has(heir, value, offset):
            continue
        before = facts.look_before(place, heir.at - 1)
        for cut in facts.cuts(place):
            is_missed = cut.at < heir.at and cut.broker != heir.log.broker and cut.offset <= offset < cut.end
            if is_missed and (before is None or before.at <= cut.at or not _has(before, value, offset)):
                return True
    return False


def _has(look: Look, value: str, offset: int) -> bool:
    row = look.by_offset.get(offset)
    return row is not None and row.value == value


def _is_newer(facts: Facts, place: Place, value: str, offset: int, heir: Look, begin: Instant) -> bool:
    """Return whether the record came into the log after the election: what acknowledged or showed it was no zombie."""
    ack = facts.acked.get((place[0], value))
    if (
        ack is not None
        and ack.offset == offset  # Written again after the election it stands elsewhere: the first one is lost.
        and ack.sent_at > heir.at
        and ack.broker == facts.leader_named(place, ack.sent_at)
    ):
        return True
    return any(heir.at < look.at <= begin and _has(look, value, offset) for look in facts.looks.get(place, []))


def marker_lost(facts: Facts, place: Place, marker: LogRow, begin: Instant, end: Instant) -> bool:
    """Return whether a leader from outside the ISR began without a marker that was there at `begin`."""
    return lost_by_election(facts, place, marker.value, marker.offset, begin, end)


def lost_anywhere(facts: Facts, tp: TopicPartition, value: str, until: Instant) -> bool:
    """Return whether an unclean election lost a record in a cluster that had acknowledged or shown it before."""
    for place in facts.looks:
        if place[1] != tp:
            continue
        ack = facts.acked.get((place[0], value))
        if ack is not None and lost_by_election(facts, place, value, ack.offset, ack.sent_at, until):
            return True
        seen = next((look for look in facts.looks[place] if look.holds(value)), None)
        if seen is not None:
            offset = seen.by_value[value].offset
            if lost_by_election(facts, place, value, offset, seen.at, until):
                return True
    return False


def left_open(facts: Facts, tp: TopicPartition, row: LogRow, until: Instant = NEVER) -> bool:
    """Return whether the marker of a record's transaction may have been lost by an unclean election."""
    return facts.account.left_open(tp, row.offset, row.epoch, row.producer_id, until)


def reset_lost(facts: Facts, place: Place, until: Instant) -> bool:
    """Return whether a leader from outside the ISR knew producers of another cluster that a stop had made forgotten."""
    for heir in facts.unclean(place, 0, until):
        if heir is None or (
            any(stay.ended <= heir.at for stay in facts.stays(place)) and _knows_others(facts, place[0], heir)
        ):
            return True
    return False


def _knows_others(facts: Facts, cluster: str, look: Look) -> bool:
    knows = False
    for row in look.log.rows:
        if is_producer_reset(row):
            knows = False
        elif not is_control(row) and row.producer_id >= 0:
            knows = knows or facts.written_at(row.value) not in ("", cluster)
    return knows


def may_be_shorter(
    facts: Facts, place: Place, offset: int, begin: Instant, end: Instant, *, leader_epoch: int = -1
) -> bool:
    """Return whether a leader from outside the ISR, of a later epoch, began with a log that did not reach `offset`."""
    return any(
        heir is None or (heir.log.log_end_offset < offset and heir.log.leader_epoch > leader_epoch)
        for heir in facts.unclean(place, begin, end)
    )
