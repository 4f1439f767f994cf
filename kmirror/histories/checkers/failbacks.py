"""Checker of failbacks that copy again records that both clusters had.

A cluster added to a mirror cuts its log to the point of divergence from the source's. The KIP requires a cut from
scratch where the source has settled no epoch for it; records that are cut and copied again unchanged are counted. The
same holds for a compacted log with records that the source lacks: it is cut from scratch where the cleaner has passed
the cut (D63).
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.histories.account import LogRow, ObservedCut
from kmirror.histories.checkers.facts import Facts, Place
from kmirror.histories.checkers.reasons import Record, certainly_has, cut_rows, is_in_shared_part, may_lose_keys
from kmirror.histories.checkers.sessions import MirrorSession
from kmirror.histories.checkers.wording import Finding, count_accepted, seconds
from kmirror.histories.verdict import Anomaly

COPIED_AGAIN = "KIP: copied again"


def failback_copies_again(facts: Facts) -> Iterator[Finding]:
    """A failback cuts records that the source has too, although an epoch that was settled for both covers them."""
    for cut in facts.account.cuts:
        place = (cut.cluster, cut.tp)
        session, view = _cut_session(facts, place, cut), facts.view_before(place, cut.at - 1)
        if session is None or view is None or facts.may_have_lost(place, view.at, cut.at):
            continue  # The cut log is not the one that was observed before.
        same = [row for row in cut_rows(facts, place, cut) if _is_in_source(facts, session, row, cut)]
        covered = [row for row in same if is_in_shared_part(facts, session, Record(row.value, row.offset, row.epoch))]
        if covered and not may_lose_keys(facts, session, cut):
            text = (
                f"the cut to offset {cut.offset} at {seconds(cut.at)} ({cut.reason}) takes {len(covered)} records from "
                f"offset {covered[0].offset} on that {session.source} has too; the last mirrored epoch of its stop "
                "covers them"
            )
            yield Anomaly("failback-copies-again", *place, covered[0].offset, text, cut.at)
            same = same[len(covered) :]
        yield from count_accepted((COPIED_AGAIN, *place) for _ in same)


def _cut_session(facts: Facts, place: Place, cut: ObservedCut) -> MirrorSession | None:
    """Return the session whose cut before MIRRORING this is; None if there is none, or more than one."""
    found = [session for session in facts.sessions(place) if session.began_at <= cut.at <= session.cutting_until]
    return found[0] if len(found) == 1 and found[0].source else None


def _is_in_source(facts: Facts, session: MirrorSession, row: LogRow, cut: ObservedCut) -> bool:
    """Return whether the source had the same record, before the session and after the cut."""
    source = (session.source, session.tp)
    view = facts.view_before(source, cut.at - 1)
    return (
        view is not None
        and view.by_offset.get(row.offset) == row
        and certainly_has(facts, source, Record(row.value, row.offset, row.epoch), view.at, cut.at)
    )
