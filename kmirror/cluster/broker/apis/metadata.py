"""Metadata, versions 0-13: brokers that are alive, and topics by name or by id.

A partition without a living leader has LEADER_NOT_AVAILABLE and its last leader epoch.
A topic that the client may not describe is refused, whether it exists or not; where all are asked for it is left out.
Left out: creation of missing topics, authorized operations.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource, Rights
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.images import TopicImage
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import is_internal, problem_with_name
from kmirror.spec.wire_values import AclOperation

TOPIC_IDS_FROM = 12
"""Versions 10 and 11 have the field, but a request may not use it yet (KAFKA-15275)."""


def handle(parts: BrokerParts, now: Instant, inbound: Inbound) -> None:
    """Answer with the living brokers, and the named topics or all; errors stand at the topic or partition."""
    request = inbound.body
    assert isinstance(request, MetadataRequest)
    answers, question = parts.metadata_answers, (inbound.version, bytes(inbound.frame[inbound.head.body_position :]))
    is_kept = inbound.rights.are_unlimited
    answer = answers.answer(question) if is_kept else None
    if answer is None:
        answer = b"".join(_response(parts, request, inbound.version, inbound.rights).encode_chunks(inbound.version))
        if is_kept:
            answers.keep_answer(question, answer)
    inbound.reply_encoded(answer)


def _response(parts: BrokerParts, request: MetadataRequest, version: int, rights: Rights) -> MetadataResponse:
    # Version 0 had no null: there an empty list means every topic.
    everything = request.topics is None or (version == 0 and not request.topics)
    image = parts.context.image
    alive = [b for b in image.brokers.values() if not b.fenced]
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=b.broker_id, host=b.endpoint.host, port=b.endpoint.port, rack=b.rack)
            for b in alive
        ],
        cluster_id=parts.context.cluster_id,
        controller_id=alive[0].broker_id if alive else -1,  # KRaft: any living broker forwards.
    )
    if everything:
        described = list(image.topics.values())
        if not rights.are_unlimited:
            described = [t for t in described if rights.allow(AclOperation.DESCRIBE, Resource.topic(t.name))]
        response.topics = [_part(parts, topic, version) for topic in described]
    else:
        response.topics = [_find(parts, asked, version, rights) for asked in request.topics or ()]
    return response


def _find(parts: BrokerParts, asked: MetadataRequestTopic, version: int, rights: Rights) -> MetadataResponseTopic:
    if version < TOPIC_IDS_FROM and (asked.name is None or asked.topic_id != Uuid.ZERO):
        return MetadataResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=asked.name or "", partitions=[])
    if asked.name is None or asked.topic_id != Uuid.ZERO:
        name = parts.context.image.topic_names.get(asked.topic_id)
        if name is None:
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=asked.topic_id, partitions=[]
            )
        denied = rights.error(AclOperation.DESCRIBE, Resource.topic(name))
        if denied:  # An id is no secret, the name that it stands for is.
            return MetadataResponseTopic(error_code=denied, name=None, topic_id=asked.topic_id, partitions=[])
        return _part(parts, parts.context.image.topics[name], version)
    denied = rights.error(AclOperation.DESCRIBE, Resource.topic(asked.name))
    if denied:
        return MetadataResponseTopic(error_code=denied, name=asked.name, partitions=[])
    topic = parts.context.image.topics.get(asked.name)
    if topic is None:
        illegal = problem_with_name(asked.name) is not None
        return MetadataResponseTopic(
            error_code=ErrorCode.INVALID_TOPIC_EXCEPTION if illegal else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            name=asked.name,
            partitions=[],
            is_internal=is_internal(asked.name),
        )
    return _part(parts, topic, version)


def _part(parts: BrokerParts, topic: TopicImage, version: int) -> MetadataResponseTopic:
    """Return what is said of a topic that may be described, encoded once for each change of it."""
    answers = parts.metadata_answers
    return answers.part(topic, version) or answers.keep_part(topic, version, _describe(parts, topic))


def _describe(parts: BrokerParts, topic: TopicImage) -> MetadataResponseTopic:
    partitions = []
    for index, partition in topic.partitions.items():
        led = parts.context.image.is_alive(partition.leader)
        partitions.append(
            MetadataResponsePartition(
                error_code=ErrorCode.NONE if led else ErrorCode.LEADER_NOT_AVAILABLE,
                partition_index=index,
                leader_id=partition.leader if led else -1,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                offline_replicas=[r for r in partition.replicas if not parts.context.image.is_alive(r)],
            )
        )
    return MetadataResponseTopic(
        name=topic.name, topic_id=topic.topic_id, is_internal=is_internal(topic.name), partitions=partitions
    )
