"""BrokerHeartbeat, versions 0-2: a broker reports how far it has replayed the metadata log (KIP-631).

A fenced broker is let in once it has replayed its own registration, unless it wants to stay out. One that wants to
shut down first loses its leaderships.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.controller.heartbeats import BrokerState
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_heartbeat_response import BrokerHeartbeatResponse
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.controller.controller import Controller


def handle(controller: Controller, now: Instant, inbound: Inbound) -> None:
    request = inbound.body
    assert isinstance(request, BrokerHeartbeatRequest)
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None:
        inbound.reply(BrokerHeartbeatResponse(error_code=ErrorCode.BROKER_ID_NOT_REGISTERED))
        return
    if broker.epoch != request.broker_epoch:
        inbound.reply(BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    before = controller.heartbeats.state_of(broker)
    state = controller.heartbeats.next_state(controller.image, broker, request)
    match state:
        case BrokerState.UNFENCED if before is BrokerState.FENCED:
            controller.unfence(now, request.broker_id)
        case BrokerState.FENCED if before is not BrokerState.FENCED:
            controller.fence(now, request.broker_id)
        case BrokerState.SHUTDOWN_NOW:
            controller.fence(now, request.broker_id)
        case BrokerState.CONTROLLED_SHUTDOWN if before is not BrokerState.CONTROLLED_SHUTDOWN:
            controller.begin_controlled_shutdown(now, request.broker_id)
        case _:
            pass
    fenced = controller.image.brokers[request.broker_id].fenced
    if not fenced:
        controller.heard_from[request.broker_id] = now
    end = controller.image.offset
    controller.heartbeats.reported(request.broker_id, state, request.current_metadata_offset, end)
    inbound.reply(
        BrokerHeartbeatResponse(
            is_caught_up=request.current_metadata_offset >= broker.epoch,
            is_fenced=fenced,
            should_shut_down=state is BrokerState.SHUTDOWN_NOW,
        )
    )
