"""Checker of failbacks that copy again records that both clusters had.

A cluster added to a mirror cuts its log to the point of divergence from the source's. The KIP requires a cut from
scratch where the source has settled no epoch for it; records that are cut and copied again unchanged are counted. The
same holds for a compacted log with records that the source lacks: it is cut from scratch where the cleaner has passed
the cut (D63).
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.histories.account import CutSeen, LogRow
from kmirror.histories.checkers.facts import Facts, Place
from kmirror.histories.checkers.reasons import Record, certainly_has, cut_rows, may_lose_keys, shares
from kmirror.histories.checkers.sessions import MirrorSession
from kmirror.histories.checkers.words import Finding, accepted, clock
from kmirror.histories.verdict import Anomaly

COPIED_AGAIN = "KIP: copied again"


def failback_copies_again(facts: Facts) -> Iterator[Finding]:
    """A failback cuts records that the source has too, although an epoch that was settled for both covers them."""
    for cut in facts.account.cuts:
        place = (cut.cluster, cut.tp)
        stay, look = _stay_of(facts, place, cut), facts.look_before(place, cut.at - 1)
        if stay is None or look is None or facts.may_have_lost(place, look.at, cut.at):
            continue  # The cut log is not the one that was seen before.
        same = [row for row in cut_rows(facts, place, cut) if _is_at_source(facts, stay, row, cut)]
        covered = [row for row in same if shares(facts, stay, Record(row.value, row.offset, row.epoch))]
        if covered and not may_lose_keys(facts, stay, cut):
            text = (
                f"the cut to offset {cut.offset} at {clock(cut.at)} ({cut.why}) takes {len(covered)} records from "
                f"offset {covered[0].offset} on that {stay.source} has too; the last mirrored epoch of its stop "
                "covers them"
            )
            yield Anomaly("failback-copies-again", *place, covered[0].offset, text, cut.at)
            same = same[len(covered) :]
        yield from accepted((COPIED_AGAIN, *place) for _ in same)


def _stay_of(facts: Facts, place: Place, cut: CutSeen) -> MirrorSession | None:
    """Return the stay whose cut before MIRRORING this is; None if there is none, or more than one."""
    found = [stay for stay in facts.stays(place) if stay.began <= cut.at <= stay.cutting_until]
    return found[0] if len(found) == 1 and found[0].source else None


def _is_at_source(facts: Facts, stay: MirrorSession, row: LogRow, cut: CutSeen) -> bool:
    """Return whether the source had the same record, before the stay and after the cut."""
    source = (stay.source, stay.tp)
    look = facts.look_before(source, cut.at - 1)
    return (
        look is not None
        and look.by_offset.get(row.offset) == row
        and certainly_has(facts, source, Record(row.value, row.offset, row.epoch), look.at, cut.at)
    )
