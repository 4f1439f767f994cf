"""Fetch, versions 4-19, on a controller: brokers fetch the metadata log.

Only `__cluster_metadata`, by topic id, without sessions. Not implemented: voters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kmirror.cluster.authorizer import CLUSTER, kafka_error_response
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.sessions import BrokerSessions
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.cluster.metadata.log import MetadataLog
from kmirror.cluster.replication.fetch_read import error_row
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.protocol.gen.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
    SnapshotId,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

TIMER = "metadata-fetch"


def handle(context: ControllerContext, sessions: BrokerSessions, now: Instant, inbound: Inbound[FetchRequest]) -> None:
    """Respond with metadata records, or wait for new ones up to `max_wait_ms`.

    INVALID_REQUEST for other partitions; in a version without a top-level error the link is closed.
    """
    request = inbound.body
    error = inbound.rights.error(AclOperation.CLUSTER_ACTION, CLUSTER)
    if error:
        inbound.reply(kafka_error_response(request, inbound.version, error))
        return
    if not _is_for_metadata(request):
        if inbound.version < 7:  # There is no top-level error before v7.
            inbound.drop()
        else:
            inbound.reply(FetchResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    # A broker at offset 0 has no records yet: it must learn the high watermark at once, even from an empty response.
    requested = request.topics[0].partitions[0]
    sessions.record_fetch(request.replica_state.replica_id, requested.fetch_offset)
    fetch = _Fetch(context, inbound, requested)
    if not fetch.attempt(now, requested.fetch_offset == 0):
        fetch.timer = context.log.park(fetch.attempt)
        context.outbox.set_timer((TIMER, fetch.timer), now + request.max_wait_ms * MILLISECOND)


def _is_for_metadata(request: FetchRequest) -> bool:
    """Return whether the request is for the metadata log's one partition, once, and for nothing else."""
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return False
    (topic,) = request.topics
    return topic.topic_id == METADATA_TOPIC_ID and topic.partitions[0].partition == 0


@dataclass(slots=True)
class _Fetch:
    """A fetch of the metadata log, until its response is sent."""

    context: ControllerContext
    inbound: Inbound[FetchRequest]
    requested: FetchPartition
    timer: int = 0
    """Id of the timer that ends the wait; 0 if the fetch does not wait."""

    def attempt(self, now: Instant, forced: bool) -> bool:
        """Respond if there is anything to report, or if `forced`; return whether a response was sent."""
        try:
            log, inbound = self.context.log.log, self.inbound
            if _is_at_end(log, self.requested):
                if not forced:
                    return False
                inbound.reply_encoded(_empty_response(log.high_watermark, log.log_start_offset, inbound.version))
            else:
                data = _read(self.context.log, self.requested)
                has_content = (
                    data.records or data.error_code or data.diverging_epoch.epoch != -1 or data.snapshot_id.epoch != -1
                )
                if not (forced or has_content):
                    return False
                inbound.reply(_response(data))
            if self.timer:
                self.context.outbox.cancel_timer((TIMER, self.timer))
        except Exception as error:
            self.inbound.on_exception(error)
        return True


def _response(data: PartitionData) -> FetchResponse:
    return FetchResponse(responses=[FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[data])])


@lru_cache(maxsize=100)
def _empty_response(high_watermark: int, log_start_offset: int, version: int) -> bytes:
    """Return a response without records. It is cached, because all brokers get the same one repeatedly."""
    return _response(_offsets(high_watermark, log_start_offset)).encode(version)


def _offsets(high_watermark: int, log_start_offset: int) -> PartitionData:
    return PartitionData(
        partition_index=0,
        high_watermark=high_watermark,
        last_stable_offset=high_watermark,
        log_start_offset=log_start_offset,
        records=b"",
    )


def _is_at_end(log: PartitionLog, requested: FetchPartition) -> bool:
    """Return whether a broker has all committed records, so that the response only needs the offsets."""
    return (
        requested.fetch_offset == log.high_watermark == log.log_end_offset
        and requested.last_fetched_epoch == log.latest_epoch
        and requested.fetch_offset >= log.log_start_offset
    )


def _read(metadata: MetadataLog, requested: FetchPartition) -> PartitionData:
    log, snapshot = metadata.log, metadata.latest_snapshot
    if snapshot is not None and requested.fetch_offset < log.log_start_offset:
        data = error_row(0, ErrorCode.NONE)
        data.snapshot_id = SnapshotId(end_offset=snapshot.id.end_offset, epoch=snapshot.id.epoch)
        return data
    if requested.last_fetched_epoch >= 0:
        epoch, end_offset = log.end_offset_for_epoch(requested.last_fetched_epoch)
        if epoch < requested.last_fetched_epoch or end_offset < requested.fetch_offset:
            data = error_row(0, ErrorCode.NONE)
            data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
            return data
    if not log.log_start_offset <= requested.fetch_offset <= log.log_end_offset:
        return error_row(0, ErrorCode.OFFSET_OUT_OF_RANGE)
    data = _offsets(log.high_watermark, log.log_start_offset)
    if requested.fetch_offset < log.high_watermark:
        data.records = log.read(
            requested.fetch_offset, max_bytes=requested.partition_max_bytes, end_offset=log.high_watermark, min_one=True
        ).records
    return data
