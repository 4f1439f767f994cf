"""IncrementalAlterConfigs, versions 0-2: SET, DELETE, APPEND and SUBTRACT configs.

Topics and brokers are handled here, mirrors (version 2, KIP-1279) by a component. A resource is altered as a whole or
not at all. `mirror.name` belongs to the mirror APIs and is rejected here (D7). For a broker, or for all brokers with an
empty name, only the configs that Kafka's DynamicBrokerConfig allows may change; they take effect at once. Errors are
Kafka's: any error in a broker's configs is INVALID_REQUEST (KAFKA-13609). Not implemented: groups, client metrics, log
levels; configs of a broker's plugins, which Kafka stores unchecked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from kmirror.cluster.authorizer import CLUSTER, Resource, Rights
from kmirror.cluster.controller import min_insync
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kmirror.protocol.message import Message
from kmirror.spec.acls import CONFIG_RESOURCES
from kmirror.spec.configs import Kind, Scope, config_keys, default_of, problem_with
from kmirror.spec.configs.conflicts import problem_between
from kmirror.spec.configs.lists import split_raw
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.error_messages import default_message
from kmirror.spec.topics import problem_with_name
from kmirror.spec.wire_values import AclOperation, ConfigOp, ResourceType

LIST_OPERATIONS: dict[int, str] = {ConfigOp.APPEND: "APPEND", ConfigOp.SUBTRACT: "SUBTRACT"}
NODE_ID_MAX = 0x7FFFFFFF
_NODE_NAME = re.compile(r"[+-]?[0-9]{1,10}")

Changes = dict[str, str | None]
"""Config name -> new value; None restores the default."""
Alter = Callable[[ControllerContext, AlterConfigsResource], Changes]
"""Returns the changes that a resource requests; raises ApiError."""


def decide(
    context: ControllerContext, now: Instant, request: IncrementalAlterConfigsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision about topics and brokers; INVALID_REQUEST for any other resource type."""
    return decide_with(ALTERS, context, request, rights)


def decide_with(
    alters: Mapping[int, Alter], context: ControllerContext, request: IncrementalAlterConfigsRequest, rights: Rights
) -> Decision:
    """Return the decision about every resource, made by the function of its type in `alters`."""
    records: list[Message] = []
    response = IncrementalAlterConfigsResponse(responses=[])
    resource_counts = Counter((resource.resource_type, resource.resource_name) for resource in request.resources)
    for resource in request.resources:
        kind, name = resource.resource_type, resource.resource_name
        answer = AlterConfigsResourceResponse(error_message=None, resource_type=kind, resource_name=name)
        response.responses.append(answer)
        try:
            if resource_counts[kind, name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            if kind not in alters:
                raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
            _check_form(resource.configs)
            _check_rights(rights, kind, name)
            changes = alters[kind](context, resource)
        except ApiError as rejection:
            answer.error_code, answer.error_message = rejection.error, str(rejection)
            continue
        if not request.validate_only:
            records += _records(context, kind, name, changes)
    return Decision(records, response)


def _check_form(configs: Sequence[AlterableConfig]) -> None:
    if len({config.name for config in configs}) != len(configs):
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [config.name for config in configs if config.config_operation != ConfigOp.DELETE and config.value is None]
    if nulls:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")
    for config in configs:
        if config.config_operation not in (ConfigOp.SET, ConfigOp.DELETE, *LIST_OPERATIONS):
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {config.config_operation}")


def _check_rights(rights: Rights, kind: int, name: str) -> None:
    """Raise ApiError if the client may not alter the resource's configs; for brokers it needs cluster rights."""
    owner = CONFIG_RESOURCES[kind]
    error = rights.error(AclOperation.ALTER_CONFIGS, CLUSTER if owner is CLUSTER.type else Resource(owner, name))
    if error:
        raise ApiError(error, default_message(error))


def _records(context: ControllerContext, kind: int, name: str, changes: Changes) -> list[Message]:
    current = context.image.configs.get((kind, name), {})
    return [
        ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)
        for key, value in changes.items()
        # A broker rereads even an unchanged value, since the file that it names may have changed (KAFKA-14136).
        if value != current.get(key) or kind == ResourceType.BROKER
    ]


def changes_of(scope: Scope, current: Mapping[str, str], configs: Sequence[AlterableConfig]) -> Changes:
    """Return the changes of `configs` to the `current` values of a resource; raises ApiError."""
    changes: Changes = {}
    for config in configs:
        row = config_keys(scope).get(config.name)
        if row is not None and row.hidden:
            raise ApiError(ErrorCode.INVALID_CONFIG, problem_with(scope, config.name, "") or "")
        value = _new_value(scope, current.get(config.name), config)
        problem = None if value is None else problem_with(scope, config.name, value)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_CONFIG, problem)
        changes[config.name] = value
    return changes


def _new_value(scope: Scope, current: str | None, config: AlterableConfig) -> str | None:
    row = config_keys(scope).get(config.name)
    if config.config_operation == ConfigOp.SET:
        return config.value
    if config.config_operation == ConfigOp.DELETE:
        if row is not None and row.required:
            raise ApiError(
                ErrorCode.INVALID_CONFIG, f'Missing required configuration "{row.name}" which has no default value.'
            )
        return None
    _check_list(scope, config)
    assert row is not None, "a list"
    before = default_of(row) if current is None else current
    parts = [part for part in split_raw(before, are_patterns=row.holds_patterns) if part]
    for part in split_raw(config.value or "", are_patterns=row.holds_patterns):
        if config.config_operation == ConfigOp.SUBTRACT and part in parts:
            parts.remove(part)
        elif config.config_operation == ConfigOp.APPEND and part not in parts:
            parts.append(part)
    return ",".join(parts)


def _check_list(scope: Scope, config: AlterableConfig) -> None:
    """Raise ApiError for an APPEND or SUBTRACT to a config that is not a list."""
    row, operation = config_keys(scope).get(config.name), LIST_OPERATIONS.get(config.config_operation)
    if operation is not None and (row is None or row.kind is not Kind.LIST):
        raise ApiError(
            ErrorCode.INVALID_CONFIG, f"Can't {operation} to key {config.name} because its type is not LIST."
        )


def alter_topic(context: ControllerContext, resource: AlterConfigsResource) -> Changes:
    """Return the changes of a topic's configs; raises ApiError, also if the topic does not exist."""
    name = resource.resource_name
    for config in resource.configs:  # Kafka computes the values before it checks the topic.
        _check_list(Scope.TOPIC, config)
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    problem = problem_with_name(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    current = context.image.configs.topic(name)
    changes = changes_of(Scope.TOPIC, current, resource.configs)
    merged = {key: value for key, value in {**current, **changes}.items() if value is not None}
    conflict = problem_between(merged, context.configs)
    if conflict is not None:
        raise ApiError(ErrorCode.INVALID_CONFIG, conflict)
    if name not in context.image.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    return changes


def alter_broker(context: ControllerContext, resource: AlterConfigsResource) -> Changes:
    """Return the changes of one broker's configs, or of all brokers' if the name is empty; raises ApiError."""
    name = resource.resource_name
    static_names = sorted(
        config.name
        for config in resource.configs
        if config.config_operation != ConfigOp.DELETE
        and (row := config_keys(Scope.BROKER).get(config.name)) is not None
        and not row.dynamic
    )
    if static_names:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Cannot update these configs dynamically: [{', '.join(static_names)}]"
        )
    try:
        changes = changes_of(Scope.BROKER, context.image.configs.get((ResourceType.BROKER, name), {}), resource.configs)
    except ApiError as rejection:
        raise ApiError(ErrorCode.INVALID_REQUEST, str(rejection)) from None
    problem = min_insync.problem_with(context.image, name, changes)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_CONFIG, problem)
    if name:
        _check_node(context, name)
    return changes


def _check_node(context: ControllerContext, name: str) -> None:
    number = int(name) if _NODE_NAME.fullmatch(name) else None
    if number is None or number > NODE_ID_MAX:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Unable to parse broker name as a base 10 number.")
    if number < 0:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Invalid negative broker ID.")
    if number not in (context.node_id, *context.image.brokers):
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {number} found.")


ALTERS: dict[int, Alter] = {ResourceType.TOPIC: alter_topic, ResourceType.BROKER: alter_broker}
"""Resource type -> function that alters it."""
