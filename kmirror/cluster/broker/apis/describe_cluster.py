"""DescribeCluster, versions 0-2: the brokers, fenced ones too if requested, and the client's allowed operations.

A broker does not know the controllers' endpoints: requests for them get an error.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_cluster_response import DescribeClusterBroker, DescribeClusterResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, EndpointType


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[DescribeClusterRequest]) -> None:
    """Reply with the brokers; UNSUPPORTED_ENDPOINT_TYPE or MISMATCHED_ENDPOINT_TYPE for other endpoint types."""
    request = inbound.body
    if request.endpoint_type != EndpointType.BROKER:
        inbound.reply(_error_response(request.endpoint_type))
        return
    image = parts.context.image
    response = DescribeClusterResponse(
        error_message=None,
        cluster_id=parts.context.cluster_id,
        controller_id=image.brokers.any_alive_id(),  # KRaft: any living broker forwards.
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.broker_id,
                host=endpoint.host,
                port=endpoint.port,
                rack=broker.rack,
                is_fenced=broker.fenced,
            )
            for broker in image.brokers.values()
            if (request.include_fenced_brokers or not broker.fenced)
            and (endpoint := broker.endpoints.get(inbound.client.listener)) is not None
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = allowed_on_cluster(inbound.rights)
    inbound.reply(response)


def allowed_on_cluster(rights: Rights) -> int:
    """Return the allowed cluster operations, operation n as bit n; 0 without DESCRIBE on the cluster."""
    return rights.operations(CLUSTER) if rights.allow(AclOperation.DESCRIBE, CLUSTER) else 0


def _error_response(endpoint_type: int) -> DescribeClusterResponse:
    if endpoint_type == EndpointType.CONTROLLER:
        error = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        message = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
    else:
        error, message = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoint_type}"
    return DescribeClusterResponse(error_code=error, error_message=message, cluster_id="")
