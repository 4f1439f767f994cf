"""ListOffsets, versions 1-11.

Supports latest (-1; the last stable offset for read_committed), earliest (-2), earliest local (-4, the same as earliest
without tiered storage), max timestamp (-3) and lookups by timestamp through the log's time index. A request with a
follower's replica id gets the log end offset; so does replica id -2, for debugging, which followers serve too.
Consumers get OFFSET_NOT_AVAILABLE while the high watermark of a new leader may still rise (KIP-207).

A negative timestamp that the version does not support is UNSUPPORTED_VERSION, a partition named twice INVALID_REQUEST.
A partition has one row, and a topic without rows is left out. An unknown isolation level fails the whole request with
UNKNOWN_SERVER_ERROR, like Kafka.
"""

from __future__ import annotations

from collections import Counter

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.error_response import error_response
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.fetch_read import replica_error
from kmirror.cluster.server import Inbound
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.log.timestamps import OffsetAndTimestamp
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, AclOperation, IsolationLevel, OffsetSpec

FIRST_VERSION: dict[int, int] = {
    OffsetSpec.LATEST: 1,
    OffsetSpec.EARLIEST: 1,
    OffsetSpec.MAX_TIMESTAMP: 7,
    OffsetSpec.EARLIEST_LOCAL: 8,
    OffsetSpec.LATEST_TIERED: 9,
    OffsetSpec.EARLIEST_PENDING_UPLOAD: 11,
}
"""Special timestamp to the first version that supports it."""
LEVELS = frozenset(IsolationLevel)
EARLIEST = (OffsetSpec.EARLIEST, OffsetSpec.EARLIEST_LOCAL)
NO_OFFSET = OffsetAndTimestamp(-1, -1, -1)
LEADER_EPOCH_FROM = 4
DEBUGGING_REPLICA = -2
"""Replica id with which followers also serve the request."""
OFFSET_NOT_AVAILABLE_FROM = 5


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[ListOffsetsRequest]) -> None:
    """Reply with (timestamp in ms, offset) of each partition, -1 for none, or an error."""
    request = inbound.body
    denied = inbound.rights.denied_topics(AclOperation.DESCRIBE, [topic.name for topic in request.topics])
    if request.topics and request.isolation_level not in LEVELS:
        inbound.reply(
            error_response(
                request, inbound.version, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR.text
            )
        )
        return
    row_counts = Counter(
        (topic.name, requested.partition_index) for topic in request.topics for requested in topic.partitions
    )
    found: dict[str, dict[int, ListOffsetsPartitionResponse]] = {}
    rejected: list[ListOffsetsTopicResponse] = []
    for topic in request.topics:
        if topic.name in denied:
            rejected.append(_error_topic(topic, denied[topic.name]))
            continue
        for requested in topic.partitions:
            row = found.setdefault(topic.name, {})
            if row_counts[topic.name, requested.partition_index] > 1:
                row[requested.partition_index] = ListOffsetsPartitionResponse(
                    partition_index=requested.partition_index, error_code=ErrorCode.INVALID_REQUEST
                )
            else:
                row[requested.partition_index] = _describe(parts, topic.name, requested, request, inbound.version)
    topics = [ListOffsetsTopicResponse(name=name, partitions=list(rows.values())) for name, rows in found.items()]
    inbound.reply(ListOffsetsResponse(topics=[*topics, *rejected]))


def _error_topic(topic: ListOffsetsTopic, error: ErrorCode) -> ListOffsetsTopicResponse:
    rows = [ListOffsetsPartitionResponse(partition_index=a.partition_index, error_code=error) for a in topic.partitions]
    return ListOffsetsTopicResponse(name=topic.name, partitions=rows)


def _describe(
    parts: BrokerParts, topic: str, requested: ListOffsetsPartition, request: ListOffsetsRequest, version: int
) -> ListOffsetsPartitionResponse:
    tp = TopicPartition(topic, requested.partition_index)
    result = ListOffsetsPartitionResponse(partition_index=requested.partition_index)
    if requested.timestamp < 0 and FIRST_VERSION.get(requested.timestamp, version + 1) > version:
        result.error_code = ErrorCode.UNSUPPORTED_VERSION
        return result
    partition = parts.replicas.partitions.get(tp)
    if partition is None:
        result.error_code = parts.replicas.partitions.not_led_error(tp)
        return result
    result.error_code = replica_error(
        partition, requested.current_leader_epoch, leader_only=request.replica_id != DEBUGGING_REPLICA
    )
    if result.error_code:
        return result
    try:
        found = _find(partition, requested.timestamp, request)
    except CorruptBatch:  # The checksum is valid, the compressed payload is not.
        result.error_code = ErrorCode.CORRUPT_MESSAGE
        return result
    is_looked_up = requested.timestamp >= 0 or requested.timestamp == OffsetSpec.MAX_TIMESTAMP
    may_change = requested.timestamp == OffsetSpec.LATEST or (found == NO_OFFSET and is_looked_up)
    may_rise = may_change and request.replica_id == CONSUMER_REPLICA_ID and partition.is_below_epoch_start
    if may_rise or parts.fetchers.withholds_log(partition, parts.components):
        is_old = version < OFFSET_NOT_AVAILABLE_FROM
        result.error_code = ErrorCode.LEADER_NOT_AVAILABLE if is_old else ErrorCode.OFFSET_NOT_AVAILABLE
    else:
        result.timestamp, result.offset, epoch = found
        if version >= LEADER_EPOCH_FROM:
            result.leader_epoch = epoch
    return result


def _find(partition: Partition, timestamp: int, request: ListOffsetsRequest) -> OffsetAndTimestamp:
    """Return the offset for `timestamp`, or `NO_OFFSET`.

    An offset found in the log counts only below the end of the client's readable range; Kafka does not search for
    another one.
    """
    log = partition.log
    if request.replica_id != CONSUMER_REPLICA_ID:
        end_offset = log.log_end_offset
    else:
        committed = request.isolation_level == IsolationLevel.READ_COMMITTED
        end_offset = log.last_stable_offset if committed else log.high_watermark
    if timestamp == OffsetSpec.LATEST:
        return OffsetAndTimestamp(-1, end_offset, log.epochs.latest_epoch())
    found = log.offset_for_timestamp(timestamp)
    if found is None or (found.offset >= end_offset and timestamp not in EARLIEST):
        return NO_OFFSET
    return found
