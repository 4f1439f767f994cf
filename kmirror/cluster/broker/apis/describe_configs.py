"""DescribeConfigs, versions 1-5: configs of topics, brokers and mirrors, with their values, types and sources.

A broker describes its own configs, the cluster-wide broker configs (empty name), and those of any topic or mirror.
Version 5, with mirrors, is from KIP-1279. Configs reserved for mirroring are not described (D7); secrets have no value.
Left out: broker loggers, client metrics, groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kmirror.cluster.authorizer import CLUSTER, Resource
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.config_entries import Entry, broker_entries, cluster_entries, mirror_entries, topic_entries
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.java import parse_int
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse, DescribeConfigsResult
from kmirror.protocol.message import Message
from kmirror.spec.acls import CONFIG_RESOURCES
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import problem_with_name
from kmirror.spec.wire_values import AclOperation, ResourceType

MIRRORS_FROM = 5
NOT_DESCRIBED = (ResourceType.BROKER_LOGGER, ResourceType.CLIENT_METRICS, ResourceType.GROUP)
"""Resource types that Kafka describes and this broker does not."""
TopicEntries = dict[frozenset[tuple[str, str]], list[Entry]]
"""Topic settings to config entries: most topics have the same settings, described once per response."""


class _DescribeError(Exception):
    """A resource that cannot be described, with its error."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        self.error, self.message = error, message
        super().__init__(message)


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[DescribeConfigsRequest]) -> None:
    """Reply with the configs of each resource, or its error."""
    request = inbound.body
    known = {*NOT_DESCRIBED, *DESCRIBE} - ({ResourceType.MIRROR} if inbound.version < MIRRORS_FROM else set())
    if any(resource.resource_type not in known for resource in request.resources):  # One invalid type fails all.
        inbound.reply(
            DescribeConfigsResponse(
                results=[_error_result(resource, ErrorCode.INVALID_REQUEST) for resource in request.resources]
            )
        )
        return
    allowed: list[DescribeConfigsResult] = []
    denied: list[DescribeConfigsResult] = []
    cache: TopicEntries = {}
    for resource in request.resources:
        error = _denied(inbound, resource)
        (denied if error else allowed).append(_result(parts, request, resource, error, cache))
    # Denied resources come last (ConfigHelper.handleDescribeConfigsRequest).
    inbound.reply(DescribeConfigsResponse(results=[*allowed, *denied]))


def _denied(inbound: Inbound[Message], resource: DescribeConfigsResource) -> ErrorCode:
    owner = CONFIG_RESOURCES.get(resource.resource_type, CLUSTER.type)
    acl_resource = CLUSTER if owner is CLUSTER.type else Resource(owner, resource.resource_name)
    return inbound.rights.error(AclOperation.DESCRIBE_CONFIGS, acl_resource)


def _result(
    parts: BrokerParts,
    request: DescribeConfigsRequest,
    resource: DescribeConfigsResource,
    denied: ErrorCode,
    cache: TopicEntries,
) -> DescribeConfigsResult:
    if denied:
        return _error_result(resource, denied)
    try:
        if resource.resource_type in NOT_DESCRIBED:
            resource_type = ResourceType(resource.resource_type)
            raise _DescribeError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {resource_type.name}")
        entries = DESCRIBE[resource.resource_type](parts, resource.resource_name, cache)
    except _DescribeError as failure:
        return _error_result(resource, failure.error, failure.message)
    result = DescribeConfigsResult(
        resource_type=resource.resource_type, resource_name=resource.resource_name, configs=[]
    )
    names = resource.configuration_keys
    for entry in entries:
        if names and entry.name not in names:
            continue
        if not request.include_synonyms:
            entry.synonyms = []
        if not request.include_documentation:
            entry.documentation = None
        result.configs.append(entry)
    return result


def _error_result(
    resource: DescribeConfigsResource, error: ErrorCode, message: str | None = None
) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error, error.text if message is None else message, resource.resource_type, resource.resource_name, []
    )


def _topic(parts: BrokerParts, name: str, cache: TopicEntries) -> list[Entry]:
    problem = problem_with_name(name)
    if problem is not None:
        raise _DescribeError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    context = parts.context
    if name not in context.image.topics:
        raise _DescribeError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
    topic = context.image.configs.topic(name)
    settings = frozenset(topic.items())
    if settings not in cache:
        layers = context.config_layers()
        cache[settings] = topic_entries(topic, context.configs, layers, mirror=context.mirror_enabled)
    return cache[settings]


def _broker(parts: BrokerParts, name: str, _: TopicEntries) -> list[Entry]:
    context = parts.context
    if not name:
        return cluster_entries(context.config_layers())
    number = parse_int(name)
    if number is None:
        raise _DescribeError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if number != context.node_id:
        message = f"Unexpected broker id, expected {context.node_id} or empty string, but received {name}"
        raise _DescribeError(ErrorCode.INVALID_REQUEST, message)
    return broker_entries(context.config_layers(), mirror=context.mirror_enabled)


def _mirror(parts: BrokerParts, name: str, _: TopicEntries) -> list[Entry]:
    values = parts.context.image.configs.get((ResourceType.MIRROR, name))
    if values is None:
        raise _DescribeError(ErrorCode.UNKNOWN_MIRROR, ErrorCode.UNKNOWN_MIRROR.text)
    return mirror_entries(values)


DESCRIBE: Mapping[int, Callable[[BrokerParts, str, TopicEntries], list[Entry]]] = {
    ResourceType.TOPIC: _topic,
    ResourceType.BROKER: _broker,
    ResourceType.MIRROR: _mirror,
}
