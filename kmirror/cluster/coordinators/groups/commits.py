"""Records that OffsetCommit, TxnOffsetCommit and OffsetDelete write, and the result of each requested partition.

A request without a generation may commit for a group that does not exist yet. This creates a simple group, which has no
members and only stores offsets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from kmirror.cluster.broker.verification import Verification
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.groups.offsets import NOT_SET, Committed, OffsetKey
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.groups.topic_errors import RequestedTopic, TopicErrors
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import length_of_text, wrap_int64
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest, OffsetCommitRequestPartition
from kmirror.protocol.gen.offset_delete_request import OffsetDeleteRequestPartition
from kmirror.protocol.gen.txn_offset_commit_request import TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition
from kmirror.spec.error_codes import ErrorCode

GROUP_ID_NOT_FOUND_FROM = 9
"""First OffsetCommit version that reports a missing group as GROUP_ID_NOT_FOUND, not as ILLEGAL_GENERATION."""


class RequestedPartition(Protocol):
    """One partition of a commit request."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


P = TypeVar("P", bound=RequestedPartition)


class Commit(ABC, Generic[P]):
    """The offsets that one request commits for a group."""

    def __init__(
        self, coordinator: GroupCoordinator, now: Instant, group_id: str, topics: list[RequestedTopic[P]]
    ) -> None:
        self._coordinator = coordinator
        self._now = now
        self._group_id = group_id
        self._topics = topics
        self._results: list[TopicErrors] = []

    @abstractmethod
    def check(self, group: Group | None) -> ErrorCode:
        """Return the error if the sender may not commit for the group (None if it does not exist), or NONE."""

    def expires_ms(self) -> int:
        """Return the expiry time requested by the client, or NOT_SET."""
        return NOT_SET

    def decide(self, shard: GroupShard) -> tuple[Sequence[KeyValue], ErrorCode]:
        """Return the records, or the error for all partitions. This is an operation of a shard."""
        self._results = []
        error = self._coordinator.error(self._group_id) or self.check(self._coordinator.find(self._group_id))
        if error:
            return (), error
        records: list[KeyValue] = []
        for topic in self._topics:
            errors = TopicErrors(topic.name, topic.topic_id, [])
            self._results.append(errors)
            for partition in topic.partitions:
                key = OffsetKey(self._group_id, TopicPartition(topic.name, partition.partition_index))
                error = self.partition_error(shard, key, partition)
                errors.rows.append((partition.partition_index, error))
                if not error:
                    records.append(self._record(topic, key, partition))
        return records, ErrorCode.NONE

    def partition_error(self, shard: GroupShard, key: OffsetKey, partition: P) -> ErrorCode:
        """Return the error for this offset, or NONE."""
        metadata_max = self._coordinator.context.configs.integer("offset.metadata.max.bytes")
        is_long = length_of_text(partition.committed_metadata or "") > metadata_max
        return ErrorCode.OFFSET_METADATA_TOO_LARGE if is_long else ErrorCode.NONE

    def _record(self, topic: RequestedTopic[P], key: OffsetKey, partition: P) -> KeyValue:
        value = Committed(
            partition.committed_offset,
            partition.committed_leader_epoch,
            partition.committed_metadata or "",
            to_ms(self._now),
            self.expires_ms(),
            topic.topic_id,
        )
        return value.record(key)

    def rows(self, error: ErrorCode) -> list[TopicErrors]:
        """Return the rows of the response, given the error that `decide` returned."""
        return [topic.errors(error) for topic in self._topics] if error else self._results


class PlainCommit(Commit[OffsetCommitRequestPartition]):
    """The offsets of an OffsetCommit."""

    def __init__(
        self,
        coordinator: GroupCoordinator,
        now: Instant,
        request: OffsetCommitRequest,
        version: int,
        topics: list[RequestedTopic[OffsetCommitRequestPartition]],
    ) -> None:
        super().__init__(coordinator, now, request.group_id, topics)
        self._request = request
        self._version = version

    def check(self, group: Group | None) -> ErrorCode:
        """Return the error, or NONE. A commit that is allowed counts as a heartbeat of the member."""
        request = self._request
        generation = request.generation_id_or_member_epoch
        if group is not None:
            error = group.commit_error(request.member_id, request.group_instance_id, generation, in_transaction=False)
            if not error:
                self._coordinator.keep_alive(self._now, request.group_id, request.member_id)
            return error
        if generation < 0:
            return ErrorCode.NONE
        known = self._version >= GROUP_ID_NOT_FOUND_FROM
        return ErrorCode.GROUP_ID_NOT_FOUND if known else ErrorCode.ILLEGAL_GENERATION

    def expires_ms(self) -> int:
        """Return the expiry time in ms since 1970; it wraps like Kafka's long. `NOT_SET` selects the default."""
        retention_ms = self._request.retention_time_ms
        return NOT_SET if retention_ms == NOT_SET else wrap_int64(to_ms(self._now) + retention_ms)


class CheckedCommit(PlainCommit):
    """An OffsetCommit that a component checks after its arrival; `errors` are the results of the check.

    An offset that is committed between the arrival and the append may be newer than the check, so it is kept.
    """

    def __init__(
        self,
        coordinator: GroupCoordinator,
        now: Instant,
        request: OffsetCommitRequest,
        version: int,
        topics: list[RequestedTopic[OffsetCommitRequestPartition]],
    ) -> None:
        super().__init__(coordinator, now, request, version, topics)
        self.errors: Mapping[TopicPartition, ErrorCode] = {}
        self._shard = coordinator.runtime.state(coordinator.shard_of(request.group_id))
        keys = [
            OffsetKey(request.group_id, TopicPartition(t.name, p.partition_index)) for t in topics for p in t.partitions
        ]
        self._offsets_at_arrival = {} if self._shard is None else {key: self._shard.offsets.all_of(key) for key in keys}

    def decide(self, shard: GroupShard) -> tuple[Sequence[KeyValue], ErrorCode]:
        """Return the result of the base class, or NOT_COORDINATOR if this broker has loaded the shard again since."""
        records, error = super().decide(shard)
        return ((), ErrorCode.NOT_COORDINATOR) if not error and shard is not self._shard else (records, error)

    def partition_error(self, shard: GroupShard, key: OffsetKey, partition: OffsetCommitRequestPartition) -> ErrorCode:
        """Return the error of the check, or UNSTABLE_OFFSET_COMMIT if the offset has changed since the arrival."""
        error = self.errors.get(key.tp) or super().partition_error(shard, key, partition)
        if not error and shard.offsets.all_of(key) != self._offsets_at_arrival.get(key):
            return ErrorCode.UNSTABLE_OFFSET_COMMIT
        return error


class TransactionalCommit(Commit[TxnOffsetCommitRequestPartition]):
    """The offsets of a TxnOffsetCommit; nothing is written if a marker has arrived since `verification` began."""

    def __init__(
        self,
        coordinator: GroupCoordinator,
        now: Instant,
        request: TxnOffsetCommitRequest,
        topics: list[RequestedTopic[TxnOffsetCommitRequestPartition]],
        verification: Verification,
        shard: Partition,
    ) -> None:
        # Transactional records never contain a topic id.
        super().__init__(coordinator, now, request.group_id, topics)
        assert all(topic.topic_id == Uuid.ZERO for topic in topics)
        self._request = request
        self._verification = verification
        self._shard = shard

    def check(self, group: Group | None) -> ErrorCode:
        """Return the error, or NONE. Rebalances do not matter; versions before 3 name neither member nor generation."""
        request = self._request
        if not self._verification.is_valid(self._shard):
            return ErrorCode.INVALID_TXN_STATE
        generation = request.generation_id
        if group is not None:
            return group.commit_error(request.member_id, request.group_instance_id, generation, in_transaction=True)
        return ErrorCode.NONE if generation < 0 else ErrorCode.ILLEGAL_GENERATION


class Deletion:
    """The offsets that an OffsetDelete removes from a group."""

    def __init__(
        self, coordinator: GroupCoordinator, group_id: str, topics: list[RequestedTopic[OffsetDeleteRequestPartition]]
    ) -> None:
        self._coordinator = coordinator
        self._group_id = group_id
        self._topics = topics
        self.results: list[TopicErrors] = []

    def decide(self, shard: GroupShard) -> tuple[Sequence[KeyValue], ErrorCode]:
        """Return tombstones, or the error for the group. This is an operation of a shard."""
        self.results = []
        group = self._coordinator.find(self._group_id)
        error = self._coordinator.error(self._group_id)
        if error or group is None:
            return (), error or ErrorCode.GROUP_ID_NOT_FOUND
        error = group.offset_delete_error()
        if error:
            return (), error
        records: list[KeyValue] = []
        for topic in self._topics:
            if group.is_subscribed_to(topic.name):
                self.results.append(topic.errors(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC))
                continue
            self.results.append(topic.errors(ErrorCode.NONE))
            for partition in topic.partitions:
                key = OffsetKey(self._group_id, TopicPartition(topic.name, partition.partition_index))
                records += shard.offsets.deletion(key)
        return records, ErrorCode.NONE
