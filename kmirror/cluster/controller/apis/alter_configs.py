"""AlterConfigs, versions 0-2: replace all configs of a resource.

It is decided as an IncrementalAlterConfigs with a SET for each named config and a DELETE for all others. Configs that
belong to the mirror APIs are kept (D7).
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.apis import incremental_alter_configs
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest, AlterConfigsResource
from kmirror.protocol.gen.alter_configs_response import AlterConfigsResourceResponse, AlterConfigsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_request import AlterConfigsResource as IncrementalResource
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.spec.configs import Scope, config_keys
from kmirror.spec.wire_values import ConfigOp, ResourceType


def decide(
    context: ControllerContext, now: Instant, request: AlterConfigsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision about topics and brokers; INVALID_REQUEST for any other resource type."""
    return decide_with(incremental_alter_configs.ALTERS, context, request, rights)


def decide_with(
    alters: Mapping[int, incremental_alter_configs.Alter],
    context: ControllerContext,
    request: AlterConfigsRequest,
    rights: Rights,
) -> Decision:
    """Return the decision about every resource, made by the function of its type in `alters`."""
    resources = [_incremental_resource(context, resource) for resource in request.resources]
    incremental = IncrementalAlterConfigsRequest(resources, request.validate_only)
    decision = incremental_alter_configs.decide_with(alters, context, incremental, rights)
    assert isinstance(decision.response, IncrementalAlterConfigsResponse)
    rows = [
        AlterConfigsResourceResponse(row.error_code, row.error_message, row.resource_type, row.resource_name)
        for row in decision.response.responses
    ]
    return Decision(decision.records, AlterConfigsResponse(responses=rows))


def _incremental_resource(context: ControllerContext, resource: AlterConfigsResource) -> IncrementalResource:
    """Return the resource of an equivalent IncrementalAlterConfigs."""
    kind, name = resource.resource_type, resource.resource_name
    names = {config.name for config in resource.configs}
    known_configs = config_keys(Scope.MIRROR if kind == ResourceType.MIRROR else Scope.TOPIC)
    configs = [AlterableConfig(config.name, ConfigOp.SET, config.value) for config in resource.configs]
    for key in context.image.configs.get((kind, name), {}):
        if key not in names and not (key in known_configs and known_configs[key].hidden):
            configs.append(AlterableConfig(key, ConfigOp.DELETE, None))
    return IncrementalResource(kind, name, configs)
