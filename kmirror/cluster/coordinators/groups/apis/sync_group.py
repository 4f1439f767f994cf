"""SyncGroup, versions 0-5: the leader says who gets what, and every member is told what it got.

The answer comes when the assignment is persisted in `__consumer_offsets` and committed there.
"""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.apis.prelude import denied, not_here
from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

PROTOCOL_REQUIRED_FROM = 5
"""First version in which a member has to say which protocol it believes to be chosen."""


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[SyncGroupRequest]) -> None:
    """Answer with the member's assignment, or at once with an error."""
    request = inbound.body

    @inbound.guard
    def answer(body: Message) -> None:
        inbound.reply(body)

    is_vague = inbound.version >= PROTOCOL_REQUIRED_FROM and None in (request.protocol_type, request.protocol_name)
    error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL if is_vague else denied(inbound, request.group_id)
    error = error or not_here(coordinator, request.group_id)
    found = None if error else coordinator.alive(now, request.group_id)
    if found is None:
        answer(SyncGroupResponse(error_code=error or ErrorCode.UNKNOWN_MEMBER_ID))
        return
    requests.sync(found, request, answer)
    coordinator.perform(now, found)
