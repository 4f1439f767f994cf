"""Heartbeat, versions 0-4: a member says that it is alive, and learns of a rebalance."""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.apis.prelude import denied, not_here
from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.spec.error_codes import ErrorCode


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[HeartbeatRequest]) -> None:
    """Answer with REBALANCE_IN_PROGRESS if the member has to join again, or with what is wrong with it."""
    request = inbound.body
    error = denied(inbound, request.group_id) or not_here(coordinator, request.group_id)
    if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        error = ErrorCode.NONE  # Nobody is to leave or look for another coordinator because this one is new.
    elif not error:
        found = coordinator.alive(now, request.group_id)
        error = ErrorCode.UNKNOWN_MEMBER_ID if found is None else requests.heartbeat(found, request)
        if found is not None:
            coordinator.perform(now, found)
    inbound.reply(HeartbeatResponse(error_code=error))
