"""ACL records, and the configs of a cluster that enforces ACLs."""

from __future__ import annotations

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.spec.acls import ANY
from kmirror.spec.configs.security import STANDARD_AUTHORIZER
from kmirror.spec.wire_values import AclOperation, AclPatternType, AclPermission, AclResourceType

ACL_CONFIGS = {"authorizer.class.name": STANDARD_AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
"""Brokers on plaintext connections are anonymous, so resources without ACLs must be open to everyone."""
ANY_USER = "User:*"


def acl(
    number: int,
    operation: int,
    name: str,
    permission: AclPermission = AclPermission.ALLOW,
    *,
    principal: str = ANY_USER,
    host: str = ANY,
    kind: AclResourceType = AclResourceType.TOPIC,
    pattern: AclPatternType = AclPatternType.LITERAL,
) -> AccessControlEntryRecord:
    """Return the record of ACL `number`."""
    return AccessControlEntryRecord(
        id=Uuid.from_ints(3, number),
        resource_type=kind,
        resource_name=name,
        pattern_type=pattern,
        principal=principal,
        host=host,
        operation=operation,
        permission_type=permission,
    )


def deny(number: int, operation: AclOperation, name: str, *, principal: str = ANY_USER) -> AccessControlEntryRecord:
    """Return the record of a DENY ACL."""
    return acl(number, operation, name, AclPermission.DENY, principal=principal)
