"""DescribeGroups, versions 0-6: the state of groups and their members."""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.groups.apis.prelude import denied
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.describe_groups_response import (
    DescribedGroup,
    DescribeGroupsResponse,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

DEAD = "Dead"
"""The state of a group that does not exist."""
NOT_FOUND_FROM = 6
"""First version with GROUP_ID_NOT_FOUND; in earlier ones a missing group is Dead, without an error."""


def handle(coordinator: GroupCoordinator, _: Instant, inbound: Inbound[DescribeGroupsRequest]) -> None:
    """Respond with one row for each group; unauthorized groups come first."""
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
    row = None if group is None else group.describe()
    if row is not None:
        return row
    row = DescribedGroup(group_id=group_id, group_state=DEAD)
    if version >= NOT_FOUND_FROM:
        row.error_code, row.error_message = ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found."
    return row
