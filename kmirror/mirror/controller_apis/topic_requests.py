"""Common handler of the requests that pause, resume or remove mirrored topics.

The three requests have the same form: a mirror, and topics by name and, if the client knows them, by id. They differ in
a table: the new wish by the present one, or the error if that change is not possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.controller_apis.membership import check_mirror, membership
from kmirror.mirror.naming import MIRROR_NAME, Assignment
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, ResourceType

Wishes = Mapping[Wish, Wish | ErrorCode]


class NamedTopic(Protocol):
    """A topic in one of the requests."""

    topic_id: Uuid
    topic_name: str


class ErrorFields(Protocol):
    """The top-level error of one of the responses."""

    error_code: int
    error_message: str | None


def change_topics(
    context: ControllerContext,
    rights: Rights,
    mirror: str,
    topics: Sequence[NamedTopic],
    wishes: Wishes,
    response: ErrorFields,
) -> tuple[list[Message], list[tuple[str, ErrorCode]]]:
    """Return the configs to set, and each topic's error; if the request fails as a whole, set it in `response`.

    Errors of a topic, in addition to those in `wishes`: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION,
    UNKNOWN_MIRROR for a topic in no mirror, TOPIC_NOT_IN_MIRROR, and INCONSISTENT_TOPIC_ID if its id differs from the
    requested one. Both lists are empty if the request fails as a whole.
    """
    try:
        check_mirror(context, rights, mirror)
    except ApiError as api_error:
        response.error_code, response.error_message = api_error.error, str(api_error)
        return [], []
    unreadable = rights.denied_topics(AclOperation.READ, [topic.topic_name for topic in topics])
    records: list[Message] = []
    rows: list[tuple[str, ErrorCode]] = []
    for topic in topics:
        name = topic.topic_name
        error, assignment = membership(context, mirror, name, topic.topic_id)
        error = unreadable.get(name, error)
        if not error:
            assert assignment is not None, "a topic of this mirror"
            wish = wishes[assignment.wish]
            if isinstance(wish, ErrorCode):
                error = wish
            elif wish is not assignment.wish:
                records.append(_record(context, name, Assignment(mirror, wish)))
        rows.append((name, error))
    return records, rows


def _record(context: ControllerContext, topic: str, assignment: Assignment) -> ConfigRecord:
    # The config of a topic that was never created is deleted: the next topic of that name starts without it (D34).
    is_deleted = assignment.wish is Wish.REMOVE and topic not in context.image.topics
    return ConfigRecord(
        resource_type=ResourceType.TOPIC,
        resource_name=topic,
        name=MIRROR_NAME,
        value=None if is_deleted else assignment.text(),
    )
