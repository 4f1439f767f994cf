"""Who may do what? An authorizer says it; a node asks it for each request, with the principal and host that sent it.

What is asked is Kafka's: rows in `kmirror/spec/acls.py`, and the handlers where a name stands in the request. A node of
this cluster is a principal like any other. A request that comes in an Envelope is asked about twice: may the broker
pass requests on, and may its client do what is inside?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kmirror.cluster.refusal import refusal
from kmirror.kernel.ids import Principal
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.acls import CLUSTER_ACLS_BY_KEY, CLUSTER_NAME, DENIED
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, AclResourceType


class Resource(NamedTuple):
    """One thing that an operation may be allowed on."""

    type: AclResourceType
    name: str

    def __str__(self) -> str:
        return f"{self.type.name}:{self.name}"

    @classmethod
    def topic(cls, name: str) -> Resource:
        """Return the topic of this name."""
        return cls(AclResourceType.TOPIC, name)

    @classmethod
    def transactional_id(cls, name: str) -> Resource:
        """Return the transactional id of this name."""
        return cls(AclResourceType.TRANSACTIONAL_ID, name)

    @classmethod
    def mirror(cls, name: str) -> Resource:
        """Return the mirror of this name (D18)."""
        return cls(AclResourceType.CLUSTER_MIRROR, name)


CLUSTER = Resource(AclResourceType.CLUSTER, CLUSTER_NAME)


class Authorizer(Protocol):
    """Says who may do what. An answer may change from one request to the next; a node keeps none."""

    def authorize(self, principal: Principal, host: str, operation: AclOperation, resource: Resource) -> bool:
        """May `principal`, at the address `host`, do `operation` with `resource`?"""
        ...

    def authorize_by_resource_type(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: AclResourceType
    ) -> bool:
        """May it do so with any resource of this type at all?"""
        ...


class AllowAll:
    """Everybody may do everything: a cluster without an authorizer."""

    def authorize(self, principal: Principal, host: str, operation: AclOperation, resource: Resource) -> bool:
        return True

    def authorize_by_resource_type(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: AclResourceType
    ) -> bool:
        return True


ALLOW_ALL = AllowAll()


@dataclass(frozen=True, slots=True)
class Rights:
    """What one principal may do, from one host."""

    authorizer: Authorizer
    principal: Principal
    host: str

    def allow(self, operation: AclOperation, resource: Resource) -> bool:
        """Is `operation` on `resource` allowed?"""
        return self.authorizer.authorize(self.principal, self.host, operation, resource)

    def allow_any(self, operation: AclOperation, resource_type: AclResourceType) -> bool:
        """Is there a resource of this type on which `operation` is allowed?"""
        return self.authorizer.authorize_by_resource_type(self.principal, self.host, operation, resource_type)

    def error(self, operation: AclOperation, resource: Resource) -> ErrorCode:
        """Return the error of whoever may not do `operation` with `resource`, or NONE."""
        return ErrorCode.NONE if self.allow(operation, resource) else DENIED[resource.type]

    def denied_topics(self, operation: AclOperation, names: Iterable[str]) -> Mapping[str, ErrorCode]:
        """Return the error of each topic on which `operation` is not allowed; every name is asked about once."""
        asked = {name: self.error(operation, Resource.topic(name)) for name in dict.fromkeys(names)}
        return {name: error for name, error in asked.items() if error}


def cluster_refusal(rights: Rights, request: Message, version: int) -> Message | None:
    """Return the answer to a request that its sender may not send at all, or None if it may."""
    row = CLUSTER_ACLS_BY_KEY.get(key_of(type(request)))
    if row is None or version < row.first_version or any(rights.allow(one, CLUSTER) for one in row.operations):
        return None
    return refused(request, version, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def refused(request: Message, version: int, error: ErrorCode) -> Message:
    """Return the answer that says `error` to all of a request, in Kafka's words."""
    return refusal(request, version, error, error.text)
