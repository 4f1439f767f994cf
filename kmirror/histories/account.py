"""What was seen of a history: the account that the checkers judge, written down while it runs.

Only what clients and operators can observe: answers to requests, records read, answers of DescribeMirrors, and the
committed logs at chosen moments. Every value that a client writes is unique in the history, so a value names a record.
Times are virtual microseconds since the clusters were up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.assembly.inside import CONTROLLER_ID
from kmirror.histories.disk_account import DiskAccount
from kmirror.histories.group_account import GroupAccount
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.values import value
from kmirror.spec.topics import MIRROR_STATE_TOPIC

OPEN_TRANSACTIONS = "transactions are open"
"""What a partition waits for whose last stable offset stands still (`Account.unsettled`)."""
LOG_END = "log end"
"""How it begins what a mirrored one waits for that does not end where its source's last stable offset is."""
UNAWARE: Duration = 30 * SECOND
"""Time for which a leader may not know of the unclean election or the deletion that deposed it, and goes on writing."""

MISSED = "that this replica missed"
"""How the reason ends of a cut that a replica makes once it leads (D30)."""


@dataclass(frozen=True, slots=True)
class Write:
    """A value that a producer sent with acks=all; sent again it stays one row."""

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
    """Of the record; others may have the same, and where the topic is compacted the latest of them stays."""
    is_tombstone: bool = False
    """The record has no value: it deletes its key. A header has what stands for the value here."""


@dataclass(frozen=True, slots=True)
class Ack:
    """A write that a leader acknowledged."""

    value: str
    cluster: str
    tp: TopicPartition
    offset: int
    at: Instant
    sent_at: Instant
    """When the try that was answered had been sent."""
    broker: int


@dataclass(slots=True)
class Transaction:
    key: str
    """`transactional id/number`: unique in the history."""
    cluster: str
    values: list[str] = field(default_factory=list)
    asked: str = ""
    """commit or abort, once EndTxn was sent; empty if the client never asked."""
    answered: bool = False
    """EndTxn was answered without error."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A produce or transaction request that was refused for good: the client gave the value up."""

    value: str
    client: str
    cluster: str
    tp: TopicPartition
    error: str
    """Name of the error code."""
    first: bool
    """It was the first batch of a fresh producer id in this partition."""
    at: Instant


@dataclass(frozen=True, slots=True)
class Read:
    """A record that a consumer was given."""

    client: str
    cluster: str
    tp: TopicPartition
    committed_only: bool
    offset: int
    value: str
    leader_epoch: int
    at: Instant


@dataclass(frozen=True, slots=True)
class Marks:
    """What one answered fetch of a consumer said of a partition."""

    client: str
    cluster: str
    tp: TopicPartition
    broker: int
    leader_epoch: int
    """Of the leader as the client's Metadata has it."""
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    at: Instant
    is_leader: bool = True
    """Whether the broker is that leader, else it is a follower (KIP-392)."""


@dataclass(frozen=True, slots=True)
class Order:
    """What an operator asked for, and the answer."""

    number: int
    """Of the step in the plan."""
    action: str
    mirror: str
    source: str
    destination: str
    topics: tuple[str, ...]
    sent_at: Instant
    answered_at: Instant
    """-1 if no answer came."""
    error: str
    """NONE, another error code's name, or empty if no answer came."""


@dataclass(frozen=True, slots=True)
class StateSeen:
    """What DescribeMirrors of a leader said of a partition, or a fact that its leader noted; a row for each change."""

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
    """Something was away, down or disturbed: [begin, end); end is -1 while it lasts."""

    kind: str
    """broker, controller; of a line: line, slow, lossy."""
    subject: str
    """`a-1`, `a-100`, or for a line the two ends, `a|b`, `a>b` for one way."""
    begin: Instant
    end: Instant

    @property
    def ends(self) -> list[str]:
        """The node, or the two ends of the line."""
        return self.subject.replace(">", "|").split("|")


@dataclass(frozen=True, slots=True)
class Absence:
    """A replica was outside the ISR: [begin, end); of one that still is there is no row."""

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
    """Of its batch."""
    value: str
    """Of a control record its type in angle brackets, such as `<COMMIT 7>` with the producer id."""
    producer_id: int
    visible: bool
    """A read_committed consumer is given it."""
    crc: int = 0
    """Of its batch: all bytes but offset and epoch."""
    key: str = ""
    is_tombstone: bool = False


@dataclass(frozen=True, slots=True)
class LogSeen:
    """A leader's log at one moment: all below its high watermark; the rest up to the log end is `tail`."""

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
    """The controller named another leader or epoch."""

    cluster: str
    tp: TopicPartition
    leader: int
    leader_epoch: int
    unclean: bool
    """The new leader was not in the ISR before."""
    at: Instant


@dataclass(frozen=True, slots=True)
class TopicSeen:
    """The controller named a topic that was not there before, or deleted one; those of the start are rows, too."""

    cluster: str
    topic: str
    topic_id: str
    """As clients and mirrors are told it."""
    exists: bool
    at: Instant


@dataclass(frozen=True, slots=True)
class ConfigsSeen:
    """What is set for a topic since `at`, as the controller has it; a row for each change, and for each new topic."""

    cluster: str
    topic: str
    configs: Mapping[str, str]
    at: Instant


@dataclass(frozen=True, slots=True)
class CutSeen:
    """A leader cut its log because of mirroring: [offset, end) was removed."""

    cluster: str
    tp: TopicPartition
    broker: int
    offset: int
    end: int
    why: str
    at: Instant

    def __str__(self) -> str:
        return f"{self.cluster}-{self.broker} cuts {self.tp} at {self.offset} (was {self.end}): {self.why}"


@dataclass(frozen=True, slots=True)
class Described:
    """One partition's row of DescribeMirrors, as its leader answers when logs are looked at."""

    cluster: str
    mirror: str
    tp: TopicPartition
    broker: int
    state: str
    source_offset: int
    """-1 if it is not known; so is the lag then."""
    destination_offset: int
    lag: int
    last_mirror_epoch: int
    reason: str
    """Of the partition, or else of the mirror."""
    at: Instant
    persisted: str = ""
    """The state in `__mirror_state` at this moment, committed; empty if no coordinator has it."""
    proved_within: Duration = 0
    """The longest time for which a known lag may leave out what the source has acknowledged (D77); 0 if not known."""


class Committed(NamedTuple):
    """What a group has committed for a partition."""

    offset: int
    leader_epoch: int
    metadata: str
    """Names the commit, if a member of a group sent it (`OffsetSent.token`)."""

    def __str__(self) -> str:
        return f"{self.offset} of epoch {self.leader_epoch}, {self.metadata!r}"


@dataclass(slots=True)
class PowerLoss:
    """All nodes of a cluster lost power at once, and with it what they had not flushed: one row for each partition."""

    cluster: str
    tp: TopicPartition
    kept: Mapping[int, int]
    """By replica, of those that ran: all below this offset was flushed."""
    ends: Mapping[int, int]
    """By the same replicas: where their logs ended."""
    at: Instant
    heir: LogSeen | None = None
    """The log with which the first leader afterwards began, with all rows up to its end; None if there was none."""

    @property
    def has_cut(self) -> bool:
        """Return whether the first leader afterwards had lost records."""
        return self.heir is not None and self.heir.log_end_offset < self.ends.get(self.heir.broker, -1)


@dataclass(slots=True)
class Snapshot:
    """What clients and operators are told at one moment, while nothing is written."""

    logs: dict[tuple[str, TopicPartition], LogSeen] = field(default_factory=dict)
    states: dict[tuple[str, TopicPartition], tuple[str, int]] = field(default_factory=dict)
    """Of mirrored partitions: the state, and the last mirrored epoch."""
    offsets: dict[tuple[str, str, TopicPartition], Committed] = field(default_factory=dict)
    """What (cluster, group, partition) has committed."""
    configs: dict[tuple[str, int, str], dict[str, str]] = field(default_factory=dict)
    """What is set for (cluster, kind of resource, its name)."""
    ids: dict[tuple[str, str], str] = field(default_factory=dict)
    """Of (cluster, topic)."""
    at: Instant = -1
    """When it was taken."""


NO_NODE = -1
"""Node id of a rule that a client broke."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that a node broke."""

    node_id: int
    """NO_NODE for a client."""
    text: str
    at: Instant


@dataclass(slots=True)
class Account:
    """All that was seen, each list in the order of time."""

    writes: dict[str, Write] = field(default_factory=dict)
    acks: list[Ack] = field(default_factory=list)
    transactions: dict[str, Transaction] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    marks: list[Marks] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    states: list[StateSeen] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    absences: list[Absence] = field(default_factory=list)
    elections: list[Election] = field(default_factory=list)
    """Of a topic that comes back after it was deleted its first leaders are in it, too."""
    topics: list[TopicSeen] = field(default_factory=list)
    topic_configs: list[ConfigsSeen] = field(default_factory=list)
    cuts: list[CutSeen] = field(default_factory=list)
    logs: list[LogSeen] = field(default_factory=list)
    """Of every partition and cluster at each add and remove, just before it is sent, and when a state is entered
    that ends a session (MIRRORING, STOPPED)."""
    described: list[Described] = field(default_factory=list)
    """Whenever logs are looked at, of the partitions that are."""
    heirs: list[LogSeen] = field(default_factory=list)
    """The whole log of each leader from outside the ISR when it began to lead: what it lacks, its election lost. All
    rows up to the log end are there."""
    power_losses: list[PowerLoss] = field(default_factory=list)
    final: dict[tuple[str, TopicPartition], LogSeen] = field(default_factory=dict)
    """Of every partition when all has come to rest."""
    replicas: list[tuple[str, TopicPartition, int, str]] = field(default_factory=list)
    """At the end: replicas in the ISR that differ from their leader: cluster, partition, broker, where."""
    joiners: list[tuple[str, TopicPartition, int, str, Instant]] = field(default_factory=list)
    """As `replicas`, of those that differ from their leader when they join the ISR, and when that was."""
    broken: dict[tuple[str, TopicPartition, str], Broken] = field(default_factory=dict)
    """By cluster, partition and rule the first node that broke it."""
    unsettled: list[tuple[str, TopicPartition, str]] = field(default_factory=list)
    """At the end of the time to converge: cluster, partition, and what it still waits for, with Describe's reason."""
    topic_ids: list[tuple[str, str, str]] = field(default_factory=list)
    """At the end: cluster, topic, id, as Metadata says it; a broker's own files that disagree are rows of their own."""
    groups: GroupAccount = field(default_factory=GroupAccount)
    disks: DiskAccount = field(default_factory=DiskAccount)
    before_restart: Snapshot = field(default_factory=Snapshot)
    """Both are empty where a plan has no restart."""
    after_restart: Snapshot = field(default_factory=Snapshot)
    heirs_again: dict[tuple[str, TopicPartition], LogSeen] = field(default_factory=dict)
    """As `heirs`: the last one of each partition during the restart."""
    unsettled_again: list[tuple[str, TopicPartition, str]] = field(default_factory=list)
    """As `unsettled`, after the restart."""
    refused_again: list[tuple[str, str]] = field(default_factory=list)
    """After the restart: cluster, and the error of a fresh producer."""
    crash: str = ""
    """Traceback of an exception inside a node; empty if there was none."""

    def lost_states(self, cluster: str, begin: Instant, end: Instant) -> bool:
        """Return whether what mirrors wrote down of their partitions may have been lost in this time.

        That is by an unclean election, after which leaders go on from what was written before, or because
        `__mirror_state` was deleted. Those of up to UNAWARE before `begin` count as well.
        """
        return any(
            (row.cluster, row.tp.topic) == (cluster, MIRROR_STATE_TOPIC) and begin - UNAWARE <= row.at <= end
            for row in self.groups.logs_lost
        )

    def was_led_uncleanly(self, cluster: str, tp: TopicPartition, since: Instant = 0) -> bool:
        """Return whether a partition was led uncleanly, or is a coordinator's whose topic was deleted."""
        elected = ((row.cluster, row.tp, row.at) for row in self.elections if row.unclean)
        lost = ((row.cluster, row.tp, row.at) for row in self.groups.logs_lost)
        return any(row[:2] == (cluster, tp) and row[2] >= since for row in (*elected, *lost))

    def stopped_unknowing(self, place: tuple[str, TopicPartition]) -> bool:
        """Return whether a leader that was elected since its cluster lost the states stopped the partition.

        It does not know whether a mirror touched the log, so it writes no producer reset, and leaves transactions of
        the source open (D8).
        """
        stops = [row.at for row in self.states if (row.cluster, row.tp) == place and row.state == "STOPPED"]
        elected = [row.at for row in self.elections if (row.cluster, row.tp) == place]
        return any(self.lost_states(place[0], 0, at) and any(stop >= at for stop in stops) for at in elected)

    def may_be_behind(self, cluster: str, begin: Instant, end: Instant) -> bool:
        """Return whether the controller of `cluster` was down, or a line to it disturbed, at some time in [begin, end].

        A broker may then not know yet that it was deposed, or that it follows another leader.
        """
        node = f"{cluster}-{CONTROLLER_ID}"
        return any(
            node in span.ends and span.begin <= end and (span.end < 0 or begin <= span.end) for span in self.spans
        )

    def left_open(
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
        """Return whether an unclean election found a transaction's record, but no marker of its producer above it.

        That marker may have been lost: nobody writes it again, and every mirror of the log lacks it, too. So it is with
        the first leader after a site's loss of power whose log became shorter with it, if `after_power`. And the marker
        of one that began soon after the election may have gone to the leader that did not know of it.
        """
        if self._is_ended_elsewhere(value, until):
            return True
        losses = self.power_losses if after_power else []
        others = (loss.heir for loss in losses if loss.heir is not None and loss.has_cut)
        return any(
            heir.tp == tp and (until is None or heir.at <= until) and is_open(heir.rows, offset, epoch, producer_id)
            for heir in (*self.heirs, *others)
        )

    def _is_ended_elsewhere(self, value: str, until: Instant | None) -> bool:
        """Return whether a leader that was deposed by an unclean election may have taken the marker of a record."""
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
