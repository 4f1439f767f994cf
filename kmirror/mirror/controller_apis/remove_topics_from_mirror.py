"""RemoveTopicsFromMirror, decided by the controller: failover. Never refused because of a state (D6)."""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.membership import check_mirror, membership
from kmirror.mirror.naming import MIRROR_NAME, Assignment
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.remove_topics_from_mirror_response import (
    RemoveTopicsFromMirrorResponse,
    TopicResult,
)
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import AclOperation, ResourceType


def decide(context: ControllerContext, now: Instant, request: Message, version: int, rights: Rights) -> Decision:
    """Return the configs to set, and each topic's error; a topic that is removed already is a success (D6)."""
    assert isinstance(request, RemoveTopicsFromMirrorRequest)
    mirror = request.mirror_name
    response = RemoveTopicsFromMirrorResponse(mirror_name=mirror)
    try:
        check_mirror(context, rights, mirror)
    except ApiError as refused:
        response.error_code, response.error_message = refused.error, str(refused)
        return Decision((), response)
    unreadable = rights.denied_topics(AclOperation.READ, [topic.topic_name for topic in request.topics])
    records: list[Message] = []
    for topic in request.topics:
        error, assignment = membership(context, mirror, topic.topic_name)
        error = unreadable.get(topic.topic_name, error)
        response.topics.append(TopicResult(name=topic.topic_name, error_code=error))
        if not error and assignment is not None and assignment.wish is not Wish.REMOVE:
            # The config of a topic that was never created is deleted: the next topic of its name starts without (D34).
            exists = topic.topic_name in context.image.topics
            records.append(
                ConfigRecord(
                    resource_type=ResourceType.TOPIC,
                    resource_name=topic.topic_name,
                    name=MIRROR_NAME,
                    value=Assignment(mirror, Wish.REMOVE).text() if exists else None,
                )
            )
    return Decision(records, response, atomic=False)
