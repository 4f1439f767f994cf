"""CreateTopics, versions 2-8, decided by the controller.

Errors have the order and messages of Kafka's ReplicationControlManager. MirrorInfo (v8, KIP-1279) gives the topic its
id in the source cluster. The id must be unused and every assigned replica alive, so that no stale folder with the same
id is reused (KAFKA-16234). Not implemented: quotas, policies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.config_entries import layers_of, topic_entries
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.cluster.controller.placement import (
    Replicas,
    check_active,
    check_assignment,
    factor_problem,
    new_partition,
    place,
)
from kmirror.cluster.error_response import error_response
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import Scope, problem_with
from kmirror.spec.configs.conflicts import problem_between
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import METADATA_TOPIC, problem_with_name
from kmirror.spec.wire_values import USE_DEFAULT, AclOperation, ResourceType

PARTITIONS_MAX = 10_000
"""Maximum number of partitions that one request may create; limits the memory that a request can allocate."""
RESERVED_IDS = (Uuid.ZERO, METADATA_TOPIC_ID)
MayCreate = Callable[[ControllerContext, CreatableTopic], None]
"""Raises ApiError for a topic that may not be created."""


def decide(
    context: ControllerContext, now: Instant, request: CreateTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the records of the topics that can be created, and each topic's result; none with `validate_only`."""
    return decide_with(lambda _context, _topic: None, context, request, version, rights)


def decide_with(
    may_create: MayCreate, context: ControllerContext, request: CreateTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision; `may_create` is called for every topic that could be created."""
    records: list[Message] = []
    response = CreateTopicsResponse(topics=[])
    name_counts = Counter(topic.name for topic in request.topics)
    unique_names = [name for name, count in name_counts.items() if count == 1 and name != METADATA_TOPIC]
    may_create_any = rights.allow(AclOperation.CREATE, CLUSTER)
    denied = {} if may_create_any else rights.denied_topics(AclOperation.CREATE, unique_names)
    undescribable = rights.denied_topics(AclOperation.DESCRIBE_CONFIGS, unique_names)
    candidates = [topic for topic in request.topics if name_counts[topic.name] == 1 and topic.name not in denied]
    if sum(_partition_count(context, topic) for topic in candidates) > PARTITIONS_MAX:
        error, message = ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        return Decision((), error_response(request, version, error, message))
    for topic in {topic.name: topic for topic in request.topics}.values():
        result = CreatableTopicResult(name=topic.name, error_message=None, configs=[])
        response.topics.append(result)
        try:
            if name_counts[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if topic.name in denied:
                raise ApiError(denied[topic.name], "Authorization failed.")
            new_records = topic_records(context, topic)
            may_create(context, topic)
        except ApiError as rejection:
            result.error_code, result.error_message = rejection.error, rejection.message
            continue
        _describe(context, result, new_records, is_described=topic.name not in undescribable)
        if not request.validate_only:
            records += new_records
    return Decision(records, response)


def _describe(
    context: ControllerContext, result: CreatableTopicResult, new_records: Sequence[Message], *, is_described: bool
) -> None:
    """Fill in the properties of the created topic that the client may describe."""
    first = new_records[0]
    assert isinstance(first, TopicRecord)
    result.topic_id = first.topic_id
    if not is_described:
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return
    partitions = [record for record in new_records if isinstance(record, PartitionRecord)]
    result.num_partitions, result.replication_factor = len(partitions), len(partitions[0].replicas)
    configs = {record.name: record.value or "" for record in new_records if isinstance(record, ConfigRecord)}
    layers = layers_of(context.image, context.node_id, context.static_configs)
    result.configs = [
        CreatableTopicConfigs(
            name=entry.name,
            value=entry.value,
            read_only=entry.read_only,
            config_source=entry.config_source,
            is_sensitive=entry.is_sensitive,
        )
        for entry in topic_entries(configs, context.configs, layers, mirror=context.mirror_enabled)
    ]


def topic_records(context: ControllerContext, topic: CreatableTopic) -> list[Message]:
    """Return the records that create `topic`, the TopicRecord first; raises ApiError."""
    image = context.image
    _check_name(context, topic.name)
    configs = _configs(context, topic)
    assignments = _manual_assignments(context, topic) if topic.assignments else _automatic_assignments(context, topic)
    topic_id = Uuid(context.rng.octets(16))
    if topic.mirror_info is not None:
        topic_id = topic.mirror_info.topic_id
        if topic_id in RESERVED_IDS:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Topic id {topic_id} is reserved.")
        if topic_id in image.topics.names:
            raise ApiError(
                ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic id {topic_id} belongs to topic {image.topics.names[topic_id]}."
            )
        dead = sorted({b for replicas in assignments for b in replicas if not image.brokers.is_alive(b)})
        if dead:
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Brokers {dead} are not alive.")
    partitions = [new_partition(image, topic_id, index, replicas) for index, replicas in enumerate(assignments)]
    return [TopicRecord(name=topic.name, topic_id=topic_id), *configs, *partitions]


def _check_name(context: ControllerContext, name: str) -> None:
    if name == METADATA_TOPIC:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {METADATA_TOPIC} is prohibited.")
    if name in context.image.topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    existing = context.image.topics.colliding(name)
    if existing is not None:
        text = f"Topic '{name}' collides with existing topic: {existing}"
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)
    problem = problem_with_name(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")


def _configs(context: ControllerContext, topic: CreatableTopic) -> list[ConfigRecord]:
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(nulls)}")
    values = {config.name: config.value or "" for config in topic.configs}
    for name, value in values.items():
        problem = problem_with(Scope.TOPIC, name, value)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_CONFIG, problem)
    conflict = problem_between(values, context.configs)
    if conflict is not None:
        raise ApiError(ErrorCode.INVALID_CONFIG, conflict)
    return [
        ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=topic.name, name=name, value=value)
        for name, value in values.items()
    ]


def _partition_count(context: ControllerContext, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    if topic.num_partitions == USE_DEFAULT:
        return context.configs.integer("num.partitions")
    return max(0, topic.num_partitions)


def _automatic_assignments(context: ControllerContext, topic: CreatableTopic) -> list[Replicas]:
    factor = topic.replication_factor
    if factor < USE_DEFAULT or factor == 0:
        text = "Replication factor must be larger than 0, or -1 to use the default value."
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
    if topic.num_partitions < USE_DEFAULT or topic.num_partitions == 0:
        text = "Number of partitions was set to an invalid non-positive value."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, text)
    if factor == USE_DEFAULT:
        factor = context.configs.integer("default.replication.factor")
    try:
        return place(context.image, context.rng, _partition_count(context, topic), factor)
    except ApiError as rejection:
        raise ApiError(rejection.error, factor_problem(factor, str(rejection))) from None


def _manual_assignments(context: ControllerContext, topic: CreatableTopic) -> list[Replicas]:
    for number, field_name in (
        (topic.replication_factor, "replication factor"),
        (topic.num_partitions, "numPartitions"),
    ):
        if number != USE_DEFAULT:
            text = f"A manual partition assignment was specified, but {field_name} was not set to -1."
            raise ApiError(ErrorCode.INVALID_REQUEST, text)
    assignments: dict[int, Replicas] = {}
    factor = None
    for row in topic.assignments:
        if row.partition_index in assignments:
            text = f"Found multiple manual partition assignments for partition {row.partition_index}"
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        check_assignment(context.image, row.broker_ids, factor)
        factor = len(row.broker_ids)
        check_active(context.image, row.broker_ids, row.partition_index)
        assignments[row.partition_index] = tuple(row.broker_ids)
    if sorted(assignments) != list(range(len(assignments))):
        text = "partitions should be a consecutive 0-based integer sequence"
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    return [assignments[index] for index in range(len(assignments))]
