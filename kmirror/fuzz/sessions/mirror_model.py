"""Model of two clusters that mirror one topic, in either direction: orders, states and logs (D5 to D7).

Autonomous changes are not followed step by step. A cluster has the states that it may have reached (`states`) and the
logs that it may have (`contents`); a response that shows one of them removes the others.
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


_TRANSITIONS: dict[Wish, dict[str, tuple[str, ...]]] = {
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
FINAL_STATES = {Wish.MIRROR: "MIRRORING", Wish.PAUSE: "PAUSED", Wish.REMOVE: "STOPPED"}
STOPPED = frozenset({"STOPPED"})
_WRITABLE = frozenset({"UNKNOWN", "STOPPED"})


@dataclass(frozen=True)
class ClusterState:
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
    is_read_only: bool = False
    """Whether the topic's leader knows that it is in a mirror."""
    is_order_known: bool = False
    """Whether all brokers know the current order."""
    states: frozenset[str] = frozenset()
    log: Content = ()
    """The cluster's own log: before it was added, or since it accepts writes again."""
    has_own_log: bool = True
    """Whether that log may still exist."""
    min_batches: int = 0
    """Minimum number of the source's batches in the log."""
    is_paused: bool = False
    """Whether it is PAUSED, so that the log has no more batches than `min_batches`."""
    is_log_known: bool = True
    """Whether `log` is the current content."""
    was_unblocked: bool = False
    """Whether at any time since it was added the other cluster did not mirror the topic from this one."""
    is_mixed: bool = False
    """Whether the topic was added again before the brokers knew of its removal; then its log is unknown."""
    has_mirrored: bool = False
    """Whether anything was mirrored from the source since it was added last."""


class Pair(NamedTuple):
    """Both clusters."""

    a: ClusterState
    b: ClusterState

    def cluster(self, name: str) -> ClusterState:
        """Return the named cluster."""
        return self.a if name == "a" else self.b

    def other(self, name: str) -> ClusterState:
        """Return the other cluster."""
        return self.b if name == "a" else self.a

    def put(self, name: str, cluster: ClusterState) -> Pair:
        """Return the pair with a changed cluster."""
        return self._replace(a=cluster) if name == "a" else self._replace(b=cluster)


def end_of(content: Content) -> int:
    """Return the LEO."""
    return content[-1].base + content[-1].records if content else 0


# -- states -------------------------------------------------------------------------------------


def is_blocked(pair: Pair, name: str) -> bool:
    """Return whether the other cluster certainly still mirrors the topic from this one; then this one must wait."""
    other = pair.other(name)
    return other.wish is not None and "STOPPED" not in other.states


def reachable_states(cluster: ClusterState, *, blocked: bool) -> frozenset[str]:
    """Return the states that a cluster may have reached."""
    if cluster.wish is None:
        return frozenset()
    found = dict.fromkeys(sorted(cluster.states))
    left = list(found)
    while left:
        before = left.pop()
        for state in _TRANSITIONS[cluster.wish].get(before, ()):
            # A cluster that began before the other one continues after a pause; the other one waits (D25).
            waits = blocked and (before, state) == ("PREPARING", "MIRRORING")
            if state not in found and not waits:
                found[state] = None
                left.append(state)
    return frozenset(found)


def with_reachable_states(pair: Pair) -> Pair:
    """Return the pair with all changes that may have happened since the last order."""
    for name in ("a", "b", "a"):  # The states of one depend on those of the other.
        cluster, blocked = pair.cluster(name), is_blocked(pair, name)
        was_unblocked = cluster.wish is not None and (cluster.was_unblocked or not blocked)
        pair = pair.put(
            name, replace(cluster, states=reachable_states(cluster, blocked=blocked), was_unblocked=was_unblocked)
        )
    return pair


# -- logs ---------------------------------------------------------------------------------------


def contents(pair: Pair, name: str) -> Iterator[tuple[Content, Pair]]:
    """Yield the possible contents of a log, each with the pair in that case; `pair` needs `with_reachable_states`."""
    cluster = pair.cluster(name)
    if cluster.wish is None or cluster.is_log_known:
        yield cluster.log, pair
        return
    for possible in _sources(pair, name):
        source = possible.other(name)
        # A topic that is being removed keeps its own log until its stop truncates it, if nothing was mirrored.
        has_log = source.is_log_known or source.wish is not Wish.REMOVE or source.has_own_log
        log = source.log if has_log else ()
        for content, changed in _contents(cluster, log):
            yield content, possible.put(name, changed)


def _sources(pair: Pair, name: str) -> Iterator[Pair]:
    """Yield the pair with the possible logs of the source, if that was stopped and not read since."""
    yield pair
    source, other = pair.other(name), "b" if name == "a" else "a"
    if source.wish is Wish.REMOVE and not source.is_log_known and "STOPPED" in source.states:
        for content, changed in _contents(replace(source, states=STOPPED), pair.cluster(name).log):
            yield pair.put(other, replace(changed, log=content, is_log_known=True))


def _contents(cluster: ClusterState, source: Content) -> Iterator[tuple[Content, ClusterState]]:
    for has_reset in (False, True) if cluster.wish is Wish.REMOVE or cluster.is_mixed else (False,):
        states = cluster.states & {"STOPPING", "STOPPED"} if has_reset else cluster.states
        if not states:
            continue
        if cluster.has_own_log or cluster.is_mixed:
            for count_kept in range(len(cluster.log) + 1):
                if (
                    count_kept < len(cluster.log)
                    and not cluster.is_mixed
                    and (states <= _WRITABLE or not cluster.was_unblocked)
                ):
                    continue  # Nothing was truncated.
                content = _with_reset(cluster.log[:count_kept], has_reset)
                yield content, _with_content(cluster, content, states, has_reset=has_reset)
        for count in range(0 if cluster.is_mixed else cluster.min_batches, len(source) + 1):
            if (cluster.is_paused and count > cluster.min_batches) or (
                cluster.has_own_log and not cluster.was_unblocked
            ):
                continue
            mirrored = replace(
                cluster,
                has_own_log=False,
                min_batches=max(cluster.min_batches, count),
                has_mirrored=cluster.has_mirrored or count > 0,
            )
            content = _with_reset(source[:count], has_reset)
            yield content, _with_content(mirrored, content, states, has_reset=has_reset)


def _with_reset(content: Content, has_reset: bool) -> Content:
    return (*content, Batch(end_of(content), 1, RESET)) if has_reset else content


def _with_content(cluster: ClusterState, content: Content, states: frozenset[str], *, has_reset: bool) -> ClusterState:
    cluster = replace(cluster, exists=True, states=states)
    if cluster.is_mixed:
        return cluster
    return replace(cluster, log=content, is_log_known=True) if has_reset or states == STOPPED else cluster


def add_topic(pair: Pair, name: str) -> Iterator[Pair]:
    """Yield the pair after the topic was added in a cluster; `pair` needs `with_reachable_states`."""
    cluster = pair.cluster(name)
    if cluster.wish is None:
        states = frozenset({"UNKNOWN", "STOPPED"}) if cluster.exists else frozenset({"UNKNOWN"})
        yield pair.put(name, _start_mirroring(replace(cluster, exists=cluster.exists or None), states))
        return
    writable_states = cluster.states & _WRITABLE
    if writable_states:
        for log, after in contents(pair.put(name, replace(cluster, states=writable_states)), name):
            yield after.put(name, _start_mirroring(replace(after.cluster(name), log=log), writable_states))
    other_states = cluster.states - _WRITABLE
    if other_states and not cluster.is_order_known:  # The broker that handles the request does not know of the removal.
        mixed = replace(
            cluster, wish=Wish.MIRROR, states=other_states, is_mixed=True, is_paused=False, is_log_known=False
        )
        yield pair.put(name, mixed)


def _start_mirroring(cluster: ClusterState, states: frozenset[str]) -> ClusterState:
    return replace(
        cluster,
        wish=Wish.MIRROR,
        is_read_only=False,
        is_order_known=False,
        states=states,
        has_own_log=True,
        min_batches=0,
        is_paused=False,
        is_log_known=False,
        was_unblocked=False,
        is_mixed=False,
        has_mirrored=False,
    )


def settle(pair: Pair) -> Iterator[Pair]:
    """Yield the pair after a time in which every operation has completed."""
    pairs = [with_reachable_states(pair)]
    for name in ("a", "b"):
        if pair.cluster(name).wish is Wish.REMOVE:
            pairs = [after for before in pairs for after in _stop(before, name)]
    for before in dict.fromkeys(pairs):
        after = with_reachable_states(before)
        for name in ("a", "b"):
            after = after.put(name, _settle_cluster(after, name))
        yield after


def _stop(pair: Pair, name: str) -> Iterator[Pair]:
    stopped = replace(pair.cluster(name), states=STOPPED, is_order_known=True, is_read_only=True)
    for log, after in contents(pair.put(name, stopped), name):
        yield after.put(name, replace(after.cluster(name), log=log, is_log_known=True, is_mixed=False))


def _settle_cluster(pair: Pair, name: str) -> ClusterState:
    cluster, other = pair.cluster(name), pair.other(name)
    if cluster.wish in (None, Wish.REMOVE) or (cluster.wish is Wish.PAUSE and cluster.exists is None):
        return cluster  # A paused topic is not created (D17).
    assert cluster.wish is not None, "checked"
    goal = FINAL_STATES[cluster.wish]
    if goal not in cluster.states:
        states = cluster.states & {"PREPARING"}
    elif not is_blocked(pair, name) and (other.wish is None or other.has_mirrored):
        states = frozenset({goal})
    else:
        # The other cluster mirrors from this one, or has no copy of this log: it may be the only one, and waits (D25).
        states = cluster.states & {goal, "PREPARING"}
    cluster = replace(cluster, states=states, is_order_known=True, is_read_only=True)
    if goal in states:
        cluster = replace(cluster, exists=True)
    if states == {"MIRRORING"}:
        cluster = replace(
            cluster, has_own_log=False, is_mixed=False, min_batches=len(other.log), has_mirrored=bool(other.log)
        )
    return cluster


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
"""The next wish after an order, or the error of the order."""


def apply_order(pair: Pair, name: str, order: str) -> Iterator[tuple[int, ClusterState]]:
    """Yield the error of an order about the topic, and the cluster after it; `pair` needs `with_reachable_states`."""
    cluster = pair.cluster(name)
    if cluster.wish is None:
        if cluster.exists is not True:
            yield int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), cluster
        if cluster.exists is not False:
            yield int(ErrorCode.UNKNOWN_MIRROR), cluster
        return
    wish = ORDERS[order][cluster.wish]
    if isinstance(wish, ErrorCode):
        yield int(wish), cluster
        return
    if wish is Wish.REMOVE and cluster.exists is None:
        # A topic that was never created leaves its mirror at once (D34).
        yield 0, replace(cluster, wish=None, states=frozenset(), is_log_known=True)
    is_paused = cluster.is_paused and wish is not Wish.MIRROR
    exists = True if wish is Wish.REMOVE else cluster.exists
    is_order_known = cluster.is_order_known and wish is cluster.wish
    yield 0, replace(cluster, wish=wish, is_paused=is_paused, is_order_known=is_order_known, exists=exists)
