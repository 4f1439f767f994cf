"""DeleteGroups, versions 0-2: delete groups without members, and their offsets."""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.apis.prelude import denied
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.delete_groups_response import DeletableGroupResult, DeleteGroupsResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[DeleteGroupsRequest]) -> None:
    """Respond with one row for each group, once its tombstones are committed; unauthorized groups come last."""
    request = inbound.body
    names = dict.fromkeys(request.groups_names)
    errors = {name: denied(inbound, name, AclOperation.DELETE) for name in names}
    response = DeleteGroupsResponse()
    pending = PendingResponse(inbound, response)
    for name in [name for name in names if not errors[name]]:
        row = DeletableGroupResult(group_id=name)
        response.results.append(row)

        @pending.row
        def on_done(_: Instant, error: ErrorCode, row: DeletableGroupResult = row) -> None:
            row.error_code = error

        error = coordinator.error(name)
        if error:
            on_done(now, error)
        else:
            coordinator.delete(now, name, on_done)
    response.results += [
        DeletableGroupResult(group_id=name, error_code=error) for name, error in errors.items() if error
    ]
    pending.end()
