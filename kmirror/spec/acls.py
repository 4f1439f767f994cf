"""Operations each request requires, and the error for a denied one (D18).

The rows follow Kafka's KafkaApis and ControllerApis, and the tables of KIP-1279.

This module has the rights on the cluster as a whole, which are checked before a request is handled. Rights on a topic,
a transactional id or a mirror are checked by the handler that reads the name in the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, AclResourceType, CoordinatorType, ResourceType

CLUSTER_NAME: Final = "kafka-cluster"
"""The name of the only resource of type CLUSTER (Resource.CLUSTER_NAME)."""


ANY: Final = "*"
"""In an ACL every name of a resource, every name of a user, or every host."""


@dataclass(frozen=True, slots=True)
class ClusterAcl:
    """A request that requires one of `operations` on the cluster."""

    api: str
    operations: tuple[AclOperation, ...] = (AclOperation.CLUSTER_ACTION,)
    first_version: int = 0

    @property
    def key(self) -> int:
        return API_KEYS[self.api]


CLUSTER_ACLS: tuple[ClusterAcl, ...] = (
    ClusterAcl("WriteTxnMarkers", (AclOperation.ALTER, AclOperation.CLUSTER_ACTION)),
    ClusterAcl("AddPartitionsToTxn", first_version=4),
    ClusterAcl("AlterPartition"),
    ClusterAcl("Envelope"),
    ClusterAcl("BrokerRegistration"),
    ClusterAcl("BrokerHeartbeat"),
    ClusterAcl("AssignReplicasToDirs"),
    ClusterAcl("AllocateProducerIds"),
    ClusterAcl("FetchSnapshot"),
    ClusterAcl("ReadMirrorStates"),
    ClusterAcl("WriteMirrorStates"),
    ClusterAcl("BumpLeaderEpochs"),
)
"""Operations are checked in this order until one is allowed. A controller's Fetch belongs here too, but a broker's does
not, so the controller's handler checks it."""

CLUSTER_ACLS_BY_KEY: Mapping[int, ClusterAcl] = {row.key: row for row in CLUSTER_ACLS}

AUTHORIZATION_ERRORS: Mapping[AclResourceType, ErrorCode] = {
    AclResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    AclResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    AclResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    AclResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    AclResourceType.CLUSTER_MIRROR: ErrorCode.MIRROR_AUTHORIZATION_FAILED,
}
"""The error for a resource on which an operation is not allowed."""

COORDINATOR_RIGHTS: Mapping[int, tuple[AclOperation, AclResourceType]] = {
    CoordinatorType.GROUP: (AclOperation.DESCRIBE, AclResourceType.GROUP),
    CoordinatorType.TRANSACTION: (AclOperation.DESCRIBE, AclResourceType.TRANSACTIONAL_ID),
    CoordinatorType.SHARE: (AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER),
    CoordinatorType.MIRROR: (AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER),
}
"""The right that FindCoordinator requires for a key of each type; for the cluster, the key names no resource."""

CONFIG_RESOURCES: Mapping[int, AclResourceType] = {
    ResourceType.TOPIC: AclResourceType.TOPIC,
    ResourceType.BROKER: AclResourceType.CLUSTER,
    ResourceType.MIRROR: AclResourceType.CLUSTER_MIRROR,
}
"""The ACL resource on which ALTER_CONFIGS is required, for each type of resource that has configs."""

_CONFIG_OPERATIONS = (AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS)
SUPPORTED_OPERATIONS: Mapping[AclResourceType, tuple[AclOperation, ...]] = {
    AclResourceType.TOPIC: (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        *_CONFIG_OPERATIONS,
    ),
    AclResourceType.GROUP: (AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE, *_CONFIG_OPERATIONS),
    AclResourceType.CLUSTER: (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION,
        *_CONFIG_OPERATIONS,
        AclOperation.IDEMPOTENT_WRITE,
    ),
    AclResourceType.CLUSTER_MIRROR: (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        *_CONFIG_OPERATIONS,
    ),
}
"""The operations on each resource (AclEntry.supportedOperations), for responses that list the allowed ones."""
