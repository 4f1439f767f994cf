"""SyncGroup, versions 0-5: the leader sends the assignment, and every member receives its part.

The response is sent once the assignment is committed in `__consumer_offsets`.
"""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.classic.apis.prelude import find
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

PROTOCOL_REQUIRED_FROM = 5
"""First version in which a member must name the protocol type and the protocol that it expects."""


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[SyncGroupRequest]) -> None:
    """Respond with the member's assignment, or at once with an error."""
    request = inbound.body

    @inbound.guard
    def respond(body: Message) -> None:
        inbound.reply(body)

    lacks_protocol = inbound.version >= PROTOCOL_REQUIRED_FROM and None in (
        request.protocol_type,
        request.protocol_name,
    )
    group: ClassicGroup | ErrorCode = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if not lacks_protocol:
        group = find(coordinator, now, inbound, request.group_id)
    if isinstance(group, ErrorCode):
        respond(SyncGroupResponse(error_code=group))
        return
    requests.sync(group, request, respond)
    coordinator.perform(now, group)
