"""IncrementalAlterConfigs (44) for mirrors, v2: configs of resource type MIRROR; the rest is the cluster's.

`source.cluster.id` may be set once, by the metadata sync, and never changed (D16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.decisions import Decision
from kmirror.cluster.handlers import k44_incremental_alter_configs as cluster
from kmirror.kernel.clock import Instant
from kmirror.mirror.configs import BOOTSTRAP_SERVERS, RESOURCE_MIRROR, SOURCE_CLUSTER_ID
from kmirror.mirror.source import parse_servers
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kmirror.protocol.message import Message
from kmirror.spec.configs import Scope, problem_with
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.controller import Controller


def decide(controller: Controller, now: Instant, request: Message, version: int) -> Decision:
    assert isinstance(request, IncrementalAlterConfigsRequest)
    others = [row for row in request.resources if row.resource_type != RESOURCE_MIRROR]
    rest = cluster.decide(
        controller, now,
        IncrementalAlterConfigsRequest(resources=others, validate_only=request.validate_only), version,
    )
    assert isinstance(rest.response, IncrementalAlterConfigsResponse)
    records = list(rest.records)
    response = IncrementalAlterConfigsResponse(responses=list(rest.response.responses))
    for resource in request.resources:
        if resource.resource_type != RESOURCE_MIRROR:
            continue
        error, message, made = _alter(controller, resource)
        response.responses.append(
            AlterConfigsResourceResponse(
                error_code=error, error_message=message, resource_type=RESOURCE_MIRROR,
                resource_name=resource.resource_name,
            )
        )
        if not request.validate_only:
            records += made
    return Decision(records, response)


def _alter(controller: Controller, resource: AlterConfigsResource) -> tuple[ErrorCode, str | None, list[Message]]:
    name = resource.resource_name
    known = controller.image.configs.get((RESOURCE_MIRROR, name))
    if known is None:
        return ErrorCode.UNKNOWN_MIRROR, f"Mirror '{name}' does not exist.", []
    records: list[Message] = []
    for config in resource.configs:
        value = config.value if config.config_operation == cluster.SET else None
        if config.name == SOURCE_CLUSTER_ID and SOURCE_CLUSTER_ID not in known and value:
            problem = None
        elif config.config_operation not in (cluster.SET, cluster.DELETE):
            return ErrorCode.INVALID_REQUEST, f"Operation {config.config_operation} is not served.", []
        elif config.name == BOOTSTRAP_SERVERS and not parse_servers(value or ""):
            problem = f"{BOOTSTRAP_SERVERS} must be a list of host:port pairs, not {value!r}"
        else:
            problem = problem_with(Scope.MIRROR, config.name, value or "")
        if problem is not None:
            return ErrorCode.INVALID_CONFIG, problem, []
        records.append(
            ConfigRecord(resource_type=RESOURCE_MIRROR, resource_name=name, name=config.name, value=value)
        )
    return ErrorCode.NONE, None, records
