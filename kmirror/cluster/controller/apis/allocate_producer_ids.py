"""AllocateProducerIds: the controller allocates a block of producer ids to a broker (KIP-730)."""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.cluster.producer_id_range import first_producer_id
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.allocate_producer_ids_request import AllocateProducerIdsRequest
from kmirror.protocol.gen.allocate_producer_ids_response import AllocateProducerIdsResponse
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.spec.error_codes import ErrorCode

BLOCK = 1000


def decide(
    context: ControllerContext, now: Instant, request: AllocateProducerIdsRequest, version: int, rights: Rights
) -> Decision:
    """Return the next block of BLOCK ids; STALE_BROKER_EPOCH if the broker has registered again since."""
    broker = context.image.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return Decision((), AllocateProducerIdsResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    start = context.image.producer_ids.next_producer_id
    if context.mirror_enabled:
        start = max(start, first_producer_id(context.cluster_id))
    record = ProducerIdsRecord(
        broker_id=request.broker_id, broker_epoch=request.broker_epoch, next_producer_id=start + BLOCK
    )
    return Decision((record,), AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=BLOCK))
