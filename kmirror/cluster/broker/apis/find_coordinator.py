"""FindCoordinator, versions 0-7: the coordinator of a group (0), a transactional id (1) or a mirror (3, D1).

The coordinator of a key is the leader of one partition of an internal topic. The first request for a
missing internal topic creates it. Left out: share coordinators (2).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Resource, Rights
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kmirror.spec.acls import COORDINATOR_RIGHTS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CoordinatorType

FIRST_VERSION: dict[int, int] = {
    CoordinatorType.GROUP: 0,
    CoordinatorType.TRANSACTION: 1,
    CoordinatorType.SHARE: 6,
    CoordinatorType.MIRROR: 7,
}
"""Coordinator type to the first version that supports it; type 3 is from KIP-1279 (D1)."""


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[FindCoordinatorRequest]) -> None:
    """Reply with the coordinator of each key; COORDINATOR_NOT_AVAILABLE, or INVALID_REQUEST for an unserved type."""
    request = inbound.body
    keys = request.coordinator_keys if inbound.version >= 4 else [request.key]
    is_served = inbound.version >= FIRST_VERSION.get(request.key_type, inbound.version + 1)
    rows = [
        (_denied(inbound.rights, request.key_type, key) if is_served else None)
        or _find(parts, now, inbound.client.listener, request.key_type, key, is_served=is_served)
        for key in keys
    ]
    if inbound.version >= 4:
        inbound.reply(FindCoordinatorResponse(coordinators=rows))
        return
    row = rows[0]
    inbound.reply(
        FindCoordinatorResponse(
            error_code=row.error_code,
            # Kafka sets a message for every code in these versions, and for none in later ones.
            error_message=ErrorCode(row.error_code).text if row.error_code else ErrorCode.NONE.name,
            node_id=row.node_id,
            host=row.host,
            port=row.port,
        )
    )


def _denied(rights: Rights, key_type: int, key: str) -> Coordinator | None:
    """Return the error row if the client may not look up the coordinator of `key`, else None."""
    if key_type not in COORDINATOR_RIGHTS:
        return None
    operation, kind = COORDINATOR_RIGHTS[key_type]
    error = rights.error(operation, CLUSTER if kind is CLUSTER.type else Resource(kind, key))
    if not error:
        return None
    return Coordinator(key=key, node_id=-1, host="", port=-1, error_code=error, error_message="")


def _find(parts: BrokerParts, now: Instant, listener: str, key_type: int, key: str, *, is_served: bool) -> Coordinator:
    coordinator = Coordinator(key=key, node_id=-1, host="", port=-1, error_message="")
    shard = parts.components.coordinator_for(key_type, key) if is_served else None
    if shard is None:
        coordinator.error_code = ErrorCode.INVALID_REQUEST
        return coordinator
    partition = parts.context.image.topics.partition(shard)
    if partition is None:
        parts.internal_topics.create(now, shard.topic)
    endpoint = None if partition is None else parts.context.image.brokers.endpoint(partition.leader, listener)
    if partition is None or endpoint is None:
        coordinator.error_code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        return coordinator
    coordinator.node_id, coordinator.host, coordinator.port = partition.leader, endpoint.host, endpoint.port
    return coordinator
