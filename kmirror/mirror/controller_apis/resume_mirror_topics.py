"""ResumeMirrorTopics, decided by the controller: mirroring continues at the log end, without a cut (D5).

Accepted before PAUSED is reached, too: the partition passes through it.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.topic_requests import Wishes, change_topics
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.resume_mirror_topics_response import ResumeMirrorTopicsResponse, TopicResult
from kmirror.spec.error_codes import ErrorCode

WISHES: Wishes = {
    Wish.PAUSE: Wish.MIRROR,
    Wish.MIRROR: ErrorCode.MIRROR_TOPIC_NOT_PAUSED,
    Wish.REMOVE: ErrorCode.MIRROR_TOPIC_BEING_REMOVED,
}


def decide(
    context: ControllerContext, now: Instant, request: ResumeMirrorTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the configs to set, and each topic's error."""
    response = ResumeMirrorTopicsResponse(mirror_name=request.mirror_name)
    records, rows = change_topics(context, rights, request.mirror_name, request.topics, WISHES, response)
    response.topics = [TopicResult(name=name, error_code=error) for name, error in rows]
    return Decision(records, response, atomic=False)
