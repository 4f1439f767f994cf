"""AddTopicsToMirror, version 0, decided by the controller: sets `mirror.name`.

A topic that exists must be in no mirror and have the id in the request, if there is one. A topic that does not exist
yet gets its config in advance, and the metadata sync creates it with the source's id (D17).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.controller_apis.membership import check_mirror
from kmirror.mirror.naming import MIRROR_NAME, Assignment, parse
from kmirror.mirror.states import Wish
from kmirror.mirror.topic_ids import was_copied_without_id
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest, TopicData
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse, TopicResult
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import SYSTEM_TOPICS, problem_with_name
from kmirror.spec.wire_values import AclOperation, ResourceType


def decide(
    context: ControllerContext, now: Instant, request: AddTopicsToMirrorRequest, version: int, rights: Rights
) -> Decision:
    """Return the configs to set, and an error for each topic that cannot be added; UNKNOWN_MIRROR for all."""
    mirror = request.mirror_name
    response = AddTopicsToMirrorResponse(mirror_name=mirror)
    try:
        check_mirror(context, rights, mirror)
    except ApiError as api_error:
        response.error_code, response.error_message = api_error.error, str(api_error)
        return Decision((), response)
    unreadable = rights.denied_topics(AclOperation.READ, [topic.topic_name for topic in request.topics])
    records: list[Message] = []
    for topic in request.topics:
        error = unreadable.get(topic.topic_name) or _check(context, topic)
        response.topics.append(TopicResult(name=topic.topic_name, error_code=error))
        if not error:
            records.append(
                ConfigRecord(
                    resource_type=ResourceType.TOPIC,
                    resource_name=topic.topic_name,
                    name=MIRROR_NAME,
                    value=Assignment(mirror, Wish.MIRROR).text(),
                )
            )
    return Decision(records, response, atomic=False)


def _check(context: ControllerContext, topic: TopicData) -> ErrorCode:
    name = topic.topic_name
    if problem_with_name(name) is not None or name in SYSTEM_TOPICS:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    known = context.image.topics.get(name)
    if (
        known is not None
        and topic.topic_id not in (Uuid.ZERO, known.topic_id)
        and not was_copied_without_id(topic.topic_id, context.cluster_id, name)
    ):
        return ErrorCode.INCONSISTENT_TOPIC_ID
    assignment = parse(context.image.configs.topic(name).get(MIRROR_NAME, ""))
    if assignment is not None and assignment.wish is not Wish.REMOVE:
        return ErrorCode.TOPIC_ALREADY_IN_MIRROR
    return ErrorCode.NONE
