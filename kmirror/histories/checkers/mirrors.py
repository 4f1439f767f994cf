"""Checkers of mirrors: states, last mirrored epochs, read-only topics, pauses and topic ids."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kmirror.histories.account import UNAWARE, Ack, ObservedState
from kmirror.histories.checkers.facts import LATE, Facts, Place
from kmirror.histories.checkers.sessions import CARRIED_OUT, FOLLOWING, NEVER, SESSION_STATES, MirrorSession
from kmirror.histories.checkers.transactions import marker_was_cleaned, waits_for_a_cleaned_marker
from kmirror.histories.checkers.wording import Finding, seconds
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import SECOND, Duration, Instant

SPREAD: Duration = 10 * SECOND
"""Time until a leader without disturbances learns from the controller that a topic is in a mirror."""


def lme_loss(facts: Facts) -> Iterator[Finding]:
    """A stopped partition's last mirrored epoch changes or is gone, although nothing was mirrored since."""
    for place, rows in facts.states.items():
        first_stops: dict[str, ObservedState] = {}
        for row in rows:
            if row.state in FOLLOWING:
                first_stops.pop(row.mirror, None)
            if row.state != "STOPPED" or not leads(facts, place, row):
                continue
            before = first_stops.setdefault(row.mirror, row)
            if max(before.last_mirror_epoch, -1) == max(row.last_mirror_epoch, -1):
                continue
            first_stops[row.mirror] = row
            if _new_session(facts, place, row.mirror, before.at, row.at):
                continue
            text = (
                f"mirror {row.mirror} stopped with last mirrored epoch {before.last_mirror_epoch} (reported at "
                f"{seconds(before.at)} by broker {before.broker}), but broker {row.broker} reports "
                f"{row.last_mirror_epoch}"
            )
            yield Anomaly("lme-loss", *place, -1, text, row.at)


def leads(facts: Facts, place: Place, row: ObservedState) -> bool:
    """Return whether the reporting broker was the leader; a deposed one may report an earlier session."""
    named = [election.leader for election in facts.elections.get(place, []) if election.at <= row.at]
    return not named or named[-1] == row.broker


def _new_session(facts: Facts, place: Place, mirror: str, begin: Instant, end: Instant) -> bool:
    return (
        facts.may_have_deleted_mirror(place[0], mirror, begin, end)
        or facts.was_deleted(place, begin - LATE, end)  # Its leader may learn of that later.
        or facts.account.may_have_lost_states(place[0], begin, end)
        or any(
            session.mirror == mirror and session.mirroring_at <= end and begin < session.ended_at
            for session in facts.sessions(place)
        )
    )


def read_only_breach(facts: Facts) -> Iterator[Finding]:
    """A write that was sent while its topic was in a mirror was acknowledged."""
    for ack in facts.account.acks:
        place = (ack.cluster, ack.tp)
        for session in facts.sessions(place):
            if (
                session.began_at < ack.sent_at
                and ack.at < session.removed_at
                and _should_have_refused(facts, place, session, ack)
            ):
                text = (
                    f"{ack.value!r} was sent at {seconds(ack.sent_at)} and acknowledged by broker {ack.broker}; "
                    f"but the topic has been in mirror {session.mirror} since {seconds(session.began_at)}"
                )
                yield Anomaly("read-only-breach", *place, ack.offset, text, ack.at)
                break


def _should_have_refused(facts: Facts, place: Place, session: MirrorSession, ack: Ack) -> bool:
    """Return whether the broker that accepted the write knew, or should have known, that the topic is in a mirror."""
    reported_states = [
        row.state for row in facts.states.get(place, [])
        if row.broker == ack.broker and row.mirror == session.mirror and session.began_at <= row.at < ack.sent_at
    ]  # fmt: skip
    # Before the order is answered, a leader's state may still be that of the previous session.
    if reported_states and reported_states[-1] in SESSION_STATES and session.added_at < ack.sent_at:
        return True
    return session.added_at + SPREAD < ack.sent_at and not facts.was_disturbed(
        place[0], session.began_at - SPREAD, ack.at
    )


def pause_breach(facts: Facts) -> Iterator[Finding]:
    """The log of a paused partition grew before any order to resume or remove the topic was sent."""
    for place, rows in facts.states.items():
        for number, row in enumerate(rows):
            if row.state != "PAUSED" or not leads(facts, place, row):
                continue
            left_at, resumed_at = (
                rows[number + 1].at if number + 1 < len(rows) else NEVER,
                _pause_end(facts, place, row),
            )
            for view in facts.views.get(place, []):
                # An unclean leader begins with its own log.
                ends = [
                    0 if successor is None else successor.log.log_end_offset
                    for successor in facts.unclean_leader_views(place, row.at, view.at)
                ]
                end = max([row.destination_offset, *ends])
                if row.at < view.at < left_at and view.at <= resumed_at and view.log.log_end_offset > end >= 0:
                    text = (
                        f"paused in mirror {row.mirror} at {seconds(row.at)} with log end {row.destination_offset}, "
                        f"but it was {view.log.log_end_offset} at {seconds(view.at)}"
                    )
                    yield Anomaly("pause-breach", *place, row.destination_offset, text, view.at)
                    break


def _pause_end(facts: Facts, place: Place, row: ObservedState) -> Instant:
    """Return when the first order was sent that may have ended the pause; NEVER if there was none."""
    ends = (
        order.sent_at
        for order in facts.orders("resume", "remove")
        if order.destination == place[0]
        and place[1].topic in order.topics
        and order.error in CARRIED_OUT
        and (order.answered_at < 0 or order.answered_at > row.at)
    )
    return min(ends, default=NEVER)


def stuck_state(facts: Facts) -> Iterator[Finding]:
    """A partition has not settled when the time to converge is over."""
    for cluster, tp, reason in facts.account.unsettled:
        logs = facts.account.final_logs
        if waits_for_a_cleaned_marker(facts, (cluster, tp), reason, logs, partial(marker_was_cleaned, facts)):
            continue
        yield Anomaly("stuck-state", cluster, tp, -1, reason)


def topic_id_mismatch(facts: Facts) -> Iterator[Finding]:
    """A topic has two ids in one cluster, or another id at the destination than at the source of its mirror."""
    ids: dict[tuple[str, str], list[str]] = {}
    for cluster, topic, topic_id in facts.account.topic_ids:
        ids.setdefault((cluster, topic), []).append(topic_id)
    for (cluster, topic), found in ids.items():
        if len(dict.fromkeys(found)) > 1:
            text = f"topic {topic} has ids {', '.join(dict.fromkeys(found))} in one cluster"
            yield Anomaly("topic-id-mismatch", cluster, None, -1, text)
    reported: dict[tuple[str, str, str], None] = {}
    for place in facts.states:
        for session in facts.sessions(place):
            key = (place[0], session.source, session.tp.topic)
            own_ids, source_ids = (
                ids.get((place[0], session.tp.topic), []),
                ids.get((session.source, session.tp.topic), []),
            )
            if key in reported or not own_ids or not source_ids or own_ids[0] == source_ids[0]:
                continue
            if session.reported_at == NEVER:
                continue  # The order was refused, or the topic did not exist.
            if session.added_at == NEVER and facts.account.may_be_behind(
                place[0], session.began_at - UNAWARE, session.reported_at
            ):
                continue  # The order may have been refused, and the observation may belong to the previous one.
            if len([other for other in facts.sessions(place) if other.began_at == session.began_at]) > 1:
                continue  # The mirror was pointed from one cluster to another: it keeps the first one (D16).
            if facts.was_deleted(place, session.began_at) or facts.was_created_or_deleted(
                session.source, session.tp.topic, session.began_at
            ):
                continue  # The topic that has the name now is another one on one side.
            if session.mirroring_at == NEVER and _had_topic_before(facts, place, session):
                continue  # A local topic of the same name: the mirror gives up (D16).
            reported[key] = None
            text = (
                f"mirror {session.mirror} has topic {session.tp.topic} from {session.source}: its id there is "
                f"{source_ids[0]}, "
            )
            yield Anomaly("topic-id-mismatch", place[0], None, -1, f"{text}but here {own_ids[0]}")


def _had_topic_before(facts: Facts, place: Place, session: MirrorSession) -> bool:
    """Return whether the cluster had the topic before it was in this mirror; clients cannot create it later (D26)."""
    topic = place[1].topic
    return facts.plan.topics.get(topic, "").endswith(f"@{place[0]}") or any(
        order.destination == place[0] and topic in order.topics and order.sent_at < session.added_at
        for order in facts.orders("create_topic")
    )
