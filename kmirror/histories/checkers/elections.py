"""Records lost by unclean elections and by a site's loss of power: those missing from the new leader's first log."""

from __future__ import annotations

from kmirror.histories.account import LogRow
from kmirror.histories.checkers.facts import Facts, Look, Place, is_control, is_producer_reset
from kmirror.histories.checkers.sessions import NEVER
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

UNCLEAN = "unclean election"
POWER = "site power lost"


def cause_of_loss(facts: Facts, place: Place, value: str, offset: int, begin: Instant, end: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, of the loss of a record that had `offset` at `begin`; empty if not lost."""
    if lost_by_election(facts, place, value, offset, begin, end):
        return UNCLEAN
    if _taken_for_another(facts, place, value, offset, end):
        return UNCLEAN
    return POWER if lost_with_power(facts, place, value, offset, begin, end) else ""


def lost_by_election(facts: Facts, place: Place, value: str, offset: int, begin: Instant, end: Instant) -> bool:
    """Return whether an unclean leader began without the record that had `offset` at `begin`."""
    return any(
        heir is None or (not _has(heir, value, offset) and not _is_newer(facts, place, value, offset, heir, begin))
        for heir in facts.unclean(place, begin, end)
    )


def is_of_an_epoch_given_twice(facts: Facts, place: Place, values: tuple[str, str], until: Instant) -> bool:
    """Return whether one producer wrote both, and its coordinator lost the producer's newest epoch by an unclean
    election.

    The producer then gets that epoch again, and its first batches are taken for earlier ones.
    """
    writes = [facts.account.writes[value] for value in values if value in facts.account.writes]
    ids = {(row.producer_id, row.producer_epoch) for row in writes}
    return len(writes) == 2 and len(ids) == 1 and facts.account.groups.lost_transactions(
        place[0], (writes[0].producer_id,), 0, until + facts.clocks_differ_by
    )  # fmt: skip


def _taken_for_another(facts: Facts, place: Place, value: str, offset: int, end: Instant) -> bool:
    """Return whether the leader took the record for an earlier one that its producer wrote in the same epoch.

    The leader then returns the offset of the earlier record, and appends nothing.
    """
    look, writes = facts.look_before(place, end), facts.account.writes
    row = None if look is None else look.by_offset.get(offset)
    if row is None or value not in writes or row.value not in writes:
        return False
    is_earlier = writes[row.value].sent_at < writes[value].sent_at
    return is_earlier and is_of_an_epoch_given_twice(facts, place, (row.value, value), writes[value].sent_at)


def lost_with_power(facts: Facts, place: Place, value: str, offset: int, begin: Instant, end: Instant) -> bool:
    """Return whether the first leader after a loss of power lacked the record because it was not flushed."""
    return any(
        offset >= kept and not _has(heir, value, offset) and not _is_newer(facts, place, value, offset, heir, begin)
        for heir, kept in facts.power_losses(place, begin, end)
    )


def restored_by_unclean_leader(facts: Facts, place: Place, value: str, offset: int, end: Instant) -> bool:
    """Return whether an unclean leader had missed the cut that removed the record from all others (D30)."""
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
    """Return whether the record was written after the election, by a leader that was not deposed."""
    ack = facts.acked.get((place[0], value))
    if (
        ack is not None
        and ack.offset == offset  # Written again, it has another offset: the first copy is lost.
        and ack.sent_at > heir.at
        and ack.broker == facts.leader_named(place, ack.sent_at)
    ):
        return True
    return any(heir.at < look.at <= begin and _has(look, value, offset) for look in facts.looks.get(place, []))


def marker_lost(facts: Facts, place: Place, marker: LogRow, begin: Instant, end: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, if a leader began without a marker that existed at `begin`; else empty."""
    return cause_of_loss(facts, place, marker.value, marker.offset, begin, end)


def lost_anywhere(facts: Facts, tp: TopicPartition, value: str, until: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, if a cluster lost a record that it had acknowledged or shown; else empty."""
    for place in facts.looks:
        if place[1] != tp:
            continue
        ack = facts.acked.get((place[0], value))
        taken = "" if ack is None else cause_of_loss(facts, place, value, ack.offset, ack.sent_at, until)
        if taken:
            return taken
        seen = next((look for look in facts.looks[place] if look.holds(value)), None)
        if seen is not None:
            offset = seen.by_value[value].offset
            taken = cause_of_loss(facts, place, value, offset, seen.at, until)
            if taken:
                return taken
    return ""


def left_open(facts: Facts, tp: TopicPartition, row: LogRow, until: Instant = NEVER) -> str:
    """Return the cause, UNCLEAN or POWER, if the marker of a record's transaction may be lost; else empty."""
    account, where = facts.account, (tp, row.offset, row.epoch, row.producer_id, row.value, until)
    if account.left_open(*where, after_power=False):
        return UNCLEAN
    return POWER if account.left_open(*where) else ""


def reset_lost(facts: Facts, place: Place, until: Instant) -> str:
    """Return the cause, UNCLEAN or POWER, if a new leader lacked a producer reset; else empty.

    It then knew producers of another cluster although a stop had cleared them.
    """
    if any(
        any(stay.ended <= heir.at for stay in facts.stays(place)) and _knows_others(facts, place[0], heir)
        for heir, _ in facts.power_losses(place, 0, until)
    ):
        return POWER
    for heir in facts.unclean(place, 0, until):
        if heir is None or (
            any(stay.ended <= heir.at for stay in facts.stays(place)) and _knows_others(facts, place[0], heir)
        ):
            return UNCLEAN
    return ""


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
    """Return whether an unclean leader of a later epoch began with a log that ended before `offset`.

    The same holds for the first leader after a loss of the site's power.
    """
    if any(heir.log.log_end_offset < offset for heir, _ in facts.power_losses(place, begin, end)):
        return True
    return any(
        heir is None or (heir.log.log_end_offset < offset and heir.log.leader_epoch > leader_epoch)
        for heir in facts.unclean(place, begin, end)
    )
