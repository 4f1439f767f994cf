"""Checkers of mirrors: states, last mirrored epochs, read-only topics, pauses and topic ids."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kmirror.histories.account import UNAWARE, Ack, StateSeen
from kmirror.histories.checkers.facts import LATE, Facts, Place
from kmirror.histories.checkers.sessions import FOLLOWING, IN_A_STAY, NEVER, TAKEN, MirrorSession
from kmirror.histories.checkers.transactions import marker_was_cleaned, waits_for_a_cleaned_marker
from kmirror.histories.checkers.words import Finding, clock
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import SECOND, Duration, Instant

SPREAD: Duration = 10 * SECOND
"""Time until a leader without disturbances learns from the controller that a topic is in a mirror."""


def lme_loss(facts: Facts) -> Iterator[Finding]:
    """A stopped partition's last mirrored epoch changes or is gone, although nothing was mirrored since."""
    for place, rows in facts.states.items():
        kept: dict[str, StateSeen] = {}
        for row in rows:
            if row.state in FOLLOWING:
                kept.pop(row.mirror, None)
            if row.state != "STOPPED" or not leads(facts, place, row):
                continue
            before = kept.setdefault(row.mirror, row)
            if max(before.last_mirror_epoch, -1) == max(row.last_mirror_epoch, -1):
                continue
            kept[row.mirror] = row
            if _new_session(facts, place, row.mirror, before.at, row.at):
                continue
            text = (
                f"mirror {row.mirror} stopped with last mirrored epoch {before.last_mirror_epoch} (reported at "
                f"{clock(before.at)} by broker {before.broker}), but broker {row.broker} reports "
                f"{row.last_mirror_epoch}"
            )
            yield Anomaly("lme-loss", *place, -1, text, row.at)


def leads(facts: Facts, place: Place, row: StateSeen) -> bool:
    """Return whether the reporting broker was the leader; a deposed one may report an earlier session."""
    named = [election.leader for election in facts.elections.get(place, []) if election.at <= row.at]
    return not named or named[-1] == row.broker


def _new_session(facts: Facts, place: Place, mirror: str, begin: Instant, end: Instant) -> bool:
    return (
        facts.deleted(place[0], mirror, begin, end)
        or facts.was_deleted(place, begin - LATE, end)  # Its leader may learn of that later.
        or facts.account.unwritable_states_warning(place[0], begin, end)
        or any(stay.mirror == mirror and stay.mirroring <= end and begin < stay.ended for stay in facts.stays(place))
    )


def read_only_breach(facts: Facts) -> Iterator[Finding]:
    """A write that was sent while its topic was in a mirror was acknowledged."""
    for ack in facts.account.acks:
        place = (ack.cluster, ack.tp)
        for stay in facts.stays(place):
            if stay.began < ack.sent_at and ack.at < stay.removed and _knew(facts, place, stay, ack):
                text = (
                    f"{ack.value!r} was sent at {clock(ack.sent_at)} and acknowledged by broker {ack.broker}; "
                    f"but the topic has been in mirror {stay.mirror} since {clock(stay.began)}"
                )
                yield Anomaly("read-only-breach", *place, ack.offset, text, ack.at)
                break


def _knew(facts: Facts, place: Place, stay: MirrorSession, ack: Ack) -> bool:
    """Return whether the broker that accepted the write knew, or should have known, that the topic is in a mirror."""
    said = [
        row.state for row in facts.states.get(place, [])
        if row.broker == ack.broker and row.mirror == stay.mirror and stay.began <= row.at < ack.sent_at
    ]  # fmt: skip
    # Before the order is answered, a leader's state may still be that of the previous stay.
    if said and said[-1] in IN_A_STAY and stay.answered < ack.sent_at:
        return True
    return stay.answered + SPREAD < ack.sent_at and not facts.disturbed(place[0], stay.began - SPREAD, ack.at)


def pause_breach(facts: Facts) -> Iterator[Finding]:
    """The log of a paused partition grew before any order to resume or remove the topic was sent."""
    for place, rows in facts.states.items():
        for number, row in enumerate(rows):
            if row.state != "PAUSED" or not leads(facts, place, row):
                continue
            left, asked = rows[number + 1].at if number + 1 < len(rows) else NEVER, _asked_again(facts, place, row)
            for look in facts.looks.get(place, []):
                # An unclean leader begins with its own log.
                ends = [
                    0 if heir is None else heir.log.log_end_offset for heir in facts.unclean(place, row.at, look.at)
                ]
                end = max([row.destination_offset, *ends])
                if row.at < look.at < left and look.at <= asked and look.log.log_end_offset > end >= 0:
                    text = (
                        f"paused in mirror {row.mirror} at {clock(row.at)} with log end {row.destination_offset}, "
                        f"but it was {look.log.log_end_offset} at {clock(look.at)}"
                    )
                    yield Anomaly("pause-breach", *place, row.destination_offset, text, look.at)
                    break


def _asked_again(facts: Facts, place: Place, row: StateSeen) -> Instant:
    """Return when the first order was sent that may have ended the pause; NEVER if there was none."""
    ends = (
        order.sent_at
        for order in facts.orders("resume", "remove")
        if order.destination == place[0]
        and place[1].topic in order.topics
        and order.error in TAKEN
        and (order.answered_at < 0 or order.answered_at > row.at)
    )
    return min(ends, default=NEVER)


def stuck_state(facts: Facts) -> Iterator[Finding]:
    """A partition has not settled when the time to converge is over."""
    for cluster, tp, what in facts.account.unsettled:
        logs = facts.account.final
        if waits_for_a_cleaned_marker(facts, (cluster, tp), what, logs, partial(marker_was_cleaned, facts)):
            continue
        yield Anomaly("stuck-state", cluster, tp, -1, what)


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
        for stay in facts.stays(place):
            key = (place[0], stay.source, stay.tp.topic)
            ours, theirs = ids.get((place[0], stay.tp.topic), []), ids.get((stay.source, stay.tp.topic), [])
            if key in reported or not ours or not theirs or ours[0] == theirs[0]:
                continue
            if stay.seen == NEVER:
                continue  # The order was refused, or the topic did not exist.
            if stay.answered == NEVER and facts.account.may_be_behind(place[0], stay.began - UNAWARE, stay.seen):
                continue  # The order may have been refused, and the observation may belong to the previous one.
            if len([other for other in facts.stays(place) if other.began == stay.began]) > 1:
                continue  # The mirror was pointed from one cluster to another: it keeps the first one (D16).
            if facts.was_deleted(place, stay.began) or facts.was_created_or_deleted(
                stay.source, stay.tp.topic, stay.began
            ):
                continue  # The topic that has the name now is another one on one side.
            if stay.mirroring == NEVER and _had_it_before(facts, place, stay):
                continue  # A local topic of the same name: the mirror gives up (D16).
            reported[key] = None
            text = f"mirror {stay.mirror} has topic {stay.tp.topic} from {stay.source}: its id there is {theirs[0]}, "
            yield Anomaly("topic-id-mismatch", place[0], None, -1, f"{text}but here {ours[0]}")


def _had_it_before(facts: Facts, place: Place, stay: MirrorSession) -> bool:
    """Return whether the cluster had the topic before it was in this mirror; clients cannot create it later (D26)."""
    topic = place[1].topic
    return facts.plan.topics.get(topic, "").endswith(f"@{place[0]}") or any(
        order.destination == place[0] and topic in order.topics and order.sent_at < stay.answered
        for order in facts.orders("create_topic")
    )
