"""Accounts written by hand: clusters a, b and c, one partition, seconds as times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kmirror.histories.account import (
    Account,
    Ack,
    Election,
    FetchedOffsets,
    LogRow,
    ObservedLog,
    ObservedState,
    Order,
    PowerLoss,
    ReceivedRecord,
    Refusal,
    Span,
    TopicChange,
    Transaction,
    Write,
)
from kmirror.histories.checkers import judge
from kmirror.histories.checkers.facts import Facts
from kmirror.histories.plan import ClusterPlan, Plan, Step, Value
from kmirror.histories.verdict import Accepted, Anomaly
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition

TP = TopicPartition("orders", 0)
PLAN = Plan(
    seed=0,
    profile="hand",
    clusters=tuple(ClusterPlan(name, 3, 3) for name in "abc"),
    network={},
    clients=(),
    steps=(),
    faults_end_ms=100_000,
    converge_ms=100_000,
)
MIRROR = "m"


def row(offset: int, value: str, *, epoch: int = 0, pid: int = -1, visible: bool = True) -> LogRow:
    return LogRow(offset, epoch, value, pid, visible)


def rows(*values: str, start: int = 0, epoch: int = 0) -> list[LogRow]:
    return [row(start + number, value, epoch=epoch) for number, value in enumerate(values)]


class Hand:
    """Writes an account; times are in seconds."""

    def __init__(self) -> None:
        self.account = Account()
        self._number = 0
        self._steps = [Step(0, "nothing")]
        self._releases: dict[str, str] = {}

    # -- clients ------------------------------------------------------------------------------

    def wrote(
        self,
        value: str,
        offset: int,
        *,
        at: float = 1,
        cluster: str = "a",
        pid: int = -1,
        transaction: str = "",
        acked: bool = True,
        retried: float | None = None,
    ) -> Hand:
        """Record a write of a value; `retried` is the time of the attempt that was answered, if not the first."""
        sent = _us(at if retried is None else retried)
        self.account.writes[value] = Write(value, "p", cluster, TP, pid, 0, 0, transaction, _us(at))
        if acked:
            self.account.acks.append(Ack(value, cluster, TP, offset, sent + SECOND // 100, sent, 1))
        return self

    def transaction(self, key: str, *values: str, asked: str = "commit", answered: bool = True) -> Hand:
        self.account.transactions[key] = Transaction(key, "a", list(values), asked, answered and bool(asked))
        return self

    def refused(self, value: str, error: str, *, first: bool = True, at: float = 5) -> Hand:
        self.account.refusals.append(Refusal(value, "p", "a", TP, error, first, _us(at)))
        return self

    def read(self, value: str, offset: int, *, at: float, cluster: str = "a", committed: bool = True) -> Hand:
        self.account.reads.append(ReceivedRecord("r", cluster, TP, committed, offset, value, 0, _us(at)))
        return self

    def marks(
        self, high: int, *, at: float, cluster: str = "a", epoch: int = 1, broker: int = 1, leads: bool = True
    ) -> Hand:
        self.account.fetched_offsets.append(
            FetchedOffsets("r", cluster, TP, broker, epoch, high, high, 0, _us(at), leads)
        )
        return self

    def plays(self, cluster: str, release: str) -> Hand:
        """Let the brokers of a cluster emulate an earlier release of Kafka, which has no mirrors."""
        self._releases[cluster] = release
        return self

    # -- operators ----------------------------------------------------------------------------

    def order(
        self,
        action: str,
        source: str,
        destination: str,
        *,
        at: float,
        error: str = "NONE",
        mirror: str = MIRROR,
        args: Mapping[str, Value] | None = None,
        answered_at: float | None = None,
    ) -> Hand:
        self._number += 1
        self._steps.append(Step(0, action, args or {}))
        answered = -1 if not error else _us(at) + SECOND // 10 if answered_at is None else _us(answered_at)
        self.account.orders.append(
            Order(self._number, action, mirror, source, destination, (TP.topic,), _us(at), answered, error)
        )
        return self

    def state(
        self,
        cluster: str,
        state: str,
        *,
        at: float,
        epoch: int = -1,
        broker: int = 1,
        mirror: str = MIRROR,
        end: int = 0,
    ) -> Hand:
        self.account.states.append(ObservedState(cluster, mirror, TP, broker, state, epoch, end, "", _us(at)))
        return self

    def stay(
        self,
        source: str,
        destination: str,
        *,
        began: float,
        mirroring: float = -1,
        removed: float = -1,
        stopped: float = -1,
        epoch: int = 0,
        mirror: str = MIRROR,
    ) -> Hand:
        """Record a whole stay in a mirror; times of -1 are left out."""
        self.order("add", source, destination, at=began, mirror=mirror)
        self.state(destination, "PREPARING", at=began + 0.2, mirror=mirror)
        if mirroring >= 0:
            self.state(destination, "MIRRORING", at=mirroring, mirror=mirror)
        if removed >= 0:
            self.order("remove", source, destination, at=removed, mirror=mirror)
            self.state(destination, "STOPPING", at=removed + 0.1, mirror=mirror)
        if stopped >= 0:
            self.state(destination, "STOPPED", at=stopped, epoch=epoch, mirror=mirror)
        return self

    def away(self, kind: str, subject: str, begin: float, end: float) -> Hand:
        self.account.spans.append(Span(kind, subject, _us(begin), _us(end) if end >= 0 else -1))
        return self

    def elected(self, leader: int, epoch: int, *, at: float, cluster: str = "a", unclean: bool = False) -> Hand:
        self.account.elections.append(Election(cluster, TP, leader, epoch, unclean, _us(at)))
        return self

    def topic(self, cluster: str, topic_id: str, *, at: float, exists: bool = True) -> Hand:
        """Record the creation of the topic in a cluster, or its deletion."""
        self.account.topics.append(TopicChange(cluster, TP.topic, topic_id, exists, _us(at)))
        return self

    # -- logs ---------------------------------------------------------------------------------

    def look(
        self,
        cluster: str,
        content: Sequence[LogRow],
        *,
        at: float,
        stable: int = -1,
        high: int = -1,
        end: int = -1,
        leader_epoch: int = 50,
        start: int = 0,
    ) -> Hand:
        """Record a log in the middle of the history; offsets that are not given are at the end of the log."""
        self.account.logs.append(_seen(cluster, content, at, stable, high, end, leader_epoch, start))
        return self

    def heir(self, cluster: str, content: Sequence[LogRow], *, at: float, leader_epoch: int = 50) -> Hand:
        """Record the first log of a leader from outside the ISR."""
        self.account.unclean_leader_logs.append(_seen(cluster, content, at, -1, -1, -1, leader_epoch, 0))
        return self

    def power_lost(self, kept: int, heir: Sequence[LogRow], *, at: float, end: int, cluster: str = "a") -> Hand:
        """Record a power loss of a site: its next leader had flushed all below `kept`, and its log ended at `end`."""
        seen = _seen(cluster, heir, at, -1, -1, -1, 50, 0)
        self.account.power_losses.append(PowerLoss(cluster, TP, {1: kept}, {1: end}, _us(at), seen))
        return self

    def final(
        self,
        cluster: str,
        content: Sequence[LogRow],
        *,
        at: float = 100,
        stable: int = -1,
        high: int = -1,
        end: int = -1,
        leader_epoch: int = 50,
        start: int = 0,
    ) -> Hand:
        self.account.final_logs[cluster, TP] = _seen(cluster, content, at, stable, high, end, leader_epoch, start)
        return self

    def restarted(
        self,
        before: Sequence[LogRow],
        after: Sequence[LogRow],
        *,
        stable: int = -1,
        starts: tuple[int, int] = (0, 0),
        brokers: tuple[int, int] = (1, 2),
    ) -> Hand:
        """Record the log of a before and after the restart of all nodes, at 110 and 120 seconds.

        `stable` is its last stable offset after the restart; `starts` and `brokers` are its log start and its leader.
        """
        old = _seen("a", before, 110, -1, -1, -1, 50, starts[0])
        new = _seen("a", after, 120, stable, -1, -1, 51, starts[1])
        self.account.before_restart.logs["a", TP] = replace(old, broker=brokers[0])
        self.account.after_restart.logs["a", TP] = replace(new, broker=brokers[1])
        self.account.before_restart.at, self.account.after_restart.at = _us(110), _us(120)
        return self

    # -- judging ------------------------------------------------------------------------------

    def facts(self) -> Facts:
        self._sort()
        return Facts(self.account, self._plan())

    def judged(self) -> tuple[list[Anomaly], list[Accepted]]:
        self._sort()
        return judge(self.account, self._plan())

    def _plan(self) -> Plan:
        clusters = tuple(
            replace(row, release=self._releases[row.name], mirror_version=0) if row.name in self._releases else row
            for row in PLAN.clusters
        )
        return replace(PLAN, clusters=clusters, steps=tuple(self._steps))

    def _sort(self) -> None:
        self.account.orders.sort(key=lambda order: order.sent_at)
        self.account.states.sort(key=lambda state: state.at)
        self.account.logs.sort(key=lambda log: log.at)
        self.account.acks.sort(key=lambda ack: ack.at)

    def found(self) -> list[str]:
        """Return the names of the checkers with findings."""
        return list(dict.fromkeys(anomaly.checker for anomaly in self.judged()[0]))

    def accepted(self) -> dict[str, int]:
        """Return the number of accepted records, by decision."""
        counts: dict[str, int] = {}
        for loss in self.judged()[1]:
            counts[loss.decision] = counts.get(loss.decision, 0) + loss.records
        return counts


def _us(seconds: float) -> int:
    return round(seconds * SECOND)


def _seen(
    cluster: str, content: Sequence[LogRow], at: float, stable: int, high: int, end: int, leader_epoch: int, start: int
) -> ObservedLog:
    after = content[-1].offset + 1 if content else start
    high = after if high < 0 else high
    stable = high if stable < 0 else stable
    return ObservedLog(cluster, TP, 1, leader_epoch, start, stable, high, max(end, high), tuple(content), _us(at))
