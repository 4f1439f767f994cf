"""What has a principal to be allowed, and what is it told if it is not? Kafka's KafkaApis and ControllerApis, and the
tables of KIP-1279 (D18), one row each.

Here stands what is asked of the cluster as a whole, before a request is looked at. What is asked about a topic, a
transactional id or a mirror is asked by the handler that reads the name in the request.
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


@dataclass(frozen=True, slots=True)
class ClusterAcl:
    """Who may send a request at all: whoever may do one of `operations` on the cluster."""

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
"""Operations are asked in this order until one is allowed. A controller's Fetch belongs here too; a broker's does not,
so that the controller's handler asks by itself."""

CLUSTER_ACLS_BY_KEY: Mapping[int, ClusterAcl] = {row.key: row for row in CLUSTER_ACLS}

DENIED: Mapping[AclResourceType, ErrorCode] = {
    AclResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    AclResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    AclResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    AclResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    AclResourceType.CLUSTER_MIRROR: ErrorCode.MIRROR_AUTHORIZATION_FAILED,
}
"""What is said of a resource on which an operation is not allowed."""

COORDINATED: Mapping[int, tuple[AclOperation, AclResourceType]] = {
    CoordinatorType.GROUP: (AclOperation.DESCRIBE, AclResourceType.GROUP),
    CoordinatorType.TRANSACTION: (AclOperation.DESCRIBE, AclResourceType.TRANSACTIONAL_ID),
    CoordinatorType.SHARE: (AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER),
    CoordinatorType.MIRROR: (AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER),
}
"""What FindCoordinator asks for a key of each type; where the cluster is asked, the key names no resource."""

CONFIGURED: Mapping[int, AclResourceType] = {
    ResourceType.TOPIC: AclResourceType.TOPIC,
    ResourceType.BROKER: AclResourceType.CLUSTER,
    ResourceType.MIRROR: AclResourceType.CLUSTER_MIRROR,
}
"""On what ALTER_CONFIGS is asked for each type of resource that has configs."""

_WITH_CONFIGS = (AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS)
SUPPORTED: Mapping[AclResourceType, tuple[AclOperation, ...]] = {
    AclResourceType.TOPIC: (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        *_WITH_CONFIGS,
    ),
    AclResourceType.GROUP: (AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE, *_WITH_CONFIGS),
    AclResourceType.CLUSTER: (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION,
        *_WITH_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    ),
    AclResourceType.CLUSTER_MIRROR: (AclOperation.CREATE, AclOperation.ALTER, AclOperation.DESCRIBE, *_WITH_CONFIGS),
}
"""What can be done with a resource (AclEntry.supportedOperations), for answers that tell which of it is allowed."""
