"""LeaveGroup, versions 0-5: a member leaves, or an administrator removes members, static ones by their instance id."""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.classic.apis.prelude import find
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant, to_ms
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest, MemberIdentity
from kmirror.protocol.gen.leave_group_response import LeaveGroupResponse, MemberResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

MEMBERS_FROM = 3
"""First version with a list of members; earlier ones name one member, and its error is the error of the response."""


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[LeaveGroupRequest]) -> None:
    """Respond with an error for each member; if the group becomes empty, once that is persisted."""
    request = inbound.body
    members = request.members if inbound.version >= MEMBERS_FROM else [MemberIdentity(member_id=request.member_id)]

    @inbound.guard
    def respond(body: Message) -> None:
        assert isinstance(body, LeaveGroupResponse)
        if inbound.version < MEMBERS_FROM:
            body = LeaveGroupResponse(error_code=body.error_code or body.members[0].error_code)
        inbound.reply(body)

    group = find(coordinator, now, inbound, request.group_id)
    if group is ErrorCode.UNKNOWN_MEMBER_ID:
        rows = [
            MemberResponse(member_id=row.member_id, group_instance_id=row.group_instance_id, error_code=group)
            for row in members
        ]
        respond(LeaveGroupResponse(members=rows))
    elif isinstance(group, ErrorCode):
        respond(LeaveGroupResponse(error_code=group))
    else:
        requests.leave(group, to_ms(now), members, respond)
        coordinator.perform(now, group)
