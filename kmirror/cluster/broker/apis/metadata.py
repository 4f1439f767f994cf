"""Metadata, versions 0-13: the living brokers, and topics by name or by id.

Brokers are listed with their endpoint on the client's listener; brokers without that listener are left out. A partition
without a living leader has LEADER_NOT_AVAILABLE and its last leader epoch. A topic that the client may not describe is
rejected, whether it exists or not, and left out of a list of all topics. A missing topic is created through the
controller if the request and `auto.create.topics.enable` allow it. If a request has ids, its names are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kmirror.cluster.authorizer import CLUSTER, NONE_DENIED, Resource, Rights
from kmirror.cluster.broker.apis.describe_cluster import allowed_on_cluster
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.images import MetadataImage, TopicImage
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
"""Versions 10 and 11 have the field, but requests may not use it yet (KAFKA-15275)."""
OPERATIONS_FROM = 8
CLUSTER_OPERATIONS_LAST = 10
LISTENER_NOT_FOUND_FROM = 6
"""Before this version, a leader without the client's listener has LEADER_NOT_AVAILABLE."""
ONLY_ALIVE_LAST = 0
"""Last version in which dead replicas are left out, with REPLICA_NOT_AVAILABLE."""


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[MetadataRequest]) -> None:
    """Reply with the living brokers and the requested or all topics; errors are per topic or partition.

    If one topic is named in an invalid way, each topic has INVALID_REQUEST, or UNKNOWN_SERVER_ERROR as in Kafka.
    """
    responses, rights = parts.metadata_responses, inbound.rights.version
    body = bytes(inbound.frame[inbound.head.body_position :])
    key = None if rights is None else (inbound.version, inbound.client.listener, rights, body)
    cached = None if key is None else responses.response(key)
    if cached is None:
        response, to_create = _response(parts, inbound)
        cached = b"".join(response.encode_chunks(inbound.version))
        if to_create:  # Not cached: a repeated request must trigger creation again.
            parts.auto_creation.create(now, to_create, inbound.client)
        elif key is not None:
            responses.add_response(key, cached)
    inbound.reply_encoded(cached)


def _response(parts: BrokerParts, inbound: Inbound[MetadataRequest]) -> tuple[MetadataResponse, list[str]]:
    """Return the response, and the topics that must be created."""
    request, version, rights = inbound.body, inbound.version, inbound.rights
    image, requested = parts.context.image, request.topics or []
    ids = {topic.topic_id: None for topic in requested if topic.topic_id != Uuid.ZERO}
    names = {topic.name: None for topic in requested if topic.name is not None}
    is_nameless = any(topic.name is None for topic in requested)
    if version < TOPIC_IDS_FROM and (ids or is_nameless):
        return _error_response(requested, ErrorCode.INVALID_REQUEST), []
    if is_nameless and not ids:  # Kafka does not handle this case.
        return _error_response(requested, ErrorCode.UNKNOWN_SERVER_ERROR), []
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=b.broker_id, host=endpoint.host, port=endpoint.port, rack=b.rack)
            for b in image.brokers.values()
            if not b.fenced and (endpoint := b.endpoints.get(inbound.client.listener)) is not None
        ],
        cluster_id=parts.context.cluster_id,
        controller_id=image.brokers.any_alive_id(),  # KRaft: any living broker forwards.
    )
    to_create: list[str] = []
    describer = _TopicDescriber(parts, inbound)
    if request.topics is None or (version == 0 and not requested):  # Version 0 had no null.
        denied = rights.denied_topics(AclOperation.DESCRIBE, image.topics)
        known = image.topics.values()
        response.topics = describer.describe_all([t for t in known if t.name not in denied] if denied else known)
    elif ids:
        response.topics = [describer.describe_by_id(topic_id) for topic_id in ids]
    else:
        denied = rights.denied_topics(AclOperation.DESCRIBE, names)
        missing = [name for name in names if name not in denied and name not in image.topics]
        if not request.allow_auto_topic_creation or not parts.context.configs.flag("auto.create.topics.enable"):
            missing = []
        uncreatable = _uncreatable(missing, rights)
        to_create = [name for name in missing if name not in uncreatable and problem_with_name(name) is None]
        response.topics = [describer.describe_by_name(name, denied, uncreatable) for name in names]
    if OPERATIONS_FROM <= version <= CLUSTER_OPERATIONS_LAST and request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = allowed_on_cluster(rights)
    return response, to_create


def _error_response(requested: Iterable[MetadataRequestTopic], error: ErrorCode) -> MetadataResponse:
    rows = [
        MetadataResponseTopic(error_code=error, name=topic.name or "", topic_id=topic.topic_id, partitions=[])
        for topic in requested
    ]
    return MetadataResponse(topics=rows, error_code=error)


def _uncreatable(names: Sequence[str], rights: Rights) -> Mapping[str, ErrorCode]:
    """Return the errors of those topics that the client may not create."""
    if not names or rights.allow(AclOperation.CREATE, CLUSTER):
        return NONE_DENIED
    return rights.denied_topics(AclOperation.CREATE, names)


class _TopicDescriber:
    """Looks topics up for one request."""

    def __init__(self, parts: BrokerParts, inbound: Inbound[MetadataRequest]) -> None:
        self._image, self._responses = parts.context.image, parts.metadata_responses
        self._rights = inbound.rights
        self._key = inbound.version, inbound.client.listener
        wants_operations = inbound.body.include_topic_authorized_operations
        self._includes_operations = wants_operations and inbound.version >= OPERATIONS_FROM

    def describe_by_id(self, topic_id: Uuid) -> MetadataResponseTopic:
        """Describe the topic with this id; its name is included only if the client may describe it."""
        name = self._image.topics.names.get(topic_id)
        error = ErrorCode.UNKNOWN_TOPIC_ID
        if name is not None:
            error = self._rights.error(AclOperation.DESCRIBE, Resource.topic(name))
        if name is None or error:  # The id is not secret, but the topic's name is.
            return MetadataResponseTopic(error_code=error, name=None, topic_id=topic_id, partitions=[])
        return self.describe(self._image.topics[name])

    def describe_by_name(
        self, name: str, denied: Mapping[str, ErrorCode], uncreatable: Mapping[str, ErrorCode]
    ) -> MetadataResponseTopic:
        """Describe the topic of this name, or return the error for a hidden, missing or uncreatable topic."""
        if name in denied:
            return MetadataResponseTopic(error_code=denied[name], name=name, partitions=[])
        topic = self._image.topics.get(name)
        if topic is not None:
            return self.describe(topic)
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if name in uncreatable:
            error = uncreatable[name]
        elif problem_with_name(name) is not None:
            error = ErrorCode.INVALID_TOPIC_EXCEPTION
        missing = MetadataResponseTopic(error_code=error, name=name, partitions=[], is_internal=is_internal(name))
        return missing if name in uncreatable else self._with_operations(missing)

    def describe_all(self, topics: Iterable[TopicImage]) -> list[MetadataResponseTopic]:
        """Describe these topics."""
        if self._includes_operations:
            return [self.describe(topic) for topic in topics]
        cached_part, key = self._responses.part, self._key
        return [cached_part(topic, key) or self.describe(topic) for topic in topics]

    def describe(self, topic: TopicImage) -> MetadataResponseTopic:
        """Describe an authorized topic; without allowed operations the encoded part is shared by all clients."""
        if self._includes_operations:
            return self._with_operations(_describe(self._image, topic, *self._key))
        cached_part = self._responses.part(topic, self._key)
        return cached_part or self._responses.add_part(topic, self._key, _describe(self._image, topic, *self._key))

    def _with_operations(self, topic: MetadataResponseTopic) -> MetadataResponseTopic:
        if self._includes_operations:
            assert topic.name is not None, "named"
            topic.topic_authorized_operations = self._rights.operations(Resource.topic(topic.name))
        return topic


def _describe(image: MetadataImage, topic: TopicImage, version: int, listener: str) -> MetadataResponseTopic:
    partitions, brokers = [], image.brokers
    for index, partition in topic.partitions.items():
        has_leader, offline = (
            brokers.endpoint(partition.leader, listener) is not None,
            brokers.offline(partition, listener),
        )
        is_elsewhere = not has_leader and brokers.is_alive(partition.leader) and version >= LISTENER_NOT_FOUND_FROM
        missing = ErrorCode.LISTENER_NOT_FOUND if is_elsewhere else ErrorCode.LEADER_NOT_AVAILABLE
        row = MetadataResponsePartition(
            error_code=ErrorCode.NONE if has_leader else missing,
            partition_index=index,
            leader_id=partition.leader if has_leader else -1,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            offline_replicas=offline,
        )
        if offline and version <= ONLY_ALIVE_LAST:
            _remove_offline(row, offline)
        partitions.append(row)
    return MetadataResponseTopic(
        name=topic.name, topic_id=topic.topic_id, is_internal=is_internal(topic.name), partitions=partitions
    )


def _remove_offline(row: MetadataResponsePartition, offline: Sequence[int]) -> None:
    row.replica_nodes = [b for b in row.replica_nodes if b not in offline]
    row.isr_nodes = [b for b in row.isr_nodes if b not in offline]
    if not row.error_code:
        row.error_code = ErrorCode.REPLICA_NOT_AVAILABLE
