"""RemoveTopicsFromMirror, decided by the controller: failover. Never refused because of a state (D6)."""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.wishes import Wishes, change
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.remove_topics_from_mirror_response import (
    RemoveTopicsFromMirrorResponse,
    TopicResult,
)

WISHES: Wishes = dict.fromkeys(Wish, Wish.REMOVE)


def decide(
    context: ControllerContext, now: Instant, request: RemoveTopicsFromMirrorRequest, version: int, rights: Rights
) -> Decision:
    """Return the configs to set, and each topic's error; a topic that is removed already is a success (D6)."""
    response = RemoveTopicsFromMirrorResponse(mirror_name=request.mirror_name)
    records, rows = change(context, rights, request.mirror_name, request.topics, WISHES, response)
    response.topics = [TopicResult(name=name, error_code=error) for name, error in rows]
    return Decision(records, response, atomic=False)
