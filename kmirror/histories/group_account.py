"""Observations of consumer groups: a part of the account of a history.

Every commit has a unique text as metadata, so an offset that is read anywhere identifies its commit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition


@dataclass(slots=True)
class SentOffset:
    """One offset of one OffsetCommit or TxnOffsetCommit; each attempt is a row."""

    token: str
    """Metadata of the commit: unique in the history."""
    group: str
    cluster: str
    tp: TopicPartition
    offset: int
    member_id: str
    instance: str
    """Instance id of a static member; empty for a dynamic one."""
    generation: int
    """-1 if the request had none."""
    transaction: str
    """Key in `Account.transactions`, empty outside one."""
    sent_at: Instant
    answered_at: Instant = -1
    """-1 if no response came."""
    error: str = ""
    """NONE, the name of another error code, or empty if no response came."""
    ended_at: Instant = -1
    """Time at which EndTxn returned NONE for a commit of the transaction; else -1."""


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """OffsetFetch response of a broker, or the offsets at the end of the history."""

    group: str
    cluster: str
    requested: tuple[TopicPartition, ...] | None
    """Requested partitions; None for all partitions for which the group has committed."""
    offsets: Mapping[TopicPartition, tuple[int, str]]
    """Offset and token by partition."""
    unstable: tuple[TopicPartition, ...]
    """Partitions without an offset in the response, because a transaction is open."""
    is_stable: bool
    """The request had `require_stable`: a transaction that has ended counts, even if its marker is not written yet."""
    sent_at: Instant
    at: Instant


@dataclass(frozen=True, slots=True)
class OffsetDeletion:
    """A DeleteGroups or OffsetDelete that may have been carried out."""

    group: str
    cluster: str
    tp: TopicPartition | None
    """None for the whole group."""
    sent_at: Instant
    answered_at: Instant
    """-1 if no response came."""


@dataclass(frozen=True, slots=True)
class OwnedPartitions:
    """Partitions that SyncGroup assigned to a member."""

    group: str
    cluster: str
    generation: int
    member_id: str
    instance: str
    partitions: tuple[TopicPartition, ...]
    at: Instant


@dataclass(frozen=True, slots=True)
class LostCoordinatorLog:
    """A partition of a coordinator's topic (groups, transactions, mirror states) that may have lost committed records.

    It had an unclean leader election, or its topic was deleted.
    """

    cluster: str
    tp: TopicPartition
    at: Instant


@dataclass(frozen=True, slots=True)
class LostTransactions:
    """An unclean leader of `__transaction_state` that lacked the latest records of some transactional ids."""

    cluster: str
    producers: Mapping[int, Instant]
    """Producer ids in the missing records, and the time of the first missing record of each, by its coordinator's
    clock.
    """
    at: Instant
    """Time at which that leader began, or at which the deposed one stopped."""


@dataclass(frozen=True, slots=True)
class TransformedRange:
    """Input records [begin, end) of a partition that one transaction processed."""

    group: str
    cluster: str
    tp: TopicPartition
    begin: int
    """The group's previous position."""
    end: int
    """Offset committed in the transaction."""
    token: str
    """Token of that commit."""
    transaction: str
    outputs: Mapping[int, str]
    """Input offset to the value written for it."""
    at: Instant


@dataclass(slots=True)
class GroupAccount:
    """Observations of groups, each list in order of time."""

    sent_offsets: dict[str, SentOffset] = field(default_factory=dict)
    """By token."""
    offsets: list[GroupOffsets] = field(default_factory=list)
    deposed_responses: list[GroupOffsets] = field(default_factory=list)
    """Responses of brokers that did not lead the group's shard during the whole request."""
    deletions: list[OffsetDeletion] = field(default_factory=list)
    assignments: list[OwnedPartitions] = field(default_factory=list)
    lost_logs: list[LostCoordinatorLog] = field(default_factory=list)
    transformed_ranges: list[TransformedRange] = field(default_factory=list)
    transactions_lost: list[LostTransactions] = field(default_factory=list)

    def may_have_lost_transactions(
        self, cluster: str, producer_ids: Collection[int], begin: Instant, end: Instant
    ) -> bool:
        """Return whether an unclean election lost a coordinator's records of these producers in this time."""
        return any(
            since <= end and begin <= row.at
            for row in self.transactions_lost
            if row.cluster == cluster
            for producer_id, since in row.producers.items()
            if producer_id in producer_ids
        )
