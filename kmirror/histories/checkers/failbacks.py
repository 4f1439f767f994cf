"""Failbacks that copy again what both clusters had.

Who is added to a mirror cuts its log to where it parts from the source's. The KIP has a log cut from scratch where the
source has settled nothing for it; what goes then, and comes back the same, is counted. So is what goes from a compacted
log of which the source lacks something: it is cut from scratch where the cleaner has passed the cut (D63).
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.histories.account import CutSeen, LogRow
from kmirror.histories.checkers.facts import Facts, Place
from kmirror.histories.checkers.reasons import Record, cut_rows, may_lose_keys, shares, surely_has
from kmirror.histories.checkers.sessions import Stay
from kmirror.histories.checkers.words import Finding, accepted, clock
from kmirror.histories.verdict import Anomaly

COPIED_AGAIN = "KIP: copied again"


def failback_copies_again(facts: Facts) -> Iterator[Finding]:
    """A failback cuts records that the source has too, though an epoch that was settled for both covers them."""
    for cut in facts.account.cuts:
        place = (cut.cluster, cut.tp)
        stay, look = _stay_of(facts, place, cut), facts.look_before(place, cut.at - 1)
        if stay is None or look is None or facts.may_have_lost(place, look.at, cut.at):
            continue  # The log that was cut is not the one that was seen before.
        same = [row for row in cut_rows(facts, place, cut) if _is_at_source(facts, stay, row, cut)]
        covered = [row for row in same if shares(facts, stay, Record(row.value, row.offset, row.epoch))]
        if covered and not may_lose_keys(facts, stay, cut):
            text = (
                f"the cut to offset {cut.offset} at {clock(cut.at)} ({cut.why}) takes {len(covered)} records from "
                f"offset {covered[0].offset} on that {stay.source} has, too; its epoch settled at the stop covers them"
            )
            yield Anomaly("failback-copies-again", *place, covered[0].offset, text, cut.at)
            same = same[len(covered) :]
        yield from accepted((COPIED_AGAIN, *place) for _ in same)


def _stay_of(facts: Facts, place: Place, cut: CutSeen) -> Stay | None:
    """Return the stay in which the log was cut on the way to MIRRORING; None if there is none, or more than one."""
    found = [stay for stay in facts.stays(place) if stay.began <= cut.at <= stay.cutting_until]
    return found[0] if len(found) == 1 and found[0].source else None


def _is_at_source(facts: Facts, stay: Stay, row: LogRow, cut: CutSeen) -> bool:
    """Return whether the source had the very record, before the stay and after the cut."""
    source = (stay.source, stay.tp)
    look = facts.look_before(source, cut.at - 1)
    return (
        look is not None
        and look.by_offset.get(row.offset) == row
        and surely_has(facts, source, Record(row.value, row.offset, row.epoch), look.at, cut.at)
    )
