"""CreateTopics: only the metadata sync creates a topic that is in a mirror, with its id at the source (D26).

A client whose Metadata request would create the topic (`auto.create.topics.enable`) gets an error as well, and finds
the topic once the mirror has created it. Created with another id, it would be another topic, and its mirror FAILED
(D16).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.apis import create_topics as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.membership import check_may_change, check_mirrored
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest


def decide(
    context: ControllerContext, now: Instant, request: CreateTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision of the cluster's own handler; READ_ONLY_TOPIC for a topic that its mirror creates."""
    return cluster.decide_with(_check_create, context, request, version, rights)


def _check_create(context: ControllerContext, topic: CreatableTopic) -> None:
    info = topic.mirror_info
    if info is None:
        check_may_change(context, topic.name)
    elif info.mirror_name:
        check_mirrored(context, info.mirror_name, topic.name)
