"""TxnOffsetCommit, versions 0-5: a transactional producer commits the offsets that it has consumed.

The offsets are pending until the marker of the transaction. The group's partition of `__consumer_offsets` must be part
of the transaction, which is verified with the transaction coordinator (KIP-890), as for a produced batch. In version 5
the transaction coordinator adds the partition. Versions 0-2 have neither member nor generation.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.broker.verification import Verdicts, Verification
from kmirror.cluster.coordinators.groups.commits import TransactionalCommit
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.topic_errors import RequestedTopic, TopicErrors, check_topics, merge_errors
from kmirror.cluster.coordinators.runtime import Producer
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.txn_offset_commit_request import TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition
from kmirror.protocol.gen.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.wire_values import AclOperation

ADDS_FROM = 5
"""First version that adds the partition to the transaction (KIP-890 part 2)."""
ABORTABLE_FROM = 4
"""First version with TRANSACTION_ABORTABLE."""
LOADING_FROM = 2
"""First version with COORDINATOR_LOAD_IN_PROGRESS; in earlier ones it is COORDINATOR_NOT_AVAILABLE."""

RequestedTopics = list[RequestedTopic[TxnOffsetCommitRequestPartition]]


def handle(
    coordinator: GroupCoordinator, parts: BrokerParts, now: Instant, inbound: Inbound[TxnOffsetCommitRequest]
) -> None:
    """Commit the offsets within the transaction, and respond with an error for each partition."""
    request = inbound.body
    requested = [RequestedTopic(topic.name, Uuid.ZERO, topic.partitions) for topic in request.topics]
    rights = inbound.rights
    denied = rights.error(AclOperation.WRITE, Resource.transactional_id(request.transactional_id))
    denied = denied or rights.error(AclOperation.READ, Resource.group(request.group_id))
    if denied:
        _reply(inbound, [topic.errors(denied) for topic in requested])
        return
    names = [topic.name for topic in requested]
    rejected, accepted = check_topics(parts.context.image, requested, rights.denied_topics(AclOperation.READ, names))
    if not accepted:
        _reply(inbound, rejected)
        return

    @inbound.guard
    def reject(error: ErrorCode) -> None:
        _reply(inbound, merge_errors(rejected, [topic.errors(error) for topic in accepted]))

    partition = parts.replicas.partitions.find_led(TopicPartition(GROUP_TOPIC, coordinator.shard_of(request.group_id)))
    if not request.group_id:
        reject(ErrorCode.INVALID_GROUP_ID)
    elif partition is None:
        reject(ErrorCode.NOT_COORDINATOR)
    else:
        verification = _verification(parts, inbound, request, partition)

        @inbound.guard
        def on_verified(later: Instant, verdicts: Verdicts) -> None:
            error = verdicts.get(partition.tp, ErrorCode.NONE)
            if error:
                # Older clients do not handle NETWORK_EXCEPTION here, and need not look for another coordinator.
                reject(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if error is ErrorCode.NETWORK_EXCEPTION else error)
            else:
                _commit(coordinator, later, inbound, verification, partition, rejected, accepted)

        verification.send(now, on_verified)


def _verification(
    parts: BrokerParts, inbound: Inbound[Message], request: TxnOffsetCommitRequest, partition: Partition
) -> Verification:
    adds = inbound.version >= ADDS_FROM
    verification = Verification(
        parts.context,
        parts.components,
        request.transactional_id,
        adds=adds,
        knows_abortable=inbound.version >= ABORTABLE_FROM,
    )
    if adds or parts.context.configs.flag("transaction.partition.verification.enable"):
        verification.register(partition, request.producer_id, request.producer_epoch)
    return verification


def _commit(
    coordinator: GroupCoordinator,
    now: Instant,
    inbound: Inbound[TxnOffsetCommitRequest],
    verification: Verification,
    partition: Partition,
    rejected: list[TopicErrors],
    accepted: RequestedTopics,
) -> None:
    """Append the records, unless a marker has arrived since the verification began."""
    request = inbound.body
    commit = TransactionalCommit(coordinator, now, request, accepted, verification, partition)

    @inbound.guard
    def on_done(_: Instant, error: ErrorCode) -> None:
        _reply(inbound, merge_errors(rejected, commit.rows(error)))

    producer = Producer(request.producer_id, request.producer_epoch)
    coordinator.runtime.submit(partition.tp.partition, commit.decide, on_done, producer=producer)


def _reply(inbound: Inbound[Message], topics: list[TopicErrors]) -> None:
    loading, is_old = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, inbound.version < LOADING_FROM
    rows = []
    for topic in topics:
        row = TxnOffsetCommitResponseTopic(name=topic.name, partitions=[])
        rows.append(row)
        for index, error in topic.rows:
            code = ErrorCode.COORDINATOR_NOT_AVAILABLE if is_old and error is loading else error
            row.partitions.append(TxnOffsetCommitResponsePartition(partition_index=index, error_code=code))
    inbound.reply(TxnOffsetCommitResponse(topics=rows))
