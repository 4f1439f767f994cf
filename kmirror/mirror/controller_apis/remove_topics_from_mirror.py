"""RemoveTopicsFromMirror, decided by the controller: failover. No state makes it fail (D6)."""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.controller_apis.topic_requests import Wishes, change_topics
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest, TopicData
from kmirror.protocol.gen.remove_topics_from_mirror_response import (
    RemoveTopicsFromMirrorResponse,
    TopicResult,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

WISHES: Wishes = dict.fromkeys(Wish, Wish.REMOVE)


def decide(
    context: ControllerContext, now: Instant, request: RemoveTopicsFromMirrorRequest, version: int, rights: Rights
) -> Decision:
    """Return the configs to set, and each topic's error; a topic that is removed already is a success (D6)."""
    response = RemoveTopicsFromMirrorResponse(mirror_name=request.mirror_name)
    deleted = [topic for topic in request.topics if _is_deleted(context, topic)]
    if deleted and (rights.is_forwarded or not rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER)):
        deleted = []  # A user may remove a topic that does not exist.
    topics = [topic for topic in request.topics if topic not in deleted]
    records, rows = change_topics(context, rights, request.mirror_name, topics, WISHES, response)
    rows += [(topic.topic_name, ErrorCode.INCONSISTENT_TOPIC_ID) for topic in deleted if not response.error_code]
    response.topics = [TopicResult(name=name, error_code=error) for name, error in rows]
    return Decision(records, response, atomic=False)


def _is_deleted(context: ControllerContext, topic: TopicData) -> bool:
    """Return whether the topic was deleted here: for a sync, the name may have been added again since (D75)."""
    return topic.topic_id != Uuid.ZERO and topic.topic_name not in context.image.topics
