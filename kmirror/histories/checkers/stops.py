"""Checker of topics that stop, pause or fail without an order or a cause at their source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmirror.histories.account import ObservedState, Order, TopicChange
from kmirror.histories.checkers.facts import Facts, Place
from kmirror.histories.checkers.mirrors import leads
from kmirror.histories.checkers.sessions import CARRIED_OUT, NOBODY, SESSION_STATES
from kmirror.histories.checkers.wording import Finding, seconds
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import SECOND, Duration, Instant

ORDERS_BY_STATE = {
    "STOPPING": ("remove", "delete_mirror"),
    "STOPPED": ("remove", "delete_mirror"),
    "PAUSING": ("pause",),
    "PAUSED": ("pause",),
    "FAILED": (),
}
"""State to the orders that lead to it."""
STOP_PERSISTED_WITHIN: Duration = 10 * SECOND
"""Time within which a leader that knows of a removal has persisted that it stops."""


def unordered_stop(facts: Facts) -> Iterator[Finding]:
    """A partition stops, pauses or fails without an order, although its source has had the same topic all the time."""
    for place, rows in facts.states.items():
        since: Order | None = None
        was_mirrored = False
        """Whether a leader reported after the order that the partition mirrors. Before that, it may report an earlier
        session, and continue the stop that ended it, because a broker that does not know of the removal forwards the
        order.
        """
        for row in rows:
            order = _last_add(facts, place, row)
            if order is not since:
                since, was_mirrored = order, False
            if since is None or not leads(facts, place, row):
                continue
            if row.state in ORDERS_BY_STATE and was_mirrored and not _is_explained(facts, place, row, since):
                text = (
                    f"added to mirror {row.mirror} at {seconds(since.sent_at)}, broker {row.broker} reports "
                    f"{row.state} at "
                    f"{seconds(row.at)}; no request removed it, and the source had the same topic all the time"
                )
                yield Anomaly("unordered-stop", *place, -1, text, row.at)
                break
            may_be_earlier = (row.state == "MIRRORING" and _follows_removal(facts, place, since)) or (
                row.state == "PREPARING" and _was_just_extended(facts, place, since)
            )
            was_mirrored = was_mirrored or (
                row.state in SESSION_STATES and row.state not in ORDERS_BY_STATE and not may_be_earlier
            )


def _last_add(facts: Facts, place: Place, row: ObservedState) -> Order | None:
    """Return the last answered order before the row that put the topic into its mirror; None if there was none."""
    found = [
        order for order in facts.orders("add")
        if order.destination == place[0] and place[1].topic in order.topics and order.mirror == row.mirror
        and order.error == "NONE" and order.answered_at <= row.at
    ]  # fmt: skip
    return found[-1] if found else None


def _follows_removal(facts: Facts, place: Place, since: Order) -> bool:
    """Return whether the topic was removed from the mirror shortly before: a leader may still carry that out."""
    orders = [order for order in facts.orders(*ORDERS_BY_STATE["STOPPED"]) if order.mirror == since.mirror]
    return any(order.answered_at < since.sent_at for order in _shortly_before(orders, place, since))


def _was_just_extended(facts: Facts, place: Place, since: Order) -> bool:
    """Return whether the topic got partitions shortly before: during its removal, a new one prepares and stops."""
    orders = _shortly_before(facts.orders("grow_topic"), place, since)
    return any(order.answered_at <= since.answered_at for order in orders)


def _shortly_before(orders: Iterable[Order], place: Place, since: Order) -> Iterator[Order]:
    """Yield orders about the topic that ended so shortly before `since` that a leader may not know their outcome."""
    for order in orders:
        names_topic = order.action == "delete_mirror" or place[1].topic in order.topics
        is_recent = since.sent_at - STOP_PERSISTED_WITHIN <= order.answered_at
        if order.destination == place[0] and order.error in CARRIED_OUT and names_topic and is_recent:
            yield order


def _is_explained(facts: Facts, place: Place, row: ObservedState, since: Order) -> bool:
    return (
        any(_may_have_ended(facts, order, place, row, since) for order in facts.orders(*ORDERS_BY_STATE[row.state]))
        or facts.was_deleted(place, since.sent_at, row.at)
        or facts.account.may_have_lost_states(place[0], since.sent_at, row.at)
        or any(
            _had_another_topic(facts, source, place, since.sent_at, row.at) for source in _sources(facts, place, row)
        )
    )


def _may_have_ended(facts: Facts, order: Order, place: Place, row: ObservedState, since: Order) -> bool:
    """Return whether an order may have been carried out between the add and the leader's report.

    The order to add cancels an earlier pause, except for one that was not answered.
    """
    if order.destination != place[0] or order.mirror != row.mirror or order.sent_at > row.at:
        return False
    names_topic = order.action == "delete_mirror" or place[1].topic in order.topics
    return names_topic and order.error in CARRIED_OUT and (order.answered_at < 0 or order.answered_at >= since.sent_at)


def _sources(facts: Facts, place: Place, row: ObservedState) -> list[str]:
    found = [
        p.source
        for p in facts.servers_changes
        if (p.destination, p.mirror) == (place[0], row.mirror) and p.at <= row.at
    ]
    return [name for name in dict.fromkeys(found) if name != NOBODY]


def _had_another_topic(facts: Facts, source: str, place: Place, begin: Instant, end: Instant) -> bool:
    """Return whether the source lacked the topic, or had another one of its name, while it was here in [begin, end].

    A mirror waits for a topic that does not exist here either (D26).
    """
    destination_changes = [row for row in _topic_changes(facts, place[0], place) if row.at <= end]
    if not destination_changes or not destination_changes[-1].exists:
        return True
    begin = max(begin, destination_changes[-1].at)
    source_changes = _topic_changes(facts, source, place)
    before = [row for row in source_changes if row.at <= begin][-1:]
    if any(begin < row.at <= end for row in source_changes) or not before or not before[0].exists:
        return True
    return before[0].topic_id != destination_changes[-1].topic_id


def _topic_changes(facts: Facts, cluster: str, place: Place) -> list[TopicChange]:
    """Return the creations and deletions of the topic in a cluster."""
    return [row for row in facts.account.topics if (row.cluster, row.topic) == (cluster, place[1].topic)]
