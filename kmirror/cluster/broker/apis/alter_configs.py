"""IncrementalAlterConfigs and AlterConfigs at a broker (ConfigAdminManager).

The broker rejects changes that only it can check; the controller decides the rest. A broker accepts changes of its own
configs and of the cluster-wide broker configs, but not another broker's. APPEND and SUBTRACT are accepted for lists
only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kmirror.cluster.broker.forwarding import forward, forward_in_place
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.java import parse_int
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest
from kmirror.protocol.gen.alter_configs_response import AlterConfigsResourceResponse, AlterConfigsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kmirror.protocol.gen.incremental_alter_configs_response import (
    AlterConfigsResourceResponse as IncrementalResourceResponse,
)
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.protocol.message import Message
from kmirror.spec.configs import Kind, Scope, config_keys
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp, ResourceType

Rejection = tuple[ErrorCode, str]
LIST_OPERATIONS: Mapping[int, str] = {ConfigOp.APPEND: "append", ConfigOp.SUBTRACT: "subtract"}


def handle(
    parts: BrokerParts, now: Instant, inbound: Inbound[IncrementalAlterConfigsRequest | AlterConfigsRequest]
) -> None:
    """Forward the request without the resources rejected here; results keep the order of the request."""
    request = inbound.body
    is_incremental = isinstance(request, IncrementalAlterConfigsRequest)
    resources: list[Any] = list(request.resources)
    resource_counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    rejections: dict[int, Rejection] = {}
    for position, resource in enumerate(resources):
        if (
            resource.resource_type == ResourceType.BROKER
            and resource_counts[resource.resource_type, resource.resource_name] == 1
        ):
            rejection = _rejection(parts.context.node_id, resource, is_incremental=is_incremental)
            if rejection is not None:
                rejections[position] = rejection
    if not rejections:
        forward(parts.context, now, inbound)
        return
    forwarded = [
        _without_unknown_tags(resource) for position, resource in enumerate(resources) if position not in rejections
    ]
    row_type: Any = IncrementalResourceResponse if is_incremental else AlterConfigsResourceResponse
    response_type: Any = IncrementalAlterConfigsResponse if is_incremental else AlterConfigsResponse

    @inbound.guard
    def on_response(response: Message | None) -> None:
        assert isinstance(response, IncrementalAlterConfigsResponse | AlterConfigsResponse)
        rows: list[Any] = list(response.responses)
        for position, (error, message) in rejections.items():
            rows.insert(
                position, row_type(error, message, resources[position].resource_type, resources[position].resource_name)
            )
        inbound.reply(response_type(responses=rows))

    if forwarded:
        forward_in_place(parts.context, now, inbound, type(request)(forwarded, request.validate_only), on_response)
    else:
        on_response(response_type(responses=[]))


def _without_unknown_tags(resource: Any) -> Any:
    """Return the resource without tags that this version does not know.

    A reader accepts unknown tags in any order and repeated, but a writer may not write them like that.
    """
    for part in (resource, *resource.configs):
        if part.unknown_tags:
            part.unknown_tags = ()
    return resource


def _rejection(node_id: int, resource: Any, *, is_incremental: bool) -> Rejection | None:
    """Return why this broker rejects changing the configs of a broker, or None."""
    name = resource.resource_name
    names = Counter(config.name for config in resource.configs)
    if any(count > 1 for count in names.values()):
        return None  # The controller reports a malformed request.
    if name:
        number = parse_int(name)
        if number is None:
            return ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}"
        if number != node_id:
            return ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {node_id}, but received {name}"
    for config in resource.configs if is_incremental else ():
        row = config_keys(Scope.BROKER).get(config.name)
        if config.config_operation not in LIST_OPERATIONS or config.value is None:
            continue
        if row is None:
            return ErrorCode.INVALID_CONFIG, f"Unknown config name: {config.name}"
        if row.kind is not Kind.LIST:
            operation = LIST_OPERATIONS[config.config_operation]
            message = f"Config value {operation} is not allowed for config key: {config.name}"
            return ErrorCode.INVALID_CONFIG, message
    return None
