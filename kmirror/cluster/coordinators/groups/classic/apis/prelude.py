"""Lookup of the group of a member's request."""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.apis.prelude import denied
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


def find(
    coordinator: GroupCoordinator, now: Instant, inbound: Inbound[Message], group_id: str
) -> ClassicGroup | ErrorCode:
    """Return the live group, or an error; UNKNOWN_MEMBER_ID if it does not exist or is of another kind."""
    error = denied(inbound, group_id)
    if error or not group_id:
        return error or ErrorCode.INVALID_GROUP_ID
    found = coordinator.live_group(now, group_id)
    return found if isinstance(found, ClassicGroup | ErrorCode) else ErrorCode.UNKNOWN_MEMBER_ID
