"""Index of an account for checkers: records, reachability of nodes, sessions of mirrors, elections, topics.

Nothing here judges. Uncertainty in the account is kept: a record above a leader's high watermark counts neither as
present nor as gone, because a new leader's high watermark lags behind the committed offset.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeVar, cast

from kmirror.histories import compaction
from kmirror.histories.account import (
    UNAWARE,
    Account,
    Ack,
    Election,
    LogRow,
    ObservedCut,
    ObservedLog,
    ObservedState,
    Order,
    Span,
    TopicChange,
    Transaction,
)
from kmirror.histories.checkers.sessions import CARRIED_OUT, NEVER, MirrorSession, ServersChange, mirror_sessions
from kmirror.histories.compaction import clock_steps, clocks_differ_by, may_be_compacted
from kmirror.histories.plan import Plan
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.releases import has_topic_ids

T = TypeVar("T")
R = TypeVar("R", Ack, Election, ObservedState)
Place = compaction.Place
LATE: Duration = 3 * SECOND
"""Time before a response arrived at which the leader may have read its log."""


class RecordState(Enum):
    """State of a record in one observed log."""

    PRESENT = "there"
    UNDECIDED = "undecided"
    """Present, above the last stable offset."""
    HIDDEN = "hidden"
    """Present below the last stable offset, but not visible to read_committed consumers."""
    GONE = "gone"
    OPEN = "open"
    """Its offset is between high watermark and log end, so it may be present."""


@dataclass(frozen=True, slots=True)
class RecordDeletion:
    """A DeleteRecords that was, or may have been, carried out."""

    below: int
    """Offset below which records are deleted; -1 for the high watermark."""
    sent_at: Instant
    answered_at: Instant
    """-1 if no response came."""

    def reaches(self, start: int) -> bool:
        """Return whether it allows the log to begin at `start`."""
        return self.below < 0 or start <= self.below


class LogView:
    """A leader's log at one moment, with indexes of its records."""

    __slots__ = ("by_offset", "by_value", "log")

    def __init__(self, log: ObservedLog) -> None:
        self.log = log
        self.by_value: dict[str, LogRow] = {}
        self.by_offset: dict[int, LogRow] = {}
        for row in log.rows:
            self.by_offset[row.offset] = row
            if not is_control(row):
                self.by_value.setdefault(row.value, row)

    @property
    def at(self) -> Instant:
        return self.log.at

    def decided_rows(self) -> Iterable[LogRow]:
        """Yield the records that a read_committed consumer receives."""
        stable = self.log.last_stable_offset
        return (row for row in self.log.rows if row.visible and row.offset < stable and not is_control(row))

    def has_value(self, value: str) -> bool:
        return value in self.by_value

    def record_state(self, value: str, offset: int) -> RecordState:
        """Return the state of `value`, which had `offset` when it was last observed."""
        row = self.by_value.get(value)
        if row is not None:
            undecided = row.offset >= self.log.last_stable_offset
            return RecordState.UNDECIDED if undecided else RecordState.PRESENT if row.visible else RecordState.HIDDEN
        return RecordState.OPEN if self.log.high_watermark <= offset < self.log.log_end_offset else RecordState.GONE


class Facts:
    """The account with indexes and queries for checkers."""

    def __init__(self, account: Account, plan: Plan) -> None:
        self.account = account
        self.plan = plan
        self.brokers = {cluster.name: cluster.brokers for cluster in plan.clusters}
        self.versions = {cluster.name: cluster.mirror_version for cluster in plan.clusters}
        self.has_topic_ids_by_cluster = {cluster.name: has_topic_ids(cluster.release) for cluster in plan.clusters}
        self._sessions: dict[Place, list[MirrorSession]] = {}
        self._found: dict[str, object] = {}

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of `make`, cached under this name for all checkers."""
        if name not in self._found:
            self._found[name] = make()
        return cast(T, self._found[name])

    # -- records ------------------------------------------------------------------------------

    @cached_property
    def views(self) -> dict[Place, list[LogView]]:
        """Return all observations of each log in order of time; the last one is from the end.

        Observations of a deposed leader do not count, as it may lack records that its successor acknowledged.
        """
        found: dict[Place, list[LogView]] = {}
        for log in self.account.logs:
            if log.leader_epoch >= self.leader_epoch((log.cluster, log.tp), log.at):
                found.setdefault((log.cluster, log.tp), []).append(LogView(log))
        for place, log in self.account.final_logs.items():
            found.setdefault(place, []).append(LogView(log))
        return {place: found[place] for place in sorted(found)}

    def final_view(self, place: Place) -> LogView | None:
        """Return the log at the end of the history, or None if there was no leader."""
        return self.views[place][-1] if place in self.account.final_logs else None

    def view_before(self, place: Place, at: Instant) -> LogView | None:
        """Return the last observation at or before `at`."""
        views = self.views.get(place, [])
        number = bisect_right(views, at, key=lambda view: view.at)
        return views[number - 1] if number else None

    def view_after(self, place: Place, at: Instant) -> LogView | None:
        """Return the first observation at or after `at`."""
        return next((view for view in self.views.get(place, []) if view.at >= at), None)

    @cached_property
    def acks(self) -> dict[Place, list[Ack]]:
        """Return acknowledgements by place, in order of time."""
        return _by_place(self.account.acks)

    @cached_property
    def first_acks(self) -> dict[tuple[str, str], Ack]:
        """Return the first acknowledgement of each (cluster, value)."""
        found: dict[tuple[str, str], Ack] = {}
        for ack in self.account.acks:
            found.setdefault((ack.cluster, ack.value), ack)
        return found

    def writing_cluster(self, value: str) -> str:
        """Return the cluster that `value` was written to; empty for a value that no client sent."""
        write = self.account.writes.get(value)
        return "" if write is None else write.cluster

    def transaction(self, value: str) -> Transaction | None:
        write = self.account.writes.get(value)
        return None if write is None else self.account.transactions.get(write.transaction)

    # -- elections ----------------------------------------------------------------------------

    @cached_property
    def elections(self) -> dict[Place, list[Election]]:
        """Return elections by place, in order of time."""
        return _by_place(self.account.elections)

    def leader_epoch(self, place: Place, at: Instant) -> int:
        """Return the latest leader epoch from the controller up to `at`; -1 if there was no election since the
        beginning.
        """
        elections = self.elections.get(place, [])
        number = bisect_right(elections, at, key=lambda election: election.at)
        return elections[number - 1].leader_epoch if number else -1

    def led_since(self, place: Place, at: Instant) -> Instant:
        """Return when the controller assigned the leader epoch that was current at `at`; 0 for the first one."""
        named = [election.at for election in self.elections.get(place, []) if election.at <= at]
        return named[-1] if named else 0

    def leader_at(self, place: Place, at: Instant) -> int | None:
        """Return the latest leader from the controller up to `at`; None if there was no election before."""
        elections = self.elections.get(place, [])
        number = bisect_right(elections, at, key=lambda election: election.at)
        return elections[number - 1].leader if number else None

    def leaders_of_epoch(self, place: Place, leader_epoch: int) -> list[int]:
        """Return the known leaders of a leader epoch.

        The first leaders are known from observed logs only, so one that died before the first observation is missing.
        """
        named = [e.leader for e in self.elections.get(place, []) if e.leader_epoch == leader_epoch]
        brokers = [view.log.broker for view in self.views.get(place, []) if view.log.leader_epoch == leader_epoch]
        return [*dict.fromkeys((*named, *brokers))]

    @cached_property
    def unclean_views_by_place(self) -> dict[Place, list[LogView]]:
        """Return the first logs of unclean leaders, by place and in order of time."""
        found: dict[Place, list[LogView]] = {}
        for log in self.account.unclean_leader_logs:
            found.setdefault((log.cluster, log.tp), []).append(LogView(log))
        return found

    def unclean_leader_views(self, place: Place, begin: Instant = 0, end: Instant = NEVER) -> Iterator[LogView | None]:
        """Yield the first log of each unclean leader elected in this time, or up to UNAWARE before it.

        Yield None for one that never began to lead.
        """
        for election in self.elections.get(place, []):
            if election.unclean and begin - UNAWARE <= election.at <= end:
                unclean_leader_logs = (
                    successor for successor in self.unclean_views_by_place.get(place, []) if successor.at >= election.at
                )
                yield next(unclean_leader_logs, None)

    def power_losses(self, place: Place, begin: Instant, end: Instant) -> Iterator[tuple[LogView, int]]:
        """Yield the first leader's log after each loss of the site's power in this time that shortened it.

        Each comes with the offset below which that replica had flushed everything.
        """
        for loss in self.account.power_losses:
            if (
                (loss.cluster, loss.tp) == place
                and begin <= loss.at <= end
                and loss.successor_log is not None
                and loss.has_cut
            ):
                yield LogView(loss.successor_log), loss.flushed_ends[loss.successor_log.broker]

    def may_have_lost(self, place: Place, begin: Instant, end: Instant) -> bool:
        """Return whether a leader may have begun in this time without records of the log.

        It was elected uncleanly, or began after a loss of the site's power.
        """
        return any(True for _ in self.unclean_leader_views(place, begin, end)) or any(
            self.power_losses(place, begin, end)
        )

    def cuts(self, place: Place) -> list[ObservedCut]:
        """Return the cuts of the partition by its leaders because of mirroring, in order of time."""
        return [cut for cut in self.account.cuts if (cut.cluster, cut.tp) == place]

    # -- topics -------------------------------------------------------------------------------

    @cached_property
    def deletions(self) -> dict[tuple[str, str], list[TopicChange]]:
        """Return the deletions by (cluster, topic), in order of time."""
        found: dict[tuple[str, str], list[TopicChange]] = {}
        for row in self.account.topics:
            if not row.exists:
                found.setdefault((row.cluster, row.topic), []).append(row)
        return found

    def was_deleted(self, place: Place, begin: Instant = 0, end: Instant = NEVER) -> bool:
        """Return whether the topic was deleted in this time."""
        return any(begin <= row.at <= end for row in self.deletions.get((place[0], place[1].topic), []))

    def deletion_may_be_unknown(self, place: Place, begin: Instant, end: Instant) -> bool:
        """Return whether the topic was deleted in this time, or earlier and a broker may not have learned of it."""
        is_behind = self.account.may_be_behind(place[0], begin - UNAWARE, begin)
        return self.was_deleted(place, begin - (UNAWARE if is_behind else LATE), end)

    def is_absent(self, place: Place, at: Instant) -> bool:
        """Return whether the cluster lacked the topic at this moment because of its deletion."""
        rows = [row for row in self.account.topics if (row.cluster, row.topic) == (place[0], place[1].topic)]
        before = [row for row in rows if row.at <= at]
        return bool(before) and not before[-1].exists

    def was_created_or_deleted(self, cluster: str, topic: str, since: Instant) -> bool:
        """Return whether the topic was created or deleted in the cluster after this moment."""
        rows = [row for row in self.account.topics if (row.cluster, row.topic) == (cluster, topic)]
        return any(row.at > since for row in rows)

    def was_deleted_anywhere(self, topic: str, begin: Instant, end: Instant) -> bool:
        """Return whether a topic of this name was deleted in any cluster in this time."""
        return any(
            begin <= row.at <= end for (_, name), rows in self.deletions.items() if name == topic for row in rows
        )

    def may_be_another_topic(self, session: MirrorSession) -> bool:
        """Return whether the source's topic was deleted in a session, and the next one has no other id (D53)."""
        return self.source_until(session) == NEVER and any(
            row.at >= session.began_at and not self.has_topic_ids_by_cluster[session.source]
            for row in self.deletions.get((session.source, session.tp.topic), [])
        )

    def may_follow_another(self, session: MirrorSession) -> bool:
        """Return whether a mirror may follow another topic than that of its source.

        The topic may have been replaced, or the mirror was pointed from one cluster to another, and follows the first
        one or halts (D16).
        """
        sessions = self.sessions((session.destination, session.tp))
        return len(
            [other for other in sessions if other.began_at == session.began_at]
        ) > 1 or self.may_be_another_topic(session)

    def source_until(self, session: MirrorSession) -> Instant:
        """Return when the source last had the topic that is mirrored in a session; NEVER if it has it to the end.

        A later topic of the same name is another topic, and justifies no loss (D16), unless it has the same id: then it
        was mirrored back (D49), or its source reports no ids (D53). The result is the moment of the last observation of
        the topic.
        """
        for row in self.deletions.get((session.source, session.tp.topic), []):
            if row.at < session.began_at:
                continue
            ids = [r.topic_id for r in self._created(session.source, session.tp.topic) if r.at >= row.at]
            if row.topic_id in ids:
                return NEVER
            view = self.view_before((session.source, session.tp), row.at)
            return row.at if view is None else max(view.at, session.began_at)
        return NEVER

    def retention_time(self, topic: str, until: Instant) -> Duration:
        """Return the shortest time for which records of the topic are kept; NEVER if no order set a retention time."""
        orders = [
            o for o in self.orders("alter_topic") if topic in o.topics and o.error in CARRIED_OUT and o.sent_at <= until
        ]
        values = [self.plan.steps[order.number].args for order in orders]
        times = [int(args["value"]) for args in values if args.get("name") == "retention.ms"]
        return min((ms * MILLISECOND for ms in times if ms >= 0), default=NEVER)

    def is_expired(self, value: str, at: Instant) -> bool:
        """Return whether a record may have been deleted by its age, counted from its creation."""
        write = self.account.writes.get(value)
        return (
            write is not None and write.sent_at + self.retention_time(write.tp.topic, at) - self.clocks_differ_by <= at
        )

    @cached_property
    def clocks_differ_by(self) -> Duration:
        """Return the largest possible difference between the clocks of two nodes, or of a node and a client."""
        return clocks_differ_by(self.plan)

    def clock_ahead(self, cluster: str, brokers: Collection[int]) -> Duration:
        """Return the largest lead of the clock of one of the brokers; without brokers, of any in the cluster."""
        end_ms = self.plan.faults_end_ms
        shown = [
            int(args["ahead_ms"]) + max(0, int(args.get("ppm", 0))) * end_ms // 1_000_000
            for args in clock_steps(self.plan)
            if args["cluster"] == cluster and (not brokers or args.get("broker") in brokers)
        ]
        return max([0, *shown]) * MILLISECOND

    def may_be_deleted(self, value: str, offset: int, at: Instant) -> bool:
        """Return whether a record may have been deleted by its age, or by DeleteRecords."""
        return self.is_expired(value, at) or self._was_deletion_requested(value, offset, at)

    def _was_deletion_requested(self, value: str, offset: int, at: Instant) -> bool:
        """Return whether any cluster got DeleteRecords above this offset while the record existed.

        A mirror's log begins no earlier than its source's, so records deleted in one cluster are deleted in others.
        """
        write = self.account.writes.get(value)
        return write is not None and any(
            deletion.reaches(offset + 1) and (deletion.answered_at < 0 or write.sent_at <= deletion.answered_at)
            for cluster in self.brokers
            for deletion in self.record_deletions((cluster, write.tp), at)
        )

    def record_deletions(self, place: Place, until: Instant) -> Iterator[RecordDeletion]:
        """Yield each DeleteRecords for a partition of one cluster that was sent up to `until` and not refused."""
        for order in self.orders("delete_records"):
            args = self.plan.steps[order.number].args
            about = str(args["cluster"]), TopicPartition(str(args["topic"]), int(args["partition"]))
            if about == place and order.sent_at <= until and order.error in CARRIED_OUT:
                yield RecordDeletion(int(args["offset"]), order.sent_at, order.answered_at)

    def topic_id(self, cluster: str, tp: TopicPartition, at: Instant) -> str:
        """Return the id of the topic that existed at this moment; empty if the account has none."""
        rows = [row for row in self.account.topics if (row.cluster, row.topic) == (cluster, tp.topic) and row.at <= at]
        return rows[-1].topic_id if rows else ""

    def _created(self, cluster: str, topic: str) -> list[TopicChange]:
        return [row for row in self.account.topics if (row.cluster, row.topic, row.exists) == (cluster, topic, True)]

    # -- mirrors ------------------------------------------------------------------------------

    @cached_property
    def states(self) -> dict[Place, list[ObservedState]]:
        """Return the observed states by place, in order of time."""
        return _by_place(self.account.states)

    def sessions(self, place: Place) -> list[MirrorSession]:
        """Return the partition's sessions in mirrors, by the time they began."""
        if place not in self._sessions:
            deleted = [row.at for row in self.deletions.get((place[0], place[1].topic), [])]
            states = self.states.get(place, [])
            # A cluster without mirrors does not respond to such orders, and carries none out.
            orders = self.account.orders if self.versions.get(place[0], 1) else []
            self._sessions[place] = mirror_sessions(*place, orders, states, self.servers_changes, deleted)
        return self._sessions[place]

    @cached_property
    def servers_changes(self) -> list[ServersChange]:
        """Return the clusters that mirrors were pointed to, in order of time."""
        found = []
        for order in self.account.orders:
            if order.action in ("create_mirror", "point_mirror") and order.error in CARRIED_OUT:
                args = self.plan.steps[order.number].args
                to = str(args.get("servers", order.source))
                found.append(ServersChange(order.destination, order.mirror, to, order.sent_at, order.error == "NONE"))
        return found

    def state_at(self, place: Place, at: Instant, mirror: str) -> str:
        """Return the last observed state of the partition in `mirror` up to `at`; empty if there was none.

        The deletion of a topic removes its partitions and their states; a topic that is created later is another one.
        """
        gone = [row.at for row in self.deletions.get((place[0], place[1].topic), []) if row.at <= at]
        since = max(gone, default=-1)
        rows = [row.state for row in self.states.get(place, []) if since < row.at <= at and row.mirror == mirror]
        return rows[-1] if rows else ""

    def may_have_deleted_mirror(self, cluster: str, mirror: str, begin: Instant, end: Instant) -> bool:
        """Return whether `mirror` may have been deleted in `cluster` in this time."""
        return any(
            order.action == "delete_mirror"
            and order.destination == cluster
            and order.mirror == mirror
            and order.sent_at <= end
            and (order.answered_at < 0 or begin <= order.answered_at)
            and order.error in CARRIED_OUT
            for order in self.account.orders
        )

    def orders(self, *actions: str) -> list[Order]:
        return [order for order in self.account.orders if order.action in actions]

    # -- which nodes were up -------------------------------------------------------------------

    def was_reachable(self, one: str, other: str, begin: Instant, end: Instant) -> bool:
        """Return whether a broker of `other` ran while the line to `one` was up, at some moment in [begin, end]."""
        if end < begin or not other:
            return False
        lines = [
            span for span in self.account.spans if span.kind == "line" and span.ends in ([one, other], [other, one])
        ]
        brokers = [
            [span for span in self.account.spans if span.kind == "broker" and span.subject == f"{other}-{number}"]
            for number in range(1, self.brokers.get(other, 1) + 1)
        ]
        moments = [begin, *(span.end for spans in (lines, *brokers) for span in spans if begin <= span.end <= end)]
        return any(
            not covers(lines, at) and any(not covers(spans, at) for spans in brokers) for at in moments
        )  # fmt: skip

    def was_disturbed(self, cluster: str, begin: Instant, end: Instant) -> bool:
        """Return whether a node of `cluster` or a line inside it was down at some time in [begin, end]."""
        return any(
            _within(span, cluster) and span.begin <= end and (span.end < 0 or begin <= span.end)
            for span in self.account.spans
        )


def _by_place(rows: Iterable[R]) -> dict[Place, list[R]]:
    found: dict[Place, list[R]] = {}
    for row in rows:
        found.setdefault((row.cluster, row.tp), []).append(row)
    return found


def is_control(row: LogRow) -> bool:
    return row.value.startswith("<")


def is_producer_reset(row: LogRow) -> bool:
    return row.value.startswith("<MIRROR_PID_RESET")


def covers(spans: Iterable[Span], at: Instant) -> bool:
    """Return whether one of the spans covers the moment `at`."""
    return any(span.begin <= at and (span.end < 0 or at < span.end) for span in spans)


def _within(span: Span, cluster: str) -> bool:
    """Return whether the span is about a node of `cluster`, or a line between two of its nodes."""
    return any(end.rsplit("-", 1)[0] == cluster and "-" in end for end in span.ends)


def is_compacted(facts: Facts, place: Place, until: Instant) -> bool:
    """Return whether the cleaner may have removed records there up to a moment."""
    key = f"compacted {place}"
    if not facts.cached(key, lambda: may_be_compacted(facts.plan, facts.account, place[0], place[1].topic, NEVER)):
        return False
    return may_be_compacted(facts.plan, facts.account, place[0], place[1].topic, until)


def was_away(facts: Facts, place: Place, log: ObservedLog, written_at: Instant = 0) -> bool:
    """Return whether the leader may have missed a marker or tombstone written at `written_at`; see
    `compaction.was_away`.
    """
    return compaction.was_away(facts.plan, facts.account, place, log.broker, log.at, written_at)
