"""DescribeGroups, versions 0-6: the state of groups, and who their members are."""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.groups.apis.prelude import denied
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.describe_groups_response import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

NOT_FOUND_FROM = 6
"""First version that says GROUP_ID_NOT_FOUND; before, a group that does not exist is Dead and no error."""


def handle(coordinator: GroupCoordinator, _: Instant, inbound: Inbound[DescribeGroupsRequest]) -> None:
    """Answer with one row for each group, those that the client may not see first."""
    request = inbound.body
    rows, allowed = [], []
    for group_id in request.groups:
        error = denied(inbound, group_id, AclOperation.DESCRIBE)
        if error:
            rows.append(DescribedGroup(group_id=group_id, error_code=error))
        else:
            allowed.append(group_id)
    for group_id in allowed:
        row = _describe(coordinator, group_id, inbound.version)
        if request.include_authorized_operations and not row.error_code:
            row.authorized_operations = inbound.rights.operations(Resource.group(group_id))
        rows.append(row)
    inbound.reply(DescribeGroupsResponse(groups=rows))


def _describe(coordinator: GroupCoordinator, group_id: str, version: int) -> DescribedGroup:
    error = coordinator.error(group_id)
    if error:
        return DescribedGroup(group_id=group_id, error_code=error)
    group = coordinator.committed(group_id)
    if group is not None:
        return _row(group)
    row = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    if version >= NOT_FOUND_FROM:
        row.error_code, row.error_message = ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found."
    return row


def _row(group: ClassicGroup) -> DescribedGroup:
    # What members said and the protocol's name belong to a generation that is settled.
    protocol = group.protocol if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=b"" if protocol is None else member.protocols[protocol],
                member_assignment=member.assignment,
            )
            for member in group.members.in_order()
        ],
    )
