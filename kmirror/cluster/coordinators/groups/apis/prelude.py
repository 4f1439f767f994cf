"""What is asked of every request about one group before it is looked at: rights, the group's id, its coordinator."""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def denied(inbound: Inbound[Message], group_id: str, operation: AclOperation = AclOperation.READ) -> ErrorCode:
    """Return GROUP_AUTHORIZATION_FAILED if the client may not do `operation` with the group, else NONE."""
    return inbound.rights.error(operation, Resource.group(group_id))


def not_here(coordinator: GroupCoordinator, group_id: str) -> ErrorCode:
    """Return INVALID_GROUP_ID for the empty id, else why this broker cannot answer for the group, or NONE."""
    return coordinator.error(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
