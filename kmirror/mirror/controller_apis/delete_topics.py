"""DeleteTopics: a mirrored topic can be deleted only after it is removed from its mirror (D7)."""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.apis import delete_topics as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.membership import check_may_change
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest


def decide(
    context: ControllerContext, now: Instant, request: DeleteTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision of the cluster's own handler; READ_ONLY_TOPIC for a topic that is in a mirror."""
    return cluster.decide_with(check_may_change, context, request, version, rights)
