"""Stays of partitions in mirrors, inferred from orders and from the observed states.

A stay begins when AddTopics is sent and ends when STOPPED is seen after another state. It has two parts: until
MIRRORING is seen the destination cuts to the source's offsets, after that it follows the source. If it is uncertain
whether a stay began or when it ended, the longer one is assumed, because a stay only excuses losses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kmirror.histories.account import Order, StateSeen
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

NEVER: Instant = 1 << 62
TAKEN = ("NONE", "")
"""Errors of an order that was, or may have been, carried out."""
CUTTING = ("PREPARING",)
FOLLOWING = ("MIRRORING", "PAUSING", "PAUSED")
NOBODY = "nobody"
"""Name in plans of bootstrap servers that do not exist."""
IN_A_STAY = (*CUTTING, *FOLLOWING, "STOPPING", "FAILED")


@dataclass(frozen=True, slots=True)
class Pointing:
    """A mirror's bootstrap servers were set to those of a cluster."""

    destination: str
    mirror: str
    to: str
    at: Instant
    sure: bool
    """The order was answered; otherwise it may not have been carried out."""


@dataclass(frozen=True, slots=True)
class MirrorSession:
    """A partition's time in a mirror, from AddTopics to its end, usually STOPPED; NEVER for missing events."""

    mirror: str
    source: str
    """Cluster that the mirror pointed to; empty if none."""
    destination: str
    tp: TopicPartition
    began: Instant
    """AddTopics was sent."""
    answered: Instant
    """AddTopics returned NONE; NEVER if it did not."""
    seen: Instant
    """A leader first reported that it is in the mirror."""
    mirroring: Instant
    removed: Instant
    """RemoveTopics was sent."""
    ended: Instant
    """STOPPED was seen, or the topic was deleted."""
    last_mirror_epoch: int
    """Last mirrored epoch that the leader reported with STOPPED; -1 for none."""

    def overlaps(self, begin: Instant, end: Instant) -> bool:
        return self.began <= end and begin <= self.ended

    @property
    def cutting_until(self) -> Instant:
        """Return the latest time by which the cut to the source's last mirrored epoch was over."""
        return min(self.mirroring, self.ended)


def sessions_of(
    destination: str,
    tp: TopicPartition,
    orders: Iterable[Order],
    states: Iterable[StateSeen],
    pointings: Iterable[Pointing],
    deletions: Iterable[Instant] = (),
) -> list[MirrorSession]:
    """Return the stays of one partition in mirrors of `destination`, by the time they began.

    A mirror that was pointed from one cluster to another meanwhile gives a stay for each. A stay also ends when the
    topic is deleted at the destination: `deletions` has the moments.
    """
    pointed = [p for p in pointings if p.destination == destination]
    mine = [order for order in orders if order.destination == destination and tp.topic in order.topics]
    seen = list(states)
    adds = [order for order in mine if order.action == "add"]
    gone = list(deletions)
    found = []
    for number, order in enumerate(adds):
        until = adds[number + 1].sent_at if number + 1 < len(adds) else NEVER
        end = min((at for at in gone if at > order.sent_at), default=NEVER)
        rows = _since(order, [row for row in seen if row.mirror == order.mirror and row.at <= end])
        if order.error in TAKEN or any(row.state in CUTTING and row.at < until for row in rows):
            stay = _stay(order, tp, rows, mine, end)
            found += [replace(stay, source=source) for source in _sources(stay, pointed)]
    return found


def _since(order: Order, rows: list[StateSeen]) -> list[StateSeen]:
    """Return the states seen after the order may have been carried out.

    Between the first attempt and the response the previous stay may still have ended.
    """
    rows = [row for row in rows if row.at >= order.sent_at]
    stops = [n for n, row in enumerate(rows) if row.state == "STOPPED" and row.at <= order.answered_at]
    return rows[stops[-1] :] if stops else rows  # By index: a new leader passes through several states in one instant.


def _sources(stay: MirrorSession, pointings: list[Pointing]) -> list[str]:
    """Return the clusters that the mirror may have pointed to during a stay; [""] for none."""
    mine = [p for p in pointings if p.mirror == stay.mirror and p.at <= stay.ended]
    first = max((n for n, p in enumerate(mine) if p.at <= stay.began and p.sure), default=0)
    names = [p.to for p in mine[first:]] or [stay.source]
    return list(dict.fromkeys(name for name in names if name != NOBODY)) or [""]


def _stay(
    order: Order, tp: TopicPartition, rows: list[StateSeen], orders: list[Order], deleted: Instant
) -> MirrorSession:
    inside = next((number for number, row in enumerate(rows) if row.state in CUTTING), len(rows))
    stops = [row for row in rows[inside:] if row.state == "STOPPED"]
    # Without a response the first stop may have ended this stay or the previous one.
    last = stops[0 if order.error == "NONE" else -1] if stops else None
    ended = deleted if last is None else last.at
    removed = next(
        (o.sent_at for o in orders if o.action == "remove" and o.mirror == order.mirror and o.sent_at >= order.sent_at
         and o.error in TAKEN), NEVER,
    )  # fmt: skip
    return MirrorSession(
        mirror=order.mirror,
        source=order.source,
        destination=order.destination,
        tp=tp,
        began=order.sent_at,
        answered=order.answered_at if order.error == "NONE" else NEVER,
        seen=rows[inside].at if inside < len(rows) else NEVER,
        mirroring=next((row.at for row in rows if row.state in FOLLOWING and row.at <= ended), NEVER),
        removed=min(removed, ended),
        ended=ended,
        last_mirror_epoch=-1 if last is None else last.last_mirror_epoch,
    )
