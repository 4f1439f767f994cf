"""ListGroups, versions 0-5: the groups that this broker coordinates."""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER
from kmirror.cluster.coordinators.groups.apis.prelude import denied
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_groups_response import ListedGroup, ListGroupsResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(coordinator: GroupCoordinator, _: Instant, inbound: Inbound[ListGroupsRequest]) -> None:
    """Respond with the groups that match the filters and that the client may describe.

    COORDINATOR_LOAD_IN_PROGRESS until all shards that this broker leads are loaded.
    """
    request = inbound.body
    if coordinator.runtime.is_loading:
        inbound.reply(ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        return
    states = {state.lower().strip() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    may_describe_all = inbound.rights.allow(AclOperation.DESCRIBE, CLUSTER)
    rows = []
    for group in coordinator.all_committed():
        is_wanted = (not states or group.state_name.lower() in states) and (not types or group.kind in types)
        if is_wanted and (may_describe_all or not denied(inbound, group.group_id, AclOperation.DESCRIBE)):
            rows.append(
                ListedGroup(
                    group_id=group.group_id,
                    protocol_type=group.protocol_type or "",
                    group_state=group.state_name,
                    group_type=group.kind,
                )
            )
    inbound.reply(ListGroupsResponse(groups=rows))
