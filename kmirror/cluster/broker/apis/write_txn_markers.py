"""WriteTxnMarkers, versions 1-2: a transaction coordinator ends a transaction in its partitions.

One control batch is appended to each partition and acknowledged by the whole ISR. In a partition of
`__consumer_offsets` it commits or drops the producer's pending offsets. A marker for a mirrored topic is rejected like
any other write (D7): this cluster's coordinator may not end a transaction of the source. Until the mirror has truncated
the log, the coordinator gets a retriable error instead (D41).
"""

from __future__ import annotations

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.replication.purgatory import OnAcked
from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.protocol.gen.write_txn_markers_request import WritableTxnMarker, WriteTxnMarkersRequest
from kmirror.protocol.gen.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from kmirror.records.control import end_txn_marker
from kmirror.records.layout import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from kmirror.spec.error_codes import ErrorCode


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[WriteTxnMarkersRequest]) -> None:
    """Append every marker, and reply when the last one is acknowledged or has failed."""
    request = inbound.body
    response = WriteTxnMarkersResponse(markers=[])
    pending = PendingResponse(inbound, response)

    for marker in request.markers:
        result = WritableTxnMarkerResult(producer_id=marker.producer_id, topics=[])
        response.markers.append(result)
        for topic in marker.topics:
            topic_result = WritableTxnMarkerTopicResult(name=topic.name, partitions=[])
            result.topics.append(topic_result)
            for index in topic.partition_indexes:
                row = WritableTxnMarkerPartitionResult(partition_index=index)
                topic_result.partitions.append(row)

                @pending.row
                def on_acked(_: Instant, error: ErrorCode, row: WritableTxnMarkerPartitionResult = row) -> None:
                    row.error_code = error

                _write(parts, now, TopicPartition(topic.name, index), marker, on_acked)
    pending.end()


def _write(parts: BrokerParts, now: Instant, tp: TopicPartition, marker: WritableTxnMarker, on_acked: OnAcked) -> None:
    partition = parts.replicas.partitions.find_led(tp)
    if partition is None:
        on_acked(now, parts.replicas.partitions.not_led_error(tp))
        return
    marker_error = parts.components.marker_error(tp)
    if marker_error is not None:
        on_acked(now, marker_error)
        return
    if marker.producer_id == NO_PRODUCER_ID or marker.producer_epoch == NO_PRODUCER_EPOCH:
        on_acked(now, ErrorCode.INVALID_REQUEST)  # The marker would have no producer; an exception in Kafka.
        return
    batch = end_txn_marker(
        base_offset=0,
        leader_epoch=partition.leader_epoch,
        timestamp_ms=to_ms(now),
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        commit=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
    )
    try:
        info = parts.replicas.appends.append(
            now,
            partition,
            batch,
            origin=AppendOrigin.COORDINATOR,
            transaction_version=marker.transaction_version,
        )
    except LogAppendError as error:
        on_acked(now, error.code)
        return
    partition.end_verification(marker.producer_id, marker.producer_epoch)
    end = info.last_offset + 1
    parts.components.on_marker(now, tp, marker.producer_id, end, commit=marker.transaction_result)
    timeout_ms = parts.context.configs.integer("request.timeout.ms")
    parts.replicas.purgatory.await_acks(now, partition, end, timeout_ms, on_acked)
