"""Does DescribeMirrors tell the truth?"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.sim.history.account import Described
from kmirror.sim.history.checkers.elections import may_be_shorter
from kmirror.sim.history.checkers.facts import Facts, Look, Place
from kmirror.sim.history.checkers.sessions import NEVER, Stay
from kmirror.sim.history.checkers.words import Finding, clock
from kmirror.sim.history.verdict import Anomaly

WAITING = ("PREPARING", "FAILED")


def described_wrong(facts: Facts) -> Iterator[Finding]:
    """DescribeMirrors says an offset or epoch that is not there, a lag that they do not give, or FAILED without a
    reason; at the end also a lag though all is mirrored, or no reason for what waits.
    """
    last = max((row.at for row in facts.account.described), default=-1)
    for row in facts.account.described:
        place = (row.cluster, row.tp)
        wrong = _state(facts, place, row) or _offsets(facts, place, row)
        if not wrong and row.at == last and not facts.account.unsettled:
            wrong = _at_rest(facts, place, row)
        if wrong:
            text = f"broker {row.broker} describes mirror {row.mirror} at {clock(row.at)}: {wrong}"
            yield Anomaly("described-wrong", *place, -1, text, row.at)


def _state(facts: Facts, place: Place, row: Described) -> str:
    if row.state == "FAILED" and not row.reason:
        return "FAILED without a reason"
    seen = [s for s in facts.states.get(place, []) if s.at <= row.at and s.mirror == row.mirror]
    if row.state != "STOPPED" or not seen or seen[-1].state != "STOPPED" or seen[-1].broker != row.broker:
        return ""
    if max(seen[-1].last_mirror_epoch, -1) != row.last_mirror_epoch:
        return f"STOPPED with last mirrored epoch {row.last_mirror_epoch}, which is {seen[-1].last_mirror_epoch}"
    return ""


def _offsets(facts: Facts, place: Place, row: Described) -> str:
    ours = _look_at(facts, place, row)
    if ours is not None and ours.log.broker == row.broker and row.destination_offset != ours.log.log_end_offset:
        return f"destination offset {row.destination_offset}, the log ends at {ours.log.log_end_offset}"
    if row.lag >= 0 and row.lag != max(0, row.source_offset - row.destination_offset):
        return f"lag {row.lag} between {row.source_offset} and {row.destination_offset}"
    stays = [stay for stay in facts.stays(place) if stay.mirror == row.mirror and stay.began <= row.at <= stay.ended]
    if row.source_offset < 0 or len(stays) != 1 or stays[0].mirroring > row.at:
        return ""
    theirs = _look_at(facts, (stays[0].source, row.tp), row)
    if theirs is None or row.source_offset <= theirs.log.log_end_offset or _may_have_fallen(facts, stays[0], row):
        return ""
    return f"source offset {row.source_offset}, where the log ends at {theirs.log.log_end_offset}"


def _look_at(facts: Facts, place: Place, row: Described) -> Look | None:
    look = facts.look_before(place, row.at)
    return None if look is None or look.at != row.at else look


def _may_have_fallen(facts: Facts, stay: Stay, row: Described) -> bool:
    """Return whether the source's log may have been shortened since its end was told."""
    source = (stay.source, stay.tp)
    if facts.was_deleted(source, stay.began, row.at) or any(
        s.overlaps(stay.began, row.at) for s in facts.stays(source)
    ):
        return True
    return may_be_shorter(facts, source, row.source_offset, stay.began, row.at)


def _at_rest(facts: Facts, place: Place, row: Described) -> str:
    """Return what is wrong once everything has come to rest: then nothing changes any more."""
    if row.state in WAITING and not row.reason:
        return f"{row.state} without a reason, though everything has come to rest"
    stays = [stay for stay in facts.stays(place) if stay.mirror == row.mirror and stay.ended == NEVER]
    ours = facts.final(place)
    theirs = facts.final((stays[0].source, row.tp)) if len(stays) == 1 else None
    if row.state != "MIRRORING" or ours is None or theirs is None:
        return ""
    end = theirs.log.high_watermark
    if theirs.log.last_stable_offset != end or ours.log.log_end_offset != end:
        return ""  # It waits for a transaction, or for a source that it may not follow.
    if row.lag:
        return f"lag {row.lag}, though all is mirrored up to {end}"
    return ""
