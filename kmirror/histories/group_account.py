"""What was seen of consumer groups: a part of the account of a history.

Every commit carries a text of its own as metadata, so an offset that is read anywhere names the commit that it is from.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition


@dataclass(slots=True)
class OffsetSent:
    """One offset of one OffsetCommit or TxnOffsetCommit; each try is a row."""

    token: str
    """The metadata: unique in the history."""
    group: str
    cluster: str
    tp: TopicPartition
    offset: int
    member_id: str
    instance: str
    """Of a static member; empty for a dynamic one."""
    generation: int
    """-1 if the request named none."""
    transaction: str
    """Key in `Account.transactions`, empty outside one."""
    sent_at: Instant
    answered_at: Instant = -1
    """-1 if no answer came."""
    error: str = ""
    """NONE, another error code's name, or empty if no answer came."""
    ended_at: Instant = -1
    """Of a transaction: when EndTxn was answered NONE to a commit; -1 if it was not."""


@dataclass(frozen=True, slots=True)
class OffsetsSeen:
    """What the leader of a group's shard answered to OffsetFetch, or what it held at the end of the history."""

    group: str
    cluster: str
    asked: tuple[TopicPartition, ...] | None
    """None for all partitions for which the group has committed."""
    offsets: Mapping[TopicPartition, tuple[int, str]]
    """Offset and token by partition."""
    unstable: tuple[TopicPartition, ...]
    """Partitions about which nothing is said, as a transaction is open."""
    is_stable: bool
    """A transaction that has ended counts, though its marker may be under way."""
    sent_at: Instant
    at: Instant


@dataclass(frozen=True, slots=True)
class OffsetsDeleted:
    """A DeleteGroups or OffsetDelete that may have been carried out."""

    group: str
    cluster: str
    tp: TopicPartition | None
    """None for the whole group."""
    sent_at: Instant
    answered_at: Instant
    """-1 if no answer came."""


@dataclass(frozen=True, slots=True)
class Owned:
    """What SyncGroup assigned to a member."""

    group: str
    cluster: str
    generation: int
    member_id: str
    instance: str
    partitions: tuple[TopicPartition, ...]
    at: Instant


@dataclass(frozen=True, slots=True)
class CoordinatorLogLost:
    """A partition in which groups, transactions or mirrors are kept may have lost records that were committed.

    It got a leader from outside its ISR, or its topic was deleted.
    """

    cluster: str
    tp: TopicPartition
    at: Instant


@dataclass(frozen=True, slots=True)
class TransactionsLost:
    """A leader of `__transaction_state` from outside the ISR lacked the latest records of some transactional ids."""

    cluster: str
    producers: Mapping[int, Instant]
    """The producer ids in those records, and when the first one that it lacked of each was written, by the clock of its
    coordinator."""
    at: Instant
    """When that leader began, or the one that was deposed stopped."""


@dataclass(frozen=True, slots=True)
class Transformed:
    """What one transaction took from an input partition: all records of [begin, end)."""

    group: str
    cluster: str
    tp: TopicPartition
    begin: int
    """Where the group stood before."""
    end: int
    """What was committed in the transaction."""
    token: str
    """Of that commit."""
    transaction: str
    outputs: Mapping[int, str]
    """Input offset to the value that was written for it."""
    at: Instant


@dataclass(slots=True)
class GroupAccount:
    """Each list is in the order of time."""

    sent: dict[str, OffsetSent] = field(default_factory=dict)
    """By token."""
    seen: list[OffsetsSeen] = field(default_factory=list)
    deposed_answers: list[OffsetsSeen] = field(default_factory=list)
    """Answers of brokers that did not lead the group's shard throughout the request."""
    deleted: list[OffsetsDeleted] = field(default_factory=list)
    owned: list[Owned] = field(default_factory=list)
    logs_lost: list[CoordinatorLogLost] = field(default_factory=list)
    transformed: list[Transformed] = field(default_factory=list)
    lost: list[TransactionsLost] = field(default_factory=list)

    def lost_transactions(self, cluster: str, producer_ids: Collection[int], begin: Instant, end: Instant) -> bool:
        """Return whether an unclean election took what a coordinator knew of these producers in this time."""
        return any(
            since <= end and begin <= row.at
            for row in self.lost
            if row.cluster == cluster
            for producer_id, since in row.producers.items()
            if producer_id in producer_ids
        )
