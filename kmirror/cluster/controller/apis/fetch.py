"""Fetch, versions 4-19, on a controller: brokers follow the metadata log.

Only `__cluster_metadata`, by topic id, without sessions. Left out: snapshots (FetchSnapshot), voters.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, refused
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.cluster.replication.fetch_read import failed
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.protocol.gen.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

TIMER = "metadata-fetch"


def handle(context: ControllerContext, now: Instant, inbound: Inbound) -> None:
    """Answer with metadata records, or wait for some up to `max_wait_ms`.

    INVALID_REQUEST for other partitions; a version without a top-level error costs the link.
    """
    request = inbound.body
    assert isinstance(request, FetchRequest)
    error = inbound.rights.error(AclOperation.CLUSTER_ACTION, CLUSTER)
    if error:
        inbound.reply(refused(request, inbound.version, error))
        return
    asked = [(topic.topic_id, row.partition) for topic in request.topics for row in topic.partitions]
    if asked != [(METADATA_TOPIC_ID, 0)]:
        if inbound.version < 7:  # There is no top-level error before v7.
            inbound.drop()
        else:
            inbound.reply(FetchResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    wanted = request.topics[0].partitions[0]
    timer = 0

    def read_and_answer(later: Instant, forced: bool) -> bool:
        data = _read(context.log.log, wanted)
        if not (forced or data.records or data.error_code or data.diverging_epoch.epoch != -1):
            return False
        inbound.reply(FetchResponse(responses=[FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[data])]))
        if timer:
            context.outbox.cancel_timer((TIMER, timer))
        return True

    def attempt(later: Instant, forced: bool) -> bool:
        try:
            return read_and_answer(later, forced)
        except Exception as error:
            inbound.failed(error)
            return True

    # A broker at offset 0 has nothing yet: it must learn the high watermark at once, even from an empty answer.
    if attempt(now, wanted.fetch_offset == 0):
        return
    timer = context.log.park(attempt)
    context.outbox.set_timer((TIMER, timer), now + request.max_wait_ms * MILLISECOND)


def _read(log: PartitionLog, wanted: FetchPartition) -> PartitionData:
    if wanted.last_fetched_epoch >= 0:
        epoch, end_offset = log.end_offset_for_epoch(wanted.last_fetched_epoch)
        if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
            data = failed(0, ErrorCode.NONE)
            data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
            return data
    if not log.log_start_offset <= wanted.fetch_offset <= log.log_end_offset:
        return failed(0, ErrorCode.OFFSET_OUT_OF_RANGE)
    data = PartitionData(
        partition_index=0,
        high_watermark=log.high_watermark,
        last_stable_offset=log.high_watermark,
        log_start_offset=log.log_start_offset,
        records=b"",
    )
    if wanted.fetch_offset < log.high_watermark:
        data.records = log.read(
            wanted.fetch_offset, max_bytes=wanted.partition_max_bytes, end_offset=log.high_watermark, min_one=True
        ).records
    return data
