"""The authorizer of a node according to its configs: none, or one that enforces the ACLs of the metadata image.

The rules are those of Kafka's StandardAuthorizer. A DENY ACL takes precedence over all ALLOW ACLs, in any order.
`allow.everyone.if.no.acl.found` applies to resources without any ACL; a super user may do everything.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.authorizer import ALLOW_ALL, UNLIMITED, Authorizer, Resource, RightsVersion
from kmirror.cluster.images import MetadataImage
from kmirror.errors import UsageError
from kmirror.kernel.ids import Principal
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.spec.acls import ANY
from kmirror.spec.configs import Configs
from kmirror.spec.wire_values import AclOperation, AclPatternType, AclPermission, AclResourceType

ANY_PRINCIPAL = str(Principal("User", ANY))
ALL = 2
"""The operation of an ACL for all operations (AclOperation.ALL)."""
IMPLYING_OPERATIONS: Mapping[AclOperation, tuple[int, ...]] = {
    AclOperation.DESCRIBE: (AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER),
    AclOperation.DESCRIBE_CONFIGS: (AclOperation.ALTER_CONFIGS,),
}
"""Operation to the operations that imply it: an ACL that allows one of these allows the key too."""


class AclAuthorizer:
    """Authorizes by the ACLs of an image."""

    def __init__(self, image: MetadataImage, super_users: frozenset[Principal], *, allows_without_acl: bool) -> None:
        self._image = image
        self._super_users = super_users
        self._allows_without_acl = allows_without_acl

    def version_of(self, principal: Principal, host: str) -> RightsVersion:
        if principal in self._super_users:
            return UNLIMITED
        return self._image.acls.version, principal, host

    def authorize(self, principal: Principal, host: str, operation: AclOperation, resource: Resource) -> bool:
        if principal in self._super_users:
            return True
        name, allows, is_known = str(principal), False, False
        for acl in self._image.acls.matching(resource.type, resource.name):
            is_known = True
            if not _matches(acl, name, host):
                continue
            if acl.permission_type == AclPermission.ALLOW:
                allows = allows or acl.operation in (ALL, operation, *IMPLYING_OPERATIONS.get(operation, ()))
            elif acl.operation in (ALL, operation):
                return False
        return allows or (self._allows_without_acl and not is_known)

    def authorize_by_resource_type(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: AclResourceType
    ) -> bool:
        """Return whether an ACL allows it on a resource that no ACL denies entirely, or no ACL is needed (KIP-679)."""
        if self.authorize(principal, host, operation, Resource(resource_type, "hardcode")):
            return True
        name = str(principal)
        acls = [
            acl
            for acl in self._image.acls.of_type(resource_type)
            if _matches(acl, name, host) and acl.operation in (ALL, operation)
        ]
        denied = [_pattern(acl) for acl in acls if acl.permission_type != AclPermission.ALLOW]
        if (AclPatternType.LITERAL, ANY) in denied:
            return False
        return any(
            acl.permission_type == AclPermission.ALLOW
            and not any(_covers(pattern, _pattern(acl)) for pattern in denied)
            for acl in acls
        )


def authorizer_of(configs: Configs, image: MetadataImage, plugin: Authorizer | None) -> Authorizer:
    """Return a node's authorizer: the plugged-in one, else the configured one; UsageError for invalid configs."""
    if plugin is not None:
        return plugin
    if not configs.text("authorizer.class.name"):
        return ALLOW_ALL
    names = [name.strip() for name in configs.text("super.users").split(";")]
    super_users = frozenset(_principal(name) for name in names if name)
    allows_without_acl = configs.flag("allow.everyone.if.no.acl.found")
    return AclAuthorizer(image, super_users, allows_without_acl=allows_without_acl)


def _principal(name: str) -> Principal:
    kind, colon, rest = name.partition(":")
    if not kind or not colon:
        raise UsageError(f"super.users has {name!r}, expected type:name, such as User:alice")
    return Principal(kind, rest)


def _matches(acl: AccessControlEntryRecord, principal: str, host: str) -> bool:
    return acl.principal in (principal, ANY_PRINCIPAL) and acl.host in (ANY, host)


def _pattern(acl: AccessControlEntryRecord) -> tuple[int, str]:
    return acl.pattern_type, acl.resource_name


def _covers(denied: tuple[int, str], allowed: tuple[int, str]) -> bool:
    """Return whether a DENY pattern covers the whole of an ALLOW pattern."""
    if denied[0] == AclPatternType.PREFIXED:
        return allowed != (AclPatternType.LITERAL, ANY) and allowed[1].startswith(denied[1])
    return denied == allowed
