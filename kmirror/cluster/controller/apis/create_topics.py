"""CreateTopics, versions 2-8, decided by the controller.

Partitions are laid out round robin over the living brokers, from a seeded start. MirrorInfo (v8,
KIP-1279) gives the topic the id that it has in the source cluster; the id must be free and every
assigned replica alive, so that a stale folder of the same id is not taken up again (KAFKA-16234).
Left out: quotas, policies.
"""

from __future__ import annotations

from collections import Counter

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import Scope, problem_with
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import METADATA_TOPIC, problem_with_name
from kmirror.spec.wire_values import USE_DEFAULT, AclOperation, ResourceType

PARTITIONS_MAX = 10_000
"""Partitions that one request may create: bounds the memory that a number in a request can take."""
RESERVED_IDS = (Uuid.ZERO, METADATA_TOPIC_ID)


def decide(context: ControllerContext, now: Instant, request: Message, version: int, rights: Rights) -> Decision:
    """Return the records of the topics that can be created, and each topic's result; none with `validate_only`."""
    assert isinstance(request, CreateTopicsRequest)
    records: list[Message] = []
    response = CreateTopicsResponse(topics=[])
    named = Counter(topic.name for topic in request.topics)
    once = [name for name, count in named.items() if count == 1 and name != METADATA_TOPIC]
    may_create_any = rights.allow(AclOperation.CREATE, CLUSTER)
    denied = {} if may_create_any else rights.denied_topics(AclOperation.CREATE, once)
    undescribed = rights.denied_topics(AclOperation.DESCRIBE_CONFIGS, once)
    excess = sum(_partition_count(context, topic) for topic in request.topics) > PARTITIONS_MAX
    for topic in {topic.name: topic for topic in request.topics}.values():
        result = CreatableTopicResult(name=topic.name, error_message=None, configs=[])
        response.topics.append(result)
        try:
            if topic.name in denied:
                raise ApiError(denied[topic.name], "Authorization failed.")
            if excess:
                raise ApiError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")
            if named[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, f"Topic {topic.name} is named twice in one request.")
            made = topic_records(context, topic)
        except ApiError as refused:
            result.error_code, result.error_message = refused.error, str(refused)
            continue
        first = made[0]
        assert isinstance(first, TopicRecord)
        result.topic_id = first.topic_id
        partitions = [record for record in made if isinstance(record, PartitionRecord)]
        if topic.name in undescribed:
            result.topic_config_error_code = undescribed[topic.name]
        else:
            result.num_partitions = len(partitions)
            result.replication_factor = len(partitions[0].replicas)
        if not request.validate_only:
            records += made
    return Decision(records, response)


def topic_records(context: ControllerContext, topic: CreatableTopic) -> list[Message]:
    """Return the records that create `topic`, the TopicRecord first; raises ApiError."""
    image = context.image
    problem = problem_with_name(topic.name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    if topic.name == METADATA_TOPIC:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Topic {METADATA_TOPIC} is the controllers' own.")
    if topic.name in image.topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic.name}' already exists.")
    assignments = _assignments(context, topic)
    topic_id = Uuid(context.rng.octets(16))
    if topic.mirror_info is not None:
        topic_id = topic.mirror_info.topic_id
        if topic_id in RESERVED_IDS:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Topic id {topic_id} is reserved.")
        if topic_id in image.topic_names:
            raise ApiError(
                ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic id {topic_id} belongs to topic {image.topic_names[topic_id]}."
            )
        dead = sorted({b for replicas in assignments for b in replicas if not image.is_alive(b)})
        if dead:
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Brokers {dead} are not alive.")
    configs: list[Message] = []
    for config in topic.configs:
        if config.value is None:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Null value not supported for topic config {config.name}.")
        wrong = problem_with(Scope.TOPIC, config.name, config.value)
        if wrong is not None:
            raise ApiError(ErrorCode.INVALID_CONFIG, wrong)
        configs.append(
            ConfigRecord(
                resource_type=ResourceType.TOPIC, resource_name=topic.name, name=config.name, value=config.value
            )
        )
    partitions = [
        PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=list(replicas),
            isr=(alive := [b for b in replicas if image.is_active(b)]),
            leader=alive[0],
            leader_epoch=0,
            partition_epoch=0,
        )
        for index, replicas in enumerate(assignments)
    ]
    return [TopicRecord(name=topic.name, topic_id=topic_id), *configs, *partitions]


def _partition_count(context: ControllerContext, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    if topic.num_partitions == USE_DEFAULT:
        return context.configs.integer("num.partitions")
    return max(0, topic.num_partitions)


def _assignments(context: ControllerContext, topic: CreatableTopic) -> list[tuple[int, ...]]:
    if topic.assignments:
        return _manual(context, topic)
    count = _partition_count(context, topic)
    factor = topic.replication_factor
    if factor == USE_DEFAULT:
        factor = context.configs.integer("default.replication.factor")
    if count < 1:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"Number of partitions was set to {topic.num_partitions}; it must be positive.",
        )
    alive = sorted(b for b in context.image.brokers if context.image.is_alive(b))
    if factor < 1 or factor > len(alive):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor {factor} cannot be met: {len(alive)} brokers are alive.",
        )
    start = context.rng.below(len(alive))
    # The distance between replicas grows with each round over the brokers, so that load spreads when one dies.
    assignments = []
    for index in range(count):
        leader = (start + index) % len(alive)
        shift = index // len(alive)
        others = [alive[(leader + 1 + (shift + n) % (len(alive) - 1)) % len(alive)] for n in range(factor - 1)]
        assignments.append((alive[leader], *others))
    return assignments


def _manual(context: ControllerContext, topic: CreatableTopic) -> list[tuple[int, ...]]:
    if topic.num_partitions != USE_DEFAULT or topic.replication_factor != USE_DEFAULT:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, "Replica assignments exclude a partition count and a replication factor."
        )
    by_index = {a.partition_index: tuple(a.broker_ids) for a in topic.assignments}
    for index in range(len(topic.assignments)):
        replicas = by_index.get(index)
        if replicas is None:
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "Partitions must be numbered from 0 without gaps.")
        if not replicas or len(set(replicas)) != len(replicas):
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Partition {index} has no or repeated replicas.")
        if not any(context.image.is_alive(b) for b in replicas):
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Partition {index} has no living replica.")
    return [by_index[index] for index in range(len(topic.assignments))]
