"""Checker of DescribeMirrors: state, offsets, lag and reason at each observation.

The time by which a response may lag behind is bounded: a leader learns about its source from every fetch response, and
about a failure when a request times out.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.histories.account import MISSED, DescribedPartition, Span
from kmirror.histories.checkers.elections import may_be_shorter
from kmirror.histories.checkers.facts import Facts, LogView, Place
from kmirror.histories.checkers.sessions import NEVER, MirrorSession
from kmirror.histories.checkers.wording import Finding, seconds
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import SECOND, Duration, Instant

WAITING = ("PREPARING", "FAILED")
CALM: Duration = 10 * SECOND
"""Time without failures and changes before lag and reason are judged: requests have timed out and were repeated."""
MIRROR_KNOWS_WITHIN: Duration = 6 * SECOND
"""Time from an acknowledgement at the source until its mirror knows the record, with one lost request included."""
UNREACHABLE_SINCE: Duration = 5 * SECOND
"""Time for which an unreachable source may be taken for a slow one; after that no lag is known (D62)."""
FIRST_RESPONSE_WITHIN: Duration = 2 * SECOND
"""Time from MIRRORING to the first response of the source; HEARS if the line may have lost a request before."""
REASONS_WHEN_MIRRORING = ("throttled", "the source's topic has", "ISR ")
"""Prefixes of reasons that are allowed although everything is mirrored (D38)."""


def described_wrong(facts: Facts) -> Iterator[Finding]:
    """DescribeMirrors returns a state that the leader is not in, an offset or epoch that does not exist, a lag that
    contradicts the offsets or the source's acknowledged records, a reason while nothing fails, or no reason for a
    failure.
    """
    for row in facts.account.described:
        place = (row.cluster, row.tp)
        wrong = _wrong_state(facts, place, row) or _wrong_offsets(facts, place, row) or _unproved_lag(facts, place, row)
        wrong = wrong or _wrong_lag_or_reason(facts, place, row)
        final = facts.account.final_logs.get(place)
        if not wrong and final is not None and row.at == final.at and not facts.account.unsettled:
            wrong = _wrong_after_settling(facts, place, row)
        if wrong:
            text = f"broker {row.broker} describes mirror {row.mirror} at {seconds(row.at)}: {wrong}"
            yield Anomaly("described-wrong", *place, -1, text, row.at)


def _wrong_state(facts: Facts, place: Place, row: DescribedPartition) -> str:
    if row.state == "FAILED" and not row.reason:
        return "FAILED without a reason"
    entered_states = [s for s in facts.states.get(place, []) if s.at <= row.at and s.mirror == row.mirror]
    if not entered_states or entered_states[-1].broker != row.broker:
        return ""
    # A leader passes through several states in one instant, and may have responded between any two.
    possible = entered_states[-1 - sum(s.at == row.at for s in entered_states) :]
    entered = next((s for s in reversed(possible) if s.state == row.state), entered_states[-1])
    # A leader of a new epoch, or a restarted broker, must read the state first.
    if row.state != entered.state and row.state != "UNKNOWN":
        return f"state {row.state}, but the leader has entered {entered.state}"
    if row.state != "STOPPED":
        return ""
    if max(entered.last_mirror_epoch, -1) != row.last_mirror_epoch:
        return f"STOPPED with last mirrored epoch {row.last_mirror_epoch}, expected {entered.last_mirror_epoch}"
    return ""


def _wrong_offsets(facts: Facts, place: Place, row: DescribedPartition) -> str:
    own_view = _view_at(facts, place, row)
    high = (
        row.destination_offset if own_view is None or own_view.log.broker != row.broker else own_view.log.high_watermark
    )
    if row.destination_offset != high and not _will_cut(facts, place, row, high):
        return f"destination offset {row.destination_offset}, expected the high watermark {high}"
    if row.lag >= 0 and row.lag != max(0, row.source_offset - row.destination_offset):
        return f"lag {row.lag} between {row.source_offset} and {row.destination_offset}"
    session = _session(facts, place, row)
    if row.source_offset < 0 or session is None or session.mirroring_at > row.at:
        return ""
    source_view = _view_at(facts, (session.source, row.tp), row)
    if (
        source_view is None
        or row.source_offset <= source_view.log.log_end_offset
        or _may_have_fallen(facts, session, row)
    ):
        return ""
    return f"source offset {row.source_offset}, but the source's log ends at {source_view.log.log_end_offset}"


def _will_cut(facts: Facts, place: Place, row: DescribedPartition, high: int) -> bool:
    """Return whether the leader later made a cut that it had missed: earlier observations of
    it show the log as already cut (D30)."""
    return any(
        (cut.broker, cut.offset) == (row.broker, high)
        and cut.reason.endswith(MISSED)
        and row.at <= cut.at
        and row.destination_offset <= cut.end
        for cut in facts.cuts(place)
    )


def _unproved_lag(facts: Facts, place: Place, row: DescribedPartition) -> str:
    """Return how a known lag omits records that the source acknowledged before its proof could expire (D77).

    A leader elected since then may return a lower high watermark for a while; one that was deposed before may not.
    """
    session = _session(facts, place, row)
    if row.lag < 0 or not row.proof_age_max or row.state != "MIRRORING" or session is None or not session.source:
        return ""
    source, until = (session.source, session.tp), row.at - row.proof_age_max
    ends = [ack.offset + 1 for ack in facts.acks.get(source, []) if session.mirroring_at <= ack.at <= until]
    if row.source_offset >= max(ends, default=0) or facts.clocks_differ_by or _may_have_fallen(facts, session, row):
        return ""
    if any(until <= election.at <= row.at for election in facts.elections.get(source, [])):
        return ""
    known = f"lag {row.lag} up to offset {row.source_offset}"
    return f"{known}, but {session.source} had acknowledged up to {max(ends)} before {seconds(until)}"


def _session(facts: Facts, place: Place, row: DescribedPartition) -> MirrorSession | None:
    """Return the session in the described mirror; None if it is uncertain which cluster the mirror has pointed to."""
    sessions = [
        session
        for session in facts.sessions(place)
        if session.mirror == row.mirror and session.began_at <= row.at <= session.ended_at
    ]
    return sessions[0] if len(sessions) == 1 else None


def _view_at(facts: Facts, place: Place, row: DescribedPartition) -> LogView | None:
    view = facts.view_before(place, row.at)
    return None if view is None or view.at != row.at else view


def _may_have_fallen(facts: Facts, session: MirrorSession, row: DescribedPartition) -> bool:
    """Return whether the source's log may have become shorter since its end was reported."""
    source = (session.source, session.tp)
    if facts.was_deleted(source, session.began_at, row.at) or any(
        s.overlaps(session.began_at, row.at) for s in facts.sessions(source)
    ):
        return True
    return may_be_shorter(facts, source, row.source_offset, session.began_at, row.at)


# -- lag and reason -----------------------------------------------------------------------------


def _wrong_lag_or_reason(facts: Facts, place: Place, row: DescribedPartition) -> str:
    session = _session(facts, place, row)
    if session is None or not session.source or row.state not in ("MIRRORING", "PREPARING"):
        return ""
    begin = row.at - CALM
    if _has_changed(facts, place, row, begin):
        return ""
    if _is_out_of_reach(facts, session, row.at - UNREACHABLE_SINCE, row.at):
        if row.lag >= 0:
            return f"lag {row.lag}, although {session.source} cannot be reached"
        return "" if row.reason else f"{row.state} without a reason, although {session.source} cannot be reached"
    if not _is_undisturbed(facts, session, begin, row.at):
        return ""
    if row.state == "PREPARING":
        return "" if row.reason else "PREPARING for a long time without a reason"
    if row.reason and not row.reason.startswith(REASONS_WHEN_MIRRORING) and not facts.may_be_another_topic(session):
        return f"MIRRORING with reason {row.reason!r}, although nothing has failed"
    if row.source_offset < row.destination_offset:
        return f"source offset {row.source_offset}, below the destination's own {row.destination_offset}"
    known = [
        ack.offset + 1
        for ack in facts.acks.get((session.source, session.tp), [])
        if begin <= ack.at <= row.at - MIRROR_KNOWS_WITHIN
    ]
    if not row.reason and row.source_offset < max(known, default=0):
        return (
            f"source offset {row.source_offset}, but {session.source} had acknowledged up to {max(known)} long before"
        )
    return ""


def _has_changed(facts: Facts, place: Place, row: DescribedPartition, begin: Instant) -> bool:
    """Return whether the partition's state, leader or orders at the destination have changed since `begin`.

    An order is sent just after the observation of the logs, so at that moment no broker knows it.
    """
    states = [s.at for s in facts.states.get(place, []) if s.mirror == row.mirror and s.at <= row.at]
    elected = [e.at for e in facts.elections.get(place, []) if e.at <= row.at]
    orders = [
        o.answered_at if o.answered_at >= 0 else o.sent_at
        for o in facts.account.orders
        if o.destination == row.cluster and (o.mirror == row.mirror or row.tp.topic in o.topics) and o.sent_at < row.at
    ]
    return not states or max((*states, *elected, *orders)) > begin


def _is_undisturbed(facts: Facts, session: MirrorSession, begin: Instant, end: Instant) -> bool:
    """Return whether since `begin` no node or line at either end was disturbed, and the source did not change."""
    source = (session.source, session.tp)
    if any(begin <= election.at <= end for election in facts.elections.get(source, [])):
        return False
    if any(other.overlaps(begin, end) for other in facts.sessions(source)):
        return False
    if any(
        row.topic == session.tp.topic and begin <= row.at <= end and row.cluster == session.source
        for row in facts.account.topics
    ):
        return False
    if facts.clocks_differ_by:
        return False
    ends = (session.source, session.destination)
    return not any(
        span.begin <= end and (span.end < 0 or begin <= span.end) and _touches(span, ends)
        for span in facts.account.spans
    )


def _touches(span: Span, clusters: tuple[str, str]) -> bool:
    return any(one.partition("-")[0] in clusters for one in span.ends)


def _is_out_of_reach(facts: Facts, session: MirrorSession, begin: Instant, end: Instant) -> bool:
    """Return whether the line to the source, or all brokers of the source, were down from `begin` to `end`."""

    def lasts(span: Span) -> bool:
        return span.begin <= begin and (span.end < 0 or span.end >= end)

    ends = {session.source, session.destination}
    if any(span.kind == "line" and set(span.ends) == ends and lasts(span) for span in facts.account.spans):
        return True
    down = {span.subject for span in facts.account.spans if span.kind == "broker" and lasts(span)}
    return all(f"{session.source}-{number}" in down for number in range(1, facts.brokers.get(session.source, 1) + 1))


def _was_line_restored(facts: Facts, session: MirrorSession, at: Instant) -> bool:
    """Return whether a line to the source came up shortly before, so that a fetch may still wait for its timeout.

    A new partition is added with the next fetch, after the current one has timed out.
    """
    ends = {session.source, session.destination}
    return any(
        at - MIRROR_KNOWS_WITHIN < span.end <= at and {end.partition("-")[0] for end in span.ends} == ends
        for span in facts.account.spans
    )


# -- at the end ---------------------------------------------------------------------------------


def _wrong_after_settling(facts: Facts, place: Place, row: DescribedPartition) -> str:
    """Return the error once everything has settled: then nothing changes any more."""
    if row.persisted and row.state != row.persisted:
        return f"state {row.state}, but {row.persisted} is persisted"
    if row.state in WAITING and not row.reason:
        return f"{row.state} without a reason, although everything has settled"
    sessions = [
        session for session in facts.sessions(place) if session.mirror == row.mirror and session.ended_at == NEVER
    ]
    own_view = facts.final_view(place)
    source_view = facts.final_view((sessions[0].source, row.tp)) if len(sessions) == 1 else None
    if row.state != "MIRRORING" or own_view is None or source_view is None:
        return ""
    end = source_view.log.high_watermark
    if source_view.log.last_stable_offset != end or own_view.log.log_end_offset != end:
        return ""  # It waits for a transaction, or for a source that it may not follow.
    changes = [state.at for state in facts.states.get(place, [])]
    changes += [election.at for election in facts.elections.get((sessions[0].source, row.tp), [])]
    time = (
        MIRROR_KNOWS_WITHIN if row.lag < 0 and _was_line_restored(facts, sessions[0], row.at) else FIRST_RESPONSE_WITHIN
    )
    if any(row.at - time < at <= row.at for at in changes):
        return ""  # The topic or the source's leader is new, and the source has not responded yet.
    if row.lag:
        return f"lag {row.lag}, although everything up to {end} is mirrored"
    if row.reason and not row.reason.startswith(REASONS_WHEN_MIRRORING):
        return f"MIRRORING with reason {row.reason!r}, although everything up to {end} is mirrored"
    return ""
