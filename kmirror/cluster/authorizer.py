"""Authorization: a node calls its authorizer for each request, with the client's principal and host (D18).

The checks are Kafka's: on the cluster by the rows of `kmirror/spec/acls.py`, on named resources in the handlers. A node
of this cluster is a principal like any other. A request in an Envelope is checked twice: whether the broker may forward
requests, and whether its client may make the enclosed request.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, final

from kmirror.cluster.error_response import error_response
from kmirror.kernel.ids import Principal
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.acls import AUTHORIZATION_ERRORS, CLUSTER_ACLS_BY_KEY, CLUSTER_NAME, SUPPORTED_OPERATIONS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.error_messages import default_message
from kmirror.spec.wire_values import AclOperation, AclResourceType


class Resource(NamedTuple):
    """A resource as named by an ACL."""

    type: AclResourceType
    name: str

    def __str__(self) -> str:
        return f"{self.type.name}:{self.name}"

    @classmethod
    def topic(cls, name: str) -> Resource:
        """Return the topic of this name."""
        return cls(AclResourceType.TOPIC, name)

    @classmethod
    def group(cls, name: str) -> Resource:
        """Return the consumer group of this name."""
        return cls(AclResourceType.GROUP, name)

    @classmethod
    def transactional_id(cls, name: str) -> Resource:
        """Return the transactional id of this name."""
        return cls(AclResourceType.TRANSACTIONAL_ID, name)

    @classmethod
    def mirror(cls, name: str) -> Resource:
        """Return the mirror of this name (D18)."""
        return cls(AclResourceType.CLUSTER_MIRROR, name)


CLUSTER = Resource(AclResourceType.CLUSTER, CLUSTER_NAME)


RightsVersion = tuple[Hashable, ...]
"""Version of rights: conclusions from the rights are valid for all clients with an equal version, while it is
unchanged."""
UNLIMITED: RightsVersion = ()
"""The version of rights that are never limited."""


class Authorizer(Protocol):
    """Allows or denies operations (Kafka's Authorizer).

    Its results may change at any time, so a node does not cache anything derived from them, unless the authorizer has a
    method `version_of(principal, host)` that returns a `RightsVersion`.
    """

    def authorize(self, principal: Principal, host: str, operation: AclOperation, resource: Resource) -> bool:
        """Return whether `principal` may do `operation` on `resource` from the address `host`."""
        ...

    def authorize_by_resource_type(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: AclResourceType
    ) -> bool:
        """Return whether there is any resource of this type on which the principal may do `operation`."""
        ...


class AllowAll:
    """Allows everything. A subclass may deny operations, so its rights have no version."""

    def authorize(self, principal: Principal, host: str, operation: AclOperation, resource: Resource) -> bool:
        return True

    def authorize_by_resource_type(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: AclResourceType
    ) -> bool:
        return True


@final
class Unlimited(AllowAll):
    """Allows everything, as in a cluster without an authorizer; cannot be subclassed."""

    def version_of(self, principal: Principal, host: str) -> RightsVersion:
        return UNLIMITED


ALLOW_ALL = Unlimited()
NONE_DENIED: Mapping[str, ErrorCode] = {}


@dataclass(frozen=True, slots=True)
class Rights:
    """Rights of one principal at one host."""

    authorizer: Authorizer
    principal: Principal
    host: str
    is_forwarded: bool = False
    """True if a broker forwarded the request for another principal (KIP-590)."""
    _version_of: Callable[[Principal, str], RightsVersion] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_version_of", getattr(self.authorizer, "version_of", None))

    @property
    def version(self) -> RightsVersion | None:
        """Return the version of these rights; None if the authorizer must be called each time."""
        return None if self._version_of is None else self._version_of(self.principal, self.host)

    def allow(self, operation: AclOperation, resource: Resource) -> bool:
        """Return whether `operation` on `resource` is allowed."""
        return self.authorizer.authorize(self.principal, self.host, operation, resource)

    def allow_any(self, operation: AclOperation, resource_type: AclResourceType) -> bool:
        """Return whether there is a resource of this type on which `operation` is allowed."""
        return self.authorizer.authorize_by_resource_type(self.principal, self.host, operation, resource_type)

    def error(self, operation: AclOperation, resource: Resource) -> ErrorCode:
        """Return NONE if `operation` on `resource` is allowed, else the error for that type of resource."""
        return ErrorCode.NONE if self.allow(operation, resource) else AUTHORIZATION_ERRORS[resource.type]

    def operations(self, resource: Resource) -> int:
        """Return the allowed operations on `resource`, operation n as bit n."""
        return sum(1 << one for one in SUPPORTED_OPERATIONS[resource.type] if self.allow(one, resource))

    def denied_topics(self, operation: AclOperation, names: Iterable[str]) -> Mapping[str, ErrorCode]:
        """Return the error of each topic on which `operation` is denied; each name is checked once."""
        if self.version == UNLIMITED:
            return NONE_DENIED
        errors = {name: self.error(operation, Resource.topic(name)) for name in dict.fromkeys(names)}
        return {name: error for name, error in errors.items() if error}


def may_send(rights: Rights, api_key: int, version: int) -> bool:
    """Return whether a request of this API may be sent at all, regardless of the resources that it names."""
    row = CLUSTER_ACLS_BY_KEY.get(api_key)
    return row is None or version < row.first_version or any(rights.allow(one, CLUSTER) for one in row.operations)


def cluster_error_response(rights: Rights, request: Message, version: int) -> Message | None:
    """Return the error response to a request that its sender may not send at all, or None if it may."""
    if may_send(rights, key_of(type(request)), version):
        return None
    return kafka_error_response(request, version, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def kafka_error_response(request: Message, version: int, error: ErrorCode) -> Message:
    """Return the response that has `error`, with Kafka's message, for the whole request."""
    return error_response(request, version, error, default_message(error))
