"""Sessions of partitions in mirrors, inferred from orders and from the observed states.

A session begins when AddTopics is sent and ends when STOPPED is reported after another state. It has two parts: until
MIRRORING is reported the destination cuts to the source's offsets, after that it follows the source. If it is uncertain
whether a session began or when it ended, the longer one is assumed, because a session only excuses losses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kmirror.histories.account import ObservedState, Order
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

NEVER: Instant = 1 << 62
CARRIED_OUT = ("NONE", "")
"""Errors of an order that was, or may have been, carried out."""
CUTTING = ("PREPARING",)
FOLLOWING = ("MIRRORING", "PAUSING", "PAUSED")
NOBODY = "nobody"
"""Name in plans of bootstrap servers that do not exist."""
SESSION_STATES = (*CUTTING, *FOLLOWING, "STOPPING", "FAILED")


@dataclass(frozen=True, slots=True)
class ServersChange:
    """A mirror's bootstrap servers were set to those of a cluster."""

    destination: str
    mirror: str
    source: str
    at: Instant
    is_certain: bool
    """The order was answered; otherwise it may not have been carried out."""


@dataclass(frozen=True, slots=True)
class MirrorSession:
    """A partition's time in a mirror, from AddTopics to its end, usually STOPPED; NEVER for missing events."""

    mirror: str
    source: str
    """Cluster that the mirror pointed to; empty if none."""
    destination: str
    tp: TopicPartition
    began_at: Instant
    """AddTopics was sent."""
    added_at: Instant
    """AddTopics returned NONE; NEVER if it did not."""
    reported_at: Instant
    """A leader first reported that it is in the mirror."""
    mirroring_at: Instant
    removed_at: Instant
    """RemoveTopics was sent."""
    ended_at: Instant
    """STOPPED was reported, or the topic was deleted."""
    last_mirror_epoch: int
    """Last mirrored epoch that the leader reported with STOPPED; -1 for none."""

    def overlaps(self, begin: Instant, end: Instant) -> bool:
        return self.began_at <= end and begin <= self.ended_at

    @property
    def cutting_until(self) -> Instant:
        """Return the latest time by which the cut to the source's last mirrored epoch was over."""
        return min(self.mirroring_at, self.ended_at)


def mirror_sessions(
    destination: str,
    tp: TopicPartition,
    orders: Iterable[Order],
    states: Iterable[ObservedState],
    pointings: Iterable[ServersChange],
    deletions: Iterable[Instant] = (),
) -> list[MirrorSession]:
    """Return the sessions of one partition in mirrors of `destination`, by the time they began.

    A mirror that was pointed from one cluster to another meanwhile gives a session for each. A session also ends when
    the topic is deleted at the destination: `deletions` has the moments.
    """
    own_pointings = [p for p in pointings if p.destination == destination]
    topic_orders = [order for order in orders if order.destination == destination and tp.topic in order.topics]
    all_states = list(states)
    adds = [order for order in topic_orders if order.action == "add"]
    deletion_times = list(deletions)
    found = []
    for number, order in enumerate(adds):
        until = adds[number + 1].sent_at if number + 1 < len(adds) else NEVER
        end = min((at for at in deletion_times if at > order.sent_at), default=NEVER)
        rows = _states_since(order, [row for row in all_states if row.mirror == order.mirror and row.at <= end])
        if order.error in CARRIED_OUT or any(row.state in CUTTING and row.at < until for row in rows):
            session = _make_session(order, tp, rows, topic_orders, end)
            found += [replace(session, source=source) for source in _sources(session, own_pointings)]
    return found


def _states_since(order: Order, rows: list[ObservedState]) -> list[ObservedState]:
    """Return the states observed after the order may have been carried out.

    Between the first attempt and the response the previous session may still have ended.
    """
    rows = [row for row in rows if row.at >= order.sent_at]
    stops = [n for n, row in enumerate(rows) if row.state == "STOPPED" and row.at <= order.answered_at]
    return rows[stops[-1] :] if stops else rows  # By index: a new leader passes through several states in one instant.


def _sources(session: MirrorSession, pointings: list[ServersChange]) -> list[str]:
    """Return the clusters that the mirror may have pointed to during a session; [""] for none."""
    mirror_pointings = [p for p in pointings if p.mirror == session.mirror and p.at <= session.ended_at]
    first = max((n for n, p in enumerate(mirror_pointings) if p.at <= session.began_at and p.is_certain), default=0)
    names = [p.source for p in mirror_pointings[first:]] or [session.source]
    return list(dict.fromkeys(name for name in names if name != NOBODY)) or [""]


def _make_session(
    order: Order, tp: TopicPartition, rows: list[ObservedState], orders: list[Order], deleted: Instant
) -> MirrorSession:
    first_cutting = next((number for number, row in enumerate(rows) if row.state in CUTTING), len(rows))
    stops = [row for row in rows[first_cutting:] if row.state == "STOPPED"]
    # Without a response the first stop may have ended this session or the previous one.
    last = stops[0 if order.error == "NONE" else -1] if stops else None
    ended = deleted if last is None else last.at
    removed = next(
        (o.sent_at for o in orders if o.action == "remove" and o.mirror == order.mirror and o.sent_at >= order.sent_at
         and o.error in CARRIED_OUT), NEVER,
    )  # fmt: skip
    return MirrorSession(
        mirror=order.mirror,
        source=order.source,
        destination=order.destination,
        tp=tp,
        began_at=order.sent_at,
        added_at=order.answered_at if order.error == "NONE" else NEVER,
        reported_at=rows[first_cutting].at if first_cutting < len(rows) else NEVER,
        mirroring_at=next((row.at for row in rows if row.state in FOLLOWING and row.at <= ended), NEVER),
        removed_at=min(removed, ended),
        ended_at=ended,
        last_mirror_epoch=-1 if last is None else last.last_mirror_epoch,
    )
