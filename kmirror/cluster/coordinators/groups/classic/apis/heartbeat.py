"""Heartbeat, versions 0-4: a member reports that it is alive, and is informed of a rebalance."""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.classic.apis.prelude import find
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.spec.error_codes import ErrorCode


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[HeartbeatRequest]) -> None:
    """Return REBALANCE_IN_PROGRESS if the member must join again, or the error of the member."""
    request = inbound.body
    group = find(coordinator, now, inbound, request.group_id)
    if not isinstance(group, ErrorCode):
        error = requests.heartbeat(group, request)
        coordinator.perform(now, group)
    elif group is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        error = ErrorCode.NONE  # A new coordinator must not make members leave or look for another coordinator.
    else:
        error = group
    inbound.reply(HeartbeatResponse(error_code=error))
