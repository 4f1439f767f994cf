"""CreatePartitions, versions 0-3: add partitions to topics.

Not implemented: quotas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.cluster.controller.placement import Replicas, check_active, check_assignment, new_partition, place
from kmirror.cluster.images import TopicImage
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.create_partitions_response import CreatePartitionsResponse, CreatePartitionsTopicResult
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

PARTITIONS_MAX = 10_000
"""Maximum number of partitions that one request may create (MAX_RECORDS_PER_USER_OP).

More get UNKNOWN_SERVER_ERROR, as Kafka's list of records overflows.
"""

MayChange = Callable[[ControllerContext, str], None]
"""Raises ApiError for a topic that must not be changed."""


def decide(
    context: ControllerContext, now: Instant, request: CreatePartitionsRequest, version: int, rights: Rights
) -> Decision:
    """Return the records of the new partitions, and each topic's result; no records with `validate_only`."""
    return decide_with(lambda _context, _topic: None, context, request, rights)


def decide_with(
    may_change: MayChange, context: ControllerContext, request: CreatePartitionsRequest, rights: Rights
) -> Decision:
    """Return the decision; `may_change` is called for every topic that exists."""
    name_counts = Counter(topic.name for topic in request.topics)
    denied = rights.denied_topics(AclOperation.ALTER, [name for name, count in name_counts.items() if count == 1])
    records: list[Message] = []
    results: list[CreatePartitionsTopicResult] = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        result = CreatePartitionsTopicResult(name=topic.name, error_message=None)
        results.append(result)
        try:
            if name_counts[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if topic.name in denied:
                raise ApiError(denied[topic.name], None)
            records += _added_partitions(context, topic, may_change, PARTITIONS_MAX - len(records))
        except ApiError as rejection:
            result.error_code, result.error_message = rejection.error, rejection.message
    return Decision(() if request.validate_only else records, CreatePartitionsResponse(results=results))


def _added_partitions(
    context: ControllerContext, topic: CreatePartitionsTopic, may_change: MayChange, added_max: int
) -> list[Message]:
    image = context.image.topics.get(topic.name)
    if image is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    may_change(context, topic.name)
    count = len(image.partitions)
    if topic.count == count:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {count} partition(s).")
    if topic.count < count:
        text = f"The topic {topic.name} currently has {count} partition(s); {topic.count} would not be an increase."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, text)
    additional = topic.count - count
    if topic.assignments is not None and len(topic.assignments) != additional:
        text = (
            f"Attempted to add {additional} additional partition(s), but only {len(topic.assignments)} assignment(s) "
            "were specified."
        )
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    if additional > added_max:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    assignments = _assignments(context, topic, image, additional)
    return [
        new_partition(context.image, image.topic_id, index, replicas)
        for index, replicas in enumerate(assignments, count)
    ]


def _assignments(
    context: ControllerContext, topic: CreatePartitionsTopic, image: TopicImage, additional: int
) -> Sequence[Replicas]:
    factor = len(image.partitions[0].replicas)
    if topic.assignments is None:
        return place(context.image, context.rng, additional, factor)
    for index, row in enumerate(topic.assignments, len(image.partitions)):
        check_assignment(context.image, row.broker_ids, factor)
        check_active(context.image, row.broker_ids, index)
    return [tuple(row.broker_ids) for row in topic.assignments]
