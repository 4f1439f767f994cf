"""DeleteRecords, versions 0-2: raises the log start offset of partitions, at most to the high watermark.

Offset -1 is the high watermark. Each result waits until all living replicas follow. Clients may not delete records of
mirrored partitions: the request is rejected like a write (D7).
"""

from __future__ import annotations

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.deletions import NO_LOW_WATERMARK
from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.delete_records_request import DeleteRecordsRequest
from kmirror.protocol.gen.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import is_internal
from kmirror.spec.wire_values import AclOperation

HIGH_WATERMARK = -1
"""Offset that requests deletion up to the high watermark."""


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[DeleteRecordsRequest]) -> None:
    """Reply with the low watermark of each partition, or an error and -1."""
    request = inbound.body
    denied = inbound.rights.denied_topics(AclOperation.DELETE, [topic.name for topic in request.topics])
    # If a partition is named twice, its last row counts.
    requested_offsets = {
        TopicPartition(t.name, p.partition_index): p.offset for t in request.topics for p in t.partitions
    }
    topics: dict[str, DeleteRecordsTopicResult] = {}
    pending = PendingResponse(inbound, DeleteRecordsResponse(topics=[]))
    accepted: list[tuple[Partition, int, DeleteRecordsPartitionResult]] = []
    for tp, offset in requested_offsets.items():
        row = DeleteRecordsPartitionResult(partition_index=tp.partition, low_watermark=NO_LOW_WATERMARK)
        topics.setdefault(tp.topic, DeleteRecordsTopicResult(name=tp.topic, partitions=[])).partitions.append(row)
        row.error_code = denied.get(tp.topic) or _error(parts, tp, offset)
        partition = parts.replicas.partitions.find_led(tp)
        if not row.error_code and partition is not None:
            accepted.append((partition, partition.log.high_watermark if offset == HIGH_WATERMARK else offset, row))
    pending.response = DeleteRecordsResponse(topics=list(topics.values()))
    for partition, end, row in accepted:
        parts.replicas.appends.raise_log_start(partition, end)

        @pending.row
        def on_deleted(error: ErrorCode, low_watermark: int, row: DeleteRecordsPartitionResult = row) -> None:
            row.error_code, row.low_watermark = error, low_watermark

        parts.deletions.wait(now, partition, end, request.timeout_ms, on_deleted)
    pending.end()


def _error(parts: BrokerParts, tp: TopicPartition, offset: int) -> ErrorCode:
    """Return why records below `offset` cannot be deleted from the partition here, or NONE."""
    if parts.context.image.topics.partition(tp) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if is_internal(tp.topic):
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    partition = parts.replicas.partitions.find_led(tp)
    if partition is None:
        return parts.replicas.partitions.not_led_error(tp)
    error = parts.components.produce_error(tp)
    if error is not None:
        return error
    if partition.log.config.compact and not partition.log.config.delete:
        return ErrorCode.POLICY_VIOLATION
    if offset < HIGH_WATERMARK or offset > partition.log.high_watermark:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    return ErrorCode.NONE
