"""IncrementalAlterConfigs (44), versions 0-2, decided by the controller: SET and DELETE on topics and brokers.

Version 2 is KIP-1279's bump for mirror resources, which a component serves. `mirror.name` is the
mirror APIs' own and refused here (D7). Left out: APPEND and SUBTRACT, group and client-metrics resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.decisions import Decision
from kmirror.cluster.images import RESOURCE_BROKER, RESOURCE_TOPIC
from kmirror.kernel.clock import Instant
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
from kmirror.spec.configs import Scope, known, problem_with
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.controller import Controller

SET = 0
DELETE = 1
SCOPES = {RESOURCE_TOPIC: Scope.TOPIC, RESOURCE_BROKER: Scope.BROKER}


def decide(controller: Controller, now: Instant, request: Message, version: int) -> Decision:
    assert isinstance(request, IncrementalAlterConfigsRequest)
    records: list[Message] = []
    response = IncrementalAlterConfigsResponse(responses=[])
    for resource in request.resources:
        error, message, made = _alter(controller, resource)
        response.responses.append(
            AlterConfigsResourceResponse(
                error_code=error, error_message=message, resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        )
        if not request.validate_only:
            records += made
    return Decision(records, response)


def _alter(controller: Controller, resource: AlterConfigsResource) -> tuple[ErrorCode, str | None, list[Message]]:
    scope = SCOPES.get(resource.resource_type)
    if scope is None:
        return ErrorCode.INVALID_REQUEST, f"Resource type {resource.resource_type} is not served.", []
    if scope is Scope.TOPIC and resource.resource_name not in controller.image.topics:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {resource.resource_name} does not exist.", []
    records: list[Message] = []
    for config in resource.configs:
        row = known(scope).get(config.name)
        if config.config_operation == DELETE and row is not None and not row.hidden:
            value = None
        elif config.config_operation == SET or row is None or row.hidden:
            if config.value is None:
                return ErrorCode.INVALID_REQUEST, f"Null value not supported for config {config.name}.", []
            problem = problem_with(scope, config.name, config.value)
            if problem is not None:
                return ErrorCode.INVALID_CONFIG, problem, []
            value = config.value
        else:
            return ErrorCode.INVALID_REQUEST, f"Operation {config.config_operation} is not served.", []
        records.append(
            ConfigRecord(
                resource_type=resource.resource_type, resource_name=resource.resource_name, name=config.name,
                value=value,
            )
        )
    return ErrorCode.NONE, None, records
