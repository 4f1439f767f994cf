"""PauseMirrorTopics, decided by the controller: fetching stops, the topic stays read-only.

Accepted in every state (D50): a PREPARING partition is paused once it could mirror, a FAILED one stays failed.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.topic_requests import Wishes, change_topics
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.pause_mirror_topics_response import PauseMirrorTopicsResponse, TopicResult
from kmirror.spec.error_codes import ErrorCode

WISHES: Wishes = {
    Wish.MIRROR: Wish.PAUSE,
    Wish.PAUSE: ErrorCode.MIRROR_TOPIC_ALREADY_PAUSED,
    Wish.REMOVE: ErrorCode.MIRROR_TOPIC_BEING_REMOVED,
}


def decide(
    context: ControllerContext, now: Instant, request: PauseMirrorTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the configs to set, and each topic's error."""
    response = PauseMirrorTopicsResponse(mirror_name=request.mirror_name)
    records, rows = change_topics(context, rights, request.mirror_name, request.topics, WISHES, response)
    response.topics = [TopicResult(name=name, error_code=error) for name, error in rows]
    return Decision(records, response, atomic=False)
