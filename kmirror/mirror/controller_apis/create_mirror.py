"""CreateMirror, decided by the controller: a mirror is its configs, stored as resource type MIRROR.

The first mirror also creates `__mirror_state`. The source is not contacted before the first topic is added.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource, Rights
from kmirror.cluster.broker.internal_topics import creatable
from kmirror.cluster.controller.apis.create_topics import topic_records
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.configs import BOOTSTRAP_SERVERS, problem_with_security
from kmirror.mirror.naming import problem_with_mirror
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.message import Message
from kmirror.spec.configs import Scope, problem_with
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import AclOperation, ResourceType


def decide(
    context: ControllerContext, now: Instant, request: CreateMirrorRequest, version: int, rights: Rights
) -> Decision:
    """Return the records of the new mirror, and of `__mirror_state` if it is missing; or the error."""
    denied = rights.error(AclOperation.CREATE, Resource.mirror(request.mirror_name))
    if denied:
        return Decision((), CreateMirrorResponse(error_code=denied, error_message=denied.text))
    error, message = _check(context, request)
    if error:
        return Decision((), CreateMirrorResponse(error_code=error, error_message=message))
    records: list[Message] = []
    if MIRROR_STATE_TOPIC not in context.image.topics:
        try:
            records += topic_records(context, creatable(MIRROR_STATE_TOPIC, context.configs))
        except ApiError as api_error:
            return Decision((), CreateMirrorResponse(error_code=api_error.error, error_message=str(api_error)))
    records += [
        ConfigRecord(
            resource_type=ResourceType.MIRROR, resource_name=request.mirror_name, name=config.name, value=config.value
        )
        for config in request.config
    ]
    return Decision(records, CreateMirrorResponse(error_message=None))


def _check(context: ControllerContext, request: CreateMirrorRequest) -> tuple[ErrorCode, str | None]:
    problem = problem_with_mirror(request.mirror_name)
    if problem is not None:
        return ErrorCode.INVALID_MIRROR_NAME, problem
    if (ResourceType.MIRROR, request.mirror_name) in context.image.configs:
        return ErrorCode.MIRROR_ALREADY_EXISTS, f"Mirror '{request.mirror_name}' already exists."
    if len({config.name for config in request.config}) != len(request.config):
        return ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys"
    nulls = [config.name for config in request.config if config.value is None]
    if nulls:
        return ErrorCode.INVALID_CONFIG, f"Null value not supported for mirror configs: {','.join(nulls)}"
    for config in request.config:
        problem = problem_with(Scope.MIRROR, config.name, config.value or "")
        if problem is not None:
            return ErrorCode.INVALID_CONFIG, problem
    if BOOTSTRAP_SERVERS not in (config.name for config in request.config):
        return (
            ErrorCode.INVALID_CONFIG,
            f'Missing required configuration "{BOOTSTRAP_SERVERS}" which has no default value.',
        )
    problem = problem_with_security({config.name: config.value or "" for config in request.config})
    return (ErrorCode.NONE, None) if problem is None else (ErrorCode.INVALID_CONFIG, problem)
