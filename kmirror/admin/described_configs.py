"""Configs that are set for a topic, a broker or a mirror, as a cluster reports them."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.admin.client import AsyncAdmin
from kmirror.client.remote_cluster import code_of
from kmirror.errors import KafkaError
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse
from kmirror.spec.configs import Scope, config_keys
from kmirror.spec.wire_values import ConfigSource, ResourceType

SCOPES = {ResourceType.TOPIC: Scope.TOPIC, ResourceType.BROKER: Scope.BROKER, ResourceType.MIRROR: Scope.MIRROR}


async def configs_of(admin: AsyncAdmin, kind: ResourceType, name: str, broker_id: int | None) -> Mapping[str, str]:
    """Return the configs that are set for a resource, without its defaults and secrets.

    The request goes to broker `broker_id`, to any if that is None. Raises KafkaError if the cluster returns an error.
    """
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    reply = await admin.ask(DescribeConfigsRequest(resources=[resource]), broker_id=broker_id)
    assert isinstance(reply, DescribeConfigsResponse), "the answer to its request"
    result = reply.results[0]
    if result.error_code:
        error = code_of(result.error_code)
        text = result.error_message or error.text
        raise KafkaError(error, f"cannot describe the configs of {kind.name.lower()} {name}: {error.name}: {text}")
    rows = config_keys(SCOPES[kind])
    return {
        entry.name: entry.value
        for entry in result.configs
        if entry.value is not None and entry.config_source != ConfigSource.DEFAULT and entry.name in rows
    }
