"""Account of a history: all observations that the checkers judge, recorded during the run.

It has only observations of clients and operators: responses, records read, DescribeMirrors, and the committed logs at
chosen moments. Every value that a client writes is unique in the history, so a value identifies a record. Times are
virtual microseconds since the clusters were up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.disk_account import DiskAccount
from kmirror.histories.group_account import GroupAccount
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.values import value
from kmirror.spec.topics import MIRROR_STATE_TOPIC

OPEN_TRANSACTIONS = "transactions are open"
"""Reason in `Account.unsettled` for a partition whose last stable offset does not advance."""
LOG_END = "log end"
"""Prefix of the reason for a mirrored partition whose log end differs from the last stable offset of its source."""
UNAWARE: Duration = 30 * SECOND
"""Time that a deposed leader may take to learn of the unclean election or deletion; it keeps writing meanwhile."""

MISSED = "that this replica missed"
"""Suffix of the reason for a cut that a replica makes when it becomes leader (D30)."""


@dataclass(frozen=True, slots=True)
class Write:
    """A value that a producer sent with acks=all; one row for all retries."""

    value: str
    client: str
    cluster: str
    tp: TopicPartition
    producer_id: int
    producer_epoch: int
    sequence: int
    transaction: str
    """Key in `Account.transactions`, empty outside one."""
    sent_at: Instant
    key: str = ""
    """Key of the record. Others may share it; in a compacted topic the latest record of a key stays."""
    is_tombstone: bool = False
    """The record has no value and deletes its key. A header holds `value` instead."""


@dataclass(frozen=True, slots=True)
class Ack:
    """A write that a leader acknowledged."""

    value: str
    cluster: str
    tp: TopicPartition
    offset: int
    at: Instant
    sent_at: Instant
    """Time at which the acknowledged attempt was sent."""
    broker: int


@dataclass(slots=True)
class Transaction:
    key: str
    """`transactional id/number`: unique in the history."""
    cluster: str
    values: list[str] = field(default_factory=list)
    requested_end: str = ""
    """commit or abort, once EndTxn was sent; else empty."""
    is_end_acknowledged: bool = False
    """The response to EndTxn had no error."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A produce or transaction request that failed permanently: the client gave the value up."""

    value: str
    client: str
    cluster: str
    tp: TopicPartition
    error: str
    """Name of the error code."""
    first: bool
    """It was the first batch of a new producer id in this partition."""
    at: Instant


@dataclass(frozen=True, slots=True)
class ReceivedRecord:
    """A record that a consumer received."""

    client: str
    cluster: str
    tp: TopicPartition
    committed_only: bool
    offset: int
    value: str
    leader_epoch: int
    at: Instant


@dataclass(frozen=True, slots=True)
class FetchedOffsets:
    """Offsets of a partition in one fetch response of a consumer."""

    client: str
    cluster: str
    tp: TopicPartition
    broker: int
    leader_epoch: int
    """Leader epoch in the client's metadata."""
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    at: Instant
    is_leader: bool = True
    """Whether the broker is that leader; otherwise it is a follower (KIP-392)."""


@dataclass(frozen=True, slots=True)
class Order:
    """An operator's request and its result."""

    number: int
    """Number of the step in the plan."""
    action: str
    mirror: str
    source: str
    destination: str
    topics: tuple[str, ...]
    sent_at: Instant
    answered_at: Instant
    """-1 if no response came."""
    error: str
    """NONE, the name of another error code, or empty if no response came."""


@dataclass(frozen=True, slots=True)
class ObservedState:
    """Mirror state of a partition from its leader's DescribeMirrors or facts; one row for each change."""

    cluster: str
    mirror: str
    tp: TopicPartition
    broker: int
    state: str
    last_mirror_epoch: int
    destination_offset: int
    reason: str
    at: Instant


@dataclass(frozen=True, slots=True)
class Span:
    """Time [begin, end) in which a node or line was down or disturbed; end is -1 while it lasts."""

    kind: str
    """broker or controller; for a line: line, slow, lossy."""
    subject: str
    """`a-1`, `a-100`; for a line its two ends, `a|b`, or `a>b` for one direction."""
    begin: Instant
    end: Instant

    @property
    def ends(self) -> list[str]:
        """The node, or the two ends of the line."""
        return self.subject.replace(">", "|").split("|")


@dataclass(frozen=True, slots=True)
class Absence:
    """Time [begin, end) in which a replica was outside the ISR; there is no row while it still is."""

    cluster: str
    tp: TopicPartition
    broker: int
    begin: Instant
    end: Instant


@value
class LogRow:
    """One record of a committed log."""

    offset: int
    epoch: int
    """Leader epoch of its batch."""
    value: str
    """Value, or for a control record its type in angle brackets, such as `<COMMIT 7>` with the producer id."""
    producer_id: int
    visible: bool
    """A read_committed consumer receives it."""
    crc: int = 0
    """Checksum of its batch; it does not cover base offset and epoch."""
    key: str = ""
    is_tombstone: bool = False


@dataclass(frozen=True, slots=True)
class ObservedLog:
    """A leader's log at one moment: `rows` has all records below the high watermark."""

    cluster: str
    tp: TopicPartition
    broker: int
    leader_epoch: int
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    log_end_offset: int
    rows: tuple[LogRow, ...]
    at: Instant


@dataclass(frozen=True, slots=True)
class Election:
    """A change of a partition's leader or leader epoch by the controller."""

    cluster: str
    tp: TopicPartition
    leader: int
    leader_epoch: int
    unclean: bool
    """The new leader was not in the ISR before."""
    at: Instant


@dataclass(frozen=True, slots=True)
class TopicChange:
    """Creation or deletion of a topic in the controller's image; the topics of the start have rows, too."""

    cluster: str
    topic: str
    topic_id: str
    """Topic id as clients and mirrors see it."""
    exists: bool
    at: Instant


@dataclass(frozen=True, slots=True)
class TopicConfigs:
    """Configs of a topic from `at` on, in the controller's image; one row for each change and each new topic."""

    cluster: str
    topic: str
    configs: Mapping[str, str]
    at: Instant


@dataclass(frozen=True, slots=True)
class ObservedCut:
    """A cut of a leader's log caused by mirroring: [offset, end) was removed."""

    cluster: str
    tp: TopicPartition
    broker: int
    offset: int
    end: int
    reason: str
    at: Instant

    def __str__(self) -> str:
        return f"{self.cluster}-{self.broker} cuts {self.tp} at {self.offset} (was {self.end}): {self.reason}"


@dataclass(frozen=True, slots=True)
class DescribedPartition:
    """A partition's row of DescribeMirrors, returned by its leader when logs are observed."""

    cluster: str
    mirror: str
    tp: TopicPartition
    broker: int
    state: str
    source_offset: int
    """-1 if not known; then the lag is not known either."""
    destination_offset: int
    lag: int
    last_mirror_epoch: int
    reason: str
    """Reason of the partition, or else of the mirror."""
    at: Instant
    persisted: str = ""
    """State committed in `__mirror_state` at this moment; empty if no coordinator has it."""
    proof_age_max: Duration = 0
    """Longest time for which a known lag may omit records that the source has acknowledged (D77); 0 if not known."""


class CommittedOffset(NamedTuple):
    """Offset that a group has committed for a partition."""

    offset: int
    leader_epoch: int
    metadata: str
    """Identifies the commit, if a member of a group sent it (`OffsetSent.token`)."""

    def __str__(self) -> str:
        return f"{self.offset} of epoch {self.leader_epoch}, {self.metadata!r}"


@dataclass(slots=True)
class PowerLoss:
    """Simultaneous loss of power of all nodes of a cluster, and of their unflushed data: one row for each partition."""

    cluster: str
    tp: TopicPartition
    flushed_ends: Mapping[int, int]
    """Replica to the offset below which its log was flushed, for the replicas that ran."""
    log_ends: Mapping[int, int]
    """Log end offsets of the same replicas."""
    at: Instant
    successor_log: ObservedLog | None = None
    """Log of the first leader after the loss, with all rows up to its end; None if there was none."""

    @property
    def has_cut(self) -> bool:
        """Return whether the first leader after the loss had lost records."""
        return self.successor_log is not None and self.successor_log.log_end_offset < self.log_ends.get(
            self.successor_log.broker, -1
        )


@dataclass(slots=True)
class Snapshot:
    """State that clients and operators observe at one moment while nothing is written."""

    logs: dict[tuple[str, TopicPartition], ObservedLog] = field(default_factory=dict)
    states: dict[tuple[str, TopicPartition], tuple[str, int]] = field(default_factory=dict)
    """State and last mirrored epoch of each mirrored partition."""
    offsets: dict[tuple[str, str, TopicPartition], CommittedOffset] = field(default_factory=dict)
    """Offsets by (cluster, group, partition)."""
    configs: dict[tuple[str, int, str], dict[str, str]] = field(default_factory=dict)
    """Configs by (cluster, kind of resource, its name)."""
    ids: dict[tuple[str, str], str] = field(default_factory=dict)
    """Topic ids by (cluster, topic)."""
    at: Instant = -1
    """Time at which it was recorded."""


NO_NODE = -1
"""Node id in `Broken` for a rule that a client broke."""


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that a node broke."""

    node_id: int
    """NO_NODE for a client."""
    text: str
    at: Instant


@dataclass(slots=True)
class Account:
    """All observations of a history, each list in order of time."""

    writes: dict[str, Write] = field(default_factory=dict)
    acks: list[Ack] = field(default_factory=list)
    transactions: dict[str, Transaction] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    reads: list[ReceivedRecord] = field(default_factory=list)
    fetched_offsets: list[FetchedOffsets] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    states: list[ObservedState] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    absences: list[Absence] = field(default_factory=list)
    elections: list[Election] = field(default_factory=list)
    """They include the first leaders of a topic that is created again after its deletion."""
    topics: list[TopicChange] = field(default_factory=list)
    topic_configs: list[TopicConfigs] = field(default_factory=list)
    cuts: list[ObservedCut] = field(default_factory=list)
    logs: list[ObservedLog] = field(default_factory=list)
    """Logs of every partition and cluster, recorded just before each add and remove is sent and when a state is entered
    that ends a session (MIRRORING, STOPPED).
    """
    described: list[DescribedPartition] = field(default_factory=list)
    """Recorded whenever logs are observed, for the same partitions."""
    unclean_leader_logs: list[ObservedLog] = field(default_factory=list)
    """Whole log of each unclean leader when it began to lead, with all rows up to the log end. Records that it lacks
    were lost by its election.
    """
    power_losses: list[PowerLoss] = field(default_factory=list)
    final_logs: dict[tuple[str, TopicPartition], ObservedLog] = field(default_factory=dict)
    """Log of every partition when all has settled."""
    differing_replicas: list[tuple[str, TopicPartition, int, str]] = field(default_factory=list)
    """Replicas in the ISR that differ from their leader at the end: cluster, partition, broker, where."""
    differing_joiners: list[tuple[str, TopicPartition, int, str, Instant]] = field(default_factory=list)
    """Replicas that differ from their leader when they join the ISR: as `replicas`, and the time."""
    broken_rules: dict[tuple[str, TopicPartition, str], BrokenRule] = field(default_factory=dict)
    """First node that broke a rule, by cluster, partition and rule."""
    unsettled: list[tuple[str, TopicPartition, str]] = field(default_factory=list)
    """Partitions that had not settled within `converge_ms`: cluster, partition, and the reason with that of Describe.
    """
    topic_ids: list[tuple[str, str, str]] = field(default_factory=list)
    """Topic ids at the end, from Metadata: cluster, topic, id. A broker's files that disagree are rows of their own."""
    groups: GroupAccount = field(default_factory=GroupAccount)
    disks: DiskAccount = field(default_factory=DiskAccount)
    before_restart: Snapshot = field(default_factory=Snapshot)
    """This and `after_restart` are empty where a plan has no restart."""
    after_restart: Snapshot = field(default_factory=Snapshot)
    unclean_leader_logs_after_restart: dict[tuple[str, TopicPartition], ObservedLog] = field(default_factory=dict)
    """As `unclean_leader_logs`: the last one of each partition during the restart."""
    unsettled_after_restart: list[tuple[str, TopicPartition, str]] = field(default_factory=list)
    """As `unsettled`, after the restart."""
    errors_after_restart: list[tuple[str, str]] = field(default_factory=list)
    """Errors of a new producer after the restart: cluster, error."""
    crash: str = ""
    """Traceback of an exception inside a node; empty if there was none."""

    def may_have_lost_states(self, cluster: str, begin: Instant, end: Instant) -> bool:
        """Return whether the persisted states of mirrored partitions may have been lost in this time.

        They are lost by an unclean election of `__mirror_state`, after which leaders continue from older states, or by
        its deletion. Losses up to UNAWARE before `begin` count as well.
        """
        return any(
            (row.cluster, row.tp.topic) == (cluster, MIRROR_STATE_TOPIC) and begin - UNAWARE <= row.at <= end
            for row in self.groups.lost_logs
        )

    def was_led_uncleanly(self, cluster: str, tp: TopicPartition, since: Instant = 0) -> bool:
        """Return whether a partition had an unclean leader, or belongs to a coordinator's topic that was deleted."""
        elected = ((row.cluster, row.tp, row.at) for row in self.elections if row.unclean)
        lost = ((row.cluster, row.tp, row.at) for row in self.groups.lost_logs)
        return any(row[:2] == (cluster, tp) and row[2] >= since for row in (*elected, *lost))

    def was_stopped_without_state(self, place: tuple[str, TopicPartition]) -> bool:
        """Return whether a leader elected after its cluster lost the mirror states stopped the partition.

        Such a leader does not know whether a mirror wrote to the log, so it writes no producer reset and leaves
        transactions of the source open (D8).
        """
        stops = [row.at for row in self.states if (row.cluster, row.tp) == place and row.state == "STOPPED"]
        elected = [row.at for row in self.elections if (row.cluster, row.tp) == place]
        return any(self.may_have_lost_states(place[0], 0, at) and any(stop >= at for stop in stops) for at in elected)

    def may_be_behind(self, cluster: str, begin: Instant, end: Instant) -> bool:
        """Return whether the controller of `cluster` was down, or a line to it disturbed, at some time in [begin, end].

        A broker may then not know yet that it was deposed, or that it follows another leader.
        """
        node = f"{cluster}-{CONTROLLER_ID}"
        return any(
            node in span.ends and span.begin <= end and (span.end < 0 or begin <= span.end) for span in self.spans
        )

    def may_have_lost_marker(
        self,
        tp: TopicPartition,
        offset: int,
        epoch: int,
        producer_id: int,
        value: str,
        until: Instant | None = None,
        *,
        after_power: bool = True,
    ) -> bool:
        """Return whether an unclean leader had a transaction's record, but no marker of its producer above it.

        The marker may then be lost: it is not written again, and every mirror of the log lacks it, too. The same holds,
        if `after_power`, for the first leader after a site's loss of power whose log lost records. The marker of a
        transaction that began soon after the election may have gone to the deposed leader.
        """
        if self._is_ended_elsewhere(value, until):
            return True
        losses = self.power_losses if after_power else []
        others = (loss.successor_log for loss in losses if loss.successor_log is not None and loss.has_cut)
        return any(
            successor.tp == tp
            and (until is None or successor.at <= until)
            and is_open(successor.rows, offset, epoch, producer_id)
            for successor in (*self.unclean_leader_logs, *others)
        )

    def _is_ended_elsewhere(self, value: str, until: Instant | None) -> bool:
        """Return whether a leader deposed by an unclean election may have taken the marker of a record."""
        write = self.writes.get(value)
        return write is not None and any(
            row.unclean
            and (row.cluster, row.tp) == (write.cluster, write.tp)
            and row.at <= write.sent_at <= row.at + UNAWARE
            and (until is None or row.at <= until)
            and self.may_be_behind(row.cluster, row.at, write.sent_at)
            for row in self.elections
        )


def is_open(rows: tuple[LogRow, ...], offset: int, epoch: int, producer_id: int) -> bool:
    """Return whether a log has a record, and no marker of its producer above it."""
    is_there = any((row.offset, row.epoch, row.producer_id) == (offset, epoch, producer_id) for row in rows)
    return is_there and not any(
        row.offset > offset and row.producer_id == producer_id and row.value.startswith("<") for row in rows
    )
