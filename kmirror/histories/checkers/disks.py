"""Checker of disk use after everything has settled: a cluster keeps no more than it must.

A mirrored log begins no earlier than its source's, regardless of the configs on either side, and holds the same bytes
from there on (D46). A log in no mirror, or after its stop, follows its topic's own `retention.ms` and
`retention.bytes`. Records below the log start may remain only in the segment that contains the log start.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.histories.checkers.facts import Facts, Place, is_compacted
from kmirror.histories.checkers.sessions import NEVER
from kmirror.histories.checkers.wording import Finding
from kmirror.histories.disk_account import ReplicaFiles
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration

NAME = "disk-use"
START_KNOWN_WITHIN: Duration = 2 * SECOND
"""Time until a follower, or a mirror's leader, learns of a new log start, with the next fetch response."""


def disk_use(facts: Facts) -> Iterator[Finding]:
    """At rest, a replica keeps segments or files below its log start, records that its leader, its mirror's source or
    its retention has removed, or other bytes than the source; or a broker keeps a partition that is not assigned to it.
    """
    disks = facts.account.disks
    waiting = {(cluster, tp) for cluster, tp, _ in facts.account.unsettled}
    unsettled = {cluster for cluster, tp in waiting if not tp.topic}
    for cluster, broker, tp, reason in disks.leftovers:
        if cluster not in unsettled:
            yield Anomaly(NAME, cluster, tp, -1, f"broker {broker} of {cluster} keeps {tp} on its disk: {reason}")
    leaders = {(row.cluster, row.tp): row for row in disks.replicas if row.is_leader}
    for row in disks.replicas:
        place = (row.cluster, row.tp)
        leader = leaders.get(place)
        if leader is None or place in waiting or row.cluster in unsettled:
            continue
        wrong = _files_below_start(row) or _begins_before_leader(row, leader) or _exceeds_retention(facts, row)
        if not wrong and row.mirror_state == "MIRRORING":
            wrong = _exceeds_source(facts, place, row, leaders, waiting)
        if wrong:
            text = f"broker {row.broker} of {row.cluster}: {wrong}"
            yield Anomaly(NAME, *place, row.log_start_offset, text, row.at)


def _has_checked(row: ReplicaFiles) -> bool:
    """Return whether the broker has checked for old segments since the replica's last change."""
    return row.unchanged_since + row.checks <= row.at


def _files_below_start(row: ReplicaFiles) -> str:
    first = row.segments[0][0]
    if row.files_below:
        return f"the log's first segment begins at {first}, but it still has {', '.join(row.files_below)}"
    start = row.log_start_from(row.at - row.checks)
    if len(row.segments) > 1 and row.segments[1][0] <= start and _has_checked(row):
        return f"segment {first} still exists, although the log begins at {start} or above"
    return ""


def _begins_before_leader(row: ReplicaFiles, leader: ReplicaFiles) -> str:
    """Return why a follower begins too early: it follows its leader's log start, or its own later one."""
    start = leader.log_start_from(row.at - START_KNOWN_WITHIN)
    if row.unchanged_since <= row.at - START_KNOWN_WITHIN and row.log_start_offset < min(start, row.log_end_offset):
        return f"the log begins at {row.log_start_offset}, but its leader's begins at {start} or above"
    return ""


def _exceeds_retention(facts: Facts, row: ReplicaFiles) -> str:
    """Return the violation of the topic's own retention; a mirror deletes nothing by it."""
    if row.mirror_state not in ("", "STOPPED") or "delete" not in row.policies or not _has_checked(row):
        return ""
    first = row.segments[0]
    late_ms = (row.checks + facts.clocks_differ_by) // MILLISECOND
    if row.retention_ms >= 0 and row.first_age_ms - late_ms > row.retention_ms:
        return f"segment {first[0]} is {row.first_age_ms} ms old, but retention.ms is {row.retention_ms}"
    left = sum(size for _, size in row.segments[1:])
    if first[1] and 0 <= row.retention_bytes <= left:
        return (
            f"without segment {first[0]} the log would still have {left} bytes, but retention.bytes is "
            f"{row.retention_bytes}"
        )
    return ""


def _exceeds_source(
    facts: Facts,
    place: Place,
    row: ReplicaFiles,
    leaders: dict[Place, ReplicaFiles],
    waiting: set[Place],
) -> str:
    """Return how a replica of a mirror keeps more than its source, in offsets or bytes."""
    sessions = [session for session in facts.sessions(place) if session.ended_at == NEVER]
    source = leaders.get((sessions[0].source, row.tp)) if len(sessions) == 1 else None
    if source is None or (sessions[0].source, row.tp) in waiting or facts.source_until(sessions[0]) != NEVER:
        return ""
    if facts.may_follow_another(sessions[0]):
        return ""
    name, start = sessions[0].source, source.log_start_from(row.at - 2 * START_KNOWN_WITHIN)
    if row.unchanged_since <= row.at - 2 * START_KNOWN_WITHIN and row.log_start_offset < min(start, row.log_end_offset):
        return f"the log begins at {row.log_start_offset}, but that of its source {name} begins at {start} or above"
    offsets = row.log_start_offset, row.log_end_offset
    is_cleaned = "compact" in (*row.policies, *source.policies) or is_compacted(facts, place, row.at)
    if offsets == (source.log_start_offset, source.log_end_offset) and row.size != source.size and not is_cleaned:
        return (
            f"it keeps {row.size} bytes between offsets {offsets[0]} and {offsets[1]}, but its source {name} keeps "
            f"{source.size}"
        )
    return ""
