"""Model of two clusters that mirror one topic, in either direction: wanted states, states and logs (D5 to D7).

Autonomous changes are not followed step by step. A side has the states that it may have reached (`states`) and the logs
that it may have (`contents`); a response that shows one of them removes the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from kmirror.spec.error_codes import ErrorCode

RESET = -1
"""Used instead of the checksum for a producer reset, and for any other control batch."""


class Batch(NamedTuple):
    """A batch in a log."""

    base: int
    records: int
    crc: int


Content = tuple[Batch, ...]


class Wish(Enum):
    """The last order for the topic in the cluster."""

    MIRROR = "mirror"
    PAUSE = "pause"
    REMOVE = "remove"


_AFTER: dict[Wish, dict[str, tuple[str, ...]]] = {
    Wish.MIRROR: {
        "UNKNOWN": ("PREPARING",),
        "PREPARING": ("MIRRORING",),
        "PAUSING": ("PAUSED",),
        "PAUSED": ("MIRRORING",),
        "STOPPING": ("STOPPED",),
        "STOPPED": ("PREPARING",),
    },
    Wish.PAUSE: {
        "UNKNOWN": ("PREPARING",),
        "PREPARING": ("MIRRORING",),
        "MIRRORING": ("PAUSING",),
        "PAUSING": ("PAUSED",),
        "STOPPING": ("STOPPED",),
        "STOPPED": ("PREPARING",),
    },
    Wish.REMOVE: {
        "UNKNOWN": ("PREPARING",),
        "PREPARING": ("STOPPING",),
        "MIRRORING": ("STOPPING",),
        "PAUSING": ("STOPPING",),
        "PAUSED": ("STOPPING",),
        "STOPPING": ("STOPPED",),
    },
}
"""Transitions between states, written from decisions D5 and D6 and not from the code."""
LAST = {Wish.MIRROR: "MIRRORING", Wish.PAUSE: "PAUSED", Wish.REMOVE: "STOPPED"}
STOPPED = frozenset({"STOPPED"})
_WRITABLE = frozenset({"UNKNOWN", "STOPPED"})


@dataclass(frozen=True)
class Side:
    """One cluster: the state of the topic and its mirrors."""

    mirrors: frozenset[str] = frozenset()
    described: frozenset[tuple[str, str]] = frozenset()
    """(broker, mirror) for the mirrors that a broker knows."""
    was_deleted: bool = False
    """Whether a mirror was deleted, which may remove the fencing of writes."""
    exists: bool | None = False
    """Whether the topic exists; None if it is not known whether the mirror has created it."""
    wish: Wish | None = None
    """None while the topic is in no mirror."""
    is_closed: bool = False
    """Whether the topic's leader knows that it is in a mirror."""
    is_heard: bool = False
    """Whether all brokers know the current order."""
    states: frozenset[str] = frozenset()
    log: Content = ()
    """The cluster's own log: before it was added, or since it accepts writes again."""
    has_own: bool = True
    """Whether that log may still exist."""
    seen: int = 0
    """Minimum number of the source's batches in the log."""
    is_still: bool = False
    """Whether it is PAUSED, so that there are no more than those."""
    is_settled: bool = True
    """Whether `log` is the current content."""
    was_free: bool = False
    """Whether at any time since it was added the other cluster did not mirror the topic from this one."""
    is_mixed: bool = False
    """Whether it was added again before it knew of its removal; then nothing is known of its log."""
    was_fed: bool = False
    """Whether anything was mirrored from the source since it was added last."""


class Pair(NamedTuple):
    """Both clusters."""

    a: Side
    b: Side

    def side(self, name: str) -> Side:
        """Return the named cluster."""
        return self.a if name == "a" else self.b

    def other(self, name: str) -> Side:
        """Return the other cluster."""
        return self.b if name == "a" else self.a

    def put(self, name: str, side: Side) -> Pair:
        """Return the pair with a changed cluster."""
        return self._replace(a=side) if name == "a" else self._replace(b=side)


def end_of(content: Content) -> int:
    """Return the LEO."""
    return content[-1].base + content[-1].records if content else 0


# -- states -------------------------------------------------------------------------------------


def is_blocked(pair: Pair, name: str) -> bool:
    """Return whether the other cluster certainly still mirrors the topic from this one; then this one must wait."""
    other = pair.other(name)
    return other.wish is not None and "STOPPED" not in other.states


def reached(side: Side, *, blocked: bool) -> frozenset[str]:
    """Return the states that a side may have reached."""
    if side.wish is None:
        return frozenset()
    found = dict.fromkeys(sorted(side.states))
    left = list(found)
    while left:
        before = left.pop()
        for state in _AFTER[side.wish].get(before, ()):
            # A cluster that began before the other one continues after a pause; the other one waits (D25).
            waits = blocked and (before, state) == ("PREPARING", "MIRRORING")
            if state not in found and not waits:
                found[state] = None
                left.append(state)
    return frozenset(found)


def closed(pair: Pair) -> Pair:
    """Return the pair with all changes that may have happened since the last order."""
    for name in ("a", "b", "a"):  # The states of one depend on those of the other.
        side, blocked = pair.side(name), is_blocked(pair, name)
        free = side.wish is not None and (side.was_free or not blocked)
        pair = pair.put(name, replace(side, states=reached(side, blocked=blocked), was_free=free))
    return pair


# -- logs ---------------------------------------------------------------------------------------


def contents(pair: Pair, name: str) -> Iterator[tuple[Content, Pair]]:
    """Yield the possible contents of a log now, each with the pair as it is then; `pair` must be closed."""
    side = pair.side(name)
    if side.wish is None or side.is_settled:
        yield side.log, pair
        return
    for known in _sources(pair, name):
        source = known.other(name)
        # A topic that is being removed keeps its own log until its stop truncates it, if nothing was mirrored.
        has_log = source.is_settled or source.wish is not Wish.REMOVE or source.has_own
        log = source.log if has_log else ()
        for content, found in _contents(side, log):
            yield content, known.put(name, found)


def _sources(pair: Pair, name: str) -> Iterator[Pair]:
    """Yield the pair with the possible logs of the source, if that was stopped and not read since."""
    yield pair
    source, other = pair.other(name), "b" if name == "a" else "a"
    if source.wish is Wish.REMOVE and not source.is_settled and "STOPPED" in source.states:
        for content, found in _contents(replace(source, states=STOPPED), pair.side(name).log):
            yield pair.put(other, replace(found, log=content, is_settled=True))


def _contents(side: Side, source: Content) -> Iterator[tuple[Content, Side]]:
    for has_reset in (False, True) if side.wish is Wish.REMOVE or side.is_mixed else (False,):
        states = side.states & {"STOPPING", "STOPPED"} if has_reset else side.states
        if not states:
            continue
        if side.has_own or side.is_mixed:
            for kept in range(len(side.log) + 1):
                if kept < len(side.log) and not side.is_mixed and (states <= _WRITABLE or not side.was_free):
                    continue  # Nothing was truncated.
                found = _with_reset(side.log[:kept], has_reset)
                yield found, _found(side, found, states, has_reset=has_reset)
        for count in range(0 if side.is_mixed else side.seen, len(source) + 1):
            if (side.is_still and count > side.seen) or (side.has_own and not side.was_free):
                continue
            fed = replace(side, has_own=False, seen=max(side.seen, count), was_fed=side.was_fed or count > 0)
            found = _with_reset(source[:count], has_reset)
            yield found, _found(fed, found, states, has_reset=has_reset)


def _with_reset(content: Content, has_reset: bool) -> Content:
    return (*content, Batch(end_of(content), 1, RESET)) if has_reset else content


def _found(side: Side, content: Content, states: frozenset[str], *, has_reset: bool) -> Side:
    side = replace(side, exists=True, states=states)
    if side.is_mixed:
        return side
    return replace(side, log=content, is_settled=True) if has_reset or states == STOPPED else side


def added(pair: Pair, name: str) -> Iterator[Pair]:
    """Yield the pair after the topic was added in a cluster; `pair` must be closed."""
    side = pair.side(name)
    if side.wish is None:
        states = frozenset({"UNKNOWN", "STOPPED"}) if side.exists else frozenset({"UNKNOWN"})
        yield pair.put(name, _begun(replace(side, exists=side.exists or None), states))
        return
    stopped = side.states & _WRITABLE
    if stopped:
        for log, found in contents(pair.put(name, replace(side, states=stopped)), name):
            yield found.put(name, _begun(replace(found.side(name), log=log), stopped))
    rest = side.states - _WRITABLE
    if rest and not side.is_heard:  # The broker that handles the request does not know of the removal.
        mixed = replace(side, wish=Wish.MIRROR, states=rest, is_mixed=True, is_still=False, is_settled=False)
        yield pair.put(name, mixed)


def _begun(side: Side, states: frozenset[str]) -> Side:
    return replace(
        side,
        wish=Wish.MIRROR,
        is_closed=False,
        is_heard=False,
        states=states,
        has_own=True,
        seen=0,
        is_still=False,
        is_settled=False,
        was_free=False,
        is_mixed=False,
        was_fed=False,
    )


def rested(pair: Pair) -> Iterator[Pair]:
    """Yield the pair after a time in which every operation has completed."""
    pairs = [closed(pair)]
    for name in ("a", "b"):
        if pair.side(name).wish is Wish.REMOVE:
            pairs = [stopped for one in pairs for stopped in _stopped(one, name)]
    for one in dict.fromkeys(pairs):
        found = closed(one)
        for name in ("a", "b"):
            found = found.put(name, _at_rest(found, name))
        yield found


def _stopped(pair: Pair, name: str) -> Iterator[Pair]:
    stopped = replace(pair.side(name), states=STOPPED, is_heard=True, is_closed=True)
    for log, found in contents(pair.put(name, stopped), name):
        yield found.put(name, replace(found.side(name), log=log, is_settled=True, is_mixed=False))


def _at_rest(pair: Pair, name: str) -> Side:
    side, other = pair.side(name), pair.other(name)
    if side.wish in (None, Wish.REMOVE) or (side.wish is Wish.PAUSE and side.exists is None):
        return side  # A paused topic is not created (D17).
    assert side.wish is not None, "checked"
    goal = LAST[side.wish]
    if goal not in side.states:
        states = side.states & {"PREPARING"}
    elif not is_blocked(pair, name) and (other.wish is None or other.was_fed):
        states = frozenset({goal})
    else:  # The other one mirrors ours, or has nothing of it: ours may be the only copy, so it waits (D25).
        states = side.states & {goal, "PREPARING"}
    side = replace(side, states=states, is_heard=True, is_closed=True)
    if goal in states:
        side = replace(side, exists=True)
    if states == {"MIRRORING"}:
        side = replace(side, has_own=False, is_mixed=False, seen=len(other.log), was_fed=bool(other.log))
    return side


# -- orders -------------------------------------------------------------------------------------

ORDERS: dict[str, dict[Wish, Wish | ErrorCode]] = {
    "PauseMirrorTopics": {
        Wish.MIRROR: Wish.PAUSE,
        Wish.PAUSE: ErrorCode.MIRROR_TOPIC_ALREADY_PAUSED,
        Wish.REMOVE: ErrorCode.MIRROR_TOPIC_BEING_REMOVED,
    },
    "ResumeMirrorTopics": {
        Wish.PAUSE: Wish.MIRROR,
        Wish.MIRROR: ErrorCode.MIRROR_TOPIC_NOT_PAUSED,
        Wish.REMOVE: ErrorCode.MIRROR_TOPIC_BEING_REMOVED,
    },
    "RemoveTopicsFromMirror": dict.fromkeys(Wish, Wish.REMOVE),
}
"""The next wish for an order, or its error."""


def ordered(pair: Pair, name: str, order: str) -> Iterator[tuple[int, Side]]:
    """Yield the error of an order about the topic, and the side after it; `pair` must be closed."""
    side = pair.side(name)
    if side.wish is None:
        if side.exists is not True:
            yield int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), side
        if side.exists is not False:
            yield int(ErrorCode.UNKNOWN_MIRROR), side
        return
    wanted = ORDERS[order][side.wish]
    if isinstance(wanted, ErrorCode):
        yield int(wanted), side
        return
    if wanted is Wish.REMOVE and side.exists is None:  # A topic that was never created leaves its mirror at once (D34).
        yield 0, replace(side, wish=None, states=frozenset(), is_settled=True)
    is_still = side.is_still and wanted is not Wish.MIRROR
    exists = True if wanted is Wish.REMOVE else side.exists
    is_heard = side.is_heard and wanted is side.wish
    yield 0, replace(side, wish=wanted, is_still=is_still, is_heard=is_heard, exists=exists)
