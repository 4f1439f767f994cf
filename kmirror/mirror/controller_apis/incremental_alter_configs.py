"""IncrementalAlterConfigs for mirrors, v2: configs of resource type MIRROR; other resources are the cluster's.

The rules are CreateMirror's. `source.cluster.id` may be set once, by the metadata sync, and never changed (D16). A sync
includes the expected `mirror.name` of a topic: the topic is altered only while it is mirrored there (D75).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.controller.apis import incremental_alter_configs as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.cluster.server import DISABLED_MESSAGE
from kmirror.kernel.clock import Instant
from kmirror.mirror.configs import SOURCE_CLUSTER_ID, problem_with_security
from kmirror.mirror.controller_apis.membership import check_mirrored, mirror_configs
from kmirror.mirror.naming import MIRROR_NAME
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.spec.configs import Scope
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, ConfigOp, ResourceType


def decide(
    context: ControllerContext, now: Instant, request: IncrementalAlterConfigsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision of the cluster's own handler, with mirrors as an additional resource type."""
    names_mirrors = any(_names_mirror(config) for resource in request.resources for config in resource.configs)
    is_sync = names_mirrors and not rights.is_forwarded and rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER)
    alters = {**ALTERS, ResourceType.TOPIC: alter_for_sync} if is_sync else ALTERS
    return cluster.decide_with(alters, context, request, rights)


def _names_mirror(config: AlterableConfig) -> bool:
    return config.name == MIRROR_NAME and config.config_operation == ConfigOp.SET


def alter_for_sync(context: ControllerContext, resource: AlterConfigsResource) -> cluster.Changes:
    """Return the changes of a topic's configs; raises ApiError, also if the topic has left the mirror (D75)."""
    for config in resource.configs:
        if _names_mirror(config):
            check_mirrored(context, config.value or "", resource.resource_name)
    other_configs = [config for config in resource.configs if not _names_mirror(config)]
    return cluster.alter_topic(
        context, AlterConfigsResource(resource.resource_type, resource.resource_name, other_configs)
    )


def alter_mirror(context: ControllerContext, resource: AlterConfigsResource) -> cluster.Changes:
    """Return the changes of a mirror's configs; raises ApiError."""
    if not context.mirror_enabled:  # A request of an older version can still name resource type MIRROR (D1).
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, DISABLED_MESSAGE)
    known = mirror_configs(context, resource.resource_name)
    new_source_id = {
        config.name: config.value
        for config in resource.configs
        if config.name == SOURCE_CLUSTER_ID
        and config.config_operation == ConfigOp.SET
        and config.value
        and SOURCE_CLUSTER_ID not in known
    }
    other_configs = [config for config in resource.configs if config.name not in new_source_id]
    changes = {**cluster.changes_of(Scope.MIRROR, known, other_configs), **new_source_id}
    problem = problem_with_security({key: value for key, value in {**known, **changes}.items() if value is not None})
    if problem is not None and changes.keys() - new_source_id.keys():
        raise ApiError(ErrorCode.INVALID_CONFIG, problem)
    return changes


ALTERS: dict[int, cluster.Alter] = {**cluster.ALTERS, ResourceType.MIRROR: alter_mirror}
"""Resource type to the function that alters it."""
