"""Authorization of requests for one group."""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.server import Inbound
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def denied(inbound: Inbound[Message], group_id: str, operation: AclOperation = AclOperation.READ) -> ErrorCode:
    """Return GROUP_AUTHORIZATION_FAILED if the client may not do `operation` with the group, else NONE."""
    return inbound.rights.error(operation, Resource.group(group_id))
