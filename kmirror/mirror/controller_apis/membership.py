"""Membership of topics in mirrors: checks for requests that change it, or that change a topic meanwhile."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.authorizer import Resource, Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, Assignment, parse
from kmirror.mirror.states import Wish
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, ResourceType


def mirror_configs(context: ControllerContext, mirror: str) -> Mapping[str, str]:
    """Return the configs of a mirror; raises ApiError UNKNOWN_MIRROR if it does not exist."""
    known = context.image.configs.get((ResourceType.MIRROR, mirror))
    if known is None:
        raise ApiError(ErrorCode.UNKNOWN_MIRROR, f"Mirror '{mirror}' does not exist.")
    return known


def check_mirror(context: ControllerContext, rights: Rights, mirror: str) -> None:
    """Raise ApiError if these rights do not allow altering the mirror, or if it does not exist."""
    denied = rights.error(AclOperation.ALTER, Resource.mirror(mirror))
    if denied:
        raise ApiError(denied, denied.text)
    mirror_configs(context, mirror)


def membership(
    context: ControllerContext, mirror: str, topic: str, topic_id: Uuid
) -> tuple[ErrorCode, Assignment | None]:
    """Return NONE and the topic's assignment to `mirror`, or the error if it is not in that mirror.

    INCONSISTENT_TOPIC_ID if the topic exists with another id than `topic_id`; a `topic_id` of zeros matches any.
    """
    known = context.image.topics.get(topic)
    assignment = parse(context.image.configs.topic(topic).get(MIRROR_NAME, ""))
    if assignment is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if known is None else ErrorCode.UNKNOWN_MIRROR, None
    if assignment.mirror != mirror:
        return ErrorCode.TOPIC_NOT_IN_MIRROR, assignment
    if known is not None and topic_id not in (Uuid.ZERO, known.topic_id):
        return ErrorCode.INCONSISTENT_TOPIC_ID, assignment
    return ErrorCode.NONE, assignment


def check_mirrored(context: ControllerContext, mirror: str, topic: str) -> None:
    """Raise ApiError TOPIC_NOT_IN_MIRROR unless the topic is in this mirror, neither paused nor removed (D75).

    Without this check, a broker that has missed the removal could change a topic that accepts writes.
    """
    error, assignment = membership(context, mirror, topic, Uuid.ZERO)
    if error or assignment is None or assignment.wish is not Wish.MIRROR:
        raise ApiError(ErrorCode.TOPIC_NOT_IN_MIRROR, f"Topic '{topic}' is no longer mirrored by '{mirror}'.")


def check_may_change(context: ControllerContext, topic: str) -> None:
    """Raise ApiError READ_ONLY_TOPIC for a topic that is in a mirror and was not removed from it (D7).

    The controller does not know whether the partitions are STOPPED. It need not: a stop that is under way can continue
    with more partitions, or with none.
    """
    assignment = parse(context.image.configs.topic(topic).get(MIRROR_NAME, ""))
    if assignment is not None and assignment.wish is not Wish.REMOVE:
        text = f"Topic '{topic}' is in mirror '{assignment.mirror}'; remove it from the mirror first."
        raise ApiError(ErrorCode.READ_ONLY_TOPIC, text)
