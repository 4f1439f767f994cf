"""BrokerHeartbeat, versions 0-2: a broker reports how far it has replayed the metadata log (KIP-631).

A fenced broker is unfenced once it has replayed its own registration, unless it asks to stay fenced. A broker that asks
to shut down first loses its leaderships; one that lost a log directory loses those of the replicas in it (KIP-858).
"""

from __future__ import annotations

from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.heartbeats import BrokerState
from kmirror.cluster.controller.sessions import BrokerSessions
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_heartbeat_response import BrokerHeartbeatResponse
from kmirror.spec.error_codes import ErrorCode


def handle(
    context: ControllerContext, sessions: BrokerSessions, now: Instant, inbound: Inbound[BrokerHeartbeatRequest]
) -> None:
    """Respond whether the broker is caught up and fenced, or with BROKER_ID_NOT_REGISTERED or STALE_BROKER_EPOCH."""
    request = inbound.body
    broker = context.image.brokers.get(request.broker_id)
    if broker is None:
        inbound.reply(BrokerHeartbeatResponse(error_code=ErrorCode.BROKER_ID_NOT_REGISTERED))
        return
    if broker.epoch != request.broker_epoch:
        inbound.reply(BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    state = sessions.on_heartbeat(now, broker, request)
    inbound.reply(
        BrokerHeartbeatResponse(
            is_caught_up=request.current_metadata_offset >= broker.epoch,
            is_fenced=context.image.brokers[request.broker_id].fenced,
            should_shut_down=state is BrokerState.SHUTDOWN_NOW,
        )
    )
